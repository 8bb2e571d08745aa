//! Cases under readings of a paper's listings, right and wrong ones.

use crate::common::set;
use crate::draw::{Case, one_in, one_of};
use weir_core::Time;
use weir_core::rng::Stream;
use weir_fc::Kind;
use weir_sim::config::{Balance, Stop};

/// OFC or FlowSail with one choice among its readings, or two. Packets of a flow take one path, so
/// that only the scheme can reorder them.
pub(crate) fn case(number: u64) -> Case {
    let mut s = Stream::new(number, "readings", 0);
    let mut case = Case::under(number, Some(one_of(&mut s, &["ofc", "flowsail"])));
    let choices: Vec<(&str, &[&str])> = (case.config.scheme.info.params.iter())
        .filter_map(|p| match p.kind {
            Kind::Choice(values) => Some((p.name, values)),
            Kind::Set(choices) => Some((p.name, choices.words)),
            _ => None,
        })
        .collect();
    for _ in 0..if one_in(&mut s, 4) { 2 } else { 1 } {
        let (name, values) = one_of(&mut s, &choices);
        let value = one_of(&mut s, values);
        set(&mut case.config, name, value);
        case.what += &format!(", {name} = {value}");
    }
    case.config.balance = Balance::Flow;
    // a wrong reading may leave flows paused for ever, whose timers go on
    case.config.stop = Stop::At(Time::from_ms(5));
    case
}
