// What is selected and what happens there, in words: for the status line, which screen readers
// speak, and for the hint at the pointer.

import { sufferersOf, treeOf } from "./blame";
import type { Frame, Run } from "./model";
import { STATE_NAMES } from "./palette";
import type { Selection } from "./state";
import { bytes, count, duration, instant, moment, percent } from "./units";

/** One direction of a link at the cursor. */
export function describeLink(run: Run, port: number, frame: Frame, time: number): string[] {
  const state = STATE_NAMES[frame.state[port] ?? 0] ?? "idle";
  const lines = [`${run.linkName(port)}: ${state}`];
  lines.push(
    `queue ${bytes(frame.queue[port] ?? 0)}, ${percent(frame.share[port] ?? 0)} of its rate`,
  );
  run.eachStanding(time, (pause) => {
    if (run.pauses.port[pause] !== port || lines.length > 3) return;
    const since = moment(run.pauses.from[pause] as number);
    lines.push(`held since ${since} for ${run.portName(run.causeOf(run.rootOf(pause)))}`);
  });
  return lines;
}

export function statusText(
  run: Run,
  time: number,
  selection: Selection | null,
  frame: Frame | null,
): string {
  const when = `${run.label} at ${instant(time, run.end)}`;
  let standing = 0;
  run.eachStanding(time, () => {
    standing += 1;
  });
  const now = `${when}: ${standing === 0 ? "nothing is held" : `${count(standing, "pause")} standing`}`;
  switch (selection?.kind) {
    case "link":
      return frame && selection.id < run.ports
        ? `${when}. ${describeLink(run, selection.id, frame, time).join("; ")}.`
        : now;
    case "pause": {
      if (selection.id >= run.pauses.rows) return now;
      const tree = treeOf(run, selection.id);
      const victims = sufferersOf(run, tree).filter((s) => !s.own);
      const names = victims
        .slice(0, 4)
        .map((s) => run.flowName(s.flow))
        .join(", ");
      const link = run.linkName(run.pauses.port[selection.id] as number);
      const who = victims.length ? `${count(victims.length, "victim")}: ${names}` : "no victims";
      return `${now}. Selected: the pause of ${link}, root ${run.portName(tree.port)}, ${count(tree.held.length, "link")} held, ${who}.`;
    }
    case "flow": {
      if (selection.id >= run.flows.rows) return now;
      const fct = run.fct(selection.id);
      return `${now}. Selected: ${run.flowName(selection.id)}, ${fct === null ? "not finished" : `completed in ${duration(fct, 4)}`}.`;
    }
    case "node":
      return `${now}. Selected: ${run.nodeName(selection.id)}.`;
    case "cycle": {
      const cycle = run.cycles[selection.id];
      if (!cycle) return now;
      const nodes = cycle.ports.map((port) => run.nodeName(run.nodeOf(port))).join(", ");
      return `${now}. Selected: the deadlock of ${nodes}, closed at ${moment(cycle.at)}.`;
    }
    default:
      return `${now}.`;
  }
}
