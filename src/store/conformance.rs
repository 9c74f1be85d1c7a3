//! The conformance suite of [`TaskStore`]: what the contract says, as tests that run on any store (feature
//! `test-support`).
//!
//! Tell the suite how to make an empty store and how to move its time ([`Harness`], [`Subject`]), and call [`run`] from a
//! plain `#[test]`, one without a runtime. It panics at the first thing that the contract does not allow, and says which.
//!
//! - [`examples()`]: a clause of the contract each, on two connections.
//! - [`sequential()`]: random calls and steps of time against a model that is a plain map of records.
//! - [`concurrent()`]: several connections call at the same moment; what they are told, and what the store then holds, must
//!   equal the outcome of some order of the calls.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//!
//! use mcp_tasks::{
//!     clock::{BoxFuture, Clock, ManualClock, UnixMillis},
//!     store::{
//!         TaskStore,
//!         conformance::{self, Harness, Sizes, Subject},
//!         memory::MemoryStore,
//!     },
//! };
//!
//! struct InMemory;
//!
//! struct Empty {
//!     clock: ManualClock,
//!     store: Arc<MemoryStore>,
//! }
//!
//! impl Harness for InMemory {
//!     fn fresh(&self) -> BoxFuture<'_, Box<dyn Subject>> {
//!         let clock = ManualClock::default();
//!         let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
//!         Box::pin(async { Box::new(Empty { clock, store }) as Box<dyn Subject> })
//!     }
//! }
//!
//! impl Subject for Empty {
//!     fn open(&self) -> BoxFuture<'_, Arc<dyn TaskStore>> {
//!         let store: Arc<dyn TaskStore> = self.store.clone();
//!         Box::pin(async { store })
//!     }
//!
//!     fn advance(&self, step: Duration) -> BoxFuture<'_, ()> {
//!         self.clock.advance(step);
//!         Box::pin(async {})
//!     }
//!
//!     fn set_back(&self, step: Duration) -> BoxFuture<'_, ()> {
//!         self.clock.set(UnixMillis::new(self.clock.now().get() - step.as_millis() as u64));
//!         Box::pin(async {})
//!     }
//!
//!     fn drift(&self) -> Duration {
//!         Duration::ZERO
//!     }
//! }
//!
//! conformance::run(&InMemory, &Sizes { cases: 4, rounds: 4, ..Sizes::default() });
//! ```

mod call;
mod compare;
mod concurrent;
mod examples;
mod generate;
mod model;
#[cfg(test)]
mod planted;
mod sequential;
#[cfg(test)]
mod tests;

use std::{env, future::Future, sync::Arc, time::Duration};

use proptest::test_runner::{Config, RngSeed, TestRunner};

pub use self::{concurrent::concurrent, examples::examples, sequential::sequential};
use crate::{clock::BoxFuture, store::TaskStore};

/// Makes stores to test.
pub trait Harness: Sync {
    /// An empty store of its own. Called from within the tokio runtime that all its calls are then made from.
    fn fresh(&self) -> BoxFuture<'_, Box<dyn Subject>>;
}

/// One store under test. It goes with this value: files, schemas, what it started.
pub trait Subject: Send + Sync {
    /// Another way to the same tasks: a connection, a node. All of them tell the same time.
    ///
    /// The suite drops all it was given and then asks for more: so a store that outlives its process is restarted.
    fn open(&self) -> BoxFuture<'_, Arc<dyn TaskStore>>;

    /// Moves the store's time on by `step`: whole milliseconds, up to hours.
    fn advance(&self, step: Duration) -> BoxFuture<'_, ()>;

    /// Sets the store's time back by `step`.
    fn set_back(&self, step: Duration) -> BoxFuture<'_, ()>;

    /// How far the store's time may move by itself while one case runs; zero if it stands. Less than half a minute.
    fn drift(&self) -> Duration;
}

/// How much is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// Random sequences, each on a fresh store.
    pub cases: u32,
    /// Calls and steps of time in the longest sequence.
    pub steps: usize,
    /// Fresh stores on which connections make calls at the same moment.
    pub rounds: u32,
    /// How many connections there are then: 2 to 4.
    pub connections: usize,
    /// What the random choices start from. The same seed makes the same choices; the outcome of calls at the same moment
    /// is the store's.
    pub seed: u64,
}

impl Default for Sizes {
    /// Some seconds on a fast store. The seed is 2663, or the environment's `MCP_TASKS_SEED`.
    fn default() -> Self {
        let seed = env::var("MCP_TASKS_SEED").ok().and_then(|seed| seed.parse().ok());
        Self { cases: 64, steps: 60, rounds: 32, connections: 3, seed: seed.unwrap_or(2663) }
    }
}

impl Sizes {
    /// Ten times as much: by hand, after a change to a store.
    #[must_use]
    pub fn thorough() -> Self {
        let usual = Self::default();
        Self { cases: usual.cases * 10, rounds: usual.rounds * 10, connections: 4, ..usual }
    }

    fn runner(&self) -> TestRunner {
        TestRunner::new(Config {
            cases: self.cases,
            rng_seed: RngSeed::Fixed(self.seed),
            failure_persistence: None,
            max_shrink_iters: 256,
            ..Config::default()
        })
    }
}

/// Runs the whole suite: [`examples()`], [`sequential()`], [`concurrent()`]. Makes a runtime of its own.
///
/// # Panics
/// If the store breaks the contract; the message names the clause, the seed and the calls.
pub fn run(harness: &dyn Harness, sizes: &Sizes) {
    examples(harness);
    sequential(harness, sizes);
    concurrent(harness, sizes);
}

/// Runs `work` to its end on a runtime with two threads, so that connections do act at the same moment.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap_or_else(|error| panic!("no runtime for the conformance suite: {error}")).block_on(work)
}
