//! The tasks of one rank and what waits for what, in as few words as possible.

use super::{Lane, Step, Task};

/// The tasks of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The tasks, those that go first on a lane first.
    pub steps: Vec<Step>,
    /// What files call them, if not by their place.
    names: Vec<u64>,
    /// How many of those that each waits for have to be complete.
    pub(super) needs: Vec<u32>,
    /// Where the dependents of each begin.
    first: Vec<u32>,
    dependents: Vec<u32>,
}

impl Program {
    /// What waits for a task.
    pub fn dependents(&self, index: u32) -> &[u32] {
        let begin = self.first[index as usize] as usize;
        let end = self.first.get(index as usize + 1).map_or(self.dependents.len(), |e| *e as usize);
        &self.dependents[begin..end]
    }

    /// What its file calls a task.
    pub fn name(&self, index: u32) -> u64 {
        self.names.get(index as usize).copied().unwrap_or(u64::from(index))
    }

    /// How many tasks each one waits for.
    pub fn needs(&self) -> &[u32] {
        &self.needs
    }

    /// How many lines make tasks wait.
    pub fn edges(&self) -> usize {
        self.dependents.len()
    }

    /// Tasks that wait for each other in a circle, if there are any, or that wait for such.
    pub fn circle(&self) -> Option<Vec<u32>> {
        let mut needs = self.needs.clone();
        let mut done = vec![false; needs.len()];
        let mut ready: Vec<u32> =
            (0..needs.len() as u32).filter(|i| needs[*i as usize] == 0).collect();
        while let Some(index) = ready.pop() {
            done[index as usize] = true;
            for &next in self.dependents(index) {
                let left = &mut needs[next as usize];
                if *left > 0 {
                    *left -= 1;
                    if *left == 0 {
                        ready.push(next);
                    }
                }
            }
        }
        let mut at = done.iter().position(|done| !done)? as u32;
        let mut waits_for = vec![u32::MAX; needs.len()];
        for index in (0..needs.len() as u32).filter(|i| !done[*i as usize]) {
            for &next in self.dependents(index) {
                waits_for[next as usize] = index;
            }
        }
        // from one to what it waits for, until one comes again
        let mut order = vec![u32::MAX; needs.len()];
        let mut path = Vec::new();
        while order[at as usize] == u32::MAX {
            order[at as usize] = path.len() as u32;
            path.push(at);
            at = waits_for[at as usize];
            if at == u32::MAX {
                return Some(path);
            }
        }
        path.drain(..order[at as usize] as usize);
        Some(path)
    }
}

/// More than a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tasks and dependencies take more than {0} bytes of memory")]
pub struct TooMuch(pub u64);

/// Puts the tasks of a rank together.
#[derive(Clone, Debug)]
pub struct Builder {
    steps: Vec<Step>,
    names: Vec<u64>,
    /// How many each waits for, if not all.
    thresholds: Vec<(u32, u32)>,
    /// Which waits for which.
    edges: Vec<(u32, u32)>,
    most: u64,
}

/// Bytes that a task takes: itself, its name, its needs, where its dependents begin, its state.
const TASK: u64 = size_of::<Step>() as u64 + 8 + 4 + 4 + 5;
/// Bytes of a dependency while it is read and afterwards.
const EDGE: u64 = 8 + 4;

impl Builder {
    /// No tasks yet; they may take `most` bytes.
    pub fn new(most: u64) -> Self {
        let (steps, names, edges) = (Vec::new(), Vec::new(), Vec::new());
        Self { steps, names, edges, thresholds: Vec::new(), most }
    }

    /// Bytes of memory that the program will take.
    pub fn bytes(&self) -> u64 {
        self.steps.len() as u64 * TASK + self.edges.len() as u64 * EDGE
    }

    fn room(&self, more: u64) -> Result<(), TooMuch> {
        if self.bytes() + more > self.most { Err(TooMuch(self.most)) } else { Ok(()) }
    }

    /// How many tasks there are.
    pub fn len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds a task; its place.
    pub fn task(&mut self, task: Task, lane: Lane) -> Result<u32, TooMuch> {
        self.room(TASK)?;
        self.steps.push(Step { task, lane });
        Ok(self.len() - 1)
    }

