// Choosing in the pause matrix, with the pointer or with keys.

import type { Axis } from "./axis";
import type { Explorer } from "./explorer";
import { chosenPort } from "./focus";
import type { Matrix } from "./matrix";

/** A click: the pause of the cell, or that instant where there is none; on a name, the link. */
export function pickCell(
  explorer: Explorer,
  matrix: Matrix,
  axis: Axis,
  index: number,
  x: number,
  y: number,
): void {
  const run = explorer.runs[index];
  if (!run) return;
  if (x < axis.gutter) {
    const port = matrix.portAt(y);
    if (port !== null) explorer.select({ kind: "link", id: port });
    return;
  }
  const time = Math.round(Math.min(explorer.end, Math.max(0, axis.time(x))));
  const pause = matrix.pauseAt(x, y);
  if (pause === null) {
    explorer.store.set({ time, playing: false });
    return;
  }
  const [from, to] = [run.pauses.from[pause] as number, run.pauses.to[pause] as number];
  // a pause belongs to the scheme in front
  if (index === 1) explorer.swap();
  explorer.select({ kind: "pause", id: pause }, Math.max(from, Math.min(time, to - 1)));
}

/** Selects the link of a neighbouring row, or with 0 the pause that holds it now or next. */
export function moveRow(explorer: Explorer, rows: number[], by: number): void {
  const { time, selection } = explorer.state;
  const port = chosenPort(explorer.run, selection);
  if (by !== 0 || port === null) {
    const at = port === null ? 0 : rows.indexOf(port) + by;
    const next = rows[Math.min(rows.length - 1, Math.max(0, at))];
    if (next !== undefined) explorer.select({ kind: "link", id: next });
    return;
  }
  const { from, to } = explorer.run.pauses;
  const pause = explorer.run.pausesOf(port).find((p) => (to[p] as number) > time);
  if (pause === undefined) return;
  explorer.select({ kind: "pause", id: pause }, Math.max(time, from[pause] as number));
}
