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
const VERSION = 1;

/** Reads a whole file. */
export async function open(file: Uint8Array): Promise<Recording> {
  const magic = String.fromCharCode(...file.subarray(0, MAGIC.length));
  if (file.length < 8 || magic !== MAGIC) {
    throw new FormatError("this is not a recording of Weir: it does not begin with WEIRTL");
  }
  const version = (file[6] as number) | ((file[7] as number) << 8);
  if (version !== VERSION) {
    throw new FormatError(
      `the recording has version ${version}, this page reads version ${VERSION}: open it with the weir that wrote it`,
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
