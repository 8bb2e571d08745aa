//! Measures packet-hops per CPU second.
//!
//! `replay_speed CONFIG [REPEATS]` runs a configuration again and again; `replay_speed fabric [US]`
//! generates a leaf-spine network of 320 hosts under Web Search traffic and runs it for US
//! microseconds of arrivals.

use std::path::Path;
use weir_core::rng::Stream;
use weir_ns3::config::CcMode;
use weir_ns3::record::{FctRecord, PfcRecord, Recorder};
use weir_ns3::{Config, Flow, Inputs, Link, Topology, read, run};

/// Counts and forgets.
#[derive(Default)]
struct Count {
    flows: usize,
    pauses: usize,
}

impl Recorder for Count {
    fn fct(&mut self, _: &FctRecord) {
        self.flows += 1;
    }

    fn pfc(&mut self, _: &PfcRecord) {
        self.pauses += 1;
    }
}

/// CPU time of this process in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|w| w.parse::<f64>().ok()).sum();
    ticks / 100.0
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (inputs, repeats) = match args.first().map(String::as_str) {
        Some("fabric") => (fabric(number(1, 200)), 1),
        Some(config) => match read(Path::new(config)) {
            Ok((inputs, _)) => (inputs, number(1, 20)),
            Err(d) => {
                eprintln!("{d}");
                std::process::exit(2);
            }
        },
        None => {
            eprintln!("usage: replay_speed CONFIG [REPEATS] | replay_speed fabric [US]");
            std::process::exit(2);
        }
    };
    let (mut hops, mut events, start) = (0, 0, cpu());
    let mut count = Count::default();
    for _ in 0..repeats {
        let counters = run(&inputs, &mut count).counters;
        hops += counters.packet_hops();
        events += counters.events;
    }
    let seconds = cpu() - start;
    println!(
        "{hops} packet-hops, {events} events, {} of {} flows, {} pfc frames, {seconds:.2} CPU s: \
         {:.2} M packet-hops/s",
        count.flows,
        inputs.flows.len() * repeats as usize,
        count.pauses,
        hops as f64 / seconds / 1e6
    );
}

/// 20 leaves with 16 hosts each at 100 Gb/s, 16 spines at 100 Gb/s, DCQCN, half load.
fn fabric(us: u64) -> Inputs {
    const HOSTS: u32 = 320;
    const LEAVES: u32 = 20;
    const SPINES: u32 = 16;
    let link = |a, b| Link { a, b, rate: 100_000_000_000, delay: 1000, error_rate: 0.0 };
    let mut links: Vec<Link> = (0..HOSTS).map(|h| link(h, HOSTS + h / 16)).collect();
    for leaf in 0..LEAVES {
        links.extend((0..SPINES).map(|s| link(HOSTS + leaf, HOSTS + LEAVES + s)));
    }
    let is_switch = (0..HOSTS + LEAVES + SPINES).map(|n| n >= HOSTS).collect();
    let rates = [(100_000_000_000, ())].map(|(r, ())| r);
    let config = Config {
        stop: 2.1,
        cc_mode: CcMode::Dcqcn,
        alpha_resume_us: 1,
        rp_timer_us: 300,
        ewma_gain: 1.0 / 256.0,
        fast_recovery_times: 1,
        rate_ai: 20_000_000,
        rate_hai: 200_000_000,
        min_rate: 1_000_000_000,
        chunk_size: 4000,
        ack_interval: 1,
        has_win: false,
        ack_high_prio: true,
        kmin: rates.map(|r| (r, 400)).into(),
        kmax: rates.map(|r| (r, 1600)).into(),
        pmax: rates.map(|r| (r, 0.2)).into(),
        buffer_mib: 32,
        ..Config::default()
    };
    Inputs {
        config,
        topology: Topology { is_switch, links },
        flows: web_search(HOSTS, us),
        trace_nodes: Vec::new(),
    }
}

/// Poisson arrivals at every host, half of its capacity, Web Search sizes.
fn web_search(hosts: u32, us: u64) -> Vec<Flow> {
    const CDF: [(f64, f64); 12] = [
        (0.0, 0.0),
        (10e3, 15.0),
        (20e3, 20.0),
        (30e3, 30.0),
        (50e3, 40.0),
        (80e3, 53.0),
        (200e3, 60.0),
        (1e6, 70.0),
        (2e6, 80.0),
        (5e6, 90.0),
        (10e6, 97.0),
        (30e6, 100.0),
    ];
    let mean_gap_s = 1.71e6 * 8.0 / (0.5 * 100e9);
    let mut flows = Vec::new();
    for src in 0..hosts {
        let mut draw = Stream::new(1, "speed", src.into());
        let mut t = 0.0;
        loop {
            t += -(1.0 - draw.unit()).ln() * mean_gap_s;
            if t > us as f64 * 1e-6 {
                break;
            }
            let percent = draw.unit() * 100.0;
            let i = CDF.iter().position(|&(_, p)| p > percent).unwrap_or(CDF.len() - 1);
            let ((x0, y0), (x1, y1)) = (CDF[i - 1], CDF[i]);
            let size = (x0 + (x1 - x0) * (percent - y0) / (y1 - y0)).max(1.0) as u64;
            let other = draw.below(u64::from(hosts) - 1) as u32;
            let dst = if other < src { other } else { other + 1 };
            flows.push(Flow { src, dst, pg: 3, dport: 100, size, start: 2.0 + t });
        }
    }
    flows.sort_by_key(Flow::start_ns);
    flows
}
