//! Where a server keeps its tasks, and the engine on that.

#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::sync::Arc;

use super::BuildError;
#[cfg(feature = "sqlite")]
use crate::store::sqlite::{OpenError, SqliteStore};
use crate::{
    clock::{Clock, SystemClock},
    elicit::validate_response,
    engine::Engine,
    error::EngineError,
    limits::Limits,
    store::{TaskStore, memory::MemoryStore},
};

/// Where tasks are kept.
#[derive(Default)]
pub(super) enum Storage {
    /// In the file of the server's name; without SQLite in memory.
    #[default]
    Usual,
    Memory,
    #[cfg(feature = "sqlite")]
    File(PathBuf),
    Store(Arc<dyn TaskStore>),
    Engine(Engine),
}

/// An engine, and what ends with the server.
#[derive(Clone)]
pub(super) struct Kept {
    pub engine: Engine,
    /// Whether nobody else uses the engine.
    pub own: bool,
    /// The file that was opened for this server.
    #[cfg(feature = "sqlite")]
    file: Option<Arc<SqliteStore>>,
}

impl Storage {
    /// Opens what there is to be opened, and starts an engine on it.
    pub fn open(self, server: &str, limits: Limits) -> Result<Kept, BuildError> {
        match self {
            Self::Engine(engine) => Ok(Kept::of(engine, false)),
            Self::Store(store) => Ok(Kept::of(start(store, limits)?, true)),
            Self::Memory => Ok(Kept::of(in_memory(limits)?, true)),
            #[cfg(feature = "sqlite")]
            Self::File(path) => Kept::in_file(path, limits),
            #[cfg(feature = "sqlite")]
            Self::Usual => Kept::in_file(data_file(server).ok_or(OpenError::NoFolder)?, limits),
            #[cfg(not(feature = "sqlite"))]
            Self::Usual => {
                let _ = server;
                Ok(Kept::of(in_memory(limits)?, true))
            }
        }
    }
}

impl Kept {
    fn of(engine: Engine, own: bool) -> Self {
        Self {
            engine,
            own,
            #[cfg(feature = "sqlite")]
            file: None,
        }
    }

    #[cfg(feature = "sqlite")]
    fn in_file(path: PathBuf, limits: Limits) -> Result<Self, BuildError> {
        let file = Arc::new(SqliteStore::open(path)?);
        let engine = start(Arc::clone(&file) as Arc<dyn TaskStore>, limits)?;
        Ok(Self { engine, own: true, file: Some(file) })
    }

    /// Closes what was opened for this server.
    pub async fn close(&self) {
        #[cfg(feature = "sqlite")]
        if let Some(file) = &self.file {
            file.close().await;
        }
    }
}

fn start(store: Arc<dyn TaskStore>, limits: Limits) -> Result<Engine, BuildError> {
    engine_on(store, Arc::new(SystemClock), limits).map_err(BuildError::Engine)
}

fn in_memory(limits: Limits) -> Result<Engine, BuildError> {
    engine_in_memory(limits).map_err(BuildError::Engine)
}

/// An engine whose tasks are gone when the process ends.
pub(super) fn engine_in_memory(limits: Limits) -> Result<Engine, EngineError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    engine_on(Arc::new(MemoryStore::new(Arc::clone(&clock))), clock, limits)
}

fn engine_on(store: Arc<dyn TaskStore>, clock: Arc<dyn Clock>, limits: Limits) -> Result<Engine, EngineError> {
    Engine::builder(store, clock).limits(limits).validate_input(Arc::new(validate_response)).start()
}

/// The file in which a [`TaskServer`](crate::TaskServer) of this name keeps its tasks unless it is told otherwise: in the
/// folder `mcp-tasks` of the platform's folder for the user's data. `None` where the platform has no such folder.
#[cfg(feature = "sqlite")]
pub fn data_file(server: &str) -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "mcp-tasks")?;
    Some(folders.data_local_dir().join(file_name(server)))
}

/// A file name for a server's name: two names give two files, also where case does not matter, and no name leads anywhere
/// else. A name that is fine by itself is kept.
#[cfg(feature = "sqlite")]
fn file_name(server: &str) -> String {
    const LONGEST: usize = 60;
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let plain: String = server.chars().take(LONGEST).map(kept).collect();
    if plain == server && !plain.is_empty() && !is_device(&plain) {
        return format!("{plain}.db");
    }
    let hash = crate::input::RequestHash::of(server.as_bytes()).0;
    format!("{plain}.{hash:016x}.db")
}

/// Whether Windows takes the name for a device.
#[cfg(feature = "sqlite")]
fn is_device(name: &str) -> bool {
    let numbered = |device: &str| {
        name.strip_prefix(device).is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    matches!(name, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;

    /// SEC-04: no name leads out of the folder, and no two names into one file.
    #[test]
    fn each_name_has_a_file_of_its_own() {
        assert_eq!(file_name("bakery-2"), "bakery-2.db");
        let long = "x".repeat(500);
        let names =
            ["../../etc/passwd", "", ".", "Bakery", "bakery", "a/b", "a\\b", "a\0b", "a b", "nul", "com1", "ä", &long];
        let files: std::collections::BTreeSet<String> =
            names.iter().map(|name| file_name(name).to_lowercase()).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
        for file in files {
            assert!(file.len() < 100 && file.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{file}");
            assert!(!file.contains("..") && !is_device(file.split('.').next().unwrap_or_default()) || file.len() > 20);
        }
    }

    /// A server whose file cannot be a file is not built.
    #[tokio::test]
    async fn a_path_that_cannot_be_opened_is_a_build_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = crate::TaskServer::new("test", "1").database(folder.path());
        let error = server.build().map(drop).expect_err("it is a folder");
        assert!(matches!(&error, BuildError::Store(_)), "{error}");
    }
}
