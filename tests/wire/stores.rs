//! The store that the tests run on: `MCP_TASKS_TEST_STORE` is `memory` (if it is not set), `sqlite` or `postgres`. Each test has
//! one of its own, empty, on the test's clock.
//!
//! The last one needs `MCP_TASKS_TEST_POSTGRES`, the URL of a cluster: `tests/services/postgres.py -- cargo test ...`.

use std::{
    env,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use mcp_tasks::{
    clock::{Clock, ManualClock},
    store::{TaskStore, memory::MemoryStore, sqlite::SqliteStore},
};

/// A store, and what has to be removed after it.
#[derive(Clone)]
pub struct Fresh {
    pub store: Arc<dyn TaskStore>,
    place: Arc<Place>,
}

/// Where a store keeps its tasks.
enum Place {
    Memory(Arc<MemoryStore>),
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Schema {
        url: String,
        name: String,
    },
}

/// Which store it is.
pub fn kind() -> String {
    env::var("MCP_TASKS_TEST_STORE").unwrap_or_else(|_| "memory".into())
}

/// An empty store on this clock.
pub async fn fresh(clock: &ManualClock) -> Fresh {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("wire-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let place = match kind().as_str() {
        "memory" => Place::Memory(Arc::new(MemoryStore::new(Arc::new(clock.clone())))),
        "sqlite" => Place::File(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.db"))),
        #[cfg(feature = "postgres")]
        "postgres" => {
            let url = env::var("MCP_TASKS_TEST_POSTGRES").expect("MCP_TASKS_TEST_POSTGRES is the URL of a cluster");
            Place::Schema { url, name }
        }
        other => panic!("MCP_TASKS_TEST_STORE: there is no `{other}` here"),
    };
    Fresh { store: place.open(clock).await, place: Arc::new(place) }
}

impl Fresh {
    /// The same tasks, as another process finds them: nothing is left but what was written down. What is in memory has to
    /// stand for a store that outlives its server.
    pub async fn reopened(&self, clock: &ManualClock) -> Arc<dyn TaskStore> {
        self.place.open(clock).await
    }
}

impl Place {
    async fn open(&self, clock: &ManualClock) -> Arc<dyn TaskStore> {
        let clock: Arc<dyn Clock> = Arc::new(clock.clone());
        match self {
            Self::Memory(store) => Arc::clone(store) as Arc<dyn TaskStore>,
            Self::File(path) => Arc::new(SqliteStore::builder(path).clock(clock).open().expect("it opens")),
            #[cfg(feature = "postgres")]
            Self::Schema { url, name } => in_postgres(clock, url, name).await,
        }
    }
}

#[cfg(feature = "postgres")]
async fn in_postgres(clock: Arc<dyn Clock>, url: &str, schema: &str) -> Arc<dyn TaskStore> {
    use mcp_tasks::store::postgres::{PostgresConfig, PostgresStore};

    let config = PostgresConfig::from_url(&format!("{url}?sslmode=disable")).expect("a URL");
    let config = config.schema(schema).pool_size(4).timeout(std::time::Duration::from_secs(20)).clock(clock);
    Arc::new(PostgresStore::connect(config).await.expect("it opens"))
}

impl Drop for Place {
    fn drop(&mut self) {
        match self {
            Self::Memory(_) => {}
            Self::File(path) => {
                // The store may still be closing it; what is removed is then closed as a file without a name.
                for suffix in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
                }
            }
            #[cfg(feature = "postgres")]
            Self::Schema { url, name } => drop_schema(std::mem::take(url), std::mem::take(name)),
        }
    }
}

#[cfg(feature = "postgres")]
fn drop_schema(url: String, name: String) {
    // The runtime of the test is about to end.
    let dropped = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            if let Ok((client, connection)) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await {
                tokio::spawn(connection);
                drop(client.batch_execute(&format!("DROP SCHEMA IF EXISTS \"{name}\" CASCADE")).await);
            }
        });
    });
    drop(dropped.join());
}
