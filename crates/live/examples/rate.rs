//! How many frames per second one switch thread forwards, at 64 B, 1 kB and 9 kB, and how late it
//! is at half of that. Needs root: `sudo target/release/examples/rate`.
//!
//! ```text
//!   h0: a thread that sends ──► switch: a thread with its node ──► h1: a thread that counts
//! ```

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("live runs need Linux");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use weir_core::percentile::{P50, P99};
    use weir_core::{NodeId, PortId, Time};
    use weir_live::clock::{Clock, Dilation};
    use weir_live::lab::Lab;
    use weir_live::lateness::Histogram;
    use weir_live::shell::Shell;
    use weir_live::socket::{Sockets, real_time_ns, wait};
    use weir_net::Topology;
    use weir_net::build::star;
    use weir_sim::stations::{Ended, Station, run_apart};
    use weir_sim::{Config, Finish, Prepared};
    use weir_traffic::{Fabric, Traffic};
    use weir_wire::addressing;

    /// How long each measurement takes, in nanoseconds.
    const TAKES: u64 = 2_000_000_000;
    const SWITCH: NodeId = NodeId(2);

    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        let topology = star::build(&star::Params { hosts: 2, ..star::Params::default() })?;
        println!(
            "{:>6}  {:>12}  {:>8}  late at half of it: p50, p99, max",
            "B", "frames/s", "Gb/s"
        );
        for size in [64, 1000, 9000] {
            let (rate, _) = measure(&topology, size, None)?;
            let gap = 2_000_000_000 / rate.max(1);
            let (_, late) = measure(&topology, size, Some(gap))?;
            let us = |t: Option<Time>| t.map_or(0.0, |t| t.as_ps() as f64 / 1e6);
            println!(
                "{size:>6}  {rate:>12}  {:>8.2}  {:.1} us, {:.1} us, {:.1} us",
                (rate * size as u64 * 8) as f64 / 1e9,
                us(late.quantile(P50)),
                us(late.quantile(P99)),
                us(Some(late.most())),
            );
        }
        Ok(())
    }

    /// Frames per second that arrived, and how late the switch sent them. `gap` is the time between
    /// frames in nanoseconds; without it they are sent as fast as they can be.
    fn measure(
        topology: &Topology,
        size: usize,
        gap: Option<u64>,
    ) -> Result<(u64, Histogram), Box<dyn std::error::Error>> {
        let lab = Lab::build(topology, 9500, &[])?;
        let config = Config::new(weir_fc::scheme("none").ok_or("a scheme")?);
        let rate = topology.rate(NodeId(0), PortId(0));
        let mut traffic = Traffic::new(Fabric::uniform(topology.hosts(), rate)?);
        traffic.class("none")?;
        let over = AtomicBool::new(false);
        let counted = AtomicU64::new(0);
        let drive = |stations: &mut [Station<'_>]| {
            let station = &mut stations[SWITCH.index()];
            let late = std::thread::scope(|scope| {
                scope.spawn(|| send(&lab, size, gap, &over));
                scope.spawn(|| count(&lab, &counted, &over));
                forward(&lab, station, topology, &config, &over)
            });
            (Ended::at(Finish::Interrupted, Time::ZERO), late)
        };
        let prepared = Prepared::new(topology, &config);
        let (_, late) = run_apart(topology, &prepared, &traffic, &config, drive)?;
        let rate = counted.load(Ordering::Relaxed) * 1_000_000_000 / TAKES;
        Ok((rate, late))
    }

    fn send(lab: &Lab, size: usize, gap: Option<u64>, over: &AtomicBool) {
        lab.enter(NodeId(0)).expect("the namespace of h0");
        let mut sockets = Sockets::open(1).expect("a socket");
        let mac = |n| addressing::mac(NodeId(n), PortId(0)).expect("a node").0;
        let mut frame = [&mac(1)[..], &mac(0)[..], &[0x12, 0x34]].concat();
        frame.resize(size - 4, 0);
        let mut next = real_time_ns();
        while !over.load(Ordering::Relaxed) {
            if let Some(gap) = gap {
                next += gap;
                while real_time_ns() < next {
                    std::hint::spin_loop();
                }
            }
            sockets.send(PortId(0), false, &frame);
        }
    }

    fn count(lab: &Lab, counted: &AtomicU64, over: &AtomicBool) {
        lab.enter(NodeId(1)).expect("the namespace of h1");
        let mut sockets = Sockets::open(1).expect("a socket");
        while !over.load(Ordering::Relaxed) {
            while sockets.receive().is_some() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            wait(std::iter::once(&sockets), 1_000_000);
        }
    }

    fn forward(
        lab: &Lab,
        station: &mut Station<'_>,
        topology: &Topology,
        config: &Config,
        over: &AtomicBool,
    ) -> Histogram {
        lab.enter(SWITCH).expect("the namespace of the switch");
        let mut sockets = Sockets::open(2).expect("sockets");
        let mut shell = Shell::new(station, topology, config, None, false);
        let dilation = Dilation::new(1).expect("not zero");
        let clock = Clock { origin: real_time_ns(), dilation };
        let mut late = Histogram::default();
        loop {
            let real = real_time_ns();
            let now = clock.scenario(real);
            while let Some(frame) = sockets.receive() {
                shell.receive(frame.port, clock.scenario(frame.at), frame.bytes, frame.vlan);
            }
            shell.run(now);
            while let Some((port, out)) = shell.transmit(now) {
                sockets.send(port, out.control, &out.bytes);
                late.add(clock.scenario(real_time_ns()).saturating_sub(out.due));
            }
            if real > clock.origin + TAKES {
                over.store(true, Ordering::Relaxed);
                return late;
            }
        }
    }
}
