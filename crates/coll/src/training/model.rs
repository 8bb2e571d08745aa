//! Transformers: how many parameters they have, and how much they compute for a token.

use std::fmt;

weir_core::words! {
    /// How the layers of a model are made.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Architecture {
        /// Gated feed-forward networks of three matrices, no biases, root-mean-square norms, an
        /// output matrix of its own.
        Llama = "llama",
        /// Feed-forward networks of two matrices, biases, layer norms, learned positions, and an
        /// output matrix that is the embedding.
        Gpt = "gpt",
    }
}

/// The dimensions of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// How its layers are made.
    pub architecture: Architecture,
    /// Layers.
    pub layers: u64,
    /// Width of a token's activations.
    pub hidden: u64,
    /// Width inside a feed-forward network.
    pub ffn: u64,
    /// Attention heads.
    pub heads: u64,
    /// Heads that have keys and values of their own.
    pub kv_heads: u64,
    /// Size of the vocabulary.
    pub vocab: u64,
    /// Tokens of a sequence.
    pub seq: u64,
    /// Feed-forward networks per layer.
    pub experts: u64,
    /// How many of them a token uses.
    pub top_k: u64,
}

/// A model that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// How files call it.
    pub name: &'static str,
    /// Its dimensions.
    pub model: Model,
}

const LLAMA: Model = Model {
    architecture: Architecture::Llama,
    layers: 80,
    hidden: 8192,
    ffn: 28_672,
    heads: 64,
    kv_heads: 8,
    vocab: 128_256,
    seq: 8192,
    experts: 1,
    top_k: 1,
};

/// The models that are known by name.
pub const PRESETS: [Preset; 4] = [
    Preset { name: "llama3-70b", model: LLAMA },
    Preset {
        name: "llama3-405b",
        model: Model { layers: 126, hidden: 16_384, ffn: 53_248, heads: 128, ..LLAMA },
    },
    Preset {
        name: "gpt3",
        model: Model {
            architecture: Architecture::Gpt,
            layers: 96,
            hidden: 12_288,
            ffn: 49_152,
            heads: 96,
            kv_heads: 96,
            vocab: 50_257,
            seq: 2048,
            ..LLAMA
        },
    },
    Preset {
        name: "mixtral-8x7b",
        model: Model {
            layers: 32,
            hidden: 4096,
            ffn: 14_336,
            heads: 32,
            vocab: 32_000,
            seq: 4096,
            experts: 8,
            top_k: 2,
            ..LLAMA
        },
    },
];

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.into_iter().find(|p| p.name == name)
    }
}

impl Model {
    /// Parameters of the attention of one layer, without biases.
    fn attention(&self) -> u128 {
        let h = u128::from(self.hidden);
        2 * h * h + 2 * h * h * u128::from(self.kv_heads) / u128::from(self.heads)
    }

    /// Parameters of one feed-forward network.
    fn expert(&self) -> u128 {
        let (h, f) = (u128::from(self.hidden), u128::from(self.ffn));
        match self.architecture {
            Architecture::Llama => 3 * h * f,
            Architecture::Gpt => 2 * h * f + f + h,
        }
    }

    /// Parameters of all feed-forward networks, when a layer has so many of them.
    fn experts(&self, of_a_layer: u64) -> u128 {
        u128::from(self.layers) * u128::from(of_a_layer) * self.expert()
    }

    /// Parameters but for those of feed-forward networks that are one of several.
    pub fn dense_parameters(&self) -> u128 {
        let [h, l, v, s] = [self.hidden, self.layers, self.vocab, self.seq].map(u128::from);
        let alone = if self.experts == 1 { self.experts(1) } else { 0 };
        // which expert a token goes to is decided by one more matrix
        let router = if self.experts == 1 { 0 } else { u128::from(self.experts) * h };
        let (kv, heads) = (u128::from(self.kv_heads), u128::from(self.heads));
        let (small, outside) = match self.architecture {
            Architecture::Llama => (2 * h, 2 * v * h + h),
            // biases of queries, keys, values and projection, and two norms with two vectors each
            Architecture::Gpt => (2 * h + 2 * h * kv / heads + 4 * h, v * h + s * h + 2 * h),
        };
        l * (self.attention() + router + small) + alone + outside
    }

    /// Parameters of experts, of models that have several per layer.
    pub fn expert_parameters(&self) -> u128 {
        if self.experts == 1 { 0 } else { self.experts(self.experts) }
    }

    /// All parameters.
    pub fn parameters(&self) -> u128 {
        self.dense_parameters() + self.expert_parameters()
    }

    /// The parameters that a token meets.
    pub fn active_parameters(&self) -> u128 {
        let used = if self.experts == 1 { 0 } else { self.experts(self.top_k) };
        self.dense_parameters() + used
    }

    /// Floating-point operations per token, forward and backward: six per parameter that it meets,
    /// and attention over the whole sequence.
    pub fn flop_per_token(&self) -> u128 {
        let [h, l, s] = [self.hidden, self.layers, self.seq].map(u128::from);
        6 * self.active_parameters() + 12 * l * h * s
    }

    /// Those of the attention of all layers.
    pub fn attention_flop_per_token(&self) -> u128 {
        let [h, l, s] = [self.hidden, self.layers, self.seq].map(u128::from);
        6 * l * self.attention() + 12 * l * h * s
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layers, hidden, .. } = self;
        write!(f, "{layers} layers of {hidden}, {} parameters", self.parameters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Model {
        Preset::named(name).expect("a preset").model
    }

    /// The models' own publications: 70.6 and 405.9 thousand million; 46 702 792 704 is what the
    /// files of Mixtral hold.
    #[test]
    fn parameters_are_those_of_the_published_models() {
        assert_eq!(model("llama3-70b").parameters(), 70_553_706_496);
        assert_eq!(model("llama3-405b").parameters(), 405_853_388_800);
        assert_eq!(model("mixtral-8x7b").parameters(), 46_702_792_704);
        // 96 (12 h^2 + 13 h) + (50 257 + 2048) h + 2 h, with h = 12 288
        assert_eq!(model("gpt3").parameters(), 174_604_259_328);
        // two of eight experts: 12.9 thousand million
        assert_eq!(model("mixtral-8x7b").active_parameters(), 12_879_925_248);
    }

    /// Per token, in 10^9: 6 P + 12 L h s.
    #[test]
    fn a_token_takes_six_operations_per_parameter_and_its_attention() {
        let flop = |name| (model(name).flop_per_token() / 1_000_000_000) as u64;
        assert_eq!(["gpt3", "llama3-70b"].map(flop), [1076, 487]);
        assert_eq!(["llama3-405b", "mixtral-8x7b"].map(flop), [2638, 83]);
    }
}
