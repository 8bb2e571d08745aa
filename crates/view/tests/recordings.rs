//! Recordings of runs: what is in them, their size, slices and traces.

use weir_core::Time;
use weir_results::run::{Meter, Run, run};
use weir_scenario::{Experiment, Files};
use weir_sim::config::EngineConfig;
use weir_sim::probe::RecordConfig;
use weir_view::{
    FormatError, Kind, Limit, POLL, Slice, SliceError, Timeline, TimelineTable, decode, encode,
    perfetto, polls, record,
};

/// A built-in scenario that records.
fn experiment(name: &str) -> Experiment {
    let mut e = Experiment::load(name, &[]).unwrap_or_else(|p| panic!("{p}"));
    e.record = Some(RecordConfig::default());
    e
}

fn run_of(e: &Experiment, scheme: &str) -> Run {
    let own = e.own_variant();
    let scheme = weir_fc::scheme(scheme).expect("a scheme");
    let variant = weir_scenario::Variant { scheme, ..own };
    run(e, variant, &Meter::new(1), 0).expect("a valid run")
}

fn file(name: &str, scheme: &str) -> Vec<u8> {
    let e = experiment(name);
    record(&e, &run_of(&e, scheme), Limit::default()).expect("it records").file
}

fn timeline(name: &str, scheme: &str) -> Timeline {
    decode(&file(name, scheme)).expect("it is readable")
}

/// The number of the port from one node to another.
fn port(timeline: &Timeline, from: &str, to: &str) -> u64 {
    let header = &timeline.header;
    let node = |number: u32| header.nodes[number as usize].name.as_str();
    let is = |p: &weir_view::PortInfo| {
        node(p.node) == from && node(header.ports[p.peer as usize].node) == to
    };
    header.ports.iter().position(is).expect("a link") as u64
}

/// In OFC's Fig. 1 the port of Sc to h9 (P_d) cannot keep up: Sc pauses Sb, Sb pauses Sa, Sa its
/// hosts. The pause of the link from Sb to Sc is caused by P_d, and so is everything above it.
#[test]
fn pauses_of_fig_1_lead_to_the_congested_port() {
    let t = timeline("ofc-fig1", "pfc");
    let (sb, sa) = (port(&t, "Sb", "Sc"), port(&t, "Sa", "Sb"));
    let column = |name| t.column("pauses", name);
    let congested = t.header.ports.iter().position(|p| p.name.contains("P_d")).expect("an alias");
    let cause = |row: usize| (column("cause")[row] as usize).checked_sub(1);
    let rows = |port: u64| (0..column("port").len()).filter(move |r| column("port")[*r] == port);
    assert!(rows(sb).count() > 0 && rows(sa).count() > 0);
    assert!(rows(sb).all(|row| cause(row) == Some(congested) && column("parent")[row] == 0));
    for row in rows(sa) {
        let (parent, root) = (column("parent")[row], column("root")[row]);
        let above = parent as usize - 1;
        assert_eq!((column("port")[above], root), (sb, column("root")[above]), "row {row}");
        assert_eq!(cause(root as usize - 1), Some(congested));
        assert!(column("from")[above] < column("from")[row]);
    }
}

/// What the recording says of a victim is what tables say.
#[test]
fn holds_of_flows_are_those_of_the_tables() {
    let e = experiment("ofc-fig1");
    for scheme in ["pfc", "ofc"] {
        let run = run_of(&e, scheme);
        let file = record(&e, &run, Limit::default()).expect("it records").file;
        let t = decode(&file).expect("it is readable");
        let total: u64 = t.column("holds", "held").iter().sum();
        let expected: u64 = run.outcome.flows.iter().map(|f| f.held_total().as_ps()).sum();
        assert_eq!(total, expected, "{scheme}");
    }
}

#[test]
fn a_deadlocked_ring_has_its_cycle_in_order() {
    let t = timeline("ring-deadlock", "pfc");
    assert_eq!(t.header.outcome, "deadlocked");
    let ports = t.column("deadlocks", "port");
    assert_eq!(ports.len(), 4, "a ring of four switches");
    let at = |p: u64| &t.header.ports[p as usize];
    for (i, port) in ports.iter().enumerate() {
        let next = ports[(i + 1) % ports.len()];
        assert_eq!(at(at(*port).peer.into()).node, at(next).node, "each waits for the next");
    }
}

