#!/usr/bin/env python3
"""Reads a capture back and compares it with the results of the run: .ci/recapture.py CAPTURE RESULTS

The reader of pcapng here follows the text of draft-ietf-opsawg-pcapng, and that of frames follows docs/src/wireshark.md;
nothing of Weir's own code is used. The capture must be of all ports of the network (`--pcap all=FILE`), and RESULTS the
directory of `--out` of the same run. Compared are

* the packets, the bytes and the control frames that each port sent, with ports.csv;
* every pause and resume with its time, its interval and its reason, with pauses.csv; with PFC also how often and how long
  each port was held, with ports.csv (and its successors that pause whole priorities);
* the start, the end, the size and the packets of each flow, with flows.csv.

Times of a capture are whole nanoseconds, rounded down.
"""

import collections
import csv
import pathlib
import struct
import sys

FCS, PREAMBLE_AND_GAP = 4, 20
Frame = collections.namedtuple("Frame", "interface ns direction comment length data")
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: the capture says {found}, the results {wanted}")


def padded(length):
    return (length + 3) // 4 * 4


def options(body):
    """The options at the end of a block: (code, value)."""
    at = 0
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + padded(length)


def read(path):
    """The names of the interfaces and the frames of a little-endian pcapng file."""
    data = pathlib.Path(path).read_bytes()
    names, frames, at = [], [], 0
    while at < len(data):
        kind, total = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + total - 4]
        assert total % 4 == 0 and struct.unpack_from("<I", data, at + total - 4) == (total,)
        at += total
        if kind == 0x0A0D0D0A:
            magic, major, minor = struct.unpack_from("<IHH", body)
            assert (magic, major, minor) == (0x1A2B3C4D, 1, 0)
        elif kind == 1:
            link_type, _, _ = struct.unpack_from("<HHI", body)
            found = dict(options(body[8:]))
            # Ethernet, in units of 10^-9 s
            assert link_type == 1 and found[9] == b"\x09"
            names.append(found[2].decode())
        elif kind == 6:
            interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
            found = dict(options(body[20 + padded(kept) :]))
            direction = {1: "in", 2: "out"}[struct.unpack("<I", found[2])[0] & 3]
            comment = found[1].decode() if 1 in found else None
            packet = body[20 : 20 + kept]
            frames.append(Frame(interface, high << 32 | low, direction, comment, length, packet))
        else:
            sys.exit(f"a block of type {kind}")
    return names, frames


def ethertype(frame):
    return struct.unpack_from(">H", frame.data, 12)[0]


def is_control(frame):
    return ethertype(frame) in (0x8808, 0x88B5, 0x88B6)


Roce = collections.namedtuple("Roce", "flow opcode psn size")


def roce(frame):
    """The flow, the opcode, the sequence number and the announced size of a RoCEv2 packet."""
    ip = frame.data[14:]
    assert ethertype(frame) == 0x0800 and ip[0] == 0x45 and ip[9] == 17
    src, dst = struct.unpack_from(">II", ip, 12)
    sport, dport = struct.unpack_from(">HH", ip, 20)
    assert dport == 4791
    bth = ip[28:]
    opcode, qp, psn = bth[0], int.from_bytes(bth[5:8], "big"), int.from_bytes(bth[9:12], "big")
    answer = opcode in (0x11, 0x81)
    host = (dst if answer else src) - 0x0A000000
    number = (qp - 0x010000) << 16 | (sport ^ 0xC000)
    size = struct.unpack_from(">I", bth, 24)[0] if opcode in (0x06, 0x0A) else None
    return Roce(f"f{host}.{number}", opcode, psn, size)


FIRST, LAST, ANSWERS = (0x06, 0x0A), (0x08, 0x0A), (0x11, 0x81)


def simulated(frame):
    """Bytes that the frame has in the simulator. An ACK of 64 B has 66 B as RoCEv2."""
    length = frame.length + FCS
    if not is_control(frame) and roce(frame).opcode == 0x11:
        length -= 2
    return length


def table(results, name):
    with open(results / name, encoding="utf-8") as text:
        return list(csv.DictReader(text))


