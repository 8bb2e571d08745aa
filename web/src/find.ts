// Finding things by their names.

import type { Run } from "./model";
import type { Selection } from "./state";

/** "F7" or "f3.0" is a flow, "Sb>Sc" a link, "P_d" a port with a name of its own, "Sc" a node. */
export function find(run: Run, text: string): Selection | null {
  const wanted = text.trim().toLowerCase();
  const number = /^f(?:low)?\s*(\d+)$/.exec(wanted)?.[1];
  const flow = number || /^f\d+\.\d+$/.test(wanted) ? run.flowOf(number ?? wanted) : null;
  if (flow !== null) return { kind: "flow", id: flow };
  const { nodes, ports } = run.header;
  const named = (name: string) => nodes.findIndex((node) => node.name.toLowerCase() === name);
  const ends = wanted.split(/\s*(?:->|>|→)\s*/).map(named);
  if (ends.length === 2) {
    const port = ports.findIndex((p, i) => p.node === ends[0] && run.peerOf(i) === ends[1]);
    return port >= 0 ? { kind: "link", id: port } : null;
  }
  if ((ends[0] as number) >= 0) return { kind: "node", id: ends[0] as number };
  const alias = ports.findIndex(
    (_, i) => run.portName(i).split(" of ")[0]?.toLowerCase() === wanted,
  );
  return alias >= 0 ? { kind: "link", id: alias } : null;
}
