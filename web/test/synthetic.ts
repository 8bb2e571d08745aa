// Small invented networks with invented pauses, written as recordings. They have the shape of
// what the simulator writes; their numbers are chosen so that tests can derive what must be seen.

import type { Header, NodeInfo, PortInfo } from "../src/format";
import { type Table, file } from "./encode";

export const PARTS = [
  "wire",
  "source",
  "control",
  "recovery",
  "own_queue",
  "others_queue",
  "held_own",
  "held_others",
  "host",
];
const US = 1e6;

interface Blank {
  header: Omit<Header, "sections">;
  link(a: number, b: number, name?: string): void;
  port(a: number, b: number): number;
}

function blank(label: string, end: number, window: number, nodes: NodeInfo[]): Blank {
  const ports: PortInfo[] = [];
  const used = new Map<number, number>();
  const known = new Map<string, number>();
  const next = (node: number) => {
    const port = used.get(node) ?? 0;
    used.set(node, port + 1);
    return port;
  };
  const header: Omit<Header, "sections"> = {
    format: 1,
    weir: "0.2.0",
    scenario: "synthetic",
    title: "an invented network",
    scheme: label.toLowerCase(),
    label,
    seed: 1,
    end_ps: end,
    window_ps: window,
    outcome: "drained",
    nodes,
    ports,
    classes: ["victim", "congested", "burst"],
    reasons: ["threshold"],
    parts: PARTS,
    counters: {},
    left_out: {},
    decimated: null,
  };
  return {
    header,
    link(a, b, name) {
      const at = ports.length;
      const common = { rate_bps: 40e9, delay_ps: 20_000 };
      ports.push({ node: a, port: next(a), peer: at + 1, ...common, name: name ?? null });
      ports.push({ node: b, port: next(b), peer: at, ...common, name: null });
      known.set(`${a} ${b}`, at);
      known.set(`${b} ${a}`, at + 1);
    },
    port(a, b) {
      const found = known.get(`${a} ${b}`);
      if (found === undefined) throw new Error(`no link ${a} ${b}`);
      return found;
    },
  };
}

const COLUMNS: Record<string, Table["columns"]> = {
  flows: [
    ["src", "u32"],
    ["dst", "u32"],
    ["class", "u32"],
    ["priority", "u8"],
    ["size", "varint"],
    ["start", "delta"],
    ["end", "varint"],
    ["fct_ideal", "varint"],
    ["number", "varint"],
  ],
  paths: [
    ["flow", "delta"],
    ["port", "varint"],
  ],
  pauses: [
    ["from", "delta"],
    ["to", "varint"],
    ["port", "u32"],
    ["priority", "u8"],
    ["flow", "u32"],
    ["by", "u32"],
    ["reason", "u32"],
    ["cause", "u32"],
    ["value", "varint"],
    ["threshold", "varint"],
    ["parent", "u32"],
    ["root", "u32"],
  ],
  samples: [
    ["window", "runs"],
    ["port", "runs"],
    ["queue", "sparse"],
    ["sent", "varint"],
    ["held", "sparse"],
  ],
  blame: [
    ["flow", "delta"],
    ["part", "u8"],
    ["port", "u32"],
    ["root", "u32"],
    ["ps", "varint"],
  ],
  culprits: [
    ["flow", "delta"],
    ["port", "u32"],
    ["culprit", "u32"],
    ["bytes", "varint"],
    ["kind", "u8"],
    ["ps", "varint"],
    ["root", "u32"],
  ],
  deadlocks: [
    ["at", "delta"],
    ["cycle", "u32"],
    ["port", "u32"],
  ],
};

function tables(rows: Record<string, number[][]>): Table[] {
  return Object.entries(rows).map(([name, list]) => ({
    name,
    columns: COLUMNS[name] ?? [],
    rows: list,
  }));
}

/**
 * The chain of OFC's Fig. 1: h0 (F0, the victim) and h1 (F1) reach Sc over Sa and Sb; six bursts
 * meet F1 at P_d of Sc. From 30 µs on Sc pauses Sb for 10 of every 20 µs, five times, and each
 * pause makes Sb pause Sa 2 µs later until 1 µs before it ends. With `ofc` only F1 is held.
 */
