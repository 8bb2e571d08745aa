//! `[switch] egress` and `cell`: what they mean, and what is wrong with them.

use weir_core::Bytes;
use weir_fc::{Cell, EgressShare, EgressThresholds};
use weir_scenario::{Experiment, Files};

const GOOD: &str = "\
[topology]
kind = \"star\"
hosts = 3
rate = \"100Gbps\"
delay = \"1us\"

[[traffic]]
kind = \"flow\"
from = \"h0\"
to = \"h1\"
size = \"1MB\"

[switch]
";

fn read(text: &str) -> Result<Experiment, String> {
    let text = format!("{GOOD}{text}");
    Experiment::read("my.toml", &text, Files::default(), &[]).map_err(|p| p.to_string())
}

#[test]
fn thresholds_at_the_egress_are_read_with_all_their_keys() {
    let text = "buffer = \"4MB\"\n\
                egress = { limit = \"200KB\", alpha = \"1/2\", lossless = \"1MB\" }\n";
    let e = read(text).unwrap();
    let config = e.config(e.own_variant());
    let expected = EgressThresholds {
        limit: Bytes::from_kb(200),
        lossless: Bytes::from_kb(1000),
        share: Some(EgressShare { shift: 1, pool: Bytes::from_kb(4000) }),
    };
    assert_eq!(config.switch.egress, Some(expected));
    assert!(config.nic.timeout.is_some(), "what is lost is sent again");
    let e = read("egress = { alpha = \"2\", pool = \"1MB\" }\n").unwrap();
    let share = e.config(e.own_variant()).switch.egress.and_then(|egress| egress.share);
    assert_eq!(share, Some(EgressShare { shift: -1, pool: Bytes::from_kb(1000) }));
    assert_eq!(read("egress = \"off\"\n").unwrap().scenario.switch.config.egress, None);
}

/// 27.9 KB of the link's round trip, frame ahead and PAUSE in the cells of 19 B frames, 39 B on the
/// wire, and the eight cells of a full frame.
#[test]
fn a_cell_is_read_and_headroom_counts_cells() {
    let e = read("cell = \"208B\"\n").unwrap();
    assert_eq!(e.scenario.switch.config.cell, Cell::new(Bytes::new(208)));
    let need = weir_scenario::checks::headroom_need(&e).expect("links");
    let wire = 25_000u64 + 1538 + 84;
    assert_eq!(need.bytes, Bytes::new((wire * 208).div_ceil(39) + 8 * 208));
}

#[test]
fn errors_name_the_value_and_what_is_valid() {
    for (text, says) in [
        ("egress = { pool = \"1MB\" }\n", "no threshold"),
        ("egress = { limit = \"1MB\", pool = \"1MB\" }\n", "no effect without `alpha`"),
        ("egress = { alpha = \"1/3\", pool = \"1MB\" }\n", "power of two"),
        ("egress = { alpha = \"1\" }\n", "`alpha` is a share of a `pool`"),
        ("egress = { limit = \"1000B\" }\n", "too small for a full frame"),
        ("egress = { alpha = \"1/256\", pool = \"100KB\" }\n", "too small for a full frame"),
        ("egress = { limt = \"1MB\" }\n", "limit"),
        ("cell = \"0B\"\n", "a cell of 0 B"),
        ("cell = \"70KB\"\n", "1 to 65535 B"),
        ("model = \"pipelined\"\ncell = \"208B\"\n", "`cell` does not apply"),
        ("model = \"pipelined\"\negress = { limit = \"1MB\" }\n", "`egress` does not apply"),
    ] {
        let problems = read(text).map(|_| ()).expect_err(text);
        assert!(problems.contains(says) && problems.contains("my.toml"), "{text}: {problems}");
    }
}
