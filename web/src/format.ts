// Reads `timeline.weir`: eight bytes of magic and version, then one gzip stream that holds the
// header as JSON and the columns of each section back to back. What the page does not know (a
// section, a column of a later version) is skipped, and what is missing reads as empty.

export interface NodeInfo {
  name: string;
  role: "switch" | "host";
  tier: number;
  x: number;
  y: number;
  group: string | null;
}

/** A port; its transmit side is the directed link from `node` to the node of `peer`. */
export interface PortInfo {
  node: number;
  port: number;
  peer: number;
  rate_bps: number;
  delay_ps: number;
  name?: string | null;
}

export interface Header {
  format: number;
  weir: string;
  scenario: string;
  title: string;
  scheme: string;
  label: string;
  seed: number;
  end_ps: number;
  window_ps: number;
  outcome: string;
  nodes: NodeInfo[];
  ports: PortInfo[];
  classes: string[];
  reasons: string[];
  parts: string[];
  counters: Record<string, number>;
  left_out: Record<string, number>;
  decimated: { asked_window_ps: number } | null;
  /** Interval at which the section `polls` reads counters. */
  poll_ps?: number;
  drop_reasons?: string[];
  /** What a slice of a recording was cut to. */
  slice?: { from_ps?: number; to_ps?: number; ports?: (string | number)[] } | null;
  sections: SectionInfo[];
}

interface ColumnInfo {
  name: string;
  type: string;
  bytes: number;
}

interface SectionInfo {
  name: string;
  rows: number;
  columns: ColumnInfo[];
}

export type Column = Float64Array | Float32Array | Uint32Array | Uint8Array;

export interface Section {
  rows: number;
  columns: Map<string, Column>;
}

export interface Recording {
  header: Header;
  sections: Map<string, Section>;
  /** Size of the file and of what it unpacks to, in bytes. */
  packed: number;
  unpacked: number;
}

/** A recording that cannot be read, with the reason in words for the reader. */
export class FormatError extends Error {}

const MAGIC = "WEIRTL";
/** What is read: in version 1, rows of `samples` stand by window instead of by port. */
const VERSIONS = [1, 2];

/** Reads a whole file. */
export async function open(file: Uint8Array): Promise<Recording> {
  const magic = String.fromCharCode(...file.subarray(0, MAGIC.length));
  if (file.length < 8 || magic !== MAGIC) {
    throw new FormatError("this is not a recording of Weir: it does not begin with WEIRTL");
  }
  const version = (file[6] as number) | ((file[7] as number) << 8);
  if (!VERSIONS.includes(version)) {
    throw new FormatError(
      `the recording has version ${version}, this page reads ${VERSIONS.join(" and ")}: open it with the weir that wrote it`,
    );
  }
  const body = await gunzip(file.subarray(8));
  return decode(body, file.length);
}

