//! A 16:1 incast on one switch under each congestion control, and the queue it makes.

use weir_ns3::config::CcMode;
use weir_ns3::record::{FctRecord, PfcRecord, Recorder, TraceEvent, TraceRecord};
use weir_ns3::{Config, Flow, Inputs, Link, Topology, run};

const SENDERS: u32 = 16;
const SWITCH: u32 = SENDERS + 1;
const RATE: u64 = 100_000_000_000;

/// What is shown: a name, its configuration, and the marking thresholds in kB to draw.
pub(crate) const CASES: &[(&str, &[u32])] = &[
    ("HPCC", &[]),
    ("DCQCN", &[400, 1600]),
    ("DCQCN, slow timers", &[400, 1600]),
    ("TIMELY", &[]),
    ("DCTCP", &[300]),
];

/// The queue towards the receiver: smallest and largest per bin of time.
pub(crate) struct Queue {
    bin_ns: u64,
    /// (smallest, largest) in bytes.
    pub(crate) bins: Vec<(u32, u32)>,
    last: u32,
}

impl Queue {
    fn see(&mut self, time_ns: u64, bytes: u32) {
        let bin = (time_ns.saturating_sub(2_000_000_000) / self.bin_ns) as usize;
        while self.bins.len() <= bin {
            self.bins.push((self.last, self.last));
        }
        let (low, high) = &mut self.bins[bin];
        *low = (*low).min(bytes);
        *high = (*high).max(bytes);
        self.last = bytes;
    }
}

impl Recorder for Queue {
    fn fct(&mut self, _: &FctRecord) {}

    fn pfc(&mut self, _: &PfcRecord) {}

    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, r: &TraceRecord) {
        if r.interface == 1 && r.queue == 3 {
            match r.event {
                TraceEvent::Enqueue => self.see(r.time_ns, r.qlen + u32::from(r.size)),
                TraceEvent::Dequeue => self.see(r.time_ns, r.qlen),
                _ => {}
            }
        }
    }
}

/// Runs the case `name` for `stop_us` microseconds.
pub(crate) fn queue(name: &str, stop_us: u64, bin_ns: u64) -> Queue {
    let link = |a| Link { a, b: SWITCH, rate: RATE, delay: 1000, error_rate: 0.0 };
    let mut is_switch = vec![false; SENDERS as usize + 1];
    is_switch.push(true);
    let flow = |src| Flow { src, dst: 0, pg: 3, dport: 100, size: 1_000_000_000, start: 2.0 };
    let inputs = Inputs {
        config: config(name, stop_us),
        topology: Topology { is_switch, links: (0..=SENDERS).map(link).collect() },
        flows: (1..=SENDERS).map(flow).collect(),
        trace_nodes: vec![SWITCH],
    };
    let mut queue = Queue { bin_ns, bins: Vec::new(), last: 0 };
    run(&inputs, &mut queue);
    queue
}

/// The HPCC evaluation's parameters at 100 Gb/s.
fn config(name: &str, stop_us: u64) -> Config {
    let base = Config {
        stop: 2.0 + stop_us as f64 * 1e-6,
        ack_interval: 1,
        chunk_size: 4000,
        buffer_mib: 32,
        min_rate: 1_000_000_000,
        kmin: [(RATE, 400)].into(),
        kmax: [(RATE, 1600)].into(),
        pmax: [(RATE, 0.2)].into(),
        ..Config::default()
    };
    let dcqcn = Config {
        cc_mode: CcMode::Dcqcn,
        has_win: false,
        ack_high_prio: true,
        alpha_resume_us: 1,
        rate_decrease_us: 4,
        rp_timer_us: 300,
        ewma_gain: 1.0 / 256.0,
        fast_recovery_times: 1,
        rate_ai: 20_000_000,
        rate_hai: 200_000_000,
        ..base.clone()
    };
    match name {
        "HPCC" => Config {
            cc_mode: CcMode::Hpcc,
            var_win: true,
            mi_thresh: 0,
            multi_rate: false,
            int_multi: 4,
            rate_ai: 40_000_000,
            ..base
        },
        "DCQCN" => dcqcn,
        "DCQCN, slow timers" => {
            Config { alpha_resume_us: 50, rate_decrease_us: 50, rp_timer_us: 55, ..dcqcn }
        }
        "TIMELY" => Config {
            cc_mode: CcMode::Timely,
            has_win: false,
            ack_high_prio: true,
            rate_ai: 100_000_000,
            rate_hai: 500_000_000,
            ..base
        },
        _ => Config {
            cc_mode: CcMode::Dctcp,
            var_win: true,
            ewma_gain: 1.0 / 16.0,
            dctcp_rate_ai: 615_000_000,
            kmin: [(RATE, 300)].into(),
            kmax: [(RATE, 300)].into(),
            pmax: [(RATE, 1.0)].into(),
            ..base
        },
    }
}
