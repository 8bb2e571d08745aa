//! One frame as a line, and back.

use std::fmt::Write as _;
use weir_cc::IntHop;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority, Rate, Time};
use weir_sim::config::{Config, Reliability};
use weir_sim::parcel::{Cargo, MessageEnd, Notes, Parcel};
use weir_wire::addressing::{self, FlowDirectory, Transport};
use weir_wire::{Frame, control};

/// Whether a node was given a frame or answered with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// `<`
    Given,
    /// `>`
    Answered,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Given or answered.
    pub direction: Direction,
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// When the last bit arrives at the end of the wire.
    pub at: Time,
    /// The frame.
    pub parcel: Parcel,
}

/// Lines of a log, as they are made.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The lines.
    pub text: String,
    /// How many there are.
    pub count: u64,
    names: Names,
    /// The first frame that cannot be logged, and why.
    pub error: Option<String>,
}

/// What identifiers in control frames need to know. Destinations of single flows are left out:
/// source and number tell the flow.
#[derive(Clone, Copy, Debug)]
struct Names {
    tcp: bool,
}

impl FlowDirectory for Names {
    fn destination(&self, _: FlowId) -> Option<NodeId> {
        None
    }

    fn transport(&self, _: FlowId) -> Transport {
        if self.tcp { Transport::Tcp } else { Transport::Roce }
    }
}

impl Lines {
    /// For a run with these settings.
    pub fn new(config: &Config) -> Self {
        let tcp = config.nic.reliability == Reliability::Tcp;
        Self { text: String::new(), count: 0, names: Names { tcp }, error: None }
    }

    /// A node was given a frame.
    pub fn given(&mut self, node: NodeId, port: PortId, at: Time, parcel: &Parcel) {
        self.add('<', (node, port), None, at, parcel);
    }

    /// A node has answered with a frame.
    pub fn answered(&mut self, node: NodeId, port: PortId, at: Time, parcel: &Parcel) {
        self.add('>', (node, port), None, at, parcel);
    }

    /// A frame that crossed a link: one node has answered with it, the other was given it.
    pub fn crossed(
        &mut self,
        from: (NodeId, PortId),
        to: (NodeId, PortId),
        at: Time,
        parcel: &Parcel,
    ) {
        self.add('>', from, None, at, parcel);
        self.add('<', to, Some(from), at, parcel);
    }

    /// The source address in a control frame is that of `from`, where it is known.
    fn add(
        &mut self,
        sign: char,
        at: (NodeId, PortId),
        from: Option<(NodeId, PortId)>,
        time: Time,
        parcel: &Parcel,
    ) {
        let start = self.text.len();
        let (node, port) = at;
        let _ = write!(self.text, "{sign} {} {} {} ", node.0, port.0, time.as_ps());
        match &parcel.cargo {
            Cargo::Message(message, _) => {
                let (n, p) = from.unwrap_or(at);
                let source = addressing::mac(n, p);
                let frame = source.and_then(|mac| control::frame(message, mac, &self.names));
                let readable = frame.and_then(|frame| {
                    let bytes = frame.emit()?;
                    control::message(&frame).map(|_| bytes)
                });
                match readable {
                    Ok(bytes) => {
                        self.text.push_str("C ");
                        for byte in &bytes {
                            let _ = write!(self.text, "{byte:02x}");
                        }
                    }
                    Err(error) => {
                        self.error.get_or_insert_with(|| error.to_string());
                        self.text.truncate(start);
                        return;
                    }
                }
            }
            cargo => {
                packet(&mut self.text, &parcel.packet);
                if let Cargo::Notes(notes) = cargo {
                    write_notes(&mut self.text, notes);
                }
            }
        }
        self.text.push('\n');
        self.count += 1;
    }
}

const KINDS: [(PacketKind, &str); 6] = [
    (PacketKind::Data, "D"),
    (PacketKind::Ack, "A"),
    (PacketKind::Nack, "N"),
    (PacketKind::Cnp, "P"),
    (PacketKind::Syn, "S"),
    (PacketKind::SynAck, "Y"),
];

