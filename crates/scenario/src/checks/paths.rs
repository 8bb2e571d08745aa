//! Whether scheme and transport support the switches and the paths of the scenario.

use crate::experiment::{Experiment, Variant, ask};
use crate::text::{Diagnostic, Diagnostics};
use weir_fc::SchemeInfo;
use weir_sim::config::Reliability;

/// Refuses a scheme that cannot govern pipelined switches, or flows with several paths.
pub(crate) fn scheme(e: &Experiment, variant: Variant, out: &mut Diagnostics) {
    let s = &e.scenario;
    let Some(mut fc) = ask(&s.flow_control.with(variant.scheme)) else { return };
    let title = variant.scheme.title;
    let at = &s.flow_control.scheme;
    let at = at.span.filter(|_| at.value.name == variant.scheme.name);
    if s.switch.config.pipeline.is_some()
        && let Err(why) = fc.pipelined()
    {
        let error = Diagnostic::error(format!("{title} does not support pipelined switches"));
        let names: Vec<&str> = fitting(pipelined);
        let help = format!("supported: {}", names.join(", "));
        out.push(error.maybe_at(at, why).help(help));
    }
    if !s.routing.balance.keeps_order()
        && let Err(why) = variant.scheme.many_paths
    {
        let error = Diagnostic::error(format!("{title} does not support flows with several paths"));
        let error = error.maybe_at(at.or(s.routing.balance_at), why);
        let names: Vec<&str> = fitting(|info| info.many_paths.is_ok());
        let help = format!("write `balance = \"flow\"`, or choose one of {}", names.join(", "));
        out.push(error.help(help));
    }
}

/// The schemes that have a property.
fn fitting(has: impl Fn(&'static SchemeInfo) -> bool) -> Vec<&'static str> {
    weir_fc::SCHEMES.iter().filter(|info| has(info)).map(|info| info.name).collect()
}

/// Whether a scheme supports pipelined switches.
fn pipelined(info: &'static SchemeInfo) -> bool {
    ask(&info.into()).is_some_and(|mut fc| fc.pipelined().is_ok())
}

/// Go-back-N takes every packet out of order for a loss.
pub(crate) fn order(e: &Experiment, out: &mut Diagnostics) {
    let s = &e.scenario;
    if !s.routing.balance.is_per_packet() || s.nic.config.reliability != Reliability::GoBackN {
        return;
    }
    let title = "go-back-N treats reordered packets as lost";
    let label = "packets of a flow take different paths";
    let warning = Diagnostic::warning(title).maybe_at(s.routing.balance_at, label);
    out.push(warning.help(
        "packets that arrive early are discarded and sent again: write `reliability = \
         \"selective-repeat\"` in `[nic]` unless this is intended",
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ask` must be able to build every scheme: one it cannot is never refused here.
    #[test]
    fn every_scheme_can_be_asked() {
        assert!(weir_fc::SCHEMES.iter().all(|info| ask(&(*info).into()).is_some()));
        let supporting = fitting(pipelined);
        assert!(supporting.contains(&"pfc") && !supporting.contains(&"ofc"), "{supporting:?}");
    }
}