async function gunzip(packed: Uint8Array): Promise<Uint8Array> {
  const source = new Blob([packed as Uint8Array<ArrayBuffer>]).stream();
  const stream = source.pipeThrough(new DecompressionStream("gzip"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new FormatError("the recording is damaged or cut short: its gzip stream does not end");
  }
}

/** Reads the unpacked body. */
export function decode(body: Uint8Array, packed: number): Recording {
  if (body.length < 4) throw new FormatError("the recording has no header");
  const length = new DataView(body.buffer, body.byteOffset, 4).getUint32(0, true);
  if (4 + length > body.length) throw new FormatError("the header of the recording is cut short");
  const header = parseHeader(new TextDecoder().decode(body.subarray(4, 4 + length)));
  const sections = new Map<string, Section>();
  let at = 4 + length;
  for (const info of header.sections) {
    const columns = new Map<string, Column>();
    for (const column of info.columns) {
      const end = at + column.bytes;
      if (!(column.bytes >= 0) || end > body.length) {
        throw new FormatError(`section ${info.name}, column ${column.name}: the file ends early`);
      }
      columns.set(column.name, readColumn(info, column, body.subarray(at, end)));
      at = end;
    }
    sections.set(info.name, { rows: info.rows, columns });
  }
  return { header, sections, packed, unpacked: body.length };
}

function parseHeader(text: string): Header {
  let header: Header;
  try {
    header = JSON.parse(text) as Header;
  } catch {
    throw new FormatError("the header of the recording is not JSON");
  }
  for (const key of ["nodes", "ports", "sections"] as const) {
    if (!Array.isArray(header[key])) throw new FormatError(`the header has no list \`${key}\``);
  }
  for (const key of ["end_ps", "window_ps"] as const) {
    if (!(header[key] >= 0)) throw new FormatError(`the header has no number \`${key}\``);
  }
  const nodes = header.nodes.length;
  const ports = header.ports.length;
  for (const [i, port] of header.ports.entries()) {
    if (!(port.node >= 0 && port.node < nodes && port.peer >= 0 && port.peer < ports)) {
      throw new FormatError(`port ${i} leads to a node or port that does not exist`);
    }
  }
  return header;
}

function readColumn(section: SectionInfo, column: ColumnInfo, bytes: Uint8Array): Column {
  const { rows } = section;
  const fixed = (size: number) => {
    if (bytes.length !== rows * size) {
      throw new FormatError(
        `section ${section.name}, column ${column.name}: ${bytes.length} bytes for ${rows} rows`,
      );
    }
    return bytes.slice().buffer;
  };
  switch (column.type) {
    case "u8":
      return new Uint8Array(fixed(1));
    case "u32":
      return new Uint32Array(fixed(4));
    case "f32":
      return new Float32Array(fixed(4));
    case "varint":
      return readVarints(section, column, bytes, false);
    case "delta":
      return readVarints(section, column, bytes, true);
    case "runs":
    case "sparse":
      return readPairs(section, column, bytes);
    default:
      throw new FormatError(`section ${section.name}: a column of unknown type ${column.type}`);
  }
}

/**
 * Unsigned LEB128 numbers, or with `delta` the running sum of zigzag differences. Values stay
 * below 2^53 (150 minutes in ps), so a double holds them exactly; most columns need 32 bits only.
 */
function readVarints(
  section: SectionInfo,
  column: ColumnInfo,
  bytes: Uint8Array,
  delta: boolean,
): Column {
  const small = readSmall(section.rows, bytes, delta);
  if (small) return small;
  const values = new Float64Array(section.rows);
  let at = 0;
  let sum = 0;
  for (let row = 0; row < values.length; row++) {
    let byte = bytes[at++] ?? 0x100;
    let value = byte & 0x7f;
    let scale = 128;
    while (byte & 0x80) {
      byte = bytes[at++] ?? 0x100;
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    if (byte === 0x100) {
      throw new FormatError(`section ${section.name}, column ${column.name}: too few values`);
    }
    if (delta) {
      sum += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      value = sum;
    }
    values[row] = value;
  }
  return values;
}

/**
 * The same where no number has more than 28 bits: half the memory, and a third of the time. Null
 * at the first that has more, and where the bytes end early.
 */
function readSmall(rows: number, bytes: Uint8Array, delta: boolean): Uint32Array | null {
  const values = new Uint32Array(rows);
  const end = bytes.length;
  let at = 0;
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    if (at >= end) return null;
    let byte = bytes[at++] as number;
    let value = byte & 0x7f;
    for (let shift = 7; byte & 0x80; shift += 7) {
      if (shift > 21 || at >= end) return null;
      byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
    }
    if (delta) {
      sum += (value >>> 1) ^ -(value & 1);
      if (sum < 0 || sum > 0xffffffff) return null;
      value = sum;
    }
    values[row] = value;
  }
  return values;
}

/**
 * Pairs of numbers. In `runs` the first says how often the second, a zigzag difference to the row
 * before, is taken; in `sparse` it says how many zeros come before the second, and rows after the
 * last pair are zero.
 */
function readPairs(section: SectionInfo, column: ColumnInfo, bytes: Uint8Array): Column {
  const { rows } = section;
  let values: Uint32Array | Float64Array = new Uint32Array(rows);
  let at = 0;
  const next = () => {
    let byte = bytes[at++] ?? 0x100;
    let value = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = bytes[at++] ?? 0x100;
      value += (byte & 0x7f) * scale;
    }
    return byte === 0x100 ? Number.NaN : value;
  };
  let row = 0;
  const put = (value: number) => {
    if (value > 0xffffffff && values instanceof Uint32Array) values = Float64Array.from(values);
    values[row++] = value;
  };
  const runs = column.type === "runs";
  let sum = 0;
  while (at < bytes.length) {
    const [count, value] = [next(), next()];
    const end = row + (runs ? count : count + 1);
    // the last number of a damaged column is NaN
    if (!(end <= rows) || Number.isNaN(value)) {
      throw new FormatError(`section ${section.name}, column ${column.name}: not ${rows} values`);
    }
    if (runs) {
      const step = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      while (row < end) {
        sum += step;
        put(sum);
      }
    } else {
      row += count;
      put(value);
    }
  }
  if (runs && row < rows) {
    throw new FormatError(`section ${section.name}, column ${column.name}: too few values`);
  }
  return values;
}

/** The order in which `key` does not fall; rows with the same key stay in theirs. */
export function orderBy(key: Column): Uint32Array {
  const rows = key.length;
  let most = 0;
  for (let row = 0; row < rows; row++) most = Math.max(most, key[row] as number);
  const order = Uint32Array.from(key, (_, row) => row);
  // few rows over a long time: counting would take more memory than there are rows
  if (most > 4 * rows + 1000) {
    return order.sort((a, b) => (key[a] as number) - (key[b] as number) || a - b);
  }
  const next = new Uint32Array(most + 2);
  for (let row = 0; row < rows; row++) {
    const after = (key[row] as number) + 1;
    next[after] = (next[after] as number) + 1;
  }
  for (let k = 1; k < next.length; k++) {
    next[k] = (next[k] as number) + (next[k - 1] as number);
  }
  for (let row = 0; row < rows; row++) {
    const k = key[row] as number;
    const at = next[k] as number;
    order[at] = row;
    next[k] = at + 1;
  }
  return order;
}

/** The values of a column in another order. */
export function inOrder(column: Column, order: Uint32Array): Column {
  const values = column.slice();
  for (let row = 0; row < order.length; row++) {
    values[row] = column[order[row] as number] as number;
  }
  return values;
}
