//! Stores with a fault each: proof that the suite can fail.

use std::{
    any::Any,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use tokio::{sync::broadcast, task::yield_now};

use super::{
    Harness, Sizes,
    call::{Call, Reply},
    concurrent, examples,
    model::Model,
    sequential,
    tests::Opened,
};
use crate::{
    clock::{Clock, ManualClock},
    error::StoreError,
    input::InputKey,
    limits::Quota,
    store::{Hints, Lease, Reaped, Renewed, StoreFuture, TaskStore, Written, memory::MemoryStore},
    task::{Epoch, Event, Mutation, NewTask, Rev, Target, TaskRecord, Transition},
    task_id::TaskId,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// Any epoch may write.
    ForgetsFencing,
    /// A second settlement is taken for the first.
    AcceptsSecondSettlement,
    /// Of several answers in one message only one is kept.
    LosesSecondAnswer,
    /// The worker reads the answer that came last.
    LastAnswerWins,
    /// What was read once is read again, whatever time does.
    ReadsStale,
    /// Counts, and then creates.
    CountsQuotaLate,
    /// Takes no notice of keys.
    ForgetsKeys,
    /// Takes tasks of any target.
    ClaimsAnyVersion,
    /// The newest first.
    ClaimsNewestFirst,
    /// Says nothing of cancellations.
    RenewsSilently,
    /// Answers a write with the task as it was.
    AnswersWithThePast,
    /// Has no hints to give.
    Deaf,
    /// Deals with all there is.
    ReapsWithoutLimit,
    /// Stops at its limit without a word.
    ReapsTooLittle,
    /// Each connection has tasks of its own.
    KeepsNothing,
    /// Payloads are parsed and printed.
    ReformatsPayloads,
}

struct Wrong {
    inner: Arc<dyn TaskStore>,
    fault: Fault,
    answers: Mutex<HashMap<(TaskId, InputKey), Bytes>>,
    reads: Mutex<HashMap<TaskId, Arc<TaskRecord>>>,
    created: Mutex<Vec<(TaskId, Arc<Target>)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wrong {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    async fn live(&self) -> usize {
        let ids: Vec<TaskId> = locked(&self.created).iter().map(|(id, _)| *id).collect();
        let mut live = 0;
        for id in ids {
            let open = self.inner.get(id).await.ok().flatten().is_some_and(|record| !record.is_settled());
            live += usize::from(open);
        }
        live
    }
}

impl TaskStore for Wrong {
    fn create<'a>(
        &'a self,
        id: TaskId,
        mut task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        Box::pin(async move {
            if self.is(Fault::ForgetsKeys) {
                task.key = None;
            }
            if self.is(Fault::ReformatsPayloads) {
                let parsed = serde_json::from_slice::<serde_json::Value>(&task.arguments);
                task.arguments = parsed.map(|value| value.to_string().into()).unwrap_or(task.arguments);
            }
            let target = Arc::clone(&task.target);
            let late = Quota { live: usize::MAX, ..*quota };
            let quota = if self.is(Fault::CountsQuotaLate) && self.live().await < quota.live {
                yield_now().await;
                &late
            } else {
                quota
            };
            let created = self.inner.create(id, task, lease, quota).await?;
            locked(&self.created).push((id, target));
            Ok(created)
        })
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        Box::pin(async move {
            let known = locked(&self.reads).get(&id).cloned();
            let read = self.inner.get(id).await?;
            let rev = |record: &Option<Arc<TaskRecord>>| record.as_ref().map(|record| record.is_settled());
            if self.is(Fault::ReadsStale) && rev(&known) == Some(false) && rev(&read) == Some(true) {
                return Ok(known);
            }
            locked(&self.reads).extend(read.clone().map(|record| (id, record)));
            Ok(read)
        })
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        for (key, response) in responses {
            locked(&self.answers).insert((id, key.clone()), response.clone());
        }
        let most = if self.is(Fault::LosesSecondAnswer) { 1 } else { usize::MAX };
        self.inner.respond(id, &responses[..responses.len().min(most)])
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        self.inner.request_cancel(id)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        Box::pin(async move {
            let mut targets = targets.to_vec();
            if self.is(Fault::ClaimsAnyVersion) && !targets.is_empty() {
                targets.extend(locked(&self.created).iter().map(|(_, target)| Arc::clone(target)));
            }
            let mut claimed = self.inner.claim(lease, &targets, limit).await?;
            if self.is(Fault::ClaimsNewestFirst) {
                claimed.reverse();
            }
            Ok(claimed)
        })
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        Box::pin(async move {
            let mut renewed = self.inner.renew(lease, held).await?;
            if self.is(Fault::RenewsSilently) {
                renewed.cancel_requested.clear();
            }
            Ok(renewed)
        })
    }

    fn commit<'a>(&'a self, id: TaskId, mut epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        Box::pin(async move {
            let before = self.inner.get(id).await?;
            if let (true, Some(record)) = (self.is(Fault::ForgetsFencing), &before) {
                epoch = record.epoch;
            }
            let written = self.inner.commit(id, epoch, mutation).await?;
            Ok(match (self.fault, mutation, before, written) {
                (Fault::AcceptsSecondSettlement, Mutation::Settle(_), Some(before), Written::Refused(_))
                    if before.is_settled() =>
                {
                    Written::Stands(before)
                }
                (Fault::AnswersWithThePast, _, Some(before), Written::Stands(_)) => Written::Stands(before),
                (.., written) => written,
            })
        })
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        Box::pin(async move {
            let first = self.inner.input(id, key).await?;
            let last = locked(&self.answers).get(&(id, key.clone())).cloned();
            Ok(if self.is(Fault::LastAnswerWins) { first.and(last) } else { first })
        })
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        Box::pin(async move {
            let limit = if self.is(Fault::ReapsWithoutLimit) { usize::MAX } else { limit };
            let mut reaped = self.inner.reap(limit).await?;
            reaped.more &= !self.is(Fault::ReapsTooLittle);
            Ok(reaped)
        })
    }

    fn watch(&self) -> Hints {
        if self.is(Fault::Deaf) { Hints::new(broadcast::channel(1).1) } else { self.inner.watch() }
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        self.inner.revs(ids)
    }
}

