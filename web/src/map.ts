// The map: sigma draws nodes, links and names and handles camera and picking; `lanes.ts` draws
// what happens on the links at the cursor's time.

import Graph from "graphology";
import Sigma from "sigma";
import { NodeCircleProgram } from "sigma/rendering";
import { h, prepare } from "./dom";
import { type Item, Network, type Scene, describeItem, fold, isFolded } from "./fold";
import {
  type Emphasis,
  LanePainter,
  LineStates,
  NO_EMPHASIS,
  type Point,
  nearestLine,
} from "./lanes";
import { Frame, type Run } from "./model";
import type { Palette } from "./palette";

/** Squares, with the shader of sigma's circles and another distance. */
class SquareProgram extends NodeCircleProgram {
  override getDefinition() {
    const definition = super.getDefinition();
    const round = "length(v_diffVector)";
    const square = "1.4142 * max(abs(v_diffVector.x), abs(v_diffVector.y))";
    const FRAGMENT_SHADER_SOURCE = definition.FRAGMENT_SHADER_SOURCE.replace(round, square);
    return { ...definition, FRAGMENT_SHADER_SOURCE };
  }
}

export interface MapEvents {
  pickNode(node: number): void;
  pickLink(port: number): void;
  /** A folded item was clicked. */
  open(key: string): void;
  /** Nothing was clicked. */
  clear(): void;
  /** What the pointer is over; empty: nothing. */
  hint(lines: string[], at: Point): void;
  describe(port: number, frame: Frame): string[];
}

const PADDING = 24;

export class MapView {
  readonly frame: Frame;
  private readonly network: Network;
  private readonly graph = new Graph({ type: "undirected", multi: false });
  private sigma: Sigma | null = null;
  private lanes: HTMLCanvasElement | null = null;
  private scene: Scene;
  private painter: LanePainter;
  private emphasis: Emphasis = NO_EMPHASIS;
  private open: ReadonlySet<string> = new Set();
  private following: MapView | null = null;
  /** Boxes of the names drawn so far: left, top, right, bottom. */
  private readonly labels: [number, number, number, number][] = [];

  constructor(
    private readonly container: HTMLElement,
    private run: Run,
    private palette: Palette,
    private readonly events: MapEvents,
    private maxQueue: number,
  ) {
    this.frame = new Frame(run.ports);
    this.network = new Network(run.header);
    this.scene = fold(this.network, this.open, this.aspect());
    this.painter = this.newPainter();
    this.fill();
    try {
      this.sigma = this.start();
      this.place();
    } catch {
      const text =
        "The map needs WebGL, which this browser does not offer. Matrix, lists and trees work without it.";
      container.replaceChildren(h("p", { class: "notice" }, text));
    }
  }

  /** How many nodes are inside folded items. */
  get folded(): number {
    return this.scene.folded;
  }

  get opened(): string[] {
    return this.scene.opened;
  }

  private aspect(): number {
    const width = Math.max(80, this.container.clientWidth - 2 * PADDING);
    return width / Math.max(60, this.container.clientHeight - 2 * PADDING);
  }

  private newPainter(): LanePainter {
    return new LanePainter(this.scene, new LineStates(this.scene), this.maxQueue);
  }

  private start(): Sigma {
    const sigma = new Sigma(this.graph, this.container, {
      allowInvalidContainer: true,
      nodeProgramClasses: { circle: NodeCircleProgram, square: SquareProgram },
      defaultNodeType: "circle",
      stagePadding: PADDING,
      minEdgeThickness: 2,
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelDensity: 6,
      labelGridCellSize: 60,
      labelRenderedSizeThreshold: 0,
      minCameraRatio: 0.005,
      maxCameraRatio: 3,
      zoomToSizeRatioFunction: (ratio) => (ratio < 1 ? Math.sqrt(ratio) : 1),
      defaultDrawNodeLabel: (context, data) => this.drawLabel(context, data as never),
      defaultDrawNodeHover: () => undefined,
    });
    this.lanes = sigma.createCanvas("lanes", { beforeLayer: "nodes" });
    sigma.on("beforeRender", () => {
      this.labels.length = 0;
    });
    sigma.on("afterRender", () => this.place());
    sigma.on("clickNode", ({ node }) => this.clickItem(Number(node)));
    sigma.on("clickStage", ({ event }) => this.clickStage(event));
    sigma.on("doubleClickNode", ({ preventSigmaDefault }) => preventSigmaDefault());
    sigma.on("moveBody", ({ event }) => this.hover(event));
    sigma.on("enterNode", ({ node, event }) => this.hoverItem(Number(node), event));
    sigma.on("leaveStage", () => this.events.hint([], { x: 0, y: 0 }));
    sigma.getCamera().on("updated", (state) => this.following?.follow(state));
    return sigma;
  }

