//! Keys of faults of control frames.

use super::{Kind, Section, key};

/// `[[fault]]`.
pub const FAULT: Section = Section {
    name: "fault",
    repeated: true,
    doc: "Control frames of flow control that are lost, late or effective twice, on one link or on \
          all. A fault acts where a frame arrives, after it has taken its time on the wire. It \
          needs `nth` or `share`.",
    keys: &[
        key(
            "link",
            Kind::Names,
            "",
            "The two nodes that it joins, `[\"leaf0\", \"spine1\"]`, all parallel links between \
             them included; or `\"all\"` links.",
        ),
        key(
            "towards",
            Kind::Text,
            "",
            "The node that the frames are sent to; default: both directions, each with a count \
             and random numbers of its own.",
        ),
        key(
            "message",
            Kind::Choice(&["any", "pause", "resume", "report"]),
            "any",
            "Which frames: those that pause something or lower a rate, those that resume \
             something, or reports (bitmaps of BFC, queue lengths of GFC).",
        ),
        key(
            "what",
            Kind::Choice(&["drop", "delay", "duplicate"]),
            "drop",
            "The frame is lost; or it takes effect later, so that other frames may overtake it; \
             or it takes effect twice.",
        ),
        key(
            "by",
            Kind::Time(&[]),
            "0ns",
            "How much later a delayed frame, or the copy of a duplicated frame, takes effect.",
        ),
        key(
            "nth",
            Kind::Whole { min: 1, max: u64::MAX },
            "",
            "The n-th of these frames is hit, counted from 1.",
        ),
        key(
            "share",
            Kind::Fraction,
            "",
            "Each of these frames is hit with this probability, `\"1%\"`.",
        ),
        key("from", Kind::Time(&[]), "0ns", "Frames that arrive earlier are not looked at."),
        key(
            "until",
            Kind::Time(&["never"]),
            "never",
            "Frames that arrive at this time or later are not looked at; default: no end.",
        ),
    ],
};
