//! What claims choose by words.

weir_core::words! {
    /// What a claim states, as `claims.toml` calls it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ClaimKind {
        /// A number.
        Value = "value",
        /// By which share one is below another.
        Reduction = "reduction",
        /// How many times one is another.
        Ratio = "ratio",
        /// Which of several is larger.
        Ordering = "ordering",
        /// Something does not depend on a parameter.
        Flat = "flat",
        /// Something rises or falls with a parameter.
        Monotone = "monotone",
        /// Two are the same.
        Equal = "equal",
        /// A bound.
        Limit = "limit",
        /// Something is proportional to a parameter.
        Linear = "linear",
        /// It is larger or smaller than in another experiment.
        Contrast = "contrast",
        /// What runs cannot show.
        NotMeasured = "not-measured",
    }
}

impl ClaimKind {
    /// The keys that it takes besides those that all take.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Value => &["of", "over", "pick", "paper", "margin"],
            Self::Reduction => &["of", "against", "over", "pick", "paper", "margin"],
            Self::Ratio => &["of", "against", "over", "pick", "paper", "inverse", "margin"],
            Self::Ordering => &["order", "strict", "over", "margin"],
            Self::Flat => &["of", "against", "over", "paper", "margin"],
            Self::Monotone => &["of", "against", "over", "direction"],
            Self::Equal => &["of", "against", "over", "pick", "margin"],
            Self::Limit => &["of", "against", "over", "pick", "paper", "bound"],
            Self::Linear => &["of", "against", "over"],
            Self::Contrast => &["of", "against", "over", "than", "than-metric", "direction"],
            Self::NotMeasured => &["why"],
        }
    }

    /// Whether it is about `of`, or about `of` divided by `against` where that is given.
    pub(crate) const fn may_divide(self) -> bool {
        matches!(self, Self::Flat | Self::Monotone | Self::Linear | Self::Limit)
    }

    /// The margin of claims that state none.
    pub(crate) const fn default_margin(self) -> f64 {
        match self {
            Self::Value | Self::Equal => 0.10,
            Self::Reduction | Self::Ratio => 0.25,
            Self::Ordering
            | Self::Flat
            | Self::Monotone
            | Self::Limit
            | Self::Linear
            | Self::Contrast
            | Self::NotMeasured => 0.0,
        }
    }
}

weir_core::words! {
    /// What counts when a claim is about several points or several others to compare with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pick {
        /// Every one has to do; the worst decides.
        Each = "each",
        /// The largest: "up to".
        Max = "max",
        /// The smallest: "at least".
        Min = "min",
        /// The mean.
        Mean = "mean",
        /// The smallest and the largest, against two numbers.
        Range = "range",
    }
}
