//! The `weir` command with one more scheme.

mod fair;

use std::process::ExitCode;
use weir::Weir;

fn main() -> ExitCode {
    Weir::new().scheme(&fair::INFO).main()
}