fn packet(out: &mut String, p: &Packet) {
    let kind = KINDS.iter().find(|(kind, _)| *kind == p.kind).map_or("?", |(_, letter)| letter);
    let _ = write!(
        out,
        "{kind} {} {} {} {} {} {} {} {}",
        p.size,
        p.priority.get(),
        p.flow.source().0,
        p.flow.number(),
        p.seq,
        p.dst.0,
        p.flags,
        p.wire_tag
    );
}

/// `a=SEQ e=JOB,FROM,TO,TAG o h=TIME,BYTES,QUEUE,RATE,PORT` behind a `+`.
fn write_notes(out: &mut String, notes: &Notes) {
    out.push_str(" +");
    if let Some(seq) = notes.answers {
        let _ = write!(out, " a={seq}");
    }
    if let Some(MessageEnd { job, from, to, tag }) = notes.ends {
        let _ = write!(out, " e={job},{from},{to},{tag}");
    }
    if notes.too_many {
        out.push_str(" o");
    }
    for h in &notes.hops {
        let (time, rate) = (h.time.as_ps(), h.rate.as_bps());
        let _ = write!(out, " h={time},{},{},{rate},{}", h.tx_bytes, h.queue, h.port);
    }
}

impl Event {
    /// Reads a line, or says what is wrong with it.
    pub fn read(line: &str) -> Result<Self, String> {
        let mut words = line.split(' ');
        let direction = match words.next() {
            Some("<") => Direction::Given,
            Some(">") => Direction::Answered,
            other => {
                let other = other.unwrap_or_default();
                return Err(format!("a line begins with `<`, `>` or `end`, not with `{other}`"));
            }
        };
        let node = NodeId(number(&mut words, "the node")?);
        let port = PortId(number(&mut words, "the port")?);
        let at = Time::from_ps(number(&mut words, "the time")?);
        let kind = words.next().ok_or("the kind of the frame is missing")?;
        let parcel = match kind {
            "C" => read_control(words.next().ok_or("the bytes of the frame are missing")?)?,
            letter => {
                let kind = KINDS.iter().find(|(_, known)| *known == letter);
                let (kind, _) = kind.ok_or_else(|| {
                    format!("`{letter}` is no kind of frame: these are D, A, N, P, S, Y and C")
                })?;
                read_packet(*kind, &mut words)?
            }
        };
        match words.next() {
            Some(more) => Err(format!("`{more}` is more than a line has")),
            None => Ok(Self { direction, node, port, at, parcel }),
        }
    }
}

fn number<'a, T: std::str::FromStr>(
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
) -> Result<T, String> {
    let word = words.next().ok_or_else(|| format!("{what} is missing"))?;
    word.parse().map_err(|_| format!("{what} is `{word}`, which is no number of its range"))
}

fn read_control(hex: &str) -> Result<Parcel, String> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let bytes = bytes.filter(|_| digits.len().is_multiple_of(2));
    let bytes = bytes.ok_or("the bytes of the frame are not hexadecimal")?;
    let frame = Frame::parse(&bytes).map_err(|error| error.to_string())?;
    let message = control::message(&frame).map_err(|error| error.to_string())?;
    Ok(Parcel::control(message, crate::codec::RECEIVED))
}

fn read_packet<'a>(
    kind: PacketKind,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<Parcel, String> {
    let size = number(words, "the size")?;
    let priority: u8 = number(words, "the priority")?;
    let priority = Priority::new(priority).ok_or("the priority is above 7")?;
    let source: u32 = number(words, "the source")?;
    let flow = FlowId::new(NodeId(source), number(words, "the number of the flow")?);
    let seq = number(words, "the sequence number")?;
    let dst = NodeId(number(words, "the destination")?);
    let flags = number(words, "the flags")?;
    let wire_tag = number(words, "the tag")?;
    let packet = Packet {
        flow,
        seq,
        dst,
        wire_tag,
        extra: Packet::NO_EXTRA,
        size,
        ingress: PortId(0),
        kind,
        priority,
        flags,
        local_tag: 0,
    };
    let cargo = match words.next() {
        Some("+") => Cargo::Notes(Box::new(read_notes(words)?)),
        Some(other) => return Err(format!("`{other}` is more than a line has")),
        None => Cargo::None,
    };
    Ok(Parcel::new(packet, cargo))
}

