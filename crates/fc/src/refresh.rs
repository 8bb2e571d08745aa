//! Pauses that are repeated while they last, and lapse when they are not.
//!
//! *Problem:* a pause that lasts until a RESUME depends on two frames that must not get lost.
//! Without the PAUSE the neighbour sends into a full buffer; without the RESUME it waits forever.
//! *Idea:* the pausing side repeats what it has paused every `refresh`, and the paused side lifts
//! what it has not heard of for [`INTERVALS`] times as long, as if a RESUME had come. A lost PAUSE
//! is made good by the next repetition, a lost RESUME by the lapse. A repetition changes nothing at
//! a receiver that knows it. (PFC with timed pauses does the same with the times in its frames.)
//!
//! Both ends are told the same `refresh`. Where so many flows stand paused that repeating them
//! would take more than half of the wire, they are repeated less often; the paused side knows how
//! many it has heard of, and waits accordingly longer.
//!
//! Of `n` repetitions in a row that are lost, three are needed for a pause to lapse too early. The
//! next one pauses again; what comes in the meantime may find no room.

use crate::{
    Actions, Fallback, HoldState, Kind, LinkState, NodeSetup, NodeView, Param, ParamError,
    TimerKey, Values,
};
use std::collections::BTreeMap;
use weir_core::control::MIN_FRAME;
use weir_core::{Bytes, ControlMessage, PortId, Reason, Time};

/// How often what stands paused is repeated.
pub const REFRESH: Param = Param {
    name: "refresh",
    kind: Kind::Time(&["never"]),
    fallback: Fallback::Absent("never"),
    doc: "Interval at which what stands paused is repeated, so that a lost frame does no lasting \
          harm: a pause lapses when it has not been repeated for four intervals; default: never.",
};

/// After how many intervals without a repetition a pause lapses.
pub const INTERVALS: u64 = 4;

/// The longest interval. A pause that lapses later than the end of the clock would never lapse, and
/// a run whose RESUME was lost would wait for it.
const LONGEST: Time = Time::from_ms(1000);

/// Refuses an interval that is too long to be of use: more than a second.
pub fn check_longest(every: Time) -> Result<(), ParamError> {
    if every > LONGEST {
        let name = REFRESH.name;
        return Err(ParamError(format!("{name} is {every}: at most {LONGEST}, or \"never\"")));
    }
    Ok(())
}

/// After how long a pause lapses that is not repeated, if the scheme has a `refresh` and it is set.
pub fn lapse(info: &crate::SchemeInfo, values: &Values) -> Option<Time> {
    let param = info.params.iter().find(|p| p.name == REFRESH.name)?;
    values.time(param).map(|every| every * INTERVALS)
}

/// Numbers that no scheme uses for its own timers.
const REPEAT: u8 = u8::MAX - 1;
const LAPSE: u8 = u8::MAX;

/// What a timer of a [`Refresh`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// What stands paused at the neighbour is to be repeated.
    Repeat,
    /// Pauses of the neighbour may have lapsed.
    Lapse,
}

impl Due {
    /// Which of them a key stands for, if any.
    pub(crate) fn of(key: TimerKey) -> Option<Self> {
        match key.kind {
            REPEAT => Some(Self::Repeat),
            LAPSE => Some(Self::Lapse),
            _ => None,
        }
    }

    fn key(self, port: PortId) -> TimerKey {
        let kind = match self {
            Self::Repeat => REPEAT,
            Self::Lapse => LAPSE,
        };
        TimerKey { kind, port, index: 0 }
    }
}

/// The refresh of one node, for both sides of its ports. `K` is what a pause names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refresh<K> {
    every: Option<Time>,
    /// By port: the timer that repeats is armed.
    repeats: Vec<bool>,
    /// By port: what the neighbour has paused, and when it last said so. Its timer is armed while
    /// there is something.
    heard: Vec<BTreeMap<K, Time>>,
}

