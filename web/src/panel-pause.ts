// A pause: the tree from its root queue over the links it holds to the flows that suffered.

import { hasBlame, sufferersOf, type TreeNode, treeOf } from "./blame";
import { h } from "./dom";
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
import { bytes, count, duration, moment } from "./units";

const MOST_TREE = 40;
/** What a pause holds, by its kind; empty: a priority. */
const WHAT = ["", "one queue", "one flow of a host", "slowed down, not stopped"];

export function pausePanel(context: PanelContext, pause: number): Node[] {
  const { run } = context;
  if (pause >= run.pauses.rows)
    return [
      heading(context, `pause ${pause}`, "pause"),
      h("p", {}, `${run.label} has no such pause.`),
    ];
  const { from, to, port, by, reason, value, threshold, flow, priority } = run.pauses;
  const held = port[pause] as number;
  const [start, end] = [from[pause] as number, to[pause] as number];
  const only = flow[pause] as number;
  const tree = treeOf(run, pause);
  const why = run.header.reasons[reason[pause] as number] ?? "";
  const measured = value[pause]
    ? `${bytes(value[pause] as number)} against ${bytes(threshold[pause] as number)}`
    : "";
  const what = only ? flowLink(context, only - 1) : WHAT[run.pauses.kind[pause] as number];
  const whole = priority[pause] === 255 ? "the whole link" : `priority ${priority[pause]}`;
  const decided = run.pauses.decided[pause] as number;
  const sent = decided > 0 ? `${duration(start - decided + 1)} before it took effect` : "";
  const jump = link(
    moment(start),
    () => context.select({ kind: "pause", id: pause }, start),
    "Move the cursor there",
  );
  const nodes: Node[] = [
    heading(context, run.linkName(held), "pause"),
    facts(
      ["held by", run.nodeName(run.nodeOf(by[pause] as number))],
      ["what", what || whole],
      ["from", jump],
      sent ? ["decided", sent] : null,
      [
        "for",
        end >= run.end ? `${duration(end - start)}, until the end` : duration(end - start, 4),
      ],
      ["why", [why.replaceAll("_", " "), measured].filter(Boolean).join(": ") || "–"],
      ["link", portLink(context, held)],
    ),
    h("h3", {}, "From the root queue to the links it holds"),
    treeView(context, tree, pause),
  ];
  const sufferers = sufferersOf(run, tree);
  const victims = sufferers.filter((s) => !s.own);
  nodes.push(
    h(
      "h3",
      {},
      `Flows that suffered: ${count(victims.length, "victim")}, ${sufferers.length - victims.length} with a part in it`,
    ),
  );
  const table = h("table", { class: "sufferers" });
  if (victims.length + sufferers.length > 0) {
    table.append(
      h(
        "tr",
        {},
        h("th", {}, "flow"),
        h("th", {}, "held"),
        h("th", {}, hasBlame(run) ? "FCT owes" : ""),
        h("th", {}, ""),
      ),
    );
  }
  for (const { flow: id, ps, blamed, own } of sufferers.slice(0, MOST_ROWS)) {
    table.append(
      h(
        "tr",
        { class: own ? "" : "victim" },
        h("td", {}, flowLink(context, id)),
        h("td", { class: "number" }, duration(ps)),
        h("td", { class: "number" }, blamed === null ? "" : duration(blamed)),
        h("td", {}, own ? "own congestion" : "victim"),
      ),
    );
  }
  nodes.push(table, more(MOST_ROWS, sufferers.length, "flow") ?? nothing());
  return nodes;
}

function treeView(
  context: PanelContext,
  tree: ReturnType<typeof treeOf>,
  chosen: number,
): HTMLElement {
  const { run } = context;
  let shown = 0;
  const branch = (node: TreeNode): HTMLElement => {
    shown += 1;
    const text = `${run.nodeName(run.nodeOf(node.by))} pauses ${run.nodeName(run.nodeOf(node.held))}`;
    const first = node.pauses[0] as number;
    const mine = node.pauses.includes(chosen);
    const times = node.pauses.length > 1 ? `${count(node.pauses.length, "time")}, ` : "";
    const name = link(text, () =>
      context.select({ kind: "pause", id: first }, run.pauses.from[first] as number),
    );
    if (mine) name.setAttribute("aria-current", "true");
    const rest = node.children.filter(() => shown < MOST_TREE).map(branch);
    const cut = node.children.length - rest.length;
    return h(
      "li",
      {},
      name,
      h("span", { class: "soft" }, ` ${times}${duration(node.ps)} from ${moment(node.first)}`),
      rest.length > 0 && h("ul", {}, ...rest),
      cut > 0 &&
        h("p", { class: "soft" }, `and ${count(cut, "branch", "branches")} more, not listed`),
    );
  };
  const root = h(
    "li",
    { class: "root" },
    portLink(context, tree.port),
    h("span", { class: "soft" }, " cannot keep up"),
    h("ul", {}, ...tree.nodes.map(branch)),
  );
  return h("ul", { class: "tree" }, root);
}
