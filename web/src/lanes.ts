// What moves with time on the map: one lane per direction of each link, on a plain canvas above
// the links that sigma draws. So scrubbing paints only what is active and never redraws the graph.

import type { Scene } from "./fold";
import { CONGESTED_BYTES, type Frame } from "./model";
import { LinkState, type Palette } from "./palette";

/** Lanes run on the right-hand side of their link, this far from its middle, in pixels. */
export const LANE = 3.2;
/** Lines shorter than this have no room for queues and arrows. */
const SHORT = 34;
/** As many queues are drawn; the legend says so. */
const MOST_QUEUES = 40;
/** From so many active lines on, lanes are thinner. */
const DENSE = 300;
const WIDTHS = [0, 2, 2.8, 3.2, 4];

export interface Point {
  x: number;
  y: number;
}

/** A node with the name to show where a folded item hides it. */
export interface Place {
  node: number;
  name: string;
}

/** A queue at which pauses begin. */
export interface Root extends Place {
  port: number;
}

/** What is emphasised: by port. */
export interface Emphasis {
  /** Links of the selected tree or path. */
  links: ReadonlySet<number>;
  /** The selected link itself, and a root queue. */
  chosen: number | null;
  root: Root | null;
  /** The selected node, or the one of the selected link. */
  node: Place | null;
  /** A deadlock that has closed. */
  cycle: readonly number[];
}

export const NO_EMPHASIS: Emphasis = {
  links: new Set(),
  chosen: null,
  root: null,
  node: null,
  cycle: [],
};

/** Sums of the ports that one line stands for. */
export class LineStates {
  readonly state: Uint8Array;
  readonly queue: Float64Array;
  readonly share: Float64Array;
  /** How many ports of the line are held. */
  readonly held: Uint32Array;
  /** The port that says most about the line: the one to pick. */
  readonly port: Int32Array;
  active: number[] = [];

  constructor(private readonly scene: Scene) {
    const n = scene.lines.length;
    this.state = new Uint8Array(n);
    this.queue = new Float64Array(n);
    this.share = new Float64Array(n);
    this.held = new Uint32Array(n);
    this.port = new Int32Array(n);
  }

  update(frame: Frame): void {
    for (const line of this.active) {
      this.state[line] = 0;
      this.queue[line] = 0;
      this.share[line] = 0;
      this.held[line] = 0;
    }
    this.active.length = 0;
    for (const [i, port] of frame.touched.entries()) {
      const line = this.scene.lineOf[port] as number;
      if (line < 0) continue;
      const [state, queue, share] = [frame.state[port], frame.queue[port], frame.share[port]];
      const known = this.state[line] as number;
      if (known === 0 && this.queue[line] === 0 && this.share[line] === 0) this.active.push(line);
      if (
        (state as number) > known ||
        ((state as number) === known && (queue as number) >= (this.queue[line] as number))
      ) {
        this.port[line] = port;
      }
      // a port is listed once for its window and once per pause: count it the first time
      const first = frame.first[port] === i;
      if (first && (state as number) >= LinkState.PartlyHeld)
        this.held[line] = (this.held[line] as number) + 1;
      this.state[line] = Math.max(known, state as number);
      this.queue[line] = Math.max(this.queue[line] as number, queue as number);
      this.share[line] = Math.max(this.share[line] as number, share as number);
    }
  }
}

interface Lane {
  a: Point;
  b: Point;
  /** Unit vector along, and to the right. */
  u: Point;
  n: Point;
  length: number;
}

/** Where a lane runs between two items of given sizes; null if they touch. */
export function laneBetween(from: Point, to: Point, fromSize: number, toSize: number): Lane | null {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const distance = Math.hypot(dx, dy);
  const length = distance - fromSize - toSize;
  if (length < 3) return null;
  const u = { x: dx / distance, y: dy / distance };
  const n = { x: -u.y, y: u.x };
  const at = (along: number): Point => ({
    x: from.x + u.x * along + n.x * LANE,
    y: from.y + u.y * along + n.y * LANE,
  });
  return { a: at(fromSize), b: at(distance - toSize), u, n, length };
}

export class LanePainter {
  /** Places and sizes of items on the screen. */
  places: Point[] = [];
  sizes: number[] = [];

  constructor(
    readonly scene: Scene,
    readonly states: LineStates,
    private readonly maxQueue: number,
  ) {}

  private lane(line: number): Lane | null {
    const { from, to } = this.scene.lines[line] ?? { from: 0, to: 0 };
    const [a, b] = [this.places[from], this.places[to]];
    if (!a || !b) return null;
    return laneBetween(a, b, (this.sizes[from] ?? 0) + 1.5, (this.sizes[to] ?? 0) + 1.5);
  }

