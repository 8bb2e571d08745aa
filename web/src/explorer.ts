// The page as a whole: holds the runs and the state, and tells each view when to draw.

import { Axis } from "./axis";
import { moveRow, pickCell } from "./cells";
import { bindControls, fillControls, niceSpeed } from "./controls";
import { drawCounters } from "./counters";
import { byId, h } from "./dom";
import { find } from "./find";
import { chosenPort, curvePort, emphasisOf } from "./focus";
import { type Emphasis, NO_EMPHASIS, type Point } from "./lanes";
import { isLive, loadManifest, loadRun, type Manifest } from "./load";
import { MapView } from "./map";
import { Matrix } from "./matrix";
import type { Frame, Run } from "./model";
import { type Palette, readPalette } from "./palette";
import { drawPanel, leftOut } from "./panel";
import { Series, thresholdOf } from "./series";
import {
  type Address,
  type Change,
  type Selection,
  type State,
  Store,
  readAddress,
  writeAddress,
} from "./state";
import { peakTime } from "./story";
import { drawStrip } from "./strip";
import { describeLink, statusText } from "./text";
import { bytes, count, duration, instant, percent } from "./units";

export class Explorer {
  readonly store: Store;
  private readonly loaded = new Map<number, Run>();
  private readonly axis = new Axis();
  private readonly series: Series;
  private palette: Palette;
  private maps: MapView[] = [];
  private matrices: Matrix[] = [];
  private shown: [number, number | null] = [-1, null];
  private lastTick = 0;
  private lastAddress = 0;
  private lastStatus = 0;
  private written = "";

  constructor(
    private manifest: Manifest,
    private readonly fail: (error: unknown) => void,
  ) {
    this.store = new Store({
      time: 0,
      run: 0,
      beside: null,
      selection: null,
      range: [0, 1],
      playing: false,
      speed: 1e6,
      sort: "first",
      poll: 200e9,
      open: new Set(),
    });
    this.palette = readPalette([]);
    this.series = new Series(byId("series"));
  }

  get state(): State {
    return this.store.state;
  }

  get run(): Run {
    return this.loaded.get(this.state.run) as Run;
  }

  get beside(): Run | null {
    return this.state.beside === null ? null : (this.loaded.get(this.state.beside) ?? null);
  }

  /** The runs that are shown. */
  get runs(): Run[] {
    return [this.run, ...(this.beside ? [this.beside] : [])];
  }

  get end(): number {
    return Math.max(this.run.end, this.beside?.end ?? 0);
  }

  /** Loads what the address asks for and shows it. */
  async begin(): Promise<void> {
    const address = readAddress(location.hash);
    const named = (label?: string) =>
      this.manifest.runs.findIndex((run) => run.label === label || run.scheme === label);
    const run = Math.max(0, named(address.run));
    let beside: number | null = named(address.beside);
    if (beside < 0) beside = null;
    const fresh = location.hash.length < 2;
    if (fresh && this.manifest.runs.length === 2 && innerWidth >= 1000) beside = 1;
    await this.load(run);
    if (beside !== null && beside !== run) await this.load(beside);
    this.store.set({ run, beside: beside === run ? null : beside });
    const { end } = this;
    this.store.set({
      time: Math.min(end, address.time ?? (this.manifest.runs[run]?.live ? end : this.firstLook())),
      range: address.range ?? this.startRange(),
      selection: this.selectionOf(address),
      speed: niceSpeed(end),
      poll: this.run.header.poll_ps || 200e9,
    });
    this.palette = readPalette(this.run.header.parts);
    fillControls(this.manifest, this.run, this.end);
    bindControls(this, this.axis);
    this.rebuild();
    byId("loading").hidden = true;
    this.store.listen((state, changed) => this.update(state, changed));
    this.store.touch();
    if (isLive(this.manifest)) this.watch();
  }

  /** Where to begin: a deadlock, else when most links are held. */
  private firstLook(): number {
    return this.run.cycles[0]?.at ?? peakTime(this.run) ?? 0;
  }

  /** The whole run, or what a slice was cut to. */
  private startRange(): [number, number] {
    const { from_ps = 0, to_ps = this.end } = this.run.header.slice ?? {};
    return from_ps < to_ps ? [from_ps, Math.min(to_ps, this.end)] : [0, this.end];
  }

  private async load(index: number): Promise<void> {
    if (!this.loaded.has(index)) this.loaded.set(index, await loadRun(this.manifest, index));
  }