def by_priority(cell):
    return {int(p): int(n) for p, n in (part.split(":") for part in cell.split())}


def match_ports(names, frames, rows):
    """The label of each interface in the tables: both list the ports of a node in their order."""
    sending = {frame.interface for frame in frames if frame.direction == "out"}
    ports = collections.defaultdict(list)
    for i, name in enumerate(names):
        node, port = name.rsplit("/p", 1)
        if i in sending:
            ports[node].append((int(port), i))
    labels = {}
    for node, found in ports.items():
        listed = [row["port"] for row in rows if row["node"] == node and int(row["packets"]) > 0]
        expect(f"ports of {node} that sent", len(found), len(listed))
        labels.update({i: label for (_, i), label in zip(sorted(found), listed)})
    return labels


def pfc_states(frame):
    """The (priority, pauses) that a PFC frame states."""
    enable, *times = struct.unpack_from(">H8H", frame.data, 16)
    return [(p, times[p] > 0) for p in range(8) if enable >> p & 1]


def changes(frames, direction):
    """Where the pause state of a priority changes over an interface: (interface, priority, pauses, frame)."""
    state = collections.defaultdict(bool)
    for frame in frames:
        if frame.direction == direction and ethertype(frame) == 0x8808:
            for priority, pauses in pfc_states(frame):
                key = (frame.interface, priority)
                if state[key] != pauses:
                    state[key] = pauses
                    yield frame.interface, priority, pauses, frame


def check_ports(frames, rows, labels, pfc):
    sent = collections.defaultdict(list)
    for frame in frames:
        if frame.direction == "out":
            sent[labels[frame.interface]].append(frame)
    for row in rows:
        own, port = sent[row["port"]], row["port"]
        expect(f"{port}: packets", len(own), int(row["packets"]))
        total = sum(simulated(frame) + PREAMBLE_AND_GAP for frame in own)
        expect(f"{port}: wire_bytes", total, int(row["wire_bytes"]))
        expect(f"{port}: control_sent", sum(map(is_control, own)), int(row["control_sent"]))
    if not pfc:
        return
    pauses, holds, held, since = (collections.defaultdict(collections.Counter) for _ in range(4))
    for interface, priority, stops, _ in changes(frames, "out"):
        pauses[labels[interface]][priority] += stops
    for interface, priority, stops, frame in changes(frames, "in"):
        label = labels[interface]
        if stops:
            holds[label][priority] += 1
            since[label][priority] = frame.ns
        else:
            held[label][priority] += frame.ns - since[label][priority]
    for row in rows:
        port = row["port"]
        expect(f"{port}: pauses_sent", dict(pauses[port]), by_priority(row["pauses_sent"]))
        expect(f"{port}: holds", dict(holds[port]), by_priority(row["holds"]))
        for priority, ps in by_priority(row["held_ps"]).items():
            # the start and the end of each are rounded down
            off = abs(held[port][priority] * 1000 - ps)
            if off > 1000 * holds[port][priority]:
                found = held[port][priority]
                problems.append(f"{port}: held for {found} ns in the capture, {ps} ps in ports.csv")


def reason(row, interface):
    """The part of a comment that says why."""
    if not row["value"]:
        return row["reason"]
    grouped = lambda n: f"{int(n):,}".replace(",", " ")
    quantity, relation, limit = row["reason"].split(" ")
    where = interface[row["measured_at"]]
    return f"{quantity} {where} {grouped(row['value'])} B {relation} {limit} {grouped(row['threshold'])} B"


def scope(row):
    action, priority, scope = row["action"].upper(), row["priority"], row["scope"]
    if scope == "priority":
        return f"{action} prio {priority}"
    if scope.startswith("stage "):
        return f"STOP prio {priority}" if scope == "stage 255" else f"STAGE {scope[6:]} prio {priority}"
    if scope == "1 flows":
        scope = "1 flow"
    return f"{action} prio {priority} {scope}"


