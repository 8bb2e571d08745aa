//! How many frames one switch thread carries, and how late it is at half of that.
//!
//! ```text
//!   generator (a thread) ─► h0 ══ veth ══ sw0 ══ veth ══ h1
//!                                    the thread that is measured
//! ```
//!
//! The switch runs without dilation, with links that are never the limit; the generator makes UDP
//! datagrams that the switch takes as frames of another program.

use crate::clock::{ClockKind, Dilation};
use crate::lateness::Quantiles;
use crate::run::{self, LiveError, Settings};
use crate::socket::real_time_ns;
use crate::{lab::Lab, sys};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_core::{NodeId, PortId, Time};
use weir_scenario::resolve::{Base, Fabrics, Resolved};
use weir_scenario::text::{Diagnostics, Sources, parse};
use weir_scenario::{Files, Problems};
use weir_wire::ipv4::{Ecn, Ipv4};
use weir_wire::udp::Udp;
use weir_wire::{Body, Ethernet, Frame, addressing};

/// What was measured with frames of one size.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Carried {
    /// Bytes of a frame, with FCS.
    pub size: u64,
    /// Frames per second that the generator offered, and that the switch carried, when it was
    /// offered more than it can carry.
    pub offered: f64,
    /// The same.
    pub carried: f64,
    /// Frames per second at half of that.
    pub half: f64,
    /// How late the switch sent them.
    pub late: Quantiles,
    /// Frames that the kernel dropped then because a socket was full.
    pub dropped: u64,
}

const SCENARIO: &str = r#"
name = "live-bench"
title = "One switch between two hosts"
[topology]
kind = "star"
hosts = 4
rate = "400Gbps"
delay = "0ns"
[nic]
payload = "9000B"
[flow-control]
scheme = "none"
[[traffic]]
kind = "flow"
from = "h2"
to = "h3"
size = "1KB"
"#;

/// The switch and its scenario, which ends after `length`.
fn scenario(length: Time) -> Result<Resolved, Problems> {
    let text = format!("{SCENARIO}[run]\nuntil = \"{}us\"\n", length.as_ps() / 1_000_000);
    let (mut sources, mut out) = (Sources::default(), Diagnostics::default());
    let id = sources.add("live-bench", text);
    let root = parse(&sources, id, &mut out);
    let base = Base { name: "live-bench".into(), sources, root, files: Files::default() };
    base.resolve(&[], None, &Fabrics::default())
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The scenario of the measurement is wrong.
    #[error("the scenario of the benchmark cannot be put together")]
    Scenario(Problems),
    /// It cannot be run.
    #[error(transparent)]
    Live(#[from] LiveError),
}

/// Measures with frames of `size` bytes, for so long each time. `interrupt` ends it early: the
/// numbers say nothing then.
pub fn measure(
    size: u64,
    length: Time,
    real_time: bool,
    interrupt: &AtomicBool,
) -> Result<Carried, BenchError> {
    let full = offer(size, length, None, real_time, interrupt)?;
    let half = full.1 / 2.0;
    let (_, rate, late, dropped) = offer(size, length, Some(half), real_time, interrupt)?;
    Ok(Carried { size, offered: full.0, carried: full.1, half: rate, late, dropped })
}

/// Frames per second offered and carried, lateness, and drops of the kernel.
type Offered = (f64, f64, Quantiles, u64);

fn offer(
    size: u64,
    length: Time,
    rate: Option<f64>,
    real_time: bool,
    interrupt: &AtomicBool,
) -> Result<Offered, BenchError> {
    let Resolved { experiment, variant, .. } = scenario(length).map_err(BenchError::Scenario)?;
    let (from, to) = (NodeId(0), NodeId(1));
    let settings = Settings {
        dilation: Dilation::new(1).expect("not zero"),
        clock: ClockKind::Free,
        bound: Time::NEVER,
        until: None,
        free: vec![from, to],
        logged: false,
        real_time,
        threads: crate::machine::processors(),
    };
    let stop = AtomicBool::new(false);
    let frame = datagram(from, to, size);
    std::thread::scope(|scope| {
        let mut generator = None;
        let ready = |lab: &Lab| {
            let name = lab.name(from).to_owned();
            let (frame, stop) = (&frame, &stop);
            generator = Some(scope.spawn(move || generate(&name, frame, rate, stop)));
        };
        let live = run::run(&experiment, variant, &settings, interrupt, ready);
        stop.store(true, Ordering::Release);
        let offered = generator.and_then(|g| g.join().ok()).unwrap_or_default();
        let report = live?.report;
        let carried = report.foreign.1 as f64 / (length.as_ps() as f64 * 1e-12);
        Ok((offered, carried, report.late, report.dropped))
    })
}

/// A datagram of `size` bytes with FCS.
fn datagram(from: NodeId, to: NodeId, size: u64) -> Vec<u8> {
    let [src, dst] =
        [from, to].map(|n| addressing::mac(n, PortId(0)).expect("few nodes have addresses"));
    let [source, target] = [from, to].map(|n| Ipv4Addr::new(10, 0, 0, n.0 as u8));
    let ip = Ipv4 {
        dscp: 0,
        ecn: Ecn::NotCapable,
        identification: 0,
        dont_fragment: true,
        ttl: 64,
        src: source,
        dst: target,
    };
    let udp = Udp { src_port: 7, dst_port: 9, checksummed: false };
    // 14 bytes of Ethernet, 20 of IPv4, 8 of UDP, 4 of FCS
    let payload = vec![0; (size as usize).saturating_sub(46)];
    let frame =
        Frame { ethernet: Ethernet { dst, src, vlan: None }, body: Body::Udp(ip, udp, payload) };
    frame.emit().expect("a datagram has bytes")
}

/// Sends a frame again and again: as fast as it goes, or `rate` times a second. Returns frames per
/// second.
fn generate(namespace: &str, frame: &[u8], rate: Option<f64>, stop: &AtomicBool) -> f64 {
    let Ok(socket) = crate::lab::enter(namespace).and_then(|()| sys::open_sending("p0")) else {
        return 0.0;
    };
    let began = real_time_ns();
    let (mut sent, mut next) = (0u64, began as f64);
    while !stop.load(Ordering::Acquire) {
        let now = real_time_ns() as f64;
        if let Some(rate) = rate {
            if now < next {
                std::hint::spin_loop();
                continue;
            }
            // what was missed is not made up for: bursts would measure the generator
            next = next.max(now - 1e9 / rate) + 1e9 / rate;
        }
        sent += u64::from(sys::send(&socket, frame).is_ok());
    }
    sent as f64 / ((real_time_ns() - began).max(1) as f64 * 1e-9)
}
