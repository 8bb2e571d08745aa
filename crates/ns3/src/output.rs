//! The output files, in the original's formats.

use crate::hash::address;
use crate::hash_order::HashOrder;
use crate::record::{
    FctRecord, PfcRecord, Progress, QueueDistribution, Recorder, TraceBody, TraceEvent, TraceRecord,
};
use crate::routes::Ports;
use crate::{Config, Inputs};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

impl fmt::Display for FctRecord {
    /// A line of `fct.txt`: addresses, ports, size, start, completion time and its estimate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sip, dip) = (address(self.src), address(self.dst));
        let Self { sport, dport, size, start_ns, fct_ns, standalone_ns, .. } = self;
        write!(f, "{sip:08x} {dip:08x} {sport} {dport} {size} {start_ns} {fct_ns} {standalone_ns}")
    }
}

impl fmt::Display for PfcRecord {
    /// A line of `pfc.txt`: time, node, type of node, port, and 1 for pause or 0 for resume.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time_ns, node, is_switch, interface, pause } = self;
        write!(f, "{time_ns} {node} {} {interface} {}", u8::from(*is_switch), u8::from(*pause))
    }
}

/// Writes a dump of queue lengths in the format of `qlen.txt`.
pub fn write_queues(
    out: &mut dyn Write,
    time_ns: u64,
    ports: &mut dyn Iterator<Item = QueueDistribution<'_>>,
) -> io::Result<()> {
    writeln!(out, "time: {time_ns}")?;
    for port in ports {
        write!(out, "{} {}", port.switch, port.interface)?;
        for count in port.samples {
            write!(out, " {count}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The head of a binary trace: the speed of every port that is used (of parallel links, only the
/// last has one) and the largest window.
///
/// Node numbers are written with 16 and ports with 8 bits, in the order of the original's maps.
/// They are filled in the order of the nodes' addresses in memory: hosts ascending, then switches
/// descending, and the same for the neighbours of each. (Networks of 300 and more hosts are laid
/// out otherwise in memory; there the order is another one than the original's.)
pub fn trace_header(inputs: &Inputs) -> Vec<u8> {
    let topology = &inputs.topology;
    let ports = Ports::new(topology);
    let mut nodes: HashOrder<u32> = HashOrder::new();
    let mut speeds: Vec<HashOrder<u64>> = Vec::new();
    for node in (0..topology.nodes())
        .filter(|&n| !topology.is_switch[n as usize])
        .chain((0..topology.nodes()).rev().filter(|&n| topology.is_switch[n as usize]))
    {
        // The last of parallel links is the one that stays.
        let mut neighbours: BTreeMap<(bool, u32), u32> = BTreeMap::new();
        for port in ports.of(node) {
            let peer = ports.ends[ports.ends[port as usize].peer as usize].node;
            let place = match topology.is_switch[peer as usize] {
                true => (true, u32::MAX - peer),
                false => (false, peer),
            };
            neighbours.insert(place, port);
        }
        for port in neighbours.into_values() {
            let key = u64::from(node as u16);
            let at = nodes.get(key).unwrap_or_else(|| {
                speeds.push(HashOrder::new());
                nodes.insert(key, speeds.len() as u32 - 1);
                speeds.len() as u32 - 1
            });
            let rate = topology.links[ports.ends[port as usize].link as usize].rate;
            speeds[at as usize].insert(u64::from(ports.interface(port) as u8), rate);
        }
    }
    let mut entries = Vec::with_capacity(11 * ports.ends.len());
    for (node, at) in nodes.iter() {
        for (interface, rate) in speeds[at as usize].iter() {
            entries.extend((node as u16).to_le_bytes());
            entries.push(interface as u8);
            entries.extend(rate.to_le_bytes());
        }
    }
    let max_bdp = inputs.routes(&ports, |_| true).max_bdp as u32;
    let mut out = (entries.len() as u32 / 11).to_le_bytes().to_vec();
    out.extend(entries);
    out.extend(max_bdp.to_le_bytes());
    out
}

/// Bytes of a packet record.
pub const TRACE_RECORD_BYTES: usize = 56;

/// A packet record of the binary trace. Unused bytes are zero.
pub fn trace_record(r: &TraceRecord) -> [u8; TRACE_RECORD_BYTES] {
    let mut out = [0; TRACE_RECORD_BYTES];
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        out[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&r.time_ns.to_le_bytes());
    put(&(r.node as u16).to_le_bytes());
    put(&[r.interface as u8, r.queue]);
    put(&r.qlen.to_le_bytes());
    put(&r.sip.to_le_bytes());
    put(&r.dip.to_le_bytes());
    put(&r.size.to_le_bytes());
    put(&[r.l3_protocol, r.event as u8, r.ecn, u8::from(r.is_switch), 0, 0]);
    match r.body {
        TraceBody::Data { sport, dport, seq, ts, pg, payload } => {
            put(&sport.to_le_bytes());
            put(&dport.to_le_bytes());
            put(&seq.to_le_bytes());
            put(&ts.to_le_bytes());
            put(&pg.to_le_bytes());
            put(&payload.to_le_bytes());
        }
        TraceBody::Ack { sport, dport, flags, pg, seq, ts } => {
            for field in [sport, dport, flags, pg] {
                put(&field.to_le_bytes());
            }
            put(&seq.to_le_bytes());
            // The next field is aligned to eight bytes.
            put(&[0; 4]);
            put(&ts.to_le_bytes());
        }
        TraceBody::Pfc { time, qlen, queue } => {
            put(&time.to_le_bytes());
            put(&qlen.to_le_bytes());
            put(&[queue]);
        }
    }
    out
}

/// Writes the files that a configuration names.
///
/// The first error is kept and nothing is written after it: see [`Files::finish`].
pub struct Files {
    fct: Box<dyn Write>,
    pfc: Box<dyn Write>,
    queues: Option<Box<dyn Write>>,
    trace: Option<Box<dyn Write>>,
    /// Packets are recorded in `trace`.
    tracing: bool,
    on_progress: Option<OnProgress>,
    error: Option<io::Error>,
}

/// Told now and then how far a run is; `Break` ends it.
pub type OnProgress = Box<dyn FnMut(&Progress) -> ControlFlow<()>>;

impl Files {
    /// Creates the output files in `dir`, or where the configuration says when `dir` is `None`.
    /// With `dir`, only the last part of the configured names is used.
    pub fn create(inputs: &Inputs, dir: Option<&Path>) -> io::Result<Self> {
        let open = |name: &Path| -> io::Result<Box<dyn Write>> {
            let path = match dir {
                Some(dir) => dir.join(name.file_name().unwrap_or(name.as_os_str())),
                None => name.into(),
            };
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
            let file = std::fs::File::create(&path).map_err(named)?;
            Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
        };
        if let Some(dir) = dir {
            std::fs::create_dir_all(dir)?;
        }
        let Config { enable_trace, trace_output, qlen_output, .. } = &inputs.config;
        let queues = !qlen_output.as_os_str().is_empty();
        // Without tracing, the file has its header alone.
        let trace = !trace_output.as_os_str().is_empty();
        let mut files = Self {
            fct: open(&inputs.config.fct_output)?,
            pfc: open(&inputs.config.pfc_output)?,
            queues: queues.then(|| open(qlen_output)).transpose()?,
            trace: trace.then(|| open(trace_output)).transpose()?,
            tracing: trace && *enable_trace,
            on_progress: None,
            error: None,
        };
        if let Some(trace) = &mut files.trace {
            trace.write_all(&trace_header(inputs))?;
        }
        Ok(files)
    }

    /// Calls `f` now and then during the run.
    pub fn on_progress(mut self, f: OnProgress) -> Self {
        self.on_progress = Some(f);
        self
    }

    /// Writes what is still buffered; the first error of the run, if there was one.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.fct.flush()?;
        self.pfc.flush()?;
        for file in [&mut self.queues, &mut self.trace].into_iter().flatten() {
            file.flush()?;
        }
        Ok(())
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Recorder for Files {
    fn fct(&mut self, record: &FctRecord) {
        let result = writeln!(self.fct, "{record}");
        self.keep(result);
    }

    fn pfc(&mut self, record: &PfcRecord) {
        let result = writeln!(self.pfc, "{record}");
        self.keep(result);
    }

    fn queues(&mut self, time_ns: u64, ports: &mut dyn Iterator<Item = QueueDistribution<'_>>) {
        if let Some(out) = &mut self.queues {
            let result = write_queues(out, time_ns, ports);
            self.keep(result);
        }
    }

    fn wants_queues(&self) -> bool {
        self.queues.is_some()
    }

    fn packet(&mut self, record: &TraceRecord) {
        if let Some(out) = &mut self.trace {
            let result = out.write_all(&trace_record(record));
            self.keep(result);
        }
    }

    fn wants_packets(&self) -> bool {
        self.tracing
    }

    /// A run whose results cannot be written ends early.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if self.error.is_some() {
            return ControlFlow::Break(());
        }
        self.on_progress.as_mut().map_or(ControlFlow::Continue(()), |f| f(progress))
    }
}

/// Reads a packet record back; `None` when the kind of packet or event is unknown.
pub fn read_trace_record(b: &[u8; TRACE_RECORD_BYTES]) -> Option<TraceRecord> {
    let u16_at = |i: usize| u16::from_le_bytes([b[i], b[i + 1]]);
    let u32_at = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
    let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
    let body = match b[26] {
        0x11 => TraceBody::Data {
            sport: u16_at(32),
            dport: u16_at(34),
            seq: u32_at(36),
            ts: u64_at(40),
            pg: u16_at(48),
            payload: u16_at(50),
        },
        0xfc | 0xfd => TraceBody::Ack {
            sport: u16_at(32),
            dport: u16_at(34),
            flags: u16_at(36),
            pg: u16_at(38),
            seq: u32_at(40),
            ts: u64_at(48),
        },
        0xfe => TraceBody::Pfc { time: u32_at(32), qlen: u32_at(36), queue: b[40] },
        _ => return None,
    };
    let events = [TraceEvent::Receive, TraceEvent::Enqueue, TraceEvent::Dequeue, TraceEvent::Drop];
    Some(TraceRecord {
        time_ns: u64_at(0),
        node: u16_at(8).into(),
        interface: b[10].into(),
        queue: b[11],
        qlen: u32_at(12),
        sip: u32_at(16),
        dip: u32_at(20),
        size: u16_at(24),
        l3_protocol: b[26],
        event: *events.get(usize::from(b[27]))?,
        ecn: b[28],
        is_switch: b[29] != 0,
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_original_s() {
        let fct = FctRecord {
            src: 7,
            dst: 0,
            sport: 10_000,
            dport: 100,
            size: 2_000_000,
            start_ns: 2_000_000_000,
            fct_ns: 1_914_465,
            standalone_ns: 171_840,
        };
        assert_eq!(
            fct.to_string(),
            "0b000701 0b000001 10000 100 2000000 2000000000 1914465 171840"
        );
        let pfc = PfcRecord {
            time_ns: 2_000_024_745,
            node: 2,
            is_switch: false,
            interface: 1,
            pause: true,
        };
        assert_eq!(pfc.to_string(), "2000024745 2 0 1 1");
    }

    #[test]
    fn queue_dumps_list_the_bins_of_each_port() {
        let mut out = Vec::new();
        let ports = [
            QueueDistribution { switch: 9, interface: 1, samples: &[5, 0, 2] },
            QueueDistribution { switch: 9, interface: 2, samples: &[7] },
        ];
        write_queues(&mut out, 2_100_000_000, &mut ports.into_iter()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "time: 2100000000\n9 1 5 0 2\n9 2 7\n");
    }

    #[test]
    fn a_run_writes_the_files_that_its_configuration_names() {
        let dir = std::env::temp_dir().join(format!("weir-ns3-files-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
        write("topology.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
        write("flow.txt", "1\n0 1 3 100 1000 2.0\n");
        write("trace.txt", "1\n2\n");
        write(
            "config.txt",
            "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt TRACE_FILE trace.txt\n\
             CC_MODE 0 HAS_WIN 0 ENABLE_QCN 0 L2_ACK_INTERVAL 1 SIMULATOR_STOP_TIME 2.1001\n\
             TRACE_OUTPUT_FILE mix/mix.tr\n\
             FCT_OUTPUT_FILE mix/fct.txt PFC_OUTPUT_FILE mix/pfc.txt QLEN_MON_FILE mix/qlen.txt\n\
             QLEN_MON_START 2099999900",
        );
        let (inputs, _) = crate::read(&dir.join("config.txt")).unwrap();
        let out = dir.join("results");
        let mut files = Files::create(&inputs, Some(&out)).unwrap();
        crate::run(&inputs, &mut files);
        files.finish().unwrap();
        let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        // (1000 + 48) B in 83.84 ns, of which the estimate keeps 83; see the closed form
        assert_eq!(text("fct.txt"), "0b000001 0b000101 10000 100 1000 2000000000 4174 4243\n");
        assert_eq!(text("pfc.txt"), "");
        assert_eq!(text("qlen.txt"), "time: 2100000000\n2 1 2\n2 2 2\n");
        // 4 ports of 11 bytes, two numbers of 4; received, queued and sent twice
        let trace = std::fs::read(out.join("mix.tr")).unwrap();
        assert_eq!(trace.len(), 8 + 4 * 11 + 6 * TRACE_RECORD_BYTES);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn packet_records_read_back() {
        let bodies = [
            (0x11, TraceBody::Data { sport: 1, dport: 2, seq: 3, ts: 4, pg: 5, payload: 6 }),
            (0xfd, TraceBody::Ack { sport: 1, dport: 2, flags: 3, pg: 4, seq: 5, ts: 6 }),
            (0xfe, TraceBody::Pfc { time: 5, qlen: 2, queue: 3 }),
        ];
        for (l3_protocol, body) in bodies {
            let record = TraceRecord {
                time_ns: 1 << 40,
                node: 300,
                interface: 12,
                queue: 3,
                qlen: 70_000,
                sip: 0x0b00_0001,
                dip: 0x0b00_0101,
                size: 1048,
                l3_protocol,
                event: TraceEvent::Dequeue,
                ecn: 3,
                is_switch: true,
                body,
            };
            assert_eq!(read_trace_record(&trace_record(&record)), Some(record));
        }
        assert_eq!(read_trace_record(&[0; TRACE_RECORD_BYTES]), None);
    }
}
