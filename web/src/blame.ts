// Culprits and victims: what the sections `blame` and `culprits` say about a flow or a pause, and
// what follows from pauses and paths alone.

import { CONGESTED_BYTES, Index, type Run } from "./model";

/** A piece of a completion time: a part, where, and the pause at the root of a hold. */
export interface Piece {
  part: number;
  /** Port, or null where the piece has no place. */
  port: number | null;
  root: number | null;
  ps: number;
}

export interface Life {
  flow: number;
  fct: number | null;
  pieces: Piece[];
  /** Time by part. */
  totals: number[];
  sum: number;
}

const lives = new WeakMap<Run, Index>();

/** The decomposition of a flow's completion time, hop by hop; no pieces if it was not recorded. */
export function lifeOf(run: Run, flow: number): Life {
  const table = run.table("blame");
  let index = lives.get(run);
  if (!index) {
    const flows = table.get("flow");
    index = new Index(run.flows.rows, table.rows, (row) => flows[row] as number);
    lives.set(run, index);
  }
  const [part, port, root, ps] = ["part", "port", "root", "ps"].map((name) => table.get(name));
  const pieces = Array.from(index.of(flow), (row): Piece => {
    const [place, pause] = [port?.[row] as number, root?.[row] as number];
    return {
      part: part?.[row] as number,
      port: place > 0 ? place - 1 : null,
      root: pause > 0 ? pause - 1 : null,
      ps: ps?.[row] as number,
    };
  });
  const totals = run.header.parts.map(() => 0);
  for (const piece of pieces) totals[piece.part] = (totals[piece.part] ?? 0) + piece.ps;
  const sum = pieces.reduce((total, piece) => total + piece.ps, 0);
  return { flow, fct: run.fct(flow), pieces, totals, sum };
}

/** A hop of a flow's life: its time there by part. */
export interface Hop {
  port: number | null;
  totals: number[];
  sum: number;
}

export function hopsOf(run: Run, life: Life): Hop[] {
  const hops = new Map<number | null, Hop>();
  const order = new Map(run.path(life.flow).map((port, i) => [port, i]));
  for (const piece of life.pieces) {
    const hop = hops.get(piece.port) ?? {
      port: piece.port,
      totals: run.header.parts.map(() => 0),
      sum: 0,
    };
    hop.totals[piece.part] = (hop.totals[piece.part] ?? 0) + piece.ps;
    hop.sum += piece.ps;
    hops.set(piece.port, hop);
  }
  const rank = (hop: Hop) => (hop.port === null ? -1 : (order.get(hop.port) ?? 1e9));
  return [...hops.values()].sort((a, b) => rank(a) - rank(b));
}

/** Whom a flow's held time is owed to: the root queue, with the time and the pauses. */
export interface Blamed {
  port: number;
  ps: number;
  /** Pauses for that queue on the flow's path while it ran. */
  pauses: number[];
}

export function blamedBy(run: Run, life: Life): Blamed[] {
  const times = new Map<number, number>();
  for (const piece of life.pieces) {
    if (piece.root === null || piece.ps === 0) continue;
    const port = rootPort(run, piece.root);
    times.set(port, (times.get(port) ?? 0) + piece.ps);
  }
  const path = run.path(life.flow);
  const list = Array.from(times, ([port, ps]): Blamed => {
    const pauses = path.flatMap((held) =>
      Array.from(run.pausesOf(held)).filter((pause) => {
        return rootPort(run, pause) === port && overlapOf(run, pause, life.flow) > 0;
      }),
    );
    return { port, ps, pauses };
  });
  return list.sort((a, b) => b.ps - a.ps);
}

/** The queue that a flow owes most time to: one beside its path, if there is any. */
export function culpritQueue(run: Run, flow: number): number | null {
  const all = blamedBy(run, lifeOf(run, flow));
  const worst = all.find(({ port }) => !run.crosses(flow, port)) ?? all[0];
  return worst?.port ?? null;
}

/** The queue at the root of a pause. */
function rootPort(run: Run, pause: number): number {
  return run.causeOf(run.rootOf(pause));
}

export const CULPRIT_KINDS = ["direct", "indirect", "original", "pause"] as const;

