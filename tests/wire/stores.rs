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
    _place: Arc<Place>,
}

/// Where a store keeps its tasks.
enum Place {
    Memory,
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
    let clock: Arc<dyn Clock> = Arc::new(clock.clone());
    let (store, place): (Arc<dyn TaskStore>, Place) = match kind().as_str() {
        "memory" => (Arc::new(MemoryStore::new(clock)), Place::Memory),
        "sqlite" => {
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.db"));
            (Arc::new(SqliteStore::builder(&path).clock(clock).open().expect("it opens")), Place::File(path))
        }
        #[cfg(feature = "postgres")]
        "postgres" => in_postgres(clock, name).await,
        other => panic!("MCP_TASKS_TEST_STORE: there is no `{other}` here"),
    };
    Fresh { store, _place: Arc::new(place) }
}

#[cfg(feature = "postgres")]
async fn in_postgres(clock: Arc<dyn Clock>, name: String) -> (Arc<dyn TaskStore>, Place) {
    use mcp_tasks::store::postgres::{PostgresConfig, PostgresStore};

    let url = env::var("MCP_TASKS_TEST_POSTGRES").expect("MCP_TASKS_TEST_POSTGRES is the URL of a cluster");
    let config = PostgresConfig::from_url(&format!("{url}?sslmode=disable")).expect("a URL");
    let config = config.schema(&name).pool_size(4).timeout(std::time::Duration::from_secs(20)).clock(clock);
    let store = PostgresStore::connect(config).await.expect("it opens");
    (Arc::new(store), Place::Schema { url, name })
}

impl Drop for Place {
    fn drop(&mut self) {
        match self {
            Self::Memory => {}
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
