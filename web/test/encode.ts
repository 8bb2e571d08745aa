// Writes recordings: the inverse of src/format.ts, for tests.

import { gzipSync } from "node:zlib";
import type { Header } from "../src/format";

export type ColumnType = "u8" | "u32" | "f32" | "varint" | "delta" | "runs" | "sparse";

export interface Table {
  name: string;
  columns: [string, ColumnType][];
  rows: number[][];
}

function varint(out: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

function column(type: ColumnType, values: number[]): Uint8Array {
  if (type === "u8") return Uint8Array.from(values);
  if (type === "u32") return new Uint8Array(Uint32Array.from(values).buffer);
  if (type === "f32") return new Uint8Array(Float32Array.from(values).buffer);
  const out: number[] = [];
  const zigzag = (step: number) => (step >= 0 ? 2 * step : -2 * step - 1);
  const steps = values.map((value, i) => value - (values[i - 1] ?? 0));
  if (type === "varint") for (const value of values) varint(out, value);
  if (type === "delta") for (const step of steps) varint(out, zigzag(step));
  if (type === "runs") {
    for (let i = 0, from = 0; i < steps.length; i++) {
      if (steps[i + 1] === steps[i]) continue;
      varint(out, i + 1 - from);
      varint(out, zigzag(steps[i] as number));
      from = i + 1;
    }
  }
  if (type === "sparse") {
    for (let i = 0, from = 0; i < values.length; i++) {
      if (values[i] === 0) continue;
      varint(out, i - from);
      varint(out, values[i] as number);
      from = i + 1;
    }
  }
  return Uint8Array.from(out);
}

/** The unpacked body of a recording. */
export function body(header: Omit<Header, "sections">, tables: Table[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const sections = tables.map((table) => ({
    name: table.name,
    rows: table.rows.length,
    columns: table.columns.map(([name, type], i) => {
      const bytes = column(
        type,
        table.rows.map((row) => row[i] ?? 0),
      );
      parts.push(bytes);
      return { name, type, bytes: bytes.length };
    }),
  }));
  const text = new TextEncoder().encode(JSON.stringify({ ...header, sections }));
  const length = new Uint8Array(Uint32Array.of(text.length).buffer);
  return Buffer.concat([length, text, ...parts]);
}

/** A whole file. */
export function file(header: Omit<Header, "sections">, tables: Table[], version = 2): Uint8Array {
  const magic = Buffer.from([...Buffer.from("WEIRTL"), version, 0]);
  return Buffer.concat([magic, gzipSync(body(header, tables))]);
}
