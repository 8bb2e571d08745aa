import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blamedBy,
  culpritsOf,
  hopsOf,
  lifeOf,
  routesOf,
  sufferersOf,
  ternary,
  treeOf,
  worstCulprits,
  worstSenders,
  worstVictims,
} from "../src/blame";
import { open } from "../src/format";
import { Run } from "../src/model";
import { chain, ring } from "./synthetic";

const US = 1e6;
const pfc = new Run(await open(chain("PFC")), "PFC");
const ofc = new Run(await open(chain("OFC", true)), "OFC");

test("the parts of a flow add up to its completion time, hop by hop", () => {
  const life = lifeOf(pfc, 0);
  assert.equal(life.sum, life.fct);
  const hops = hopsOf(pfc, life);
  assert.equal(
    hops.reduce((sum, hop) => sum + hop.sum, 0),
    160 * US,
  );
  assert.deepEqual(
    hops.map((hop) => pfc.linkName(hop.port ?? -1)),
    ["h0 → Sa", "Sb → Sc"],
  );
});

test("the victim blames the queue at the root, not the link that held it", () => {
  const [first, ...others] = blamedBy(pfc, lifeOf(pfc, 0));
  assert.equal(others.length, 0);
  assert.equal(pfc.portName(first?.port ?? -1), "P_d of Sc");
  assert.equal(first?.ps, 50 * US);
  // five pauses of Sb-Sc and the five of Sa-Sb that follow from them
  assert.equal(first?.pauses.length, 10);
});

test("worst victims and culprits start from time held for others", () => {
  assert.deepEqual(worstVictims(pfc), [{ id: 0, ps: 50 * US }]);
  assert.deepEqual(
    worstCulprits(pfc).map(({ id }) => pfc.portName(id)),
    ["P_d of Sc"],
  );
  assert.deepEqual(worstVictims(ofc), []);
});

test("without decomposition, victims follow from pauses and paths", async () => {
  const recording = await open(chain("PFC"));
  recording.sections.delete("blame");
  const run = new Run(recording, "PFC");
  // five times 10 us on Sb-Sc and 7 us on Sa-Sb
  assert.deepEqual(worstVictims(run), [{ id: 0, ps: 85 * US }]);
});

test("any pause leads to the tree from its root", () => {
  const tree = treeOf(pfc, 3);
  assert.equal(tree.root, 2);
  assert.equal(pfc.portName(tree.port), "P_d of Sc");
  assert.deepEqual(
    tree.held.map((port) => pfc.linkName(port)),
    ["Sb → Sc", "Sa → Sb"],
  );
  assert.equal(tree.nodes[0]?.children[0]?.ps, 7 * US);
  assert.equal(tree.size, 2);
});

test("those who suffer are victims, or take part in the root queue", () => {
  const sufferers = sufferersOf(pfc, treeOf(pfc, 0));
  // overlapping holds of one flow count once: 30 to 40 us, not 10 + 7; the completion times owe
  // 50 us to this queue, over all its pauses
  assert.deepEqual(sufferers, [
    { flow: 0, ps: 10 * US, blamed: 50 * US, own: false },
    { flow: 1, ps: 10 * US, blamed: 50 * US, own: true },
  ]);
  const held = sufferersOf(ofc, treeOf(ofc, 0));
  assert.deepEqual(
    held.map(({ flow }) => flow),
    [1],
  );
});

test("culprits of a flow are listed by the time they cost, then by bytes", () => {
  assert.deepEqual(
    culpritsOf(pfc, 0).map(({ flow, ps }) => [flow, ps / US]),
    [
      [1, 30],
      [2, 12],
      [3, 8],
      [0, 0],
    ],
  );
});

test("the worst senders are those whose bytes held flows beside their way", () => {
  // the bytes of F0 at a port that F1 uses, too, make F1 no victim
  assert.deepEqual(worstSenders(pfc), [
    { id: 1, ps: 30 * US },
    { id: 2, ps: 12 * US },
    { id: 3, ps: 8 * US },
  ]);
});

test("a port at which pauses begin is congested, one that is held is undetermined", () => {
  const port = (name: string) => {
    for (let p = 0; p < pfc.ports; p++) if (pfc.linkName(p) === name) return p;
    throw new Error(name);
  };
  assert.match(ternary(pfc, port("Sc → h9")), /^congested/);
  assert.match(ternary(pfc, port("Sb → Sc")), /^undetermined/);
  assert.equal(ternary(pfc, port("Sc → h8")), "free");
});

test("the routes of a deadlock are those that turn from one of its links to the next", async () => {
  const run = new Run(await open(ring()), "PFC");
  const [cycle] = run.cycles;
  assert.equal(cycle?.at, 50 * US);
  const routes = routesOf(run, cycle?.ports ?? []);
  // flow i goes over the links i and i + 1
  assert.deepEqual(
    routes.map(({ flows }) => flows),
    [[0], [1], [2], [3]],
  );
});

test("a cycle is put in the order of its links", async () => {
  const recording = await open(ring());
  const ports = recording.sections.get("deadlocks")?.columns.get("port") as Uint32Array;
  [ports[1], ports[2]] = [ports[2] as number, ports[1] as number];
  const run = new Run(recording, "PFC");
  assert.deepEqual(
    run.cycles[0]?.ports.map((port) => run.linkName(port)),
    ["s0 → s1", "s1 → s2", "s2 → s3", "s3 → s0"],
  );
});