#[test]
fn the_same_run_is_the_same_file_on_any_number_of_threads() {
    let mut e = experiment("ofc-fig1");
    let first = record(&e, &run_of(&e, "ofc"), Limit::default());
    e.engine = EngineConfig::Window { threads: 3 };
    assert_eq!(record(&e, &run_of(&e, "ofc"), Limit::default()), first);
}

/// A limit that is too small for windows of a microsecond: they become longer, the file says so,
/// and the sums stay what they are.
#[test]
fn a_small_limit_makes_windows_longer_and_says_so() {
    let e = experiment("ofc-fig1");
    let run = run_of(&e, "pfc");
    let whole = record(&e, &run, Limit::default()).expect("it records");
    let limit = Limit(whole.file.len() as u64 / 2);
    let small = record(&e, &run, limit).expect("it records");
    assert!(small.file.len() as u64 <= limit.0, "{} B", small.file.len());
    assert!(whole.decimated.is_none());
    let decimated = small.decimated.expect("it says so");
    assert_eq!((decimated.asked_window_ps, decimated.limit_bytes), (1_000_000, limit.0));
    let (factor, rest) = (small.window_ps / 1_000_000, small.window_ps % 1_000_000);
    assert!(factor > 1 && factor.is_power_of_two() && rest == 0, "{}", small.window_ps);
    let sent = |file: &[u8]| {
        decode(file).expect("it is readable").column("samples", "sent").iter().sum::<u64>()
    };
    assert_eq!(sent(&small.file), sent(&whole.file));
    // nothing fits 2 KB: what is left out is counted
    let tiny = record(&e, &run, Limit(2_000)).expect("it records");
    assert!(tiny.left_out > 0 && tiny.file.len() < small.file.len());
}

#[test]
fn what_is_written_is_read_back() {
    let mut all = Timeline::default();
    all.header.window_ps = 7;
    let kinds = [
        ("a", Kind::U8),
        ("b", Kind::U32),
        ("c", Kind::Varint),
        ("d", Kind::Delta),
        ("e", Kind::Runs),
        ("f", Kind::Sparse),
    ];
    let mut table = TimelineTable::new("numbers", &kinds);
    let mut state = 1u64;
    for i in 0..500u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(i));
        let wide = state >> (i % 64);
        let stairs = u64::from(i / 7).wrapping_mul(wide);
        let rare = if i % 5 == 0 { wide } else { 0 };
        table.push([state % 256, state >> 32, wide, wide.rotate_left(i), stairs, rare]);
    }
    table.push([255, u32::MAX.into(), u64::MAX, u64::MAX, u64::MAX, u64::MAX]);
    table.push([0; 6]);
    all.tables.push(table);
    let read = decode(&encode(&all)).expect("it is readable");
    assert_eq!(read.tables, all.tables);
    assert_eq!(read.header.window_ps, 7);
}

/// A file that is cut off, changed or of a later version is refused in a sentence, and nothing
/// panics.
#[test]
fn damaged_files_are_refused() {
    let file = file("ring-deadlock", "pfc");
    assert_eq!(decode(b"PK"), Err(FormatError::Magic));
    for length in (0..file.len()).step_by(97) {
        assert!(decode(&file[..length]).is_err(), "{length} B");
    }
    for place in (6..file.len()).step_by(41) {
        let mut changed = file.clone();
        changed[place] ^= 0x55;
        assert!(decode(&changed).is_err(), "byte {place}");
    }
    let mut later = file.clone();
    later[6] = 9;
    let error = decode(&later).expect_err("it is refused").to_string();
    assert!(error.contains("version 9") && error.contains("reads 1 to 2"), "{error}");
}

