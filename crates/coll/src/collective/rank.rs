//! A collective at one of its ranks.

use super::plan::Plan;
use super::{At, Leg, Steps};
use crate::program::{Action, Message, Program, Wait};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use weir_core::Time;

/// The program of one rank of a collective.
#[derive(Debug)]
pub struct Collective {
    plan: Arc<Plan>,
    steps: Box<dyn Steps>,
    rank: u32,
    /// The rank computes for so long before each iteration.
    compute: Time,
    iteration: u32,
    /// One past the last iteration.
    last: u32,
    lanes: Vec<Lane>,
    /// By track: the next piece to begin, and how many are left.
    tracks: Vec<(u32, u32)>,
    actions: VecDeque<Action>,
    /// Messages for steps that have not begun, by where they belong.
    early: Option<Box<FxHashMap<Place, u32>>>,
    computing: bool,
}

/// A piece that is under way.
#[derive(Clone, Copy, Debug)]
struct Lane {
    piece: u32,
    track: u32,
    step: u32,
    /// Messages of the step that have not arrived.
    missing: u32,
    /// Messages of the step that have not left.
    unsent: u32,
}

/// A step of a piece in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    iteration: u32,
    piece: u32,
    step: u32,
}

/// Iteration, piece and leg in 20, 24 and 20 bits.
fn pack(iteration: u32, piece: u32, leg: u32) -> u64 {
    u64::from(iteration) << 44 | u64::from(piece) << 20 | u64::from(leg)
}

/// What [`pack`] has put together.
fn unpack(tag: u64) -> (u32, u32, u32) {
    ((tag >> 44) as u32, (tag >> 20) as u32 & ((1 << 24) - 1), tag as u32 & ((1 << 20) - 1))
}

impl Collective {
    /// Rank `rank` of a plan that has been [checked](Plan::check), which computes for so long
    /// before each iteration.
    pub fn new(plan: Arc<Plan>, rank: u32, compute: Time) -> Self {
        let iterations = 0..plan.iterations;
        Self::of(plan, rank, compute, iterations)
    }

    /// The same for one iteration, which has this number in tags: part of a larger program.
    pub(crate) fn once(plan: Arc<Plan>, rank: u32, number: u32) -> Self {
        Self::of(plan, rank, Time::ZERO, number..number + 1)
    }

    fn of(plan: Arc<Plan>, rank: u32, compute: Time, iterations: Range<u32>) -> Self {
        let steps = plan.steps();
        let mut program = Self {
            plan,
            steps,
            rank,
            compute,
            iteration: iterations.start,
            last: iterations.end,
            lanes: Vec::new(),
            tracks: Vec::new(),
            // the begin of an iteration and the first message: most ranks never have more
            actions: VecDeque::with_capacity(2),
            early: None,
            computing: false,
        };
        program.begin();
        program
    }

    /// What one of its messages carries, and of which piece: for tests and pictures.
    pub fn meaning(&self, message: &Message) -> Option<(Leg, u32)> {
        let (_, piece, tag) = unpack(message.tag);
        let track = (u64::from(piece) / self.plan.pieces_per_track()) as u32;
        let tree = self.plan.track(track).1;
        let legs = (0..self.steps.steps()).flat_map(|step| {
            let at = At { rank: self.rank, step, tree };
            (0..).map_while(move |k| self.steps.send(at, k))
        });
        let same = |leg: &Leg| leg.tag == tag && leg.peer == message.peer;
        legs.into_iter().find(same).map(|leg| (leg, piece))
    }

