// The keyboard. The same table makes the help.

import { byId, h } from "./dom";
import type { Explorer } from "./explorer";
import { zoomed } from "./axis";

type Action = (explorer: Explorer) => void;

const KEYS: [string[], string, Action][] = [
  [[" "], "play or pause", (e) => e.play()],
  [["."], "next event", (e) => e.step(true)],
  [[","], "previous event", (e) => e.step(false)],
  [["ArrowRight"], "a little later", (e) => e.seekBy(0.005)],
  [["ArrowLeft"], "a little earlier", (e) => e.seekBy(-0.005)],
  [["PageDown"], "a tenth of the axis later", (e) => e.seekBy(0.1)],
  [["PageUp"], "a tenth of the axis earlier", (e) => e.seekBy(-0.1)],
  [["Home"], "begin of the run", (e) => e.store.set({ time: 0, playing: false })],
  [["End"], "end of the run", (e) => e.store.set({ time: e.end, playing: false })],
  [["z"], "zoom the time axis in around the cursor", (e) => zoomAxis(e, 2)],
  [["x"], "zoom the time axis out", (e) => zoomAxis(e, 0.5)],
  [["w"], "whole run", (e) => e.store.set({ range: [0, e.end] })],
  [["+", "="], "zoom the map in", (e) => e.zoomMaps(1.5)],
  [["-"], "zoom the map out", (e) => e.zoomMaps(1 / 1.5)],
  [["0"], "show the whole map", (e) => e.zoomMaps(0)],
  [["f"], "fold all pods", (e) => e.foldAll()],
  [
    ["m"],
    "sort the matrix by tier or by first pause",
    (e) => e.store.set({ sort: e.state.sort === "tier" ? "first" : "tier" }),
  ],
  [["r"], "a row of the matrix per link, or all links at once", (e) => e.toggleRows()],
  [["s"], "exchange the two schemes", (e) => e.swap()],
  [["/"], "find a node, a flow (F7) or a link (Sb>Sc)", () => byId("search").focus()],
  [["d"], "light or dark", (e) => e.toggleTheme()],
  [["Escape"], "clear the selection", (e) => e.select(null)],
  [["?"], "this help", () => byId<HTMLDialogElement>("help").showModal()],
];

/** On the matrix: to the next or previous row, or (0) to the pause of this row at the cursor. */
const MATRIX_KEYS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Enter: 0 };

const NAMES: Record<string, string> = { " ": "space", ArrowRight: "→", ArrowLeft: "←" };

function zoomAxis(explorer: Explorer, factor: number): void {
  const { range, time } = explorer.state;
  explorer.store.set({ range: zoomed(range, time, factor, explorer.end) });
}

export function bindKeys(explorer: Explorer): void {
  const table = byId("keys");
  for (const [keys, text] of KEYS) {
    table.append(
      h(
        "tr",
        {},
        h("td", {}, h("kbd", {}, NAMES[keys[0] as string] ?? (keys[0] as string))),
        h("td", {}, text),
      ),
    );
  }
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && target.matches("button")) return;
    if (target.matches(".sky") && event.key.startsWith("Arrow")) {
      const by: Record<string, [number, number]> = {
        ArrowLeft: [-0.05, 0],
        ArrowRight: [0.05, 0],
        ArrowUp: [0, 0.05],
        ArrowDown: [0, -0.05],
      };
      explorer.panMaps(...(by[event.key] as [number, number]));
      event.preventDefault();
      return;
    }
    if (target.matches(".matrix") && MATRIX_KEYS[event.key] !== undefined) {
      explorer.moveRow(MATRIX_KEYS[event.key] as number);
      event.preventDefault();
      return;
    }
    const found = KEYS.find(([keys]) => keys.includes(event.key));
    if (!found || (byId<HTMLDialogElement>("help").open && event.key !== "?")) return;
    event.preventDefault();
    found[2](explorer);
  });
}
