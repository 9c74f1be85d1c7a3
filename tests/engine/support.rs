//! An engine on a memory store and a manual clock, and ways to look at it.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::{Clock, ManualClock},
    context::TaskContext,
    engine::{Call, Engine, EngineBuilder, TaskEngine, Work},
    error::EngineError,
    input::{InputKey, InputKinds},
    principal::Principal,
    store::{TaskStore, faulty::FaultyStore, memory::MemoryStore},
    task::{NewTask, OnCancel, Settlement, Target, TaskRecord, TaskState, TaskStatus},
    task_id::TaskId,
};

/// The shortest time in which the background sweep surely comes by.
pub const SWEEP: Duration = Duration::from_secs(1);

pub struct World {
    pub clock: ManualClock,
    pub store: Arc<MemoryStore>,
    pub engine: Engine,
}

impl World {
    pub fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub fn with(configure: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let clock = ManualClock::default();
        let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        let engine = engine_on(store.clone(), &clock, configure);
        Self { clock, store, engine }
    }

    /// Creates a task of alice's.
    pub async fn create<F, Fut>(&self, body: F) -> TaskId
    where
        F: FnOnce(TaskContext) -> Fut + Send + 'static,
        Fut: Future<Output = Settlement> + Send + 'static,
    {
        self.create_with(new_task(), body).await
    }

    pub async fn create_with<F, Fut>(&self, task: NewTask, body: F) -> TaskId
    where
        F: FnOnce(TaskContext) -> Fut + Send + 'static,
        Fut: Future<Output = Settlement> + Send + 'static,
    {
        let record = self.engine.create(Call::new(task, Work::new(body))).await.expect("the task is created");
        assert_eq!(record.status(), TaskStatus::Working);
        record.id
    }

    pub async fn get(&self, id: TaskId) -> Result<Arc<TaskRecord>, EngineError> {
        self.engine.get(&alice(), id).await
    }

    /// The task, as [`show`] puts it, or the error.
    pub async fn shown(&self, id: TaskId) -> String {
        match self.get(id).await {
            Ok(record) => show(&record),
            Err(error) => error.to_string(),
        }
    }

    pub async fn respond(&self, id: TaskId, answers: &[(&str, &'static str)]) -> Result<(), EngineError> {
        let answers = answers.iter().map(|(key, text)| (InputKey::new(*key), text.as_bytes().into())).collect();
        self.engine.respond(&alice(), id, answers).await
    }

    pub async fn cancel(&self, id: TaskId) -> Result<(), EngineError> {
        self.engine.cancel(&alice(), id).await
    }

    /// Follows the task until it shows as `expected`.
    pub async fn until(&self, id: TaskId, expected: &str) -> Arc<TaskRecord> {
        let mut watch = self.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
        let mut last = "nothing".to_owned();
        while let Some(record) = watch.next().await {
            last = show(&record);
            if last == expected {
                return record;
            }
        }
        panic!("the task never was {expected}; at last it was {last}");
    }

    /// Resolves once no tool runs.
    pub async fn idle(&self) {
        while self.engine.running() > 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Moves the clock on once the engine's two timers wait for it, so that each due sweep and renewal takes place.
    pub async fn advance(&self, step: Duration) {
        self.clock.sleepers(2).await;
        self.clock.advance(step);
        settle_down().await;
    }
}

/// Lets every task of the (single-threaded) runtime run until it waits.
pub async fn settle_down() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

pub fn engine_on(
    store: Arc<dyn TaskStore>,
    clock: &ManualClock,
    configure: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> Engine {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    configure(Engine::builder(store, clock)).start().expect("there are random bytes")
}

pub fn alice() -> Principal {
    Principal::new("alice")
}

pub fn new_task() -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let task = NewTask::new(alice(), target, Bytes::from_static(b"{}"));
    NewTask { declared: InputKinds::ALL, ..task }
}

pub fn signalled() -> NewTask {
    NewTask { on_cancel: OnCancel::Signal, ..new_task() }
}

pub fn completed(json: impl Into<Bytes>) -> Settlement {
    Settlement::Completed(json.into())
}

/// One line: the status, and what comes with it.
pub fn show(record: &TaskRecord) -> String {
    let keys: Vec<&str> = record.inputs().outstanding().map(|(key, _)| key.as_str()).collect();
    let status = match &record.state {
        TaskState::Open if keys.is_empty() => "working".into(),
        TaskState::Open => format!("input_required {}", keys.join(" ")),
        TaskState::Settled(Settlement::Completed(result)) => format!("completed {}", String::from_utf8_lossy(result)),
        TaskState::Settled(Settlement::Failed(failure)) => format!("failed {failure:?}"),
        TaskState::Settled(Settlement::Cancelled) => "cancelled".into(),
    };
    assert_eq!(record.status() == TaskStatus::InputRequired, !keys.is_empty(), "case 20");
    status
}

/// Counts what is dropped, to see that a tool's future was.
#[derive(Clone, Default)]
pub struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub fn guard(&self) -> impl Send + 'static {
        struct Guard(Drops);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        Guard(self.clone())
    }
}

/// A memory store that fails when it is told to.
pub type Faulty = FaultyStore<MemoryStore>;

pub fn faulty(clock: &ManualClock) -> Arc<Faulty> {
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    Arc::new(FaultyStore::new(Arc::new(MemoryStore::new(Arc::clone(&clock))), clock))
}

/// One whose hints are all lost.
pub fn faulty_and_deaf(clock: &ManualClock) -> Arc<Faulty> {
    let store = faulty(clock);
    store.lose_hints();
    store
}
