//! `FaultyStore`: a store that fails as stores do, when it is told to or by chance (feature `test-support`).
//!
//! It is for tests of what stands on a store: calls that do nothing, calls that do what they should and do not say so,
//! slow ones, and hints that are lost, doubled or out of order.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::broadcast;

use crate::{
    clock::Clock,
    error::StoreError,
    input::InputKey,
    limits::Quota,
    store::{Heard, Hints, Lease, Operation, Reaped, Renewed, StoreFuture, TaskStore, Written},
    task::{Epoch, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done: [`StoreError::Unavailable`].
    Before,
    /// It is done, and nobody knows: [`StoreError::Ambiguous`].
    After,
    /// It is done after this time.
    Slow(Duration),
    /// It is done at once, and answered after this time.
    Late(Duration),
}

/// How often calls fail by chance: so many in a thousand of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// [`Fault::Before`].
    pub before: u32,
    /// [`Fault::After`].
    pub after: u32,
    /// [`Fault::Slow`] and [`Fault::Late`], as many of each.
    pub delayed: u32,
    /// The longest delay.
    pub delay: Duration,
    /// Hints that never arrive.
    pub lost_hints: u32,
    /// Hints that arrive twice.
    pub doubled_hints: u32,
    /// Hints that arrive after the next one.
    pub swapped_hints: u32,
}

/// A store around another one. Without a script, chance or [`break_down`](Self::break_down) it is that other one.
pub struct FaultyStore<S: ?Sized> {
    inner: Arc<S>,
    clock: Arc<dyn Clock>,
    plan: Arc<Mutex<Plan>>,
    /// What is listened to while hints are lost.
    silence: broadcast::Sender<Heard>,
}

#[derive(Default)]
struct Plan {
    broken: bool,
    deaf: bool,
    scripts: HashMap<Operation, VecDeque<Option<Fault>>>,
    rates: Rates,
    chance: u64,
    calls: HashMap<Operation, usize>,
}

impl<S: TaskStore + ?Sized> FaultyStore<S> {
    /// A store around `inner`. Delays go by `clock`.
    pub fn new(inner: Arc<S>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, clock, plan: Arc::default(), silence: broadcast::Sender::new(8) }
    }

    /// The store within, where nothing goes wrong.
    pub fn inner(&self) -> &Arc<S> {
        &self.inner
    }

    /// From now on until it is called with `false`, every call fails before it does anything.
    pub fn break_down(&self, broken: bool) {
        self.plan().broken = broken;
    }

    /// Whoever [watches](TaskStore::watch) from now on hears nothing.
    pub fn lose_hints(&self) {
        self.plan().deaf = true;
    }

    /// Says in the place of lost hints that some were lost.
    pub fn miss_hints(&self) {
        // An error means that nobody watches.
        let _ = self.silence.send(Heard::Missed);
    }

    /// What the next calls of this kind meet, in order; `None` is none. Adds to what was said before.
    pub fn script(&self, operation: Operation, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.plan().scripts.entry(operation).or_default().extend(faults);
    }

    /// From now on, calls without a script fail by chance. The same `seed` and the same calls make the same faults.
    pub fn chance(&self, rates: Rates, seed: u64) {
        let mut plan = self.plan();
        plan.rates = rates;
        plan.chance = seed;
    }

    /// How many calls of this kind were made, failed ones included.
    pub fn calls(&self, operation: Operation) -> usize {
        self.plan().calls.get(&operation).copied().unwrap_or_default()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call<'a, T: Send + 'a>(&'a self, operation: Operation, made: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let fault = self.plan().next(operation);
        Box::pin(async move {
            match fault {
                None => made.await,
                Some(Fault::Before) => Err(StoreError::Unavailable { cause: "SECRET connection refused".into() }),
                Some(Fault::After) => {
                    made.await?;
                    Err(StoreError::Ambiguous { cause: "SECRET connection reset".into() })
                }
                Some(Fault::Slow(delay)) => {
                    self.clock.sleep_until(self.clock.now().plus(delay)).await;
                    made.await
                }
                Some(Fault::Late(delay)) => {
                    let done = made.await;
                    self.clock.sleep_until(self.clock.now().plus(delay)).await;
                    done
                }
            }
        })
    }
}

