// The panel beside the map: where to start, and what is known about the selection.

import {
  cutShort,
  hasBlame,
  MOST_CROSSINGS,
  worstCulprits,
  worstSenders,
  worstVictims,
} from "./blame";
import { h } from "./dom";
import type { Run } from "./model";
import { flowPanel } from "./panel-flow";
import {
  facts,
  flowLink,
  link,
  MOST_ROWS,
  more,
  nothing,
  type PanelContext,
  portLink,
} from "./panel-parts";
import { pausePanel } from "./panel-pause";
import { cyclePanel, linkPanel, nodePanel } from "./panel-place";
import type { Selection } from "./state";
import { storyOf } from "./story";
import { bytes, count, duration, grouped, moment } from "./units";

export function drawPanel(context: PanelContext, selection: Selection | null): Node[] {
  switch (selection?.kind) {
    case "flow":
      return flowPanel(context, selection.id);
    case "pause":
      return pausePanel(context, selection.id);
    case "link":
      return linkPanel(context, selection.id);
    case "node":
      return nodePanel(context, selection.id);
    case "cycle":
      return cyclePanel(context, selection.id);
    default:
      return startPanel(context);
  }
}

/** The one-sentence answer of a run. */
export function verdict(run: Run): string {
  const [cycle] = run.cycles;
  if (cycle)
    return `${run.label} deadlocked at ${duration(cycle.at)}: ${count(cycle.ports.length, "link")} wait for each other.`;
  if (run.pauses.rows === 0) return `${run.label} sent no pause.`;
  const [victim] = worstVictims(run);
  const held = `${run.label} held ${count(run.heldPorts.length, "link")} ${count(run.pauses.rows, "time")}`;
  if (!victim) return `${held}, and no flow lost time to congestion that it did not cause.`;
  const what = hasBlame(run) ? "of its completion time" : "of pauses on its path";
  return `${held}; ${run.flowName(victim.id)} lost ${duration(victim.ps)} ${what} to congestion it never met.`;
}

function startPanel(context: PanelContext): Node[] {
  const { run, beside } = context;
  const nodes: Node[] = [h("p", { class: "verdict" }, verdict(run))];
  if (beside) nodes.push(h("p", { class: "verdict" }, verdict(beside)));
  for (const [i, cycle] of run.cycles.entries()) {
    const text = `Deadlock at ${duration(cycle.at)}: a cycle of ${count(cycle.ports.length, "link")}`;
    const go = () => context.select({ kind: "cycle", id: i }, cycle.at);
    nodes.push(h("p", { class: "alarm" }, link(text, go)));
  }
  nodes.push(...mishaps(context), ...story(context));
  nodes.push(...victimList(context), ...culpritList(context));
  nodes.push(...about(context));
  return nodes;
}

/** What happened, for somebody who sees pauses for the first time. */
function story(context: PanelContext): Node[] {
  const { run } = context;
  const chapters = storyOf(run);
  if (chapters.length === 0) return [];
  const lines = chapters.map(({ at, pause, words }) => {
    const go = () => context.select(pause === null ? null : { kind: "pause", id: pause }, at);
    return h("li", {}, link(moment(at), go, "Show this moment"), h("span", {}, words));
  });
  const under = context.beside ? ` under ${run.label}` : "";
  return [
    h("h2", {}, `What happened${under}`),
    soft(
      "A queue that grows too long makes its switch tell its neighbours to stop (PAUSE). What is stopped fills up in turn: congestion spreads against the traffic, and holds flows that never go where it began.",
    ),
    h("ol", { class: "story" }, ...lines),
  ];
}

function soft(text: string): HTMLElement {
  return h("p", { class: "soft" }, text);
}

function victimList(context: PanelContext): Node[] {
  const { run } = context;
  const victims = worstVictims(run).map(({ id, ps }) => ({ id, value: ps }));
  const what = hasBlame(run)
    ? "Time in their completion time spent held for congestion elsewhere."
    : "Pauses on their path, while they ran, for congestion elsewhere.";
  const name = (id: number) => flowLink(context, id);
  const cut = `only the first ${grouped(MOST_CROSSINGS)} pairs of a pause and a flow were looked at`;
  return [
    h("h2", {}, "Worst victims"),
    soft(what),
    ranking(victims, name, duration, "no flow was held for others"),
    more(MOST_ROWS, victims.length, "flow") ?? nothing(),
    cutShort(run) ? soft(cut) : nothing(),
  ];
}

