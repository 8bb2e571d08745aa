//! A number of flows split at random over several types (OFC, deadlock experiment).
//!
//! OFC's deadlock experiment starts M flows of four types whose forced paths form a cycle of
//! buffer dependencies; how M divides over the types is random. Types are given as pairs of
//! hosts with static paths, so any such cycle can be built.

use super::common::check_pairs;
use super::marking::{MARKING, Marking, SubClass};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use std::collections::BTreeSet;
use weir_core::Time;
use weir_core::rng::Stream;

/// How a number is split at random into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitRule {
    /// Every way to write the number as an ordered sum of parts, zero allowed, is equally likely:
    /// uneven splits are common.
    #[default]
    Composition,
    /// Every flow chooses its type by itself: parts are nearly equal.
    Multinomial,
}

impl SplitRule {
    /// Splits `total` into `parts` parts, at least one.
    pub fn split(self, total: u64, parts: usize, stream: &mut Stream) -> Vec<u64> {
        match self {
            Self::Composition => composition(total, parts, stream),
            Self::Multinomial => {
                let mut counts = vec![0; parts];
                for _ in 0..total {
                    counts[stream.below(parts as u64) as usize] += 1;
                }
                counts
            }
        }
    }
}

/// Places `parts - 1` bars among `total` stars, each arrangement equally likely: the parts are the
/// stars between bars. The positions of the bars are drawn by Floyd's algorithm.
fn composition(total: u64, parts: usize, stream: &mut Stream) -> Vec<u64> {
    let bars = parts as u64 - 1;
    let places = total + bars;
    let mut cuts = BTreeSet::new();
    for last in total + 1..=places {
        let cut = stream.between(1, last);
        if !cuts.insert(cut) {
            cuts.insert(last);
        }
    }
    let mut counts = Vec::with_capacity(parts);
    let mut before = 0;
    for cut in cuts.into_iter().chain([places + 1]) {
        counts.push(cut - before - 1);
        before = cut;
    }
    counts
}

/// Flows of one type. The j-th flow takes pair j modulo their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowType {
    /// From where to where, and how.
    pub pairs: Vec<Pair>,
    /// Class and priority.
    pub marking: Marking,
}

/// A number of flows split at random over several types, starting at random within a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The types.
    pub types: Vec<FlowType>,
    /// How many flows in all.
    pub flows: u64,
    /// How they are split.
    pub rule: SplitRule,
    /// How large they are.
    pub sizes: Sizes,
    /// Flows start uniformly from `start` to `start` + `window`, both included.
    pub start: Time,
    /// Length of the time in which flows start.
    pub window: Time,
}

/// As many flows as may be asked for: they are all made at once.
const MOST_FLOWS: u64 = 1_000_000;

/// `split`.
pub(crate) const ENTRY: Entry = Entry {
    name: "split",
    doc: "Flows split at random over several types with a static path each, which start at random \
          within a window (OFC's deadlock experiment). Classes: `class`1, `class`2, ...",
    groups: &[
        params! {
            "senders" Kind::Groups, Fallback::Required,
                "for each type the group of hosts that send; flow j uses the j-th, around the \
                 list";
            "receivers" Kind::Groups, Fallback::Required,
                "for each type the group of hosts that receive, as many as send";
            "paths" Kind::Paths, Fallback::Absent("left to routing"),
                "for each type the static path";
            "flows" Kind::COUNT, Fallback::Required, "total number of flows";
            "split" Kind::Choice(&["composition", "multinomial"]), Fallback::Is("composition"),
                "all compositions of the total equally likely, or each flow draws its type \
                 independently";
            "size" Kind::Sizes, Fallback::Is("15KB"), "payload of the flows";
            "scale" Kind::Fraction, Fallback::Is("1"),
                "factor for the sizes of a table";
            "start" Kind::Time(&[]), Fallback::Is("0s"), "earliest start";
            "window" Kind::Time(&[]), Fallback::Is("30us"),
                "flows start uniformly within this time after `start`";
            "high_types" Kind::COUNTS, Fallback::Absent("what `high` says"),
                "the types, counted from 1, in the high sub-class of G-PFC; the others are low";
        },
        MARKING,
    ],
};

impl Split {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let rules =
            [("composition", SplitRule::Composition), ("multinomial", SplitRule::Multinomial)];
        Ok(Self {
            types: read_types(r)?,
            flows: r.get("flows")?,
            rule: r.choice("split", &rules)?,
            sizes: r.sizes("size", "scale")?,
            start: r.get("start")?,
            window: r.get("window")?,
        })
    }
}

fn read_types(r: &mut Reader<'_>) -> Result<Vec<FlowType>, TrafficError> {
    let (senders, receivers) = (r.groups("senders")?, r.groups("receivers")?);
    let paths: Vec<String> = r.list("paths")?;
    let per_type = |parameter, found: usize| {
        let valid = format!("there are {} types, as many as groups of senders", senders.len());
        TrafficError::value(parameter, format!("a list of {found}"), valid)
    };
    if receivers.len() != senders.len() {
        return Err(per_type("receivers", receivers.len()));
    }
    if r.given("paths") && paths.len() != senders.len() {
        return Err(per_type("paths", paths.len()));
    }
    let high: Vec<u64> = r.list("high_types")?;
    if let Some(&t) = high.iter().find(|&&t| t == 0 || t > senders.len() as u64) {
        let valid = format!("types are counted from 1 to {}", senders.len());
        return Err(TrafficError::value("high_types", t, valid));
    }
    let class: Option<String> = r.optional("class")?;
    let common = Marking::read_with_class(r, weir_core::ClassId::default())?;
    let mut types = Vec::with_capacity(senders.len());
    for (i, (from, to)) in senders.iter().zip(&receivers).enumerate() {
        if from.len() != to.len() {
            let valid = format!("type {} has {} senders", i + 1, from.len());
            return Err(TrafficError::value(
                "receivers",
                format!("a group of {}", to.len()),
                valid,
            ));
        }
        let mut pairs = Vec::with_capacity(from.len());
        for (&src, &dst) in from.iter().zip(to) {
            let path = paths.get(i).map(|p| r.path("paths", p, src, dst)).transpose()?;
            pairs.push(Pair { src, dst, path });
        }
        let sub = match (r.given("high_types"), high.contains(&(i as u64 + 1))) {
            (false, _) => common.high,
            (true, false) => SubClass::Low,
            (true, true) => SubClass::High,
        };
        let label = format!("{}{}", class.as_deref().unwrap_or("f"), i + 1);
        let marking = Marking { class: r.class(&label)?, high: sub, ..common };
        types.push(FlowType { pairs, marking });
    }
    Ok(types)
}