  /** A run that is going on is read again every second until it ends. */
  private watch(): void {
    setTimeout(() => {
      this.reload().catch((error) => this.say(`lost the server: ${error}`));
    }, 1000);
  }

  private async reload(): Promise<void> {
    const manifest = await loadManifest();
    const before = this.manifest;
    const ended = this.end;
    const going = [...this.loaded.keys()].filter((i) => before.runs[i]?.live);
    for (const i of going) this.loaded.set(i, await loadRun(manifest, i));
    this.manifest = manifest;
    if (manifest.runs.length !== before.runs.length) fillControls(manifest, this.run, this.end);
    if (going.length > 0) this.replaceRuns(ended);
    if (going.includes(this.state.run)) this.follow(ended);
    this.store.touch(going.length > 0 ? undefined : "poll");
    if (isLive(manifest)) this.watch();
  }

  /** A cursor at the end of what there was goes on with the run, and then to its worst moment. */
  private follow(ended: number): void {
    if (this.state.time < ended || this.state.playing) return;
    const live = this.manifest.runs[this.state.run]?.live;
    this.store.set({ time: live ? this.end : this.firstLook() });
  }

  /** Shows more of the same runs; an axis that showed everything still does. */
  private replaceRuns(ended: number): void {
    const { range } = this.state;
    if (range[1] >= ended) this.store.set({ range: [range[0], this.end] });
    const { runs } = this;
    for (const [i, map] of this.maps.entries()) {
      map.setRun(runs[i] as Run, Math.max(...runs.map((run) => run.maxQueue)));
    }
    this.makeMatrices();
  }

  /** Maps and matrices for the runs in front. */
  private rebuild(): void {
    const { run, beside } = this.state;
    if (this.shown[0] === run && this.shown[1] === beside) return;
    this.shown = [run, beside];
    for (const map of this.maps) map.kill();
    const runs = this.runs;
    const maxQueue = Math.max(...runs.map((r) => r.maxQueue));
    byId("map-1").hidden = runs.length < 2;
    byId("matrix-1").hidden = runs.length < 2;
    this.makeMatrices();
    this.measure();
    this.maps = runs.map((r, i) => {
      const container = byId(`map-${i}`).querySelector(".sky") as HTMLElement;
      const map = new MapView(container, r, this.palette, this.mapEvents(i), maxQueue);
      if (this.state.open.size > 0) map.setOpen(this.state.open);
      return map;
    });
    if (this.maps.length === 2) {
      this.maps[0]?.lead(this.maps[1] ?? null);
      this.maps[1]?.lead(this.maps[0] ?? null);
    }
  }

  /** A matrix per run, as high as its rows need and as there is room. */
  private makeMatrices(): void {
    const { runs } = this;
    const room = Math.min(300, Math.max(96, innerHeight * 0.26)) / runs.length;
    this.matrices = runs.map((run, i) => {
      const canvas = byId<HTMLCanvasElement>(`matrix-${i}`);
      const needed = Math.max(2, run.heldPorts.length) * 18 + 2;
      canvas.style.height = `${Math.round(Math.min(room, needed))}px`;
      return new Matrix(canvas, this.axis, run, this.state.sort);
    });
  }

  private measure(): void {
    this.axis.width = byId("strip").clientWidth;
    this.axis.gutter = this.axis.width < 700 ? 76 : 132;
  }

  private mapEvents(index: number) {
    return {
      pickNode: (id: number) => this.select({ kind: "node", id }),
      pickLink: (port: number) => this.pickLink(index, port),
      open: (key: string) => {
        this.store.set({ open: new Set([...this.state.open, key]) });
      },
      clear: () => this.select(null),
      hint: (lines: string[], at: Point) => this.hint(lines, at),
      describe: (port: number, frame: Frame) =>
        describeLink(this.runs[index] ?? this.run, port, frame, this.state.time),
    };
  }

  /** A link that is held means its pause; in the second map that scheme comes to the front. */
  private pickLink(index: number, port: number): void {
    const run = this.runs[index] ?? this.run;
    let standing: number | null = null;
    run.eachStanding(this.state.time, (pause) => {
      if (run.pauses.port[pause] === port && standing === null) standing = pause;
    });
    const selection: Selection =
      standing === null ? { kind: "link", id: port } : { kind: "pause", id: standing };
    if (index === 1 && selection.kind === "pause") this.swap(selection);
    else this.select(selection);
  }

  /** Exchanges the two schemes. */
  swap(selection: Selection | null = null): void {
    const { run, beside } = this.state;
    if (beside !== null) this.store.set({ run: beside, beside: run, selection });
  }

