// A link, a node, a deadlock.

import { routesOf, ternary, triggerOf } from "./blame";
import { h } from "./dom";
import {
  facts,
  flowLink,
  flowTable,
  heading,
  link,
  more,
  nothing,
  type PanelContext,
  portLink,
} from "./panel-parts";
import { bytes, count, duration, moment, percent, rate } from "./units";

export function linkPanel(context: PanelContext, port: number): Node[] {
  const { run, time } = context;
  const info = run.header.ports[port];
  if (!info)
    return [heading(context, `port ${port}`, "link"), h("p", {}, "There is no such port.")];
  const pauses = run.pausesOf(port);
  const held = Array.from(pauses).reduce(
    (sum, p) => sum + (run.pauses.to[p] as number) - (run.pauses.from[p] as number),
    0,
  );
  const flows = run.flowsOver(port);
  const { queue } = run.series(port);
  const most = queue.reduce((a, b) => Math.max(a, b), 0);
  const back = link(run.linkName(info.peer), () => context.select({ kind: "link", id: info.peer }));
  const nodes: Node[] = [
    heading(context, run.linkName(port), "link"),
    facts(
      ["port", run.portName(port)],
      ["rate", rate(info.rate_bps)],
      ["delay", duration(info.delay_ps)],
      ["longest queue", bytes(most)],
      [
        "held",
        pauses.length
          ? `${count(pauses.length, "time")}, ${duration(held)} (${percent(held / run.end)} of the run)`
          : "never",
      ],
      ["state", ternary(run, port)],
      ["other way", back],
    ),
  ];
  if (pauses.length > 0) {
    nodes.push(h("h3", {}, "Its pauses around the cursor"));
    const next = Array.from(pauses).findIndex((p) => (run.pauses.to[p] as number) > time);
    const first = Math.max(0, (next < 0 ? pauses.length : next) - 3);
    const table = h("table", {});
    for (const p of pauses.slice(first, first + 8)) {
      const start = run.pauses.from[p] as number;
      const name = link(moment(start), () => context.select({ kind: "pause", id: p }, start));
      const root = run.causeOf(run.rootOf(p));
      table.append(
        h(
          "tr",
          {},
          h("td", {}, name),
          h("td", { class: "number" }, duration((run.pauses.to[p] as number) - start)),
          h("td", {}, "root ", portLink(context, root)),
        ),
      );
    }
    const shown = Math.min(8, pauses.length - first);
    nodes.push(table, more(shown, pauses.length, "pause") ?? nothing());
  }
  nodes.push(h("h3", {}, `Flows over it: ${flows.length}`), flowTable(context, flows));
  return nodes;
}

export function nodePanel(context: PanelContext, node: number): Node[] {
  const { run } = context;
  const info = run.header.nodes[node];
  if (!info)
    return [heading(context, `node ${node}`, "node"), h("p", {}, "There is no such node.")];
  const ports = run.header.ports.flatMap((port, i) => (port.node === node ? [i] : []));
  const table = h("table", {});
  table.append(h("tr", {}, h("th", {}, "port"), h("th", {}, "queue ≤"), h("th", {}, "held")));
  for (const port of ports.slice(0, 40)) {
    const most = run.series(port).queue.reduce((a, b) => Math.max(a, b), 0);
    table.append(
      h(
        "tr",
        {},
        h("td", {}, portLink(context, port)),
        h("td", { class: "number" }, bytes(most)),
        h("td", { class: "number" }, count(run.pausesOf(port).length, "time")),
      ),
    );
  }
  const nodes: Node[] = [
    heading(context, info.name, info.role),
    table,
    more(40, ports.length, "port") ?? nothing(),
  ];
  if (info.role === "host") {
    const { src, dst, rows } = run.flows;
    const mine: number[] = [];
    for (let f = 0; f < rows; f++) if (src[f] === node || dst[f] === node) mine.push(f);
    nodes.push(h("h3", {}, `Its flows: ${mine.length}`), flowTable(context, mine));
  }
  return nodes;
}

export function cyclePanel(context: PanelContext, index: number): Node[] {
  const { run } = context;
  const cycle = run.cycles[index];
  if (!cycle)
    return [heading(context, "deadlock", "deadlock"), h("p", {}, "This run has no such deadlock.")];
  const list = h("ol", { class: "tree" });
  for (const { from, flows } of routesOf(run, cycle.ports)) {
    const names = flows.slice(0, 4).map((flow) => flowLink(context, flow));
    const rest =
      flows.length > 4 ? h("span", { class: "soft" }, `and ${flows.length - 4} more`) : null;
    list.append(
      h(
        "li",
        {},
        link(run.linkName(from), () => context.select({ kind: "link", id: from })),
        h("span", { class: "soft" }, " waits for the next for "),
        h("span", { class: "list" }, ...names, rest),
      ),
    );
  }
  const jump = link(moment(cycle.at), () => context.select({ kind: "cycle", id: index }, cycle.at));
  const first = triggerOf(run, cycle.ports, cycle.at);
  const began = first === null ? 0 : (run.pauses.from[first] as number);
  return [
    heading(context, `Cycle of ${count(cycle.ports.length, "link")}`, "deadlock"),
    facts(
      ["closed at", jump],
      ["nodes", cycle.ports.map((port) => run.nodeName(run.nodeOf(port))).join(" → ")],
      first === null
        ? null
        : [
            "began with",
            link(`the pause of ${run.linkName(run.pauses.port[first] as number)}`, () =>
              context.select({ kind: "pause", id: first }, began),
            ),
          ],
      first === null ? null : ["at", moment(began)],
      first === null ? null : ["for", portLink(context, run.causeOf(first))],
    ),
    h("h3", {}, "The routes that make it"),
    list,
  ];
}
