use super::*;
use proptest::prelude::*;

const FILES: &str = "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\nL2_ACK_INTERVAL 1\n";

fn parse(text: &str) -> Result<(Config, Diagnostics), String> {
    Config::parse(Path::new("config.txt"), text).map_err(|d| d.to_string())
}

fn with(text: &str) -> Config {
    parse(&format!("{FILES}{text}")).unwrap().0
}

#[test]
fn absent_keys_have_the_original_s_defaults() {
    let c = with("");
    assert_eq!(
        c,
        Config {
            topology_file: "t.txt".into(),
            flow_file: "f.txt".into(),
            ack_interval: 1,
            ..Config::default()
        }
    );
    assert_eq!((c.cc_mode, c.ewma_gain, c.multi_rate), (CcMode::Dcqcn, 0.0, true));
}

/// The book's table of keys: all of them, each with the value that is the same as leaving it out.
#[test]
fn the_book_lists_every_key_with_its_default() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/ns3.md");
    let page = std::fs::read_to_string(page).expect("the page about these files");
    let table = page.split("## Keys").nth(1).and_then(|s| s.split("\n## ").next());
    let rows = table.expect("the heading").lines().filter_map(|line| line.strip_prefix("| "));
    let files = "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n";
    let absent = parse(files).unwrap().0;
    let mut listed = Vec::new();
    for row in rows.skip(1) {
        let cells: Vec<&str> = row.split(" | ").collect();
        for key in cells[0].split(", ") {
            listed.push(key);
            let Some(default) = cells[1].strip_prefix('`').and_then(|d| d.strip_suffix('`')) else {
                assert!(["required", "none", "no effect"].contains(&cells[1]), "{row}");
                continue;
            };
            let written = parse(&format!("{files}{key} {default}\n"));
            assert_eq!(written.unwrap().0, absent, "{key} is {default} by default");
        }
    }
    let mut all: Vec<&str> = KEYS.iter().map(|k| k.0).collect();
    all.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, all);
    let none = [&absent.trace_file, &absent.trace_output, &absent.qlen_output];
    assert!(none.iter().all(|file| file.as_os_str().is_empty()), "files that are `none`");
}

#[test]
fn values_are_read_in_their_units() {
    let c = with(
        "RP_TIMER 300.9\nRATE_AI 20Mb/s\nKMIN_MAP 2 25000000000 100\n100000000000 400\n\
         LINK_DOWN 5 1 2\nPMAX_MAP 1 25000000000 0.2\nPAUSE_TIME 5.7 GLOBAL_T 2",
    );
    assert_eq!((c.rp_timer_us, c.rate_ai, c.pause_time), (300, 20_000_000, 5));
    assert_eq!(c.kmin, BTreeMap::from([(25_000_000_000, 100), (100_000_000_000, 400)]));
    assert_eq!(c.link_down, Some(LinkDown { after_us: 5, a: 1, b: 2 }));
    assert!(!c.global_t, "only 1 means global");
    assert_eq!(with("LINK_DOWN 0 0 0").link_down, None);
}

#[test]
fn a_misspelt_key_is_refused_with_the_nearest() {
    let e = parse(&format!("{FILES}BUFER_SIZE 4\nCC_MODE 3\nVAR_WINN 1")).unwrap_err();
    assert!(e.contains("config.txt:4: there is no key `BUFER_SIZE`"), "{e}");
    assert!(e.contains("did you mean BUFFER_SIZE?"), "{e}");
    assert!(e.contains("config.txt:6: there is no key `VAR_WINN`"), "all are reported: {e}");
    assert!(parse(&format!("{FILES}LB_MODE 0")).unwrap_err().contains("conweave"));
}

#[test]
fn a_file_of_something_else_is_given_up() {
    let e = parse(&"thesis chapter\n".repeat(1000)).unwrap_err();
    assert!(
        e.contains("config.txt:51: 50 errors so far: this may not be a configuration file"),
        "{e}"
    );
    assert!(!e.contains("config.txt:52"), "{e}");
}

