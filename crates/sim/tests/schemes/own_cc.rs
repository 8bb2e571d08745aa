//! The guide's example congestion control runs in a whole network, and a congestion control gets
//! what it says it needs, without a change to the simulator.

use crate::brake::{self, Brake, incast};
use crate::own_scheme::{read, trimmed};
use std::sync::{Arc, Mutex};
use weir_cc::{Ack, CcKind, CcParams, CongestionControl, Needs, OwnCc, Pacing, Path, Timers};
use weir_core::{Bytes, Rate, Time};
use weir_sim::{Finish, Outcome};

fn pauses(out: &Outcome) -> u64 {
    out.ports.iter().flat_map(|p| p.pauses_sent).sum()
}

#[test]
fn the_example_runs_to_its_end() {
    brake::main();
}

#[test]
fn the_example_slows_down_on_the_round_trip_time_it_asked_for() {
    let brake = incast(CcParams::Own(OwnCc::new("brake", Brake::new)));
    let none = incast(CcParams::new(CcKind::None));
    for out in [&brake, &none] {
        assert_eq!(out.finish, Finish::Drained);
        assert_eq!((out.totals.completed, out.totals.dropped), (8, 0));
    }
    // Without an RTT it would never slow down, and pause as often as without congestion control.
    assert!(pauses(&brake) * 2 < pauses(&none), "{} of {}", pauses(&brake), pauses(&none));
}

/// 1000 B per round-trip time of 4 us are 2 Gb/s.
#[test]
fn the_example_halves_once_per_round_trip_and_then_adds_a_packet() {
    let path = Path {
        line_rate: Rate::from_gbps(100),
        base_rtt: Time::from_us(4),
        bdp: Bytes::new(50_000),
        mtu: Bytes::new(1000),
        hops: 1,
    };
    let mut brake = Brake::new(&path);
    let mut ack = |seq, snd_nxt, rtt| {
        let (now, rtt) = (Time::from_us(seq), Time::from_us(rtt));
        let ack = Ack { now, seq, snd_nxt, newly_acked: 1000, ecn: false, rtt, hops: &[] };
        let pacing = brake.on_ack(&ack, &mut Timers::new());
        (brake.rate().as_bps() / 1_000_000, pacing)
    };
    // twice that of the empty network is not above it; the line rate is the highest
    assert_eq!(ack(1_000, 10_000, 8), (100_000, Pacing::NextPacket));
    // byte 10 000 ends that round trip, byte 20 000 the next
    assert_eq!(ack(10_000, 19_000, 9), (100_000, Pacing::Same));
    assert_eq!(ack(11_000, 20_000, 9), (50_000, Pacing::NextPacket));
    assert_eq!(ack(12_000, 21_000, 9), (50_000, Pacing::Same));
    assert_eq!(ack(20_000, 29_000, 4), (50_000, Pacing::Same));
    assert_eq!(ack(21_000, 30_000, 4), (52_000, Pacing::NextPacket));
    assert_eq!(ack(31_000, 40_000, 4), (54_000, Pacing::NextPacket));
    // a thousandth of the line rate is the lowest, however long the queue: 54 Gb/s / 2^10 is less
    let lowest = (0..10).map(|i| ack(41_000 + 10_000 * i, 50_000 + 10_000 * i, 9).0).last();
    assert_eq!(lowest, Some(100));
}

/// Sends at line rate and notes the largest round-trip time and the most hops it was told of.
#[derive(Debug)]
struct Witness<const RTT: bool, const TELEMETRY: bool> {
    rate: Rate,
    seen: Arc<Mutex<(Time, usize)>>,
}

impl<const RTT: bool, const TELEMETRY: bool> CongestionControl for Witness<RTT, TELEMETRY> {
    fn needs() -> Needs {
        Needs { rtt: RTT, telemetry: TELEMETRY, ..Needs::NOTHING }
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        let mut seen = self.seen.lock().expect("nobody panicked");
        *seen = (seen.0.max(ack.rtt), seen.1.max(ack.hops.len()));
        Pacing::Same
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn window(&self) -> Option<Bytes> {
        None
    }
}

fn witnessed<const RTT: bool, const TELEMETRY: bool>() -> (Time, usize) {
    let seen = Arc::new(Mutex::new((Time::ZERO, 0)));
    let shared = Arc::clone(&seen);
    let cc = OwnCc::new("witness", move |path| Witness::<RTT, TELEMETRY> {
        rate: path.line_rate,
        seen: Arc::clone(&shared),
    });
    incast(CcParams::Own(cc));
    *seen.lock().expect("nobody panicked")
}

#[test]
fn an_own_congestion_control_gets_what_it_needs_and_nothing_else() {
    assert_eq!(witnessed::<false, false>(), (Time::ZERO, 0));
    let (rtt, hops) = witnessed::<true, false>();
    assert!(rtt > Time::from_us(4) && hops == 0, "{rtt}, {hops}");
    let (rtt, hops) = witnessed::<false, true>();
    assert_eq!((rtt, hops), (Time::ZERO, 1), "one switch on the way");
}

/// The guide shows the example's algorithm line by line.
#[test]
fn the_guide_shows_the_code_of_the_example() {
    let example = read("crates/sim/examples/own_cc.rs");
    assert!(example.lines().count() < 100);
    let guide = read("docs/src/own-cc.md");
    let steps = guide.split("## Step by step").nth(1).and_then(|s| s.split("## Run it").next());
    let blocks = steps.expect("both headings").split("```").skip(1).step_by(2);
    let shown: Vec<String> =
        blocks.flat_map(|b| trimmed(b.trim_start_matches("rust,ignore"))).collect();
    let code = example.split("#[derive(Debug)]").nth(1).and_then(|s| s.split("/// Eight").next());
    assert_eq!(shown, trimmed(&format!("#[derive(Debug)]{}", code.expect("the example's parts"))));
    // how a run gets it
    let made = "CcParams::Own(OwnCc::new(\"brake\", Brake::new))";
    let run = guide.split("## Run it").nth(1).expect("the heading");
    assert!(run.contains(made) && example.contains(made), "{made}");
}
