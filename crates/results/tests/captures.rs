//! Captures of runs, as files.

use std::fs;
use std::path::{Path, PathBuf};
use weir_core::Bytes;
use weir_core::rng::Stream;
use weir_results::captures::{self, Limits, Plan, Wanted, Written};
use weir_results::run::{Meter, Run, run};
use weir_scenario::experiment::Experiment;
use weir_scenario::{Files, Window};
use weir_sim::config::EngineConfig;
use weir_wire::capture::{CaptureReader, Direction};
use weir_wire::{Body, Frame};

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("captures-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    path
}

fn wanted(text: &str) -> Vec<Wanted> {
    text.split(' ').map(|one| one.parse().unwrap_or_else(|e| panic!("{one}: {e}"))).collect()
}

/// An experiment with a capture.
struct Case {
    e: Experiment,
    plan: Plan,
    limits: Limits,
}

impl Case {
    fn new(text: &str, files: &str, limits: Limits) -> Self {
        let mut e = Experiment::read("case.toml", text, Files::default(), &[])
            .unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        let plan = Plan::new(&wanted(files), &e.topology).expect("ports of the network");
        e.capture = plan.capture(limits, Window::ALL);
        Self { e, plan, limits }
    }

    fn run(&self) -> Run {
        run(&self.e, self.e.own_variant(), &Meter::new(1), 0).expect("a valid run")
    }

    fn write(&self, run: &Run) -> Vec<Written> {
        captures::write(&self.plan, self.limits, &self.e.topology, run).expect("files")
    }
}

/// Hosts of the left switch, sw0, send to one of the right switch, sw1, so that pauses spread.
fn scenario(scheme: &str, nic: &str, more: &str) -> String {
    format!(
        r#"
[topology]
kind = "dumbbell"
left = 5
right = 2
rate = "10Gbps"
delay = "1us"

[switch]
thresholds = {{ xoff = "40KB", xon = "30KB" }}

[nic]
{nic}

[flow-control]
scheme = "{scheme}"

[run]
allow-loss = true
until = "20ms"

[[traffic]]
kind = "incast"
degree = 5
events = 1
per-second = 1000
to = "h6"
size = "100KB"
{more}
"#
    )
}

/// All frames of a file: interface, direction, comment and what they are.
fn frames(path: &Path) -> Vec<(String, Direction, Option<String>, Frame)> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = CaptureReader::new(&bytes[..]).expect("a capture");
    let mut all = Vec::new();
    let mut last = 0;
    while let Some(packet) = reader.next_packet().expect("a whole packet") {
        assert!(packet.time_ns >= last, "in the order of time");
        last = packet.time_ns;
        let frame = Frame::parse(&packet.bytes).expect("a frame");
        let (interface, direction) = (packet.interface, packet.direction);
        let comment = packet.comment.clone();
        all.push((reader.interfaces()[interface].name.clone(), direction, comment, frame));
    }
    all
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_string_lossy().into_owned()
}

/// `sw1` has ports p0 and p1 to its hosts h5 and h6, and p2 to sw0.
#[test]
fn a_file_has_an_interface_per_port_and_the_reason_beside_a_pause() {
    let at = scratch("ports");
    let files = format!("sw1/p2={0} sw0/p0={0} sw0={1}", path(&at, "two"), path(&at, "node"));
    let case = Case::new(&scenario("pfc", "", ""), &files, Limits::default());
    let run = case.run();
    let written = case.write(&run);
    assert_eq!(written.iter().map(|w| w.ports).collect::<Vec<_>>(), [6, 2]);
    let two = frames(&at.join("two"));
    assert_eq!(two.len() as u64, written[1].frames);
    let pauses: Vec<_> =
        two.iter().filter(|(.., frame)| matches!(frame.body, Body::Pfc(_))).collect();
    let (name, direction, comment, _) = pauses[0];
    assert_eq!((name.as_str(), *direction), ("sw1/p2", Direction::Outbound));
    let comment = comment.as_deref().expect("a control frame has a comment");
    let rest = comment.strip_prefix("PAUSE prio 3: ingress sw1/p2 4").expect(comment);
    assert!(rest.ends_with(" B >= xoff 40 000 B"), "{comment}");
    // what sw1 says of its port is what it says where it comes in
    let node = frames(&at.join("node"));
    let heard = node.iter().find(|(_, d, c, _)| *d == Direction::Inbound && c.is_some());
    assert_eq!(heard.and_then(|(_, _, c, _)| c.as_deref()), Some(comment));
}