impl Plan {
    fn next(&mut self, operation: Operation) -> Option<Fault> {
        *self.calls.entry(operation).or_default() += 1;
        if self.broken {
            return Some(Fault::Before);
        }
        match self.scripts.get_mut(&operation).and_then(VecDeque::pop_front) {
            Some(scripted) => scripted,
            None => self.by_chance(),
        }
    }

    fn by_chance(&mut self) -> Option<Fault> {
        let Rates { before, after, delayed, delay, .. } = self.rates;
        let drawn = self.draw(1000);
        let delay = Duration::from_millis(u64::from(self.draw(u32::try_from(delay.as_millis()).unwrap_or(u32::MAX))));
        [(before, Fault::Before), (after, Fault::After), (delayed, Fault::Slow(delay)), (delayed, Fault::Late(delay))]
            .into_iter()
            .scan(0, |sum, (rate, fault)| {
                *sum += rate;
                Some((*sum, fault))
            })
            .find(|(sum, _)| drawn < *sum)
            .map(|(_, fault)| fault)
    }

    /// A number below `bound`, or 0 (splitmix64).
    fn draw(&mut self, bound: u32) -> u32 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 33) as u32 % bound.max(1)
    }

    /// What becomes of a hint: how often it arrives, and whether after the next one.
    fn passes(&mut self) -> (usize, bool) {
        let drawn = self.draw(1000);
        let Rates { lost_hints: lost, doubled_hints: doubled, swapped_hints: swapped, .. } = self.rates;
        match drawn {
            _ if drawn < lost => (0, false),
            _ if drawn < lost + doubled => (2, false),
            _ => (1, drawn < lost + doubled + swapped),
        }
    }
}

/// Passes hints on, and does to them what the plan says.
async fn distort(mut from: Hints, to: broadcast::Sender<Heard>, plan: Arc<Mutex<Plan>>) {
    let mut held_back = None;
    while let Some(heard) = from.next().await {
        let (times, late) = plan.lock().unwrap_or_else(PoisonError::into_inner).passes();
        if late && held_back.is_none() {
            held_back = Some(heard);
            continue;
        }
        for heard in std::iter::repeat_n(heard, times).chain(held_back.take()) {
            if to.send(heard).is_err() {
                return;
            }
        }
    }
}

