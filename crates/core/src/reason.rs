//! Why a node sends a control message.
//!
//! A scheme states the reason with every message that it sends: which length it compared with which
//! threshold, or what else made it speak. The reason is not part of the message: it takes no bytes
//! on the wire. It is what the log of pauses and captures show beside the message.

use crate::ids::PortId;
use crate::units::Bytes;
use std::fmt;

/// Why a control message is sent.
///
/// ```
/// use weir_core::{Bytes, PortId, Reason};
///
/// let length = Reason::ingress(PortId(0), Bytes::new(61_440));
/// let reason = length.at_least("xoff", Bytes::new(61_000));
/// assert_eq!(reason.cause().to_string(), "ingress >= xoff");
/// let port = |port: PortId| format!("s1/p{}", port.0);
/// assert_eq!(reason.sentence(port), "ingress s1/p0 61 440 B >= xoff 61 000 B");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A length is on one side of its threshold.
    Threshold(Comparison),
    /// None of the packets that met a queue beyond its threshold, and were counted for that, is
    /// left.
    CountedGone,
    /// A state that stands is repeated, in case the message that stated it was lost.
    Refresh,
    /// A periodic report is due.
    Report,
    /// The link failed, so that what was said over it is void, or it recovered, and what stands is
    /// said again.
    Link,
    /// Any other reason, in a few words.
    Words(&'static str),
}

/// A length, and the threshold that it was compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// What is measured.
    pub quantity: Quantity,
    /// The port where it is measured, of the node that sends the message.
    pub port: PortId,
    /// How long it is.
    pub value: Bytes,
    /// How the two compare.
    pub relation: Relation,
    /// The threshold's name, as the scheme calls it.
    pub limit: &'static str,
    /// The threshold.
    pub threshold: Bytes,
    /// How many more changes the message gathers, each with a comparison of its own.
    pub more: u16,
}

crate::words! {
    /// What a scheme measures in bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Quantity {
        /// Bytes in the node that came in by the port, of one priority.
        Ingress = "ingress",
        /// Of those the bytes in the headroom.
        Headroom = "headroom",
        /// The same as [`Ingress`](Self::Ingress), as it is expected to be soon.
        Forecast = "forecast",
        /// Bytes queued at the port for transmission, of one priority.
        Egress = "egress",
        /// Bytes of one queue of the port.
        Queue = "queue",
        /// Bytes of one flow queued at the port.
        Flow = "flow",
        /// Bytes granted to the neighbour at the port that it has not used, or grants that have not
        /// been returned: whatever the scheme counts.
        Grant = "grant",
    }
}

/// How a length compares with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// At the threshold or above it.
    AtLeast,
    /// Above it.
    Above,
    /// At the threshold or below it.
    AtMost,
    /// Below it.
    Below,
}

impl Relation {
    /// As programs write it.
    pub fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// Whether it is true of these two.
    pub fn holds<T: PartialOrd>(self, value: T, threshold: T) -> bool {
        match self {
            Self::AtLeast => value >= threshold,
            Self::Above => value > threshold,
            Self::AtMost => value <= threshold,
            Self::Below => value < threshold,
        }
    }
}

/// A length that is about to be compared.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Measured {
    quantity: Quantity,
    port: PortId,
    value: Bytes,
}

impl Measured {
    /// `quantity` at `port` is `value`.
    pub fn new(quantity: Quantity, port: PortId, value: Bytes) -> Self {
        Self { quantity, port, value }
    }

    /// It is at least `threshold`, which the scheme calls `limit`.
    pub fn at_least(self, limit: &'static str, threshold: Bytes) -> Reason {
        self.compared(Relation::AtLeast, limit, threshold)
    }

    /// It is above `threshold`, which the scheme calls `limit`.
    pub fn above(self, limit: &'static str, threshold: Bytes) -> Reason {
        self.compared(Relation::Above, limit, threshold)
    }

    /// It is at most `threshold`, which the scheme calls `limit`.
    pub fn at_most(self, limit: &'static str, threshold: Bytes) -> Reason {
        self.compared(Relation::AtMost, limit, threshold)
    }

    /// It is below `threshold`, which the scheme calls `limit`.
    pub fn below(self, limit: &'static str, threshold: Bytes) -> Reason {
        self.compared(Relation::Below, limit, threshold)
    }

    /// # Panics
    /// In debug builds, when the two do not compare like this: the scheme states what is not so.
    fn compared(self, relation: Relation, limit: &'static str, threshold: Bytes) -> Reason {
        let Self { quantity, port, value } = self;
        let reason = Comparison { quantity, port, value, relation, limit, threshold, more: 0 };
        debug_assert!(relation.holds(value, threshold), "not so: {reason:?}");
        Reason::Threshold(reason)
    }
}

