// Where the data comes from: blocks of an exported page, or files beside a served one.

import { FormatError, open } from "./format";
import { Run } from "./model";

export interface RunInfo {
  label: string;
  scheme: string;
  file: string;
  live: boolean;
}

export interface Manifest {
  title: string;
  runs: RunInfo[];
  /** More runs will appear. */
  live?: boolean;
  /** How much of a live experiment is done, from 0 to 1. */
  done?: number;
}

/** Whether to ask again. */
export function isLive(manifest: Manifest): boolean {
  return manifest.live === true || manifest.runs.some((run) => run.live);
}

/** A block of an exported page, or null. */
function block(id: string): Uint8Array<ArrayBuffer> | null {
  const element = document.getElementById(id);
  if (!(element instanceof HTMLScriptElement)) return null;
  const text = atob((element.textContent ?? "").replace(/\s+/g, ""));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function fetched(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(file, { cache: "no-store" });
  if (!answer.ok) throw new FormatError(`the server answered ${answer.status} for ${file}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export async function loadManifest(): Promise<Manifest> {
  const bytes = block("manifest") ?? (await fetched("manifest.json"));
  const manifest = JSON.parse(new TextDecoder().decode(bytes)) as Manifest;
  if (!Array.isArray(manifest.runs) || (manifest.runs.length === 0 && !manifest.live)) {
    throw new FormatError(
      "there is no recording here: record one with `weir run SCENARIO --out DIR --record`",
    );
  }
  return manifest;
}

export async function loadRun(manifest: Manifest, index: number): Promise<Run> {
  const info = manifest.runs[index] as RunInfo;
  const bytes = block(`run-${index}`) ?? (await fetched(info.file));
  return new Run(await open(bytes), info.label);
}
