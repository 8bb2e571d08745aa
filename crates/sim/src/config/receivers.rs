//! Hosts that take data in slowly, as a run is told of them.

use crate::error::SimError;
use weir_core::{Bytes, NodeId, Rate, Time};

/// A host that takes data out of the receive buffer of its NIC more slowly than it comes, for some
/// time or again and again. Its NIC pauses the switch by PFC frames while the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowReceiver {
    /// The host.
    pub host: NodeId,
    /// How fast it takes data out of the buffer while it is slow; zero for not at all.
    pub rate: Rate,
    /// When it becomes slow.
    pub from: Time,
    /// When it is well again; `None` for never. What waits is taken in at once then.
    pub to: Option<Time>,
    /// It becomes slow again this long after each time; `None` for once.
    pub every: Option<Time>,
    /// The receive buffer. A packet that does not fit is lost.
    pub buffer: Bytes,
    /// With so much in the buffer the NIC pauses the switch.
    pub xoff: Bytes,
    /// With so much left it resumes.
    pub xon: Bytes,
    /// Storm prevention: after a pause of this length the NIC pauses no more, and loses what does
    /// not fit, until the buffer has drained to `xon`; `None` for never.
    pub prevention: Option<Time>,
}

impl SlowReceiver {
    /// Until when the host is slow, if it is at `now`; [`Time::NEVER`] for always.
    pub(crate) fn slow_until(&self, now: Time) -> Option<Time> {
        let since = now.checked_sub(self.from)?;
        let Some(to) = self.to else { return Some(Time::NEVER) };
        let begin = match self.every {
            Some(every) => self.from + every * (since.as_ps() / every.as_ps()),
            None => self.from,
        };
        Some(begin + (to - self.from)).filter(|end| now < *end)
    }

    pub(super) fn check(&self) -> Result<(), SimError> {
        let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
        if self.xon >= self.xoff {
            return setting("xon", self.xon.to_string(), "below the xoff of the receiver");
        }
        if self.xoff > self.buffer {
            return setting("xoff", self.xoff.to_string(), "within the buffer of the receiver");
        }
        if let Some(to) = self.to.filter(|to| *to <= self.from) {
            return setting("to", to.to_string(), "a receiver is slow until after `from`");
        }
        if let Some(every) = self.every
            && self.to.is_none_or(|to| every <= to - self.from)
        {
            return setting("every", every.to_string(), "longer than the time from `from` to `to`");
        }
        if self.prevention == Some(Time::ZERO) {
            return setting("storm-prevention", "0 s".into(), "above zero");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver() -> SlowReceiver {
        let us = Time::from_us;
        SlowReceiver {
            host: NodeId(0),
            rate: Rate::from_bps(0),
            from: us(10),
            to: Some(us(15)),
            every: Some(us(20)),
            buffer: Bytes::from_kb(100),
            xoff: Bytes::from_kb(60),
            xon: Bytes::from_kb(30),
            prevention: None,
        }
    }

    #[test]
    fn a_receiver_is_slow_from_its_beginning_up_to_its_end_and_again() {
        let until = |r: &SlowReceiver, us| r.slow_until(Time::from_us(us));
        let r = receiver();
        assert_eq!([9, 15, 29, 35].map(|us| until(&r, us)), [None; 4]);
        assert_eq!([10, 14].map(|us| until(&r, us)), [Some(Time::from_us(15)); 2]);
        assert_eq!([30, 34].map(|us| until(&r, us)), [Some(Time::from_us(35)); 2]);
        let once = SlowReceiver { every: None, ..r };
        assert_eq!(until(&once, 30), None);
        let always = SlowReceiver { to: None, ..once };
        assert_eq!(until(&always, 1_000_000), Some(Time::NEVER));
    }

    #[test]
    fn settings_that_cannot_be_are_refused() {
        let r = receiver();
        assert!(r.check().is_ok());
        for bad in [
            SlowReceiver { xon: r.xoff, ..r },
            SlowReceiver { xoff: Bytes::from_kb(101), ..r },
            SlowReceiver { to: Some(r.from), every: None, ..r },
            SlowReceiver { every: Some(Time::from_us(5)), ..r },
            SlowReceiver { to: None, ..r },
            SlowReceiver { prevention: Some(Time::ZERO), ..r },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