impl Reason {
    /// `bytes` came in by `port` and are still in the node.
    pub fn ingress(port: PortId, bytes: Bytes) -> Measured {
        Measured::new(Quantity::Ingress, port, bytes)
    }

    /// `bytes` wait at `port` for transmission.
    pub fn egress(port: PortId, bytes: Bytes) -> Measured {
        Measured::new(Quantity::Egress, port, bytes)
    }

    /// One queue of `port` is `bytes` long.
    pub fn queue(port: PortId, bytes: Bytes) -> Measured {
        Measured::new(Quantity::Queue, port, bytes)
    }

    /// One flow has `bytes` in the queues of `port`.
    pub fn flow(port: PortId, bytes: Bytes) -> Measured {
        Measured::new(Quantity::Flow, port, bytes)
    }

    /// The reason of a message that gathers this change and `others`.
    #[must_use]
    pub fn and(self, others: usize) -> Self {
        match self {
            Self::Threshold(c) => {
                let more = others.try_into().unwrap_or(u16::MAX);
                Self::Threshold(Comparison { more, ..c })
            }
            other => other,
        }
    }

    /// The comparison, if a length was compared: of several the first.
    pub fn comparison(&self) -> Option<&Comparison> {
        match self {
            Self::Threshold(comparison) => Some(comparison),
            _ => None,
        }
    }

    /// What made the scheme speak, without port and numbers.
    pub fn cause(&self) -> Cause {
        match *self {
            Self::Threshold(c) => Cause::Threshold(c.quantity, c.relation, c.limit),
            Self::CountedGone => Cause::Words("counted packets gone"),
            Self::Refresh => Cause::Words("refresh"),
            Self::Report => Cause::Words("report"),
            Self::Link => Cause::Words("link change"),
            Self::Words(words) => Cause::Words(words),
        }
    }

    /// The reason in words. `name` is the name of a port of the node that sends the message.
    pub fn sentence(&self, name: impl Fn(PortId) -> String) -> String {
        let Self::Threshold(c) = self else { return self.cause().to_string() };
        let more = match c.more {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        format!(
            "{} {} {} B {} {} {} B{more}",
            c.quantity.name(),
            name(c.port),
            grouped(c.value),
            c.relation.sign(),
            c.limit,
            grouped(c.threshold)
        )
    }
}

/// The number with a space before every third digit from the right.
fn grouped(bytes: Bytes) -> String {
    let digits = bytes.get().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// What a reason compares, or what else it is: `ingress >= xoff`, `refresh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// What is measured, how it compares, and the name of the threshold.
    Threshold(Quantity, Relation, &'static str),
    /// In words.
    Words(&'static str),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (quantity, relation, limit) = match self {
            Self::Threshold(quantity, relation, limit) => (quantity, relation, limit),
            Self::Words(words) => return f.write_str(words),
        };
        for part in [quantity.name(), " ", relation.sign(), " ", limit] {
            f.write_str(part)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(p: PortId) -> String {
        format!("s1/p{}", p.0)
    }

    #[test]
    fn a_comparison_reads_as_a_sentence_with_its_port_and_numbers() {
        let reason = Reason::flow(PortId(3), Bytes::new(999)).below("lane-low", Bytes::new(1_000));
        assert_eq!(reason.sentence(port), "flow s1/p3 999 B < lane-low 1 000 B");
        assert_eq!(reason.cause().to_string(), "flow < lane-low");
        let gathered = reason.and(2);
        assert_eq!(gathered.sentence(port), "flow s1/p3 999 B < lane-low 1 000 B, and 2 more");
        assert_eq!(gathered.cause(), reason.cause());
    }

    #[test]
    fn other_reasons_have_no_numbers() {
        for (reason, words) in [
            (Reason::CountedGone, "counted packets gone"),
            (Reason::Refresh, "refresh"),
            (Reason::Report, "report"),
            (Reason::Link, "link change"),
            (Reason::Words("asked for credits"), "asked for credits"),
        ] {
            assert_eq!(reason.sentence(port), words);
            assert_eq!(reason.comparison(), None);
        }
    }

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let of = |n| grouped(Bytes::new(n));
        assert_eq!([0, 999, 1_000, 1_234_567].map(of), ["0", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn a_relation_is_true_on_its_side_of_the_threshold_only() {
        let of =
            |relation: Relation| [9, 10, 11].map(|n| relation.holds(Bytes::new(n), Bytes::new(10)));
        assert_eq!(of(Relation::AtLeast), [false, true, true]);
        assert_eq!(of(Relation::Above), [false, false, true]);
        assert_eq!(of(Relation::AtMost), [true, true, false]);
        assert_eq!(of(Relation::Below), [true, false, false]);
    }

    /// It is moved with every control message, and nothing of it is on the heap.
    #[test]
    fn a_reason_is_small() {
        assert!(size_of::<Reason>() <= 40, "{} B", size_of::<Reason>());
    }
}
