//! The list of schemes and what each of them can do: the one place where it is pinned.

use weir_fc::harness::Bench;
use weir_fc::{SCHEMES, SchemeInfo, Senders, Values};

/// What a scheme can do, as a line of the table below.
fn line(info: &'static SchemeInfo) -> String {
    let mut switch = Bench::switch(info, &Values::new(), 2);
    let layout = switch.scheme().layout(weir_core::PortId(0));
    let said = [
        (info.lossless, "lossless"),
        (switch.scheme_mut().pipelined().is_ok(), "pipelined"),
        (info.many_paths.is_ok(), "many-paths"),
        (switch.scheme().has_fixed_state(), "fixed-state"),
        (layout.inspects_heads, "inspects-heads"),
        (info.senders == Senders::Nobody, "silent"),
        (info.senders == Senders::SwitchesAndHosts, "hosts-send"),
    ];
    let said = said.into_iter().filter_map(|(is, word)| is.then_some(word));
    std::iter::once(info.name).chain(said).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_schemes_and_what_they_can_do() {
    let expected = "\
        pfc lossless pipelined many-paths fixed-state\n\
        capfc lossless pipelined many-paths fixed-state\n\
        ppfc lossless pipelined many-paths fixed-state\n\
        gfc lossless pipelined many-paths fixed-state\n\
        gpfc lossless pipelined many-paths fixed-state\n\
        ofc lossless many-paths inspects-heads\n\
        none pipelined many-paths fixed-state silent\n\
        bfc many-paths\n\
        ideal\n\
        flowsail inspects-heads\n\
        ffc inspects-heads";
    let lines: Vec<String> = SCHEMES.iter().map(|info| line(info)).collect();
    assert_eq!(lines.join("\n"), expected);
}