  select(selection: Selection | null, time?: number): void {
    const change: Change = { selection };
    if (time !== undefined) {
      change.time = time;
      change.playing = false;
      const [from, to] = this.state.range;
      if (time < from || time > to) change.range = [0, this.end];
    }
    this.store.set(change);
  }

  async show(run: number, beside: number | null): Promise<void> {
    try {
      await this.load(run);
      if (beside !== null) await this.load(beside);
      const selection = this.state.selection;
      const keep =
        selection && selection.kind !== "pause" && selection.kind !== "cycle" ? selection : null;
      this.store.set({
        run,
        beside: beside === run ? null : beside,
        selection: run === this.state.run ? selection : keep,
      });
    } catch (error) {
      this.fail(error);
    }
  }

  // --- controls -------------------------------------------------------------------------------

  /** True if there was something to scroll. */
  scrollMatrix(index: number, pixels: number): boolean {
    const moved = this.matrices[index]?.scrollBy(pixels) ?? false;
    if (moved) this.drawMatrices();
    return moved;
  }

  /** A click into a matrix. */
  pickCell(index: number, x: number, y: number): void {
    const matrix = this.matrices[index];
    if (matrix) pickCell(this, matrix, this.axis, index, x, y);
  }

  /** Up or down in the first matrix, or (0) to the pause of the row. */
  moveRow(by: number): void {
    moveRow(this, this.matrices[0]?.rows ?? [], by);
  }

  /** One row per link, or as many links per row as it takes to see all. */
  toggleRows(): void {
    for (const matrix of this.matrices) matrix.detailed = !matrix.detailed;
    this.store.touch();
  }

  find(text: string): void {
    const found = find(this.run, text);
    if (found) this.select(found);
    else if (text.trim() !== "") this.say(`nothing is called "${text.trim()}"`);
  }

  play(): void {
    const { playing, time, range } = this.state;
    const from = time >= Math.min(this.end, range[1]) ? range[0] : time;
    this.lastTick = performance.now();
    this.store.set({ playing: !playing, time: from });
  }

  /** To the next or previous instant at which something happens, in either scheme. */
  step(forward: boolean): void {
    const { time } = this.state;
    const options = this.runs.map((run) => run.eventFrom(time, forward)).filter((t) => t !== time);
    if (options.length === 0) return;
    const next = forward ? Math.min(...options) : Math.max(...options);
    const [from, to] = this.state.range;
    this.store.set({
      time: next,
      playing: false,
      ...(next < from || next > to ? { range: [0, this.end] } : {}),
    });
  }

  seekBy(share: number): void {
    const [from, to] = this.state.range;
    const time = Math.round(Math.min(this.end, Math.max(0, this.state.time + share * (to - from))));
    this.store.set({ time, playing: false });
  }

  foldAll(): void {
    this.store.set({ open: new Set() });
  }

  panMaps(dx: number, dy: number): void {
    this.maps[0]?.pan(dx, dy);
  }

  zoomMaps(factor: number): void {
    if (factor === 0) this.maps[0]?.fit();
    else this.maps[0]?.zoom(factor);
  }

