//! Random sequences of calls and steps of time on one store, each reply and each state compared with the model's.

use std::sync::{Arc, atomic::Ordering};

use proptest::test_runner::{TestCaseError, TestError};
use proptest_state_machine::ReferenceStateMachine;

use super::{
    Harness, Sizes, Subject, block_on,
    call::Call,
    compare::{Dates, Strictness, judge},
    generate::{Move, Sequences, TICK},
    model::Model,
};
use crate::{store::TaskStore, task_id::TaskId};

/// Compares random sequences of calls, on two connections in turn, with the model.
///
/// # Panics
/// If a store says or holds something else than the model; the message has the shortest sequence that was found.
pub fn sequential(harness: &dyn Harness, sizes: &Sizes) {
    let strategy = Sequences::sequential_strategy(1..sizes.steps.max(2));
    let outcome = sizes.runner().run(&strategy, |(model, moves, seen)| {
        let count = || {
            if let Some(seen) = &seen {
                seen.fetch_add(1, Ordering::SeqCst);
            }
        };
        block_on(play(harness, model, &moves, count)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (_, moves, _))) => {
            let moves: Vec<String> = moves.iter().map(|step| format!("  {step:?}\n")).collect();
            panic!("the store is not as the model: {why}\nseed {}, calls:\n{}", sizes.seed, moves.concat());
        }
        Err(aborted) => panic!("the store is not as the model: {aborted:?}"),
    }
}

async fn play(harness: &dyn Harness, model: Model, moves: &[Move], count: impl Fn()) -> Result<(), String> {
    let subject = harness.fresh().await;
    let mut run = Run { dates: Dates::new(subject.drift()), model, stores: Vec::new() };
    for step in moves {
        count();
        run.step(&*subject, step).await.map_err(|why| format!("{step:?}: {why}"))?;
    }
    Ok(())
}

struct Run {
    model: Model,
    dates: Dates,
    /// Two connections, used in turn.
    stores: Vec<Arc<dyn TaskStore>>,
}

impl Run {
    async fn step(&mut self, subject: &dyn Subject, step: &Move) -> Result<(), String> {
        while self.stores.len() < 2 {
            self.stores.push(subject.open().await);
        }
        match step {
            Move::Advance(step) => {
                subject.advance(*step).await;
                self.model.advance(*step);
            }
            Move::Restart => self.stores.clear(),
            Move::Call(call) => {
                subject.advance(TICK).await;
                self.model.advance(TICK);
                self.call(call).await?;
                self.stores.swap(0, 1);
            }
        }
        Ok(())
    }

    async fn call(&mut self, call: &Call) -> Result<(), String> {
        let reply = shifted(call, &self.dates, &self.model).make(&*self.stores[0]).await?;
        self.dates.learn(&reply, self.model.now);
        judge(&mut self.model, call, &reply, &self.dates, Strictness::Alone)?;
        look(&mut self.dates, &self.model, &*self.stores[1]).await
    }
}

/// `call` in the store's time.
pub(super) fn shifted(call: &Call, dates: &Dates, model: &Model) -> Call {
    let offset = match call {
        Call::Commit { id, .. } => dates.offset_of(*id, model),
        _ => dates.offset(),
    };
    call.clone().shifted(offset)
}

/// Compares every task there may be with the model's.
pub(super) async fn look(dates: &mut Dates, model: &Model, store: &dyn TaskStore) -> Result<(), String> {
    for id in (0..8).map(TaskId::from_bits) {
        let real = store.get(id).await.map_err(|error| format!("get failed: {error:?}"))?;
        match (real, model.get(id)) {
            (None, None) => {}
            (Some(real), Some(expected)) => {
                dates.follow(&real, &expected).map_err(|why| format!("afterwards, {id}: {why}"))?;
            }
            (real, expected) => return Err(format!("afterwards, {id} is {real:?}, not {expected:?}")),
        }
    }
    Ok(())
}
