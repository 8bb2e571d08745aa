// What the page shows: the only state that views share. The part that a colleague needs to see
// the same moment is written to the address.

import { parseTime, timeForAddress } from "./units";

export type Selection =
  | { kind: "node"; id: number }
  | { kind: "link"; id: number }
  | { kind: "pause"; id: number }
  | { kind: "flow"; id: number }
  | { kind: "cycle"; id: number };

export interface State {
  /** The cursor, in ps. */
  time: number;
  /** The run in front, and the one beside it. */
  run: number;
  beside: number | null;
  selection: Selection | null;
  /** The part of the time axis that is shown. */
  range: [number, number];
  playing: boolean;
  /** Simulated ps per second. */
  speed: number;
  sort: "tier" | "first";
  /** Polling interval of the counters row, in ps. */
  poll: number;
  /** Items of the map that were opened. */
  open: ReadonlySet<string>;
}

export type Change = Partial<State>;
type Listener = (state: State, changed: ReadonlySet<keyof State>) => void;

/** Holds the state and tells views once per animation frame what changed. */
export class Store {
  private readonly listeners: Listener[] = [];
  private readonly changed = new Set<keyof State>();
  private scheduled = false;

  constructor(public state: State) {}

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  set(change: Change): void {
    for (const [name, value] of Object.entries(change)) {
      const key = name as keyof State;
      if (this.state[key] === value) continue;
      this.state = { ...this.state, [key]: value };
      this.changed.add(key);
    }
    if (this.changed.size > 0 && !this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.flush());
    }
  }

  /** What shows `key` is to be drawn again; without one everything: another theme, another size. */
  touch(key?: keyof State): void {
    const keys = key ? [key] : (Object.keys(this.state) as (keyof State)[]);
    for (const one of keys) this.changed.add(one);
    if (!this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => this.flush());
    }
  }

  private flush(): void {
    this.scheduled = false;
    const changed = new Set(this.changed);
    this.changed.clear();
    for (const listener of this.listeners) listener(this.state, changed);
  }
}

/** The part of the state that stands in the address. */
export interface Address {
  time?: number;
  run?: string;
  beside?: string;
  selection?: Selection;
  /** A flow by the name that files and commands give it. */
  flow?: string;
  range?: [number, number];
}

const KINDS = ["node", "link", "pause", "flow", "cycle"] as const;

export function writeAddress(address: Address): string {
  const parts: string[] = [];
  const add = (key: string, value: string) => parts.push(`${key}=${encodeURIComponent(value)}`);
  if (address.time !== undefined) add("t", timeForAddress(address.time));
  if (address.run !== undefined) add("run", address.run);
  if (address.beside !== undefined) add("beside", address.beside);
  if (address.flow !== undefined) add("flow", address.flow);
  else if (address.selection) parts.push(`${address.selection.kind}=${address.selection.id}`);
  if (address.range) parts.push(`axis=${address.range.map(timeForAddress).join("..")}`);
  return `#${parts.join("&")}`;
}

/** Reads an address; what it cannot read it leaves out. */
export function readAddress(hash: string): Address {
  const address: Address = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const key = part.slice(0, at);
    const value = decode(part.slice(at + 1));
    const kind = KINDS.find((k) => k === key);
    if (kind && /^\d+$/.test(value)) address.selection = { kind, id: Number(value) };
    if (key === "flow" && /^f\d+\.\d+$/.test(value)) address.flow = value;
    if (key === "t" || key === "at") address.time = parseTime(value) ?? undefined;
    if (key === "run") address.run = value;
    if (key === "beside") address.beside = value;
    if (key === "axis") {
      const [from, to] = value.split("..").map(parseTime);
      if (typeof from === "number" && typeof to === "number" && from < to)
        address.range = [from, to];
    }
  }
  return address;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
