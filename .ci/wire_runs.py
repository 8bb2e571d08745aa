#!/usr/bin/env python3
"""Captures of runs as tshark reads them: .ci/wire_runs.py WEIR SCRATCH

WEIR is the program. Each scheme runs once with `--pcap`; tshark, with and without the dissector, must find the fields of
every control frame, the reason beside it, the name of the port, the direction and the time.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEIR, SCRATCH = sys.argv[1], pathlib.Path(sys.argv[2])
DISSECTOR = ["-X", f"lua_script:{ROOT / 'wireshark/weir.lua'}"]
COMMON = ["frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "frame.comment", "eth.dst"]
TO_NEIGHBOUR = ["01:80:c2:00:00:01"]
REASON = re.compile(
    r"(ingress|headroom|forecast|egress|queue|flow) Sb/p\d+ [\d ]+ B (>=|>|<=|<) [a-z-]+ [\d ]+ B(, and \d+ more)?$"
    r"|counted packets gone$|refresh$|report$"
)
# Of each scheme: settings, what tells its frames from others, and what all of them have.
RUNS = {
    "pfc": ([], ("macc.opcode", "0x0101"), ["macc.cbfc.enbv", "macc.cbfc.pause_time.c3"]),
    "capfc": ([], ("macc.opcode", "0x0101"), ["macc.cbfc.enbv", "macc.cbfc.pause_time.c3"]),
    "ppfc": ([], ("macc.opcode", "0x0101"), ["macc.cbfc.enbv", "macc.cbfc.pause_time.c3"]),
    "gpfc": ([], ("macc.opcode", "0x0101"), ["macc.cbfc.enbv", "macc.cbfc.pause_time.c3"]),
    "gfc": ([], ("weir.scheme", "GFC"), ["weir.gfc.enable", "weir.gfc.class", "weir.gfc.stage"]),
    "ofc": ([], ("weir.scheme", "OFC"), ["weir.pause", "weir.ofc.all", "weir.flow.src", "weir.flow.dst"]),
    "bfc": ([], ("weir.scheme", "BFC"), ["weir.pause", "weir.priority", "weir.bfc.queue"]),
    "bfc-bitmaps": (
        ["--scheme", "bfc", "--set", "flow-control.bfc.frames=periodic"],
        ("weir.scheme", "BFC"),
        ["weir.bfc.bits"],
    ),
    "ideal": ([], ("weir.scheme", "FlowSail"), ["weir.pause", "weir.flow.src", "weir.flow.src_port"]),
    "flowsail": ([], ("weir.scheme", "FlowSail"), ["weir.pause", "weir.flow.src", "weir.flow.src_port"]),
    "ffc": ([], ("weir.scheme", "FFC"), ["weir.count", "weir.flow.src", "weir.flow.priority", "weir.flow.xoff"]),
}

problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: tshark reads {found}, expected was {wanted}")


def weir(*words):
    ended = subprocess.run([WEIR, "run", *words, "--quiet"], capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"weir run {' '.join(words)}: {ended.stderr}")


def tshark(capture, fields, *options):
    command = ["tshark", "-r", str(capture), "-T", "json", *options]
    command += [word for name in fields for word in ("-e", name)]
    environment = {**os.environ, "HOME": str(SCRATCH / "nobody")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode or "lua" in ended.stderr.lower():
        sys.exit(f"tshark failed: {' '.join(command)}\n{ended.stderr}")
    return [packet["_source"]["layers"] for packet in json.loads(ended.stdout)]


def check_scheme(name, settings, kind, fields):
    capture = SCRATCH / f"{name}.pcapng"
    chosen = [] if "--scheme" in settings else ["--scheme", name]
    # the bursts last 30 us, and their pauses some 100 us more
    weir("ofc-fig1", *chosen, *settings, "--to", "200us", "--pcap", f"Sb={capture}")
    which, word = kind
    controls = tshark(capture, [*COMMON, which, *fields], *DISSECTOR, "-Y", "not ip")
    if not controls:
        problems.append(f"{name}: no control frame")
    for frame in controls:
        comment = frame.get("frame.comment", [""])[0]
        own = frame["frame.packet_flags_direction"] == ["0x00000002"]
        if own and not REASON.match(comment.split(": ", 1)[-1]):
            problems.append(f"{name}: a comment `{comment}`")
        expect(f"{name}: {comment}: destination", frame["eth.dst"], TO_NEIGHBOUR)
        expect(f"{name}: {comment}: {which}", frame.get(which), [word])
        # the ports of Sb: p0 to Sa, p1 to Sc
        if frame["frame.interface_name"][0] not in ("Sb/p0", "Sb/p1"):
            problems.append(f"{name}: interface {frame['frame.interface_name']}")
        missing = [field for field in fields if field not in frame]
        # a wildcard lists no flows
        if missing and frame.get("weir.ofc.all") != ["1"]:
            problems.append(f"{name}: {comment}: no {missing}")
    odd = "_ws.malformed || weir.malformed || _ws.lua.error || (ip && !infiniband.bth.opcode)"
    expect(f"{name}: frames that do not dissect", tshark(capture, ["frame.number"], *DISSECTOR, "-Y", odd), [])
    return len(controls)


def check_pfc():
    """PFC frames of a port field by field against pauses.csv of the run."""
    capture, out = SCRATCH / "pfc-fields.pcapng", SCRATCH / "pfc-fields"
    weir("ofc-fig1", "--scheme", "pfc", "--pcap", f"Sa/h0={capture}", "--out", str(out))
    # PAUSEs for 65535 quanta outlast the run: no frame repeats one
    fields = ["macc.opcode", "macc.cbfc.enbv", *(f"macc.cbfc.pause_time.c{p}" for p in range(8))]
    frames = tshark(capture, [*COMMON, *fields], "-Y", "macc")
    with open(out / "pauses.csv", encoding="utf-8") as text:
        rows = [row for row in csv.DictReader(text) if row["port"] == "Sa:h0"]
    expect("pfc: frames", len(frames), len(rows))
    for frame, row in zip(frames, rows):
        what = f"pfc at {row['at_ps']} ps"
        quanta = "65535" if row["action"] == "pause" else "0"
        expect(f"{what}: opcode", frame["macc.opcode"], ["0x0101"])
        expect(f"{what}: vector", frame["macc.cbfc.enbv"], ["0x0008"])
        times = [frame[f"macc.cbfc.pause_time.c{p}"][0] for p in range(8)]
        expect(f"{what}: times", times, ["0", "0", "0", quanta, "0", "0", "0", "0"])
        expect(f"{what}: interface", frame["frame.interface_name"], ["Sa/p0"])
        expect(f"{what}: direction", frame["frame.packet_flags_direction"], ["0x00000002"])
        grouped = [f"{int(row[name]):,}".replace(",", " ") for name in ("value", "threshold")]
        quantity, relation, limit = row["reason"].split()
        why = f"{quantity} Sa/p0 {grouped[0]} B {relation} {limit} {grouped[1]} B"
        expect(f"{what}: comment", frame["frame.comment"], [f"{row['action'].upper()} prio 3: {why}"])
        # nine digits after the point; a frame of 1518 B may be on the wire, for 307.6 ns
        seconds, ns = frame["frame.time_epoch"][0].split(".")
        expect(f"{what}: digits of a second", len(ns), 9)
        waited = int(seconds) * 10**9 + int(ns) - int(row["at_ps"]) // 1000
        if not 0 <= waited <= 308:
            problems.append(f"{what}: sent {waited} ns later")
    return len(frames)


def check_answers():
    """CNPs of DCQCN, and TCP."""
    capture = SCRATCH / "cnp.pcapng"
    answers = "congestion-control.dcqcn.cnp-interval=50us"
    weir("incast", "--cc", "dcqcn", "--set", answers, "--seed", "1", "--pcap", f"all={capture}", "--pcap-limit", "20MB")
    marked = tshark(capture, ["ip.dsfield.ecn"], "-Y", "ip.dsfield.ecn == 3")
    cnps = tshark(capture, ["cnp.dest_qp", "cnp.becn"], *DISSECTOR, "-Y", "cnp")
    if not marked or not cnps or any(frame.get("cnp.becn") != ["1"] for frame in cnps):
        problems.append(f"DCQCN: {len(marked)} marked packets and {len(cnps)} CNPs")
    capture = SCRATCH / "tcp.pcapng"
    weir("incast", "--set", "nic.transport=tcp", "--seed", "1", "--pcap", f"all={capture}", "--pcap-limit", "5MB", "--pcap-snap", "80B")
    segments = tshark(capture, ["tcp.len", "frame.cap_len"], "-Y", "tcp")
    if not segments or any(int(frame["frame.cap_len"][0]) > 80 for frame in segments):
        problems.append(f"TCP: {len(segments)} segments, cut to 80 B")
    return len(cnps), len(segments)


def check_snap():
    """Frames that are cut off are never malformed; from 80 B on all headers of data packets are there."""
    for snap in (14, 33, 53, 66, 80, 128, 1000):
        for transport in ("roce", "tcp"):
            capture = SCRATCH / f"snap-{transport}-{snap}.pcapng"
            settings = ["--set", "nic.transport=tcp"] if transport == "tcp" else []
            limits = ["--pcap-snap", f"{snap}B", "--pcap-limit", "300KB"]
            weir("incast", *settings, "--seed", "1", "--pcap", f"sw0/p0={capture}", *limits)
            odd = "_ws.malformed" if snap < 80 else "_ws.malformed || _ws.short"
            found = tshark(capture, ["frame.number"], *DISSECTOR, "-Y", odd)
            expect(f"{transport} cut to {snap} B: frames that do not dissect", found, [])


def main():
    (SCRATCH / "nobody").mkdir(exist_ok=True)
    counts = [check_scheme(name, *run) for name, run in RUNS.items()]
    fields = check_pfc()
    cnps, segments = check_answers()
    check_snap()
    if problems:
        sys.exit("\n".join(problems[:30]))
    print(
        f"tshark reads captures of {len(RUNS)} runs: {sum(counts)} control frames with their reasons, {fields} PFC frames"
        f" field by field, {cnps} CNPs, {segments} TCP segments"
    )


main()
