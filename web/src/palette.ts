// The colours of the reports (crates/plot/src/style.rs), as the CSS variables `--c0` … of app.css.
// Canvases read them from the document, so that the theme is decided in one place.

/** What a direction of a link is doing; a higher state wins where several ports share a line. */
export enum LinkState {
  Idle = 0,
  Busy = 1,
  Congested = 2,
  /** Some flows or queues are held, others pass; or the port may only send slower. */
  PartlyHeld = 3,
  /** The port, or one of its priorities, is held. */
  Paused = 4,
}

export const STATE_NAMES = ["idle", "busy", "congested", "partly held", "paused"] as const;

export interface Palette {
  fg: string;
  soft: string;
  grid: string;
  /** Links on which nothing happens. */
  wire: string;
  bg: string;
  panel: string;
  hot: string;
  /** By `LinkState`. */
  states: string[];
  /** By the number of a part of a completion time. */
  parts: string[];
  /** First and second scheme. */
  schemes: [string, string];
}

/** CSS variables of the states, by `LinkState`. */
export const STATE_VARIABLES = ["idle", "c7", "c6", "c1", "c1"] as const;

/**
 * CSS variable of each part by its name in the recording; held parts have the colours of pauses,
 * queued ones the shades between.
 */
export const PART_VARIABLES: Record<string, string> = {
  wire: "c7",
  source: "c0",
  control: "c2",
  recovery: "c8",
  own_queue: "c5",
  others_queue: "c4",
  held_own: "c3",
  held_others: "c1",
  host: "c6",
};

export const PART_NAMES: Record<string, string> = {
  wire: "alone on the wire",
  source: "sending its own earlier bytes",
  control: "waiting for its congestion control",
  recovery: "recovering from a loss",
  own_queue: "queued behind its own packets",
  others_queue: "queued behind other flows",
  held_own: "held for congestion on its own path",
  held_others: "held for congestion elsewhere (head-of-line)",
  host: "waiting for its turn at the host",
};

export function readPalette(parts: readonly string[]): Palette {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string) => style.getPropertyValue(`--${name}`).trim() || "#888";
  return {
    fg: get("fg"),
    soft: get("soft"),
    grid: get("grid"),
    wire: get("wire"),
    bg: get("bg"),
    panel: get("panel"),
    hot: get("hot"),
    states: STATE_VARIABLES.map(get),
    parts: parts.map((name) => get(PART_VARIABLES[name] ?? "c7")),
    schemes: [get("c0"), get("c5")],
  };
}
