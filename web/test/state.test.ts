import assert from "node:assert/strict";
import { test } from "node:test";
import { type Address, readAddress, writeAddress } from "../src/state";

test("an address leads back to the same moment", () => {
  const moments: Address[] = [
    { time: 1_204_000_001, run: "PFC", beside: "OFC & co", selection: { kind: "flow", id: 217 } },
    { time: 0, run: "a=b#c", selection: { kind: "pause", id: 0 }, range: [0, 5_000] },
    { time: 9, flow: "f12.3" },
    { time: 7, selection: { kind: "link", id: 12 } },
  ];
  for (const moment of moments) assert.deepEqual(readAddress(writeAddress(moment)), moment);
});

test("times may be written as people write them", () => {
  assert.equal(readAddress("#t=1.204ms&flow=217").time, 1_204_000_000);
  assert.equal(readAddress("#t=34us").time, 34e6);
});

test("nonsense in an address is left out", () => {
  const address = readAddress("#t=soon&flow=x&axis=9us..2us&%&run=%E0%A4%A&node=-1");
  assert.deepEqual(address, { time: undefined, run: "%E0%A4%A" });
});
