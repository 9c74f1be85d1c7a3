//! Several connections that call at the same moment: is there an order of the calls that explains what they were told and
//! what the store then holds?

use std::sync::Arc;

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use tokio::{sync::Barrier, task::JoinSet};

use super::{
    Harness, Sizes, Subject, block_on,
    call::{Call, Reply},
    compare::{Dates, Strictness, judge},
    generate::{TICK, calls, clashes, minutes},
    model::Model,
    sequential::{look, shifted},
};
use crate::store::TaskStore;

/// How often the connections call in one round.
const CLASHES: usize = 24;

/// Lets several connections call at the same moment, again and again.
///
/// # Panics
/// If no order of the calls explains the outcome; the message has the calls, what they were told, and what was left.
pub fn concurrent(harness: &dyn Harness, sizes: &Sizes) {
    let mut runner = sizes.runner();
    for round in 0..sizes.rounds {
        if let Err(why) = block_on(play(harness, &mut runner, sizes.connections.clamp(2, 4))) {
            panic!("connections that call at the same moment: {why}\nseed {}, round {round}", sizes.seed);
        }
    }
}

fn pick<T>(runner: &mut TestRunner, strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(runner).unwrap_or_else(|why| panic!("nothing to choose from: {why}")).current()
}

async fn play(harness: &dyn Harness, runner: &mut TestRunner, connections: usize) -> Result<(), String> {
    let subject = harness.fresh().await;
    let mut stores = Vec::new();
    for _ in 0..connections {
        stores.push(subject.open().await);
    }
    let mut run = Run { dates: Dates::new(subject.drift()), model: Model::new(), stores };
    for _ in 0..CLASHES {
        // What one connection does alone makes tasks of many kinds for the others to meet at.
        for _ in 0..3 {
            let call = pick(runner, calls(&run.model));
            run.clash(&*subject, &[call]).await?;
        }
        let calls = pick(runner, clashes(&run.model, connections));
        run.clash(&*subject, &calls).await?;
        if pick(runner, 0..6) == 0 {
            let step = pick(runner, minutes(&[1, 5, 10, 30]));
            subject.advance(step).await;
            run.model.advance(step);
        }
    }
    Ok(())
}

struct Run {
    model: Model,
    dates: Dates,
    stores: Vec<Arc<dyn TaskStore>>,
}

impl Run {
    async fn clash(&mut self, subject: &dyn Subject, calls: &[Call]) -> Result<(), String> {
        subject.advance(TICK).await;
        self.model.advance(TICK);
        let told = self.make(calls).await?;
        for (_, reply) in &told {
            self.dates.learn(reply, self.model.now);
        }
        let mut reasons = Vec::new();
        for order in orders(told.len()) {
            match self.explain(&told, &order).await {
                Ok((model, dates)) => {
                    (self.model, self.dates) = (model, dates);
                    return Ok(());
                }
                Err(why) => reasons.push(format!("  {order:?}: {why}")),
            }
        }
        let told: Vec<String> = told.iter().map(|(call, reply)| format!("  {call:?}\n    {reply:?}")).collect();
        Err(format!("no order explains\n{}\nwhy:\n{}", told.join("\n"), reasons.join("\n")))
    }

    /// Makes all the calls at the same moment, each on a connection of its own.
    async fn make(&self, calls: &[Call]) -> Result<Vec<(Call, Reply)>, String> {
        let barrier = Arc::new(Barrier::new(calls.len()));
        let mut running = JoinSet::new();
        for (at, (call, store)) in calls.iter().zip(&self.stores).enumerate() {
            let made = shifted(call, &self.dates, &self.model);
            let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
            running.spawn(async move {
                barrier.wait().await;
                (at, made.make(&*store).await)
            });
        }
        let mut replies: Vec<(usize, Result<Reply, String>)> = running.join_all().await;
        replies.sort_by_key(|(at, _)| *at);
        replies.into_iter().map(|(at, reply)| reply.map(|reply| (calls[at].clone(), reply))).collect()
    }

    /// The model after the calls in this order, if that is what the store has come to.
    async fn explain(&self, told: &[(Call, Reply)], order: &[usize]) -> Result<(Model, Dates), String> {
        let (mut model, mut dates) = (self.model.clone(), self.dates.clone());
        let how = if told.len() > 1 { Strictness::Together } else { Strictness::Alone };
        for at in order {
            let (call, reply) = &told[*at];
            judge(&mut model, call, reply, &dates, how).map_err(|why| format!("call {at}: {why}"))?;
        }
        look(&mut dates, &model, &*self.stores[0]).await?;
        Ok((model, dates))
    }
}

/// All orders of so many calls.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for next in 0..count {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
    }
    all
}
