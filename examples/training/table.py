#!/usr/bin/env python3
"""Tables of docs/src/training.md, from results of `weir compare --out DIRECTORY/SEED`.

    examples/training/table.py out/llama out/llama-slow

Each directory holds one result per seed. Printed are, for each scheme and job, means over seeds with
half of their 95 % intervals (Student's t), and the change against PFC, paired by seed. Where the runs
were made with --blame, the parts of the critical path follow, and the ports to blame for most steps.
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


def head(cells):
    print("| " + " | ".join(cells) + " |\n|---" + "|--:" * (len(cells) - 1) + "|")


def table(directory):
    variants, steps, roots, others = read(directory)
    jobs = sorted({job for job, _ in steps})
    classes = sorted({name for name, _ in others})
    seeds = len(steps[jobs[0], variants[0]])
    print(f"\n{directory}, {seeds} seeds\n")
    heads = ["scheme"]
    for job in jobs:
        heads += [f"{job}: step, ms", "beside PFC", "exposed, ms"]
    for name in classes:
        heads += [f"{name}: mean", "p99"]
    head(heads + ["most pauses began at"])
    for v in variants:
        cells = [v]
        for job in jobs:
            time = column(steps[job, v], "time_ps")
            base = column(steps[job, variants[0]], "time_ps")
            exposed = column(steps[job, v], "exposed_ps")
            digits = 3 if min(base.values()) < 1 else 2
            cells.append(text(list(time.values()), digits))
            cells.append("" if v == variants[0] else change(time, base))
            cells.append(text(list(exposed.values()), digits))
        for name in classes:
            values = others[name, v].values()
            cells += [text([f[k] / 1e6 for f in values], 0, " us") for k in ("mean", "p99")]
        cells.append(", ".join(f"{port} ({n})" for port, n in roots[v].most_common()))
        print("| " + " | ".join(cells) + " |")
    for job in jobs:
        path(job, variants, steps)


def path(job, variants, steps):
    """The parts of the critical path, in per cent of the step, without computation and NVLink."""
    first = next(iter(steps[job, variants[0]].values()))[0]
    parts = [c for c in first if c.startswith("path_") and c != "path_links"]
    shown = []
    for v in variants if parts else []:
        rows = steps[job, v]
        total = sum(column(rows, "time_ps").values())
        share = {c: 100 * sum(column(rows, c).values()) / total for c in parts}
        blamed = Counter(r["to_blame"] for of in rows.values() for r in of)
        shown.append((v, share, blamed.most_common(1)[0]))
    used = [c for c in parts if any(share[c] >= 0.05 for _, share, _ in shown)]
    if shown:
        print(f"\n{job}, per cent of the step on its critical path\n")
        head(["scheme"] + [c[5:-3].replace("_", " ") for c in used] + ["to blame (steps)"])
    for v, share, (port, steps_) in shown:
        cells = [v] + [f"{share[c]:.1f}" for c in used] + [f"{port} ({steps_})"]
        print("| " + " | ".join(cells) + " |")


for each in sys.argv[1:]:
    table(each)
