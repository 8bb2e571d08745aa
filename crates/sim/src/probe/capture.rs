//! Every frame that crosses some ports, with its time, its direction and what it carries, for
//! captures.

use super::interface::{ControlSeen, Hears, Probe, ProbeConfig, ProbeInfo, ProbeSetup};
use crate::outcome::{CapturedFrame, DropReason, Outcome};
use std::collections::BTreeSet;
use weir_core::{NodeId, Packet, PacketKind, PortId, Time};

/// Which frames a run captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// At these ports, in both directions.
    pub ports: BTreeSet<(NodeId, PortId)>,
    /// From this time on.
    pub from: Time,
    /// Before this time.
    pub to: Time,
    /// A frame counts as at most so many bytes.
    pub snap: u64,
    /// The most bytes of frames that are kept of a port, [`OVERHEAD`](Self::OVERHEAD) of each
    /// included; how many more frames there were is counted.
    pub most: u64,
}

impl Capture {
    /// What a file needs beside the bytes of a frame, at least.
    pub const OVERHEAD: u64 = 32;
}

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "capture",
    summary: "the frames that cross the ports of which a capture is asked for",
    columns: &[],
    hears: Hears::ARRIVED.and(Hears::SENT).and(Hears::CONTROL).and(Hears::DROPPED),
    build,
    finish,
};

/// One port of the node.
#[derive(Clone, Copy, Debug, Default)]
struct Tap {
    on: bool,
    bytes: u64,
}

/// The frames of one node.
#[derive(Clone, Debug)]
struct Frames {
    node: NodeId,
    taps: Vec<Tap>,
    capture: Capture,
    frames: Vec<CapturedFrame>,
    left_out: Vec<(NodeId, PortId, u64)>,
}

fn build(setup: &ProbeSetup<'_>) -> Option<Box<dyn Probe>> {
    let node = setup.node;
    let capture = setup.config.capture.as_ref()?;
    let on = |port| capture.ports.contains(&(node, PortId::from_index(port)));
    let taps: Vec<Tap> = (0..setup.ports).map(|p| Tap { on: on(p), bytes: 0 }).collect();
    if !taps.iter().any(|tap| tap.on) {
        return None;
    }
    let capture = Capture { ports: BTreeSet::new(), ..*capture };
    Some(Box::new(Frames { node, taps, capture, frames: Vec::new(), left_out: Vec::new() }))
}

impl Frames {
    fn keep(&mut self, frame: CapturedFrame) {
        let Capture { from, to, snap, most, .. } = self.capture;
        let tap = &mut self.taps[frame.port.index()];
        if !tap.on || frame.at < from || frame.at >= to {
            return;
        }
        let bytes = tap.bytes + u64::from(frame.packet.size).min(snap) + Capture::OVERHEAD;
        if bytes > most {
            // the first that does not fit ends the capture of the port: it has no gaps
            tap.bytes = most;
            match self.left_out.iter_mut().find(|(_, port, _)| *port == frame.port) {
                Some((.., count)) => *count += 1,
                None => self.left_out.push((self.node, frame.port, 1)),
            }
            return;
        }
        tap.bytes = bytes;
        self.frames.push(frame);
    }

    /// Keeps a frame that comes without a message: control frames come with theirs.
    fn packet(&mut self, frame: CapturedFrame) {
        if frame.packet.kind != PacketKind::Control {
            self.keep(frame);
        }
    }
}

impl Probe for Frames {
    fn arrived(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.packet(CapturedFrame::arrived(now, (self.node, port), packet));
    }

    fn sent(&mut self, now: Time, port: PortId, packet: &Packet) {
        let frame = CapturedFrame::arrived(now, (self.node, port), packet);
        self.packet(CapturedFrame { sent: true, ..frame });
    }

    fn control(&mut self, now: Time, seen: &ControlSeen<'_>) {
        let frame = CapturedFrame::arrived(now, (self.node, seen.port), seen.packet);
        let said = Some(Box::new((seen.message.clone(), *seen.reason)));
        self.keep(CapturedFrame { sent: seen.sent, said, ..frame });
    }

    /// A packet is lost on its way in right after it came in.
    fn dropped(&mut self, now: Time, reason: DropReason, packet: &Packet) {
        let Some(last) = self.frames.last_mut() else { return };
        let same = CapturedFrame::arrived(now, (self.node, last.port), packet);
        if last.at == now && !last.sent && last.packet == same.packet {
            last.lost = Some(reason);
        }
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        outcome.captured.append(&mut self.frames);
        outcome.not_captured.append(&mut self.left_out);
    }
}

/// In the order of time; the frames of one port at one instant stay in the order of its node.
fn finish(outcome: &mut Outcome, _: &ProbeConfig) {
    outcome.captured.sort_by_key(|frame| (frame.at, frame.node, frame.port));
    outcome.not_captured.sort_unstable();
}
