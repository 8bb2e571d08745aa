"""Recomputes the figures of summary.json from the tables beside it, and checks physical bounds.

Nothing here shares code with the program. What no table holds is not recomputed: digests, and the
contents of a scheme's tables (only mean <= max). Pauses and victims are replayed (replay.py), and
the pause trees are checked against their edges.
"""

import csv
import json
import math
import os

import replay


class Wrong(Exception):
    pass


def table(directory, name):
    with open(os.path.join(directory, name), newline="") as f:
        return list(csv.DictReader(f))


def same(what, told, found, tolerance=1e-9):
    """Numbers up to rounding in their last places; None only where there is nothing."""
    if told is None or found is None:
        ok = told is None and found is None
    else:
        ok = math.isclose(float(told), float(found), rel_tol=tolerance, abs_tol=1e-6)
    if not ok:
        raise Wrong(f"{what}: the summary says {told}, the tables {found}")


def at_most(what, value, bound):
    if value > bound:
        raise Wrong(f"{what}: {value} is more than {bound}")


def number(cell):
    return int(cell) if cell else None


# Percentiles that exist, in thousandths: ranks are computed in integers.
SHARES = {"p25": 250, "p50": 500, "p75": 750, "p90": 900, "p95": 950, "p99": 990, "p999": 999}


