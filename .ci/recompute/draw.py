"""Random scenarios for the recomputation, as text."""

SCHEMES = ["pfc", "none", "capfc", "ppfc", "gfc", "gpfc", "ofc", "bfc", "ideal", "flowsail", "ffc"]
CONTROLS = ["none", "dcqcn", "dcqcn-paper", "hpcc", "timely", "swift", "dctcp"]


def topology(r):
    rate, delay = r.choice(["10Gbps", "40Gbps", "100Gbps"]), r.randint(20, 2000)
    kind = r.choice(["star", "star", "dumbbell", "leaf-spine", "ring"])
    size = {
        "star": ("hosts = 6", 6),
        "dumbbell": (f'left = 3\nright = 3\ntrunk-rate = "{rate}"', 6),
        "leaf-spine": ("spines = 2\nleaves = 2\nhosts-per-leaf = 3", 6),
        "ring": ("switches = 4", 4),
    }
    keys, hosts = size[kind]
    return f'[topology]\nkind = "{kind}"\n{keys}\nrate = "{rate}"\ndelay = "{delay}ns"\n', hosts


def flow(r, hosts, number):
    dst = 0 if r.random() < 0.7 else r.randrange(hosts)
    src = r.choice([h for h in range(hosts) if h != dst])
    start = r.randint(0, 20000)
    size, rate, held, stop = f"{r.randint(1, 100000)}B", "", "", ""
    kind = r.randrange(6)
    if kind < 2:
        rate, held = r.choice(["2Gbps", "8Gbps", "30Gbps"]), r.choice(["backlog", "discard"])
    if kind in (1, 2):
        size, stop = "unlimited", f"{start + r.randint(1, 50000)}ns"
    name = r.choice(["a", "b"])
    return f'"h{src},h{dst},{size},{start}ns,{name},{r.choice([3, 3, 3, 2])},{rate},{held},{stop}"'


def scenario(r, number):
    network, hosts = topology(r)
    rows = ['"src,dst,size,start,class,priority,rate,while_held,stop"']
    rows += [flow(r, hosts, i) for i in range(r.randint(2, 14))]
    xoff = r.randint(8000, 60000)
    lines = [f'name = "recompute-{number}"', network, "[switch]"]
    # a pool for schemes whose thresholds would not fit
    lines.append(f'thresholds = {{ xoff = "{xoff}B", xon = "{xoff * 6 // 10}B" }}')
    if r.random() < 0.3:
        lines.append("weights = [1, 1, 1, 1, 1, 1, 1, 1]")
    if r.random() < 0.2:
        lines.append(f'buffer = "{r.randint(150, 900)}KB"')
    lines += ["[nic]", f'queues = "{r.choice(["per-flow", "fifo"])}"']
    if r.random() < 0.3:
        lines.append('reliability = "selective-repeat"')
    lines += ["[link]", f"bit-error-rate = {r.choice(['0.0', '0.0', '1e-7', '1e-6'])}"]
    lines += ["[flow-control]", f'scheme = "{r.choice(SCHEMES)}"']
    lines += ["[congestion-control]", f'algorithm = "{r.choice(CONTROLS)}"']
    lines += ["[[traffic]]", 'kind = "list"', "flows = [", ",\n".join(rows), "]"]
    lines += ["[run]", 'allow-loss = true', f'until = "{r.choice(["60us", "300us", "50ms"])}"']
    if r.random() < 0.3:
        lines += ["[probe]", 'warm-up = "10us"']
    return "\n".join(lines) + "\n"
