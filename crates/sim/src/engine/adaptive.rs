//! The calendar while few nodes have something to do, sweeps while many do.

use super::partition::Partition;
use super::sequential::Sequential;
use super::window::Window;
use super::{Engine, Part};
use crate::shared::Shared;
use weir_core::Time;

/// The engine for networks whose load decides what is faster.
///
/// The calendar costs some 350 instructions per visit of a node; a sweep some 15 per node,
/// whether the node has something to do or not, and some 400 more. After each call the number of
/// visits since the one before decides who takes the next one.
pub(crate) struct Adaptive {
    sequential: Sequential,
    window: Window,
    /// Who takes the next call.
    sweeps: bool,
    /// How long a sweep lasts.
    sweep: Time,
    /// Up to when the network has run.
    now: Time,
    /// Visits up to then.
    visits: u64,
}

/// Whether sweeps pay in a network of so many nodes, of which some were visited, `visits` times in
/// all, in a time of so many sweeps. An engine that is `sweeping` stops at half of the load at
/// which it would begin, because every change costs as much as a few sweeps.
fn sweeps_pay(nodes: usize, visits: u64, sweeps: f64, sweeping: bool) -> bool {
    let enough = (nodes as f64 / 16.0 + 2.0) / if sweeping { 2.0 } else { 1.0 };
    visits as f64 >= sweeps * enough
}

impl Adaptive {
    /// An engine for a network that is one part, with this lookahead.
    pub(crate) fn new(part: &mut Part, window: Window, lookahead: Time) -> Self {
        window.rest(part);
        let sequential = Sequential::new(part, lookahead);
        let sweep = lookahead * 2;
        Self { sequential, window, sweeps: false, sweep, now: Time::ZERO, visits: 0 }
    }

    /// Lets the other one go on from here.
    fn change(&mut self, part: &mut Part) {
        self.sweeps = !self.sweeps;
        if self.sweeps {
            self.sequential.rest(part);
            self.window.resume(part);
        } else {
            self.window.rest(part);
            self.sequential.resume(part);
        }
    }
}

impl Engine for Adaptive {
    fn advance(
        &mut self,
        parts: &mut [Part],
        partition: &mut Partition,
        shared: &Shared<'_>,
        until: Time,
    ) {
        match self.sweeps {
            true => self.window.advance(parts, partition, shared, until),
            false => self.sequential.advance(parts, partition, shared, until),
        }
        let [part] = parts else { unreachable!("the network is one part") };
        let (visits, span) = (part.visits, until.saturating_sub(self.now));
        let new = visits - self.visits;
        let sweeps = span.as_ps() as f64 / self.sweep.as_ps().max(1) as f64;
        (self.now, self.visits) = (until, visits);
        if sweeps_pay(part.nodes.len(), new, sweeps.max(1.0), self.sweeps) != self.sweeps {
            self.change(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Stop};
    use crate::shared::Prepared;
    use crate::world::World;
    use weir_core::{Bytes, Rate};
    use weir_net::build::{self, k_ary};
    use weir_traffic::pattern::List;
    use weir_traffic::{Fabric, FlowSpec, Traffic};

    /// 208 nodes: 15 visits per sweep are enough to begin, and below 7.5 it stops.
    #[test]
    fn sweeps_begin_at_twice_the_load_at_which_they_end() {
        let pay = |visits, sweeping| sweeps_pay(208, visits, 4.0, sweeping);
        assert_eq!([59, 60].map(|visits| pay(visits, false)), [false, true]);
        assert_eq!([29, 30].map(|visits| pay(visits, true)), [false, true]);
        assert!(!sweeps_pay(2, 0, 1.0, true), "an idle network is left to the calendar");
    }

    /// All hosts send at once, twice, and one flow is under way in between: the engine changes
    /// there and back, and every step ends with as many packet-hops as with the calendar alone.
    #[test]
    fn it_changes_with_the_load_and_nothing_else_changes() {
        let rate = Rate::from_gbps(10);
        let params = k_ary::Params { k: 4, rate, ..Default::default() };
        let topology = build::k_ary::build(&params).unwrap();
        let hosts = topology.hosts();
        let to = |i: usize| hosts[(i + 5) % hosts.len()];
        let burst = |start| {
            (0..hosts.len()).map(move |i| FlowSpec {
                start,
                ..FlowSpec::new(hosts[i], to(i), Bytes::from_kb(200))
            })
        };
        let alone = FlowSpec::new(hosts[0], to(0), Bytes::from_kb(1000));
        let flows = burst(Time::ZERO).chain([alone]).chain(burst(Time::from_ms(2)));
        let mut plan = Traffic::new(Fabric::uniform(hosts, rate).unwrap());
        plan.class("test").unwrap();
        plan.add(List { flows: flows.collect() }).unwrap();

        let config = Config {
            stop: Stop::At(Time::from_ms(3)),
            ..Config::new(weir_fc::scheme("pfc").unwrap())
        };
        let prepared = Prepared::new(&topology, &config);
        let shared = Shared::new(&topology, &config, &prepared).unwrap();
        let mut worlds = [(); 2].map(|()| World::build(&shared, &plan).unwrap());
        let [one, other] = &mut worlds;
        let lookahead = shared.lookahead();
        let window = Window::new(&mut one.parts, &topology, &one.partition, lookahead, true);
        let mut adaptive = Adaptive::new(&mut one.parts[0], window, lookahead);
        let mut sequential = Sequential::new(&mut other.parts[0], lookahead);
        let mut changes = Vec::new();
        for step in 1..=300 {
            let until = Time::from_us(10 * step);
            let sweeps = adaptive.sweeps;
            adaptive.advance(&mut one.parts, &mut one.partition, &shared, until);
            sequential.advance(&mut other.parts, &mut other.partition, &shared, until);
            let (hops, expected) = (one.parts[0].hops(), other.parts[0].hops());
            assert_eq!(hops, expected, "until {until}");
            if adaptive.sweeps != sweeps {
                changes.push(adaptive.sweeps);
            }
        }
        assert!(worlds.iter().all(World::drained));
        assert_eq!(changes, [true, false, true, false]);
    }
}