    /// Adds a task that files call by a number of its own. All or none have one.
    pub fn named(&mut self, name: u64, task: Task, lane: Lane) -> Result<u32, TooMuch> {
        let index = self.task(task, lane)?;
        self.names.push(name);
        Ok(index)
    }

    /// One task waits for another.
    ///
    /// # Panics
    /// When the program is put together, if one of them does not exist.
    pub fn after(&mut self, waits: u32, on: u32) -> Result<(), TooMuch> {
        self.room(EDGE)?;
        self.edges.push((waits, on));
        Ok(())
    }

    /// A task begins when so many of those that it waits for are complete.
    pub fn threshold(&mut self, waits: u32, number: u32) {
        self.thresholds.push((waits, number));
    }

    /// The program, its tasks in the order of their names.
    pub fn build(mut self) -> Program {
        self.sort();
        let count = self.steps.len();
        let (mut needs, mut first) = (vec![0; count], vec![0; count]);
        for &(waits, on) in &self.edges {
            needs[waits as usize] += 1;
            first[on as usize] += 1;
        }
        let mut at = 0;
        for begin in &mut first {
            (*begin, at) = (at, at + *begin);
        }
        let mut next = first.clone();
        let mut dependents = vec![0; self.edges.len()];
        for &(waits, on) in &self.edges {
            let place = &mut next[on as usize];
            dependents[*place as usize] = waits;
            *place += 1;
        }
        for (waits, number) in self.thresholds {
            needs[waits as usize] = number;
        }
        let plain = self.names.iter().enumerate().all(|(i, name)| *name == i as u64);
        let names = if plain { Vec::new() } else { self.names };
        Program { steps: self.steps, names, needs, first, dependents }
    }

    /// Puts tasks into the order of their names, if they have names.
    fn sort(&mut self) {
        if self.names.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..self.len()).collect();
        order.sort_by_key(|i| self.names[*i as usize]);
        let mut place = vec![0; order.len()];
        for (to, from) in (0..).zip(&order) {
            place[*from as usize] = to;
        }
        self.steps = order.iter().map(|i| self.steps[*i as usize]).collect();
        self.names = order.iter().map(|i| self.names[*i as usize]).collect();
        for (waits, on) in &mut self.edges {
            (*waits, *on) = (place[*waits as usize], place[*on as usize]);
        }
        for (waits, _) in &mut self.thresholds {
            *waits = place[*waits as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_put_in_the_order_of_their_names() {
        let mut b = Builder::new(1 << 20);
        let late = b.named(9, Task::Calc(weir_core::Time::ZERO), Lane::Gpu).expect("room");
        let early = b.named(2, Task::Join, Lane::Free).expect("room");
        b.after(late, early).expect("room");
        let p = b.build();
        assert_eq!((p.name(0), p.name(1)), (2, 9));
        assert_eq!(p.steps[0].task, Task::Join);
        assert_eq!(p.dependents(0), [1]);
        assert_eq!(p.needs(), [0, 1]);
        assert_eq!(p.circle(), None);
    }

    #[test]
    fn a_circle_is_found_behind_what_leads_to_it() {
        let mut b = Builder::new(1 << 20);
        for _ in 0..5 {
            b.task(Task::Join, Lane::Free).expect("room");
        }
        for (waits, on) in [(0, 1), (1, 2), (2, 3), (3, 1), (4, 4)] {
            b.after(waits, on).expect("room");
        }
        assert_eq!(b.build().circle(), Some(vec![1, 2, 3]));
    }

    #[test]
    fn memory_is_bounded() {
        let mut b = Builder::new(2 * TASK + EDGE);
        b.task(Task::Join, Lane::Free).expect("room");
        b.task(Task::Join, Lane::Free).expect("room");
        b.after(0, 1).expect("room");
        assert_eq!(b.after(1, 0), Err(TooMuch(2 * TASK + EDGE)));
        assert!(b.task(Task::Join, Lane::Free).is_err());
    }
}
