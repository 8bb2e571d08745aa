//! Scenarios with TCP: what is read, what is refused, what is reported.

mod common;

use weir_cc::tcp::{EcnMode, Handshake, TcpParams};
use weir_core::{Bytes, Time};
use weir_results::comparison::Comparison;
use weir_results::describe;
use weir_results::findings::Selection;
use weir_results::run::Meter;
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::config::{Config, Reliability};

fn scenario(nic: &str, rest: &str) -> String {
    common::incast(&format!("[nic]\n{nic}"), rest)
}

const TCP: &str = "transport = \"tcp\"\n";

fn load(nic: &str, rest: &str) -> Result<Experiment, String> {
    Experiment::read("my.toml", &scenario(nic, rest), Files::default(), &[])
        .map_err(|problems| problems.to_string())
}

fn read(nic: &str, rest: &str) -> Experiment {
    load(nic, rest).unwrap_or_else(|why| panic!("{why}"))
}

fn config(e: &Experiment) -> Config {
    e.config(e.variant(None, None, 1).expect("what the file says"))
}

fn error(nic: &str, rest: &str) -> String {
    match load(nic, rest) {
        Ok(_) => panic!("no error: {nic} {rest}"),
        Err(why) => why,
    }
}

#[test]
fn the_defaults_are_those_of_linux_and_of_ethernet() {
    let c = config(&read(TCP, ""));
    assert_eq!(c.nic.reliability, Reliability::Tcp);
    assert_eq!(c.tcp, TcpParams::default());
    assert_eq!((c.nic.payload, c.nic.header), (Bytes::new(1460), Bytes::new(58)));
    assert_eq!((c.nic.max_frame(), c.nic.timeout), (Bytes::new(1518), None));
    assert!(!c.nic.acks_with_data);
    let spelt =
        "[tcp]\nprofile = \"linux\"\nmss = \"1460B\"\ninitial-window = 10\nrto-min = \"200ms\"";
    assert_eq!(format!("{c:?}"), format!("{:?}", config(&read(TCP, spelt))));
    assert_eq!(config(&read("", "")).nic.reliability, Reliability::GoBackN);
}

#[test]
fn every_key_has_its_effect() {
    let all = "[tcp]\nprofile = \"detail\"\nmss = \"1000B\"\ninitial-window = 3\n\
               receive-window = \"64KB\"\necn = \"dctcp\"\ndctcp-gain = \"1/8\"\n\
               growth-limit = 2\nrto-min = \"50ms\"\nrto-initial = \"2s\"\nrto-fallback = \"4s\"\n\
               rto-max = \"60s\"\ngranularity = \"1ms\"\nack-every = 2\nack-delay = \"5ms\"\n\
               handshake = \"none\"\n";
    let c = config(&read(&format!("{TCP}ack-priority = \"data\"\nheader = \"70B\""), all));
    let plain = TcpParams::default();
    for (given, default) in c.tcp.list().iter().zip(plain.list()) {
        assert_ne!(given.value, default.value, "{} was not read", given.name);
    }
    assert_eq!((c.tcp.dup_threshold, c.tcp.rto_min), (None, Time::from_ms(50)));
    assert_eq!((c.tcp.ecn, c.tcp.handshake), (EcnMode::Dctcp, Handshake::None));
    assert_eq!((c.nic.payload, c.nic.header), (Bytes::new(1000), Bytes::new(70)));
    assert!(c.nic.acks_with_data);
    let threshold = |text: &str| config(&read(TCP, text)).tcp.dup_threshold.map(|n| n.get());
    assert_eq!(threshold("[tcp]\ndup-threshold = \"off\""), None);
    assert_eq!(threshold("[tcp]\ndup-threshold = 10"), Some(10));
}

/// Every parameter refuses nonsense at the place where it stands.
#[test]
fn every_parameter_is_read_and_refuses_nonsense() {
    for p in weir_scenario::catalogue::tcp().params {
        let why = error(TCP, &format!("[tcp]\n{} = \"?\"", p.name));
        assert!(why.contains(&p.name) && why.contains("my.toml:"), "{}: {why}", p.name);
    }
    let why = error(TCP, "[tcp]\nmin-rto = \"10ms\"");
    assert!(why.contains("unknown key `min-rto`") && why.contains("rto-min"), "{why}");
}

#[test]
fn switches_mark_for_tcp_unless_its_ecn_is_off() {
    let kmin = |rest: &str| config(&read(TCP, rest)).switch.ecn.map(|e| e.kmin);
    assert_eq!(kmin(""), Some(Bytes::from_kb(30)), "per 10 Gb/s");
    assert_eq!(kmin("[tcp]\necn = \"dctcp\""), Some(Bytes::from_kb(30)));
    assert_eq!(kmin("[tcp]\necn = \"off\""), None);
    assert_eq!(kmin("[switch]\necn = \"off\""), None);
    assert_eq!(
        kmin("[switch]\necn = { kmin = \"20KB\", kmax = \"20KB\" }"),
        Some(Bytes::from_kb(20))
    );
    assert_eq!(config(&read("", "")).switch.ecn, None);
}

