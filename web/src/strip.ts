// The strip above the matrix: where in the run anything happens. An area for the number of held
// links (the second scheme as a line), ticks for losses, failures and deadlocks.

import { type Axis, ticks } from "./axis";
import { prepare } from "./dom";
import type { Run } from "./model";
import type { Palette } from "./palette";
import { instant } from "./units";

export function drawStrip(
  canvas: HTMLCanvasElement,
  axis: Axis,
  runs: Run[],
  palette: Palette,
): void {
  const { context, height } = prepare(canvas);
  const foot = 15;
  const room = height - foot - 3;
  const held = runs.map((run) => run.heldOver(axis.from, axis.to, axis.columns));
  const most = Math.max(1, ...held.map((bins) => bins.reduce((a, b) => Math.max(a, b), 0)));
  for (const [i, bins] of held.entries()) {
    context.beginPath();
    context.moveTo(axis.gutter, 3 + room);
    for (const [x, n] of bins.entries())
      context.lineTo(axis.gutter + x + 0.5, 3 + room * (1 - n / most));
    context.lineTo(axis.gutter + bins.length, 3 + room);
    if (i === 0) {
      context.fillStyle = palette.states[4] as string;
      context.globalAlpha = 0.75;
      context.fill();
      context.globalAlpha = 1;
    } else {
      context.strokeStyle = palette.fg;
      context.lineWidth = 1;
      context.stroke();
    }
  }
  for (const run of runs.slice(0, 1)) {
    mark(
      context,
      axis,
      3 + room,
      palette.hot,
      run.cycles.map((cycle) => cycle.at),
      3,
    );
    mark(context, axis, 3 + room, palette.hot, Array.from(run.table("drops").get("at")), 1);
    mark(context, axis, 3 + room, palette.soft, Array.from(run.table("failures").get("at")), 2);
  }
  context.strokeStyle = palette.grid;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(axis.gutter, 3.5 + room);
  context.lineTo(axis.width, 3.5 + room);
  context.stroke();
  context.fillStyle = palette.soft;
  context.font = "11px system-ui, sans-serif";
  const span = axis.to - axis.from;
  const wanted = Math.max(2, axis.columns / 110);
  for (const at of ticks(axis.from, axis.to, wanted)) {
    const x = axis.x(at);
    context.fillRect(Math.round(x), 3 + room, 1, 4);
    const text = instant(at, span)
      .replace(/(\.\d*?)0+ /, "$1 ")
      .replace(". ", " ");
    const half = context.measureText(text).width / 2;
    context.fillText(
      text,
      Math.max(axis.gutter, Math.min(axis.width - 2 * half, x - half)),
      height - 2,
    );
  }
  context.textAlign = "right";
  context.fillText(axis.gutter > 100 ? "links held" : "held", axis.gutter - 8, 3 + room / 2);
  context.fillText(
    most < 10 ? `max ${Number(most.toFixed(1))}` : `max ${Math.round(most)}`,
    axis.gutter - 8,
    3 + room / 2 + 13,
  );
  context.textAlign = "start";
}

/** Ticks that hang from the top; instants that fall on one pixel are one tick. */
function mark(
  context: CanvasRenderingContext2D,
  axis: Axis,
  height: number,
  colour: string,
  times: number[],
  width: number,
): void {
  context.fillStyle = colour;
  let last = -1;
  for (const at of times) {
    const x = Math.round(axis.x(at));
    if (x === last || x < axis.gutter || x > axis.width) continue;
    last = x;
    context.fillRect(x - Math.floor(width / 2), 0, width, height);
  }
}