fn wrong(fault: Fault) -> impl Harness {
    Opened(move |clock: &ManualClock, inner: &Arc<dyn TaskStore>| -> Arc<dyn TaskStore> {
        let inner = match fault {
            Fault::KeepsNothing => Arc::new(MemoryStore::new(Arc::new(clock.clone()))),
            _ => Arc::clone(inner),
        };
        Arc::new(Wrong { inner, fault, answers: Mutex::default(), reads: Mutex::default(), created: Mutex::default() })
    })
}

/// A store that reads, lets others go first, and then writes: right alone, wrong together.
struct Racy {
    model: Arc<Mutex<Model>>,
    clock: ManualClock,
    hints: MemoryStore,
}

impl Racy {
    fn now<T>(&self, look: impl FnOnce(&mut Model) -> T) -> T {
        let mut model = locked(&self.model);
        model.now = self.clock.now();
        look(&mut model)
    }

    fn make(&self, call: Call) -> Reply {
        self.now(|model| model.make(&call))
    }

    fn race<'a>(&'a self, id: TaskId, event: Event<'a>) -> StoreFuture<'a, Written> {
        Box::pin(async move {
            let Some(record) = self.now(|model| model.get(id)) else {
                return Ok(self.now(|model| model.happen(id, &event)));
            };
            yield_now().await;
            let now = self.clock.now();
            Ok(match record.after(&event, now) {
                Transition::Unchanged => Written::Stands(record),
                Transition::Refused(refusal) => Written::Refused(refusal),
                Transition::Changed(next) => {
                    self.now(|model| model.put(&next));
                    Written::Stands(next)
                }
            })
        })
    }
}

macro_rules! told {
    ($reply:expr, $kind:ident) => {{
        let reply = $reply;
        Box::pin(async move {
            match reply {
                Reply::$kind(told) => Ok(told),
                other => unreachable!("{other:?}"),
            }
        })
    }};
}

impl TaskStore for Racy {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        let reply = self.make(Call::Create { id, task: Box::new(task), lease, quota: *quota });
        Box::pin(async move {
            match reply {
                Reply::Record(Some(record)) => Ok(record),
                Reply::TooMany(which) => Err(StoreError::QuotaExceeded(which)),
                other => unreachable!("{other:?}"),
            }
        })
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        told!(self.make(Call::Get(id)), Record)
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        self.race(id, Event::Respond(responses))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        self.race(id, Event::RequestCancel)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        told!(self.make(Call::Claim { lease, targets: targets.to_vec(), limit }), Claimed)
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        told!(self.make(Call::Renew { lease, held: held.to_vec() }), Renewed)
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        self.race(id, Event::Commit { epoch, mutation })
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        told!(self.make(Call::Input(id, key.clone())), Answer)
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        told!(self.make(Call::Reap(limit)), Reaped)
    }

    fn watch(&self) -> Hints {
        self.hints.watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        told!(self.make(Call::Revs(ids.to_vec())), Revs)
    }
}

