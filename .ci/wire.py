#!/usr/bin/env python3
"""Compares what tshark reads in a capture of `one_of_each` with what was written: .ci/wire.py CAPTURE SCRATCH

The values are those of crates/wire/examples/one_of_each.rs, as nodes, flows and priorities map to
addresses and ports (crates/wire/src/addressing.rs).
"""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAUSE = "PAUSE prio 3: ingress s1/p0 61 440 B >= xoff 61 000 B"
RESUME = "RESUME prio 3: ingress s1/p0 44 000 B <= xon 45 000 B"
ROCE = {"udp.dstport": ["4791"], "ip.dsfield.dscp": ["24"], "ip.checksum.status": ["1"]}

# What Wireshark knows without our help, by comment.
STANDARD = {
    PAUSE: {
        "eth.dst": ["01:80:c2:00:00:01"],
        "eth.src": ["02:00:00:00:00:01"],
        "macc.opcode": ["0x0101"],
        "macc.cbfc.enbv": ["0x0008"],
        "macc.cbfc.pause_time.c3": ["65535"],
        "macc.cbfc.pause_time.c2": ["0"],
    },
    RESUME: {"macc.cbfc.enbv": ["0x0008"], "macc.cbfc.pause_time.c3": ["0"]},
    "classic PAUSE": {"macc.opcode": ["0x0001"], "macc.pause_time": ["1000"]},
    "WRITE first": {
        **ROCE,
        "ip.src": ["10.0.0.1"],
        "ip.dst": ["10.0.0.2"],
        "ip.dsfield.ecn": ["2"],
        "udp.srcport": ["49152"],
        "infiniband.bth.opcode": ["6"],
        "infiniband.bth.destqp": ["0x010000"],
        "infiniband.bth.psn": ["0"],
        "infiniband.reth.dmalen": ["100000"],
    },
    "WRITE middle, marked": {**ROCE, "infiniband.bth.opcode": ["7"], "ip.dsfield.ecn": ["3"]},
    "WRITE last": {**ROCE, "infiniband.bth.opcode": ["8"], "infiniband.bth.psn": ["2"]},
    "ACK": {
        **ROCE,
        "ip.src": ["10.0.0.2"],
        "infiniband.bth.opcode": ["17"],
        "infiniband.bth.psn": ["2"],
        "infiniband.aeth.syndrome.opcode": ["0"],
    },
    "NAK": {
        **ROCE,
        "infiniband.bth.psn": ["2"],
        "infiniband.aeth.syndrome.opcode": ["3"],
        "infiniband.aeth.syndrome.error_code": ["0"],
    },
    "CNP": {**ROCE, "infiniband.bth.opcode": ["129"]},
    "SYN": {"tcp.srcport": ["49153"], "tcp.dstport": ["5001"], "tcp.flags": ["0x0002"]},
    "SYN-ACK": {"tcp.srcport": ["5001"], "tcp.flags": ["0x0012"]},
    "TCP data": {"tcp.len": ["1460"], "tcp.flags": ["0x0018"], "tcp.checksum.status": ["1"]},
    "TCP ACK": {"tcp.ack_raw": ["1461"], "tcp.checksum.status": ["1"]},
}

FLOW_7 = {
    "weir.flow.src": ["10.0.0.0"],
    "weir.flow.dst": ["10.0.0.2"],
    "weir.flow.src_port": ["49159"],
    "weir.flow.dst_port": ["4791"],
    "weir.flow.protocol": ["17"],
}
# What only the dissector knows.
OWN = {
    "BPF of two flows": {
        "weir.scheme": ["FFC"],
        "weir.opcode": ["0x0111"],
        "weir.count": ["2"],
        "weir.flow.src": ["10.0.0.0", "10.0.0.1"],
        "weir.flow.priority": ["3", "3"],
        "weir.flow.xoff": ["1", "0"],
    },
    "BPF with 5-tuples": {"weir.opcode": ["0x0112"], **FLOW_7, "weir.flow.xoff": ["1"]},
    "GFC stage 2": {
        "weir.scheme": ["GFC"],
        "weir.gfc.enable": ["0x0008"],
        "weir.gfc.class": ["3"],
        "weir.gfc.stage": ["2"],
    },
    "GFC occupancy": {"weir.gfc.class": ["3"], "weir.gfc.occupancy": ["960"]},
    "OFC PAUSE of two flows": {
        "weir.scheme": ["OFC"],
        "weir.pause": ["1"],
        "weir.priority": ["3"],
        "weir.count": ["2"],
        "weir.flow.src": ["10.0.0.0", "10.0.0.1"],
        "weir.flow.dst": ["10.0.0.2", "10.0.0.2"],
        "weir.ofc.last": ["1"],
    },
    "OFC RESUME of all flows": {"weir.pause": ["0"], "weir.ofc.all": ["1"], "weir.count": ["0"]},
    "OFC PAUSE with 5-tuples": {
        # flow 65541 = 0x10005: ports 0xc000 ^ 5 and 4791 ^ 1
        "weir.ofc.tuples": ["1"],
        "weir.flow.src_port": ["49157"],
        "weir.flow.dst_port": ["4790"],
    },
    "FlowSail PAUSE": {"weir.scheme": ["FlowSail"], "weir.pause": ["1"], **FLOW_7},
    "BFC pause": {"weir.scheme": ["BFC"], "weir.pause": ["1"], "weir.bfc.queue": ["70000"]},
    "BFC bitmap": {"weir.bfc.bits": ["40"], "weir.bfc.paused": ["3", "33"]},
    "a scheme of one's own": {"weir.scheme": ["own"], "weir.own": ["0000000000000123" + 38 * "00"]},
    "congestion isolation": {
        "weir.cim.add": ["1"],
        "weir.cim.vid": ["5"],
        "weir.cim.src": ["02:00:00:00:00:01"],
        "weir.cim.msdu_len": ["48"],
        "weir.cim.msdu": [48 * "45"],
    },
    "CNP": {"cnp.dest_qp": ["0x010000"], "cnp.becn": ["1"], "cnp.reserved": [16 * "00"]},
}