function culpritList(context: PanelContext): Node[] {
  const { run } = context;
  const queues = worstCulprits(run).map(({ id, ps }) => ({ id, value: ps }));
  const what = hasBlame(run)
    ? "Queues at the root of those holds."
    : "Queues at the root of pauses, by the time the pauses lasted.";
  const name = (id: number) => portLink(context, id);
  const nodes: Node[] = [
    h("h2", {}, "Worst culprits"),
    soft(what),
    ranking(queues, name, duration, "no queue held anyone"),
    more(MOST_ROWS, queues.length, "queue") ?? nothing(),
  ];
  const senders = worstSenders(run).map(({ id, ps }) => ({ id, value: ps }));
  if (senders.length > 0) {
    nodes.push(
      soft("Flows whose bytes stood there, with their share of that time."),
      ranking(senders, (id) => flowLink(context, id), duration, ""),
      more(MOST_ROWS, senders.length, "flow") ?? nothing(),
    );
  }
  return nodes;
}

/** The first of a list that is sorted by value, with a bar for each. */
function ranking(
  list: { id: number; value: number }[],
  name: (id: number) => Node,
  unit: (value: number) => string,
  none: string,
): HTMLElement {
  if (list.length === 0) return soft(none);
  const most = list[0]?.value ?? 1;
  const rows = list.slice(0, MOST_ROWS).map(({ id, value }) => {
    const bar = h("meter", { min: 0, max: most, value, "aria-hidden": "true" });
    const number = h("td", { class: "number" }, unit(value));
    return h("tr", {}, h("td", {}, name(id)), number, h("td", {}, bar));
  });
  return h("table", { class: "ranking" }, ...rows);
}

/** What was left out and where it counts, by the first part of its name in the header. */
const LEFT_OUT = { slice: "outside the slice", recording: "not recorded" };

/** What is not there, with numbers; empty if a recording holds everything and is whole. */
export function leftOut(run: Run): string {
  const groups = new Map<string, string[]>();
  for (const [what, n] of Object.entries(run.header.left_out ?? {})) {
    if (n === 0) continue;
    const where = what.startsWith("slice_") ? LEFT_OUT.slice : LEFT_OUT.recording;
    const words = `${grouped(n)} ${what.replace("slice_", "").replaceAll("_", " ")}`;
    groups.set(where, [...(groups.get(where) ?? []), words]);
  }
  return Array.from(groups, ([where, words]) => `${where}: ${words.join(", ")}`).join("; ");
}

/** Losses and failed links, with the way to the first. */
function mishaps(context: PanelContext): Node[] {
  const { run } = context;
  const kinds: [string, string, string][] = [
    ["drops", "packet lost", "packets lost"],
    ["failures", "change of a link's state", "changes of links' states"],
  ];
  return kinds.flatMap(([section, one, many]) => {
    const table = run.table(section);
    if (table.rows === 0) return [];
    const at = table.get("at")[0] as number;
    const port = table.get("port")[0] as number;
    const text = `${count(table.rows, one, many)}, first at ${duration(at)} on ${run.linkName(port)}`;
    const go = () => context.select({ kind: "link", id: port }, at);
    return [h("p", { class: "alarm" }, link(text, go))];
  });
}

/** What the recording is and what it leaves out. */
function about({ run }: PanelContext): Node[] {
  const { header } = run;
  const hosts = header.nodes.filter((node) => node.role === "host").length;
  const network = `${count(hosts, "host")}, ${count(header.nodes.length - hosts, "switch", "switches")}`;
  const rows: [string, string][] = [
    ["network", `${network}, ${count(header.ports.length / 2, "link")}`],
    ["traffic", count(run.flows.rows, "flow")],
    ["ran for", `${duration(run.end)}, ${header.outcome}`],
    ["windows", duration(run.window)],
    ["recording", `${bytes(run.bytes.packed)}, Weir ${header.weir}, seed ${header.seed}`],
  ];
  if (header.decimated)
    rows.push([
      "decimated",
      `windows of ${duration(header.decimated.asked_window_ps)} were asked for`,
    ]);
  if (header.slice) {
    const { from_ps = 0, to_ps = run.end, ports } = header.slice;
    const where = ports?.length ? `, ${count(ports.length, "port")} only` : "";
    rows.push(["slice", `from ${duration(from_ps)} to ${duration(to_ps)}${where}`]);
  }
  rows.push(["left out", leftOut(run) || "nothing"]);
  return [h("h2", {}, "This recording"), facts(...rows)];
}
