// What of a network is drawn, and where. Small networks are drawn whole. In large ones a pod is
// one item, a pod that was opened shows its switches, and the hosts of a switch are one item
// until they are opened too. The order of everything is that of `weir topo`.

import type { Header } from "./format";

export type ItemKind = "switch" | "host" | "hosts" | "pod" | "row";

export interface Item {
  /** Unique and stable: what the set of opened items holds. */
  key: string;
  kind: ItemKind;
  /** Text shown beside it. */
  label: string;
  nodes: number[];
  x: number;
  y: number;
}

/** A direction between two items, with all ports that transmit along it. */
export interface Line {
  from: number;
  to: number;
  ports: number[];
}

export interface Scene {
  items: Item[];
  lines: Line[];
  /** The item that shows a node. */
  itemOf: Int32Array;
  /** The line that shows a port; -1 inside a folded item. */
  lineOf: Int32Array;
  /** Nodes that are inside folded items. */
  folded: number;
  /** Opened items, by key, that can be closed again. */
  opened: string[];
}

/** Up to so many hosts each is an item. */
const MANY_HOSTS = 48;
/** Up to so many switches each is an item. */
const MANY_SWITCHES = 56;

/** What a scene is made of, computed once per network. */
export class Network {
  readonly switches: number[] = [];
  readonly hosts: number[] = [];
  /** The switch that each host hangs on; a node itself otherwise. */
  readonly anchor: Int32Array;
  /** Nodes by group. */
  readonly groups = new Map<string, number[]>();
  /** Switches side by side on one tier are linked: positions count, not rows. */
  readonly free: boolean;

  constructor(readonly header: Header) {
    const { nodes, ports } = header;
    this.anchor = Int32Array.from(nodes, (_, i) => i);
    for (const [i, node] of nodes.entries()) {
      (node.role === "host" ? this.hosts : this.switches).push(i);
      if (node.group !== null && node.group !== undefined) {
        const members = this.groups.get(node.group) ?? [];
        members.push(i);
        this.groups.set(node.group, members);
      }
    }
    // hosts alone are no pod
    for (const [group, members] of this.groups) {
      if (members.every((node) => nodes[node]?.role === "host")) this.groups.delete(group);
    }
    let level = false;
    for (const port of ports) {
      const [a, b] = [port.node, ports[port.peer]?.node ?? 0];
      const [from, to] = [nodes[a], nodes[b]];
      if (from?.role === "host" && to?.role === "switch") this.anchor[a] = b;
      if (from?.role === "switch" && to?.role === "switch" && from.tier === to.tier) level = true;
    }
    this.free = level;
  }

  /** The pod of a node, if pods are folded in this network. */
  pod(node: number): string | null {
    if (this.groups.size < 2 || this.switches.length + this.hosts.length <= MANY_SWITCHES)
      return null;
    const group =
      this.header.nodes[node]?.group ?? this.header.nodes[this.anchor[node] ?? node]?.group;
    return group !== null && group !== undefined && this.groups.has(group) ? group : null;
  }
}