/// A harness whose connections share one racy store. Which one, the store tells that stands in its place.
fn racy() -> impl Harness {
    type Shared = (Arc<dyn TaskStore>, Arc<Mutex<Model>>);
    let last: Arc<Mutex<Option<Shared>>> = Arc::default();
    Opened(move |clock: &ManualClock, inner: &Arc<dyn TaskStore>| -> Arc<dyn TaskStore> {
        let mut last = locked(&last);
        let shared = last.take().filter(|(of, _)| Arc::ptr_eq(of, inner));
        let (_, model) = last.insert(shared.unwrap_or_else(|| (Arc::clone(inner), Arc::new(Mutex::new(Model::new())))));
        let hints = MemoryStore::new(Arc::new(clock.clone()));
        Arc::new(Racy { model: Arc::clone(model), clock: clock.clone(), hints })
    })
}

/// What the suite says, if it fails.
fn verdict(run: impl FnOnce()) -> Option<String> {
    let caught: Box<dyn Any + Send> = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = caught.downcast_ref::<String>().cloned();
    text.or_else(|| Some((*caught.downcast_ref::<&str>()?).to_owned()))
}

/// Enough to find each fault, whatever the seed; the search ends with the first find.
fn many() -> Sizes {
    Sizes { cases: 2000, rounds: 500, ..Sizes::default() }
}

fn by_examples(harness: &dyn Harness) -> Option<String> {
    verdict(|| examples(harness))
}

fn by_sequences(harness: &dyn Harness) -> Option<String> {
    verdict(|| sequential(harness, &many()))
}

fn by_clashes(harness: &dyn Harness) -> Option<String> {
    verdict(|| concurrent(harness, &many()))
}

/// The examples find every fault that does not need two calls at the same moment.
#[test]
fn the_examples_find_each_fault() {
    use Fault::*;
    for fault in [
        ForgetsFencing,
        AcceptsSecondSettlement,
        LosesSecondAnswer,
        LastAnswerWins,
        ReadsStale,
        ForgetsKeys,
        ClaimsAnyVersion,
        ClaimsNewestFirst,
        RenewsSilently,
        AnswersWithThePast,
        ReapsWithoutLimit,
        ReapsTooLittle,
        KeepsNothing,
        ReformatsPayloads,
    ] {
        assert!(by_examples(&wrong(fault)).is_some(), "{fault:?} was not found");
    }
}

/// So do random sequences, but for what they do not look at: hints, and payloads out of the ordinary.
#[test]
fn random_sequences_find_each_fault() {
    use Fault::*;
    for fault in [
        ForgetsFencing,
        AcceptsSecondSettlement,
        LosesSecondAnswer,
        LastAnswerWins,
        ReadsStale,
        ForgetsKeys,
        ClaimsAnyVersion,
        ClaimsNewestFirst,
        RenewsSilently,
        AnswersWithThePast,
        ReapsTooLittle,
        KeepsNothing,
    ] {
        assert!(by_sequences(&wrong(fault)).is_some(), "{fault:?} was not found");
    }
}

/// What only goes wrong together is found by calls at the same moment, and not by sequences.
#[test]
fn only_calls_at_the_same_moment_find_races() {
    let few = Sizes { cases: 128, ..Sizes::default() };
    assert_eq!(verdict(|| sequential(&racy(), &few)), None);
    let found = by_clashes(&racy()).expect("the race was not found");
    assert!(found.contains("no order explains"), "{found}");
    let late = wrong(Fault::CountsQuotaLate);
    assert!(by_clashes(&late).is_some(), "a quota that is counted late was not found");
}

#[test]
fn a_store_without_hints_is_found() {
    let found = by_examples(&wrong(Fault::Deaf)).expect("it was not found");
    assert!(found.contains("hint"), "{found}");
}

/// A failure says which seed and which calls, and the same seed makes the same choices.
#[test]
fn a_failure_can_be_made_again() {
    let [one, two] = [(); 2].map(|()| by_sequences(&wrong(Fault::LosesSecondAnswer)).expect("it was not found"));
    assert_eq!(one, two);
    assert!(one.contains(&format!("seed {}", many().seed)) && one.contains("Respond"), "{one}");
}
