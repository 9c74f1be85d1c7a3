//! The cluster that the tests run on, and stores in schemas of their own on it.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use mcp_tasks::{
    clock::{BoxFuture, Clock, ManualClock, UnixMillis},
    store::{
        TaskStore,
        conformance::{Harness, Subject},
        postgres::{PostgresConfig, PostgresStore},
    },
};

/// Where the cluster is; without one there is nothing to test, which is said loudly, and is an error under `CI=true`.
pub fn url() -> Option<String> {
    let found = env::var("MCP_TASKS_TEST_POSTGRES").ok();
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
