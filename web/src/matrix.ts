// The pause matrix: one row per direction of a link that is ever held, time from left to right.
// Congestion that spreads is a staircase. How dark a pixel is says for how much of its time the
// link was held; partial holds fill the lower half of a row only.

import type { Axis } from "./axis";
import { prepare } from "./dom";
import { type Run, addSpan } from "./model";
import { LinkState, type Palette } from "./palette";

const LEVELS = 6;
/** Up to so many links have a row with a name each, by scrolling if need be. */
const MOST_NAMES = 60;
/** The least height of a row with a name, and of others. */
const [LEAST_NAMED, LEAST] = [9, 2];

export class Matrix {
  rows: number[] = [];
  /** One link per row whatever the height; otherwise as many as it takes to show all at once. */
  detailed = false;
  /** Links per row. */
  together = 1;
  private scroll = 0;
  private rowHeight = 12;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly axis: Axis,
    private run: Run,
    private sort: "tier" | "first",
  ) {
    this.order();
  }

  setSort(sort: "tier" | "first"): void {
    this.sort = sort;
    this.order();
  }

  private order(): void {
    const { run } = this;
    this.rows = run.heldPorts.slice();
    if (this.sort === "tier") {
      const name = (port: number) => run.linkName(port);
      this.rows.sort((a, b) => run.tierOf(b) - run.tierOf(a) || compare(name(a), name(b)) || a - b);
    }
    this.scroll = 0;
  }

  /** Links that are never held and therefore have no row. */
  get without(): number {
    return this.run.ports - this.rows.length;
  }

  /** Of all rows, in pixels. */
  private get height(): number {
    return Math.ceil(this.rows.length / this.together) * this.rowHeight;
  }

  private measure(height: number): void {
    const fitting = height / Math.max(1, this.rows.length);
    this.together = 1;
    if (this.detailed || this.rows.length <= MOST_NAMES)
      this.rowHeight = Math.max(fitting, LEAST_NAMED);
    else this.rowHeight = Math.max(fitting, LEAST);
    this.rowHeight = Math.min(18, this.rowHeight);
    if (fitting < this.rowHeight && !this.detailed && this.rows.length > MOST_NAMES) {
      this.together = Math.ceil(this.rowHeight / fitting);
    }
  }

  scrollBy(pixels: number): boolean {
    const most = Math.max(0, this.height - this.canvas.clientHeight);
    const next = Math.min(most, Math.max(0, this.scroll + pixels));
    const moved = next !== this.scroll;
    this.scroll = next;
    return moved;
  }

  /** Brings the row of a port into view. */
  reveal(port: number): void {
    const row = Math.floor(this.rows.indexOf(port) / this.together);
    if (row < 0) return;
    const [top, height] = [row * this.rowHeight, this.canvas.clientHeight];
    if (top < this.scroll || top + this.rowHeight > this.scroll + height)
      this.scroll = Math.max(0, top - height / 2);
    this.scrollBy(0);
  }

  draw(palette: Palette, chosen: number | null, tree: ReadonlySet<number>): void {
    const { context, width, height } = prepare(this.canvas);
    const { rows, axis } = this;
    this.measure(height);
    this.scrollBy(0);
    const size = Math.max(9, Math.min(11, this.rowHeight));
    context.font = `${size}px system-ui, sans-serif`;
    const first = Math.floor(this.scroll / this.rowHeight);
    const last = Math.min(
      Math.ceil(rows.length / this.together),
      Math.ceil((this.scroll + height) / this.rowHeight),
    );
    for (let row = first; row < last; row++) {
      const ports = rows.slice(row * this.together, (row + 1) * this.together);
      const y = row * this.rowHeight - this.scroll;
      const mine = chosen !== null && ports.includes(chosen);
      if (mine || ports.some((port) => tree.has(port))) {
        context.fillStyle = palette.fg;
        context.globalAlpha = mine ? 0.14 : 0.06;
        context.fillRect(0, y, width, this.rowHeight);
        context.globalAlpha = 1;
      }
      if (this.rowHeight >= LEAST_NAMED) this.name(context, palette, ports[0] as number, y, mine);
      this.cells(context, palette, ports, y);
    }
    if (this.rowHeight < LEAST_NAMED) this.tiers(context, palette, first, last);
    context.fillStyle = palette.grid;
    context.fillRect(axis.gutter - 1, 0, 1, height);
    this.scrollbar(context, palette, width, height);
    if (rows.length === 0) {
      context.fillStyle = palette.soft;
      context.fillText("no link is ever held in this run", axis.gutter + 10, height / 2 + 4);
    }
  }

  private name(
    context: CanvasRenderingContext2D,
    palette: Palette,
    port: number,
    y: number,
    strong: boolean,
  ): void {
    context.fillStyle = strong ? palette.fg : palette.soft;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const room = this.axis.gutter - 12;
    const text = fitted(context, this.run.linkName(port), room);
    context.fillText(text, this.axis.gutter - 8, y + this.rowHeight / 2 + 1);
    context.textAlign = "start";
    context.textBaseline = "alphabetic";
  }

  private cells(
    context: CanvasRenderingContext2D,
    palette: Palette,
    ports: number[],
    y: number,
  ): void {
    const { axis, run } = this;
    const { from, to } = run.pauses;
    const whole = new Float32Array(axis.columns);
    const single = new Float32Array(axis.columns);
    const scale = axis.columns / (axis.to - axis.from);
    for (const pause of ports.flatMap((port) => Array.from(run.pausesOf(port)))) {
      const [a, b] = [(from[pause] as number) - axis.from, (to[pause] as number) - axis.from];
      // what is shorter than a third of a pixel is drawn as long as that
      const start = a * scale;
      addSpan(run.isPartial(pause) ? single : whole, start, Math.max(b * scale, start + 0.34));
    }
    if (ports.length > 1) {
      // of many links, a few that are held must still be seen
      for (const cover of [whole, single]) {
        for (let x = 0; x < cover.length; x++)
          cover[x] = Math.sqrt((cover[x] as number) / ports.length);
      }
    }
    const gap = this.rowHeight >= 6 ? 1 : 0;
    const tall = this.rowHeight - gap;
    context.fillStyle = palette.states[LinkState.PartlyHeld] as string;
    this.runsOf(single, (x, w, alpha) => {
      context.globalAlpha = alpha;
      context.fillRect(x, y + tall * 0.5, w, tall * 0.5);
    });
    context.fillStyle = palette.states[LinkState.Paused] as string;
    this.runsOf(whole, (x, w, alpha) => {
      context.globalAlpha = alpha;
      context.fillRect(x, y, w, tall);
    });
    context.globalAlpha = 1;
  }

  /** Stretches of equal darkness. */
  private runsOf(
    cover: Float32Array,
    paint: (x: number, width: number, alpha: number) => void,
  ): void {
    let start = 0;
    let level = 0;
    for (let x = 0; x <= cover.length; x++) {
      const c = x < cover.length ? (cover[x] as number) : 0;
      const here = c > 0 ? Math.max(1, Math.round(Math.min(1, c) * LEVELS)) : 0;
      if (here === level && x < cover.length) continue;
      if (level > 0) paint(this.axis.gutter + start, x - start, 0.25 + (0.75 * level) / LEVELS);
      start = x;
      level = here;
    }
  }

  /** Names of tiers where rows are too thin for names of links. */
  private tiers(
    context: CanvasRenderingContext2D,
    palette: Palette,
    first: number,
    last: number,
  ): void {
    let tier = -1;
    context.textAlign = "right";
    for (let row = first; row < last; row++) {
      const here = this.run.tierOf(this.rows[row * this.together] as number);
      if (here === tier || this.sort !== "tier") continue;
      tier = here;
      const y = Math.max(0, row * this.rowHeight - this.scroll);
      context.fillStyle = palette.soft;
      context.fillText(
        tier <= 1 ? "host links" : `tier ${tier - 1}–${tier}`,
        this.axis.gutter - 8,
        y + 11,
      );
      context.fillStyle = palette.grid;
      context.fillRect(0, y, this.axis.gutter, 1);
    }
    context.textAlign = "start";
  }

  private scrollbar(
    context: CanvasRenderingContext2D,
    palette: Palette,
    width: number,
    height: number,
  ): void {
    const all = this.height;
    if (all <= height + 1) return;
    context.fillStyle = palette.soft;
    context.globalAlpha = 0.5;
    context.fillRect(width - 4, (this.scroll / all) * height, 4, (height / all) * height);
    context.globalAlpha = 1;
  }

  private portsAt(y: number): number[] {
    const row = Math.floor((y + this.scroll) / this.rowHeight);
    return this.rows.slice(row * this.together, (row + 1) * this.together);
  }

  portAt(y: number): number | null {
    return this.portsAt(y)[0] ?? null;
  }

  /** The pause in a cell: the one that stands there, or the nearest within four pixels. */
  pauseAt(x: number, y: number): number | null {
    if (x < this.axis.gutter) return null;
    const time = this.axis.time(x);
    const reach = this.axis.time(x + 4) - time;
    const { from, to } = this.run.pauses;
    let best: number | null = null;
    let least = reach;
    for (const pause of this.portsAt(y).flatMap((port) => Array.from(this.run.pausesOf(port)))) {
      const away = Math.max((from[pause] as number) - time, time - (to[pause] as number), 0);
      if (away < least) [best, least] = [pause, away];
    }
    return best;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}
