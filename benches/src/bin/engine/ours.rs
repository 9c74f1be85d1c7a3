//! Our engine on the memory store, with tasks in it that run.

use bytes::Bytes;
use mcp_tasks::clock::SystemClock;
use mcp_tasks::engine::{Call, Engine, TaskEngine, Work};
use mcp_tasks::limits::{Limits, Quota};
use mcp_tasks::principal::Principal;
use mcp_tasks::store::memory::MemoryStore;
use mcp_tasks::task::{NewTask, Settlement, Target, TaskRecord};
use mcp_tasks::task_id::TaskId;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

/// An engine on a runtime that runs only while it is asked to.
pub struct Ours {
    runtime: Runtime,
    pub engine: Engine,
    pub principal: Principal,
    target: Arc<Target>,
    /// Every task that was created, the oldest first.
    pub ids: Vec<TaskId>,
}

impl Ours {
    /// An engine with so many tasks whose tools run and never end.
    pub fn with_live(count: usize) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let clock = Arc::new(SystemClock);
        let mut limits = Limits::default();
        (limits.quota, limits.running) = (Quota::UNLIMITED, usize::MAX);
        let engine = {
            let _guard = runtime.enter();
            let builder = Engine::builder(Arc::new(MemoryStore::new(clock.clone())), clock).limits(limits);
            // No lease runs out while the runtime stands still.
            builder.lease(Duration::from_secs(3600)).start().expect("an engine")
        };
        let target = Arc::new(Target::new("tools/call", "report", "1"));
        let mut ours = Self { runtime, engine, principal: Principal::new("alice"), target, ids: Vec::new() };
        ours.ids.reserve(count + 4096);
        for rest in (0..count).step_by(1000) {
            ours.create(1000.min(count - rest));
        }
        ours
    }

    /// Creates so many tasks more, and lets their tools start.
    pub fn create(&mut self, count: usize) -> u64 {
        let Self { runtime, engine, target, ids, .. } = self;
        runtime.block_on(async {
            for _ in 0..count {
                let work = Work::new(|task| async move {
                    let _task = task;
                    pending::<Settlement>().await
                });
                ids.push(engine.create(call(target, work)).await.expect("it is created").id);
            }
            all_started().await;
        });
        count as u64
    }

    /// Adds a task that has ended with this result.
    pub fn complete(&self, result: &Bytes) -> TaskId {
        let result = result.clone();
        let work = Work::new(|_| async { Settlement::Completed(result) });
        self.runtime.block_on(async {
            let id = self.engine.create(call(&self.target, work)).await.expect("it is created").id;
            while !self.get(id).is_settled() {
                yield_now().await;
            }
            id
        })
    }

    pub fn get(&self, id: TaskId) -> Arc<TaskRecord> {
        ready(self.engine.get(&self.principal, id)).expect("the task is there")
    }
}

/// As the transport makes it: the principal and the arguments are this call's own.
fn call(target: &Arc<Target>, work: Work) -> Call {
    let arguments = Bytes::copy_from_slice(br#"{"topic":"the state of the art","pages":12}"#);
    Call::new(NewTask::new(Principal::new("alice"), Arc::clone(target), arguments), work)
}

/// Tasks of this runtime are run in the order in which they were spawned.
pub async fn all_started() {
    tokio::spawn(async {}).await.expect("it does not panic");
}

/// What a future gives that does not wait: nothing here has anything to wait for.
pub fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for something"),
    }
}
