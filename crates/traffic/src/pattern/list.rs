//! Flows given one by one.

use super::common::check_flow;
use super::{Context, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::flow_list::read_flows_with;
use crate::params::{Entry, Fallback, Kind, Reader, params};

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
        "priority" Kind::Priority, Fallback::Is("0"), "802.1Q priority of flows that have none";
    }],
};

impl List {
    /// Reads the flows from the file or the rows named in the parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let file: Option<String> = r.optional("file")?;
        let rows: Vec<String> = r.list("flows")?;
        let (parameter, name, text) = match (file, r.given("flows")) {
            (Some(file), false) => ("file", file.clone(), r.file("file", &file)?),
            (None, true) => ("flows", "rows".to_owned(), rows.join("\n")),
            (given, _) => {
                let found = if given.is_some() { "there as well" } else { "missing" };
                let valid = "flows stand either in a `file` or in `flows`";
                return Err(TrafficError::value("flows", found, valid));
            }
        };
        let priority = r.get("priority")?;
        let host = |name: &str| r.lookup(name);
        let path = |name: &str, src, dst| r.way(name, src, dst);
        let list = read_flows_with(text.as_bytes(), &host, &path, priority).map_err(|e| {
            TrafficError::File { parameter, file: name.clone(), message: e.to_string() }
        })?;
        let flows = list.into_flows(&mut |class| r.class(class))?;
        Ok(Self { flows })
    }
}

impl Pattern for List {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.flows.iter().try_for_each(|flow| check_flow(flow, fabric))
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        ctx.bucket(self.flows.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::params::{Names, Params};
    use crate::{Fabric, Traffic};
    use weir_core::{NodeId, Rate, Time};

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
            (Params::new(), "`flows` is missing: flows stand either"),
            (both, "`flows` is there as well"),
            (Params::new().with_list("flows", ["src,dst,size,start", "h0,h9,1,0s"]), "line 2"),
            (Params::new().with_list("flows", [] as [&str; 0]), "`src` is missing"),
        ] {
            let message = plan(&params).unwrap_err();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}