/// Nobody has to write `runs` and `sparse`, and no order is asked for: a file of version 1 has
/// windows by time in other columns, and is read, cut and polled like one of today.
#[test]
fn a_file_of_the_version_before_is_read() {
    let now = timeline("ofc-fig1", "pfc");
    let mut before = now.clone();
    let samples = before.table_mut("samples").expect("windows of ports");
    let windows = samples.column("window").to_vec();
    let mut order: Vec<usize> = (0..windows.len()).collect();
    order.sort_by_key(|row| windows[*row]);
    for column in &mut samples.columns {
        column.values = order.iter().map(|row| column.values[*row]).collect();
        column.kind = Kind::Varint;
    }
    before.table_mut("rates").expect("rates").columns.iter_mut().for_each(|c| c.kind = Kind::Delta);
    let mut file = encode(&before);
    file[6] = 1;
    let read = decode(&file).expect("it is readable");
    assert_eq!(read.tables, before.tables);
    for every in [POLL, Time::from_us(10)] {
        assert_eq!(polls(&read, every), polls(&now, every));
    }
    let slice =
        Slice { from: Some(Time::from_us(50)), ports: vec!["Sb".into()], ..Slice::default() };
    let sorted = |t: &Timeline| {
        let part = slice.cut(t).expect("it can be cut");
        let column = |name| part.column("samples", name).to_vec();
        let (window, port, sent) = (column("window"), column("port"), column("sent"));
        let mut rows: Vec<_> = (0..sent.len()).map(|i| (window[i], port[i], sent[i])).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(&read), sorted(&now));
}

/// The file of a body, with the sums that belong to it.
fn packed(body: &[u8]) -> Vec<u8> {
    let mut file = b"WEIRTL\x02\0\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    file.extend(miniz_oxide::deflate::compress_to_vec(body, 1));
    file.extend(crc32fast::hash(body).to_le_bytes());
    file.extend((body.len() as u32).to_le_bytes());
    file
}

/// What is wrong below sums that are right is refused in words or is another recording; nothing
/// panics and nothing asks for memory without end.
#[test]
fn a_changed_body_is_read_or_refused() {
    let file = file("ring-deadlock", "pfc");
    let body = miniz_oxide::inflate::decompress_to_vec(&file[18..file.len() - 8]).expect("deflate");
    assert_eq!(decode(&packed(&body)), decode(&file));
    let mut refused = 0;
    let places: Vec<usize> = (0..body.len()).step_by(53).collect();
    for &place in &places {
        for with in [0x01, 0x80] {
            let mut changed = body.clone();
            changed[place] ^= with;
            refused += usize::from(decode(&packed(&changed)).is_err());
        }
        assert!(decode(&packed(&body[..place])).is_err(), "{place} B");
    }
    assert!(refused > places.len() / 4, "{refused} of {}", 2 * places.len());
}

/// Few bytes that promise many rows are refused before memory is asked for.
#[test]
fn a_section_of_nothing_but_promises_is_refused() {
    for kind in [Kind::Runs, Kind::Sparse] {
        let mut all = Timeline::default();
        all.header.window_ps = 7;
        let mut table = TimelineTable::new("numbers", &[("a", kind)]);
        (0..100).for_each(|_| table.push([0]));
        all.tables.push(table);
        let error = decode(&encode(&all)).expect_err("it is refused").to_string();
        assert!(error.contains("no column of `numbers` has 100 rows"), "{error}");
    }
}

/// Rows of a slice and rows that are counted as left out are all rows.
#[test]
fn a_slice_counts_what_it_leaves_out() {
    let whole = timeline("ofc-fig1", "pfc");
    let slice = Slice {
        from: Some(Time::from_us(100)),
        to: Some(Time::from_us(200)),
        ports: vec!["Sb".into(), "P_d".into()],
    };
    let part = slice.cut(&whole).expect("it can be cut");
    for table in ["pauses", "samples", "rates", "polls", "holds", "paths"] {
        let rows = |t: &Timeline| t.table(table).map_or(0, TimelineTable::rows) as u64;
        let left_out = part.header.left_out.get(&format!("slice_{table}")).copied().unwrap_or(0);
        assert_eq!(rows(&part) + left_out, rows(&whole), "{table}");
    }
    assert!(part.table("samples").map_or(0, TimelineTable::rows) > 100);
    let windows = part.column("samples", "window");
    assert!(windows.iter().all(|w| (100..200).contains(w)), "{windows:?}");
    // parents come along, so that references lead somewhere
    let pauses = part.table("pauses").expect("pauses");
    for (row, (parent, root)) in
        pauses.column("parent").iter().zip(pauses.column("root")).enumerate()
    {
        assert!(*parent <= row as u64 && (1..=row as u64 + 1).contains(root), "row {row}");
    }
    assert_eq!(decode(&encode(&part)).as_ref(), Ok(&part), "it opens like a whole one");
}

