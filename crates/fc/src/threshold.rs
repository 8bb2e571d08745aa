//! Thresholds below the pause threshold, which most successors of PFC add.

use crate::{NodeSetup, ParamError, Role, Thresholds};
use weir_core::{Bytes, Ratio};

/// The OFC paper's ratio of the lower to the full pause threshold: 68 KB to 75 KB.
pub(crate) const ALPHA: Ratio = match Ratio::new(68, 75) {
    Some(r) => r,
    None => unreachable!(),
};

/// Pause and resume thresholds, where they are fixed.
pub(crate) fn fixed(setup: &NodeSetup<'_>) -> Option<(Bytes, Bytes)> {
    match *setup.thresholds {
        Thresholds::Static { xoff, xon, .. } => Some((xoff, xon)),
        _ => None,
    }
}

/// Whether the node watches thresholds at all: a NIC does not, nor a switch without lossless
/// priorities.
pub(crate) fn watches(setup: &NodeSetup<'_>) -> bool {
    setup.role == Role::Switch && !setup.lossless.is_empty()
}

/// The lower pause threshold called `name`: as given, or `alpha` times the pause threshold.
/// It must lie above the resume and below the pause threshold. A node that does not watch
/// has none ([`Bytes::MAX`]).
pub(crate) fn lower(
    name: &str,
    given: Option<Bytes>,
    alpha: Ratio,
    setup: &NodeSetup<'_>,
) -> Result<Bytes, ParamError> {
    if !watches(setup) {
        return Ok(Bytes::MAX);
    }
    match (given, fixed(setup)) {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortSetup, PrioritySchedule};
    use weir_core::PrioritySet;
    use weir_core::{NodeId, Rate, Time};

    fn with<T>(thresholds: &Thresholds, role: Role, f: impl Fn(&NodeSetup<'_>) -> T) -> T {
        f(&NodeSetup {
            node: NodeId(0),
            role,
            ports: &[PortSetup { rate: Rate::from_gbps(40), delay: Time::ZERO }],
            schedule: &PrioritySchedule::default(),
            lossless: PrioritySet::from_bits(8),
            thresholds,
            max_frame: Bytes::new(1518),
            response: weir_core::Time::ZERO,
            seed: 1,
        })
    }

    fn fixed_at(xoff: u64, xon: u64) -> Thresholds {
        Thresholds::Static { xoff: Bytes::new(xoff), xon: Bytes::new(xon), limit: vec![Bytes::MAX] }
    }

    #[test]
    fn the_default_is_the_papers_68_of_75() {
        let ask = |t: &Thresholds| with(t, Role::Switch, |s| lower("x", None, ALPHA, s));
        assert_eq!(ask(&fixed_at(75_000, 45_000)), Ok(Bytes::new(68_000)));
        assert_eq!(ask(&fixed_at(750_000, 450_000)), Ok(Bytes::new(680_000)));
        assert!(ask(&Thresholds::Pool).unwrap_err().0.contains("must be given"));
    }

    #[test]
    fn it_lies_strictly_between_resume_and_pause() {
        let t = fixed_at(75_000, 45_000);
        let ask = |x| with(&t, Role::Switch, |s| lower("x", Some(Bytes::new(x)), ALPHA, s)).is_ok();
        assert_eq!([45_000, 45_001, 74_999, 75_000].map(ask), [false, true, true, false]);
    }

    #[test]
    fn a_nic_has_none() {
        assert_eq!(
            with(&Thresholds::Pool, Role::Nic, |s| lower("x", None, ALPHA, s)),
            Ok(Bytes::MAX)
        );
    }
}
