"""Recomputes the figures of summary.json from the tables beside it, and checks physical bounds.

Nothing here shares code with the program. What no table holds is not recomputed: digests, the
contents of a scheme's tables (only mean <= max), and which pause belongs to which tree (only that
the trees hold no more pauses than were sent, and victims no more time than they were held).
"""

import csv
import json
import math
import os


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


def nearest_rank(values, percent):
    values = sorted(values)
    if not values:
        return None
    return values[max(1, math.ceil(percent / 100 * len(values))) - 1]


def spread(what, told, values, tolerance=1e-9):
    same(f"{what}.mean", told["mean"], sum(values) / len(values) if values else None, tolerance)
    for percent in (50, 95, 99):
        same(f"{what}.p{percent}", told[f"p{percent}"], nearest_rank(values, percent), tolerance)
    same(f"{what}.max", told["max"], max(values) if values else None, tolerance)


def holds(flow):
    """The time a flow was held at each hop. A port's name may hold a space: `sw0/to h1=5`."""
    cell = flow["held_at"]
    return [int(part.split(" ")[0]) for part in cell.split("=")[1:]] if cell else []


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
    same("missing_signal", s["missing_signal"], missing)
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
        name, used = f"{p['node']} port {p['port']}", float(p["utilisation"])
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
    for percent in (50, 95, 99):
        spent, value = 0, longest
        for edge, time in bins:
            spent += time
            if spent >= percent / 100 * total:
                value = min(edge, longest)
                break
        same(f"{what}.p{percent}", told[f"p{percent}"], value)
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


def check_pauses(s, flows, pauses):
    sent = sum(1 for p in pauses if p["action"] == "pause")
    at_most("pauses of all trees", sum(t["pauses"] for t in s["pause_trees"]), sent)
    longest = {f["flow"]: sum(holds(f)) for f in flows}
    for tree in s["pause_trees"]:
        for victim in tree["longest_held"]:
            at_most(f"{victim['flow']} in a tree", victim["held_ps"], longest[victim["flow"]])
    for t in s["tables"]:
        at_most(f"table {t['table']}", t["mean"], t["max"] + 1e-6)


def check(directory, warm_up, frame=1538):
    """Raises Wrong if a figure of the results in `directory` is wrong; returns how the run ended."""
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
    check_pauses(s, flows, table(directory, "pauses.csv"))
    return s["finish"]["how"]