  paint(context: CanvasRenderingContext2D, palette: Palette, emphasis: Emphasis): void {
    context.lineCap = "butt";
    this.halos(context, palette, emphasis);
    const byState: number[][] = [[], [], [], [], []];
    for (const line of this.states.active) byState[this.states.state[line] as number]?.push(line);
    for (let state = LinkState.Busy; state <= LinkState.Paused; state++) {
      context.strokeStyle = palette.states[state] as string;
      context.setLineDash(state === LinkState.PartlyHeld ? [5, 3] : []);
      for (const line of byState[state] ?? []) this.stroke(context, line, state);
    }
    context.setLineDash([]);
    for (const line of this.longest()) this.queue(context, palette, line);
    this.cycle(context, palette, emphasis);
    this.hidden(context, palette, emphasis);
    this.root(context, palette, emphasis);
  }

  /** The lines with the longest queues: where there are many, the short ones would be noise. */
  private longest(): number[] {
    const { active, queue } = this.states;
    const lines = active.filter((line) => (queue[line] as number) > 0);
    if (lines.length <= MOST_QUEUES) return lines;
    return lines.sort((a, b) => (queue[b] as number) - (queue[a] as number)).slice(0, MOST_QUEUES);
  }

  private stroke(context: CanvasRenderingContext2D, line: number, state: number): void {
    const lane = this.lane(line);
    if (!lane) return;
    const share = this.states.share[line] as number;
    context.lineWidth = state === LinkState.Busy ? 0.8 + 1.8 * share : (WIDTHS[state] as number);
    if (this.states.active.length > DENSE) context.lineWidth *= 0.5;
    context.globalAlpha = state === LinkState.Busy ? 0.45 + 0.55 * share : 1;
    if (state >= LinkState.PartlyHeld) {
      // a line that stands for many links is as strong as the share of them that is held
      const links = this.scene.lines[line]?.ports.length ?? 1;
      context.globalAlpha = 0.3 + 0.7 * Math.sqrt((this.states.held[line] as number) / links);
    }
    context.beginPath();
    context.moveTo(lane.a.x, lane.a.y);
    context.lineTo(lane.b.x, lane.b.y);
    if (state >= LinkState.PartlyHeld) {
      // a stop line across the lane where the held port is
      const [w, d] = [5.5, 1.5];
      context.moveTo(
        lane.a.x + lane.u.x * d - lane.n.x * 2.5,
        lane.a.y + lane.u.y * d - lane.n.y * 2.5,
      );
      context.lineTo(
        lane.a.x + lane.u.x * d + lane.n.x * w,
        lane.a.y + lane.u.y * d + lane.n.y * w,
      );
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The queue of a port as a tank beside the start of its lane. */
  private queue(context: CanvasRenderingContext2D, palette: Palette, line: number): void {
    const bytes = this.states.queue[line] as number;
    const lane = this.lane(line);
    if (!lane || bytes <= 0 || lane.length < SHORT) return;
    const full = Math.min(26, lane.length * 0.3);
    const fill = Math.max(1, full * Math.min(1, bytes / this.maxQueue));
    const corner = (along: number, out: number): [number, number] => [
      lane.a.x + lane.u.x * along + lane.n.x * out,
      lane.a.y + lane.u.y * along + lane.n.y * out,
    ];
    const box = (length: number) => {
      context.beginPath();
      context.moveTo(...corner(3, 4));
      context.lineTo(...corner(3 + length, 4));
      context.lineTo(...corner(3 + length, 9));
      context.lineTo(...corner(3, 9));
      context.closePath();
    };
    box(full);
    context.fillStyle = palette.bg;
    context.fill();
    context.lineWidth = 0.8;
    context.strokeStyle = palette.soft;
    context.stroke();
    box(fill);
    const hot = bytes >= CONGESTED_BYTES;
    context.fillStyle = (hot ? palette.states[LinkState.Congested] : palette.soft) as string;
    context.fill();
  }

  private halos(context: CanvasRenderingContext2D, palette: Palette, emphasis: Emphasis): void {
    context.strokeStyle = palette.fg;
    context.lineCap = "round";
    const lines = new Set([...emphasis.links].map((port) => this.scene.lineOf[port] as number));
    const chosen = emphasis.chosen === null ? -1 : (this.scene.lineOf[emphasis.chosen] as number);
    if (chosen >= 0) lines.add(chosen);
    for (const line of lines) {
      const lane = line >= 0 ? this.lane(line) : null;
      if (!lane) continue;
      context.globalAlpha = line === chosen ? 0.3 : 0.16;
      context.lineWidth = line === chosen ? 13 : 10;
      context.beginPath();
      context.moveTo(lane.a.x, lane.a.y);
      context.lineTo(lane.b.x, lane.b.y);
      context.stroke();
      context.globalAlpha = line === chosen ? 0.9 : 0.55;
      arrow(context, palette.fg, lane, 0.62, 5);
    }
    context.globalAlpha = 1;
    context.lineCap = "butt";
  }

  private cycle(context: CanvasRenderingContext2D, palette: Palette, emphasis: Emphasis): void {
    for (const port of emphasis.cycle) {
      const line = this.scene.lineOf[port] as number;
      const lane = line >= 0 ? this.lane(line) : null;
      if (!lane) continue;
      context.strokeStyle = palette.hot;
      context.lineWidth = 5;
      context.beginPath();
      context.moveTo(lane.a.x, lane.a.y);
      context.lineTo(lane.b.x - lane.u.x * 6, lane.b.y - lane.u.y * 6);
      context.stroke();
      arrow(context, palette.hot, lane, 1, 10);
    }
  }

  /** A ring around the start of the root's lane, or around the folded item that has it. */
  private root(context: CanvasRenderingContext2D, palette: Palette, emphasis: Emphasis): void {
    const { root } = emphasis;
    if (root === null) return;
    const line = this.scene.lineOf[root.port] as number;
    const lane = line >= 0 ? this.lane(line) : null;
    const item = this.scene.itemOf[root.node] as number;
    const [place, size] = [this.places[item], this.sizes[item] ?? 0];
    const along = lane ? Math.min(14, lane.length / 2) : 0;
    const at = lane ? { x: lane.a.x + lane.u.x * along, y: lane.a.y + lane.u.y * along } : place;
    if (!at) return;
    const radius = lane ? 17 : size + 6;
    ring(context, palette.hot, at, radius);
    // items stand side by side: above one is room
    const beside = { x: at.x, y: at.y + 4 };
    context.fillStyle = palette.hot;
    if (lane) this.name(context, palette, root.name, beside, radius + 5);
    else this.name(context, palette, root.name, { x: at.x, y: at.y - radius - 5 }, 0);
  }

  /** A ring around the folded item that has the selected node. */
  private hidden(context: CanvasRenderingContext2D, palette: Palette, emphasis: Emphasis): void {
    const { node } = emphasis;
    const item = node ? (this.scene.itemOf[node.node] as number) : -1;
    const at = this.places[item];
    if (!node || !at || (this.scene.items[item]?.nodes.length ?? 1) < 2) return;
    const radius = (this.sizes[item] ?? 0) + 6;
    ring(context, palette.fg, at, radius);
    context.fillStyle = palette.fg;
    this.name(context, palette, node.name, { x: at.x, y: at.y - radius - 5 }, 0);
  }

  /** A name beside a place, on the side with more room, or (0) in the middle of it. */
  private name(
    context: CanvasRenderingContext2D,
    palette: Palette,
    name: string,
    at: Point,
    aside: number,
  ): void {
    const wide = context.canvas.clientWidth;
    context.font = "600 11px system-ui, sans-serif";
    const half = context.measureText(name).width / 2;
    const away = aside === 0 ? 0 : aside + half;
    const wanted = at.x < wide * 0.7 ? at.x + away : at.x - away;
    const x = Math.max(half + 4, Math.min(wide - half - 4, wanted));
    context.textAlign = "center";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = palette.bg;
    context.strokeText(name, x, at.y);
    context.fillText(name, x, at.y);
    context.textAlign = "start";
  }
}

function ring(context: CanvasRenderingContext2D, colour: string, at: Point, radius: number): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  context.ellipse(at.x, at.y, radius, radius, 0, 0, 2 * Math.PI);
  context.stroke();
}

/** An arrow head at a share of a lane's length. */
function arrow(
  context: CanvasRenderingContext2D,
  colour: string,
  lane: Lane,
  share: number,
  size: number,
): void {
  const tip = {
    x: lane.a.x + lane.u.x * lane.length * share,
    y: lane.a.y + lane.u.y * lane.length * share,
  };
  const back = { x: tip.x - lane.u.x * size, y: tip.y - lane.u.y * size };
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(tip.x, tip.y);
  context.lineTo(back.x + lane.n.x * size * 0.6, back.y + lane.n.y * size * 0.6);
  context.lineTo(back.x - lane.n.x * size * 0.6, back.y - lane.n.y * size * 0.6);
  context.closePath();
  context.fill();
}

/** The line nearest to a point, among those drawn, within `reach` pixels; by its side the direction. */
export function nearestLine(
  scene: Scene,
  places: Point[],
  at: Point,
  reach: number,
): number | null {
  let best: number | null = null;
  let least = reach;
  for (const [i, line] of scene.lines.entries()) {
    const [a, b] = [places[line.from], places[line.to]];
    if (!a || !b) continue;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const square = dx * dx + dy * dy;
    if (square < 1) continue;
    const along = ((at.x - a.x) * dx + (at.y - a.y) * dy) / square;
    if (along < 0 || along > 1) continue;
    const length = Math.sqrt(square);
    // distance to the lane, which is to the right of the middle
    const side = ((at.y - a.y) * dx - (at.x - a.x) * dy) / length;
    const distance = Math.abs(side - LANE);
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}
