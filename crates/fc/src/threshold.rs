//! Thresholds below the pause threshold, which most successors of PFC add.

use crate::{NodeSetup, ParamError, Role, Thresholds};
use weir_core::{Bytes, Ratio};

/// The OFC paper's ratio of the lower to the full pause threshold: 68 KB to 75 KB.
pub(crate) const ALPHA: Ratio = match Ratio::new(68, 75) {
    Some(r) => r,
    None => unreachable!(),
};

/// The pause and resume thresholds of each port, where they are fixed.
pub(crate) fn fixed(setup: &NodeSetup<'_>) -> Option<Vec<(Bytes, Bytes)>> {
    match setup.thresholds {
        Thresholds::Static(of) => Some(of.iter().map(|t| (t.xoff, t.xon)).collect()),
        _ => None,
    }
}

/// `f` of each port's pause and resume thresholds, where they are fixed, and `None` for each port
/// where they are not.
pub(crate) fn each_port<T>(
    setup: &NodeSetup<'_>,
    mut f: impl FnMut(Option<(Bytes, Bytes)>) -> Result<T, ParamError>,
) -> Result<Vec<T>, ParamError> {
    match fixed(setup) {
        Some(of) => of.into_iter().map(|t| f(Some(t))).collect(),
        None => setup.ports.iter().map(|_| f(None)).collect(),
    }
}

/// Whether the node watches thresholds at all: a NIC does not, nor a switch without lossless
/// priorities.
pub(crate) fn watches(setup: &NodeSetup<'_>) -> bool {
    setup.role == Role::Switch && !setup.lossless.is_empty()
}

/// The lower pause threshold called `name`, by port: as given, or `alpha` times the pause
/// threshold. It must lie above the resume and below the pause threshold. A node that does not
/// watch has none ([`Bytes::MAX`]).
pub(crate) fn lower(
    name: &str,
    given: Option<Bytes>,
    alpha: Ratio,
    setup: &NodeSetup<'_>,
) -> Result<Vec<Bytes>, ParamError> {
    if !watches(setup) {
        return Ok(vec![Bytes::MAX; setup.ports.len()]);
    }
    each_port(setup, |fixed| match (given, fixed) {
        (Some(x), None) => Ok(x),
        (None, None) => Err(ParamError(format!(
            "{name} must be given when the buffer's thresholds are not static"
        ))),
        (given, Some((xoff, xon))) => {
            let x = given.unwrap_or_else(|| Bytes::new(alpha.of(xoff.get())));
            if xon < x && x < xoff {
                Ok(x)
            } else {
                Err(ParamError(format!(
                    "{name} is {x}: it must lie above xon ({xon}) and below xoff ({xoff})"
                )))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortSetup, PortThresholds, PrioritySchedule};
    use weir_core::PrioritySet;
    use weir_core::{NodeId, Rate, Time};

    fn with<T>(thresholds: &Thresholds, role: Role, f: impl Fn(&NodeSetup<'_>) -> T) -> T {
        f(&NodeSetup {
            node: NodeId(0),
            role,
            ports: &[PortSetup::new(Rate::from_gbps(40), Time::ZERO); 2],
            schedule: &PrioritySchedule::default(),
            lossless: PrioritySet::from_bits(8),
            thresholds,
            max_frame: Bytes::new(1518),
            response: weir_core::Response::NONE,
            seed: 1,
        })
    }

    fn port_at(xoff: u64, xon: u64) -> PortThresholds {
        PortThresholds { xoff: Bytes::new(xoff), xon: Bytes::new(xon), limit: Bytes::MAX }
    }

    fn fixed_at(xoff: u64, xon: u64) -> Thresholds {
        Thresholds::Static(vec![port_at(xoff, xon); 2])
    }

    #[test]
    fn the_default_is_the_papers_68_of_75() {
        let ask = |t: &Thresholds| with(t, Role::Switch, |s| lower("x", None, ALPHA, s));
        assert_eq!(ask(&fixed_at(75_000, 45_000)), Ok(vec![Bytes::new(68_000); 2]));
        assert_eq!(ask(&fixed_at(750_000, 450_000)), Ok(vec![Bytes::new(680_000); 2]));
        let mixed = Thresholds::Static(vec![port_at(75_000, 45_000), port_at(750_000, 450_000)]);
        assert_eq!(ask(&mixed), Ok(vec![Bytes::new(68_000), Bytes::new(680_000)]));
        assert!(ask(&Thresholds::Pool).unwrap_err().0.contains("must be given"));
    }

    #[test]
    fn it_lies_strictly_between_resume_and_pause() {
        let t = fixed_at(75_000, 45_000);
        let ask = |x| with(&t, Role::Switch, |s| lower("x", Some(Bytes::new(x)), ALPHA, s)).is_ok();
        assert_eq!([45_000, 45_001, 74_999, 75_000].map(ask), [false, true, true, false]);
        // on every port: between 45 KB and 75 KB, and between 60 KB and 100 KB
        let t = Thresholds::Static(vec![port_at(75_000, 45_000), port_at(100_000, 60_000)]);
        let ask = |x| with(&t, Role::Switch, |s| lower("x", Some(Bytes::new(x)), ALPHA, s)).is_ok();
        assert_eq!([60_000, 60_001, 74_999, 75_000].map(ask), [false, true, true, false]);
    }

    #[test]
    fn a_nic_has_none() {
        assert_eq!(
            with(&Thresholds::Pool, Role::Nic, |s| lower("x", None, ALPHA, s)),
            Ok(vec![Bytes::MAX; 2])
        );
    }
}