#[test]
fn a_directory_gets_a_file_per_port() {
    let at = scratch("directory");
    let case = Case::new(
        &scenario("pfc", "", ""),
        &format!("all={}/new/", at.display()),
        Limits::default(),
    );
    let written = case.write(&case.run());
    // 7 hosts with a port each, switches with 6 and 3
    assert_eq!(written.len(), 16);
    let mut names: Vec<String> = fs::read_dir(at.join("new"))
        .expect("the directory was made")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!((names.len(), names[0].as_str()), (16, "h0-p0.pcapng"));
    let sent: u64 = written.iter().map(|w| w.frames).sum();
    assert!(sent > 1000, "{sent} frames");
}

/// Frames are cut at the snap length, files end at the limit, and both are counted.
#[test]
fn what_is_cut_is_counted() {
    let at = scratch("cut");
    let all = format!("all={}", path(&at, "all"));
    let text = scenario("pfc", "", "");
    let whole = Case::new(&text, &all, Limits::default());
    let frames_in_all = whole.write(&whole.run())[0].frames;
    for (snap, file) in [(Some(64), 100_000), (None, 100_000), (Some(14), 3_000)] {
        let limits = Limits { snap, file: Bytes::new(file) };
        let case = Case::new(&text, &all, limits);
        let w = &case.write(&case.run())[0];
        let size = fs::metadata(&w.file).expect("a file").len();
        assert_eq!((w.bytes.get(), size <= file), (size, true));
        assert_eq!(w.frames + w.left_out, frames_in_all, "{snap:?}, {file}");
        assert!(w.left_out > 0 && size + 2000 > file, "{w:?}");
        assert_eq!(w.cut > 0, snap.is_some());
    }
}

/// The same bytes on any number of threads and with any engine.
#[test]
fn captures_do_not_depend_on_the_engine() {
    for scheme in ["pfc", "ofc", "flowsail"] {
        let at = scratch(&format!("engines-{scheme}"));
        let mut first: Option<Vec<u8>> = None;
        for engine in [
            EngineConfig::Sequential,
            EngineConfig::Window { threads: 1 },
            EngineConfig::Window { threads: 2 },
            EngineConfig::Window { threads: 4 },
            EngineConfig::Auto { threads: 2 },
        ] {
            let all = format!("all={}", path(&at, "all"));
            let mut case = Case::new(&scenario(scheme, "", ""), &all, Limits::default());
            case.e.engine = engine;
            case.write(&case.run());
            let bytes = fs::read(at.join("all")).expect("a file");
            assert!(first.get_or_insert_with(|| bytes.clone()) == &bytes, "{scheme}, {engine:?}");
        }
    }
}

/// A file that cannot be written leaves none of the others behind, and keeps what was there.
#[test]
fn no_file_is_left_behind_when_one_cannot_be_written() {
    let at = scratch("failed");
    fs::write(at.join("a"), "old").expect("a file");
    let files = format!("sw0/p0={} sw1/p0={}", path(&at, "a"), path(&at, "no/such/b"));
    let case = Case::new(&scenario("pfc", "", ""), &files, Limits::default());
    let error = captures::write(&case.plan, case.limits, &case.e.topology, &case.run());
    let text = error.expect_err("there is no directory").to_string();
    assert!(text.starts_with("cannot write ") && text.contains("no/such/b"), "{text}");
    let left = fs::read_dir(&at).expect("a directory").count();
    assert_eq!((left, fs::read_to_string(at.join("a")).expect("a file").as_str()), (1, "old"));
}

#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let case = Case::new(&scenario("pfc", "", ""), "sw0=x", Limits::default());
    let error = |text: &str| match text.parse::<Wanted>() {
        Ok(wanted) => Plan::new(&[wanted], &case.e.topology).expect_err(text).to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(error("sw9/p0=x"), "there is no node `sw9`: did you mean `sw0`?");
    let ports = "p0 (h5), p1 (h6), p2 (sw0)";
    assert_eq!(error("sw1/p7=x"), format!("`sw1` has no port `p7`: it has {ports}"));
    for text in ["sw1", "sw1/p0", "=x", "sw1/=x", "/p0=x", "sw1/p0="] {
        assert!(error(text).contains("NODE/PORT=FILE"), "{text}: {}", error(text));
    }
    assert!(error("sw1/p0=-").contains("it needs a file"));
    let named = Plan::new(&wanted("sw1/sw0=x"), &case.e.topology).expect("by its neighbour");
    let numbered = Plan::new(&wanted("sw1/p2=x"), &case.e.topology).expect("by its number");
    assert_eq!(named, numbered);
}