  /** More of the same run: the map and the camera stay as they are. */
  setRun(run: Run, maxQueue: number): void {
    this.run = run;
    this.maxQueue = maxQueue;
    const { places, sizes } = this.painter;
    this.painter = this.newPainter();
    this.painter.places = places;
    this.painter.sizes = sizes;
  }

  /** Two maps of one network move together. */
  lead(other: MapView | null): void {
    this.following = other;
  }

  private follow(state: { x: number; y: number; ratio: number; angle: number }): void {
    const camera = this.sigma?.getCamera();
    const now = camera?.getState();
    if (!camera || !now || (now.x === state.x && now.y === state.y && now.ratio === state.ratio))
      return;
    camera.setState(state);
  }

  private fill(): void {
    this.graph.clear();
    const { items, lines } = this.scene;
    const unit = (this.container.clientWidth - 2 * PADDING) / Math.max(4, width(items));
    for (const [i, item] of items.entries()) {
      const { x, y, label, kind } = item;
      const type = kind === "host" ? "circle" : "square";
      this.graph.addNode(i, {
        x,
        y,
        label,
        kind,
        type,
        size: sizeOf(item, unit),
        color: this.colour(item),
      });
    }
    for (const line of lines) {
      if (line.from > line.to || this.graph.hasEdge(line.from, line.to)) continue;
      const size = Math.min(4, 2 + 0.25 * Math.log2(line.ports.length));
      this.graph.addEdge(line.from, line.to, { size, color: this.palette.wire });
    }
  }

  private colour(item: Item): string {
    if (isFolded(item)) return this.palette.soft;
    return item.kind === "host" ? this.palette.soft : this.palette.fg;
  }

  private drawLabel(
    context: CanvasRenderingContext2D,
    data: { x: number; y: number; size: number; label: string | null; kind: Item["kind"] },
  ): void {
    if (!data.label) return;
    const above = data.kind === "switch" || data.kind === "row";
    context.font = above ? "600 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
    context.textAlign = "center";
    const y = above ? data.y - data.size - 5 : data.y + data.size + 13;
    const half = context.measureText(data.label).width / 2;
    const box: [number, number, number, number] = [
      data.x - half - 2,
      y - 10,
      data.x + half + 2,
      y + 2,
    ];
    const covered = this.labels.some(
      ([l, t, r, b]) => box[0] < r && box[2] > l && box[1] < b && box[3] > t,
    );
    if (covered) return;
    this.labels.push(box);
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = this.palette.bg;
    context.strokeText(data.label, data.x, y);
    context.fillStyle = above ? this.palette.fg : this.palette.soft;
    context.fillText(data.label, data.x, y);
    context.textAlign = "start";
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.rebuild();
  }

  /** Opened items get room in the layout, so the camera goes back to show everything. */
  setOpen(open: ReadonlySet<string>): void {
    this.open = open;
    this.events.hint([], { x: 0, y: 0 });
    this.rebuild();
    this.fit();
  }

  resize(): void {
    this.rebuild();
  }

  private rebuild(): void {
    this.scene = fold(this.network, this.open, this.aspect());
    this.painter = this.newPainter();
    this.fill();
    this.painter.states.update(this.frame);
    this.sigma?.resize(true);
    this.sigma?.refresh();
  }

  zoom(factor: number): void {
    const camera = this.sigma?.getCamera();
    void camera?.animate({ ratio: camera.getState().ratio / factor }, { duration: 120 });
  }

