// Numbers as people read them. Times are picoseconds everywhere in the page.

const STEPS: [number, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];

/** `digits` significant digits, without an exponent. */
function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, digits - before));
}

/** A duration with its unit: "21.3 µs". */
export function duration(ps: number, digits = 3): string {
  if (ps === 0) return "0";
  const [scale, unit] = STEPS.find(([s]) => Math.abs(ps) >= s) ?? [1, "ps"];
  return `${significant(ps / scale, digits)} ${unit}`;
}

/** An instant; all instants of one axis have the unit of `span` and resolve a ten-thousandth of it. */
export function instant(ps: number, span: number): string {
  const [scale, unit] = STEPS.find(([s]) => span >= s) ?? [1, "ps"];
  const decimals = Math.max(0, Math.min(6, 5 - Math.floor(Math.log10(span / scale) + 1)));
  return `${(ps / scale).toFixed(decimals)} ${unit}`;
}

/** An instant by itself: "18.342 µs". */
export function moment(ps: number): string {
  return duration(ps, 5);
}

/** Exactly, in picoseconds with groups of three: "1 961 204 800 ps". */
export function exact(ps: number): string {
  return `${grouped(ps)} ps`;
}

export function grouped(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Bytes, decimal as in the reports: "78.2 KB". */
export function bytes(n: number): string {
  for (const [scale, unit] of [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "KB"],
  ] as const) {
    if (n >= scale) return `${significant(n / scale, 3)} ${unit}`;
  }
  return `${Math.round(n)} B`;
}

export function rate(bps: number): string {
  for (const [scale, unit] of [
    [1e12, "Tb/s"],
    [1e9, "Gb/s"],
    [1e6, "Mb/s"],
  ] as const) {
    if (bps >= scale) return `${Number((bps / scale).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(bps)} b/s`;
}

export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${significant(share * 100, share >= 0.0995 ? 2 : 1)} %`;
}

/** "1 link", "2 links"; `many` where adding an s is wrong. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** Reads "12.5us", "1.204 ms", "300" (ps); null if it is no time. */
export function parseTime(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(ps|ns|us|µs|μs|ms|s)?\s*$/.exec(text);
  if (!match) return null;
  const unit = (match[2] ?? "ps").replace(/[µμ]/, "u");
  const scales: Record<string, number> = { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 };
  return Math.round(Number(match[1]) * (scales[unit] as number));
}

/** The shortest exact form for an address: "12.5us". */
export function timeForAddress(ps: number): string {
  const whole = Math.round(ps);
  for (const [scale, unit] of [
    [1e9, "ms"],
    [1e6, "us"],
    [1e3, "ns"],
  ] as const) {
    if (whole >= scale) return `${whole / scale}${unit}`;
  }
  return `${whole}ps`;
}