/// Every scheme with transports, loss, failures, marks and load balancing at random: a capture
/// changes no result, and has every frame that the ports sent.
#[test]
fn with_any_scheme_transport_and_failure_a_capture_changes_nothing() {
    let at = scratch("random");
    let mut draws = Stream::new(7, "captures", 0);
    let mut seen = [0u64; 3];
    let schemes: Vec<&str> = weir_fc::SCHEMES.iter().map(|s| s.name).collect();
    for number in 0..88 {
        let scheme = schemes[number % schemes.len()];
        let mut pick = |of: &[&'static str]| of[draws.below(of.len() as u64) as usize];
        let nic = pick(&[
            "",
            "timeout = \"200us\"",
            "transport = \"tcp\"",
            "reliability = \"selective-repeat\"\ntimeout = \"300us\"",
        ]);
        let loss = pick(&["", "", "[link]\nbit-error-rate = 1e-7\n"]);
        let failure = pick(&[
            "",
            "",
            "[[failure]]\nlink = [\"sw0\", \"sw1\"]\ndown = \"40us\"\nup = \"90us\"\n",
            "[[failure]]\nlink = [\"h1\", \"sw0\"]\ndown = \"60us\"\n",
        ]);
        let cc = match nic.contains("tcp") {
            true => "",
            false => pick(&["", "[congestion-control]\nalgorithm = \"dcqcn-paper\"\n"]),
        };
        let text = scenario(scheme, nic, &format!("{loss}{failure}{cc}"));
        let files = format!("all={}", path(&at, "all"));
        let case = Case::new(&text, &files, Limits { file: Bytes::MAX, ..Limits::default() });
        let with = case.run();
        let mut plain = Case::new(&text, &files, Limits::default());
        plain.e.capture = None;
        let without = plain.run();
        assert_eq!(with.outcome.digest, without.outcome.digest, "{text}");
        assert_eq!(with.outcome.pauses, without.outcome.pauses, "{text}");
        assert_eq!(with.outcome.ports, without.outcome.ports, "{text}");
        assert_eq!(with.outcome.finish, without.outcome.finish, "{text}");
        let w = &case.write(&with)[0];
        let sent: u64 = with.outcome.ports.iter().map(|p| p.packets).sum();
        let read = frames(&at.join("all"));
        let outbound = read.iter().filter(|(_, d, ..)| *d == Direction::Outbound).count();
        assert_eq!((outbound as u64, w.left_out), (sent, 0), "{text}");
        let arrived = with.outcome.totals.packet_hops;
        assert_eq!(read.len() as u64, sent + arrived, "{text}");
        let is = |what: fn(&Frame) -> bool| read.iter().filter(|(.., f)| what(f)).count() as u64;
        seen[0] += is(|f| matches!(f.body, Body::Tcp(..)));
        seen[1] += is(|f| matches!(f.body, Body::Roce(..)));
        seen[2] += is(|f| !matches!(f.body, Body::Tcp(..) | Body::Roce(..)));
    }
    assert!(seen.iter().all(|n| *n > 1000), "TCP, RoCEv2, control: {seen:?}");
}

/// The flows that a capture of all ports shows.
fn flows_of(text: &str, name: &str) -> (Run, Vec<weir_wire::capture::CapturedFlow>) {
    let file = scratch(name).join("all.pcapng");
    let case = Case::new(text, &format!("all={}", file.display()), Limits::default());
    let run = case.run();
    case.write(&run);
    let input = fs::File::open(&file).expect("it was written");
    (run, weir_wire::capture::FlowsFound::read(input, None).expect("a capture").flows)
}

#[test]
fn queue_pairs_of_jobs_announce_each_message() {
    let text = "[topology]\nkind = \"star\"\nhosts = 4\n\
                [[job]]\nclass = \"a\"\nhosts = \"h0..h3\"\ncollective = \"all-to-all\"\n\
                size = \"400KB\"\niterations = 2\n";
    let (_, flows) = flows_of(text, "job");
    assert_eq!(flows.len(), 12);
    // two messages of 100 KB from each to each
    assert!(flows.iter().all(|flow| flow.announced == Some(200_000)), "{flows:?}");
}

#[test]
fn a_source_without_an_end_announces_what_was_captured_of_it() {
    let text = "[topology]\nkind = \"star\"\nhosts = 2\n[run]\nuntil = \"20us\"\n\
                [[traffic]]\nkind = \"constant\"\nfrom = \"h0\"\nto = \"h1\"\nrate = \"10Gbps\"\n";
    let (run, flows) = flows_of(text, "endless");
    let host = weir_core::NodeId(0);
    let sent = run.outcome.captured.iter().filter(|f| f.sent && f.node == host);
    let payload = run.config.nic.payload.get() * sent.count() as u64;
    assert!(payload > 20_000);
    assert_eq!(flows.iter().map(|flow| flow.announced).collect::<Vec<_>>(), [Some(payload)]);
}