/** A flow that another one waited for, in one sense. */
export interface Culprit {
  flow: number;
  kind: number;
  bytes: number;
  /** Its part of the time; 0 for those that only built a queue up. */
  ps: number;
}

/** The flows that a flow waited for, by kind: by the time that they cost, then by bytes. */
export function culpritsOf(run: Run, victim: number): Culprit[] {
  const table = run.table("culprits");
  const flows = table.get("flow");
  const [culprit, bytes, kind, ps] = ["culprit", "bytes", "kind", "ps"].map((n) => table.get(n));
  const found = new Map<string, Culprit>();
  for (let row = 0; row < table.rows; row++) {
    if (flows[row] !== victim) continue;
    const entry = { flow: culprit?.[row] as number, kind: kind?.[row] as number, bytes: 0, ps: 0 };
    const key = `${entry.flow} ${entry.kind}`;
    const known = found.get(key) ?? entry;
    known.bytes += bytes?.[row] as number;
    known.ps += ps?.[row] as number;
    found.set(key, known);
  }
  return [...found.values()].sort((a, b) => b.ps - a.ps || b.bytes - a.bytes);
}

/**
 * Flows by the time for which others were held because of their bytes in queues that these others
 * did not go through.
 */
export function worstSenders(run: Run): Ranked[] {
  return cached(run, senders, rankSenders);
}

function rankSenders(run: Run): Ranked[] {
  const table = run.table("culprits");
  const pause = CULPRIT_KINDS.indexOf("pause");
  const [flow, culprit, kind, ps, root] = ["flow", "culprit", "kind", "ps", "root"].map((name) =>
    table.get(name),
  );
  const owed = new Map<number, number>();
  for (let row = 0; row < table.rows; row++) {
    const [victim, id] = [flow?.[row] as number, culprit?.[row] as number];
    const port = (root?.[row] as number) - 1;
    if (kind?.[row] !== pause || id === victim || port < 0 || run.crosses(victim, port)) continue;
    owed.set(id, (owed.get(id) ?? 0) + (ps?.[row] as number));
  }
  return ranked(owed);
}

export interface Ranked {
  /** Flow or port. */
  id: number;
  ps: number;
}

/** Whether the shares of completion times were recorded; otherwise pauses and paths must do. */
export function hasBlame(run: Run): boolean {
  return run.has("blame");
}

const victims = new WeakMap<Run, Ranked[]>();
const culprits = new WeakMap<Run, Ranked[]>();
const senders = new WeakMap<Run, Ranked[]>();

/** A list that takes long to make is made once per run. */
function cached(run: Run, known: WeakMap<Run, Ranked[]>, make: (run: Run) => Ranked[]): Ranked[] {
  const list = known.get(run) ?? make(run);
  known.set(run, list);
  return list;
}

/** Flows by the time that they were held for congestion they never met. */
export function worstVictims(run: Run): Ranked[] {
  return cached(run, victims, rankVictims);
}

function rankVictims(run: Run): Ranked[] {
  const held = new Map<number, number>();
  if (hasBlame(run)) {
    const others = run.header.parts.indexOf("held_others");
    const table = run.table("blame");
    const [flow, part, ps] = ["flow", "part", "ps"].map((name) => table.get(name));
    for (let row = 0; row < table.rows; row++) {
      if (part?.[row] !== others) continue;
      const id = flow?.[row] as number;
      held.set(id, (held.get(id) ?? 0) + (ps?.[row] as number));
    }
  } else {
    addCrossings(run, held);
  }
  return ranked(held);
}

/**
 * Without decomposition: the pauses of other queues on a flow's path while it ran; where the
 * recording says for how long a port held the flow, no more than that.
 */
function addCrossings(run: Run, held: Map<number, number>): void {
  const atPort = new Map<number, number>();
  eachCrossing(run, (flow, pause, overlap) => {
    if (run.crosses(flow, run.causeOf(run.rootOf(pause)))) return;
    const key = flow * run.ports + (run.pauses.port[pause] as number);
    atPort.set(key, (atPort.get(key) ?? 0) + overlap);
  });
  for (const [key, ps] of atPort) {
    const flow = Math.floor(key / run.ports);
    const most = run.heldAt(flow, key % run.ports);
    held.set(flow, (held.get(flow) ?? 0) + Math.min(ps, most));
  }
}

