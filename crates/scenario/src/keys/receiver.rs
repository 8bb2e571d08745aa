//! Keys of slow receivers.

use super::{Kind, Section, key};

/// `[[slow-receiver]]`.
pub const SLOW_RECEIVER: Section = Section {
    name: "slow-receiver",
    repeated: true,
    doc: "Hosts that take data in more slowly than it comes. Data waits in the receive buffer of \
          the NIC, which pauses its switch by PFC frames while the buffer is full, whatever the \
          flow control of the switches is.",
    keys: &[
        key("hosts", Kind::Hosts, "", "Which hosts: `\"h3\"`, `\"h2..h7\"`, `\"leaf0\"`."),
        key(
            "rate",
            Kind::Rate,
            "0bps",
            "How fast a host takes data out of the buffer while it is slow; 0: not at all.",
        ),
        key("from", Kind::Time(&[]), "0ns", "When it becomes slow."),
        key(
            "to",
            Kind::Time(&["never"]),
            "never",
            "When it is well again. What waits in the buffer is taken in at once then.",
        ),
        key(
            "every",
            Kind::Time(&[]),
            "",
            "It becomes slow again every so often, each time for as long as from `from` to `to`; \
             default: once.",
        ),
        key("xoff", Kind::Size(&[]), "64KB", "With so much in the buffer the NIC sends PAUSE."),
        key("xon", Kind::Size(&[]), "32KB", "With so much left in the buffer it sends RESUME."),
        key(
            "buffer",
            Kind::Size(&[]),
            "",
            "Size of the buffer; what does not fit is lost (`receiver-full`). Default: `xoff`, a \
             frame, and the headroom of the link.",
        ),
        key(
            "storm-prevention",
            Kind::Time(&["off"]),
            "off",
            "After a pause of this length the NIC sends no more PAUSEs, and loses what does not \
             fit, until the buffer has drained to `xon`.",
        ),
    ],
};
