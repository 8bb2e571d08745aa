//! `[switch] egress` and `cell`: what they mean, and what is wrong with them.

use weir_core::Bytes;
use weir_fc::{Cell, EgressShare, EgressThresholds};
use weir_scenario::{Experiment, Files};
use weir_sim::thresholds::SwitchThresholds;

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

/// What the checks say that lossless ingresses need is what a run sets aside, in cells of 208 B and
/// under schemes that let one and two frames begin before the neighbour is as slow as it must be.
#[test]
fn checks_and_runs_have_the_same_limits_in_cells() {
    // 25 KB of the round trip, 1538 B and 84 B in the cells of 19 B frames, 39 B on the wire
    let headroom = (25_000u64 + 1538 + 84) * 208 / 39 + 8 * 208;
    assert_eq!(headroom, 143_648);
    for (scheme, frames, says) in [("pfc", 1, "585.933 KB"), ("gfc", 2, "590.925 KB")] {
        let e = read(&format!(
            "cell = \"208B\"\nbuffer = \"2MB\"\nthresholds = {{ xoff = \"50KB\", xon = \"40KB\" \
             }}\n[flow-control]\nscheme = \"{scheme}\"\n[[traffic]]\nkind = \"flow\"\nfrom = \
             \"h2\"\nto = \"h1\"\nsize = \"1MB\"\nclass = \"bulk\"\npriority = 0\n"
        ))
        .unwrap_or_else(|why| panic!("{why}"));
        // a full frame takes eight cells; the last byte of it is the one that reaches xoff
        let limit = Bytes::new(50_000 + frames * 8 * 208 - 1 + headroom);
        let config = e.config(e.own_variant());
        let thresholds = SwitchThresholds::new(&e.topology, &config);
        for link in e.topology.links() {
            let ingress = thresholds.ingress(link.rate, link.delay).expect("fixed thresholds");
            assert_eq!((ingress.limit, thresholds.most(link)), (limit, limit), "{scheme}");
        }
        let switch = e.topology.switches().next().expect("one");
        assert_eq!(thresholds.promised(switch), limit * 3, "{scheme}");
        let warnings = e.warnings.plain(&e.scenario.sources);
        assert!(warnings.contains(&format!("need {says} of it")), "{scheme}: {warnings}");
    }
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
