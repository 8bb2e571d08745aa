"""Replays pauses.csv: which pauses there were, what caused them, and whom they held.

What is compared with pause-edges.csv and victims.csv follows from pauses.csv, the flows' times and
the network alone. Nothing here shares code with the program.
"""

import re

NEVER = float("inf")


def peer(port):
    """The other end of a link: `sw0:h1` and `h1:sw0`. (No scenario here has parallel links.)"""
    node, towards = port.split(":")
    return f"{towards}:{node}"


def is_host(port):
    return re.match(r"h\d+:", port) is not None


class Hold:
    """One pause from its start to its end."""

    def __init__(self, row, parent):
        self.by, self.held = row["port"], peer(row["port"])
        self.priority, self.scope = row["priority"], row["scope"]
        self.start, self.end, self.lifted = int(row["at_ps"]), None, False
        self.cause, self.parent = row["cause"], parent
        # a slow host has no egress port that is the cause: what leads to it is the root
        own = self.held if is_host(self.by) else self.cause
        self.root = parent.root if parent else own
        self.depth = parent.depth + 1 if parent else 1

    def lift(self, at):
        self.end, self.lifted = at, True


class Standing:
    """What one ingress port has paused of one priority: all of it, some flows, a stage; or one
    queue of it, which is on or off."""

    def __init__(self):
        self.hold, self.whole, self.flows, self.stage = None, False, 0, 0

    def take(self, row):
        kind = row["scope"].split()
        if kind[-1] == "flows":
            self.flows = int(row["flows_paused"])
        elif kind[0] == "stage":
            self.stage = int(kind[1])
        else:
            self.whole = row["action"] == "pause"

    def is_on(self):
        return self.whole or self.flows > 0 or self.stage > 0


def parent_of(row, standing):
    """The pause that holds the port that is the cause: the latest, if there are several."""
    if row["cause_held"] != "1":
        return None
    place = (peer(row["cause"]), row["priority"])
    on = [(queue, s.hold) for (*at, queue), s in standing.items() if tuple(at) == place]
    return max(on, key=lambda q: (q[1].start, q[0]), default=(None, None))[1]


def replay(pauses, end):
    """Every pause of the run, in the order in which they began."""
    holds, standing = [], {}
    for row in pauses:
        place, scope = (row["port"], row["priority"]), row["scope"]
        if scope == "all" and row["action"] == "resume":
            for key in [key for key in standing if key[:2] == place]:
                standing.pop(key).hold.lift(int(row["at_ps"]))
            continue
        key = (*place, int(scope.split()[1]) if scope.startswith("queue") else -1)
        now = standing.get(key) or Standing()
        now.take(row)
        if now.is_on() and not now.hold:
            now.hold = Hold(row, parent_of(row, standing))
            holds.append(now.hold)
            standing[key] = now
        elif now.hold and not now.is_on():
            now.hold.lift(int(row["at_ps"]))
            del standing[key]
    for left in standing.values():
        left.hold.end = end
    return holds


def edge_cells(hold, number):
    """A hold as pause-edges.csv shows it."""
    return {
        "edge": str(number[id(hold)]),
        "parent": str(number[id(hold.parent)]) if hold.parent else "",
        "depth": str(hold.depth),
        "upstream": hold.held,
        "downstream": hold.by,
        "priority": hold.priority,
        "scope": hold.scope,
        "start_ps": str(hold.start),
        "end_ps": str(hold.end),
        "lifted": str(int(hold.lifted)),
        "cause": hold.cause,
        "root": hold.root,
    }


def different_edge(holds, edges):
    """The first edge that is not as replayed, in words; None if all are."""
    number = {id(hold): i for i, hold in enumerate(holds)}
    if len(holds) != len(edges):
        return f"{len(edges)} edges, {len(holds)} pauses replayed"
    for hold, edge in zip(holds, edges):
        for name, cell in edge_cells(hold, number).items():
            if edge[name] != cell:
                return f"edge {edge['edge']}: {name} is {edge[name]}, replayed {cell}"
    return None


