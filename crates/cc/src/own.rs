//! A congestion control that is not in this crate.

use crate::control::{CongestionControl, Needs, Path};
use std::fmt;
use std::sync::Arc;

type Start = dyn Fn(&Path) -> Box<dyn CongestionControl> + Send + Sync;

/// A user-defined algorithm: its name, its signals and how a flow starts.
///
/// ```
/// use weir_cc::{CcParams, OwnCc, dctcp::{Dctcp, DctcpParams}};
///
/// let params = DctcpParams::default();
/// let mine = CcParams::Own(OwnCc::new("mine", move |path| Dctcp::new(&params, path)));
/// assert!(mine.needs().marks);
/// assert_eq!(mine.name(), "mine");
/// ```
///
/// Marks come back on ACKs: receivers send no notification packets for it.
#[derive(Clone)]
pub struct OwnCc {
    name: &'static str,
    needs: Needs,
    start: Arc<Start>,
}

impl OwnCc {
    /// The algorithm `C`, of which `start` makes the state of a flow.
    pub fn new<C: CongestionControl + 'static>(
        name: &'static str,
        start: impl Fn(&Path) -> C + Send + Sync + 'static,
    ) -> Self {
        Self { name, needs: C::needs(), start: Arc::new(move |path| Box::new(start(path))) }
    }

    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it reacts to.
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// The state of a flow that starts on `path`.
    pub fn start(&self, path: &Path) -> Box<dyn CongestionControl> {
        (self.start)(path)
    }
}

impl fmt::Debug for OwnCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnCc").field("name", &self.name).field("needs", &self.needs).finish()
    }
}

/// Two are the same when one is a copy of the other.
impl PartialEq for OwnCc {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.start, &other.start)
    }
}