/** Queues by the time that pauses from them held flows that did not go through them. */
export function worstCulprits(run: Run): Ranked[] {
  return cached(run, culprits, rankCulprits);
}

function rankCulprits(run: Run): Ranked[] {
  const owed = new Map<number, number>();
  const add = (port: number, ps: number) => owed.set(port, (owed.get(port) ?? 0) + ps);
  if (hasBlame(run)) {
    const others = run.header.parts.indexOf("held_others");
    const table = run.table("blame");
    const [part, root, ps] = ["part", "root", "ps"].map((name) => table.get(name));
    for (let row = 0; row < table.rows; row++) {
      const pause = root?.[row] as number;
      if (part?.[row] !== others || pause === 0) continue;
      add(run.causeOf(run.rootOf(pause - 1)), ps?.[row] as number);
    }
  } else {
    const { rows, from, to } = run.pauses;
    for (let p = 0; p < rows; p++) {
      add(run.causeOf(run.rootOf(p)), (to[p] as number) - (from[p] as number));
    }
  }
  return ranked(owed);
}

function ranked(times: Map<number, number>): Ranked[] {
  const list = Array.from(times, ([id, ps]) => ({ id, ps })).filter(({ ps }) => ps > 0);
  return list.sort((a, b) => b.ps - a.ps || a.id - b.id);
}

/** At most this many crossings are looked at where shares of completion times are missing. */
export const MOST_CROSSINGS = 2_000_000;

/** Whether the search for victims without decomposition had to stop early. */
export function cutShort(run: Run): boolean {
  const { rows, port, flow } = run.pauses;
  let seen = 0;
  for (let p = 0; p < rows && seen < MOST_CROSSINGS; p++) {
    seen += flow[p] ? 1 : run.flowsOverCount(port[p] as number);
  }
  return !hasBlame(run) && seen >= MOST_CROSSINGS;
}

function eachCrossing(
  run: Run,
  visit: (flow: number, pause: number, overlap: number) => void,
): void {
  const { rows, port, flow } = run.pauses;
  let seen = 0;
  for (let p = 0; p < rows && seen < MOST_CROSSINGS; p++) {
    const only = flow[p] as number;
    const flows = only ? [only - 1] : run.flowsOver(port[p] as number);
    for (const f of flows) {
      seen += 1;
      const ps = overlapOf(run, p, f);
      if (ps > 0) visit(f, p, ps);
    }
  }
}

/** For how long a pause stood while a flow was on its way. */
export function overlapOf(run: Run, pause: number, flow: number): number {
  const { from, to } = run.pauses;
  const end = (run.flows.end[flow] as number) || run.end;
  const first = Math.max(from[pause] as number, run.flows.start[flow] as number);
  return Math.max(0, Math.min(to[pause] as number, end) - first);
}

/**
 * The ternary state of a port that published work uses, over the whole run. A recording knows the
 * longest queues, not the mean ones: a port at which no pause begins counts as congested from
 * ten frames on.
 */
export function ternary(run: Run, port: number): string {
  const { rows } = run.pauses;
  for (let p = 0; p < rows; p++) {
    if (run.causeOf(run.rootOf(p)) === port) return "congested: pauses begin at it";
  }
  if (run.pausesOf(port).length > 0) return "undetermined: sometimes held";
  const most = run.series(port).queue.reduce((a, b) => Math.max(a, b), 0);
  return most >= CONGESTED_BYTES ? "congested: it queues and is never held" : "free";
}

/** All pauses over one link that have the same chain of causes. */
export interface TreeNode {
  by: number;
  held: number;
  pauses: number[];
  ps: number;
  first: number;
  children: TreeNode[];
}

export interface PauseTree {
  root: number;
  /** The queue that began it. */
  port: number;
  nodes: TreeNode[];
  /** Number of pauses, and the links they hold. */
  size: number;
  held: number[];
  from: number;
  to: number;
}