    /// Bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.lanes.capacity() * size_of::<Lane>()
            + self.tracks.capacity() * size_of::<(u32, u32)>()
            + self.actions.capacity() * size_of::<Action>()
            + self.early.as_ref().map_or(0, |early| early.capacity() * size_of::<(Place, u32)>())
    }

    /// The message that `leg` is in a piece.
    fn message(&self, leg: &Leg, lane: &Lane) -> Message {
        let tag = pack(self.iteration, lane.piece, leg.tag);
        let (channel, _) = self.plan.track(lane.track);
        let bytes = self.plan.size(leg, lane.piece);
        Message { op: tag, peer: leg.peer, bytes, tag, channel }
    }

    fn at(&self, lane: &Lane) -> At {
        At { rank: self.rank, step: lane.step, tree: self.plan.track(lane.track).1 }
    }

    /// Iterations begin, with a computation if there is one, until something is to be waited for.
    fn begin(&mut self) {
        while self.iteration < self.last {
            self.actions.push_back(Action::Begin(self.iteration));
            if self.compute > Time::ZERO {
                self.computing = true;
                let op = pack(self.iteration, 0, 0);
                self.actions.push_back(Action::Calc { op, time: self.compute });
                return;
            }
            self.communicate();
            if !self.ends() {
                return;
            }
        }
    }

    /// The first pieces of all tracks begin.
    fn communicate(&mut self) {
        let per_track = self.plan.pieces_per_track() as u32;
        self.tracks = (0..self.plan.tracks()).map(|t| (t * per_track, per_track)).collect();
        let lanes = u64::from(self.plan.tracks()) * u64::from(self.plan.pipeline.min(per_track));
        self.lanes.reserve_exact(lanes as usize);
        for track in 0..self.plan.tracks() {
            for _ in 0..self.plan.pipeline.min(per_track) {
                let lane = Lane { piece: 0, track, step: u32::MAX, missing: 0, unsent: 0 };
                self.lanes.push(lane);
                self.go_on_from(self.lanes.len() - 1);
            }
        }
    }

    /// A lane takes the next piece of its track, if there is one.
    fn next_piece(&mut self, lane: usize) -> bool {
        let (piece, left) = &mut self.tracks[self.lanes[lane].track as usize];
        if *left == 0 {
            self.lanes[lane].step = u32::MAX;
            return false;
        }
        let l = &mut self.lanes[lane];
        (l.piece, l.step) = (*piece, 0);
        (*piece, *left) = (*piece + 1, *left - 1);
        true
    }

    /// Goes on, through pieces and steps, until something is missing or all pieces are done. A
    /// lane whose step is past the end needs a new piece.
    fn go_on_from(&mut self, lane: usize) {
        loop {
            while self.lanes[lane].step < self.steps.steps() {
                self.begin_step(lane);
                if self.lanes[lane].missing + self.lanes[lane].unsent > 0 {
                    return;
                }
                self.lanes[lane].step += 1;
            }
            if !self.next_piece(lane) {
                return;
            }
        }
    }

    /// Sends what a step sends and counts what it waits for. Messages without content are left out
    /// at both ends.
    fn begin_step(&mut self, lane: usize) {
        let mut l = self.lanes[lane];
        let at = self.at(&l);
        for leg in (0..).map_while(|k| self.steps.send(at, k)) {
            let message = self.message(&leg, &l);
            if message.bytes.get() > 0 {
                self.actions.push_back(Action::Send(message));
                l.unsent += 1;
            }
        }
        let missing = |leg: &Leg| self.plan.size(leg, l.piece).get() > 0;
        let expected = (0..).map_while(|k| self.steps.recv(at, k)).filter(missing).count() as u32;
        let place = Place { iteration: self.iteration, piece: l.piece, step: l.step };
        let early = self.early.as_mut().and_then(|early| early.remove(&place));
        l.missing = expected - early.unwrap_or(0);
        self.lanes[lane] = l;
    }

    /// The lane that works on a piece of this iteration.
    fn lane_of(&self, iteration: u32, piece: u32) -> Option<usize> {
        let is = |l: &Lane| l.piece == piece && l.step < self.steps.steps();
        self.lanes.iter().position(is).filter(|_| iteration == self.iteration)
    }

    /// A step of a lane may be over.
    fn go_on(&mut self, lane: usize) {
        let l = &mut self.lanes[lane];
        if l.missing + l.unsent > 0 {
            return;
        }
        l.step += 1;
        self.go_on_from(lane);
        if self.ends() {
            self.begin();
        }
    }

    /// Ends the iteration if no lane has anything left.
    fn ends(&mut self) -> bool {
        self.lanes.retain(|l| l.step < self.steps.steps());
        let over = self.lanes.is_empty();
        if over {
            self.actions.push_back(Action::End(self.iteration));
            self.iteration += 1;
        }
        over
    }
}

impl Program for Collective {
    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_sent(&mut self, op: u64) {
        let (iteration, piece, _) = unpack(op);
        if let Some(lane) = self.lane_of(iteration, piece) {
            self.lanes[lane].unsent = self.lanes[lane].unsent.saturating_sub(1);
            self.go_on(lane);
        }
    }

    fn notes_sent(&mut self, op: u64) -> bool {
        let (iteration, piece, _) = unpack(op);
        let Some(lane) = self.lane_of(iteration, piece) else { return false };
        let lane = &mut self.lanes[lane];
        // the step goes on
        let notes = lane.unsent > 0 && lane.missing + lane.unsent > 1 && self.actions.is_empty();
        lane.unsent -= u32::from(notes);
        notes
    }

    fn wants_acks(&self) -> bool {
        false
    }

    fn on_received(&mut self, _: u32, tag: u64) {
        let (iteration, piece, leg) = unpack(tag);
        let step = self.steps.receives_in(leg);
        match self.lane_of(iteration, piece).filter(|&lane| self.lanes[lane].step == step) {
            Some(lane) => {
                self.lanes[lane].missing = self.lanes[lane].missing.saturating_sub(1);
                self.go_on(lane);
            }
            None => {
                let early = self.early.get_or_insert_default();
                *early.entry(Place { iteration, piece, step }).or_default() += 1;
            }
        }
    }

    fn on_timer(&mut self, op: u64) {
        if self.computing && op == pack(self.iteration, 0, 0) {
            self.computing = false;
            self.communicate();
            if self.ends() {
                self.begin();
            }
        }
    }

    fn is_done(&self) -> bool {
        self.iteration >= self.last && self.actions.is_empty()
    }

    fn waits(&self) -> Vec<Wait> {
        if self.computing {
            let operation = format!("its computation before iteration {}", self.iteration);
            return vec![Wait { operation, peer: None, tag: None }];
        }
        self.lanes.iter().flat_map(|lane| self.waits_of(lane)).collect()
    }
}

impl Collective {
    /// What a lane waits for: messages, or its own sending.
    fn waits_of(&self, lane: &Lane) -> Vec<Wait> {
        let at = self.at(lane);
        let step = format!(
            "step {} of {} of {}, piece {}, iteration {}",
            lane.step + 1,
            self.steps.steps(),
            self.plan.operation.name(),
            lane.piece,
            self.iteration,
        );
        if lane.missing == 0 {
            let operation = format!("{} of its own messages to leave in {step}", lane.unsent);
            return vec![Wait { operation, peer: None, tag: None }];
        }
        let expected = (0..).map_while(|k| self.steps.recv(at, k));
        let wait = |leg: Leg| {
            let m = self.message(&leg, lane);
            let operation = format!("{} from rank {} in {step}", m.bytes, m.peer);
            Wait { operation, peer: Some(m.peer), tag: Some(m.tag) }
        };
        expected.map(wait).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_the_largest_numbers() {
        let most = ((1 << 20) - 1, (1 << 24) - 1, (1 << 20) - 1);
        assert_eq!(unpack(pack(most.0, most.1, most.2)), most);
    }
}
