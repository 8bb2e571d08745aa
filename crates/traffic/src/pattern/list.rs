//! Flows given one by one.

use super::common::check_flow;
use super::{Context, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::flow_list::{Meaning, read_text};
use crate::params::{Entry, Fallback, Kind, Reader, params};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use weir_core::{Bytes, NodeId, Time};

/// Flows given one by one, in any order. Their ids are given by the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

/// `list`.
pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    doc: "Flows given one by one: in a CSV file, as `weir traffic` writes it, or in the scenario.",
    groups: &[params! {
        "file" Kind::File, Fallback::Absent("they are in `flows`"),
            "CSV file with the columns src, dst, size, start and optionally class, priority, \
             rate, while_held, stop, path, high";
        "flows" Kind::Rows, Fallback::Absent("they are in `file`"),
            "the same rows in the scenario itself, one text each, the names of the columns first";
        "priority" Kind::PRIORITY, Fallback::Is("0"), "802.1Q priority of flows that have none";
    }],
};

impl Pattern for List {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.flows.iter().try_for_each(|flow| check_flow(flow, fabric))
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        ctx.bucket(self.flows.clone())
    }
}

/// The flows of a list that was read, sorted once by sender and start and shared by everything
/// that draws them: a list may have millions of rows.
#[derive(Debug)]
pub(crate) struct ListPattern {
    rows: Arc<StoredFlows>,
}

/// Flows in little memory.
#[derive(Debug, Default)]
struct StoredFlows {
    /// By sender, start and place in the list.
    rows: Vec<StoredFlow>,
    /// The senders and where the rows of each end.
    senders: Vec<(NodeId, usize)>,
    /// What few rows differ in.
    kinds: Vec<FlowSpec>,
}

/// What every row has for itself.
#[derive(Clone, Copy, Debug)]
struct StoredFlow {
    dst: NodeId,
    /// Index into the kinds, which hold the rest.
    kind: u32,
    start: Time,
    size: Bytes,
}

/// Rows as they are read.
#[derive(Debug, Default)]
struct Unsorted {
    /// Sender, place in the list, and the row.
    rows: Vec<(NodeId, u32, StoredFlow)>,
    kinds: Vec<FlowSpec>,
}

impl Unsorted {
    fn push(&mut self, flow: FlowSpec) {
        /// How many kinds a row is compared with: rows that differ in more are stored with it.
        const RECENT: usize = 8;
        let FlowSpec { src, dst, start, size, .. } = flow;
        let nobody = FlowSpec::new(NodeId(0), NodeId(0), Bytes::ZERO);
        let kind = FlowSpec {
            class: flow.class,
            priority: flow.priority,
            rate: flow.rate,
            while_held: flow.while_held,
            stop: flow.stop,
            path: flow.path,
            high: flow.high,
            ..nobody
        };
        let first = self.kinds.len().saturating_sub(RECENT);
        let known = self.kinds[first..].iter().rposition(|k| *k == kind);
        let kind = known.map(|i| first + i).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        let number = |n: usize| u32::try_from(n).expect("a list of at most 1 GiB");
        let (place, kind) = (number(self.rows.len()), number(kind));
        self.rows.push((src, place, StoredFlow { dst, kind, start, size }));
    }

    /// Puts the rows in order; after that it goes without saying who sends them.
    fn sorted(mut self) -> StoredFlows {
        self.rows.sort_unstable_by_key(|&(src, place, row)| (src, row.start, place));
        let mut ends = 0;
        let by_sender = self.rows.chunk_by(|a, b| a.0 == b.0).map(|rows| {
            ends += rows.len();
            (rows[0].0, ends)
        });
        let senders = by_sender.collect();
        let rows = self.rows.iter().map(|&(_, _, row)| row).collect();
        StoredFlows { rows, senders, kinds: self.kinds }
    }
}

impl StoredFlows {
    fn flow(&self, src: NodeId, at: usize) -> FlowSpec {
        let StoredFlow { dst, start, size, kind } = self.rows[at];
        FlowSpec { src, dst, start, size, ..self.kinds[kind as usize] }
    }

