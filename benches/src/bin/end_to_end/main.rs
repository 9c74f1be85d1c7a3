//! Whole tasks over HTTP, from the call to the result.
//!
//! `end_to_end serve [--database FILE]` serves the tool `add` on a free port of loopback and prints its URL; without a file
//! tasks are kept in memory. `end_to_end load URL [--tasks N] [--clients N]` runs tasks there, in turn on each connection,
//! and prints a line of JSON. `end_to_end soak [--minutes N] [--database FILE]` does both for so long, at 100 tasks and 1,000
//! polls a second, and says how much memory the serving process has each half minute.

mod client;
mod load;
mod serve;
mod soak;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = Given(&arguments);
    match arguments.first().map(String::as_str) {
        Some("serve") => serve::run(given.text("--database")),
        Some("load") => load::run(&arguments[1], given.number("--tasks", 2_000), given.number("--clients", 16)),
        Some("soak") => return soak::run(given.number("--minutes", 10), given.text("--database")),
        _ => {
            eprintln!("end_to_end serve | load URL | soak");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The options of the command line.
struct Given<'a>(&'a [String]);

impl<'a> Given<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|argument| argument == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    fn number(&self, name: &str, or: usize) -> usize {
        self.text(name).map_or(or, |text| text.parse().expect("a number"))
    }
}
