//! What CaPFC watches at an egress queue.

use super::{EGRESS_WARN, EGRESS_XOFF, EGRESS_XON};
use crate::{NodeSetup, Param, ParamError, Values, threshold};
use weir_core::{Bytes, PortId, Ratio};

/// The thresholds of an egress port's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Levels {
    pub(super) xoff: Bytes,
    pub(super) xon: Bytes,
    pub(super) warn: Bytes,
}

impl Levels {
    /// As given, or those of a port with these ingress thresholds.
    pub(super) fn read(
        values: &Values,
        setup: &NodeSetup<'_>,
        fixed: Option<(Bytes, Bytes)>,
    ) -> Result<Self, ParamError> {
        let or = |param: &Param, default: Option<Bytes>| match values.bytes(param).or(default) {
            Some(x) => Ok(x),
            None if !threshold::watches(setup) => Ok(Bytes::MAX),
            None => Err(ParamError(format!(
                "{} must be given when the buffer's thresholds are not static",
                param.name
            ))),
        };
        let alpha = |(xoff, _): (Bytes, Bytes)| Bytes::new(threshold::ALPHA.of(xoff.get()));
        let xoff = or(&EGRESS_XOFF, fixed.map(alpha))?;
        let xon = or(&EGRESS_XON, fixed.map(|(_, xon)| xon))?;
        let warn = or(&EGRESS_WARN, Some(xon))?;
        if xon > xoff || warn > xoff {
            return Err(ParamError(format!(
                "egress-xon ({xon}) and egress-warn ({warn}) must not exceed egress-xoff ({xoff})"
            )));
        }
        Ok(Self { xoff, xon, warn })
    }
}

/// One egress queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Egress {
    /// C: packets brought by each input since the queue passed WARN.
    pub(super) counted: Vec<u32>,
    /// E: inputs in the congested state.
    pub(super) congested: Vec<bool>,
}

impl Egress {
    pub(super) fn new(ports: usize) -> Self {
        Self { counted: vec![0; ports], congested: vec![false; ports] }
    }

    /// Whether any counter or signal is set.
    pub(super) fn is_touched(&self) -> bool {
        self.counted.iter().any(|&c| c > 0) || self.congested.contains(&true)
    }

    /// Algorithm 1, lines 8 to 13: a packet from `input` has made the queue `length` long, which is
    /// at least WARN. Returns the inputs that are put into the congested state by it.
    pub(super) fn enqueue(
        &mut self,
        input: PortId,
        length: Bytes,
        levels: Levels,
        cut: Option<Ratio>,
    ) -> Vec<PortId> {
        self.counted[input.index()] += 1; // line 8
        if length <= levels.xoff {
            return Vec::new();
        }
        let mut heavy = self.heavy(cut); // lines 10 and 11
        heavy.retain(|i| !std::mem::replace(&mut self.congested[i.index()], true)); // line 13
        heavy
    }

    /// The inputs that brought most: the heaviest one, or with Algorithm 2 the fewest that
    /// together brought the part `cut`. Ties go to the lower port.
    pub(super) fn heavy(&self, cut: Option<Ratio>) -> Vec<PortId> {
        let mut order: Vec<usize> = (0..self.counted.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(self.counted[i]), i));
        let take = match cut {
            None => 1,
            Some(cut) => {
                let total: u64 = self.counted.iter().map(|&c| u64::from(c)).sum();
                // sum >= cut * total; 32 binary places make rounding down harmless, since the
                // fraction's denominator has no more
                let enough = cut.of(total << 32);
                let mut sum = 0;
                let reached = order.iter().position(|&i| {
                    sum += u64::from(self.counted[i]);
                    sum << 32 >= enough
                });
                1 + reached.unwrap_or_default()
            }
        };
        order.truncate(take);
        order.into_iter().map(PortId::from_index).collect()
    }

    /// Algorithm 1, lines 17 to 20: a packet has left the queue `length` long. Returns the
    /// inputs that leave the congested state.
    pub(super) fn dequeue(&mut self, length: Bytes, levels: Levels) -> Vec<PortId> {
        if length <= levels.warn {
            self.counted.fill(0); // line 18
        }
        let mut freed = Vec::new();
        if length <= levels.xon {
            for (i, e) in self.congested.iter_mut().enumerate() {
                if std::mem::take(e) {
                    freed.push(PortId::from_index(i)); // line 20
                }
            }
        }
        freed
    }
}
