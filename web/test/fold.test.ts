import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, Network } from "../src/fold";
import { open } from "../src/format";
import { chain, fatTree } from "./synthetic";

const big = new Network((await open(fatTree(16, 150, 0.01))).header);
const none = new Set<string>();

test("a small network is drawn whole", async () => {
  const scene = fold(new Network((await open(chain("PFC"))).header), none, 2);
  assert.equal(scene.items.length, 13);
  assert.equal(scene.folded, 0);
  // two directions of twelve links
  assert.equal(scene.lines.length, 24);
});

test("1024 hosts are sixteen pods and a row of cores", () => {
  const scene = fold(big, none, 2);
  assert.equal(scene.items.length, 17);
  assert.equal(scene.folded, 1024 + 256 + 64);
  // each pod to the cores and back; what is inside a pod has no line
  assert.equal(scene.lines.length, 32);
  assert.equal(scene.lines[0]?.ports.length, 64);
});

test("an opened pod shows its switches with their hosts folded, then these too", () => {
  const pod = fold(big, new Set(["pod:pod3"]), 2);
  assert.equal(pod.items.length, 16 + 16 + 8);
  const hosts = fold(big, new Set(["pod:pod3", "hosts:tor3.0"]), 2);
  assert.equal(hosts.items.length, 16 + 16 + 7 + 8);
  assert.deepEqual(hosts.opened, ["pod:pod3", "hosts:tor3.0"]);
});

test("every node is in an item and every port on its line or inside one", () => {
  const scene = fold(big, new Set(["pod:pod0", "row:3"]), 2);
  assert.ok(scene.itemOf.every((item) => item >= 0));
  assert.equal(
    scene.items.reduce((sum, item) => sum + item.nodes.length, 0),
    1344,
  );
  for (const [port, line] of scene.lineOf.entries()) {
    const from = scene.itemOf[big.header.ports[port]?.node ?? 0];
    if (line >= 0) assert.equal(scene.lines[line]?.from, from);
  }
});

test("tiers are rows from hosts up, and nothing shares a place", () => {
  const scene = fold(big, new Set(["pod:pod0"]), 2);
  const y = (kind: string) => scene.items.find((item) => item.kind === kind)?.y ?? 0;
  assert.ok(y("hosts") < y("switch"));
  assert.ok(y("switch") < y("row"));
  const places = new Set(scene.items.map((item) => `${item.x.toFixed(3)} ${item.y.toFixed(3)}`));
  assert.equal(places.size, scene.items.length);
});