#[test]
fn what_is_not_about_tcp_is_refused_with_the_reason() {
    for (key, says) in [
        ("payload = \"1KB\"", "`mss` in `[tcp]`"),
        ("reliability = \"go-back-n\"", "its own loss recovery"),
        ("window = \"1MB\"", "`receive-window`"),
        ("timeout = \"1ms\"", "`rto-min`"),
        ("nack-interval = \"1ms\"", "no NACKs"),
    ] {
        let why = error(&format!("{TCP}{key}"), "");
        assert!(why.contains("does not apply to TCP") && why.contains(says), "{key}: {why}");
    }
    let why = error(TCP, "[congestion-control]\nalgorithm = \"dcqcn\"");
    assert!(why.contains("`dcqcn` cannot be used with TCP"), "{why}");
    let why = error(TCP, "[congestion-control]\nalgorithm = \"dctcp\"");
    assert!(why.contains("ecn = \"dctcp\""), "{why}");
    let why = read(TCP, "").variant(None, Some("hpcc"), 1).unwrap_err().to_string();
    assert!(why.contains("`hpcc` cannot be used with TCP"), "{why}");
    assert!(read(TCP, "").variant(None, Some("none"), 1).is_ok());
    let why = error("ack-priority = \"data\"", "");
    assert!(why.contains("ACKs of RoCE"), "{why}");
    let why = error("ack-priority = 8", "");
    assert!(why.contains("from 0 to 7") && why.contains("data"), "{why}");
    let why = error(TCP, "[tcp]\nrto-min = \"1s\"\nrto-max = \"10ms\"");
    assert!(why.contains("`rto-min` is above `rto-max`"), "{why}");
    let why = error(TCP, "[tcp]\nmss = \"0B\"");
    assert!(why.contains("`mss` of 0"), "{why}");
}

#[test]
fn settings_without_effect_are_pointed_out() {
    let warnings = |nic: &str, rest: &str| {
        let e = read(nic, rest);
        e.warnings.plain(&e.scenario.sources)
    };
    assert!(warnings("", "[tcp]\nmss = \"1KB\"").contains("no host uses TCP"));
    assert!(warnings(TCP, "[tcp]\nack-delay = \"1ms\"").contains("`ack-delay` does nothing"));
    assert!(warnings(TCP, "[tcp]\ndctcp-gain = 0.5").contains("`dctcp-gain` does nothing"));
    let blind = "[tcp]\necn = \"dctcp\"\n[switch]\necn = \"off\"";
    assert!(warnings(TCP, blind).contains("`TCP` cannot receive ECN marks"));
    assert_eq!(warnings(TCP, ""), "");
    assert_eq!(warnings(TCP, "[tcp]\nprofile = \"detail\""), "");
}

/// With ACKs in the class of their data every priority may be lossless.
#[test]
fn the_priority_of_acks_may_be_lossless_where_they_travel_with_data() {
    let all = "[switch]\nlossless = [0, 1, 2, 3, 4, 5, 6, 7]";
    assert!(error(TCP, all).contains("the priority of ACKs"));
    read(&format!("{TCP}ack-priority = \"data\""), all);
}

#[test]
fn the_settings_say_what_the_hosts_do() {
    let shown = |nic: &str, rest: &str| {
        let e = read(nic, rest);
        describe::settings(&e, &config(&e))
    };
    let rows = shown(&format!("{TCP}ack-priority = \"data\""), "[tcp]\nprofile = \"detail\"");
    let value = |name: &str| rows.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let transport = value("transport").unwrap();
    assert!(transport.contains("dup-threshold off") && transport.contains("rto-min 10 ms"));
    assert_eq!(value("ACK priority"), Some("of their data"));
    assert_eq!((value("window"), value("congestion control")), (None, None));
    assert!(shown("", "").iter().all(|(name, _)| name != "transport"));
}

/// What a run found out is in its tables: who timed out, and how large windows were.
#[test]
fn a_run_reports_timeouts_windows_and_cuts() {
    let small = "[flow-control]\nscheme = \"none\"\n[switch]\nbuffer = \"30KB\"\n\
                 thresholds = \"pool\"\necn = { kmin = \"9KB\", kmax = \"9KB\" }\n\
                 [tcp]\nrto-min = \"10ms\"\n";
    let e = read(TCP, small);
    let variant = e.variant(None, None, 1).expect("what the file says");
    let run = weir_results::run::run(&e, variant, &Meter::new(1), 0).expect("a valid run");
    assert_eq!(run.senders(), "TCP with ECN");
    let stats = run.class_stats(Selection::of_class(None));
    assert_eq!(stats.completed, 6);
    assert!(stats.timeouts > 0 && stats.ecn_cuts > 0 && stats.lost > 0, "{stats:?}");
    assert!(stats.peak_window.max() >= Some(14_600.0));
    let c = Comparison::new(&e, vec![run]);
    let notes = weir_results::comparison::notes(&c, &c.groups[0]).join("; ");
    for what in ["lost (buffer-full)", "sent again", "timeouts", "windows cut for marks"] {
        assert!(notes.contains(what), "{notes}");
    }
}
