//! Exhaustive exploration of small networks: every order in which packets arrive, ports serve
//! and frames are delivered, over the same scheme objects that the simulator drives.
//!
//! A [`Model`] says which steps are possible in a state and what a step does; [`explore`]
//! visits all states breadth first, so the first failure it finds is one with the fewest
//! steps. [`replay`] takes a list of steps, for keeping a counter-example as a test, and
//! [`walk`] takes random ones, for networks too large to exhaust. [`line::Line`] is the model of
//! nodes in a row that serves every scheme.

pub mod line;
mod print;

pub use print::Shared;

use print::fingerprint;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

/// A system that moves in steps.
pub trait Model {
    /// All there is to know about the system at one moment.
    type State: Clone + Eq + Hash;
    /// One thing that can happen.
    type Step: Clone + Debug + PartialEq;

    /// Where it starts.
    fn initial(&self) -> Self::State;

    /// What can happen in `state`.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// Lets `step` happen; says what is wrong with it, if anything.
    fn take(&self, state: &mut Self::State, step: &Self::Step) -> Result<(), String>;

    /// Nothing more can happen: says what is wrong with that, if anything.
    fn settled(&self, state: &Self::State) -> Result<(), String>;

    /// What `state` exercises, each field 0 or 1. By default nothing is known.
    fn exercises(&self, _state: &Self::State) -> Coverage {
        Coverage::default()
    }
}

/// In how many states something happened that a test is meant to try. A search in which a count
/// is zero says nothing about it: a scheme whose threshold is never reached cannot fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Packets wait in a queue that is held.
    pub held: usize,
    /// A host has packets to send and may not send them.
    pub hosts_held: usize,
    /// A control frame is on its way.
    pub frames: usize,
    /// A timer is armed.
    pub timers: usize,
    /// A priority of a port is limited to a rate.
    pub limited: usize,
}

impl std::ops::AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        self.held += other.held;
        self.hosts_held += other.hosts_held;
        self.frames += other.frames;
        self.timers += other.timers;
        self.limited += other.limited;
    }
}

/// A way to something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure<Step> {
    /// What happened, in order, from the initial state.
    pub steps: Vec<Step>,
    /// What is wrong after that.
    pub what: String,
}

/// What [`explore`] has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<Step> {
    /// Different states.
    pub states: usize,
    /// States in which nothing more can happen.
    pub settled: usize,
    /// The most steps on a shortest way to a state.
    pub depth: usize,
    /// Whether all states were visited: false after a failure and at the limit.
    pub complete: bool,
    /// How many of the states exercised what.
    pub coverage: Coverage,
    /// The failure with the fewest steps.
    pub failure: Option<Failure<Step>>,
}

/// How a state was first reached.
struct Reached<Step> {
    from: usize,
    by: Option<Step>,
    depth: usize,
}

fn path<Step: Clone>(reached: &[Reached<Step>], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = &reached[at].by {
        steps.push(step.clone());
        at = reached[at].from;
    }
    steps.reverse();
    steps
}

/// Visits every state that can be reached, at most `limit` of them, breadth first, and stops
/// at the first failure. A step that changes nothing counts as no step.
pub fn explore<M: Model>(model: &M, limit: usize) -> Explored<M::Step> {
    let first = model.initial();
    let mut seen = FxHashSet::default();
    seen.insert(fingerprint(&first));
    let mut reached = vec![Reached { from: 0, by: None, depth: 0 }];
    let mut result = Explored {
        states: 1,
        settled: 0,
        depth: 0,
        complete: false,
        coverage: model.exercises(&first),
        failure: None,
    };
    let mut frontier = VecDeque::from([(first, 0)]);
    while let Some((state, at)) = frontier.pop_front() {
        let mut moved = false;
        for step in model.steps(&state) {
            let mut next = state.clone();
            if let Err(what) = model.take(&mut next, &step) {
                let mut steps = path(&reached, at);
                steps.push(step);
                result.failure = Some(Failure { steps, what });
                return result;
            }
            if next == state {
                continue;
            }
            moved = true;
            if seen.insert(fingerprint(&next)) {
                if result.states == limit {
                    return result;
                }
                result.states += 1;
                result.coverage += model.exercises(&next);
                let depth = reached[at].depth + 1;
                result.depth = depth;
                reached.push(Reached { from: at, by: Some(step), depth });
                frontier.push_back((next, reached.len() - 1));
            }
        }
        if !moved {
            result.settled += 1;
            if let Err(what) = model.settled(&state) {
                result.failure = Some(Failure { steps: path(&reached, at), what });
                return result;
            }
        }
    }
    result.complete = true;
    result
}