COLOURS = {
    PAUSE: "Pause",
    RESUME: "Resume",
    "classic PAUSE": "Pause",
    "BPF of two flows": "Pause",
    "GFC stage 2": "Flow control state",
    "OFC RESUME of all flows": "Resume",
    "CNP": "CNP",
    "NAK": "NAK",
    "WRITE first": "RoCEv2",
    "WRITE middle, marked": "Congestion experienced",
    "TCP data": "TCP",
}

problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: tshark reads {found}, written was {wanted}")


def tshark(capture, home, fields, *options):
    """The values of these fields, by the frame's comment."""
    command = ["tshark", "-r", capture, "-T", "json", *options]
    checks = ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"]
    command += [word for check in checks for word in ("-o", check)]
    command += [word for name in ["frame.comment", *fields] for word in ("-e", name)]
    environment = {**os.environ, "HOME": str(home)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    notes = [line for line in ended.stderr.splitlines() if "Running as user" not in line]
    if ended.returncode or any("lua" in note.lower() for note in notes):
        sys.exit("\n".join([f"tshark failed: {' '.join(command)}", *notes]))
    frames = [packet["_source"]["layers"] for packet in json.loads(ended.stdout)]
    return {frame["frame.comment"][0]: frame for frame in frames}


def check_fields(frames, table):
    for comment, fields in table.items():
        for name, wanted in fields.items():
            found = frames.get(comment, {}).get(name)
            if found is not None and name in ("weir.own", "weir.cim.msdu", "cnp.reserved"):
                found = [value.replace(":", "") for value in found]
            expect(f"{comment}: {name}", found, wanted)


def names(table):
    return sorted({name for fields in table.values() for name in fields})


def write_short_frames(path):
    """Frames of each kind that end anywhere before byte 60, with counts that promise more."""
    codes = [b"\x88\x08" + code for code in (b"\0\x01", b"\x01\x01", b"\x01\x11", b"\x01\x12", b"\x01\x13")]
    codes += [b"\x88\xb5" + bytes([kind]) for kind in range(9)] + [b"\x88\xb6", b"\x89\xa2"]
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for code in codes:
            for length in range(12 + len(code), 60):
                frame = (bytes(12) + code).ljust(length, b"\xff")
                out.write(struct.pack("<IIII", 0, 0, length, length) + frame)


def main():
    capture, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    home = scratch / "home"
    profile = home / ".config/wireshark/profiles/Weir"
    shutil.copytree(ROOT / "wireshark/profile", profile)
    dissector = ["-X", f"lua_script:{ROOT / 'wireshark/weir.lua'}"]

    seen = ["frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction"]
    frames = tshark(capture, home, seen + names(STANDARD))
    check_fields(frames, STANDARD)
    controls = [PAUSE, RESUME, *(name for name in OWN if name != "CNP"), "classic PAUSE"]
    expect("frames", len(frames), len(controls) + len(STANDARD) - 3)
    for i, (comment, frame) in enumerate(frames.items()):
        # one every 1001 ns, control frames sent by the first port, the others received by the second
        sent = comment in controls
        expect(f"{comment}: time", float(frame["frame.time_epoch"][0]), (i + 1) * 1001 / 1e9)
        expect(f"{comment}: interface", frame["frame.interface_name"], ["s1/p0" if sent else "s1/p1"])
        direction = frame.get("frame.packet_flags_direction")
        expect(f"{comment}: direction", direction, ["0x00000002" if sent else "0x00000001"])

    frames = tshark(capture, home, names(OWN) + names(STANDARD), *dissector)
    check_fields(frames, OWN)
    # the dissector changes nothing about frames that Wireshark knows
    check_fields(frames, STANDARD)

    coloured = tshark(capture, home, ["frame.coloring_rule.name"], *dissector, "-C", "Weir", "--color")
    for comment, rule in COLOURS.items():
        expect(f"{comment}: colour", coloured[comment].get("frame.coloring_rule.name"), [rule])
    wrong = tshark(capture, home, [], *dissector, "-Y", "_ws.malformed || weir.malformed || _ws.lua.error")
    expect("malformed frames", sorted(wrong), [])

    short = str(scratch / "short.pcap")
    write_short_frames(short)
    command = ["tshark", "-r", short, "-Y", "_ws.lua.error", *dissector]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    expect("errors of the dissector on short frames", ended.stdout.splitlines(), [])

    if problems:
        sys.exit("\n".join(problems))
    print(f"tshark reads {len(frames)} frames as they were written, with and without the dissector")


main()