  toggleTheme(): void {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("weir-theme", root.dataset.theme);
    } catch {
      // a page from a file may not store anything
    }
    this.palette = readPalette(this.run.header.parts);
    for (const map of this.maps) map.setPalette(this.palette);
    this.store.touch();
  }

  private hint(lines: string[], at: Point): void {
    const hint = byId("hint");
    hint.hidden = lines.length === 0;
    hint.textContent = lines.join("\n");
    hint.style.left = `${Math.min(at.x + 14, innerWidth - 260)}px`;
    hint.style.top = `${at.y + 14}px`;
  }

  private say(text: string): void {
    const status = byId("status");
    if (status.textContent !== text) status.textContent = text;
  }

  private size = "";

  resized(): void {
    const boxes = ["maps", "tracks"].map((id) => byId(id).getBoundingClientRect());
    const size = `${boxes.map((box) => `${box.width} ${box.height}`)} ${devicePixelRatio}`;
    if (size === this.size) return;
    this.size = size;
    this.measure();
    for (const map of this.maps) map.resize();
    this.store.touch();
  }

  // --- drawing --------------------------------------------------------------------------------

  private update(state: State, changed: ReadonlySet<keyof State>): void {
    if (changed.has("run") || changed.has("beside")) this.rebuild();
    if (changed.has("sort")) for (const matrix of this.matrices) matrix.setSort(state.sort);
    if (changed.has("open") && !changed.has("run"))
      for (const map of this.maps) map.setOpen(state.open);
    [this.axis.from, this.axis.to] = state.range;
    const other = ["run", "beside", "selection", "range", "sort", "poll", "open"].some((key) =>
      changed.has(key as keyof State),
    );
    const deadlocked = changed.has("time") && this.run.cycles.length > 0;
    if (other || deadlocked)
      for (const [i, map] of this.maps.entries()) map.emphasise(this.emphasis(i));
    for (const map of this.maps) map.show(state.time);
    if (other) this.drawSlow(changed);
    this.drawClock();
    if (state.playing && !this.ticking) {
      this.ticking = true;
      requestAnimationFrame((now) => this.tick(now));
    }
    this.writeHash();
  }

  private ticking = false;

  private tick(now: number): void {
    this.ticking = false;
    if (!this.state.playing) return;
    const passed = Math.min(100, now - this.lastTick) / 1000;
    this.lastTick = now;
    const last = Math.min(this.end, this.state.range[1]);
    const time = Math.min(last, this.state.time + passed * this.state.speed);
    this.store.set(time >= last ? { time, playing: false } : { time });
  }

  /** What does not change with the cursor. */
  private drawSlow(changed: ReadonlySet<keyof State>): void {
    const { state } = this;
    const { runs } = this;
    byId<HTMLSelectElement>("run").value = String(state.run);
    byId<HTMLSelectElement>("beside").value = state.beside === null ? "" : String(state.beside);
    byId<HTMLSelectElement>("speed").value = String(state.speed);
    byId<HTMLSelectElement>("sort").value = state.sort;
    byId<HTMLSelectElement>("poll").value = String(state.poll);
    const drawn = ["range", "run", "beside"].some((key) => changed.has(key as keyof State));
    if (drawn) drawStrip(byId("strip"), this.axis, runs, this.palette);
    if (changed.has("selection")) {
      const port = chosenPort(this.run, this.state.selection);
      if (port !== null) for (const matrix of this.matrices) matrix.reveal(port);
    }
    this.drawMatrices();
    if (drawn || changed.has("poll"))
      drawCounters(byId("counters"), this.axis, this.run, state.poll, this.palette);
    this.drawSeries(runs);
    this.drawBadges(runs);
    if (["run", "beside", "selection"].some((key) => changed.has(key as keyof State))) {
      this.drawDetails();
      if (changed.has("selection")) byId("panel").scrollTop = 0;
    }
    const missing = this.matrices[0]?.without ?? 0;
    const folded = this.maps[0]?.folded ?? 0;
    const parts = [`${count(missing, "direction")} never held, without a row`];
    const together = this.matrices[0]?.together ?? 1;
    if (together > 1) parts.push(`${together} links per row (r: one each)`);
    if (folded > 0) parts.push(`${count(folded, "node")} folded on the map`);
    const left = leftOut(this.run);
    if (left) parts.push(left);
    if (this.manifest.live) {
      parts.push(`still running: ${percent(this.manifest.done ?? 0)} of all runs done`);
    }
    byId("counts").textContent = parts.join(" · ");
    const marks: Record<string, boolean> = {
      root: this.runs.some((_, i) => this.emphasis(i).root !== null),
      cycle: this.runs.some((run) => run.cycles.length > 0),
    };
    for (const mark of document.querySelectorAll<HTMLElement>("[data-mark]"))
      mark.hidden = !marks[mark.dataset.mark ?? ""];
    byId("fold").hidden = (this.maps[0]?.opened.length ?? 0) === 0;
    this.lastStatus = 0;
  }

  private drawDetails(): void {
    const { run, beside } = this;
    const { time, selection } = this.state;
    const select = (chosen: Selection | null, at?: number) => this.select(chosen, at);
    byId("panel").replaceChildren(...drawPanel({ run, beside, time, select }, selection));
  }

  private drawBadges(runs: Run[]): void {
    for (const [i, run] of runs.entries()) {
      const badge = byId(`map-${i}`).querySelector(".badge") as HTMLElement;
      const live = this.manifest.runs[i === 0 ? this.state.run : (this.state.beside ?? 0)]?.live;
      const parts: Node[] = [
        document.createTextNode(run.label),
        h("small", {}, live ? "running …" : `${duration(run.end)}, ${run.header.outcome}`),
      ];
      const [cycle] = run.cycles;
      if (cycle) parts.push(h("span", { class: "alarm" }, `deadlock at ${duration(cycle.at)}`));
      badge.replaceChildren(...parts);
    }
  }

  private drawMatrices(): void {
    const links = this.emphasis(0).links;
    for (const matrix of this.matrices)
      matrix.draw(this.palette, chosenPort(this.run, this.state.selection), links);
  }

  private drawSeries(runs: Run[]): void {
    const port = curvePort(this.run, this.state.selection);
    byId("series-row").hidden = port === null;
    if (port === null) return;
    this.series.draw(this.axis, runs, port, this.palette);
    const threshold = thresholdOf(this.run, port);
    const names =
      runs.length > 1
        ? ` · ${runs.map((run, i) => `${i === 0 ? "──" : "- -"} ${run.label}`).join("  ")}`
        : "";
    byId("series-name").textContent =
      `queue at ${this.run.portName(port)}${threshold ? ` ·· pauses from ${bytes(threshold)}` : ""}${names}`;
  }

  private emphasis(index: number): Emphasis {
    const run = this.runs[index];
    return run ? emphasisOf(run, this.state.selection, this.state.time, index === 0) : NO_EMPHASIS;
  }

  private drawClock(): void {
    const { time, playing } = this.state;
    byId("clock").textContent = instant(time, this.end);
    const shape = playing ? "M3 2h3v10H3zM8 2h3v10H8z" : "M3 1.5v11L12 7z";
    byId("play").querySelector("path")?.setAttribute("d", shape);
    byId("play").setAttribute("aria-label", playing ? "pause" : "play");
    const x = this.axis.x(time);
    const cursor = byId("cursor");
    cursor.hidden = x < this.axis.gutter - 1 || x > this.axis.width + 1;
    cursor.style.transform = `translateX(${x}px)`;
    const strip = byId("strip");
    strip.setAttribute("aria-valuenow", String(Math.round(time / 1000)));
    strip.setAttribute("aria-valuetext", instant(time, this.end));
    const now = performance.now();
    if (now - this.lastStatus < 300) {
      clearTimeout(this.statusTimer);
      this.statusTimer = window.setTimeout(() => this.drawStatus(), 300);
    } else {
      this.drawStatus();
    }
  }

  private statusTimer = 0;

  private drawStatus(): void {
    this.lastStatus = performance.now();
    this.say(
      statusText(this.run, this.state.time, this.state.selection, this.maps[0]?.frame ?? null),
    );
  }

  // --- the address ----------------------------------------------------------------------------

  private addressTimer = 0;

  /** Browsers allow some hundred changes of the address per minute, so it follows with a delay. */
  private writeHash(): void {
    clearTimeout(this.addressTimer);
    const wait = Math.max(50, 400 - (performance.now() - this.lastAddress));
    this.addressTimer = window.setTimeout(() => {
      if (this.state.playing) return;
      this.lastAddress = performance.now();
      const { run, beside, selection, range, time } = this.state;
      const whole = range[0] <= 0 && range[1] >= this.end;
      const hash = writeAddress({
        time,
        run: this.manifest.runs[run]?.label,
        beside: beside === null ? undefined : this.manifest.runs[beside]?.label,
        selection: selection ?? undefined,
        flow: selection?.kind === "flow" ? this.run.flowId(selection.id) : undefined,
        range: whole ? undefined : range,
      });
      if (hash === location.hash) return;
      this.written = hash;
      history.replaceState(null, "", hash);
    }, wait);
  }

  private selectionOf(address: Address): Selection | null {
    const flow = address.flow === undefined ? null : this.run.flowOf(address.flow);
    return flow === null ? (address.selection ?? null) : { kind: "flow", id: flow };
  }

  readHash(): void {
    if (location.hash === this.written) return;
    const address = readAddress(location.hash);
    const named = (label?: string) =>
      this.manifest.runs.findIndex((run) => run.label === label || run.scheme === label);
    const run = named(address.run);
    const beside = named(address.beside);
    void this.show(run < 0 ? this.state.run : run, beside < 0 ? null : beside).then(() => {
      this.store.set({
        time: Math.min(this.end, address.time ?? this.state.time),
        selection: this.selectionOf(address),
        range: address.range ?? [0, this.end],
      });
    });
  }

  /** For tests: where the middle of a link is on the screen, and what it shows. */
  probe(name: string): { at: Point | null; state: number } {
    const found = find(this.run, name);
    if (found?.kind !== "link") return { at: null, state: -1 };
    const map = this.maps[0];
    return { at: map?.whereIs(found.id) ?? null, state: map?.frame.state[found.id] ?? 0 };
  }
}
