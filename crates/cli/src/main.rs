//! The `weir` command.

use std::process::ExitCode;
use weir::Weir;

/// Small tables of thousands of nodes lie closer together with it than with the system's
/// allocator, which is worth about a tenth of a simulation's time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Weir::new().main()
}
