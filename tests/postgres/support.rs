//! The cluster that the tests run on, and stores in schemas of their own on it.

use std::{
    env,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::{BoxFuture, Clock, ManualClock, UnixMillis},
    limits::Quota,
    principal::Principal,
    store::{
        Heard, Hints, Lease, TaskStore, WorkerId, Written,
        conformance::{Harness, Subject},
        postgres::{PostgresConfig, PostgresStore},
    },
    task::{Mutation, NewTask, OnRestart, Settlement, Target, TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// Where the cluster is; without one there is nothing to test, which is said loudly, and is an error under `CI=true`. With
/// `elsewhere` in its place, another stage of the test command brings one.
pub fn url() -> Option<String> {
    let found = env::var("MCP_TASKS_TEST_POSTGRES").ok();
    if found.as_deref() == Some("elsewhere") {
        return None;
    }
    if found.is_none() {
        assert!(env::var("CI").as_deref() != Ok("true"), "MCP_TASKS_TEST_POSTGRES is not set");
        eprintln!("SKIPPED, for there is no cluster: run tests/services/postgres.py -- cargo test ...");
    }
    found
}

/// A schema of a test's own. It is dropped with this.
pub struct Schema {
    pub url: String,
    pub name: String,
}

impl Schema {
    /// A name that no other test has; `None` without a cluster.
    pub fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Some(Self { url: url()?, name: format!("test {} \"{number}\"", std::process::id()) })
    }

    pub fn config(&self) -> PostgresConfig {
        self.config_at(&self.url)
    }

    /// The same schema by another way to the cluster.
    pub fn config_at(&self, url: &str) -> PostgresConfig {
        // The cluster's certificate is one that nobody trusts.
        PostgresConfig::from_url(&format!("{url}?sslmode=disable"))
            .expect("a URL")
            .schema(&self.name)
            .pool_size(4)
            .timeout(PATIENCE)
    }

    pub async fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.config()).await.expect("it opens")
    }

    /// The name, as statements have it.
    pub fn quoted(&self) -> String {
        format!("\"{}\"", self.name.replace('"', "\"\""))
    }

    /// Runs statements beside the store.
    pub async fn run(&self, sql: &str) {
        client(&self.url).await.batch_execute(&sql.replace("{schema}", &self.quoted())).await.expect("it runs");
    }
}

/// The machine may be busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A plain connection.
pub async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("it connects");
    tokio::spawn(connection);
    client
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (url, sql) = (self.url.clone(), format!("DROP SCHEMA IF EXISTS {} CASCADE", self.quoted()));
        // There may be no runtime here, or one that is about to end.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                if let Ok((client, connection)) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await {
                    tokio::spawn(connection);
                    drop(client.batch_execute(&sql).await);
                }
            });
        });
        drop(dropped.join());
    }
}

/// For the conformance suite: stores whose time stands.
pub struct Postgres;

struct Empty {
    schema: Schema,
    clock: ManualClock,
}

impl Harness for Postgres {
    fn fresh(&self) -> BoxFuture<'_, Box<dyn Subject>> {
        Box::pin(async {
            let schema = Schema::new().expect("there is a cluster");
            Box::new(Empty { schema, clock: ManualClock::default() }) as Box<dyn Subject>
        })
    }
}

impl Subject for Empty {
    fn open(&self) -> BoxFuture<'_, Arc<dyn TaskStore>> {
        let config = self.schema.config().clock(Arc::new(self.clock.clone()));
        Box::pin(async { Arc::new(PostgresStore::connect(config).await.expect("it opens")) as Arc<dyn TaskStore> })
    }

    fn advance(&self, step: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(step);
        Box::pin(async {})
    }

    fn set_back(&self, step: Duration) -> BoxFuture<'_, ()> {
        let now = self.clock.now().since(UnixMillis::new(0)) - step;
        self.clock.set(UnixMillis::new(0).plus(now));
        Box::pin(async {})
    }

    fn drift(&self) -> Duration {
        Duration::ZERO
    }
}

/// A lease that outlasts a test.
pub const LEASE: Lease = Lease { worker: WorkerId(7), period: Duration::from_secs(600) };

/// A task that may run again, so that its arguments are kept.
pub fn new_task(principal: &str, arguments: &[u8]) -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let on_restart = OnRestart::Rerun { max_attempts: 3 };
    NewTask { on_restart, ..NewTask::new(Principal::new(principal), target, Bytes::copy_from_slice(arguments)) }
}

pub fn random_id() -> TaskId {
    TaskId::random().expect("random bytes")
}

pub async fn create(store: &dyn TaskStore) -> Arc<TaskRecord> {
    let created = store.create(random_id(), new_task("alice", b"{}"), Some(LEASE), &Quota::UNLIMITED);
    created.await.expect("created")
}

pub async fn commit(store: &dyn TaskStore, task: &TaskRecord, mutation: Mutation) -> Arc<TaskRecord> {
    match store.commit(task.id, task.epoch, &mutation).await.expect("it works") {
        Written::Stands(record) => record,
        Written::Refused(refusal) => panic!("refused: {refusal}"),
    }
}

pub fn completed(text: &str) -> Mutation {
    Mutation::Settle(Settlement::Completed(Bytes::copy_from_slice(text.as_bytes())))
}

/// Waits for what is to be heard; other hints are let pass.
pub async fn heard(hints: &mut Hints, wanted: impl Fn(Heard) -> bool) {
    let hears = async { while !wanted(hints.next().await.expect("the store is there")) {} };
    tokio::time::timeout(PATIENCE, hears).await.expect("it is heard");
}

/// Waits until something holds.
pub async fn until<F: Future<Output = bool>>(holds: impl Fn() -> F) {
    let waits = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(3 * PATIENCE, waits).await.expect("it holds in the end");
}

/// Does `work` over and over at several hands, and remembers what was acknowledged: the oracle of what may not be lost.
pub struct Load {
    acknowledged: Arc<Mutex<Vec<TaskId>>>,
    hands: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    /// Creates tasks and settles them.
    pub fn on(store: &Arc<PostgresStore>) -> Self {
        let acknowledged = Arc::<Mutex<Vec<TaskId>>>::default();
        let hand = |_| tokio::spawn(Self::work(Arc::clone(store), Arc::clone(&acknowledged)));
        Self { hands: (0..8).map(hand).collect(), acknowledged }
    }

    async fn work(store: Arc<PostgresStore>, acknowledged: Arc<Mutex<Vec<TaskId>>>) {
        loop {
            let id = random_id();
            let made = store.create(id, new_task("alice", b"{}"), Some(LEASE), &Quota::UNLIMITED).await;
            let Ok(task) = made else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            if matches!(store.commit(id, task.epoch, &completed("1")).await, Ok(Written::Stands(_))) {
                acknowledged.lock().expect("no panic").push(id);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.acknowledged.lock().expect("no panic").len()
    }

    /// Waits for `more` to be acknowledged from now on.
    pub async fn goes_on(&self, more: usize) {
        let wanted = self.count() + more;
        until(|| async { self.count() >= wanted }).await;
    }

    /// Stops, and makes sure that all that was acknowledged is there. Says how much that was.
    pub async fn nothing_is_lost(self, store: &dyn TaskStore) -> usize {
        self.hands.iter().for_each(tokio::task::JoinHandle::abort);
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().expect("no panic"));
        for id in &acknowledged {
            let task = store.get(*id).await.expect("it works").expect("an acknowledged task is there");
            assert_eq!(task.status(), TaskStatus::Completed, "an acknowledged end is there");
        }
        acknowledged.len()
    }
}
