import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PART_VARIABLES, STATE_VARIABLES } from "../src/palette";

// the bundle of tests runs below web/node_modules/.cache
const web = join(process.env.WEIR_WEB ?? ".", ".");
const css = readFileSync(join(web, "src/app.css"), "utf8");
const rust = readFileSync(join(web, "../crates/plot/src/style.rs"), "utf8");

function variables(block: string): Map<string, string> {
  return new Map(
    Array.from(block.matchAll(/--(\w+):\s*(#[0-9a-f]{6})/g), (m) => [
      m[1] as string,
      m[2] as string,
    ]),
  );
}
const themes = css.split('data-theme="dark"');
const light = variables(themes[0] ?? "");
const dark = variables((themes[1] ?? "").split("}")[0] ?? "");

test("the colours are those of the reports", () => {
  const series = rust.slice(rust.indexOf("const SERIES"));
  const pairs = Array.from(series.matchAll(/\(0x([0-9a-f]{6}), 0x([0-9a-f]{6})\)/g)).slice(0, 12);
  assert.equal(pairs.length, 12);
  for (const [i, pair] of pairs.entries()) {
    assert.equal(light.get(`c${i}`), `#${pair[1]}`);
    assert.equal(dark.get(`c${i}`), `#${pair[2]}`);
  }
  const fixed = { Ink: "fg", Soft: "soft", Grid: "grid", Paper: "bg", Alarm: "hot" };
  for (const [name, variable] of Object.entries(fixed)) {
    const pair = new RegExp(`Self::${name} => \\(0x([0-9a-f]{6}), 0x([0-9a-f]{6})\\)`).exec(rust);
    assert.equal(light.get(variable), `#${pair?.[1]}`);
    assert.equal(dark.get(variable), `#${pair?.[2]}`);
  }
});

// Machado and others, 2009, full severity: normal vision, protanopia, deuteranopia
const SIGHTS = [
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
];
const WHITE = [
  [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
  [0.2126, 0.7152, 0.0722],
  [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
];

function lab(colour: string, sight: number[][]): number[] {
  const times = (row: number[], v: number[]) =>
    row.reduce((sum, a, i) => sum + a * (v[i] as number), 0);
  const linear = [1, 3, 5].map((at) => {
    const c = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const seen = sight.map((row) => Math.min(1, Math.max(0, times(row, linear))));
  const [x, y, z] = WHITE.map((row) => {
    const t = times(row, seen);
    return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  }) as [number, number, number];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("paused, congested, busy and idle can be told apart by all readers in both themes", () => {
  for (const theme of [light, dark]) {
    // a difference of 30 in L*a*b* is seen at a glance, also in thin lines; the lanes differ in
    // width and marks besides
    const colours = [theme.get("wire"), ...["c7", "c6", "c1"].map((name) => theme.get(name))];
    assert.deepEqual(STATE_VARIABLES.slice(1), ["c7", "c6", "c1", "c1"]);
    for (const sight of SIGHTS) {
      for (let i = 0; i < colours.length; i++) {
        for (let j = i + 1; j < colours.length; j++) {
          const [a, b] = [lab(colours[i] as string, sight), lab(colours[j] as string, sight)];
          const distance = Math.hypot(...a.map((v, k) => v - (b[k] as number)));
          assert.ok(distance > 30, `${colours[i]} ${colours[j]}: ${distance.toFixed(0)}`);
        }
      }
    }
  }
});

test("each of the nine parts has a colour of its own", () => {
  const used = Object.values(PART_VARIABLES);
  assert.equal(new Set(used).size, 9);
});