#[test]
fn bad_values_name_what_is_valid() {
    let e = |text: &str| parse(&format!("{FILES}{text}")).unwrap_err();
    assert!(e("CC_MODE 10").contains("HPCC-PINT"));
    assert!(e("CC_MODE hpcc").contains("7 TIMELY"));
    assert!(e("RATE_AI fast").contains("config.txt:4: `fast` is not a rate"));
    assert!(e("KMAX_MAP 2 25000000000 1").contains("ends before the rate of pair 2"));
    assert!(e("L2_BACK_TO_ZERO 1").contains("L2_CHUNK_SIZE"));
    assert!(e("PACKET_PAYLOAD_SIZE 0").contains("1 to 1000000"));
    assert!(parse("CC_MODE 0").unwrap_err().contains("TOPOLOGY_FILE is missing"));
}

#[test]
fn keys_without_effect_are_warned_about_once() {
    let twice = "USE_DYNAMIC_PFC_THRESHOLD 1\nUSE_DYNAMIC_PFC_THRESHOLD 0\n";
    let text = format!("{FILES}RP_TIMER 300\n{twice}");
    let (_, warnings) = parse(&text).unwrap();
    assert_eq!(warnings.0.len(), 1);
    assert!(warnings.to_string().contains("USE_DYNAMIC_PFC_THRESHOLD never had an effect"));
}

#[test]
fn timers_of_no_time_are_warned_about_where_they_run() {
    let warnings = |text: &str| parse(&format!("{FILES}{text}")).unwrap().1.to_string();
    assert!(warnings("RP_TIMER 0.9").contains("RP_TIMER is missing or below 1 us"));
    assert!(warnings("RP_TIMER 1\nALPHA_RESUME_INTERVAL 0").contains("ALPHA_RESUME_INTERVAL"));
    assert_eq!(warnings("RP_TIMER 1"), "");
    assert_eq!(warnings("CC_MODE 3"), "", "HPCC has no such timers");
}

#[test]
fn sizes_on_the_wire_follow_the_telemetry() {
    for (mode, overhead, ack) in [(0, 48, 60), (1, 48, 60), (3, 90, 88), (7, 56, 60), (8, 48, 60)] {
        let c = with(&format!("CC_MODE {mode}"));
        assert_eq!((c.data_overhead(), c.ack_size()), (overhead, ack), "mode {mode}");
    }
}

#[test]
fn every_mode_gets_its_parameters() {
    let c = with("CC_MODE 3 HAS_WIN 1 VAR_WIN 1 INT_MULTI 4 MI_THRESH 0 RATE_AI 50Mb/s");
    let CcParams::Hpcc(p) = c.congestion_control() else { panic!("not HPCC") };
    assert_eq!((p.telemetry, p.max_stage), (Telemetry::Packed { multi: 4 }, 0));
    assert_eq!(p.window, WindowKind::Variable);
    let CcParams::Dctcp(p) = with("CC_MODE 8 EWMA_GAIN 0.0625 HAS_WIN 0").congestion_control()
    else {
        panic!("not DCTCP")
    };
    assert_eq!((p.g, p.window, p.ai), (0.0625, WindowKind::None, Rate::from_gbps(1)));
}

proptest! {
    #[test]
    fn no_values_make_the_reader_panic(key in 0..KEYS.len(), value in "[0-9A-Za-z./ \\-]{0,30}") {
        let _ = parse(&format!("{FILES}{} {value}", KEYS[key].0));
    }
}

#[test]
fn what_the_original_takes_is_taken_with_its_meaning() {
    let files = "TOPOLOGY_FILE t\nFLOW_FILE f\nL2_ACK_INTERVAL 1\n";
    let read = |text: &str| Config::parse(Path::new("c"), &format!("{files}{text}")).unwrap();
    for mode in [2, 4, 9] {
        let (config, warnings) = read(&format!("CC_MODE {mode}"));
        assert_eq!(config.congestion_control().name(), "none");
        assert_eq!((config.data_overhead(), config.ack_size()), (48, 60));
        assert!(warnings.to_string().contains(&format!("CC_MODE {mode} has no meaning")));
    }
    let (config, warnings) = read("CC_MODE 0\nBUFFER_SIZE 4100\nPACKET_PAYLOAD_SIZE 70000");
    assert_eq!((config.buffer_mib, config.payload), (4100, 70_000));
    assert!(warnings.to_string().contains("BUFFER_SIZE 4100 is taken as 4"), "{warnings}");
}
