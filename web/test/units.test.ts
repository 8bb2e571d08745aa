import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, count, duration, exact, instant, parseTime, percent, rate } from "../src/units";

test("numbers have their usual units", () => {
  assert.equal(duration(21_300_000), "21.3 µs");
  assert.equal(duration(1_961_204_800, 4), "1.961 ms");
  assert.equal(duration(999), "999 ps");
  assert.equal(bytes(75_400), "75.4 KB");
  assert.equal(rate(40e9), "40 Gb/s");
  assert.equal(percent(0.125), "13 %");
  assert.equal(percent(0.0001), "< 0.1 %");
  assert.equal(exact(1_961_204_800), "1\u202f961\u202f204\u202f800 ps");
  assert.equal(count(1, "link"), "1 link");
  assert.equal(count(2, "switch", "switches"), "2 switches");
});

test("instants of one axis share unit and decimals", () => {
  assert.equal(instant(35e6, 200e6), "35.00 µs");
  assert.equal(instant(0, 200e6), "0.00 µs");
  assert.equal(instant(1_204_000_000, 2e9), "1.2040 ms");
});

test("what is no time is not read as one", () => {
  assert.equal(parseTime("12.5 us"), 12_500_000);
  assert.equal(parseTime("300"), 300);
  for (const text of ["", "us", "-3us", "1e3us", "5 min"]) assert.equal(parseTime(text), null);
});
