//! Why a schedule does not end: which operation waits for which, over all ranks.

use super::Model;
use crate::goal::{Kind, Op, Wait};
use crate::matching::{Envelope, Waiting};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a schedule does not end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// Receives that no message meets, or messages that no receive meets.
    #[error("{}", unmatched_words(.first, *.others))]
    Unmatched {
        /// The first of them.
        first: Place,
        /// How many more there are.
        others: usize,
    },
    /// Operations that wait for each other, of one rank or of several; the first is the last again.
    #[error("{}", cycle_words(.0))]
    Cycle(Vec<Place>),
    /// A time does not fit into 64 bits.
    #[error("rank {}: {} ends after 2^64 ns", .0.rank, .0.op.words())]
    TooLong(Place),
}

/// An operation of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of which rank.
    pub rank: usize,
    /// Its index there.
    pub index: u32,
    /// What it is.
    pub op: Op,
}

impl Place {
    /// `operation 3 of rank 1 (`calc 5`)`.
    pub fn words(&self) -> String {
        format!("operation {} of rank {} (`{}`)", self.index, self.rank, self.op.words())
    }
}

fn unmatched_words(first: &Place, others: usize) -> String {
    let what = match first.op.kind {
        Kind::Recv => "waits for a message that nobody sends",
        _ => "sends a message that nobody receives",
    };
    let more = match others {
        0 => String::new(),
        n => format!("; {n} more are left without a partner"),
    };
    format!("{} {what}{more}", first.words())
}

fn cycle_words(chain: &[Place]) -> String {
    /// What can be read on a terminal.
    const MOST: usize = 16;
    let (circle, last) = chain.split_at(chain.len().saturating_sub(1));
    let mut all: Vec<String> = circle.iter().take(MOST).map(Place::words).collect();
    let last = last.iter().map(Place::words);
    match circle.len().saturating_sub(MOST) {
        0 => all.extend(last),
        more => all.extend(last.map(|last| format!("{more} more, and the last for {last}"))),
    }
    format!("operations wait for each other: {}", all.join(" waits for "))
}

/// An operation: its rank, its index.
type At = (u32, u32);

/// What is left when nothing more happens.
struct Left<'a> {
    model: &'a Model<'a>,
    /// By receiver: sends that never began.
    sends: FxHashMap<u32, Waiting<At>>,
    /// By rank: receives that never began.
    receives: FxHashMap<u32, Waiting<At>>,
    /// Operations that have begun and are not complete: posted receives, and sends that wait for
    /// their receive.
    open: FxHashSet<At>,
    /// By operation that never began: one that it waits for.
    waits_on: FxHashMap<At, At>,
}

impl Model<'_> {
    /// Why not all is done, if something is left.
    pub(super) fn stuck(&self) -> Option<Stuck> {
        let begun = |rank: usize, op: usize| self.ranks[rank].start[op].is_some();
        let all = self.ranks.iter().enumerate();
        let mut idle = all.flat_map(|(r, state)| (0..state.start.len()).map(move |op| (r, op)));
        let idle = idle.find(|(rank, op)| !begun(*rank, *op));
        let idle = idle.map(|(rank, op)| (rank as u32, op as u32));
        let alone = self.without_partner();
        let from = alone.first().copied().or(idle)?;
        let mut left = Left::new(self);
        let others = alone.len().saturating_sub(1);
        let lost = alone.into_iter().find(|at| left.partner(*at).is_none());
        if let Some((rank, op)) = lost {
            return Some(Stuck::Unmatched { first: self.place(rank, op), others });
        }
        Some(Stuck::Cycle(left.circle(from)))
    }

    /// Receives that no message has met, and sends whose message no receive has met.
    fn without_partner(&self) -> Vec<At> {
        let ranks = self.ranks.iter().enumerate();
        let left = ranks.flat_map(|(rank, state)| {
            let posted = state.posted.left().map(move |op| (rank as u32, *op));
            posted.chain(state.early.left().map(|e| (e.rank, e.op)))
        });
        left.collect()
    }
}

impl<'a> Left<'a> {
    fn new(model: &'a Model<'a>) -> Self {
        let (sends, receives) = (FxHashMap::default(), FxHashMap::default());
        let waits = |at: &At| {
            let op = model.op(at.0, at.1);
            op.kind == Kind::Recv || op.size > model.params.eager
        };
        let open = model.without_partner().into_iter().filter(waits).collect();
        let mut left = Self { model, sends, receives, open, waits_on: FxHashMap::default() };
        for (rank, state) in (0_u32..).zip(&model.ranks) {
            let program = &model.schedule.ranks[rank as usize];
            for (index, op) in (0_u32..).zip(&program.ops) {
                let at = (rank, index);
                let idle = state.start[index as usize].is_none();
                if idle {
                    left.never_began(at, op);
                }
                for wait in [Wait::Start, Wait::Completion] {
                    if idle || (wait == Wait::Completion && left.open.contains(&at)) {
                        for waits in program.dependents(index, wait) {
                            left.waits_on.insert((rank, *waits), at);
                        }
                    }
                }
            }
        }
        left
    }

    fn never_began(&mut self, at: At, op: &Op) {
        match op.kind {
            Kind::Send => {
                let envelope = Envelope { source: u64::from(at.0), tag: op.tag };
                self.sends.entry(op.peer as u32).or_default().push(envelope, at);
            }
            Kind::Recv => {
                let envelope = Envelope { source: op.peer, tag: op.tag };
                self.receives.entry(at.0).or_default().push(envelope, at);
            }
            Kind::Calc => {}
        }
    }

