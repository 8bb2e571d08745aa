// The time axis that strip, matrix, counters and curves share: time from left to right, after a
// gutter for names.

import type { Store } from "./state";

export class Axis {
  from = 0;
  to = 1;
  gutter = 132;
  width = 100;

  x(time: number): number {
    return this.gutter + ((time - this.from) / (this.to - this.from)) * (this.width - this.gutter);
  }

  time(x: number): number {
    return this.from + ((x - this.gutter) / (this.width - this.gutter)) * (this.to - this.from);
  }

  get columns(): number {
    return Math.max(1, Math.floor(this.width - this.gutter));
  }
}

/** Round instants for about `wanted` labels. */
export function ticks(from: number, to: number, wanted: number): number[] {
  const rough = (to - from) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const list: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
  return list;
}

/** The axis after zooming by `factor` around an instant, inside the whole run. */
export function zoomed(
  range: [number, number],
  at: number,
  factor: number,
  end: number,
): [number, number] {
  const span = Math.min(end, Math.max(1000, (range[1] - range[0]) / factor));
  const share = (at - range[0]) / (range[1] - range[0]);
  return shifted([at - span * share, at - span * share + span], 0, end);
}

/** The axis moved by some time, inside the whole run. */
export function shifted(range: [number, number], by: number, end: number): [number, number] {
  const span = range[1] - range[0];
  const from = Math.min(Math.max(0, range[0] + by), Math.max(0, end - span));
  return [from, from + span];
}

/** Dragging on an element moves the cursor; the wheel zooms the axis around the pointer. */
export function scrubOn(element: HTMLElement, axis: Axis, store: Store, end: () => number): void {
  let dragging = false;
  const seek = (event: PointerEvent) => {
    const x = event.clientX - element.getBoundingClientRect().left;
    const time = Math.min(end(), Math.max(0, axis.time(Math.max(axis.gutter, x))));
    store.set({ time: Math.round(time), playing: false });
  };
  element.addEventListener("pointerdown", (event) => {
    dragging = true;
    element.setPointerCapture(event.pointerId);
    seek(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (dragging) seek(event);
  });
  element.addEventListener("pointerup", () => {
    dragging = false;
  });
  element.addEventListener("pointercancel", () => {
    dragging = false;
  });
}

export function zoomOn(
  element: HTMLElement,
  axis: Axis,
  store: Store,
  end: () => number,
  plain: boolean,
): void {
  element.addEventListener(
    "wheel",
    (event) => {
      if (
        !plain &&
        !event.ctrlKey &&
        !event.shiftKey &&
        Math.abs(event.deltaX) < Math.abs(event.deltaY)
      )
        return;
      event.preventDefault();
      const { range } = store.state;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (sideways) {
        const by = ((event.deltaX || event.deltaY) / axis.columns) * (range[1] - range[0]);
        store.set({ range: shifted(range, by, end()) });
      } else {
        const x = event.clientX - element.getBoundingClientRect().left;
        store.set({
          range: zoomed(
            range,
            axis.time(Math.max(axis.gutter, x)),
            Math.exp(-event.deltaY / 300),
            end(),
          ),
        });
      }
    },
    { passive: false },
  );
  element.addEventListener("dblclick", () => store.set({ range: [0, end()] }));
}
