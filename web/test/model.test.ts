import assert from "node:assert/strict";
import { test } from "node:test";
import { polls } from "../src/counters";
import { inOrder, open, orderBy } from "../src/format";
import { addSpan, Frame, Run } from "../src/model";
import { LinkState } from "../src/palette";
import { find } from "../src/find";
import { statusText } from "../src/text";
import { chain, random, ring } from "./synthetic";

const US = 1e6;
const pfc = new Run(await open(chain("PFC")), "PFC");
const ofc = new Run(await open(chain("OFC", true)), "OFC");
const port = (run: Run, name: string) => find(run, name)?.id ?? -1;

test("a link is paused from the instant of its pause up to its end", () => {
  const link = port(pfc, "Sb>Sc");
  const frame = new Frame(pfc.ports);
  const stateAt = (time: number) => {
    pfc.frameAt(time, frame);
    return frame.state[link];
  };
  // the first pause of Sb-Sc stands from 30 to 40 us; around it 20 KB wait, which is congestion
  assert.equal(stateAt(30 * US - 1), LinkState.Congested);
  assert.equal(stateAt(30 * US), LinkState.Paused);
  assert.equal(stateAt(40 * US - 1), LinkState.Paused);
  assert.equal(stateAt(40 * US), LinkState.Congested);
});

test("a hold of one flow is not a pause of the link", () => {
  const frame = new Frame(ofc.ports);
  ofc.frameAt(35 * US, frame);
  assert.equal(frame.state[port(ofc, "Sb>Sc")], LinkState.PartlyHeld);
});

test("windows that stand by port in the file are shown like those that stand by time", async () => {
  const recording = await open(chain("PFC"));
  const samples = recording.sections.get("samples");
  assert.ok(samples);
  const byPort = orderBy(samples.columns.get("port") ?? new Uint8Array());
  const columns = Array.from(samples.columns, ([name, column]) => {
    return [name, inOrder(column, byPort)] as const;
  });
  const sections = new Map(recording.sections);
  sections.set("samples", { rows: samples.rows, columns: new Map(columns) });
  const other = new Run({ ...recording, sections }, "PFC");
  const windows = sections.get("samples")?.columns.get("window");
  assert.ok(windows?.some((window, row) => window < (windows[row - 1] ?? 0)));
  for (let p = 0; p < pfc.ports; p++) assert.deepEqual(other.series(p), pfc.series(p));
  const [a, b] = [new Frame(pfc.ports), new Frame(pfc.ports)];
  for (let time = 0; time < pfc.end; time += 10 * US) {
    pfc.frameAt(time, a);
    other.frameAt(time, b);
    assert.deepEqual([a.state, a.queue, a.share], [b.state, b.queue, b.share]);
  }
  assert.equal(other.fullest, pfc.fullest);
});

test("a frame forgets what was active before", () => {
  const frame = new Frame(pfc.ports);
  pfc.frameAt(35 * US, frame);
  pfc.frameAt(199 * US, frame);
  const link = port(pfc, "Sb>Sc");
  assert.equal(frame.state[link], LinkState.Busy);
  assert.equal(frame.queue[port(pfc, "P_d")], 0);
});

test("pauses that stand at the end of a run still stand there", async () => {
  const run = new Run(await open(ring()), "PFC");
  let standing = 0;
  run.eachStanding(run.end, () => {
    standing += 1;
  });
  assert.equal(standing, 4);
});

test("standing pauses are those that a plain search finds", () => {
  const next = random(3);
  for (let i = 0; i < 500; i++) {
    const at = Math.floor(next() * pfc.end);
    const { from, to, rows } = pfc.pauses;
    const plain: number[] = [];
    for (let p = 0; p < rows; p++) {
      if ((from[p] as number) <= at && at < (to[p] as number)) plain.push(p);
    }
    const found: number[] = [];
    pfc.eachStanding(at, (pause) => found.push(pause));
    assert.deepEqual(found, plain);
  }
});

test("stepping visits begin and end of a pause and of flows, both ways", () => {
  assert.equal(pfc.eventFrom(0, true), 20 * US);
  assert.equal(pfc.eventFrom(20 * US, true), 30 * US);
  assert.equal(pfc.eventFrom(30 * US, true), 32 * US);
  assert.equal(pfc.eventFrom(32 * US, false), 30 * US);
  assert.equal(pfc.eventFrom(pfc.end, true), pfc.end);
});

test("a span is shared out over the bins it covers and nothing is lost", () => {
  const bins = new Float64Array(4);
  addSpan(bins, 0.5, 2.25);
  assert.deepEqual(Array.from(bins), [0.5, 1, 0.25, 0]);
  addSpan(bins, -5, 1);
  addSpan(bins, 3.5, 99);
  assert.deepEqual(Array.from(bins), [1.5, 1, 0.25, 0.5]);
});

test("counters polled every 200 ms know one number of a run of 200 us", () => {
  const [only, ...more] = polls(pfc, 200e9);
  assert.equal(more.length, 0);
  // five pauses of each of two links; the longest queue is that of P_d: 30 + 48 KB
  assert.deepEqual(only, { at: 200e9, pauses: 10, highWater: 78_000, longest: 10 * US });
});

test("polled faster the same pauses are spread over readings", () => {
  const readings = polls(pfc, 50 * US);
  // pauses begin at 30, 32 | 50, 52, 70, 72, 90, 92 | 110, 112 us
  assert.deepEqual(
    readings.map((reading) => reading.pauses),
    [2, 6, 2, 0],
  );
});

test("names of the network are found, names it does not have are not", () => {
  assert.deepEqual(find(pfc, "F7"), { kind: "flow", id: 7 });
  assert.deepEqual(find(pfc, "sc"), { kind: "node", id: 2 });
  // nodes 0 to 2 are the switches, so h1 is node 4
  assert.deepEqual(find(pfc, "f4.0"), { kind: "flow", id: 1 });
  assert.equal(find(pfc, "f4.1"), null);
  assert.equal(find(pfc, "F8"), null);
  assert.equal(find(pfc, "Sa > h9"), null);
  assert.equal(pfc.portName(find(pfc, "P_d")?.id ?? 0), "P_d of Sc");
});

test("the status says in words what is selected", () => {
  const text = statusText(pfc, 35 * US, { kind: "pause", id: 0 }, null);
  assert.match(text, /PFC at 35\.00 µs: 2 pauses standing\./);
  assert.match(text, /the pause of Sb → Sc, root P_d of Sc, 2 links held, 1 victim: F0 h0 → h8/);
});