    /// The senders, each with the places of its rows.
    fn by_sender(&self) -> impl Iterator<Item = (NodeId, Range<usize>)> {
        let mut from = 0;
        self.senders.iter().map(move |&(src, end)| (src, std::mem::replace(&mut from, end)..end))
    }
}

impl ListPattern {
    /// Reads the flows from the file or the rows named in the parameters.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let file: Option<String> = r.optional("file")?;
        let given: Vec<String> = r.list("flows")?;
        let (parameter, name, text) = match (file, r.given("flows")) {
            (Some(file), false) => ("file", file.clone(), r.file("file", &file)?),
            (None, true) => ("flows", "rows".to_owned(), given.join("\n")),
            (given, _) => {
                let found = if given.is_some() { "there as well" } else { "missing" };
                let valid = "give either `file` or `flows`";
                return Err(TrafficError::value("flows", found, valid));
            }
        };
        let priority = r.get("priority")?;
        // a list names few hosts many times
        let known: RefCell<FxHashMap<String, NodeId>> = RefCell::default();
        let host = |name: &str| {
            if let Some(&host) = known.borrow().get(name) {
                return Some(host);
            }
            let host = r.lookup(name)?;
            known.borrow_mut().insert(name.to_owned(), host);
            Some(host)
        };
        let path = |name: &str, src, dst| r.way(name, src, dst);
        let mut rows = Unsorted::default();
        rows.rows.reserve_exact(text.bytes().filter(|&b| b == b'\n').count());
        let meaning = Meaning { host: &host, path: &path, priority };
        let classes = read_text(&text, meaning, &mut |flow| rows.push(flow)).map_err(|e| {
            TrafficError::File { parameter, file: name.clone(), message: e.to_string() }
        })?;
        let ids = classes.iter().map(|name| r.class(name)).collect::<Result<Vec<_>, _>>()?;
        for kind in &mut rows.kinds {
            kind.class = ids[kind.class.index()];
        }
        drop(text);
        Ok(Self { rows: Arc::new(rows.sorted()) })
    }
}

impl Pattern for ListPattern {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        // The rows were checked one by one when they were read; what is left is whether their hosts
        // are those of the fabric.
        let mut receivers = FxHashSet::default();
        for (src, _) in &self.rows.senders {
            fabric.check_host("src", *src)?;
        }
        for row in &self.rows.rows {
            if receivers.insert(row.dst) {
                fabric.check_host("dst", row.dst)?;
            }
        }
        Ok(())
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let mut streams: Streams = Vec::new();
        for (src, all) in self.rows.by_sender() {
            let (rows, until) = (Arc::clone(&self.rows), ctx.until);
            let flows = all.map(move |at| rows.flow(src, at)).take_while(move |f| f.start < until);
            streams.push((src, Box::new(flows)));
        }
        streams
    }
}

#[cfg(test)]
mod tests {
    use crate::params::{Names, Params};
    use crate::{Fabric, FlowSpec, Traffic};
    use weir_core::{Bytes, NodeId, Rate, Time};

    struct TwoHosts;

    impl Names for TwoHosts {
        fn hosts(&self, name: &str) -> Option<Vec<NodeId>> {
            let host = name.strip_prefix('h')?.parse().ok().filter(|&n| n < 2)?;
            Some(vec![NodeId(host)])
        }

        fn file(&self, _: &str) -> Result<String, String> {
            Ok("src,dst,size,start\nh1,h0,7,3us\n".into())
        }
    }

    fn plan(params: &Params) -> Result<Traffic, String> {
        let hosts = [NodeId(0), NodeId(1)];
        let fabric = Fabric::new(&hosts, vec![Rate::from_gbps(1); 2]).unwrap();
        let mut traffic = Traffic::new(fabric);
        traffic.add_named("list", params, &TwoHosts).map_err(|e| e.to_string())?;
        Ok(traffic)
    }