def check_pauses(frames, names, rows, labels, pfc):
    interface = {label: names[i] for i, label in labels.items()}
    sent = collections.defaultdict(list)
    if pfc:
        for i, _, _, frame in changes(frames, "out"):
            sent[labels[i]].append(frame)
    else:
        for frame in frames:
            if frame.direction == "out" and is_control(frame):
                sent[labels[frame.interface]].append(frame)
    decided = collections.defaultdict(list)
    for row in rows:
        decided[row["port"]].append(row)
    expect("ports that pause", sorted(sent), sorted(decided))
    # a frame waits for one of 1518 B on the wire, at most, and for control frames before it
    longest = (1518 + PREAMBLE_AND_GAP) * 8 / 40 + 8 * 84 * 8 / 40
    compared = 0
    for port, own in sent.items():
        expect(f"{port}: pauses and resumes", len(own), len(decided[port]))
        for frame, row in zip(own, decided[port]):
            expect(f"{port}: comment", frame.comment, f"{scope(row)}: {reason(row, interface)}")
            waited = frame.ns - int(row["at_ps"]) // 1000
            if not 0 <= waited <= longest:
                problems.append(f"{port}: {frame.comment} goes out {waited} ns after it was decided")
            compared += 1
    # each interval, from PAUSE to RESUME, is that of the table but for these waits
    for port, own in sent.items():
        on = None
        for frame, row in zip(own, decided[port]):
            if row["action"] == "pause":
                on = on or (frame.ns, int(row["at_ps"]))
            elif on:
                off = abs((frame.ns - on[0]) - (int(row["at_ps"]) - on[1]) / 1000)
                if off > longest:
                    problems.append(f"{port}: an interval differs by {off} ns")
                on = None
    return compared


def check_flows(frames, names, rows):
    flows = {row["flow"]: row for row in rows}
    seen = {flow: collections.Counter() for flow in flows}
    ends = collections.defaultdict(dict)
    for frame in frames:
        if is_control(frame):
            continue
        packet, node = roce(frame), names[frame.interface].split("/")[0]
        row = flows[packet.flow]
        data = packet.opcode not in ANSWERS
        if data and frame.direction == "out" and node == row["src"]:
            seen[packet.flow]["packets"] += 1
            ends[packet.flow].setdefault("start", frame.ns)
            if packet.opcode in FIRST:
                ends[packet.flow]["size"] = packet.size
        elif data and frame.direction == "in" and node == row["dst"]:
            seen[packet.flow]["arrived"] += 1
            if packet.opcode in LAST:
                ends[packet.flow]["end"] = frame.ns
        elif not data and frame.direction == "in" and node == row["src"]:
            ends[packet.flow]["acked"] = frame.ns
    for flow, row in flows.items():
        start, end = int(row["start_ps"]), ends[flow]
        expect(f"{flow}: packets", seen[flow]["packets"], int(row["packets"]))
        expect(f"{flow}: packets that arrived", seen[flow]["arrived"], int(row["packets"]))
        expect(f"{flow}: size", end["size"], int(row["size"]))
        expect(f"{flow}: start", end["start"], start // 1000)
        expect(f"{flow}: end", end["end"], (start + int(row["fct_ps"])) // 1000)
        expect(f"{flow}: last ACK", end["acked"], (start + int(row["fct_ack_ps"])) // 1000)


def main():
    capture, results = sys.argv[1], pathlib.Path(sys.argv[2])
    names, frames = read(capture)
    ports, pauses, flows = (table(results, f"{name}.csv") for name in ("ports", "pauses", "flows"))
    # those whose frames state what is paused from then on, and hold whole priorities
    pfc = ports[0]["scheme"] in ("pfc", "capfc", "ppfc")
    labels = match_ports(names, frames, ports)
    check_ports(frames, ports, labels, pfc)
    compared = check_pauses(frames, names, pauses, labels, pfc)
    check_flows(frames, names, flows)
    if problems:
        sys.exit("\n".join([f"{capture}:", *problems[:20]]))
    if not compared:
        sys.exit(f"{capture}: no pause in it")
    scheme = ports[0]["variant"]
    print(
        f"{scheme}: {len(frames)} frames of {len(names)} ports, {compared} pauses and resumes and {len(flows)} flows are as in"
        " the results"
    )


main()
