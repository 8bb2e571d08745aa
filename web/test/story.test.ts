import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../src/format";
import { Run } from "../src/model";
import { mainRoot, storyOf } from "../src/story";
import { leftOut } from "../src/panel";
import { chain, fatTree, ring } from "./synthetic";

const US = 1e6;

test("the story of Fig. 1 goes from the root queue over its links to the victim", async () => {
  const run = new Run(await open(chain("PFC")), "PFC");
  const story = storyOf(run);
  assert.deepEqual(
    story.map(({ at }) => at),
    [30 * US, 30 * US, 32 * US, 120 * US],
  );
  const words = story.map((chapter) => chapter.words);
  assert.match(words[0] ?? "", /^More arrives for P_d of Sc than it can send.*: Sc stops Sb\.$/);
  assert.match(words[1] ?? "", /^F0 h0 → h8 has to wait, too, 50.0 µs in all.*P_d of Sc/);
  assert.match(words[2] ?? "", /^It spreads: Sb .* stops Sa\.$/);
  assert.equal(story[2]?.pause, 1);
  assert.equal(words[3], "The last pause ends.");
});

test("where only flows are held, nobody is said to be stopped", async () => {
  const run = new Run(await open(chain("OFC", true)), "OFC");
  const words = storyOf(run).map((chapter) => chapter.words);
  assert.ok(words.some((text) => text.includes("Sc stops a flow of Sb")));
  assert.ok(!words.some((text) => text.includes("victim")));
});

test("a deadlock ends the story, and its trigger begins it", async () => {
  const run = new Run(await open(ring()), "PFC");
  const story = storyOf(run);
  assert.match(story.at(-1)?.words ?? "", /4 links wait for each other in a circle/);
  assert.equal(run.portName(mainRoot(run) ?? -1), "port to s2 of s1");
});

test("a run without pauses has no story", async () => {
  const recording = await open(chain("PFC"));
  recording.sections.delete("pauses");
  assert.deepEqual(storyOf(new Run(recording, "PFC")), []);
});

test("a held link counts once, whatever holds it", async () => {
  const run = new Run(await open(fatTree(4, 300)), "PFC");
  const most = run.heldOver(0, run.end, 3000).reduce((a, b) => Math.max(a, b), 0);
  assert.ok(most <= run.heldPorts.length, `${most}`);
});

test("what a slice leaves out is told apart from what was not recorded", async () => {
  const run = new Run(await open(chain("PFC")), "PFC");
  run.header.left_out = { slice_pauses: 12, rates: 3, slice_drops: 0 };
  assert.equal(leftOut(run), "outside the slice: 12 pauses; not recorded: 3 rates");
});
