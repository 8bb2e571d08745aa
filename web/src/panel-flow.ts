// A flow: its life as a bar, in numbers that add up to its completion time, and whom to blame.

import { blamedBy, CULPRIT_KINDS, culpritsOf, hopsOf, type Life, lifeOf, overlapOf } from "./blame";
import { h } from "./dom";
import type { Run } from "./model";
import { PART_NAMES, PART_VARIABLES } from "./palette";
import {
  facts,
  flowLink,
  heading,
  link,
  MOST_ROWS,
  more,
  nothing,
  type PanelContext,
  portLink,
} from "./panel-parts";
import { bytes, count, duration, exact, moment, percent } from "./units";

/** What the kinds of culprits mean. */
const KIND_WORDS = [
  "its packets left the queue while this flow waited",
  "its packets left earlier in the same busy period",
  "its packets built the queue up from empty",
  "its bytes stood in the root queue when that paused",
];

export function flowPanel(context: PanelContext, flow: number): Node[] {
  const { run, beside } = context;
  if (flow >= run.flows.rows)
    return [heading(context, `flow ${flow}`, "flow"), h("p", {}, "This run has no such flow.")];
  const { size, start, end, ideal } = run.flows;
  const fct = run.fct(flow);
  const alone = ideal[flow] as number;
  const slow = fct && alone ? ` · ${(fct / alone).toFixed(2)} × alone` : "";
  const at = (time: number) =>
    link(moment(time), () => context.select({ kind: "flow", id: flow }, time));
  const nodes: Node[] = [
    heading(context, run.flowName(flow), "flow"),
    facts(
      ["name", run.flowId(flow)],
      ["class", run.className(flow) || "–"],
      ["size", size[flow] ? bytes(size[flow] as number) : "endless"],
      ["started", at(start[flow] as number)],
      ["completed", fct === null ? "not in this run" : at(end[flow] as number)],
      ["FCT", fct === null ? "–" : `${duration(fct, 4)}${slow}`],
      [
        "path",
        run
          .path(flow)
          .map((port) => run.nodeName(run.nodeOf(port)))
          .concat(run.nodeName(run.flows.dst[flow] as number))
          .join(" → "),
      ],
    ),
  ];
  const life = lifeOf(run, flow);
  const longest = Math.max(fct ?? 0, beside?.fct(flow) ?? 0) || run.end;
  nodes.push(h("h3", {}, "Where its time went"));
  if (life.pieces.length > 0) nodes.push(...decomposition(context, life, longest));
  else nodes.push(...withoutBlame(context, flow));
  if (beside && flow < beside.flows.rows) {
    const other = lifeOf(beside, flow);
    const otherFct = beside.fct(flow);
    nodes.push(
      h(
        "h3",
        {},
        `Under ${beside.label}: ${otherFct === null ? "not finished" : duration(otherFct, 4)}`,
      ),
    );
    if (other.pieces.length > 0) nodes.push(bar(beside, other, longest), partTable(beside, other));
  }
  return nodes;
}

function decomposition(context: PanelContext, life: Life, longest: number): Node[] {
  const { run } = context;
  const nodes: Node[] = [bar(run, life, longest), partTable(run, life), sumLine(life)];
  const blamed = blamedBy(run, life);
  if (blamed.length > 0) {
    nodes.push(h("h3", {}, "Whom to blame"));
    const table = h("table", {});
    for (const { port, ps, pauses } of blamed.slice(0, MOST_ROWS)) {
      const [first] = pauses;
      const go = (id: number) =>
        context.select({ kind: "pause", id }, run.pauses.from[id] as number);
      table.append(
        h(
          "tr",
          {},
          h("td", {}, portLink(context, port)),
          h("td", { class: "number" }, duration(ps)),
          h("td", {}, count(pauses.length, "pause")),
          h("td", { class: "soft" }, run.crosses(life.flow, port) ? "on its path" : "elsewhere"),
          h("td", {}, first !== undefined && link("show", () => go(first), "Go to the first")),
        ),
      );
    }
    nodes.push(table, more(MOST_ROWS, blamed.length, "queue") ?? nothing());
  }
  const culprits = culpritsOf(run, life.flow);
  if (culprits.length > 0) {
    nodes.push(h("h3", {}, "Flows it waited for"));
    const table = h("table", {});
    for (const culprit of culprits.slice(0, MOST_ROWS)) {
      table.append(
        h(
          "tr",
          {},
          h("td", {}, flowLink(context, culprit.flow)),
          h("td", { class: "number" }, culprit.ps > 0 ? duration(culprit.ps) : ""),
          h("td", { class: "number soft" }, bytes(culprit.bytes)),
          h("td", { title: KIND_WORDS[culprit.kind] ?? "" }, CULPRIT_KINDS[culprit.kind] ?? ""),
        ),
      );
    }
    nodes.push(table, more(MOST_ROWS, culprits.length, "flow") ?? nothing());
  }
  nodes.push(h("h3", {}, "Hop by hop"), hopTable(context, life));
  return nodes;
}

