//! How many cases a property is run with.
//!
//! By default a fixed number, so that a plain `cargo test` is quick. `MCP_TASKS_FUZZ_SECONDS` buys more: rounds are run
//! until the time is used up, all properties together taking about that much of one processor.

use std::time::{Duration, Instant};

/// Between so many properties the time is divided.
const PROPERTIES: u32 = 4;

/// The rounds of one property; there is always at least one.
pub struct Rounds {
    ends: Option<Instant>,
    begun: bool,
}

/// The rounds that the environment allows.
pub fn rounds() -> Rounds {
    let seconds = std::env::var("MCP_TASKS_FUZZ_SECONDS").ok().map(|text| {
        text.parse::<u32>().unwrap_or_else(|_| panic!("MCP_TASKS_FUZZ_SECONDS is a number of seconds, not {text:?}"))
    });
    let share = seconds.map(|seconds| Duration::from_secs(seconds.into()) / PROPERTIES);
    Rounds { ends: share.map(|share| Instant::now() + share), begun: false }
}

impl Iterator for Rounds {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        (first || self.ends.is_some_and(|ends| Instant::now() < ends)).then_some(())
    }
}
