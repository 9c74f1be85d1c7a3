//! The engine on a memory store and a manual clock: no wire, no sleeping.
#![allow(missing_docs, reason = "tests are described where they stand")]

mod cancel;
mod create;
mod expiry;
mod faults;
mod input;
mod leases;
mod lifecycle;
mod limits;
mod metrics;
mod nodes;
mod onward;
mod promotion;
mod states;
mod support;
mod tools;
mod watch;
mod who;
