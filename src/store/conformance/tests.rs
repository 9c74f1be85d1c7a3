//! The suite on the memory store, which must pass, and on stores with planted faults, which must not.

use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    clock::{Clock, ManualClock, UnixMillis},
    store::memory::MemoryStore,
};

/// Opens stores with `open`, once for each connection.
pub(super) struct Opened<F>(pub F);

struct One<F> {
    clock: ManualClock,
    inner: Arc<dyn TaskStore>,
    open: F,
}

impl<F> Harness for Opened<F>
where
    F: Fn(&ManualClock, &Arc<dyn TaskStore>) -> Arc<dyn TaskStore> + Clone + Send + Sync + 'static,
{
    fn fresh(&self) -> BoxFuture<'_, Box<dyn Subject>> {
        let clock = ManualClock::default();
        let inner = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        let open = self.0.clone();
        Box::pin(async move { Box::new(One { clock, inner, open }) as Box<dyn Subject> })
    }
}

impl<F> Subject for One<F>
where
    F: Fn(&ManualClock, &Arc<dyn TaskStore>) -> Arc<dyn TaskStore> + Send + Sync,
{
    fn open(&self) -> BoxFuture<'_, Arc<dyn TaskStore>> {
        Box::pin(async { (self.open)(&self.clock, &self.inner) })
    }

    fn advance(&self, step: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(step);
        Box::pin(async {})
    }

    fn set_back(&self, step: Duration) -> BoxFuture<'_, ()> {
        let before = self.clock.now().since(UnixMillis::new(0)).saturating_sub(step);
        self.clock.set(UnixMillis::new(0).plus(before));
        Box::pin(async {})
    }

    fn drift(&self) -> Duration {
        Duration::ZERO
    }
}

fn memory() -> impl Harness {
    Opened(|_: &ManualClock, inner: &Arc<dyn TaskStore>| Arc::clone(inner))
}

#[test]
fn the_memory_store_keeps_every_clause() {
    examples(&memory());
}

#[test]
fn the_memory_store_is_as_the_model() {
    sequential(&memory(), &Sizes { cases: 256, ..Sizes::default() });
}

#[test]
fn calls_on_the_memory_store_have_an_order() {
    concurrent(&memory(), &Sizes::default());
}
