//! Native flows in the original's format.

use super::{Flow, class_port};
use weir_core::Bytes;
use weir_traffic::FlowSpec;

/// A flow that the original's format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a flow from node {src} to node {dst} {what}, which a flow file of the HPCC ns-3 simulator \
     cannot express"
)]
pub struct NotAFlow {
    src: u32,
    dst: u32,
    what: &'static str,
}

/// Where traffic starts there by convention.
const ORIGIN_SECONDS: f64 = 2.0;

/// A FLOW_FILE with these flows, sorted by start. Nodes keep their numbers, starts are rounded up
/// to nanoseconds and counted from 2 s, and the class `incast` goes to port 200, others to 100.
pub fn flow_file(flows: &[FlowSpec], classes: &[String]) -> Result<String, NotAFlow> {
    let mut all = Vec::with_capacity(flows.len());
    for f in flows {
        let fail = |what| NotAFlow { src: f.src.0, dst: f.dst.0, what };
        if f.size == Bytes::MAX {
            return Err(fail("has no end"));
        }
        if f.rate.is_some() || f.stop.is_some() {
            return Err(fail("has its own rate or stop time"));
        }
        if f.path.is_some() {
            return Err(fail("has its own path"));
        }
        let class = classes.get(f.class.index()).map(String::as_str).unwrap_or_default();
        let ns = f.start.as_ps().div_ceil(1000);
        all.push(Flow {
            src: f.src.0,
            dst: f.dst.0,
            pg: f.priority.get(),
            dport: class_port(class).unwrap_or(100),
            size: f.size.get(),
            start: ORIGIN_SECONDS + ns as f64 / 1e9,
        });
    }
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    Ok(weir_ns3::flows::write(&all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{ClassId, NodeId, Priority, Rate, Time};

    fn flow(size: u64, start: Time, class: u16) -> FlowSpec {
        let priority = Priority::new(3).unwrap();
        let spec = FlowSpec::new(NodeId(4), NodeId(7), Bytes::new(size));
        FlowSpec { start, class: ClassId(class), priority, ..spec }
    }

    #[test]
    fn flows_are_written_as_the_original_reads_them() {
        let classes = ["incast".to_owned(), "web".to_owned()];
        let flows = [flow(1000, Time::from_us(100), 0), flow(5, Time::from_ps(1), 1)];
        assert_eq!(
            flow_file(&flows, &classes).unwrap(),
            "2\n4 7 3 100 5 2.000000001\n4 7 3 200 1000 2.000100000\n"
        );
    }

    #[test]
    fn what_the_format_cannot_say_is_refused() {
        let endless = flow(u64::MAX, Time::ZERO, 0);
        let paced = FlowSpec { rate: Some(Rate::from_gbps(1)), ..flow(1, Time::ZERO, 0) };
        let pinned = FlowSpec { path: Some(0), ..flow(1, Time::ZERO, 0) };
        for (flow, part) in [(endless, "no end"), (paced, "its own rate"), (pinned, "its own path")]
        {
            let message = flow_file(&[flow], &[]).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("node 4"), "{message}");
        }
    }
}