export function chain(
  label: string,
  ofc = false,
  name = "h0",
  microseconds = 200,
  poll?: number,
): Uint8Array {
  const node = (
    n: string,
    role: "switch" | "host",
    tier: number,
    x: number,
    y: number,
  ): NodeInfo => ({ name: n, role, tier, x, y, group: null });
  const nodes = [
    node("Sa", "switch", 1, 100, 100),
    node("Sb", "switch", 1, 300, 100),
    node("Sc", "switch", 1, 500, 100),
  ];
  nodes.push(node(name, "host", 0, 60, 180), node("h1", "host", 0, 140, 180));
  for (let i = 2; i < 8; i++) nodes.push(node(`h${i}`, "host", 0, 400 + 32 * (i - 2), 180));
  nodes.push(node("h8", "host", 0, 610, 60), node("h9", "host", 0, 610, 140));
  const net = blank(label, microseconds * US, US, nodes);
  if (poll !== undefined) net.header.poll_ps = poll;
  net.link(0, 1);
  net.link(1, 2);
  for (const h of [3, 4]) net.link(h, 0);
  for (let h = 5; h < 11; h++) net.link(h, 2);
  net.link(2, 11, "P_b");
  net.link(2, 12, "P_d");
  const [ab, bc, b, d] = [net.port(0, 1), net.port(1, 2), net.port(2, 11), net.port(2, 12)];
  const pauses: number[][] = [];
  for (let i = 0; i < 5; i++) {
    const at = (30 + 20 * i) * US;
    const root = pauses.length + 1;
    const flow = ofc ? 2 : 0;
    pauses.push([at, at + 10 * US, bc, 0, flow, net.port(2, 1), 0, d + 1, 75_400, 75_000, 0, root]);
    pauses.push([
      at + 2 * US,
      at + 9 * US,
      ab,
      0,
      flow,
      net.port(1, 0),
      0,
      bc + 1,
      75_100,
      75_000,
      root,
      root,
    ]);
  }
  const samples: number[][] = [];
  for (let w = 0; w < microseconds; w++) {
    const held = !ofc && w >= 30 && w < 130 && (w - 30) % 20 < 10;
    const burst = w >= 20 && w < 140;
    if (!held) samples.push([w, bc, burst ? 20_000 : 3_000, 5_000, 0]);
    else samples.push([w, bc, 40_000, 0, US]);
    samples.push([w, ab, burst ? 9_000 : 0, held ? 1_000 : 5_000, 0]);
    if (!held) samples.push([w, b, 0, 2_500, 0]);
    if (burst)
      samples.push([w, d, 30_000 + 48_000 * Math.sin(((w - 20) / 120) * Math.PI), 5_000, 0]);
  }
  // F0: 160 µs under PFC, of which the five pauses of Sb-Sc held it 10 µs each; 110 µs otherwise
  const end = ofc ? 110 * US : 160 * US;
  const flows = [
    [3, 11, 0, 0, 400_000, 0, end, 100 * US],
    [4, 12, 1, 0, 400_000, 0, 180 * US, 100 * US],
  ];
  for (let h = 5; h < 11; h++) flows.push([h, 12, 2, 0, 150_000, 20 * US, 150 * US, 31 * US]);
  const paths = [
    [0, net.port(3, 0)],
    [0, ab],
    [0, bc],
    [0, b],
    [1, net.port(4, 0)],
    [1, ab],
    [1, bc],
    [1, d],
  ];
  for (let h = 5; h < 11; h++) paths.push([h - 3, net.port(h, 2)], [h - 3, d]);
  const blame = [
    [0, 0, bc + 1, 0, 2 * US],
    [0, 1, net.port(3, 0) + 1, 0, 98 * US],
    [0, 5, bc + 1, 0, 10 * US],
  ];
  if (!ofc) for (let i = 0; i < 5; i++) blame.push([0, 7, bc + 1, 2 * i + 1, 10 * US]);
  blame.push(
    [1, 0, d + 1, 0, 2 * US],
    [1, 1, net.port(4, 0) + 1, 0, 98 * US],
    [1, 5, d + 1, 0, 30 * US],
  );
  for (let i = 0; i < 5; i++) blame.push([1, 6, bc + 1, 2 * i + 1, 10 * US]);
  const now = microseconds * US;
  if (now < 200 * US) {
    // the run so far: nothing completed, and what began later is not known yet
    for (const flow of flows) flow[6] = 0;
    pauses.splice(0, pauses.length, ...pauses.filter(([from]) => (from as number) < now));
    blame.length = 0;
  }
  // of F0: F1 and two bursts at P_d; and its own bytes, which are no culprit of others
  const culprits = [
    [0, bc, 1, 120_000, 3, 30 * US, d + 1],
    [0, bc, 2, 90_000, 3, 12 * US, d + 1],
    [0, bc, 3, 80_000, 3, 8 * US, d + 1],
    [0, bc, 0, 900_000, 1, 0, 0],
    [1, bc, 0, 800_000, 3, 50 * US, bc + 1],
  ];
  return file(net.header, tables({ flows, paths, pauses, samples, blame, culprits }));
}

