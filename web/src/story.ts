// What happened, in sentences in the order of time: where the worst pauses began, how far they
// spread, and who suffered. For somebody who has never seen a pause.

import {
  blamedBy,
  covered,
  hasBlame,
  lifeOf,
  overlapOf,
  triggerOf,
  worstCulprits,
  worstVictims,
} from "./blame";
import { PauseKind, type Run } from "./model";
import { bytes, count, duration } from "./units";

export interface Chapter {
  at: number;
  /** The pause that it is about. */
  pause: number | null;
  words: string;
}

/** Links further from the root than this are summed up. */
const MOST_STEPS = 3;

/** The queue whose pauses are told: that of a deadlock's trigger, else the worst culprit. */
export function mainRoot(run: Run): number | null {
  if (run.pauses.rows === 0) return null;
  const [cycle] = run.cycles;
  const first = cycle ? triggerOf(run, cycle.ports, cycle.at) : null;
  if (first !== null) return run.causeOf(first);
  const [worst] = worstCulprits(run);
  if (worst) return worst.id;
  return run.causeOf(run.rootOf(0));
}

/** The chapters of a run; none if it has no pause. */
export function storyOf(run: Run): Chapter[] {
  const root = mainRoot(run);
  if (root === null) return [];
  const chapters = [...spread(run, root), ...victim(run, root)];
  const [cycle] = run.cycles;
  const peak = peakOf(run);
  // what stands still after a deadlock is told by the deadlock
  if (peak && (!cycle || peak.at < cycle.at)) chapters.push(peak);
  if (cycle) {
    const words = `${count(cycle.ports.length, "link")} wait for each other in a circle: a deadlock. Nothing there moves any more.`;
    chapters.push({ at: cycle.at, pause: null, words });
  }
  const told = cycle ? chapters.filter(({ at }) => at <= cycle.at) : chapters;
  told.sort((a, b) => a.at - b.at);
  let last = 0;
  for (const to of run.pauses.to) last = Math.max(last, to);
  // of a slice, or of a run that goes on, nobody knows what comes after
  if (run.header.outcome === "drained" && !run.header.slice && last < run.end) {
    told.push({ at: last, pause: null, words: "The last pause ends." });
  }
  return told;
}

/** The first pause at each distance from the root. */
function spread(run: Run, root: number): Chapter[] {
  const { rows, parent, port } = run.pauses;
  const depths = new Uint32Array(rows);
  const first: number[] = [];
  const links: Set<number>[] = [];
  for (let p = 0; p < rows; p++) {
    // a parent comes before its children
    const above = parent[p] as number;
    const depth = above > 0 ? (depths[above - 1] as number) + 1 : 0;
    depths[p] = depth;
    if (run.causeOf(run.rootOf(p)) !== root) continue;
    const known = links[depth] ?? new Set<number>();
    if (known.size === 0) first[depth] = p;
    links[depth] = known.add(port[p] as number);
  }
  return first.flatMap((pause, depth) => {
    if (pause === undefined || depth > MOST_STEPS) return [];
    const others = (links[depth]?.size ?? 1) - 1;
    const words = depth === 0 ? began(run, root, pause) : passedOn(run, pause);
    const end = others > 0 ? `${words}, then ${count(others, "other link")}.` : `${words}.`;
    const far = first.length - 1 - depth;
    const rest =
      depth === MOST_STEPS && far > 0 ? ` It goes on over ${count(far, "more hop")}.` : "";
    return [{ at: run.pauses.from[pause] as number, pause, words: end + rest }];
  });
}

/** "stops h2", or less than that. */
function verb(run: Run, pause: number): string {
  const held = run.nodeName(run.nodeOf(run.pauses.port[pause] as number));
  if (run.pauses.kind[pause] === PauseKind.Slowed) return `slows ${held} down`;
  const part = run.pauses.flow[pause] ? "a flow" : "a queue";
  return run.isPartial(pause) ? `stops ${part} of ${held}` : `stops ${held}`;
}

function began(run: Run, root: number, pause: number): string {
  const [value, limit] = [run.pauses.value[pause] as number, run.pauses.threshold[pause] as number];
  const full = value > 0 && limit > 0 ? ` (${bytes(value)} wait, pauses from ${bytes(limit)})` : "";
  const by = run.nodeName(run.nodeOf(run.pauses.by[pause] as number));
  return `More arrives for ${run.portName(root)} than it can send${full}: ${by} ${verb(run, pause)}`;
}

function passedOn(run: Run, pause: number): string {
  const by = run.nodeName(run.nodeOf(run.pauses.by[pause] as number));
  return `It spreads: ${by} cannot pass on what still comes, fills up and ${verb(run, pause)}`;
}

/** Of so many victims the first one of the root is told. */
const MOST_VICTIMS = 500;

/** The flow that lost most to the root and does not go through it. */
function victim(run: Run, root: number): Chapter[] {
  for (const { id } of worstVictims(run).slice(0, MOST_VICTIMS)) {
    if (run.crosses(id, root)) continue;
    const all = run.path(id).flatMap((port) => Array.from(run.pausesOf(port)));
    const mine = all.filter((p) => {
      const only = run.pauses.flow[p] as number;
      const its = only === 0 || only === id + 1;
      return its && run.causeOf(run.rootOf(p)) === root && overlapOf(run, p, id) > 0;
    });
    const [first] = mine.sort((a, b) => from(run, a) - from(run, b));
    const owed = hasBlame(run)
      ? (blamedBy(run, lifeOf(run, id)).find(({ port }) => port === root)?.ps ?? 0)
      : heldFor(run, id, mine);
    if (first === undefined || owed === 0) continue;
    const at = Math.max(from(run, first), run.flows.start[id] as number);
    const words = `${run.flowName(id)} has to wait, too, ${duration(owed)} in all: its path does not even touch ${run.portName(root)}. It is a victim.`;
    return [{ at, pause: first, words }];
  }
  return [];
}

function from(run: Run, pause: number): number {
  return run.pauses.from[pause] as number;
}

/** For how long some pauses stood on the way of a flow; where they overlap it counts once. */
function heldFor(run: Run, flow: number, pauses: number[]): number {
  const spans = pauses
    .filter((p) => run.heldAt(flow, run.pauses.port[p] as number) > 0)
    .map((p): [number, number] => [from(run, p), run.pauses.to[p] as number]);
  return covered(run, flow, spans);
}

/** When most directions of links are held. */
export function peakTime(run: Run): number | null {
  const bins = 2000;
  const held = run.heldOver(0, run.end, bins);
  const best = held.reduce((at, n, i) => (n > (held[at] as number) ? i : at), 0);
  return (held[best] as number) > 0 ? Math.round(((best + 0.5) / bins) * run.end) : null;
}

function peakOf(run: Run): Chapter | null {
  const at = peakTime(run);
  if (at === null) return null;
  const ports = new Set<number>();
  run.eachStanding(at, (pause) => ports.add(run.pauses.port[pause] as number));
  if (ports.size < 3) return null;
  const links = count(ports.size, "link");
  return {
    at,
    pause: null,
    words: `The worst moment: ${links} are held at once.`,
  };
}
