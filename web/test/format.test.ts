import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, FormatError, type Header, inOrder, open, orderBy } from "../src/format";
import { body, type ColumnType, file } from "./encode";

const HEADER: Omit<Header, "sections"> = {
  format: 2,
  weir: "0",
  scenario: "s",
  title: "",
  scheme: "pfc",
  label: "PFC",
  seed: 1,
  end_ps: 100,
  window_ps: 10,
  outcome: "drained",
  nodes: [{ name: "a", role: "host", tier: 0, x: 0, y: 0, group: null }],
  ports: [],
  classes: [],
  reasons: [],
  parts: [],
  counters: {},
  left_out: {},
  decimated: null,
};

test("every column type is read back, at its limits", async () => {
  // 2^53 - 1 is the largest whole number that a double holds with all below it
  const large = 2 ** 53 - 1;
  const rows = [
    [0, 0, 0, 0, 5, 5, 0],
    [255, 2 ** 32 - 1, 0.5, 127, 3, 6, 0],
    [7, 65_536, -2, 128, 3, 7, 300],
    [1, 1, 1e10, large, large / 2 - 0.5, 2 ** 40, 2 ** 40],
    [1, 1, 1, 1, 1, 2, 0],
  ];
  const columns: [string, ColumnType][] = [
    ["a", "u8"],
    ["b", "u32"],
    ["c", "f32"],
    ["d", "varint"],
    ["e", "delta"],
    ["f", "runs"],
    ["g", "sparse"],
  ];
  const { sections } = await open(file(HEADER, [{ name: "t", columns, rows }]));
  const table = sections.get("t");
  for (const [i, [name]] of columns.entries()) {
    assert.deepEqual(
      Array.from(table?.columns.get(name) ?? []),
      rows.map((row) => row[i]),
    );
  }
});

test("a file of something else, of another version or cut short is refused in words", async () => {
  const good = file(HEADER, []);
  const text = (bytes: Uint8Array) =>
    open(bytes).then(
      () => "",
      (e: Error) => e.message,
    );
  assert.match(await text(new Uint8Array(20)), /does not begin with WEIRTL/);
  const later = Uint8Array.from(good);
  later[6] = 9;
  assert.match(await text(later), /version 9, this page reads 1 and 2/);
  assert.equal(await text(file(HEADER, [], 1)), "", "the version before is read");
  assert.match(await text(good.subarray(0, good.length - 12)), /damaged or cut short/);
});

test("a body that ends early or points nowhere is refused", () => {
  const whole = body(HEADER, [{ name: "t", columns: [["a", "u32"]], rows: [[1], [2]] }]);
  assert.throws(() => decode(whole.subarray(0, whole.length - 1), 0), /section t, column a/);
  assert.throws(() => decode(whole.subarray(0, 2), 0), FormatError);
  assert.throws(() => decode(whole.subarray(0, 30), 0), /header of the recording is cut short/);
  const lost = { node: 3, port: 0, peer: 0, rate_bps: 1, delay_ps: 1 };
  assert.throws(() => decode(body({ ...HEADER, ports: [lost] }, []), 0), /port 0 leads to/);
});

test("pairs that are not as many values as there are rows are refused", () => {
  for (const [type, rows] of [
    ["runs", 1],
    ["runs", 3],
    ["sparse", 1],
  ] as const) {
    const bytes = body(HEADER, [{ name: "t", columns: [["a", type]], rows: [[1], [2]] }]);
    const text = Buffer.from(bytes).toString("latin1").replace('"rows":2', `"rows":${rows}`);
    assert.throws(() => decode(Buffer.from(text, "latin1"), 0), /column a: (not|too few)/);
  }
  const whole = body(HEADER, [{ name: "t", columns: [["a", "sparse"]], rows: [[0], [300]] }]);
  const text = Buffer.from(whole).toString("latin1").replace('"bytes":3', '"bytes":2');
  assert.throws(() => decode(Buffer.from(text, "latin1"), 0), /column a: not 2 values/);
});

test("rows are put in the order of a column, equal ones as they stand", () => {
  for (const far of [1, 1_000_000]) {
    const key = Float64Array.of(3 * far, 1 * far, 3 * far, 0, 1 * far);
    const order = orderBy(key);
    assert.deepEqual(Array.from(order), [3, 1, 4, 0, 2]);
    assert.deepEqual(
      Array.from(inOrder(Uint8Array.of(10, 11, 12, 13, 14), order)),
      [13, 11, 14, 10, 12],
    );
  }
});

test("too few values in a column are noticed", () => {
  const bytes = body(HEADER, [{ name: "t", columns: [["a", "varint"]], rows: [[1], [2]] }]);
  const text = Buffer.from(bytes).toString("latin1").replace('"rows":2', '"rows":3');
  assert.throws(() => decode(Buffer.from(text, "latin1"), 0), /column a: too few values/);
});
