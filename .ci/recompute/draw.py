"""Random scenarios for the recomputation, as text."""

SCHEMES = ["pfc", "none", "capfc", "ppfc", "gfc", "gpfc", "ofc", "bfc", "ideal", "flowsail", "ffc"]
CONTROLS = ["none", "dcqcn", "dcqcn-paper", "hpcc", "timely", "swift", "dctcp"]
# Options with which a scheme's frames differ, or a second mechanism sends some of its own.
OPTIONS = {
    "gfc": ['mode = "ofc"'],
    "ofc": ['flow-key = "pair"', "urgent-wildcard = false", 'scope = "port"', 'alpha = 0.7', 'refresh = "5us"'],
    "bfc": ['backstop = "pfc"', "queues = 2", 'frames = "both"'],
    "ideal": ['backstop = "pfc"', 'refresh = "5us"'],
    "flowsail": ['backstop = "pfc"', "queues = 2", 'refresh = "5us"'],
    "ffc": ['backstop = "pfc"', 'refresh = "3us"', 'threshold = "8KB"'],
}


def topology(r):
    rate, delay = r.choice(["10Gbps", "40Gbps", "100Gbps"]), r.randint(20, 2000)
    kind = r.choice(["star", "star", "dumbbell", "leaf-spine", "ring"])
    size = {
        "star": ("hosts = 6", 6),
        "dumbbell": (f'left = 3\nright = 3\ntrunk-rate = "{rate}"\ntrunk-delay = "{delay}ns"', 6),
        "leaf-spine": (
            f'spines = 2\nleaves = 2\nhosts-per-leaf = 3\nspine-rate = "{rate}"\nspine-delay = "{delay}ns"',
            6,
        ),
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


def links(network):
    """Pairs of nodes that a link joins."""
    kind = network.split('"')[1]
    switch = {
        "star": lambda h: "sw0",
        "dumbbell": lambda h: f"sw{h // 3}",
        "leaf-spine": lambda h: f"leaf{h // 3}",
        "ring": lambda h: f"sw{h}",
    }
    trunks = {
        "star": [],
        "dumbbell": [("sw0", "sw1")],
        "leaf-spine": [("leaf0", "spine0"), ("leaf1", "spine0"), ("leaf1", "spine1")],
        "ring": [("sw0", "sw1"), ("sw2", "sw3")],
    }
    return [(f"h{h}", switch[kind](h)) for h in range(4)] + 2 * trunks[kind]


def failures(r, network):
    """One scenario in three has links that fail, some of them twice."""
    if r.random() > 0.35:
        return []
    lines = ["[routing]", f'convergence = "{r.choice([0, 5, 100])}us"']
    for _ in range(r.randint(1, 2)):
        (a, b), down = r.choice(links(network)), r.randint(1000, 50000)
        for _ in range(r.randint(1, 2)):
            up = down + r.randint(1, 20000)
            lines += ["[[failure]]", f'link = ["{a}", "{b}"]', f'down = "{down}ns"', f'up = "{up}ns"']
            down = up + r.randint(1, 20000)
    return lines


def slow_receivers(r):
    """One scenario in five has a host that takes data in slowly for a time, and pauses its switch."""
    if r.random() > 0.2:
        return []
    start, xoff = r.randint(0, 20000), r.randint(3000, 40000)
    lines = ["[[slow-receiver]]", 'hosts = "h0"', f'rate = "{r.choice([0, 1, 5])}Gbps"']
    lines += [f'from = "{start}ns"', f'to = "{start + r.randint(1000, 100000)}ns"']
    lines += [f'xoff = "{xoff}B"', f'xon = "{xoff // 2}B"']
    return lines + (['storm-prevention = "20us"'] if r.random() < 0.3 else [])


def faults(r):
    """One scenario in five loses, delays or duplicates control frames."""
    if r.random() > 0.2:
        return []
    what = r.choice(['what = "drop"', 'what = "delay"\nby = "7us"', 'what = "duplicate"\nby = "3us"'])
    which = r.choice(["nth = 1", "nth = 3", 'share = "5%"', 'share = "30%"'])
    message = r.choice(["any", "pause", "resume"])
    return ["[[fault]]", 'link = "all"', f'message = "{message}"', what, which]


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
    lines += ["[link]", 'response = "0ns"', f"bit-error-rate = {r.choice(['0.0', '0.0', '1e-7', '1e-6'])}"]
    scheme = r.choice(SCHEMES)
    lines += ["[flow-control]", f'scheme = "{scheme}"', "OPTION"]
    lines += ["[congestion-control]", f'algorithm = "{r.choice(CONTROLS)}"']
    lines += ["[[traffic]]", 'kind = "list"', "flows = [", ",\n".join(rows), "]"]
    lines += ["[run]", 'allow-loss = true', f'until = "{r.choice(["60us", "300us", "50ms"])}"']
    if r.random() < 0.3:
        lines += ["[probe]", 'warm-up = "10us"']
    # drawn last, so that these change nothing of the above
    option = r.choice(OPTIONS.get(scheme, [""])) if r.random() < 0.5 else ""
    lines[lines.index("OPTION")] = option
    lines += failures(r, network)
    lines += slow_receivers(r)
    lines += faults(r)
    return "\n".join(lines) + "\n"