def rank(count, share):
    """The smallest whole number that is not below count * share / 1000."""
    return -(-count * share // 1000)


def nearest_rank(values, share):
    values = sorted(values)
    if not values:
        return None
    return values[max(1, rank(len(values), share)) - 1]


def over_time(bins, share, longest):
    """The edge of the bin up to which this share of the time was spent."""
    wanted, spent = rank(sum(time for _, time in bins), share), 0
    for edge, time in bins:
        spent += time
        if spent >= wanted:
            return min(edge, longest)
    return longest


def told_shares(told):
    """The percentiles that a summary has; at least the three that all have."""
    names = [name for name in SHARES if name in told]
    if not {"p50", "p95", "p99"} <= set(names):
        raise Wrong(f"percentiles are missing: {sorted(told)}")
    return names


def spread(what, told, values, tolerance=1e-9):
    same(f"{what}.mean", told["mean"], sum(values) / len(values) if values else None, tolerance)
    for name in told_shares(told):
        same(f"{what}.{name}", told[name], nearest_rank(values, SHARES[name]), tolerance)
    same(f"{what}.max", told["max"], max(values) if values else None, tolerance)


def held_at(flow):
    """The time a flow was held, by port: `sw0:h1=5 sw1:h2=7`."""
    parts = [part.rsplit("=", 1) for part in flow["held_at"].split()]
    return {port: int(time) for port, time in parts}


def holds(flow):
    return list(held_at(flow).values())


def check_flows(flows, end):
    for f in flows:
        name, fct, ideal = f["flow"], number(f["fct_ps"]), number(f["ideal_ps"])
        held = holds(f)
        same(f"{name}.held_ps", f["held_ps"], sum(held))
        if fct is not None and ideal is not None:
            at_most(f"{name}.ideal", ideal, fct)
            same(f"{name}.slowdown", f["slowdown"], fct / ideal, 1e-5)
        if f["size"]:
            at_most(f"{name}.delivered", int(f["delivered"]), int(f["size"]))
            if fct is not None:
                same(f"{name}.delivered", f["size"], f["delivered"])
        # what is sent again may be held after the flow is complete
        again = int(f["retransmitted"]) > 0
        life = max(fct or 0, number(f["fct_ack_ps"]) or 0)
        if fct is None or again:
            life = max(life, end - int(f["start_ps"]))
        for time in held:
            at_most(f"{name} held at a hop", time, life)
        at_most(f"{name}.retransmitted", int(f["retransmitted"]), int(f["packets"]))
        at_most(f"{name}.lost", int(f["lost"]), int(f["packets"]))


def check_totals(s, flows, ports, warm_up):
    t = s["totals"]
    column = lambda name: sum(int(f[name]) for f in flows)
    same("totals.flows", t["flows"], len(flows))
    same("totals.completed", t["completed"], sum(1 for f in flows if f["fct_ps"]))
    same("totals.data_sent", t["data_sent"], column("packets"))
    for name in ("retransmitted", "reordered", "discarded", "timeouts"):
        same(f"totals.{name}", t[name], column(name))
    lost = column("lost") + column("answers_lost")
    same("totals.dropped", t["dropped"], lost)
    same("drops", sum(d["packets"] for d in s["drops"]), lost)
    unharmed = [f for f in flows if int(f["lost"]) + int(f["answers_lost"]) == 0]
    needless = sum(int(f["timeouts"]) for f in unharmed)
    same("totals.needless_timeouts", t["needless_timeouts"], needless)
    sent = t["data_sent"] + t["acks_sent"]
    same("conservation", sent, t["data_arrived"] + t["acks_arrived"] + lost + t["in_network"])
    if warm_up == 0:
        same("totals.control_frames", t["control_frames"], sum(int(p["control_sent"]) for p in ports))
    at_most("64 B frames", 64 * t["control_frames"], t["control_bytes"])
    at_most("control_dropped", t["control_dropped"], t["control_frames"])


MARKS = ("dcqcn", "dcqcn-paper", "dctcp")


def check_signal(s, ports):
    """What the congestion control reacts to and did not get."""
    missing = None
    if s["cc"] in MARKS and all(int(p["ecn_marked"]) == 0 for p in ports):
        missing = "marks"
    if s["cc"] == "hpcc" and s["totals"]["telemetry"] == 0:
        missing = "telemetry"
    if s["missing_signal"] != missing:
        raise Wrong(f"missing_signal: {s['missing_signal']}, recomputed {missing}")
    if s["cc"] != "hpcc":
        same("totals.telemetry", s["totals"]["telemetry"], 0)
    at_most("totals.telemetry", s["totals"]["telemetry"], s["totals"]["acks_arrived"])


def check_classes(s, flows, warm_up):
    for name, told in s["classes"].items():
        own = [f for f in flows if f["class"] == name and int(f["start_ps"]) >= warm_up]
        some = lambda column: [float(f[column]) for f in own if f[column]]
        same(f"{name}.flows", told["flows"], len(own))
        same(f"{name}.completed", told["completed"], len(some("fct_ps")))
        spread(f"{name}.fct_ps", told["fct_ps"], some("fct_ps"))
        spread(f"{name}.fct_ack_ps", told["fct_ack_ps"], some("fct_ack_ps"))
        done = [f for f in own if f["fct_ps"] and f["ideal_ps"]]
        slowdown = [int(f["fct_ps"]) / int(f["ideal_ps"]) for f in done]
        spread(f"{name}.slowdown", told["slowdown"], slowdown)
        longest = [max(holds(f), default=0) for f in own]
        spread(f"{name}.longest_hold_ps", told["longest_hold_ps"], longest)
        for column in ("retransmitted", "lost", "reordered"):
            same(f"{name}.{column}", told[column], sum(int(f[column]) for f in own))


def by_priority(cell):
    return [int(part.split(":")[1]) for part in cell.split(" ")] if cell else []


def check_ports(ports, end, warm_up, frame):
    span = end - warm_up
    for p in ports:
        name, used = p["port"], float(p["utilisation"])
        if not name.startswith(p["node"] + ":"):
            raise Wrong(f"{name} is no port of {p['node']}")
        at_most(f"{name}.utilisation", used, 1.0)
        if span <= 0:
            continue
        wire_time = int(p["wire_bytes"]) * 8e12 / int(p["rate_bps"])
        at_most(f"{name}.utilisation", used, wire_time / span + 1e-6)
        # what may be missing: the rest of a frame at either end, and control frames after the end
        late = (2 * frame + 2200 * int(p["control_sent"])) * 8e12 / int(p["rate_bps"])
        at_most(f"{name}: wire time that is not used", min(wire_time, span) - late, (used + 1e-6) * span)
        for held in by_priority(p["held_ps"]):
            at_most(f"{name}.held_ps", held, span)
        quantiles = [float(p[f"queue_{q}"]) for q in ("p50", "p95", "p99", "max")]
        if quantiles != sorted(quantiles):
            raise Wrong(f"{name}: quantiles {quantiles}")
        at_most(f"{name}.queue_mean", float(p["queue_mean"]), quantiles[-1] + 0.05)


def check_lengths(what, told, bins, longest):
    """A distribution over time, from its bins: (upper edge, time)."""
    total = sum(time for _, time in bins)
    same(f"{what}.max", told["max"], longest)
    for name in told_shares(told):
        same(f"{what}.{name}", told[name], over_time(bins, SHARES[name], longest))
    # a bin reaches at most 1/32 above the lengths in it
    mean = sum(edge * time for edge, time in bins) / total if total else 0
    at_most(f"{what}.mean", told["mean"], mean * (1 + 1e-9) + 1e-6)
    at_most(f"{what}: mean of bins", mean / (1 + 1 / 32), told["mean"] * (1 + 1e-9) + 1e-6)


def kind_of(port):
    if port["layer"] == "host":
        return None
    if port["towards"].startswith("h") and port["towards"][1:].isdigit():
        return "host-facing"
    return port["layer"] if port["layer"] in ("tor", "agg", "core") else "other"


def check_queues(s, ports, queues):
    for kind, told in s["queues"].items():
        own = [q for q in queues if q["what"] == "queue" and q["ports"] == kind]
        bins = [(int(q["upto"]), int(q["time_ps"])) for q in own]
        longest = max((int(p["queue_max"]) for p in ports if kind_of(p) == kind), default=0)
        check_lengths(f"queues.{kind}", told, bins, longest)
    memory = [q for q in queues if q["what"] == "memory"]
    bins = [(int(q["upto"]), int(q["time_ps"])) for q in memory]
    if bins:
        check_lengths("memory", s["memory"], bins, bins[-1][0])
    longest = max((int(p["queue_max"]) for p in ports if kind_of(p)), default=0)
    hottest = s["hottest_port"]
    same("hottest_port", hottest["queue_max"] if hottest else 0, longest)


def check_edges(s, pauses, edges, end):
    """Edges of the pause trees: each begins with a pause that was sent, and a tree is its edges."""
    stages = any(p["scope"].startswith("stage") for p in pauses)
    begun = {(p["at_ps"], p["port"], p["priority"]) for p in pauses if p["action"] == "pause" or stages}
    trees, by_id = {}, {e["edge"]: e for e in edges}
    for e in edges:
        name, start = f"edge {e['edge']}", int(e["start_ps"])
        if (e["start_ps"], e["downstream"], e["priority"]) not in begun:
            raise Wrong(f"{name}: no pause was sent then")
        at_most(f"{name}.start_ps", start, int(e["end_ps"]))
        if e["lifted"] == "0":
            same(f"{name}.end_ps", e["end_ps"], end)
        if e["parent"]:
            parent = by_id[e["parent"]]
            # the parent holds the port that is the cause, and began the tree
            if parent["upstream"] != e["cause"] or parent["root"] != e["root"]:
                raise Wrong(f"{name}: its parent {parent} holds another port")
            at_most(f"{name}: its parent's start", int(parent["start_ps"]), start)
            same(f"{name}.depth", e["depth"], int(parent["depth"]) + 1)
        elif e["depth"] != "1" or e["root"] != (e["upstream"] if replay.is_host(e["downstream"]) else e["cause"]):
            raise Wrong(f"{name} has no parent and is no root: {e}")
        trees.setdefault(e["root"], []).append(e)
    for tree in s["pause_trees"]:
        root = tree["root"]["port"] if tree["root"] else ""
        own = trees[root]
        same(f"tree of {root}: pauses", tree["pauses"], len(own))
        time = sum(int(e["end_ps"]) - int(e["start_ps"]) for e in own)
        same(f"tree of {root}: paused_ps", tree["paused_ps"], time)
        same(f"tree of {root}: depth", tree["depth"], max(int(e["depth"]) for e in own))


def check_victims(s, flows, edges, victims):
    by_flow = {f["flow"]: f for f in flows}
    held, roots = {}, {}
    for e in edges:
        held.setdefault((e["root"], e["upstream"]), []).append(e)
        roots.setdefault(e["upstream"], set()).add(e["root"])
    for v in victims:
        name, flow = f"victim {v['flow']} of {v['root']}", by_flow[v["flow"]]
        there = held_at(flow)[v["held_at"]]
        at_most(f"{name}.held_ps", int(v["held_ps"]), there)
        if v["bound"] == "exact":
            same(f"{name}.held_ps", v["held_ps"], there)
            same(f"{name}: roots at {v['held_at']}", len(roots[v["held_at"]]), 1)
        own = held[(v["root"], v["held_at"])]
        if any(e["downstream"] != v["by"] for e in own):
            raise Wrong(f"{name}: {v['by']} did not pause it")
        at_most(f"{name}: start", min(int(e["start_ps"]) for e in own), int(v["first_ps"]))
        at_most(f"{name}: end", int(v["last_ps"]), max(int(e["end_ps"]) for e in own))
        at_most(f"{name}: start before end", int(v["first_ps"]), int(v["last_ps"]))
    for tree in s["pause_trees"]:
        own = [v for v in victims if tree["root"] and v["root"] == tree["root"]["port"]]
        same("victims of a tree", tree["victims"], len(own))
        for told, found in zip(tree["longest_held"], own):
            for key in ("flow", "src", "dst", "class", "held_at", "bound"):
                if told[key] != found[key]:
                    raise Wrong(f"victim {told['flow']}: {key} is {found[key]} in victims.csv")
            same("victim", told["held_ps"], found["held_ps"])
            same("victim", told["clear_path"], found["clear_path"])


def check_replay(s, text, flows, ports, pauses, edges, victims, end):
    """Edges and victims against those that follow from the pauses."""
    holds = replay.replay(pauses, end)
    network = replay.Network(text, ports)
    wrong = replay.different_edge(holds, edges)
    # victims of the 20 largest trees are looked for
    if not wrong and len({hold.root for hold in holds}) <= 20:
        expected = replay.victims(holds, flows, network, held_at)
        wrong = replay.different_victim(expected, victims)
    if wrong:
        raise Wrong(wrong)


def check_pauses(s, flows, pauses, edges, victims, end):
    check_edges(s, pauses, edges, end)
    check_victims(s, flows, edges, victims)
    for t in s["tables"]:
        at_most(f"table {t['table']}", t["mean"], t["max"] + 1e-6)


def check(directory, text, frame=1538):
    """Raises Wrong if a figure of the results in `directory`, of the scenario `text`, is wrong;
    returns how the run ended."""
    warm_up = 10_000_000 if "warm-up" in text else 0
    with open(os.path.join(directory, "summary.json")) as f:
        s = json.load(f)
    flows, ports = table(directory, "flows.csv"), table(directory, "ports.csv")
    end = s["end_ps"]
    check_flows(flows, end)
    check_totals(s, flows, ports, warm_up)
    check_signal(s, ports)
    check_classes(s, flows, warm_up)
    check_ports(ports, end, warm_up, frame)
    check_queues(s, ports, table(directory, "queues.csv"))
    pauses, edges = table(directory, "pauses.csv"), table(directory, "pause-edges.csv")
    victims = table(directory, "victims.csv")
    check_pauses(s, flows, pauses, edges, victims, end)
    check_replay(s, text, flows, ports, pauses, edges, victims, end)
    return s["finish"]["how"]
