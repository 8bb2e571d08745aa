// The pieces that all panels are made of.

import { h } from "./dom";
import type { Run } from "./model";
import type { Selection } from "./state";
import { bytes, count, duration } from "./units";

export interface PanelContext {
  run: Run;
  beside: Run | null;
  time: number;
  select(selection: Selection | null, time?: number): void;
}

/** Lists stop here and say how many more there are. */
export const MOST_ROWS = 12;

/** Nothing, where a panel may have something. */
export function nothing(): Node {
  return document.createTextNode("");
}

export function link(text: string, act: () => void, title = ""): HTMLElement {
  return h("button", { class: "link", type: "button", title, click: act }, text);
}

export function more(shown: number, all: number, what: string): HTMLElement | null {
  return all > shown
    ? h("p", { class: "soft" }, `and ${count(all - shown, what)} more, not listed`)
    : null;
}

export function facts(...rows: ([string, string | Node] | null)[]): HTMLElement {
  const list = h("dl", {});
  for (const row of rows) if (row) list.append(h("dt", {}, row[0]), h("dd", {}, row[1]));
  return list;
}

export function flowLink(context: PanelContext, flow: number): HTMLElement {
  return link(context.run.flowName(flow), () => context.select({ kind: "flow", id: flow }));
}

export function portLink(context: PanelContext, port: number): HTMLElement {
  return link(context.run.portName(port), () => context.select({ kind: "link", id: port }));
}

export function heading(context: PanelContext, text: string, kind: string): HTMLElement {
  const back = link("✕", () => context.select(null), "Back to the lists (Esc)");
  back.setAttribute("aria-label", "clear the selection");
  return h("header", {}, h("span", { class: "kind" }, kind), h("h2", {}, text), back);
}

export function flowTable(context: PanelContext, flows: ArrayLike<number>): HTMLElement {
  const { run } = context;
  const table = h("table", {});
  for (const flow of Array.from(flows).slice(0, MOST_ROWS)) {
    const fct = run.fct(flow);
    table.append(
      h(
        "tr",
        {},
        h("td", {}, flowLink(context, flow)),
        h("td", { class: "number" }, bytes(run.flows.size[flow] as number)),
        h("td", { class: "number" }, fct === null ? "not finished" : duration(fct)),
      ),
    );
  }
  const rest = more(MOST_ROWS, flows.length, "flow");
  return h("div", {}, table, rest);
}
