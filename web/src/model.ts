// One run: the columns of its recording with the indices that the views ask for. Everything that
// is asked once per frame costs time in proportion to what is active at that instant, not to the
// size of the network.

import { type Column, type Header, inOrder, orderBy, type Recording } from "./format";
import { LinkState } from "./palette";

/** From this on a queue counts as congestion: ten full frames. */
export const CONGESTED_BYTES = 15_000;
/** Below this share of its rate a link is drawn as idle. */
const BUSY_SHARE = 0.02;
/** Time is cut into this many buckets; each lists the pauses that stand in it at some instant. */
const BUCKETS = 512;

export interface Flows {
  rows: number;
  src: Column;
  dst: Column;
  class: Column;
  priority: Column;
  size: Column;
  start: Column;
  /** 0: not finished. */
  end: Column;
  ideal: Column;
}

export interface Pauses {
  rows: number;
  from: Column;
  to: Column;
  /** The held transmit port. */
  port: Column;
  priority: Column;
  /** Index + 1; 0: not a single flow. */
  flow: Column;
  /** The port that said PAUSE. */
  by: Column;
  reason: Column;
  /** Port + 1 whose queue caused it. */
  cause: Column;
  value: Column;
  threshold: Column;
  /** Pause + 1. */
  parent: Column;
  /** Pause + 1. */
  root: Column;
  /** What is held: see `PauseKind`. */
  kind: Column;
  /** When the sender decided + 1; 0: not known. */
  decided: Column;
}

export enum PauseKind {
  Priority = 0,
  Queue = 1,
  Flow = 2,
  /** A lower rate instead of a stop. */
  Slowed = 3,
}

/** Rows of a table by a key: the rows of key `k` are `items[start[k]..start[k + 1]]`. */
export class Index {
  readonly start: Uint32Array;
  readonly items: Uint32Array;

  constructor(keys: number, rows: number, key: (row: number) => number) {
    this.start = new Uint32Array(keys + 1);
    for (let row = 0; row < rows; row++) {
      const k = key(row);
      if (k >= 0 && k < keys) this.start[k + 1] = (this.start[k + 1] as number) + 1;
    }
    for (let k = 0; k < keys; k++) {
      this.start[k + 1] = (this.start[k + 1] as number) + (this.start[k] as number);
    }
    this.items = new Uint32Array(this.start[keys] as number);
    const next = this.start.slice();
    for (let row = 0; row < rows; row++) {
      const k = key(row);
      if (k >= 0 && k < keys) {
        const at = next[k] as number;
        this.items[at] = row;
        next[k] = at + 1;
      }
    }
  }

  of(key: number): Uint32Array {
    return this.items.subarray(this.start[key], this.start[key + 1]);
  }
}

/** The state of all ports at one instant; `touched` lists those that are not idle. */
export class Frame {
  readonly state: Uint8Array;
  readonly queue: Float64Array;
  readonly share: Float64Array;
  /** May list a port several times. */
  touched: number[] = [];
  /** Where in `touched` a port stands first. */
  readonly first: Int32Array;

  constructor(ports: number) {
    this.first = new Int32Array(ports).fill(-1);
    this.state = new Uint8Array(ports);
    this.queue = new Float64Array(ports);
    this.share = new Float64Array(ports);
  }

  clear(): void {
    for (const port of this.touched) {
      this.state[port] = 0;
      this.queue[port] = 0;
      this.share[port] = 0;
      this.first[port] = -1;
    }
    this.touched.length = 0;
  }

  touch(port: number): void {
    if (this.first[port] === -1) this.first[port] = this.touched.length;
    this.touched.push(port);
  }
}

export interface Cycle {
  at: number;
  ports: number[];
}