export function fold(network: Network, open: ReadonlySet<string>, aspect: number): Scene {
  const { header } = network;
  const items: Item[] = [];
  const byKey = new Map<string, number>();
  const itemOf = new Int32Array(header.nodes.length).fill(-1);
  const opened = new Set<string>();
  const put = (key: string, kind: ItemKind, node: number, label: string) => {
    let at = byKey.get(key);
    if (at === undefined) {
      at = items.length;
      byKey.set(key, at);
      items.push({ key, kind, label, nodes: [], x: 0, y: 0 });
    }
    items[at]?.nodes.push(node);
    itemOf[node] = at;
  };
  const loose = network.switches.filter((node) => network.pod(node) === null);
  const manyLoose = loose.length > MANY_SWITCHES;
  const manyHosts = network.hosts.length > MANY_HOSTS;
  const name = (node: number) => header.nodes[node]?.name ?? "";
  for (const [node, info] of header.nodes.entries()) {
    const pod = network.pod(node);
    const anchor = network.anchor[node] as number;
    if (pod !== null && !open.has(`pod:${pod}`)) {
      put(`pod:${pod}`, "pod", node, pod);
      continue;
    }
    if (pod !== null) opened.add(`pod:${pod}`);
    if (info.role === "host") {
      const key = `hosts:${name(anchor)}`;
      if (manyHosts && !open.has(key)) {
        put(key, "hosts", node, name(anchor));
        continue;
      }
      if (manyHosts) opened.add(key);
      put(`node:${node}`, "host", node, info.name);
    } else {
      const key = `row:${info.tier}`;
      if (pod === null && manyLoose && !open.has(key)) {
        put(key, "row", node, `tier ${info.tier}`);
        continue;
      }
      if (pod === null && manyLoose) opened.add(key);
      put(`node:${node}`, "switch", node, info.name);
    }
  }
  for (const item of items) item.label = caption(network, item);
  const { lines, lineOf } = join(header, itemOf);
  const free = network.free && !items.some((item) => item.kind === "pod");
  if (free) placeFreely(header, items, aspect);
  else placeInRows(network, items, aspect);
  const folded = items.reduce((sum, item) => sum + (isFolded(item) ? item.nodes.length : 0), 0);
  return { items, lines, itemOf, lineOf, folded, opened: [...opened] };
}

export function isFolded(item: Item): boolean {
  return item.kind === "pod" || item.kind === "hosts" || item.kind === "row";
}

function hostsIn(network: Network, item: Item): number {
  return item.nodes.filter((n) => network.header.nodes[n]?.role === "host").length;
}

function caption(network: Network, item: Item): string {
  if (item.kind === "hosts") return `${hostsIn(network, item)} hosts`;
  if (item.kind === "row") return `${item.nodes.length} switches of ${item.label}`;
  return item.label;
}

/** What a folded item holds. */
export function describeItem(network: Network, item: Item): string {
  const hosts = hostsIn(network, item);
  if (item.kind !== "pod") return item.label;
  return `${item.label}: ${hosts} hosts, ${item.nodes.length - hosts} switches`;
}

function join(header: Header, itemOf: Int32Array): { lines: Line[]; lineOf: Int32Array } {
  const lines: Line[] = [];
  const known = new Map<number, number>();
  const lineOf = new Int32Array(header.ports.length).fill(-1);
  const most = header.nodes.length;
  for (const [p, port] of header.ports.entries()) {
    const from = itemOf[port.node] as number;
    const to = itemOf[header.ports[port.peer]?.node ?? 0] as number;
    if (from === to) continue;
    const key = from * most + to;
    let at = known.get(key);
    if (at === undefined) {
      at = lines.length;
      known.set(key, at);
      lines.push({ from, to, ports: [] });
    }
    lines[at]?.ports.push(p);
    lineOf[p] = at;
  }
  return { lines, lineOf };
}

/** Positions of the recording, stretched to the shape of the view. */
function placeFreely(header: Header, items: Item[], aspect: number): void {
  for (const item of items) {
    const [x, y] = middle(header, item.nodes);
    item.x = x;
    item.y = -y;
  }
  const [x0, x1] = extent(items.map((item) => item.x));
  const [y0, y1] = extent(items.map((item) => item.y));
  const width = Math.max(1e-9, x1 - x0);
  const height = Math.max(1e-9, y1 - y0);
  // as wide as that many columns of a row; no more than three times as tall or flat as it was drawn
  const scale = Math.min(40, Math.max(5, items.length * 0.8)) / width;
  const stretch = Math.min(3, Math.max(0.7, width / aspect / height));
  for (const item of items) {
    item.x = (item.x - x0) * scale;
    item.y = (item.y - y0) * scale * (height > 1e-6 ? stretch : 1);
  }
}