impl<K: Ord + Copy> Refresh<K> {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let every = values.time(&REFRESH);
        if let Some(every) = every {
            check_longest(every)?;
            setup.ports.iter().try_for_each(|port| port.check_interval(REFRESH.name, every))?;
        }
        let ports = setup.ports.len();
        Ok(Self { every, repeats: vec![false; ports], heard: vec![BTreeMap::new(); ports] })
    }

    /// How often what stands paused is repeated, if it is.
    #[inline]
    pub(crate) fn every(&self) -> Option<Time> {
        self.every
    }

    /// Whether anything is repeated.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.every.is_some()
    }

    /// Something of the neighbour at `port` has been paused: it is repeated from now on.
    pub(crate) fn told(&mut self, now: Time, port: PortId, a: &mut Actions) {
        if let Some(every) = self.every
            && !std::mem::replace(&mut self.repeats[port.index()], true)
        {
            a.arm_background(Due::Repeat.key(port), now + every);
        }
    }

    /// Repeats what stands paused at the neighbour at `port`, and goes on with it as long as
    /// anything does.
    pub(crate) fn repeat(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        standing: &[ControlMessage],
        a: &mut Actions,
    ) {
        let Some(every) = self.every else { return };
        let mut takes = Time::ZERO;
        for message in standing {
            takes += v.port(port).frame_time(message.frame_bytes());
            a.send(port, message.clone(), Reason::Refresh);
        }
        self.repeats[port.index()] = !standing.is_empty();
        if !standing.is_empty() {
            a.arm_background(Due::Repeat.key(port), v.now + every.max(takes * 2));
        }
    }

    /// The neighbour at `port` has paused `what`, or has repeated that.
    pub(crate) fn heard(&mut self, v: &NodeView<'_>, port: PortId, what: K, a: &mut Actions) {
        let Some(every) = self.every else { return };
        let heard = &mut self.heard[port.index()];
        if heard.is_empty() {
            a.arm_background(Due::Lapse.key(port), v.now + every * INTERVALS);
        }
        heard.insert(what, v.now);
    }

    /// The neighbour at `port` has resumed `what`.
    pub(crate) fn lifted(&mut self, port: PortId, what: K, a: &mut Actions) {
        let heard = &mut self.heard[port.index()];
        if heard.remove(&what).is_some() && heard.is_empty() {
            a.cancel(Due::Lapse.key(port));
        }
    }

    /// The neighbour at `port` asks for a state of `what`.
    pub(crate) fn received(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        what: K,
        state: HoldState,
        a: &mut Actions,
    ) {
        match state {
            HoldState::Held => self.heard(v, port, what, a),
            HoldState::Open => self.lifted(port, what, a),
        }
    }

    /// Everything for which `is` holds at `port` has been resumed.
    pub(crate) fn lifted_all(&mut self, port: PortId, is: impl Fn(&K) -> bool, a: &mut Actions) {
        let heard = &mut self.heard[port.index()];
        let had = !heard.is_empty();
        heard.retain(|what, _| !is(what));
        if had && heard.is_empty() {
            a.cancel(Due::Lapse.key(port));
        }
    }

    /// What the neighbour at `port` has not repeated in time: the scheme lifts it.
    pub(crate) fn lapsed(&mut self, v: &NodeView<'_>, port: PortId, a: &mut Actions) -> Vec<K> {
        let Some(every) = self.every else { return Vec::new() };
        let heard = &mut self.heard[port.index()];
        // each pause may be in a frame of its own
        let takes = v.port(port).frame_time(Bytes::new(MIN_FRAME)) * heard.len() as u64;
        let lasts = every.max(takes * 2) * INTERVALS;
        let over = |at: Time| v.now >= at + lasts;
        let lapsed = heard.iter().filter(|(_, at)| over(**at)).map(|(what, _)| *what).collect();
        heard.retain(|_, at| !over(*at));
        if let Some(first) = heard.values().min() {
            a.arm_background(Due::Lapse.key(port), *first + lasts);
        }
        lapsed
    }

    /// The link at `port` failed or recovered: the neighbour has paused nothing. What it was told
    /// is repeated again as soon as the link is up.
    pub(crate) fn link(&mut self, now: Time, port: PortId, link: LinkState, a: &mut Actions) {
        if std::mem::take(&mut self.repeats[port.index()]) {
            a.cancel(Due::Repeat.key(port));
        }
        self.lifted_all(port, |_| true, a);
        if link.is_up() {
            self.told(now, port, a);
        }
    }
}

#[cfg(test)]
mod tests;