class Network:
    """Which nodes are joined, how long links are, and how long a full frame takes."""

    def __init__(self, text, ports):
        kind = re.search(r'kind = "([a-z-]+)"', text)[1]
        self.delay = int(re.search(r'\ndelay = "(\d+)ns"', text)[1]) * 1000
        rate = int(re.search(r'\nrate = "(\d+)Gbps"', text)[1]) * 10**9
        self.frame = -(-1538 * 8 * 10**12 // rate)
        trunks = {
            "star": [],
            "dumbbell": [("sw0", "sw1")],
            "leaf-spine": [(f"leaf{i}", f"spine{j}") for i in range(2) for j in range(2)],
            "ring": [(f"sw{i}", f"sw{(i + 1) % 4}") for i in range(4)],
        }
        hosts = [p["port"].split(":") for p in ports if re.fullmatch(r"h\d+", p["node"])]
        self.next = {}
        for a, b in trunks[kind] + [tuple(h) for h in hosts]:
            self.next.setdefault(a, set()).add(b)
            self.next.setdefault(b, set()).add(a)

    def on_path(self, port, src, dst):
        """Whether the shortest paths from src to dst use the port: all (True), none (False), or
        some (None: which of them a flow takes is not known here)."""
        paths, done = [[src]], []
        while paths and not done:
            longer = [p + [n] for p in paths for n in self.next.get(p[-1], ()) if n not in p]
            done, paths = [p for p in longer if p[-1] == dst], longer
        uses = {port in {f"{a}:{b}" for a, b in zip(p, p[1:])} for p in done}
        return uses.pop() if len(uses) == 1 else None


def stretches(holds, network):
    """By root and held port, when its pauses can have held the port: (from, to, start, end)."""
    found = {}
    for hold in sorted(holds, key=lambda h: (h.start, h.end)):
        reach = (hold.start + network.delay, hold.end + network.delay + 2 * network.frame)
        joined = found.setdefault((hold.root, hold.held), [])
        if joined and reach[0] <= joined[-1][1]:
            last = joined[-1]
            joined[-1] = (last[0], max(last[1], reach[1]), last[2], max(last[3], hold.end))
        else:
            joined.append((*reach, hold.start, hold.end))
    return found


def held_by(root, flow, there, held, sharing):
    """How long the pauses of `root` held a flow at its ports: (time, port, bound, first, last)."""
    start, finish = int(flow["start_ps"]), NEVER
    if flow["fct_ps"] and flow["retransmitted"] == "0":
        finish = start + int(flow["fct_ps"])
    for port, time in held.items():
        own = there.get((root, port), [])
        inside = sum(max(0, min(to, finish) - max(at, start)) for at, to, *_ in own)
        bound = "exact" if len(sharing[port]) == 1 else "shared"
        time = time if bound == "exact" else min(time, inside)
        seen = [s for s in own if s[0] < finish and (s[1] > start or s[0] >= start)]
        if inside > 0 and time > 0:
            yield time, port, bound, seen[0][2], seen[-1][3]


def victims(holds, flows, network, held_at):
    """By (root, flow): what victims.csv may say, one of several where two ports tie; and whether
    it must say it."""
    there, sharing, found = stretches(holds, network), {}, {}
    for hold in holds:
        sharing.setdefault(hold.held, set()).add(hold.root)
    for root in sorted({hold.root for hold in holds} - {""}):
        for flow in flows:
            uses = network.on_path(root, flow["src"], flow["dst"])
            held = {port: t for port, t in held_at(flow).items() if port in sharing}
            options = list(held_by(root, flow, there, held, sharing))
            longest = max((o[0] for o in options), default=0)
            if options and uses is not True:
                best = [o for o in options if o[0] == longest]
                found[(root, flow["flow"])] = (best, uses is False)
    return found


def different_victim(expected, rows):
    """The first victim that is not as replayed, in words; None if all are."""
    told = {(v["root"], v["flow"]): v for v in rows}
    for key, (_, certain) in expected.items():
        if certain and key not in told:
            return f"flow {key[1]} is a victim of {key[0]}, and not in victims.csv"
    for key, v in told.items():
        if key not in expected:
            return f"flow {key[1]} is no victim of {key[0]}"
        said = (int(v["held_ps"]), v["held_at"], v["bound"], int(v["first_ps"]), int(v["last_ps"]))
        if said not in expected[key][0]:
            return f"victim {key[1]} of {key[0]} is {said}, replayed {expected[key][0]}"
    return None
