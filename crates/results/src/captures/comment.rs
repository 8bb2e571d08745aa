//! What a capture says beside a frame.

use super::port_name;
use weir_core::ControlMessage;
use weir_core::control::{Pause, PauseScope};
use weir_net::Topology;
use weir_scenario::PortAt;
use weir_sim::outcome::CapturedFrame;

/// `PAUSE prio 3: ingress s1/p0 61 440 B >= xoff 61 000 B` beside a control frame, and the reason
/// beside a frame that was lost as it came in.
pub(super) fn comment(topology: &Topology, frame: &CapturedFrame) -> Option<String> {
    let lost = frame.lost.map(|reason| format!("lost: {}", reason.name()));
    let Some(said) = &frame.said else { return lost };
    let (message, reason) = &**said;
    let sender = match frame.sent {
        true => frame.node,
        false => topology.port(frame.node, frame.port).peer,
    };
    let port = |port| port_name(topology, PortAt { node: sender, port });
    let text = format!("{}: {}", headline(message), reason.sentence(port));
    Some(match lost {
        Some(lost) => format!("{text} ({lost})"),
        None => text,
    })
}

/// What a message pauses and resumes.
fn headline(message: &ControlMessage) -> String {
    let pauses = message.pauses();
    if pauses.is_empty() {
        return match message {
            ControlMessage::QueueBitmap { words, .. } => {
                let paused: u32 = words.iter().map(|word| word.count_ones()).sum();
                format!("BITMAP {paused} paused")
            }
            ControlMessage::Occupancy { .. } => "OCCUPANCY".into(),
            ControlMessage::Own(own) => own.scheme.to_uppercase(),
            _ => "CONTROL".into(),
        };
    }
    pauses.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn one(pause: &Pause) -> String {
    let Pause { priority, pause, scope, .. } = *pause;
    let word = if pause { "PAUSE" } else { "RESUME" };
    match scope {
        PauseScope::Priority => format!("{word} prio {priority}"),
        PauseScope::Queue(queue) => format!("{word} prio {priority} queue {}", queue.0),
        PauseScope::Flows(1) => format!("{word} prio {priority} 1 flow"),
        PauseScope::Flows(n) => format!("{word} prio {priority} {n} flows"),
        PauseScope::Stage(ControlMessage::STAGE_STOP) => format!("STOP prio {priority}"),
        PauseScope::Stage(stage) => format!("STAGE {stage} prio {priority}"),
        PauseScope::All => format!("{word} prio {priority} all"),
    }
}