    /// What never began and would meet this send or receive.
    fn partner(&mut self, at: At) -> Option<At> {
        let op = self.model.op(at.0, at.1);
        let (list, envelope) = match op.kind {
            Kind::Recv => (self.sends.get_mut(&at.0), Envelope { source: op.peer, tag: op.tag }),
            _ => {
                let envelope = Envelope { source: u64::from(at.0), tag: op.tag };
                (self.receives.get_mut(&(op.peer as u32)), envelope)
            }
        };
        list?.first(envelope).copied()
    }

    /// Operations that wait for each other, found from one that waits. Everything that is left
    /// waits for something that is left, so following any leads into a circle.
    fn circle(&mut self, from: At) -> Vec<Place> {
        let mut seen: FxHashMap<At, usize> = FxHashMap::default();
        let (mut chain, mut at) = (Vec::new(), from);
        let begin = loop {
            if let Some(begin) = seen.insert(at, chain.len()) {
                break begin;
            }
            chain.push(at);
            // a receive that has begun waits for its message, one that has not for what it requires
            let next = match self.waits_on.get(&at) {
                Some(on) if !self.open.contains(&at) => Some(*on),
                _ => self.partner(at),
            };
            match next {
                Some(next) => at = next,
                None => break 0,
            }
        };
        let circle = chain[begin..].iter().chain([&at]);
        circle.map(|(rank, op)| self.model.place(*rank, *op)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::goal::text::parse;
    use crate::loggops::{Params, run};

    fn stuck_with(text: &str, eager: u64) -> String {
        let schedule = parse(text.as_bytes()).expect("a schedule");
        let params = Params { eager, ..Params::default() };
        run(&schedule, &params).expect_err("it does not end").to_string()
    }

    fn stuck(text: &str) -> String {
        stuck_with(text, u64::MAX)
    }

    #[test]
    fn a_schedule_that_cannot_end_names_what_waits_for_what() {
        assert_eq!(
            stuck("num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 3\n}\n"),
            "operation 0 of rank 0 (`recv 8b from 1 tag 3`) waits for a message that nobody sends"
        );
        assert_eq!(
            stuck("num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 9b to 1\n}\n"),
            "operation 0 of rank 0 (`send 8b to 1 tag 0`) sends a message that nobody receives; 1 \
             more are left without a partner"
        );
        assert_eq!(
            stuck("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n"),
            "operations wait for each other: operation 0 of rank 0 (`calc 1`) waits for operation \
             1 of rank 0 (`calc 2`) waits for operation 0 of rank 0 (`calc 1`)"
        );
    }

    #[test]
    fn ranks_that_wait_for_each_other_are_named_with_their_messages() {
        let rank = |r: u32, other: u32| {
            format!(
                "rank {r} {{\nr: recv 8b from {other} tag 5\ns: send 8b to {other} tag 5\n\
                 s requires r\n}}\n"
            )
        };
        assert_eq!(
            stuck(&format!("num_ranks 2\n{}{}", rank(0, 1), rank(1, 0))),
            "operations wait for each other: \
             operation 0 of rank 0 (`recv 8b from 1 tag 5`) waits for \
             operation 1 of rank 1 (`send 8b to 0 tag 5`) waits for \
             operation 0 of rank 1 (`recv 8b from 0 tag 5`) waits for \
             operation 1 of rank 0 (`send 8b to 1 tag 5`) waits for \
             operation 0 of rank 0 (`recv 8b from 1 tag 5`)"
        );
    }

    #[test]
    fn sends_that_wait_for_their_receives_can_wait_for_each_other() {
        let rank = |r: u32, other: u32| {
            format!(
                "rank {r} {{\ns: send 8b to {other}\nr: recv 8b from {other}\nr requires s\n}}\n"
            )
        };
        let text = format!("num_ranks 2\n{}{}", rank(0, 1), rank(1, 0));
        let words = stuck_with(&text, 7);
        assert!(words.starts_with("operations wait for each other: "), "{words}");
        assert_eq!(words.matches(" waits for ").count(), 4, "{words}");
        let schedule = parse(text.as_bytes()).expect("a schedule");
        assert!(run(&schedule, &Params { eager: 8, ..Params::default() }).is_ok());
    }

    #[test]
    fn the_cause_is_named_and_not_what_follows_from_it() {
        // rank 0 waits for a message of rank 1, which would send it once it has one of rank 2
        let text = "num_ranks 3\nrank 0 {\nrecv 8b from 1\n}\n\
                    rank 1 {\nr: recv 8b from 2 tag 9\ns: send 8b to 0\ns requires r\n}\n";
        assert_eq!(
            stuck(text),
            "operation 0 of rank 1 (`recv 8b from 2 tag 9`) waits for a message that nobody \
             sends; 1 more are left without a partner"
        );
    }

    #[test]
    fn a_long_circle_is_cut_in_words() {
        let mut text = String::from("num_ranks 1\nrank 0 {\n");
        (0..100).for_each(|i| text.push_str(&format!("c{i}: calc {i}\n")));
        (0..100).for_each(|i| text.push_str(&format!("c{i} requires c{}\n", (i + 1) % 100)));
        let words = stuck(&(text + "}\n"));
        assert!(words.len() < 1200, "{words}");
        assert!(words.ends_with("84 more, and the last for operation 0 of rank 0 (`calc 0`)"));
    }
}
