// What a selection means for the views: which links it emphasises, whose row and whose queue.

import { culpritQueue, treeOf, worstCulprits } from "./blame";
import { type Emphasis, NO_EMPHASIS, type Place, type Root } from "./lanes";
import type { Run } from "./model";
import type { Selection } from "./state";
import { mainRoot } from "./story";

/** The link that is selected, by itself or by its pause. */
export function chosenPort(run: Run, selection: Selection | null): number | null {
  if (selection?.kind === "link") return selection.id;
  if (selection?.kind === "pause") return run.pauses.port[selection.id] ?? null;
  return null;
}

/** The port whose queue is drawn over time: what the selection waits for, or the worst culprit. */
export function curvePort(run: Run, selection: Selection | null): number | null {
  switch (selection?.kind) {
    case "link":
      return selection.id < run.ports ? selection.id : null;
    case "pause":
      if (selection.id < run.pauses.rows) return treeOf(run, selection.id).port;
      break;
    case "flow": {
      if (selection.id >= run.flows.rows) break;
      const culprit = culpritQueue(run, selection.id);
      if (culprit !== null) return culprit;
      break;
    }
    case "cycle":
      return run.cycles[selection.id]?.ports[0] ?? null;
  }
  return worstCulprits(run)[0]?.id ?? run.fullest;
}

/** What is emphasised on a map; a pause belongs to the scheme in front only. */
export function emphasisOf(
  run: Run,
  selection: Selection | null,
  time: number,
  front: boolean,
): Emphasis {
  const cycle = run.cycles.filter((c) => c.at <= time).flatMap((c) => c.ports);
  const base = { ...NO_EMPHASIS, cycle };
  switch (selection?.kind) {
    case "link":
      return { ...base, chosen: selection.id, node: ownerOf(run, selection.id) };
    case "flow": {
      if (selection.id >= run.flows.rows) return base;
      const root = rooted(run, culpritQueue(run, selection.id));
      return { ...base, links: new Set(run.path(selection.id)), root };
    }
    case "pause": {
      if (!front || selection.id >= run.pauses.rows) return base;
      const tree = treeOf(run, selection.id);
      const chosen = chosenPort(run, selection);
      return { ...base, links: new Set(tree.held), chosen, root: rooted(run, tree.port) };
    }
    case "node": {
      const { ports } = run.header;
      const mine = ports.flatMap((port, i) => (port.node === selection.id ? [i] : []));
      return {
        ...base,
        links: new Set(mine),
        node: { node: selection.id, name: run.nodeName(selection.id) },
      };
    }
    default:
      // nothing is selected: where the worst pauses begin
      return run.cycles.length > 0 ? base : { ...base, root: rooted(run, mainRoot(run)) };
  }
}

/** The node of a port, which may be in a folded item. */
function ownerOf(run: Run, port: number): Place | null {
  const node = run.nodeOf(port);
  return port < run.ports ? { node, name: run.nodeName(node) } : null;
}

function rooted(run: Run, port: number | null): Root | null {
  return port === null ? null : { port, node: run.nodeOf(port), name: run.portName(port) };
}
