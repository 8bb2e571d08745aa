//! The few messages of Perfetto's trace format that are needed, as bytes.

use weir_core::packed::write_varint;

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    fn key(&mut self, field: u32, wire_type: u32) {
        write_varint(u64::from(field << 3 | wire_type), &mut self.0);
    }

    /// A number.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, 0);
        write_varint(value, &mut self.0);
        self
    }

    /// A number of eight bytes.
    pub(super) fn fixed(mut self, field: u32, value: u64) -> Self {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Text, or a message within this one.
    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, 2);
        write_varint(value.len() as u64, &mut self.0);
        self.0.extend(value);
        self
    }

    /// Text.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }
}

/// Fields of `TracePacket`.
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const EVENT: u32 = 11;
    pub(super) const TRACK: u32 = 60;
}

/// What happens on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// An event of a track.
#[derive(Clone, Debug)]
pub(super) struct Event {
    at_ns: u64,
    body: Message,
}

impl Event {
    pub(super) fn new(kind: Type, track: u64, at_ps: u64) -> Self {
        // the unit of traces is the nanosecond
        let body = Message::default().number(9, kind as u64).number(11, track);
        Self { at_ns: at_ps / 1000, body }
    }

    pub(super) fn name(mut self, name: &str) -> Self {
        self.body = self.body.text(23, name);
        self
    }

    pub(super) fn value(mut self, value: u64) -> Self {
        self.body = self.body.number(30, value);
        self
    }

    /// An arrow begins here.
    pub(super) fn starts_arrow(mut self, arrow: u64) -> Self {
        self.body = self.body.fixed(47, arrow);
        self
    }

    /// An arrow ends here.
    pub(super) fn ends_arrow(mut self, arrow: u64) -> Self {
        self.body = self.body.fixed(48, arrow);
        self
    }

    pub(super) fn note(mut self, name: &str, value: &str) -> Self {
        let note = Message::default().text(10, name).text(6, value);
        self.body = self.body.message(4, &note);
        self
    }

    pub(super) fn count(mut self, name: &str, value: u64) -> Self {
        let note = Message::default().text(10, name).number(3, value);
        self.body = self.body.message(4, &note);
        self
    }
}

/// A trace that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    pub(super) bytes: Vec<u8>,
    tracks: u64,
}

impl Trace {
    fn packet(&mut self, packet: &Message) {
        let whole = Message(std::mem::take(&mut self.bytes)).message(1, packet);
        self.bytes = whole.0;
    }

    /// A track below `parent` (0: none); returns its number. Tracks are shown in the order in which
    /// they are made.
    pub(super) fn track(&mut self, name: &str, parent: u64) -> u64 {
        self.describe(name, parent, None)
    }

    /// A track of a length in bytes.
    pub(super) fn counter(&mut self, name: &str, parent: u64) -> u64 {
        const BYTES: u64 = 3;
        self.describe(name, parent, Some(Message::default().number(3, BYTES)))
    }

    fn describe(&mut self, name: &str, parent: u64, counter: Option<Message>) -> u64 {
        self.tracks += 1;
        let mut track = Message::default().number(1, self.tracks).text(2, name);
        if parent > 0 {
            track = track.number(5, parent);
        }
        if let Some(counter) = counter {
            track = track.message(8, &counter);
        }
        // children in the order of their rank
        const EXPLICIT: u64 = 3;
        track = track.number(11, EXPLICIT).number(12, self.tracks);
        let packet = Message::default().number(packet::SEQUENCE, 1).message(packet::TRACK, &track);
        self.packet(&packet);
        self.tracks
    }

    pub(super) fn event(&mut self, event: &Event) {
        let packet = Message::default()
            .number(packet::TIMESTAMP, event.at_ns)
            .number(packet::SEQUENCE, 1)
            .message(packet::EVENT, &event.body);
        self.packet(&packet);
    }
}
