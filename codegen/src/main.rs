//! The command line of the generator.
//!
//! Exit codes: 0 done; 1 the input has faults, or `check` found drift; 2 the arguments are wrong; 3 a file could not be
//! written; 4 `diff` found what `--fail-on` names.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