/// Takes `steps` from the start. A step that is not possible when its turn comes is a failure.
pub fn replay<M: Model>(model: &M, steps: &[M::Step]) -> Result<M::State, Failure<M::Step>> {
    let mut state = model.initial();
    for (i, step) in steps.iter().enumerate() {
        let fail = |what| Failure { steps: steps[..=i].to_vec(), what };
        if !model.steps(&state).contains(step) {
            return Err(fail(format!("{step:?} is not possible here")));
        }
        model.take(&mut state, step).map_err(fail)?;
    }
    Ok(state)
}

/// Takes steps as `choose` picks them (given their number, an index) until nothing more can
/// happen.
pub fn walk<M: Model>(
    model: &M,
    mut choose: impl FnMut(usize) -> usize,
) -> Result<M::State, Failure<M::Step>> {
    let mut state = model.initial();
    let mut taken = Vec::new();
    loop {
        let mut steps = model.steps(&state);
        loop {
            if steps.is_empty() {
                return match model.settled(&state) {
                    Ok(()) => Ok(state),
                    Err(what) => Err(Failure { steps: taken, what }),
                };
            }
            let step = steps.swap_remove(choose(steps.len()) % steps.len());
            let before = state.clone();
            let outcome = model.take(&mut state, &step);
            if outcome.is_err() || state != before {
                taken.push(step);
                outcome.map_err(|what| Failure { steps: taken.clone(), what })?;
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two jugs of 3 and 5 litres: the die-hard puzzle. Four litres in the large one is "wrong".
    struct Jugs {
        forbidden: u8,
    }

    #[derive(Clone, Debug, PartialEq)]
    enum Pour {
        Fill(usize),
        Empty(usize),
        From(usize),
    }

    const SIZE: [u8; 2] = [3, 5];

    impl Model for Jugs {
        type State = [u8; 2];
        type Step = Pour;

        fn initial(&self) -> [u8; 2] {
            [0, 0]
        }

        fn steps(&self, _: &[u8; 2]) -> Vec<Pour> {
            (0..2).flat_map(|j| [Pour::Fill(j), Pour::Empty(j), Pour::From(j)]).collect()
        }

        fn take(&self, s: &mut [u8; 2], step: &Pour) -> Result<(), String> {
            match *step {
                Pour::Fill(j) => s[j] = SIZE[j],
                Pour::Empty(j) => s[j] = 0,
                Pour::From(j) => {
                    let moved = s[j].min(SIZE[1 - j] - s[1 - j]);
                    s[j] -= moved;
                    s[1 - j] += moved;
                }
            }
            if s[1] == self.forbidden { Err("it is in there".into()) } else { Ok(()) }
        }

        fn settled(&self, _: &[u8; 2]) -> Result<(), String> {
            Err("a jug can always be filled or emptied".into())
        }
    }

    #[test]
    fn the_failure_found_is_a_shortest_one_and_replays() {
        let jugs = Jugs { forbidden: 4 };
        let found = explore(&jugs, 100).failure.expect("four litres can be measured");
        assert_eq!(found.steps.len(), 6, "the puzzle's known optimum: {:?}", found.steps);
        assert_eq!(replay(&jugs, &found.steps), Err(found));
    }

    #[test]
    fn all_states_are_visited_when_nothing_fails() {
        let seen = explore(&Jugs { forbidden: 9 }, 100);
        // at least one jug is full or empty: 2 * 6 + 2 * 4 - 4 combinations
        assert_eq!((seen.states, seen.settled, seen.complete), (16, 0, true));
        assert_eq!(seen.depth, 7, "four litres in the large jug and none in the small one");
        assert!(!explore(&Jugs { forbidden: 9 }, 15).complete);
    }

    #[test]
    fn an_impossible_step_is_refused() {
        struct Stuck;
        impl Model for Stuck {
            type State = u8;
            type Step = u8;
            fn initial(&self) -> u8 {
                0
            }
            fn steps(&self, s: &u8) -> Vec<u8> {
                if *s < 3 { vec![0, 1] } else { vec![0] }
            }
            fn take(&self, s: &mut u8, step: &u8) -> Result<(), String> {
                *s += step;
                Ok(())
            }
            fn settled(&self, s: &u8) -> Result<(), String> {
                if *s == 3 { Err("stuck".into()) } else { Ok(()) }
            }
        }
        assert!(replay(&Stuck, &[1, 2]).unwrap_err().what.contains("not possible"));
        // a step that changes nothing does not hide that the system is stuck
        let stuck = Failure { steps: vec![1, 1, 1], what: "stuck".into() };
        assert_eq!(explore(&Stuck, 10).failure, Some(stuck.clone()));
        assert_eq!(walk(&Stuck, |_| 0), Err(stuck));
    }
}
