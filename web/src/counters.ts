// What an operator's monitoring would have shown of the same run: the PAUSE counter and the
// high-water mark of the switches, read at fixed intervals.

import type { Axis } from "./axis";
import { prepare } from "./dom";
import { type Run, search } from "./model";
import type { Palette } from "./palette";
import { bytes, count, duration, grouped } from "./units";

export interface Poll {
  /** When the counters are read. */
  at: number;
  /** PAUSEs that the counters show since the last reading. */
  pauses: number;
  highWater: number;
  /** What they do not show: the longest hold that began in the interval. */
  longest: number;
}

/** A row that is cut says so. */
const MOST_POLLS = 100_000;

/** All readings of a run; the last one falls after its end. */
export function polls(run: Run, every: number, most = MOST_POLLS): Poll[] {
  const list: Poll[] = [];
  const needed = Math.max(1, Math.ceil(run.end / every));
  const { from, to, rows } = run.pauses;
  for (let i = 0; i < Math.min(needed, most); i++) {
    const [start, end] = [i * every, (i + 1) * every];
    const [first, last] = [search(from, rows, start), search(from, rows, end)];
    let longest = 0;
    for (let p = first; p < last; p++) {
      longest = Math.max(longest, (to[p] as number) - (from[p] as number));
    }
    const highWater = run.highWater(null, start, Math.min(end, run.end));
    list.push({ at: end, pauses: last - first, highWater, longest });
  }
  if (run.header.poll_ps === every) takeRecorded(run, list);
  return list;
}

/** The counters as the run itself read them, where the interval is that of the recording. */
function takeRecorded(run: Run, list: Poll[]): void {
  const table = run.table("polls");
  if (table.rows === 0) return;
  for (const reading of list) [reading.pauses, reading.highWater] = [0, 0];
  const [poll, received, mark] = ["poll", "received", "watermark"].map((name) => table.get(name));
  for (let row = 0; row < table.rows; row++) {
    const reading = list[poll?.[row] as number];
    if (!reading) continue;
    reading.pauses += received?.[row] as number;
    reading.highWater = Math.max(reading.highWater, mark?.[row] as number);
  }
}

export function drawCounters(
  canvas: HTMLCanvasElement,
  axis: Axis,
  run: Run,
  every: number,
  palette: Palette,
): void {
  const { context, height } = prepare(canvas);
  const readings = polls(run, every);
  const most = readings.reduce((a, reading) => Math.max(a, reading.pauses), 1);
  context.font = "11px system-ui, sans-serif";
  let drawn = -1;
  for (const { at, pauses, highWater, longest } of readings) {
    const [x, to] = [Math.max(axis.gutter, axis.x(at - every)), Math.min(axis.width, axis.x(at))];
    // of readings that share a pixel the first is drawn
    if (to <= x || (to - x < 1 && Math.floor(x) === drawn)) continue;
    drawn = Math.floor(x);
    // one flat block per reading: the counter knows how many, not when
    context.fillStyle = palette.soft;
    context.globalAlpha = 0.12 + 0.4 * (pauses / most);
    context.fillRect(x, 1, Math.max(1, to - x - 1), height - 2);
    context.globalAlpha = 1;
    if (to - x < 20) continue;
    const late = at > run.end ? `read at ${duration(at)}, after the end: ` : "";
    const seen = `${late}${count(pauses, "pause")}, queues up to ${bytes(highWater)}`;
    const truth = longest > 0 ? ` — not shown: the longest hold lasted ${duration(longest)}` : "";
    const room = to - x - 12;
    const fits = (text: string) => context.measureText(text).width < room;
    const text = [seen + truth, seen, String(pauses)].find(fits);
    context.fillStyle = palette.fg;
    if (text) context.fillText(text, x + 6, height / 2 + 4);
  }
  if (run.end / every > MOST_POLLS) {
    context.fillStyle = palette.fg;
    context.fillText(
      `only the first ${grouped(MOST_POLLS)} readings`,
      axis.gutter + 6,
      height / 2 + 4,
    );
  }
}
