//! Faults of control frames, as a run is told of them.

use crate::error::SimError;
use weir_core::{ControlMessage, LinkId, NodeId, Ratio, Time};

/// What happens to some of the control frames on a link, after they have crossed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlFault {
    /// Which link.
    pub link: LinkId,
    /// Frames that are sent to this end of it; `None` for both directions, each counted and drawn
    /// for itself.
    pub towards: Option<NodeId>,
    /// Which kind of messages.
    pub message: MessageKind,
    /// What happens to them.
    pub what: FaultKind,
    /// To which of them.
    pub which: FaultPick,
    /// Frames that arrive earlier are left alone and not counted.
    pub from: Time,
    /// So are those that arrive at this time or later.
    pub until: Option<Time>,
}

impl ControlFault {
    /// Loses a share of all control frames on a link, in both directions.
    pub fn lose(link: LinkId, share: Ratio) -> Self {
        Self {
            link,
            towards: None,
            message: MessageKind::Any,
            what: FaultKind::Drop,
            which: FaultPick::Share(share),
            from: Time::ZERO,
            until: None,
        }
    }

    /// Whether it looks at a frame that arrives at `now`.
    pub(crate) fn watches(&self, now: Time, message: &ControlMessage) -> bool {
        now >= self.from
            && self.until.is_none_or(|until| now < until)
            && self.message.covers(message)
    }

    pub(super) fn check(&self) -> Result<(), SimError> {
        let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
        match self.which {
            FaultPick::Nth(0) => return setting("nth", "0".into(), "frames are counted from 1"),
            FaultPick::Share(share) if share.of(1 << 32) > 1 << 32 => {
                return setting("share", share.to_string(), "at most 1");
            }
            _ => {}
        }
        if self.what == FaultKind::Delay(Time::ZERO) {
            return setting("by", "0 s".into(), "a delayed frame is late by more than nothing");
        }
        if let Some(until) = self.until.filter(|until| *until <= self.from) {
            let valid = "the end of a fault is after its beginning";
            return setting("until", until.to_string(), valid);
        }
        Ok(())
    }
}

weir_core::words! {
    /// A kind of control messages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MessageKind {
        /// All.
        Any = "any",
        /// Those that pause something or lower a rate.
        Pause = "pause",
        /// Those that resume something.
        Resume = "resume",
        /// Those that report a state: bitmaps and queue lengths.
        Report = "report",
    }
}

impl MessageKind {
    /// Whether a message is of this kind; one that pauses and resumes is of both.
    pub fn covers(self, message: &ControlMessage) -> bool {
        let any = |pause| message.pauses().iter().any(|p| p.pause == pause);
        match self {
            Self::Any => true,
            Self::Pause => any(true),
            Self::Resume => any(false),
            Self::Report => message.pauses().is_empty(),
        }
    }
}

/// What happens to a control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is lost.
    Drop,
    /// It takes effect this much later; frames behind it may overtake it.
    Delay(Time),
    /// It takes effect a second time, this much later.
    Duplicate(Time),
}

impl FaultKind {
    /// How late it makes an effect.
    pub(crate) fn late(self) -> Time {
        match self {
            Self::Drop => Time::ZERO,
            Self::Delay(by) | Self::Duplicate(by) => by,
        }
    }
}

/// To which of the frames that a fault looks at it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPick {
    /// The n-th, counted from 1.
    Nth(u64),
    /// Each with this probability.
    Share(Ratio),
}