impl Pattern for Split {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        if self.types.is_empty() {
            let valid = "name a group of senders for each type";
            return Err(TrafficError::value("senders", "an empty list", valid));
        }
        for flow_type in &self.types {
            check_pairs(&flow_type.pairs, fabric)?;
        }
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            let valid = format!("from 1 to {MOST_FLOWS}");
            return Err(TrafficError::value("flows", self.flows, valid));
        }
        if self.window == Time::NEVER {
            return Err(TrafficError::value("window", self.window, "a finite time"));
        }
        self.sizes.check_finite("size")
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let counts = self.rule.split(self.flows, self.types.len(), &mut ctx.stream("split", 0));
        let (mut start, mut size) = (ctx.stream("start", 0), ctx.stream("size", 0));
        let mut flows = Vec::with_capacity(self.flows as usize);
        for (flow_type, count) in self.types.iter().zip(counts) {
            for &pair in flow_type.pairs.iter().cycle().take(count as usize) {
                let offset = Time::from_ps(start.between(0, self.window.as_ps()));
                let start = self.start.saturating_add(offset);
                flows.push(flow_type.marking.flow(pair, self.sizes.draw(&mut size), start));
            }
        }
        ctx.bucket(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use std::collections::BTreeMap;
    use weir_core::{Bytes, ClassId, NodeId};

    /// Hosts 8i..8i+8 sit on leaf i; the types of OFC's cycle, each with a path of its own for
    /// every pair of hosts.
    fn split(rule: SplitRule, flows: u64) -> Split {
        let flow_type = |t: u32, from: u32, to: u32| FlowType {
            pairs: (0..8)
                .map(|j| Pair {
                    src: NodeId(8 * from + j),
                    dst: NodeId(8 * to + j),
                    path: Some(8 * t + j),
                })
                .collect(),
            marking: Marking { class: ClassId(t as u16), ..Marking::default() },
        };
        Split {
            types: vec![
                flow_type(0, 2, 0),
                flow_type(1, 0, 2),
                flow_type(2, 1, 3),
                flow_type(3, 3, 1),
            ],
            flows,
            rule,
            sizes: Sizes::Fixed(Bytes::from_kb(15)),
            start: Time::from_us(1),
            window: Time::from_us(30),
        }
    }

    #[test]
    fn all_flows_are_there_with_their_paths_and_within_the_window() {
        for rule in [SplitRule::Composition, SplitRule::Multinomial] {
            let flows = flows_of(split(rule, 240), &fabric(32), 9);
            assert_eq!(flows.len(), 240);
            for f in flows {
                assert!(f.start >= Time::from_us(1) && f.start <= Time::from_us(31));
                let (t, j) = (u32::from(f.class.0), f.src.0 % 8);
                assert_eq!((f.path, f.dst.0 % 8), (Some(8 * t + j), j));
            }
        }
    }

    #[test]
    fn all_compositions_are_equally_likely() {
        // 2 as an ordered sum of 3 parts: C(4, 2) = 6 ways
        let mut stream = Stream::new(1, "split", 0);
        let mut seen: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        for _ in 0..6000 {
            *seen.entry(SplitRule::Composition.split(2, 3, &mut stream)).or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        // 1000 each, standard deviation 29
        assert!(seen.values().all(|n| n.abs_diff(1000) < 145), "{seen:?}");
        assert!(seen.keys().all(|parts| parts.iter().sum::<u64>() == 2));
    }

    #[test]
    fn independent_choices_give_nearly_equal_parts() {
        let mut stream = Stream::new(1, "split", 0);
        let parts = SplitRule::Multinomial.split(40_000, 4, &mut stream);
        // 10 000 each, standard deviation 87
        assert_eq!(parts.iter().sum::<u64>(), 40_000);
        assert!(parts.iter().all(|n| n.abs_diff(10_000) < 435), "{parts:?}");
    }

    #[test]
    fn one_part_is_the_whole() {
        let mut stream = Stream::new(1, "split", 0);
        assert_eq!(SplitRule::Composition.split(7, 1, &mut stream), [7]);
    }

    #[test]
    fn nonsense_is_refused() {
        for (flows, part) in [(0, "from 1 to"), (u64::MAX, "from 1 to")] {
            let error = split(SplitRule::Composition, flows).check(&fabric(32)).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = split(SplitRule::Composition, 9).check(&fabric(31)).unwrap_err();
        assert_eq!(error, TrafficError::NotAHost { parameter: "receivers", node: NodeId(31) });
        let none = Split { types: vec![], ..split(SplitRule::Composition, 9) };
        assert!(none.check(&fabric(32)).is_err());
    }
}
