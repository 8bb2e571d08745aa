// Buttons, lists and pointers: what a reader does to the page, passed to the explorer.

import { type Axis, scrubOn, zoomOn } from "./axis";
import { byId, h } from "./dom";
import type { Explorer } from "./explorer";
import { bindKeys } from "./keys";
import type { Manifest } from "./load";
import type { Run } from "./model";
import type { State } from "./state";
import { duration, parseTime } from "./units";

const POLLS = ["200ms", "10ms", "1ms", "100us", "10us"];
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** More names than this make the list of suggestions useless. */
const MOST_NAMES = 3000;

/** 1, 2 or 5 of a power of ten so that a run takes about 20 seconds. */
export function niceSpeed(end: number): number {
  const rough = end / 20;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].findLast((m) => m * power <= rough) ?? 1) * power;
}

/** Title and lists for a set of runs. */
export function fillControls({ runs, title }: Manifest, run: Run, end: number): void {
  const { header } = run;
  const names = [title || header.scenario, header.title];
  byId("title").textContent = [...new Set(names.filter(Boolean))].join(" · ");
  document.title = `${title || header.scenario} · Weir explorer`;
  const options = runs.map((info, i) => h("option", { value: i }, info.label));
  byId("run").replaceChildren(...options);
  const others = runs.map((info, i) => h("option", { value: i }, info.label));
  byId("beside").replaceChildren(h("option", { value: "" }, "–"), ...others);
  byId("beside").parentElement?.toggleAttribute("hidden", runs.length < 2);
  const speeds = SPEEDS.map((share) => share * niceSpeed(end));
  const speed = (ps: number) => h("option", { value: ps }, `${duration(ps)}/s`);
  byId("speed").replaceChildren(...speeds.map(speed));
  // the usual intervals, and the one that was asked for
  const known = POLLS.map((text) => parseTime(text) ?? 0);
  const asked = header.poll_ps && !known.includes(header.poll_ps) ? [header.poll_ps] : [];
  const polls = [...known, ...asked].sort((a, b) => b - a);
  byId("poll").replaceChildren(...polls.map((ps) => h("option", { value: ps }, duration(ps, 1))));
  const nodes = header.nodes.slice(0, MOST_NAMES);
  byId("names").replaceChildren(...nodes.map((node) => h("option", { value: node.name })));
}

export function bindControls(explorer: Explorer, axis: Axis): void {
  const { store } = explorer;
  const end = () => explorer.end;
  const click = (id: string, act: () => void) => byId(id).addEventListener("click", act);
  const change = (id: string, act: (value: string) => void) =>
    byId(id).addEventListener("change", () => act(byId<HTMLSelectElement>(id).value));
  change("run", (value) => void explorer.show(Number(value), explorer.state.beside));
  change("beside", (value) => {
    void explorer.show(explorer.state.run, value === "" ? null : Number(value));
  });
  change("speed", (value) => store.set({ speed: Number(value) }));
  change("sort", (value) => store.set({ sort: value as State["sort"] }));
  change("poll", (value) => store.set({ poll: Number(value) }));
  change("search", (value) => explorer.find(value));
  click("play", () => explorer.play());
  click("next", () => explorer.step(true));
  click("previous", () => explorer.step(false));
  click("whole", () => store.set({ range: [0, explorer.end] }));
  click("theme", () => explorer.toggleTheme());
  click("zoom-in", () => explorer.zoomMaps(1.6));
  click("zoom-out", () => explorer.zoomMaps(1 / 1.6));
  click("zoom-fit", () => explorer.zoomMaps(0));
  click("fold", () => explorer.foldAll());
  click("help-button", () => byId<HTMLDialogElement>("help").showModal());
  click("help-close", () => byId<HTMLDialogElement>("help").close());
  scrubOn(byId("strip"), axis, store, end);
  zoomOn(byId("strip"), axis, store, end, true);
  for (const index of [0, 1]) {
    const canvas = byId<HTMLCanvasElement>(`matrix-${index}`);
    zoomOn(canvas, axis, store, end, false);
    canvas.addEventListener("wheel", (event) => {
      const sideways = event.ctrlKey || event.shiftKey;
      if (!sideways && explorer.scrollMatrix(index, event.deltaY)) event.preventDefault();
    });
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      explorer.pickCell(index, event.clientX - box.left, event.clientY - box.top);
    });
  }
  const watcher = new ResizeObserver(() => explorer.resized());
  for (const id of ["maps", "tracks"]) watcher.observe(byId(id));
  window.addEventListener("hashchange", () => explorer.readHash());
  bindKeys(explorer);
}
