import assert from "node:assert/strict";
import { test } from "node:test";
import { Axis, shifted, ticks, zoomed } from "../src/axis";

test("an instant and its place on the axis are inverse", () => {
  const axis = new Axis();
  [axis.from, axis.to, axis.width] = [1000, 9000, 932];
  assert.equal(axis.x(1000), 132);
  assert.equal(axis.x(9000), 932);
  assert.equal(axis.time(axis.x(4321)), 4321);
});

test("zooming keeps the instant under the pointer and stays inside the run", () => {
  assert.deepEqual(zoomed([0, 8000], 2000, 2, 8000), [1000, 5000]);
  assert.deepEqual(zoomed([1000, 5000], 2000, 0.25, 8000), [0, 8000]);
  assert.deepEqual(shifted([6000, 8000], 500, 8000), [6000, 8000]);
});

test("ticks are round numbers", () => {
  assert.deepEqual(ticks(0, 200e6, 5), [0, 50e6, 100e6, 150e6, 200e6]);
});
