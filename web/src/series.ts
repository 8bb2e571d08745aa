// The queue of one port over time, of both schemes, with the threshold of the pauses it caused.

import uPlot from "uplot";
import type { Axis } from "./axis";
import type { Run } from "./model";
import { LinkState, type Palette } from "./palette";
import { bytes } from "./units";

/** The longest queue in each column of the axis. */
export function queueColumns(run: Run, port: number, axis: Axis): number[] {
  const columns = new Array<number>(axis.columns).fill(0);
  const { window, queue } = run.series(port);
  const scale = axis.columns / (axis.to - axis.from);
  for (const [i, w] of window.entries()) {
    const first = Math.floor((w * run.window - axis.from) * scale);
    const last = Math.max(first, Math.ceil(((w + 1) * run.window - axis.from) * scale) - 1);
    for (let x = Math.max(0, first); x <= Math.min(axis.columns - 1, last); x++) {
      columns[x] = Math.max(columns[x] as number, queue[i] as number);
    }
  }
  return columns;
}

/** The threshold that most pauses for this queue compared with, if any. */
export function thresholdOf(run: Run, port: number): number | null {
  const { rows, cause, threshold } = run.pauses;
  for (let p = 0; p < rows; p++) {
    if (cause[p] === port + 1 && (threshold[p] as number) > 0) return threshold[p] as number;
  }
  return null;
}

export class Series {
  private plot: uPlot | null = null;
  private look = "";

  constructor(private readonly container: HTMLElement) {}

  draw(axis: Axis, runs: Run[], port: number, palette: Palette): void {
    const xs = Array.from({ length: axis.columns }, (_, x) => axis.time(axis.gutter + x + 0.5));
    const data: uPlot.AlignedData = [xs, ...runs.map((run) => queueColumns(run, port, axis))];
    const threshold = thresholdOf(runs[0] as Run, port);
    data.push(xs.map(() => threshold));
    const height = this.container.clientHeight;
    const look = JSON.stringify([palette, axis.width, axis.gutter, height, runs.length]);
    if (look !== this.look || !this.plot) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(axis, runs, palette, height), data, this.container);
      this.look = look;
    } else {
      this.plot.setData(data, true);
    }
  }

  private options(axis: Axis, runs: Run[], palette: Palette, height: number): uPlot.Options {
    const text = { stroke: palette.soft, font: "11px system-ui, sans-serif" };
    const grid = { stroke: palette.grid, width: 1 };
    return {
      width: axis.width,
      height,
      padding: [6, 0, 4, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => [axis.from, axis.to] },
        y: { range: (_, __, most) => [0, Math.max(1000, most * 1.3)] },
      },
      axes: [
        { show: false },
        {
          ...text,
          grid,
          ticks: { show: false },
          size: axis.gutter,
          gap: 8,
          space: 24,
          values: (_, values) => values.map((v) => (v ? bytes(v) : "0")),
        },
      ],
      series: [
        {},
        ...runs.map((run, i) => ({
          label: run.label,
          stroke: i === 0 ? (palette.states[2] as string) : palette.fg,
          width: i === 0 ? 1.5 : 1,
          dash: i === 0 ? [] : [4, 3],
          points: { show: false },
        })),
        {
          label: "threshold",
          stroke: palette.states[LinkState.Paused] as string,
          width: 1,
          dash: [2, 3],
          points: { show: false },
        },
      ],
    };
  }
}
