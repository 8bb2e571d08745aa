#!/usr/bin/env python3
"""Tables of docs/src/training.md, from results of `weir compare --out DIRECTORY/SEED`.

    examples/training/table.py out/llama out/llama-slow

Each directory holds one result per seed. Printed are, for each scheme and job, means over seeds with
half of their 95 % intervals (Student's t), and the change against PFC, paired by seed. Where the runs
were made with --blame, the parts of the critical path follow, else the port at which most pauses began.
"""

import csv
import json
import math
import pathlib
import sys
from collections import Counter, defaultdict

T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def mean(values):
    """The mean and half of its 95 % interval, or None for the latter with one value."""
    n = len(values)
    middle = sum(values) / n
    if n < 2:
        return middle, None
    variance = sum((v - middle) ** 2 for v in values) / (n - 1)
    return middle, T[n - 1] * math.sqrt(variance / n)


def text(values, digits, unit=""):
    middle, half = mean(values)
    around = "" if half is None else f" ± {half:.{digits}f}"
    return f"{middle:.{digits}f}{around}{unit}"


def read(directory):
    """steps[job, variant][seed] = rows, roots[variant] = ports, storage[variant][seed] = FCT."""
    steps, roots, others = defaultdict(dict), defaultdict(Counter), defaultdict(dict)
    variants = []
    for result in sorted(p for p in pathlib.Path(directory).iterdir() if (p / "steps.csv").exists()):
        with open(result / "steps.csv", newline="") as f:
            for row in csv.DictReader(f):
                if row["variant"] not in variants:
                    variants.append(row["variant"])
                key = row["job"], row["variant"]
                steps[key].setdefault(result.name, []).append(row)
        runs = json.loads((result / "summary.json").read_text())
        for run in runs.get("runs", [runs]):
            ports = Counter()
            for tree in run["pause_trees"]:
                if tree["root"]:
                    ports[tree["root"]["port"]] += tree["paused_ps"]
            for port, paused in ports.most_common(1):
                roots[run["variant"]][port] += 1
            for name, c in run["classes"].items():
                if c["completed"]:
                    others[name, run["variant"]][result.name] = c["fct_ps"]
    return variants, steps, roots, others


def column(rows, name):
    """The mean of a column over the steps of each seed, in ms."""
    return {seed: sum(int(r[name]) for r in of) / len(of) / 1e9 for seed, of in rows.items()}


def change(values, base):
    return text([100 * (values[s] / base[s] - 1) for s in values if s in base], 1, " %")


def table(directory):
    variants, steps, roots, others = read(directory)
    jobs = sorted({job for job, _ in steps})
    for job in jobs:
        print(f"\n{directory}, {job}\n")
        print("| scheme | seeds | step, ms | beside PFC | alone | exposed, ms | pauses began at |")
        print("|---|---|---|---|---|---|---|")
        base = column(steps[job, variants[0]], "time_ps")
        for v in variants:
            rows = steps[job, v]
            time, exposed = column(rows, "time_ps"), column(rows, "exposed_ps")
            alone = column(rows, "ideal_ps")
            more = text([time[s] / alone[s] for s in time], 3)
            seeds = sorted(time)
            ports = ", ".join(f"{p} ({n})" for p, n in roots[v].most_common(2))
            cells = [v, str(len(seeds)), text([time[s] for s in seeds], 3), change(time, base)]
            print("| " + " | ".join(cells + [more, text(list(exposed.values()), 3), ports]) + " |")
        parts = [c for c in next(iter(steps[job, variants[0]].values()))[0] if c.startswith("path_")]
        for v in variants if parts else []:
            rows = steps[job, v]
            total = sum(column(rows, "time_ps").values())
            times = {p[5:-3]: sum(column(rows, p).values()) for p in parts if p != "path_links"}
            largest = sorted(times.items(), key=lambda part: -part[1])
            said = ", ".join(f"{n} {100 * t / total:.2f} %" for n, t in largest if t > 0)
            blamed = Counter(r["to_blame"] for of in rows.values() for r in of)
            print(f"  {v}: {said}; to blame {blamed.most_common(3)}")
    for name in sorted({name for name, _ in others}):
        print(f"\n{directory}, flows of class {name}\n")
        for v in variants:
            values = others[name, v].values()
            both = [text([f[key] / 1e6 for f in values], 1, " us") for key in ("mean", "p99")]
            print(f"| {v} | {both[0]} | {both[1]} |")


for each in sys.argv[1:]:
    table(each)