/** The life of a flow as a bar, as long as its completion time. */
function bar(run: Run, life: Life, longest: number): HTMLElement {
  const strip = h("div", { class: "life", role: "img", "aria-label": inWords(run, life) });
  for (const [part, ps] of life.totals.entries()) {
    if (ps === 0) continue;
    const name = run.header.parts[part] ?? "";
    const piece = h("span", {
      class: `part ${PART_VARIABLES[name] ?? "c7"}`,
      title: `${PART_NAMES[name] ?? name}: ${duration(ps)}`,
    });
    piece.style.width = `${(100 * ps) / longest}%`;
    strip.append(piece);
  }
  return strip;
}

function inWords(run: Run, life: Life): string {
  const parts = life.totals.flatMap((ps, part) => {
    const name = run.header.parts[part] ?? "";
    return ps > 0 ? [`${duration(ps)} ${PART_NAMES[name] ?? name}`] : [];
  });
  return `completion time: ${parts.join(", ")}`;
}

function partTable(run: Run, life: Life): HTMLElement {
  const table = h("table", { class: "parts" });
  for (const [part, ps] of life.totals.entries()) {
    if (ps === 0) continue;
    const name = run.header.parts[part] ?? "";
    const swatch = h("span", { class: `swatch ${PART_VARIABLES[name] ?? "c7"}` });
    table.append(
      h(
        "tr",
        { "data-part": name },
        h("td", {}, swatch, PART_NAMES[name] ?? name),
        h("td", { class: "number" }, duration(ps)),
        h("td", { class: "number soft" }, percent(ps / life.sum)),
      ),
    );
  }
  return table;
}

function sumLine(life: Life): HTMLElement {
  if (life.fct === null)
    return h("p", { class: "soft" }, `${duration(life.sum)} so far; the flow did not complete.`);
  if (life.sum === life.fct)
    return h("p", { class: "sum" }, `= ${exact(life.sum)}, the FCT exactly`);
  return h(
    "p",
    { class: "alarm" },
    `the parts give ${exact(life.sum)}, the FCT is ${exact(life.fct)}`,
  );
}

function hopTable(context: PanelContext, life: Life): HTMLElement {
  const { run } = context;
  const table = h("table", { class: "hops" });
  for (const hop of hopsOf(run, life)) {
    const place = hop.port === null ? "at its host" : portLink(context, hop.port);
    const parts = hop.totals.flatMap((ps, part) => {
      if (ps === 0) return [];
      const name = run.header.parts[part] ?? "";
      const swatch = h("span", {
        class: `swatch ${PART_VARIABLES[name] ?? "c7"}`,
        title: PART_NAMES[name] ?? name,
      });
      return [h("span", { class: "nowrap" }, swatch, duration(ps))];
    });
    table.append(
      h(
        "tr",
        {},
        h("td", {}, place),
        h("td", { class: "number" }, duration(hop.sum)),
        h("td", {}, ...parts),
      ),
    );
  }
  return table;
}

/** What is known of a flow without its decomposition: how long each port of its path held it. */
function withoutBlame(context: PanelContext, flow: number): Node[] {
  const { run } = context;
  const recorded = run.holdsOf(flow);
  const table = h("table", {});
  for (const port of run.path(flow)) {
    const mine = Array.from(run.pausesOf(port)).filter((pause) => {
      const only = run.pauses.flow[pause] as number;
      return (only === 0 || only === flow + 1) && overlapOf(run, pause, flow) > 0;
    });
    const stood = mine.reduce((sum, pause) => sum + overlapOf(run, pause, flow), 0);
    const ps = recorded.size > 0 ? (recorded.get(port) ?? 0) : stood;
    const [first] = mine;
    const show =
      first !== undefined &&
      link("show", () =>
        context.select({ kind: "pause", id: first }, run.pauses.from[first] as number),
      );
    table.append(
      h(
        "tr",
        {},
        h("td", {}, portLink(context, port)),
        h("td", { class: "number" }, duration(ps)),
        h("td", {}, count(mine.length, "pause")),
        h("td", {}, show),
      ),
    );
  }
  const what =
    recorded.size > 0 ? "The time that ports held it" : "The time that pauses stood on its path";
  const text = `${what} while it ran (this recording has no decomposition of completion times):`;
  return [h("p", { class: "soft" }, text), table];
}
