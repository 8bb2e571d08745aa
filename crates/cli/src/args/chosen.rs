//! Which variant of a scenario a command is about.

use clap::Args;
use weir_results::lineup::Request;

/// The variant that is chosen, or the scheme and congestion control in place of the scenario's.
#[derive(Args, Debug)]
pub(crate) struct VariantArgs {
    /// Flow control scheme instead of the scenario's
    #[arg(long, value_name = "NAME", conflicts_with = "variant")]
    pub scheme: Option<String>,
    /// The label of a variant of the scenario, or a variant as in `weir compare`
    #[arg(long, value_name = "VARIANT")]
    pub variant: Option<String>,
    /// Congestion control instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
}

impl VariantArgs {
    /// Whether a variant or a scheme is named, so that those of the scenario are not meant.
    pub(crate) fn is_one(&self) -> bool {
        self.scheme.is_some() || self.variant.is_some()
    }

    /// What asks for it, in a scenario with these changes.
    pub(crate) fn request<'a>(&'a self, sets: &'a [String]) -> Request<'a> {
        Request {
            sets,
            schemes: self.scheme.as_slice(),
            variants: self.variant.as_slice(),
            cc: self.cc.as_deref(),
            ..Request::default()
        }
    }
}
