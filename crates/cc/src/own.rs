//! A congestion control that is not in this crate.

use crate::control::{CongestionControl, Needs, Path};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weir_core::registry::{Named, Registry};

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
    summary: &'static str,
    needs: Needs,
    start: Arc<Start>,
}

impl OwnCc {
    /// The algorithm `C`, of which `start` makes the state of a flow.
    pub fn new<C: CongestionControl + 'static>(
        name: &'static str,
        start: impl Fn(&Path) -> C + Send + Sync + 'static,
    ) -> Self {
        let start: Arc<Start> = Arc::new(move |path| Box::new(start(path)));
        Self { name, summary: "An algorithm of this program.", needs: C::needs(), start }
    }

    /// The same with a line on what it is, for lists.
    #[must_use]
    pub fn with_summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// One line on what it is.
    pub const fn summary(&self) -> &'static str {
        self.summary
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

impl Named for OwnCc {
    fn name(&self) -> &str {
        self.name
    }
}

/// Algorithms that a program has added: scenarios choose them by name. (Those that are built in are
/// [`CcKind::ALL`](crate::CcKind::ALL).)
pub static OWN: Registry<OwnCc> = Registry::new(&[]);

/// An algorithm of [`OWN`]. Two are the same when they have the same name.
#[derive(Clone, Copy, Debug)]
pub struct Added(&'static OwnCc);

impl Added {
    pub(crate) const fn new(own: &'static OwnCc) -> Self {
        Self(own)
    }

    /// The algorithm.
    pub const fn get(self) -> &'static OwnCc {
        self.0
    }
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Added {}

impl PartialOrd for Added {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Added {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl Hash for Added {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
