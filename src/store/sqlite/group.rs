//! Group commit: callers queue jobs, one thread does all that wait in one transaction, and nobody is answered before that
//! is durable. Knows nothing of SQL, so that a model checker can run it (`tests.rs`).
//!
//! Guarantees:
//! - a job is answered once, after the transaction that it took part in has ended, and as that ended;
//! - jobs are done in the order in which they were queued;
//! - a job that fails undoes no other: what shared its transaction is done again, each job in one of its own;
//! - a queue that is closed takes no more jobs; those it has are still done;
//! - no more jobs than there is room for wait in a queue: the next caller waits, without holding up its thread.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Semaphore;

/// A mutex and a condition: the one primitive used here. Model checkers bring their own.
pub(super) trait Monitor<T>: Send + Sync {
    fn new(value: T) -> Self;

    /// Changes the value and wakes one who waits.
    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R;

    /// Changes the value and wakes all who wait.
    fn change_for_all<R>(&self, change: impl FnOnce(&mut T) -> R) -> R;

    /// Waits until `ready` gives something.
    fn wait_for<R>(&self, ready: impl FnMut(&mut T) -> Option<R>) -> R;
}

/// The monitor of the standard library.
pub(super) struct StdMonitor<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> StdMonitor<T> {
    /// The value is whole even if a holder panicked: each change is one of a collection's own.
    fn value(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Monitor<T> for StdMonitor<T> {
    fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Condvar::new() }
    }

    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut self.value());
        self.changed.notify_one();
        changed
    }

    fn change_for_all<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut self.value());
        self.changed.notify_all();
        changed
    }

    fn wait_for<R>(&self, mut ready: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut value = self.value();
        loop {
            if let Some(ready) = ready(&mut value) {
                return ready;
            }
            value = self.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Jobs that wait for a thread.
pub(super) struct Queue<J, M = StdMonitor<Waiting<J>>> {
    waiting: M,
    room: Semaphore,
    _job: std::marker::PhantomData<fn(J)>,
}

/// What a queue holds.
pub(super) struct Waiting<J> {
    jobs: VecDeque<J>,
    nudged: bool,
    closed: bool,
}

/// The queue is closed; the job was not taken.
#[derive(Debug)]
pub(super) struct Closed;

impl<J, M: Monitor<Waiting<J>>> Queue<J, M> {
    /// An empty queue with room for so many jobs.
    pub fn new(room: usize) -> Self {
        let waiting = Waiting { jobs: VecDeque::new(), nudged: false, closed: false };
        Self { waiting: M::new(waiting), room: Semaphore::new(room), _job: std::marker::PhantomData }
    }

    /// Queues a job as soon as there is room. If the future is dropped before that, the job is not queued.
    pub async fn submit(&self, job: J) -> Result<(), Closed> {
        let room = self.room.acquire().await.map_err(|_| Closed)?;
        self.waiting.change(|waiting| {
            if waiting.closed {
                return Err(Closed);
            }
            // Given back by whoever takes the job.
            room.forget();
            waiting.jobs.push_back(job);
            Ok(())
        })
    }

    /// Wakes the thread for a batch without jobs.
    pub fn nudge(&self) {
        self.waiting.change(|waiting| waiting.nudged = true);
    }

    /// Takes no more jobs.
    pub fn close(&self) {
        self.room.close();
        self.waiting.change_for_all(|waiting| waiting.closed = true);
    }

    /// All that waits, as soon as something does; `None` once the queue is closed and empty.
    pub fn take_all(&self) -> Option<Vec<J>> {
        let batch = self.waiting.wait_for(|waiting| {
            if waiting.jobs.is_empty() && !waiting.nudged {
                return waiting.closed.then_some(None);
            }
            waiting.nudged = false;
            Some(Some(waiting.jobs.drain(..).collect::<Vec<_>>()))
        })?;
        self.room.add_permits(batch.len());
        Some(batch)
    }

    /// The job that has waited longest; `None` once the queue is closed and empty.
    pub fn take_one(&self) -> Option<J> {
        let job = self.waiting.wait_for(|waiting| match waiting.jobs.pop_front() {
            Some(job) => Some(Some(job)),
            None => waiting.closed.then_some(None),
        })?;
        self.room.add_permits(1);
        Some(job)
    }
}

/// A job that wants to hear what became of it.
pub(super) trait Job<F> {
    /// Its transaction has ended: durable, or with this failure.
    fn answer(self, ended: Result<(), F>);
}

/// Where jobs are done.
pub(super) trait Ledger {
    type Job: Job<Self::Failure>;
    type Failure: Clone;

    /// Does all these jobs in one transaction. When this returns `Ok`, what they did is durable. Without jobs it may look
    /// after itself.
    fn commit(&mut self, jobs: &mut [Self::Job]) -> Result<(), Failed<Self::Failure>>;
}

/// Why a transaction failed.
#[derive(Debug, Clone)]
pub(super) enum Failed<F> {
    /// One of its jobs failed, and nothing was done. The others may do by themselves.
    Job(F),
    /// No job is to blame.
    All(F),
}

impl<F> Failed<F> {
    fn why(self) -> F {
        match self {
            Self::Job(failure) | Self::All(failure) => failure,
        }
    }
}

/// Does what is queued, until the queue is closed and empty. Returns the ledger.
pub(super) fn serve<L: Ledger, M: Monitor<Waiting<L::Job>>>(queue: &Queue<L::Job, M>, mut ledger: L) -> L {
    let _closed = CloseOnDrop(queue);
    while let Some(mut jobs) = queue.take_all() {
        match ledger.commit(&mut jobs) {
            Err(Failed::Job(_)) if jobs.len() > 1 => one_by_one(&mut ledger, jobs),
            ended => {
                let ended = ended.map_err(Failed::why);
                jobs.into_iter().for_each(|job| job.answer(ended.clone()));
            }
        }
    }
    ledger
}

fn one_by_one<L: Ledger>(ledger: &mut L, jobs: Vec<L::Job>) {
    for mut job in jobs {
        let ended = ledger.commit(std::slice::from_mut(&mut job)).map_err(Failed::why);
        job.answer(ended);
    }
}

/// Nobody waits for a thread that is gone, even if a panic has ended it.
pub(super) struct CloseOnDrop<'a, J, M: Monitor<Waiting<J>>>(pub &'a Queue<J, M>);

impl<J, M: Monitor<Waiting<J>>> Drop for CloseOnDrop<'_, J, M> {
    fn drop(&mut self) {
        self.0.close();
        // Whoever submitted these hears that they were dropped.
        drop(self.0.waiting.change(|waiting| std::mem::take(&mut waiting.jobs)));
    }
}

#[cfg(test)]
mod tests;
