//! How grave a finding is.

crate::words! {
    /// How grave a finding about an input is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        /// Worth knowing.
        Note = "note",
        /// It can run, but probably not as meant, or only until something changes.
        Warning = "warning",
        /// It cannot run or is refused, or a network that runs so loses or blocks packets.
        Error = "error",
    }
}
