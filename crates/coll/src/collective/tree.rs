//! The double binary tree of NCCL: two trees, each for half of the data, in which the inner ranks
//! of one are (almost all) leaves of the other. Data is added up towards the root and the result
//! goes back down.

use super::{At, Effect, Leg, Steps};

/// Two trees over the same ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleTree {
    pub(crate) ranks: u32,
}

/// The neighbours of a rank in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Neighbours {
    parent: Option<u32>,
    children: [Option<u32>; 2],
}

/// Tag of messages towards the root.
const UP: u32 = 0;
/// Tag of messages from the root.
const DOWN: u32 = 1;

/// The first tree: a rank is as far above the leaves as its number has trailing zeros.
fn first_tree(ranks: u32, rank: u32) -> Neighbours {
    if rank == 0 {
        let child = (ranks > 1).then(|| ranks.next_power_of_two() / 2);
        return Neighbours { parent: None, children: [child, None] };
    }
    let bit = 1 << rank.trailing_zeros();
    let up = (rank ^ bit) | (bit << 1);
    let parent = Some(if up < ranks { up } else { rank ^ bit });
    let mut low = bit >> 1;
    let left = (low > 0).then(|| rank - low);
    while low > 0 && rank + low >= ranks {
        low >>= 1;
    }
    Neighbours { parent, children: [left, (low > 0).then(|| rank + low)] }
}

impl DoubleTree {
    /// The second tree is the first one mirrored, or shifted by one if the number is odd.
    fn neighbours(&self, at: At) -> Neighbours {
        let n = self.ranks;
        if at.tree == 0 {
            return first_tree(n, at.rank);
        }
        let mirrored = n.is_multiple_of(2);
        let there = if mirrored { n - 1 - at.rank } else { (at.rank + n - 1) % n };
        let back = |r: u32| if mirrored { n - 1 - r } else { (r + 1) % n };
        let found = first_tree(n, there);
        let children = found.children.map(|child| child.map(back));
        Neighbours { parent: found.parent.map(back), children }
    }

    fn leg(peer: Option<u32>, tag: u32) -> Option<Leg> {
        let effect = if tag == UP { Effect::Reduce } else { Effect::Copy };
        Some(Leg { peer: peer?, tag, block: 0, blocks: 1, effect })
    }

    /// The `k`-th child.
    fn child(&self, at: At, k: u32) -> Option<u32> {
        self.neighbours(at).children.into_iter().flatten().nth(k as usize)
    }
}

impl Steps for DoubleTree {
    /// Receive from the children, send to the parent, receive from it, send to the children.
    fn steps(&self) -> u32 {
        4 * u32::from(self.ranks > 1)
    }

    fn send(&self, at: At, k: u32) -> Option<Leg> {
        match at.step {
            1 if k == 0 => Self::leg(self.neighbours(at).parent, UP),
            3 => Self::leg(self.child(at, k), DOWN),
            _ => None,
        }
    }

    fn recv(&self, at: At, k: u32) -> Option<Leg> {
        match at.step {
            0 => Self::leg(self.child(at, k), UP),
            2 if k == 0 => Self::leg(self.neighbours(at).parent, DOWN),
            _ => None,
        }
    }

    fn receives_in(&self, tag: u32) -> u32 {
        if tag == UP { 0 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rank but one has a parent that knows it as a child; from each the root is at most
    /// log2 n + 1 away; an inner rank of one tree is a leaf of the other, but for a few.
    #[test]
    fn both_are_trees_and_inner_ranks_of_one_are_leaves_of_the_other() {
        for ranks in 1..70 {
            let trees = DoubleTree { ranks };
            let at = |rank, tree| trees.neighbours(At { rank, step: 0, tree });
            let inner = |rank, tree| at(rank, tree).children.iter().flatten().count() == 2;
            for tree in 0..2 {
                let roots = (0..ranks).filter(|r| at(*r, tree).parent.is_none()).count();
                assert_eq!(roots, 1, "{ranks} ranks");
                for rank in 0..ranks {
                    let (mut up, mut depth) = (rank, 0);
                    while let Some(parent) = at(up, tree).parent {
                        assert!(at(parent, tree).children.contains(&Some(up)), "{ranks}: {up}");
                        (up, depth) = (parent, depth + 1);
                    }
                    assert!(depth <= ranks.ilog2() + 1, "{ranks} ranks: {rank} is {depth} deep");
                }
            }
            let both = (0..ranks).filter(|r| inner(*r, 0) && inner(*r, 1)).count();
            assert_eq!(both, 0, "{ranks} ranks");
        }
    }

    /// Eight ranks, from NCCL's rule: 0 has 4; 4 has 2 and 6; 2 has 1 and 3; 6 has 5 and 7.
    #[test]
    fn the_first_tree_of_eight_ranks() {
        let children: Vec<Vec<u32>> =
            (0..8).map(|r| first_tree(8, r).children.into_iter().flatten().collect()).collect();
        let none = Vec::new;
        let expected =
            [vec![4], none(), vec![1, 3], none(), vec![2, 6], none(), vec![5, 7], none()];
        assert_eq!(children, expected);
    }
}