function middle(header: Header, nodes: number[]): [number, number] {
  let [x, y] = [0, 0];
  for (const node of nodes) {
    x += header.nodes[node]?.x ?? 0;
    y += header.nodes[node]?.y ?? 0;
  }
  return [x / nodes.length, y / nodes.length];
}

function extent(values: number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

const WIDTHS: Record<ItemKind, number> = { host: 0.8, hosts: 1.3, switch: 1.3, pod: 2.2, row: 4 };
/** Switches of an opened pod have more room than their number asks for. */
const OPENED = 3;

/**
 * Rows by tier. Columns are given out at the bottom: a switch with its hosts, or a folded pod.
 * What is above spreads over its pod, or over the whole width.
 */
function placeInRows(network: Network, items: Item[], aspect: number): void {
  const { header } = network;
  const tier = (item: Item) => Math.max(...item.nodes.map((n) => header.nodes[n]?.tier ?? 0));
  const left = (item: Item) => middle(header, item.nodes)[0];
  const pod = (item: Item) => network.pod(item.nodes[0] as number);
  // hosts below the switch they hang on; what has no hosts and is no pod goes above
  const below = new Map<number, Item[]>();
  for (const item of items) {
    if (item.kind !== "host" && item.kind !== "hosts") continue;
    const anchor = network.anchor[item.nodes[0] as number] as number;
    const list = below.get(anchor) ?? [];
    list.push(item);
    below.set(anchor, list);
  }
  const columns = items.filter((item) => {
    return item.kind === "pod" || (item.kind === "switch" && below.has(item.nodes[0] as number));
  });
  if (columns.length === 0) columns.push(...items.filter((item) => item.kind !== "row"));
  columns.sort((a, b) => left(a) - left(b) || (a.nodes[0] as number) - (b.nodes[0] as number));
  let x = 0;
  let before: string | null = null;
  const spans = new Map<string, [number, number]>();
  const placed = new Set<Item>();
  for (const item of columns) {
    const group = pod(item);
    if (before !== null && group !== before) x += 0.7;
    before = group;
    const hosts = (below.get(item.nodes[0] as number) ?? []).filter(() => item.kind === "switch");
    hosts.sort((a, b) => (a.nodes[0] as number) - (b.nodes[0] as number));
    const width = Math.max(
      item.kind === "switch" && group !== null ? OPENED : WIDTHS[item.kind],
      hosts.reduce((sum, host) => sum + WIDTHS[host.kind], 0),
    );
    item.x = x + width / 2;
    item.y = item.kind === "pod" ? 0.7 : tier(item);
    placed.add(item);
    let at = item.x - hosts.reduce((sum, host) => sum + WIDTHS[host.kind], 0) / 2;
    for (const [i, host] of hosts.entries()) {
      host.x = at + WIDTHS[host.kind] / 2;
      // long rows of hosts stand in two lines, so that names and dots have room
      host.y = hosts.length > 24 && i % 2 === 1 ? -0.16 : 0;
      at += WIDTHS[host.kind];
      placed.add(host);
    }
    if (group !== null) {
      const span = spans.get(group) ?? [x, x];
      spans.set(group, [span[0], x + width]);
    }
    x += width;
  }
  const rows = new Map<string, Item[]>();
  for (const item of items) {
    if (placed.has(item)) continue;
    const key = `${tier(item)} ${pod(item) ?? ""}`;
    const row = rows.get(key) ?? [];
    row.push(item);
    rows.set(key, row);
  }
  for (const row of rows.values()) {
    row.sort((a, b) => left(a) - left(b) || (a.nodes[0] as number) - (b.nodes[0] as number));
    const [from, to] = spans.get(pod(row[0] as Item) ?? "") ?? [0, x];
    for (const [i, item] of row.entries()) {
      item.x = from + ((to - from) * (i + 0.5)) / row.length;
      item.y = tier(item);
    }
  }
  const [low, high] = extent(items.map((item) => item.y));
  const scale = high > low ? Math.max(1, x) / aspect / (high - low) : 1;
  for (const item of items) item.y *= scale;
}
