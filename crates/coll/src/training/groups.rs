//! Which ranks work together.

use super::Training;

weir_core::words! {
    /// A dimension along which work is divided.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Axis {
        /// Matrices are cut.
        Tensor = "tp",
        /// Experts are divided.
        Expert = "ep",
        /// Samples are divided.
        Data = "dp",
        /// Layers are divided.
        Pipeline = "pp",
    }
}

impl Axis {
    /// In the order of most systems, the fastest first.
    pub const ORDER: [Self; 4] = [Self::Tensor, Self::Expert, Self::Data, Self::Pipeline];
}

weir_core::words! {
    /// A kind of communication, with connections of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Class {
        /// Activations of a layer, among ranks that share its matrices.
        Tensor = "tensor parallelism",
        /// Tokens, on their way to experts and back.
        Expert = "expert parallelism",
        /// Gradients and parameters that all have.
        Data = "data parallelism",
        /// Gradients and parameters of experts.
        ExpertData = "data parallelism of experts",
        /// Activations and their gradients, between stages.
        Pipeline = "pipeline parallelism",
    }
}

impl Class {
    /// The class of a message of a training step, by its channel.
    pub fn of_channel(channel: u32) -> Option<Self> {
        Self::ALL.get((channel >> CHANNEL_BITS) as usize).copied()
    }

    /// The channel of its messages that are on channel `channel` of a collective.
    pub(super) fn channel(self, channel: u32) -> u32 {
        (self as u32) << CHANNEL_BITS | channel
    }
}

const CHANNEL_BITS: u32 = 16;

/// Ranks that do a collective together, in order: `of[0]` of them next to each other with a
/// distance of `stride[0]`, and `of[1]` such rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    first: u32,
    of: [u32; 2],
    stride: [u32; 2],
    /// Which of them is the rank that asks.
    pub(super) own: u32,
}

impl Group {
    /// How many there are.
    pub(super) fn size(&self) -> u32 {
        self.of[0] * self.of[1]
    }

    /// The rank that is the `k`-th of them.
    pub(super) fn member(&self, k: u32) -> u32 {
        self.first + k % self.of[0] * self.stride[0] + k / self.of[0] * self.stride[1]
    }
}

impl Training {
    /// How many ranks an axis has.
    pub(super) fn extent(&self, axis: Axis) -> u32 {
        match axis {
            Axis::Tensor => self.tp,
            Axis::Expert => self.ep,
            Axis::Data => self.dp / self.ep.max(1),
            Axis::Pipeline => self.pp,
        }
    }

    /// The distance of neighbours along an axis.
    fn stride(&self, axis: Axis) -> u32 {
        let before = self.order.iter().take_while(|a| **a != axis);
        before.map(|a| self.extent(*a)).product()
    }

    /// Where a rank is on an axis.
    pub(super) fn coordinate(&self, rank: u32, axis: Axis) -> u32 {
        rank / self.stride(axis) % self.extent(axis)
    }

    /// The stage of a rank.
    pub fn stage(&self, rank: u32) -> u32 {
        self.coordinate(rank, Axis::Pipeline)
    }

    /// The rank that has the place of `rank` in another stage.
    pub(super) fn in_stage(&self, rank: u32, stage: u32) -> u32 {
        let stride = self.stride(Axis::Pipeline);
        rank - self.stage(rank) * stride + stage * stride
    }

    /// The ranks that `rank` does a collective with.
    pub(super) fn group(&self, rank: u32, class: Class) -> Group {
        let axes = match class {
            Class::Tensor => [Some(Axis::Tensor), None],
            Class::Expert => [Some(Axis::Expert), None],
            Class::Data => [Some(Axis::Expert), Some(Axis::Data)],
            Class::ExpertData => [Some(Axis::Data), None],
            Class::Pipeline => [Some(Axis::Pipeline), None],
        };
        let of = axes.map(|a| a.map_or(1, |a| self.extent(a)));
        let stride = axes.map(|a| a.map_or(0, |a| self.stride(a)));
        let at = axes.map(|a| a.map_or(0, |a| self.coordinate(rank, a)));
        let first = rank - at[0] * stride[0] - at[1] * stride[1];
        Group { first, of, stride, own: at[0] + at[1] * of[0] }
    }

    /// The ranks that `rank` does collectives of a class with, in their order, itself included.
    pub fn members(&self, rank: u32, class: Class) -> Vec<u32> {
        let group = self.group(rank, class);
        (0..group.size()).map(|k| group.member(k)).collect()
    }
}