/** The tree that a pause belongs to, from its root. */
export function treeOf(run: Run, pause: number): PauseTree {
  const root = run.rootOf(pause);
  const held = new Set<number>();
  let size = 0;
  let to = 0;
  const grow = (pauses: Iterable<number>): TreeNode[] => {
    const byLink = new Map<number, TreeNode>();
    for (const p of pauses) {
      const port = run.pauses.port[p] as number;
      const [start, end] = [run.pauses.from[p] as number, run.pauses.to[p] as number];
      const by = run.pauses.by[p] as number;
      const node = byLink.get(port) ?? {
        by,
        held: port,
        pauses: [],
        ps: 0,
        first: start,
        children: [],
      };
      node.pauses.push(p);
      node.ps += end - start;
      node.first = Math.min(node.first, start);
      byLink.set(port, node);
      held.add(port);
      size += 1;
      to = Math.max(to, end);
    }
    for (const node of byLink.values()) {
      node.children = grow(node.pauses.flatMap((p) => Array.from(run.childrenOf(p))));
    }
    return [...byLink.values()].sort((a, b) => a.first - b.first);
  };
  const nodes = grow([root]);
  const from = run.pauses.from[root] as number;
  return { root, port: run.causeOf(root), nodes, size, held: [...held], from, to };
}

export interface Sufferer {
  flow: number;
  /** Time that some link of its path was held by the tree while it was on its way. */
  ps: number;
  /** What its completion time owes to the tree's root queue in all; null where not recorded. */
  blamed: number | null;
  /** Its path goes through the root queue: not a victim but part of the cause. */
  own: boolean;
}

/** The flows that crossed the held links of a tree, victims first. */
export function sufferersOf(run: Run, tree: PauseTree): Sufferer[] {
  const spans = new Map<number, [number, number][]>();
  const add = (flow: number, pause: number) => {
    const list = spans.get(flow) ?? [];
    list.push([run.pauses.from[pause] as number, run.pauses.to[pause] as number]);
    spans.set(flow, list);
  };
  const visit = (node: TreeNode) => {
    for (const pause of node.pauses) {
      const only = run.pauses.flow[pause] as number;
      for (const flow of only ? [only - 1] : run.flowsOver(node.held)) {
        if (overlapOf(run, pause, flow) > 0 && run.heldAt(flow, node.held) > 0) add(flow, pause);
      }
    }
    node.children.forEach(visit);
  };
  tree.nodes.forEach(visit);
  const found = Array.from(spans, ([flow, list]): Sufferer => {
    const own = run.crosses(flow, tree.port);
    return { flow, ps: covered(run, flow, list), blamed: null, own };
  });
  if (hasBlame(run)) {
    for (const entry of found) {
      const pieces = lifeOf(run, entry.flow).pieces;
      const mine = pieces.filter((p) => p.root !== null && rootPort(run, p.root) === tree.port);
      entry.blamed = mine.reduce((sum, piece) => sum + piece.ps, 0);
    }
  }
  return found.sort((a, b) => Number(a.own) - Number(b.own) || b.ps - a.ps || a.flow - b.flow);
}

/** How much of a flow's life some spans cover; where they overlap it counts once. */
export function covered(run: Run, flow: number, spans: [number, number][]): number {
  let at = run.flows.start[flow] as number;
  const end = (run.flows.end[flow] as number) || run.end;
  let sum = 0;
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const first = Math.max(at, from);
    const last = Math.min(end, to);
    if (last > first) {
      sum += last - first;
      at = last;
    }
  }
  return sum;
}

/** The flows whose routes make a cycle: those that go from one of its links to the next. */
export function routesOf(
  run: Run,
  ports: number[],
): { from: number; to: number; flows: number[] }[] {
  return ports.map((from, i) => {
    const to = ports[(i + 1) % ports.length] as number;
    const flows = Array.from(run.flowsOver(from)).filter((flow) => {
      const path = run.path(flow);
      return path[path.indexOf(from) + 1] === to;
    });
    return { from, to, flows };
  });
}

/**
 * The pause that began the chain that closed a cycle; it need not hold a link of the cycle itself.
 * Null if no pause of the recording stands on the cycle.
 */
export function triggerOf(run: Run, ports: number[], at: number): number | null {
  let best: number | null = null;
  run.eachStanding(at, (pause) => {
    if (!ports.includes(run.pauses.port[pause] as number)) return;
    const root = run.rootOf(pause);
    const { from } = run.pauses;
    if (best === null || (from[root] as number) < (from[best] as number)) best = root;
  });
  return best;
}
