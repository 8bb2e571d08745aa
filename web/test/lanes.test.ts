import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, Network } from "../src/fold";
import { open } from "../src/format";
import { LineStates, laneBetween, nearestLine } from "../src/lanes";
import { Frame, Run } from "../src/model";
import { LinkState } from "../src/palette";
import { fatTree } from "./synthetic";

test("lanes run on the right-hand side of travel", () => {
  // to the right on a screen whose y grows downwards: the right-hand side is below
  const lane = laneBetween({ x: 0, y: 0 }, { x: 100, y: 0 }, 10, 10);
  assert.ok((lane?.a.y ?? 0) > 0);
  assert.equal(lane?.a.x, 10);
  assert.equal(lane?.b.x, 90);
  const back = laneBetween({ x: 100, y: 0 }, { x: 0, y: 0 }, 10, 10);
  assert.ok((back?.a.y ?? 0) < 0);
  assert.equal(laneBetween({ x: 0, y: 0 }, { x: 10, y: 0 }, 5, 5), null);
});

test("a click beside a link picks the direction on that side", () => {
  const line = (from: number, to: number) => ({ from, to, ports: [] });
  const scene = { items: [], lines: [line(0, 1), line(1, 0)] } as never;
  const places = [
    { x: 0, y: 0 },
    { x: 100, y: 0 },
  ];
  assert.equal(nearestLine(scene, places, { x: 50, y: 4 }, 8), 0);
  assert.equal(nearestLine(scene, places, { x: 50, y: -4 }, 8), 1);
  assert.equal(nearestLine(scene, places, { x: 50, y: 30 }, 8), null);
});

test("a line of many links shows the worst of them and counts the held ones once", async () => {
  const run = new Run(await open(fatTree(16, 300)), "PFC");
  const scene = fold(new Network(run.header), new Set(), 2);
  const states = new LineStates(scene);
  const frame = new Frame(run.ports);
  const held = new Set<number>();
  const at = 118.1e6;
  run.frameAt(at, frame);
  states.update(frame);
  run.eachStanding(at, (pause) => held.add(run.pauses.port[pause] as number));
  for (const [i, line] of scene.lines.entries()) {
    const expected = line.ports.filter((port) => held.has(port)).length;
    assert.equal(states.held[i], expected);
    assert.equal(states.state[i] === LinkState.Paused, expected > 0);
  }
  // another instant leaves nothing behind
  run.frameAt(0, frame);
  states.update(frame);
  assert.ok(states.held.every((n) => n === 0));
});