/** Four switches in a ring, each with a host; at 50 µs all four links of the ring hold each other. */
export function ring(): Uint8Array {
  const nodes: NodeInfo[] = [];
  const places = [
    [100, 100],
    [300, 100],
    [300, 300],
    [100, 300],
  ] as const;
  for (const [i, [x, y]] of places.entries()) {
    nodes.push({ name: `s${i}`, role: "switch", tier: 1, x, y, group: null });
  }
  for (const [i, [x, y]] of places.entries()) {
    const outside = x < 200 ? x - 80 : x + 80;
    nodes.push({ name: `h${i}`, role: "host", tier: 0, x: outside, y, group: null });
  }
  const net = blank("PFC", 100 * US, US, nodes);
  net.header.outcome = "deadlocked";
  for (let i = 0; i < 4; i++) net.link(i, (i + 1) % 4);
  for (let i = 0; i < 4; i++) net.link(4 + i, i);
  const round = [0, 1, 2, 3].map((i) => net.port(i, (i + 1) % 4));
  const pauses = round.map((port, i) => {
    const next = round[(i + 1) % 4] as number;
    return [
      (35 + 5 * i) * US,
      100 * US,
      port,
      0,
      0,
      net.port((i + 1) % 4, i),
      0,
      next + 1,
      76_000,
      75_000,
      i,
      1,
    ];
  });
  const samples: number[][] = [];
  for (let w = 10; w < 100; w++) {
    for (const [i, port] of round.entries()) {
      const held = w >= 35 + 5 * i;
      samples.push([w, port, Math.min(76_000, (w - 9) * 3_000), held ? 0 : 5_000, held ? US : 0]);
    }
  }
  const flows = [0, 1, 2, 3].map((i) => [
    4 + i,
    4 + ((i + 2) % 4),
    1,
    0,
    4_000_000,
    0,
    0,
    800 * US,
  ]);
  const paths = [0, 1, 2, 3].flatMap((i) => [
    [i, net.port(4 + i, i)],
    [i, round[i] as number],
    [i, round[(i + 1) % 4] as number],
    [i, net.port((i + 2) % 4, 4 + ((i + 2) % 4))],
  ]);
  const deadlocks = round.map((port) => [50 * US, 0, port]);
  return file(net.header, tables({ flows, paths, pauses, samples, deadlocks }));
}

