//! The PostgreSQL store, on a cluster that the test command brings: see `tests/services/postgres.py`.

mod away;
mod cluster;
mod contents;
mod nodes;
mod opening;
mod proxy;
mod support;

use mcp_tasks::store::conformance::{self, Sizes};

/// The contract of `TaskStore`, as every store is held to it.
#[test]
fn it_keeps_the_contract() {
    if support::url().is_some() {
        conformance::run(&support::Postgres, &Sizes { cases: 8, rounds: 8, ..Sizes::default() });
    }
}
