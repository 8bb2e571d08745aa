"""All percentiles of a sweep's tables, recomputed from the flows and queues of the same run.

Counts are such that ranks are whole numbers, one more and one less: there a rank that is not
computed in integers is wrong.
"""

import os
import random
import subprocess

import figures

COUNTS = (1, 3, 20, 100, 999, 1000, 1001, 2000, 3000)
HOSTS = 8


def scenario(count):
    """Flows of random sizes in a star, in two classes; all of one class end in whole thousands."""
    r = random.Random(count)
    rows = ['"src,dst,size,start,class"']
    for i in range(count + count // 3):
        src, dst = r.sample(range(HOSTS), 2)
        name = "whole" if i < count else "rest"
        rows.append(f'"h{src},h{dst},{r.randint(1, 20000)}B,{r.randint(0, count * 500)}ns,{name}"')
    return "\n".join([
        '[topology]\nkind = "star"', f'hosts = {HOSTS}\nrate = "40Gbps"\ndelay = "500ns"',
        '[[traffic]]\nkind = "list"\nflows = [', ",\n".join(rows), "]\n",
    ])


def weir(program, *words):
    done = subprocess.run([program, *words, "--quiet"], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise figures.Wrong(f"weir {' '.join(words)}: exit {done.returncode}: {done.stderr[:600]}")


def check_flows(what, row, flows):
    done = [f for f in flows if f["fct_ps"] and f["ideal_ps"]]
    times = [int(f["fct_ps"]) for f in done]
    slowdowns = [int(f["fct_ps"]) / int(f["ideal_ps"]) for f in done]
    for name, share in figures.SHARES.items():
        figures.same(f"{what}.fct_{name}_ps", row[f"fct_{name}_ps"], figures.nearest_rank(times, share))
        found = figures.nearest_rank(slowdowns, share)
        figures.same(f"{what}.slowdown_{name}", row[f"slowdown_{name}"], found)


def check_memory(what, row, queues):
    """The star has one switch: its memory is that of the fullest."""
    bins = [(int(q["upto"]), int(q["time_ps"])) for q in queues if q["what"] == "memory"]
    for name in ("p50", "p90", "p95", "p99", "p999"):
        found = figures.over_time(bins, figures.SHARES[name], bins[-1][0])
        figures.same(f"{what}.buffer_{name}_bytes", row[f"buffer_{name}_bytes"], found)


def one(program, count, directory):
    path = os.path.join(directory, f"flows-{count}.toml")
    grid = os.path.join(directory, f"grid-{count}.toml")
    with open(path, "w") as f:
        f.write(scenario(count))
    with open(grid, "w") as f:
        f.write(f'scenario = "{os.path.basename(path)}"\nseeds = [1]\nschemes = ["pfc"]\n')
    out, sweep = (os.path.join(directory, f"{kind}-{count}") for kind in ("run", "sweep"))
    weir(program, "run", path, "--out", out)
    weir(program, "sweep", "plan", grid, "-o", sweep)
    weir(program, "sweep", "run", sweep)
    weir(program, "sweep", "merge", sweep)
    flows = figures.table(out, "flows.csv")
    (row,) = figures.table(sweep, "runs.csv")
    check_flows(f"{count} flows", row, flows)
    check_memory(f"{count} flows", row, figures.table(out, "queues.csv"))
    for row in figures.table(sweep, "classes.csv"):
        if row["sizes"]:
            continue
        name = row["class"]
        check_flows(f"{count} flows, {name}", row, [f for f in flows if f["class"] == name])


def main(program, directory):
    for count in COUNTS:
        one(program, count, directory)
    print(f"{len(COUNTS):6}  runs with all percentiles of their sweep")