/** Random numbers that are the same everywhere. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** A fat tree of arity `k`: k³/4 hosts. A storm grows from one host's port and dies away. */
export function fatTree(k: number, windows = 500, active = 0.3): Uint8Array {
  const half = k / 2;
  const nodes: NodeInfo[] = [];
  const core = (i: number) => i;
  const agg = (p: number, i: number) => half * half + p * k + i;
  const edge = (p: number, i: number) => half * half + p * k + half + i;
  const host = (p: number, e: number, i: number) => half * half + k * k + (p * half + e) * half + i;
  for (let i = 0; i < half * half; i++)
    nodes.push({ name: `core${i}`, role: "switch", tier: 3, x: i * 2 * k, y: 0, group: null });
  for (let p = 0; p < k; p++) {
    for (let i = 0; i < half; i++)
      nodes.push({
        name: `agg${p}.${i}`,
        role: "switch",
        tier: 2,
        x: (p * half + i) * half,
        y: 1,
        group: `pod${p}`,
      });
    for (let i = 0; i < half; i++)
      nodes.push({
        name: `tor${p}.${i}`,
        role: "switch",
        tier: 1,
        x: (p * half + i) * half,
        y: 2,
        group: `pod${p}`,
      });
  }
  for (let n = 0; n < k * half * half; n++)
    nodes.push({
      name: `h${n}`,
      role: "host",
      tier: 0,
      x: n,
      y: 3,
      group: `pod${Math.floor(n / (half * half))}`,
    });
  const net = blank("PFC", windows * US, US, nodes);
  for (let p = 0; p < k; p++) {
    for (let a = 0; a < half; a++)
      for (let c = 0; c < half; c++) net.link(agg(p, a), core(a * half + c));
    for (let e = 0; e < half; e++) for (let a = 0; a < half; a++) net.link(edge(p, e), agg(p, a));
    for (let e = 0; e < half; e++)
      for (let i = 0; i < half; i++) net.link(host(p, e, i), edge(p, e));
  }
  const next = random(7);
  const ports = net.header.ports.length;
  const pick = (n: number) => Math.floor(next() * n);
  // from host 0's switch over its pod to others: each pause names the one before as its parent
  const root = net.port(edge(0, 0), host(0, 0, 0));
  const rows: number[][] = [];
  for (let wave = 0; wave < 40; wave++) {
    const at = 20 + pick(windows - 100);
    const first = rows.length + 1;
    const base = [0, 0, 0] as const;
    rows.push([
      at * US,
      (at + 30) * US,
      net.port(agg(0, wave % half), edge(0, 0)),
      ...base,
      net.port(edge(0, 0), agg(0, wave % half)),
      0,
      root + 1,
      80_000,
      75_000,
      0,
      first,
    ]);
    for (let s = 0; s < half; s++) {
      const c = (wave % half) * half + s;
      const up = net.port(core(c), agg(0, wave % half));
      rows.push([
        (at + 2) * US,
        (at + 26) * US,
        up,
        ...base,
        net.port(agg(0, wave % half), core(c)),
        0,
        (rows[first - 1]?.[2] ?? 0) + 1,
        76_000,
        75_000,
        first,
        first,
      ]);
      const parent = rows.length;
      for (let n = 0; n < half; n++) {
        const p = 1 + pick(k - 1);
        rows.push([
          (at + 4 + pick(8)) * US,
          (at + 20) * US,
          net.port(agg(p, wave % half), core(c)),
          ...base,
          net.port(core(c), agg(p, wave % half)),
          0,
          up + 1,
          76_000,
          75_000,
          parent,
          first,
        ]);
      }
    }
  }
  // rows must be sorted by time; parents and roots follow their rows
  const order = rows
    .map((_, i) => i)
    .sort((a, b) => (rows[a]?.[0] ?? 0) - (rows[b]?.[0] ?? 0) || a - b);
  const moved = new Map(order.map((from, to) => [from + 1, to + 1]));
  const pauses = order.map((i) => {
    const row = (rows[i] as number[]).slice();
    const [cause, value, threshold, parent, first] = row.slice(-5) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return [
      row[0],
      row[1],
      row[2],
      row[3],
      row[4],
      row[6],
      row[7],
      cause,
      value,
      threshold,
      moved.get(parent) ?? 0,
      moved.get(first) ?? 0,
    ] as number[];
  });
  const samples: number[][] = [];
  for (let w = 0; w < windows; w++) {
    const chosen = new Set<number>();
    while (chosen.size < Math.min(ports * active, 4000)) chosen.add(pick(ports));
    for (const port of [...chosen].sort((a, b) => a - b))
      samples.push([w, port, pick(10) === 0 ? pick(70_000) : pick(4_000), 1_000 + pick(4_000), 0]);
  }
  const flows: number[][] = [];
  const paths: number[][] = [];
  for (let f = 0; f < 2000; f++) {
    const [p, e, i, p2, e2, i2, a, c] = [
      pick(k),
      pick(half),
      pick(half),
      pick(k),
      pick(half),
      pick(half),
      pick(half),
      pick(half),
    ];
    if (p === p2) continue;
    const id = flows.length;
    flows.push([
      host(p, e, i),
      host(p2, e2, i2),
      1,
      0,
      64_000,
      f * 1e5,
      f * 1e5 + 100 * US,
      20 * US,
    ]);
    paths.push(
      [id, net.port(host(p, e, i), edge(p, e))],
      [id, net.port(edge(p, e), agg(p, a))],
      [id, net.port(agg(p, a), core(a * half + c))],
    );
    paths.push(
      [id, net.port(core(a * half + c), agg(p2, a))],
      [id, net.port(agg(p2, a), edge(p2, e2))],
      [id, net.port(edge(p2, e2), host(p2, e2, i2))],
    );
  }
  return file(net.header, tables({ flows, paths, pauses, samples }));
}
