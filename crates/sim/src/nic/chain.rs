//! What made each thing that the ranks of a host were told: kept with blame only, for the walk back
//! from the end of an iteration ([`critical`](crate::critical)).

use rustc_hash::FxHashMap;
use weir_core::{FlowId, Time};

/// What made an event of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// The rank begins, or nothing is kept.
    Start,
    /// A computation that began when the rank was told its `entry`-th event.
    Calc { entry: u32 },
    /// Time passed that is no computation, from when the rank was told its `entry`-th event.
    Wait { entry: u32 },
    /// A message over NVLink, which the rank at `place` sent when it was told its `entry`-th event;
    /// it takes `alone` if nothing is ahead of it.
    Nvlink { place: u32, entry: u32, alone: Time },
    /// The message of a queue pair that ends with packet `seq`: its last packet left.
    Left { flow: FlowId, seq: u32 },
    /// It was acknowledged.
    Acked { flow: FlowId, seq: u32 },
    /// It arrived at `at`.
    Arrived { flow: FlowId, seq: u32, at: Time },
}

/// A rank was told something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) at: Time,
    pub(crate) by: Cause,
}

/// A message that was posted: by the rank at `place`, when it was told its `entry`-th event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostedBy {
    pub(crate) place: u32,
    pub(crate) entry: u32,
}

/// All that the ranks of a host were told.
#[derive(Debug, Default)]
pub(crate) struct ChainLog {
    /// What made the events that ranks are still to be told of, by the number of the event.
    pub(super) causes: FxHashMap<u64, Cause>,
    /// By place: what the rank was told, in order.
    pub(crate) told: Vec<Vec<Told>>,
    /// By place and iteration: with which of these it ended.
    pub(crate) ended: Vec<Vec<u32>>,
    /// By queue pair and last packet.
    pub(crate) posted: FxHashMap<(FlowId, u32), PostedBy>,
}

impl ChainLog {
    /// A rank is told of the event of this number.
    pub(super) fn tell(&mut self, place: u32, at: Time, number: u64) {
        let by = self.causes.remove(&number).unwrap_or(Cause::Start);
        let place = place as usize;
        if self.told.len() <= place {
            self.told.resize_with(place + 1, Vec::new);
            self.ended.resize_with(place + 1, Vec::new);
        }
        self.told[place].push(Told { at, by });
    }

    /// The number of what it was told last.
    pub(super) fn entry(&self, place: u32) -> u32 {
        self.told.get(place as usize).map_or(0, |told| told.len().saturating_sub(1) as u32)
    }
}