impl<S: TaskStore + ?Sized> TaskStore for FaultyStore<S> {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        self.call(Operation::Create, Box::pin(async move { self.inner.create(id, task, lease, quota).await }))
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        self.call(Operation::Get, Box::pin(async move { self.inner.get(id).await }))
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        self.call(Operation::Respond, Box::pin(async move { self.inner.respond(id, responses).await }))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        self.call(Operation::RequestCancel, Box::pin(async move { self.inner.request_cancel(id).await }))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        self.call(Operation::Claim, Box::pin(async move { self.inner.claim(lease, targets, limit).await }))
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        self.call(Operation::Renew, Box::pin(async move { self.inner.renew(lease, held).await }))
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        self.call(Operation::Commit, Box::pin(async move { self.inner.commit(id, epoch, mutation).await }))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        self.call(Operation::Input, Box::pin(async move { self.inner.input(id, key).await }))
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        self.call(Operation::Reap, Box::pin(async move { self.inner.reap(limit).await }))
    }

    /// Called on a tokio runtime where hints are distorted: a task of it passes them on.
    fn watch(&self) -> Hints {
        let (deaf, rates) = {
            let plan = self.plan();
            (plan.deaf, plan.rates)
        };
        if deaf {
            return Hints::new(self.silence.subscribe());
        }
        if rates.lost_hints + rates.doubled_hints + rates.swapped_hints == 0 {
            return self.inner.watch();
        }
        let (to, hints) = broadcast::channel(1024);
        tokio::spawn(distort(self.inner.watch(), to, Arc::clone(&self.plan)));
        Hints::new(hints)
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        self.call(Operation::Revs, Box::pin(async move { self.inner.revs(ids).await }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::ManualClock,
        principal::Principal,
        store::{WorkerId, memory::MemoryStore},
        task::{Refusal, Settlement},
    };

    fn store() -> (ManualClock, FaultyStore<MemoryStore>) {
        let clock = ManualClock::default();
        let inner = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        (clock.clone(), FaultyStore::new(inner, Arc::new(clock)))
    }

    fn task() -> NewTask {
        NewTask::new(Principal::local(), Arc::new(Target::new("tools/call", "tool", "1")), Bytes::from_static(b"{}"))
    }

    async fn create(store: &FaultyStore<MemoryStore>, bits: u128) -> Result<Arc<TaskRecord>, StoreError> {
        let lease = Lease { worker: WorkerId(1), period: Duration::from_secs(60) };
        store.create(TaskId::from_bits(bits), task(), Some(lease), &Quota::UNLIMITED).await
    }

    #[tokio::test]
    async fn a_script_says_what_fails_and_what_was_done() {
        let (_, store) = store();
        store.script(Operation::Create, [Some(Fault::Before), Some(Fault::After), None]);
        assert!(matches!(create(&store, 1).await, Err(StoreError::Unavailable { .. })));
        assert_eq!(store.inner().len(), 0);
        assert!(matches!(create(&store, 1).await, Err(StoreError::Ambiguous { .. })));
        assert_eq!(store.inner().len(), 1);
        assert!(create(&store, 1).await.is_ok() && create(&store, 1).await.is_ok());
        assert_eq!(store.calls(Operation::Create), 4);
        store.break_down(true);
        assert!(matches!(store.get(TaskId::from_bits(1)).await, Err(StoreError::Unavailable { .. })));
    }

    #[tokio::test]
    async fn delays_are_before_or_after_the_deed() {
        let (clock, store) = store();
        let delay = Duration::from_secs(1);
        for (bits, fault, held) in [(1, Fault::Slow(delay), 0), (2, Fault::Late(delay), 2)] {
            store.script(Operation::Create, [Some(fault)]);
            let (created, ()) = tokio::join!(create(&store, bits), async {
                clock.sleepers(1).await;
                assert_eq!(store.inner().len(), held);
                clock.advance(delay);
            });
            assert!(created.is_ok());
        }
    }

    #[tokio::test]
    async fn a_seed_makes_the_same_faults_again() {
        let mut outcomes = Vec::new();
        for _ in 0..2 {
            let (_, store) = store();
            store.chance(Rates { before: 300, after: 300, ..Rates::default() }, 7);
            let mut outcome = String::new();
            for bits in 0..50 {
                outcome += match create(&store, bits).await {
                    Ok(_) => "+",
                    Err(StoreError::Ambiguous { .. }) => "?",
                    Err(_) => "-",
                };
            }
            outcomes.push(outcome);
        }
        assert_eq!(outcomes[0], outcomes[1]);
        assert!(["+", "?", "-"].iter().all(|kind| outcomes[0].contains(kind)), "{}", outcomes[0]);
    }

    #[tokio::test]
    async fn hints_are_lost_doubled_and_swapped() {
        let (_, store) = store();
        store.chance(Rates { lost_hints: 200, doubled_hints: 200, swapped_hints: 200, ..Rates::default() }, 7);
        let mut hints = store.watch();
        let mut given = Vec::new();
        for bits in 0..50 {
            let record = create(&store, bits).await.expect("no call fails");
            let ended = store.inner().commit(record.id, record.epoch, &Mutation::Settle(Settlement::Cancelled)).await;
            assert!(!matches!(ended, Ok(Written::Refused(Refusal::Settled))));
            given.push(record.id.to_bits());
        }
        tokio::task::yield_now().await;
        drop(store);
        let mut heard = Vec::new();
        while let Some(next) = hints.next().await {
            if let Heard::Hint(hint) = next {
                heard.push(hint.id.to_bits());
            }
        }
        assert!(given.iter().any(|id| !heard.contains(id)), "none was lost: {heard:?}");
        assert!(heard.windows(2).any(|pair| pair[0] == pair[1]), "none was doubled: {heard:?}");
        assert!(heard.windows(2).any(|pair| pair[0] > pair[1]), "none was swapped: {heard:?}");
    }
}