/** The first position in a sorted column with a value of at least (`after`: above) `wanted`. */
export function search(column: Column, rows: number, wanted: number, after = false): number {
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = column[middle] as number;
    if (value < wanted || (after && value === wanted)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const EMPTY = new Float64Array(0);

export class Run {
  readonly header: Header;
  readonly flows: Flows;
  readonly pauses: Pauses;
  readonly end: number;
  readonly window: number;
  readonly maxQueue: number;
  readonly cycles: Cycle[];
  readonly bytes: { packed: number; unpacked: number };
  private readonly sampleWindow: Column;
  private readonly samplePort: Column;
  private readonly sampleQueue: Column;
  private readonly sampleSent: Column;
  private readonly sampleHeld: Column;
  private readonly samples: number;
  private readonly buckets: Index;
  private readonly bucketPause: Uint32Array;
  private readonly lazy = new Map<string, unknown>();

  constructor(
    readonly recording: Recording,
    readonly label: string,
  ) {
    this.header = recording.header;
    this.bytes = { packed: recording.packed, unpacked: recording.unpacked };
    this.end = Math.max(1, this.header.end_ps);
    this.window = Math.max(1, this.header.window_ps);
    const flow = this.table("flows");
    this.flows = {
      rows: flow.rows,
      src: flow.get("src"),
      dst: flow.get("dst"),
      class: flow.get("class"),
      priority: flow.get("priority"),
      size: flow.get("size"),
      start: flow.get("start"),
      end: flow.get("end"),
      ideal: flow.get("fct_ideal"),
    };
    const pause = this.table("pauses");
    this.pauses = {
      rows: pause.rows,
      from: pause.get("from"),
      to: pause.get("to"),
      port: pause.get("port"),
      priority: pause.get("priority"),
      flow: pause.get("flow"),
      by: pause.get("by"),
      reason: pause.get("reason"),
      cause: pause.get("cause"),
      value: pause.get("value"),
      threshold: pause.get("threshold"),
      parent: pause.get("parent"),
      root: pause.get("root"),
      kind: pause.get("kind"),
      decided: pause.get("decided"),
    };
    const sample = this.table("samples");
    this.samples = sample.rows;
    // the file has them by port
    const order = orderBy(sample.get("window"));
    const sorted = (name: string) => inOrder(sample.get(name), order);
    this.sampleWindow = sorted("window");
    this.samplePort = sorted("port");
    this.sampleQueue = sorted("queue");
    this.sampleSent = sorted("sent");
    this.sampleHeld = sorted("held");
    let most = 1;
    for (let row = 0; row < this.samples; row++) {
      most = Math.max(most, this.sampleQueue[row] as number);
    }
    this.maxQueue = most;
    this.cycles = this.readCycles();
    // one entry per (pause, bucket it stands in)
    const buckets: number[] = [];
    const pauses: number[] = [];
    for (let p = 0; p < this.pauses.rows; p++) {
      const last = this.bucket(this.pauses.to[p] as number);
      for (let b = this.bucket(this.pauses.from[p] as number); b <= last; b++) {
        buckets.push(b);
        pauses.push(p);
      }
    }
    this.bucketPause = Uint32Array.from(pauses);
    this.buckets = new Index(BUCKETS, buckets.length, (row) => buckets[row] as number);
  }

  private bucket(ps: number): number {
    return Math.max(0, Math.min(BUCKETS - 1, Math.floor((ps / this.end) * BUCKETS)));
  }

  /** A section; columns that it does not have read as zeros. */
  table(name: string): { rows: number; get: (column: string) => Column } {
    const section = this.recording.sections.get(name);
    const rows = section?.rows ?? 0;
    const get = (column: string) =>
      section?.columns.get(column) ?? (rows ? new Float64Array(rows) : EMPTY);
    return { rows, get };
  }

  has(name: string): boolean {
    return (this.recording.sections.get(name)?.rows ?? 0) > 0;
  }

  private once<T>(key: string, make: () => T): T {
    if (!this.lazy.has(key)) this.lazy.set(key, make());
    return this.lazy.get(key) as T;
  }

  get ports(): number {
    return this.header.ports.length;
  }

  /** The node that a port belongs to. */
  nodeOf(port: number): number {
    return this.header.ports[port]?.node ?? 0;
  }

  /** The node at the other end of a port's link. */
  peerOf(port: number): number {
    const peer = this.header.ports[port]?.peer ?? 0;
    return this.header.ports[peer]?.node ?? 0;
  }

  nodeName(node: number): string {
    return this.header.nodes[node]?.name ?? `node ${node}`;
  }

  /** A direction of a link: "Sb → Sc". */
  linkName(port: number): string {
    return `${this.nodeName(this.nodeOf(port))} → ${this.nodeName(this.peerOf(port))}`;
  }

  /** A port as its owner calls it: "P_d of Sc", or "port to h9 of Sc". */
  portName(port: number): string {
    const given = this.header.ports[port]?.name;
    const alias = given?.includes(":") ? given.slice(given.indexOf(":") + 1) : given;
    const node = this.nodeName(this.nodeOf(port));
    const peer = this.nodeName(this.peerOf(port));
    if (alias && alias !== peer) return `${alias} of ${node}`;
    return `port to ${peer} of ${node}`;
  }

  tierOf(port: number): number {
    const a = this.header.nodes[this.nodeOf(port)]?.tier ?? 0;
    const b = this.header.nodes[this.peerOf(port)]?.tier ?? 0;
    return Math.max(a, b);
  }

  flowName(flow: number): string {
    const { src, dst } = this.flows;
    return `F${flow} ${this.nodeName(src[flow] as number)} → ${this.nodeName(dst[flow] as number)}`;
  }

  /** What files and commands call a flow: "f0.3" is flow 3 of host 0. */
  flowId(flow: number): string {
    const number = this.recording.sections.get("flows")?.columns.get("number")?.[flow];
    return number === undefined ? String(flow) : `f${this.flows.src[flow]}.${number}`;
  }

  /** The flow of such a name, or of an index. */
  flowOf(id: string): number | null {
    const rows = this.flows.rows;
    if (/^\d+$/.test(id)) return Number(id) < rows ? Number(id) : null;
    for (let flow = 0; flow < rows; flow++) if (this.flowId(flow) === id) return flow;
    return null;
  }

  className(flow: number): string {
    return this.header.classes[this.flows.class[flow] as number] ?? "";
  }

  /** Completion time; null while it is not finished. */
  fct(flow: number): number | null {
    const end = this.flows.end[flow] as number;
    return end > 0 ? end - (this.flows.start[flow] as number) : null;
  }

  private get pathRows(): Index {
    return this.once("paths by flow", () => {
      const table = this.table("paths");
      const flows = table.get("flow");
      return new Index(this.flows.rows, table.rows, (row) => flows[row] as number);
    });
  }

  /** The ports that a flow leaves by, hop by hop. */
  path(flow: number): number[] {
    const ports = this.table("paths").get("port");
    return Array.from(this.pathRows.of(flow), (row) => ports[row] as number);
  }

  /** Whether a flow leaves by a port. */
  crosses(flow: number, port: number): boolean {
    const ports = this.table("paths").get("port");
    return this.pathRows.of(flow).some((row) => ports[row] === port);
  }

  /** Times that ports held a flow, as recorded; empty where the section was left out. */
  holdsOf(flow: number): Map<number, number> {
    const table = this.table("holds");
    const index = this.once("holds by flow", () => {
      const flows = table.get("flow");
      return new Index(this.flows.rows, table.rows, (row) => flows[row] as number);
    });
    const [ports, held] = [table.get("port"), table.get("held")];
    const rows = Array.from(index.of(flow));
    return new Map(rows.map((row) => [ports[row] as number, held[row] as number]));
  }

  /** For how long a port held a flow at most: all the time, where holds were not recorded. */
  heldAt(flow: number, port: number): number {
    return this.has("holds") ? (this.holdsOf(flow).get(port) ?? 0) : Number.POSITIVE_INFINITY;
  }

  private get portRows(): Index {
    return this.once("paths by port", () => {
      const table = this.table("paths");
      const ports = table.get("port");
      return new Index(this.ports, table.rows, (row) => ports[row] as number);
    });
  }

  /** The flows whose path uses a port. */
  flowsOver(port: number): Uint32Array {
    const flows = this.table("paths").get("flow");
    return this.portRows.of(port).map((row) => flows[row] as number);
  }

  flowsOverCount(port: number): number {
    return this.portRows.of(port).length;
  }

  pausesOf(port: number): Uint32Array {
    const index = this.once("pauses by port", () => {
      return new Index(this.ports, this.pauses.rows, (row) => this.pauses.port[row] as number);
    });
    return index.of(port);
  }

  /** Whether something still passes the held port: only a queue or flow is held, or slowed down. */
  isPartial(pause: number): boolean {
    return this.pauses.flow[pause] !== 0 || this.pauses.kind[pause] !== PauseKind.Priority;
  }

  childrenOf(pause: number): Uint32Array {
    const index = this.once("pauses by parent", () => {
      const { rows, parent } = this.pauses;
      return new Index(rows, rows, (row) => (parent[row] as number) - 1);
    });
    return index.of(pause);
  }

  /** The first pause of the chain that a pause belongs to. */
  rootOf(pause: number): number {
    const given = this.pauses.root[pause] as number;
    if (given > 0) return given - 1;
    let at = pause;
    for (let steps = 0; steps < this.pauses.rows; steps++) {
      const parent = this.pauses.parent[at] as number;
      if (parent === 0) break;
      at = parent - 1;
    }
    return at;
  }

  /** The port whose queue a pause was sent for; without a cause, the port that sent it. */
  causeOf(pause: number): number {
    const cause = this.pauses.cause[pause] as number;
    return cause > 0 ? cause - 1 : (this.pauses.by[pause] as number);
  }

  /** Calls `visit` for each pause that stands at an instant. */
  eachStanding(at: number, visit: (pause: number) => void): void {
    const { from, to } = this.pauses;
    for (const entry of this.buckets.of(this.bucket(at))) {
      const pause = this.bucketPause[entry] as number;
      const end = to[pause] as number;
      const standing = at < end || (end >= this.end && at >= this.end);
      if ((from[pause] as number) <= at && standing) visit(pause);
    }
  }

  /** The rows of `samples` of the window that holds an instant. */
  private rowsAt(at: number): [number, number] {
    const window = Math.floor(Math.min(at, this.end - 1) / this.window);
    const low = search(this.sampleWindow, this.samples, window);
    return [low, search(this.sampleWindow, this.samples, window, true)];
  }

  /** Computes what every port does at an instant. */
  frameAt(at: number, frame: Frame): void {
    frame.clear();
    const { state, queue, share } = frame;
    const [low, high] = this.rowsAt(at);
    for (let row = low; row < high; row++) {
      const port = this.samplePort[row] as number;
      const rate = this.header.ports[port]?.rate_bps ?? 1;
      const used = ((this.sampleSent[row] as number) * 8e12) / (rate * this.window);
      queue[port] = this.sampleQueue[row] as number;
      share[port] = Math.min(1, used);
      if ((queue[port] as number) >= CONGESTED_BYTES) state[port] = LinkState.Congested;
      else if (used >= BUSY_SHARE) state[port] = LinkState.Busy;
      frame.touch(port);
    }
    this.eachStanding(at, (pause) => {
      const port = this.pauses.port[pause] as number;
      const kind = this.isPartial(pause) ? LinkState.PartlyHeld : LinkState.Paused;
      if ((state[port] as number) < kind) state[port] = kind;
      frame.touch(port);
    });
  }

  private asked = 0;

  /** The rows of `samples` of a port: a look at all of them, and from some ports on an index. */
  private sampleRows(port: number): number[] {
    this.asked += 1;
    if (this.asked > 8) {
      const index = this.once("samples by port", () => {
        return new Index(this.ports, this.samples, (row) => this.samplePort[row] as number);
      });
      return Array.from(index.of(port));
    }
    const rows: number[] = [];
    for (let row = 0; row < this.samples; row++) if (this.samplePort[row] === port) rows.push(row);
    return rows;
  }

  /** Windows of one port over time, for its curves. */
  series(port: number): { window: number[]; queue: number[]; share: number[]; held: number[] } {
    const rate = this.header.ports[port]?.rate_bps ?? 1;
    const rows = this.sampleRows(port);
    return {
      window: rows.map((row) => this.sampleWindow[row] as number),
      queue: rows.map((row) => this.sampleQueue[row] as number),
      share: rows.map((row) => ((this.sampleSent[row] as number) * 8e12) / (rate * this.window)),
      held: rows.map((row) => Math.min(1, (this.sampleHeld[row] as number) / this.window)),
    };
  }

  /** The longest queue of all ports, or of one, in a span of time. */
  highWater(port: number | null, from: number, to: number): number {
    const low = search(this.sampleWindow, this.samples, Math.floor(from / this.window));
    const high = search(this.sampleWindow, this.samples, Math.ceil(to / this.window));
    let most = 0;
    for (let row = low; row < high; row++) {
      if (port !== null && this.samplePort[row] !== port) continue;
      most = Math.max(most, this.sampleQueue[row] as number);
    }
    return most;
  }

  /** The port with the longest queue of the run; null if nothing ever queued. */
  get fullest(): number | null {
    return this.once("fullest", () => {
      let best = -1;
      for (let row = 0; row < this.samples; row++) {
        if (best < 0 || (this.sampleQueue[row] as number) > (this.sampleQueue[best] as number))
          best = row;
      }
      return best < 0 ? null : (this.samplePort[best] as number);
    });
  }

  /** Ports that are held at some time, in the order of their first pause. */
  get heldPorts(): number[] {
    return this.once("held ports", () => {
      const seen = new Uint8Array(this.ports);
      const ports: number[] = [];
      for (let p = 0; p < this.pauses.rows; p++) {
        const port = this.pauses.port[p] as number;
        if (!seen[port]) ports.push(port);
        seen[port] = 1;
      }
      return ports;
    });
  }

  /** How many links are held in each of `bins` equal parts of a span of time, on average. */
  heldOver(from: number, to: number, bins: number): Float64Array {
    const held = new Float64Array(bins);
    const scale = bins / (to - from);
    // what stands at a port at the same time counts once
    const until = new Float64Array(this.ports);
    for (let p = 0; p < this.pauses.rows; p++) {
      const port = this.pauses.port[p] as number;
      const [known, end] = [until[port] as number, this.pauses.to[p] as number];
      const begin = Math.max(known, this.pauses.from[p] as number);
      addSpan(held, (begin - from) * scale, (end - from) * scale);
      until[port] = Math.max(known, end);
    }
    return held;
  }

  private readCycles(): Cycle[] {
    const table = this.table("deadlocks");
    const cycles = new Map<number, Cycle>();
    for (let row = 0; row < table.rows; row++) {
      const number = table.get("cycle")[row] as number;
      const cycle = cycles.get(number) ?? { at: table.get("at")[row] as number, ports: [] };
      cycle.ports.push(table.get("port")[row] as number);
      cycles.set(number, cycle);
    }
    return Array.from(cycles.values(), (cycle) => ({
      at: cycle.at,
      ports: this.inOrder(cycle.ports),
    }));
  }

  /** The ports of a cycle so that each link leads to the node that the next one leaves. */
  private inOrder(ports: number[]): number[] {
    const left = ports.slice(1);
    const ordered = ports.slice(0, 1);
    while (left.length > 0) {
      const node = this.peerOf(ordered[ordered.length - 1] as number);
      const next = left.findIndex((port) => this.nodeOf(port) === node);
      ordered.push(...left.splice(Math.max(0, next), 1));
    }
    return ordered;
  }

  /** All instants at which something happens, sorted. */
  get events(): Float64Array {
    return this.once("events", () => {
      const times: Column[] = [this.pauses.from, this.pauses.to, this.flows.start, this.flows.end];
      for (const name of ["drops", "failures", "deadlocks"]) times.push(this.table(name).get("at"));
      const all = new Float64Array(times.reduce((sum, column) => sum + column.length, 0));
      let at = 0;
      for (const column of times) {
        all.set(column, at);
        at += column.length;
      }
      return all.sort();
    });
  }

  /** The next or previous event from an instant, or that instant if there is none. */
  eventFrom(at: number, forward: boolean): number {
    const { events } = this;
    const index = forward
      ? search(events, events.length, at, true)
      : search(events, events.length, at) - 1;
    return Math.min(this.end, events[index] ?? at);
  }
}

/** Adds the span from `a` to `b`, in bins, to the bins that it covers, in proportion. */
export function addSpan(bins: Float64Array | Float32Array, a: number, b: number): void {
  const from = Math.max(0, a);
  const to = Math.min(bins.length, b);
  if (!(to > from)) return;
  const first = Math.floor(from);
  const last = Math.min(bins.length - 1, Math.floor(to));
  for (let bin = first; bin <= last; bin++) {
    bins[bin] = (bins[bin] as number) + Math.min(to, bin + 1) - Math.max(from, bin);
  }
}
