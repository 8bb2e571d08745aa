//! Exit codes.

/// How a command ends. The numbers are documented in the help and in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// 0
    Done,
    /// 1
    CheckFailed,
    /// 2
    BadInput,
    /// 3
    InvalidRun,
    /// 130
    Interrupted,
}

impl Status {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CheckFailed => 1,
            Self::BadInput => 2,
            Self::InvalidRun => 3,
            Self::Interrupted => 130,
        }
    }
}