  fit(): void {
    void this.sigma?.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1 }, { duration: 200 });
  }

  pan(dx: number, dy: number): void {
    const camera = this.sigma?.getCamera();
    if (!camera) return;
    const { x, y, ratio } = camera.getState();
    camera.setState({ x: x + dx * ratio, y: y + dy * ratio });
  }

  /** Shows an instant. */
  show(time: number): void {
    this.run.frameAt(time, this.frame);
    this.painter.states.update(this.frame);
    this.paint();
  }

  emphasise(emphasis: Emphasis): void {
    this.emphasis = emphasis;
    this.paint();
  }

  /** Where everything is on the screen, after sigma drew it. */
  private place(): void {
    const { sigma } = this;
    if (!sigma) return;
    this.painter.places = this.scene.items.map((item) => sigma.graphToViewport(item));
    this.painter.sizes = this.scene.items.map((_, i) =>
      sigma.scaleSize(sigma.getNodeDisplayData(i)?.size ?? 3),
    );
    this.paint();
  }

  private paint(): void {
    if (!this.lanes || this.painter.places.length === 0) return;
    const { context } = prepare(this.lanes);
    this.painter.paint(context, this.palette, this.emphasis);
  }

  private clickItem(i: number): void {
    const item = this.scene.items[i];
    if (!item) return;
    if (isFolded(item)) this.events.open(item.key);
    else this.events.pickNode(item.nodes[0] as number);
  }

  private lineAt(at: Point): number | null {
    return nearestLine(this.scene, this.painter.places, at, 9);
  }

  /** The port to pick for a line: the one that says most, or its first. */
  private portOf(line: number): number {
    const { states } = this.painter;
    const active = states.state[line] || states.queue[line];
    return active ? (states.port[line] as number) : (this.scene.lines[line]?.ports[0] ?? 0);
  }

  private clickStage(at: Point): void {
    const line = this.lineAt(at);
    if (line === null) this.events.clear();
    else this.events.pickLink(this.portOf(line));
  }

  private hover(at: Point): void {
    const line = this.lineAt(at);
    this.container.classList.toggle("pointing", line !== null);
    if (line === null) {
      this.events.hint([], at);
      return;
    }
    const lines = this.events.describe(this.portOf(line), this.frame);
    const ports = this.scene.lines[line]?.ports.length ?? 1;
    if (ports > 1) lines.push(`the busiest of ${ports} links drawn as one`);
    this.events.hint(lines, this.onPage(at));
  }

  private hoverItem(i: number, at: Point): void {
    const item = this.scene.items[i];
    if (!item) return;
    this.container.classList.add("pointing");
    const what = isFolded(item) ? "click to open" : "click to select";
    this.events.hint([describeItem(this.network, item), what], this.onPage(at));
  }

  private onPage(at: Point): Point {
    const box = this.container.getBoundingClientRect();
    return { x: box.left + at.x, y: box.top + at.y };
  }

  /** The middle of a link on the page, for tests that click on it. */
  whereIs(port: number): Point | null {
    const line = this.scene.lines[this.scene.lineOf[port] ?? -1];
    const [a, b] = [this.painter.places[line?.from ?? -1], this.painter.places[line?.to ?? -1]];
    if (!a || !b) return null;
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    const [nx, ny] = [-(b.y - a.y) / length, (b.x - a.x) / length];
    return this.onPage({ x: (a.x + b.x) / 2 + nx * 3.2, y: (a.y + b.y) / 2 + ny * 3.2 });
  }

  kill(): void {
    this.sigma?.kill();
    this.container.replaceChildren();
  }
}

function width(items: Item[]): number {
  const xs = items.map((item) => item.x);
  return xs.reduce((a, b) => Math.max(a, b), 0) - xs.reduce((a, b) => Math.min(a, b), 0);
}

/** Half the side or the radius of an item, in pixels, where a column is `unit` pixels wide. */
function sizeOf(item: Item, unit: number): number {
  const room = (most: number, least: number, share: number) =>
    Math.max(least, Math.min(most, unit * share));
  switch (item.kind) {
    case "host":
      return room(5, 1.6, 0.25);
    case "switch":
      return room(11, 3, 0.4);
    case "hosts":
      return room(8, 2.5, 0.35);
    default:
      return room(16, 4, 0.7);
  }
}