#[test]
fn a_slice_names_what_is_not_there() {
    let whole = timeline("ring-deadlock", "pfc");
    let cut = |from, to, port: &str| {
        let ports = if port.is_empty() { vec![] } else { vec![port.to_owned()] };
        Slice { from, to, ports }.cut(&whole).map(|_| ()).expect_err("it is refused")
    };
    let us = |n| Some(Time::from_us(n));
    assert_eq!(cut(us(5), us(5), ""), SliceError::Empty(Time::from_us(5), Time::from_us(5)));
    assert!(matches!(cut(us(500), None, ""), SliceError::Late(..)));
    let wrong = cut(None, None, "sww0").to_string();
    assert!(wrong.contains("no port or node `sww0`: did you mean `sw0`?"), "{wrong}");
}

/// Two holds of 3 and 5 us and a poll every 4 us: a counter shows one pause in the first 4 us and
/// one in the second; the truth is that the port stood for most of the time.
#[test]
fn polled_counters_hide_how_long_pauses_last() {
    let mut t = Timeline::default();
    t.header.window_ps = 1_000_000;
    let columns = ["from", "to", "port", "by"].map(|name| (name, Kind::Varint));
    let mut pauses = TimelineTable::new("pauses", &columns);
    let us = 1_000_000;
    pauses.push([0, 3 * us, 1, 2]);
    pauses.push([5 * us, 10 * us, 1, 2]);
    t.tables.push(pauses);
    let table = polls(&t, Time::from_us(4));
    let of = |poll: u64, port: u64| {
        let row = (0..table.rows())
            .find(|&r| (table.column("poll")[r], table.column("port")[r]) == (poll, port))?;
        let value = |name| table.column(name)[row];
        Some([value("sent"), value("received"), value("longest")])
    };
    assert_eq!(of(0, 1), Some([0, 1, 3 * us]));
    assert_eq!(of(1, 1), Some([0, 1, 3 * us]), "of 5 us, 3 before the poll at 8 us");
    assert_eq!(of(2, 1), Some([0, 0, 2 * us]), "nothing new, and yet it stood");
    assert_eq!(of(0, 2), Some([1, 0, 0]));
}

/// What a recording has of polls is what its pauses and windows show.
#[test]
fn polls_of_a_file_are_those_of_its_windows() {
    for (name, scheme) in [("ofc-fig1", "pfc"), ("ring-deadlock", "pfc")] {
        let t = timeline(name, scheme);
        assert_eq!(t.table("polls"), Some(&polls(&t, POLL)), "{name}");
    }
}

/// Reads the fields of a message.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>, u64)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (first, rest) = bytes.split_first().expect("a whole number");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            shift += 7;
            if first & 0x80 == 0 {
                return value;
            }
        }
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (mut text, mut number) = (Vec::new(), 0);
        match key & 7 {
            0 => number = varint(&mut bytes),
            1 => {
                let (eight, rest) = bytes.split_first_chunk().expect("eight bytes");
                (number, bytes) = (u64::from_le_bytes(*eight), rest);
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (part, rest) = bytes.split_at(length);
                (text, bytes) = (part.to_vec(), rest);
            }
            other => panic!("wire type {other}"),
        }
        all.push((key >> 3, text, number));
    }
    all
}