    #[test]
    fn flows_stand_in_a_file_or_in_the_scenario() {
        let rows = ["src,dst,size,start,class", "h0,h1,64KB,1us,a", "h1,h0,1,0s,b"];
        let inside = plan(&Params::new().with_list("flows", rows)).unwrap();
        assert_eq!(inside.classes(), ["a", "b"]);
        let flows = inside.all_flows(1).unwrap();
        assert_eq!(flows.len(), 2);
        let outside = plan(&Params::new().with("file", "x.csv")).unwrap();
        assert_eq!(outside.all_flows(1).unwrap()[0].start, Time::from_us(3));
    }

    /// Kinds that alternate, ties, rows out of order: the same flows as from a list in memory.
    #[test]
    fn rows_in_little_memory_are_the_same_flows() {
        let mut text = vec!["src,dst,size,start,class,priority,stop,rate,high".to_owned()];
        for i in 0..200u64 {
            let (src, start) = (i % 2, i * 7919 % 50);
            let (class, stop) = (i % 13, if i % 3 == 0 { "90us" } else { "" });
            let rate = if i % 5 == 0 { "1Gbps" } else { "" };
            text.push(format!(
                "h{src},h{},{},{start}us,c{class},{},{stop},{rate},{}",
                1 - src,
                i + 1,
                i % 8,
                i % 4 == 0
            ));
        }
        let compact = plan(&Params::new().with_list("flows", text.clone())).unwrap();
        let host = |name: &str| TwoHosts.hosts(name).map(|h| h[0]);
        let list = crate::read_flows(text.join("\n").as_bytes(), &host, &|_, _, _| None).unwrap();
        let hosts = [NodeId(0), NodeId(1)];
        let mut plain = Traffic::new(Fabric::new(&hosts, vec![Rate::from_gbps(1); 2]).unwrap());
        let flows = list.into_flows(&mut |class| plain.class(class)).unwrap();
        plain.add(super::List { flows }).unwrap();
        assert_eq!(compact.classes(), plain.classes());
        let mut compact = compact;
        for (until, some) in [(Time::NEVER, 200), (Time::from_us(20), 80)] {
            compact.set_until(until);
            plain.set_until(until);
            let flows = compact.all_flows(1).unwrap();
            assert_eq!((flows.len(), &flows), (some, &plain.all_flows(1).unwrap()));
        }
    }

    /// Rows cost little: the list is stored once, however often its flows are drawn.
    #[test]
    fn a_row_takes_few_bytes_and_kinds_are_shared() {
        let mut rows = super::Unsorted::default();
        for i in 0..1000 {
            let flow = FlowSpec::new(NodeId(0), NodeId(1), Bytes::new(i + 1));
            rows.push(FlowSpec { start: Time::from_ns(i), ..flow });
        }
        let rows = rows.sorted();
        assert_eq!((rows.rows.len(), rows.kinds.len(), rows.senders.len()), (1000, 1, 1));
        assert_eq!((size_of::<super::StoredFlow>(), rows.rows.capacity()), (24, 1000));
    }

    #[test]
    fn a_row_without_a_priority_has_that_of_the_pattern() {
        let rows = ["src,dst,size,start,priority", "h0,h1,1,0s,", "h0,h1,1,1us,5"];
        let plan = plan(&Params::new().with_list("flows", rows).with("priority", 3)).unwrap();
        let priorities: Vec<u8> =
            plan.all_flows(1).unwrap().iter().map(|f| f.priority.get()).collect();
        assert_eq!(priorities, [3, 5]);
    }

    #[test]
    fn both_or_neither_and_bad_rows_are_refused() {
        let file = Params::new().with("file", "x.csv");
        let both = file.with_list("flows", ["src,dst,size,start"]);
        for (params, part) in [
            (Params::new(), "`flows` is missing: give either"),
            (both, "`flows` is there as well"),
            (Params::new().with_list("flows", ["src,dst,size,start", "h0,h9,1,0s"]), "line 2"),
            (Params::new().with_list("flows", [] as [&str; 0]), "`src` is missing"),
        ] {
            let message = plan(&params).unwrap_err();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}