fn read_notes<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Notes, String> {
    let mut notes = Notes::default();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let mut parts = value.split(',');
        match name {
            "o" => notes.too_many = true,
            "a" => notes.answers = Some(number(&mut parts, "the packet that is answered")?),
            "e" => {
                let mut next = || number(&mut parts, "a number of the message");
                let (job, from, to) = (next()?, next()?, next()?);
                let tag = number(&mut parts, "the tag of the message")?;
                notes.ends = Some(MessageEnd { job, from, to, tag });
            }
            "h" => {
                let mut next = || number::<u64>(&mut parts, "a number of the telemetry");
                let (time, tx_bytes, queue, rate) = (next()?, next()?, next()?, next()?);
                let port = number(&mut parts, "the port of the telemetry")?;
                let (time, rate) = (Time::from_ps(time), Rate::from_bps(rate));
                notes.hops.push(IntHop { time, tx_bytes, queue, rate, port });
            }
            _ => return Err(format!("`{word}` is nothing that a packet carries")),
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::ControlMessage;

    #[test]
    fn a_line_says_all_of_a_frame() {
        let config = Config::new(weir_fc::scheme("pfc").expect("a scheme"));
        let mut lines = Lines::new(&config);
        let hop = IntHop {
            time: Time::from_ns(3),
            tx_bytes: 4,
            queue: 5,
            rate: Rate::from_gbps(6),
            port: 7,
        };
        let ends = Some(MessageEnd { job: 1, from: 2, to: 3, tag: 4 });
        let notes = Notes { hops: vec![hop], too_many: true, answers: Some(8), ends };
        let packet = Packet {
            flow: FlowId::new(NodeId(1), 2),
            seq: 3,
            dst: NodeId(4),
            wire_tag: 5,
            extra: Packet::NO_EXTRA,
            size: 1518,
            ingress: PortId(0),
            kind: PacketKind::Data,
            priority: Priority::ALL[3],
            flags: 9,
            local_tag: 0,
        };
        let plain = Parcel::new(packet, Cargo::None);
        let laden = Parcel::new(packet, Cargo::Notes(Box::new(notes)));
        let pause = ControlMessage::pfc(Priority::ALL[3], 65535);
        let pause = Parcel::control(pause, crate::codec::RECEIVED);
        let (node, port, at) = (NodeId(6), PortId(7), Time::from_us(1));
        for parcel in [&plain, &laden, &pause] {
            lines.given(node, port, at, parcel);
            lines.answered(node, port, at, parcel);
        }
        assert_eq!(lines.text.lines().next(), Some("< 6 7 1000000 D 1518 3 1 2 3 4 9 5"));
        assert_eq!((lines.count, &lines.error), (6, &None));
        let read: Vec<Event> =
            lines.text.lines().map(|line| Event::read(line).expect("a line")).collect();
        for (event, parcel) in read.iter().step_by(2).zip([&plain, &laden, &pause]) {
            assert_eq!(&event.parcel, parcel);
            assert_eq!((event.node, event.port, event.at), (node, port, at));
            assert_eq!(event.direction, Direction::Given);
        }
        assert_eq!(read[1].direction, Direction::Answered);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        for (line, what) in [
            ("", "begins with"),
            ("< 1", "the port is missing"),
            ("> 1 x", "the port is `x`"),
            ("> 1 2 3 Q", "`Q` is no kind of frame"),
            ("> 1 2 3 C 0x", "not hexadecimal"),
            ("> 1 2 3 C 00", "Ethernet header"),
            ("> 1 2 3 D 64 9 1 1 1 1 1 1", "above 7"),
            ("> 1 2 3 D 64 3 1 1 1 1 1 1 + z=1", "`z=1`"),
            ("> 1 2 3 D 64 3 1 1 1 1 1 1 2", "more than"),
        ] {
            let error = Event::read(line).expect_err(line);
            assert!(error.contains(what), "{line}: {error}");
        }
    }
}