/// What a trace says: names of tracks, and per event its type, its time in nanoseconds and its
/// arrows.
struct Events {
    tracks: Vec<String>,
    all: Vec<(u64, u64, u64)>,
    from: Vec<u64>,
    to: Vec<u64>,
}

fn events(trace: &[u8]) -> Events {
    let mut found = Events { tracks: vec![], all: vec![], from: vec![], to: vec![] };
    for (_, packet, _) in fields(trace) {
        let packet = fields(&packet);
        let time = packet.iter().find(|f| f.0 == 8).map_or(0, |f| f.2);
        for (field, body, _) in &packet {
            let inner = if *field == 11 || *field == 60 { fields(body) } else { vec![] };
            let number = |n: u64| inner.iter().find(|f| f.0 == n).map(|f| f.2);
            match field {
                11 => {
                    let (kind, track) = (number(9).expect("type"), number(11).expect("track"));
                    found.all.push((kind, track, time));
                    found.from.extend(number(47));
                    found.to.extend(number(48));
                }
                60 => {
                    let name = inner.iter().find(|f| f.0 == 2).expect("a name");
                    found.tracks.push(String::from_utf8(name.1.clone()).expect("text"));
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn a_trace_has_ports_flows_and_arrows_from_pauses_to_stops() {
    let t = timeline("ofc-fig1", "pfc");
    let traced = perfetto::trace(&t, perfetto::MOST_BYTES);
    assert!(traced.decimated.is_empty(), "{:?}", traced.decimated);
    let events = events(&traced.file);
    for name in [
        "switches",
        "hosts",
        "flows",
        "priority 3",
        "PAUSE sent",
        "queue",
        "Sb to Sc",
        "Sc:P_d to h9",
    ] {
        assert!(events.tracks.iter().any(|track| track == name), "{name}: {:?}", events.tracks);
    }
    let mut sorted = events.to.clone();
    sorted.sort_unstable();
    let mut from = events.from.clone();
    from.sort_unstable();
    assert_eq!(from, sorted, "every arrow has two ends");
    assert_eq!(sorted.len(), t.table("pauses").map_or(0, TimelineTable::rows));
    // in the order of time, and no slice ends that has not begun
    let mut open = std::collections::BTreeMap::new();
    let mut last = 0;
    for (kind, track, time) in events.all {
        assert!(time >= last);
        last = time;
        let depth: &mut i64 = open.entry(track).or_default();
        match kind {
            1 => *depth += 1,
            2 => *depth -= 1,
            _ => {}
        }
        assert!((0..=1).contains(depth), "track {track} at {time} ns");
    }
    assert!(open.values().all(|depth| *depth == 0));
}

#[test]
fn a_trace_that_is_too_large_says_what_it_leaves_out() {
    let t = timeline("ofc-fig1", "pfc");
    let whole = perfetto::trace(&t, perfetto::MOST_BYTES).file.len() as u64;
    for limit in [whole / 2, whole / 10, 6_000] {
        let traced = perfetto::trace(&t, limit);
        assert!(traced.file.len() as u64 <= limit, "{limit}: {} B", traced.file.len());
        assert!(!traced.decimated.is_empty());
    }
    let traced = perfetto::trace(&t, 6_000);
    assert!(traced.decimated.iter().any(|s| s.contains("pauses and")), "{:?}", traced.decimated);
}

/// Names of a scenario are text wherever they are shown: they stand in data only.
#[test]
fn names_never_become_markup() {
    let text = r#"
name = "x"
title = "</script><script>alert(1)</script>"

[topology]
kind = "star"
hosts = 3

[[traffic]]
kind = "incast"
degree = 2
events = 1
per-second = 1000
to = "h0"
size = "60KB"
"#;
    let mut e = Experiment::read("case.toml", text, Files::default(), &[])
        .unwrap_or_else(|p| panic!("{p}"));
    e.record = Some(RecordConfig::default());
    let file = record(&e, &run_of(&e, "pfc"), Limit::default()).expect("it records").file;
    let entry = weir_view::Entry::new("timeline.weir", file, &Default::default());
    let page = weir_view::page(&[entry.expect("a recording")]);
    assert!(!page.contains("alert(1)"));
}
