//! Opens the store that an operator names. What is not there is not made, and nothing is upgraded.

use std::{path::PathBuf, sync::Arc};

use mcp_tasks::store::AdminStore;

use super::args::StoreArgs;
use crate::exit::Problem;

/// Where a store is.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

/// The store that `args` names.
pub async fn open(args: &StoreArgs) -> Result<Arc<dyn AdminStore>, Problem> {
    match place(&args.url)? {
        Place::Sqlite(path) => Err(Problem::new(format!("cannot open {} yet", path.display()))),
        Place::Postgres(url) => Err(Problem::new(format!("cannot open {url} yet"))),
    }
}

fn place(url: &str) -> Result<Place, Problem> {
    match url.split_once(':') {
        Some(("postgres" | "postgresql", _)) => Ok(Place::Postgres(url.to_owned())),
        Some(("sqlite", path)) => Ok(Place::Sqlite(path.strip_prefix("//").unwrap_or(path).into())),
        Some((scheme, rest)) if rest.starts_with("//") => {
            Err(Problem::usage(format!("a store is a SQLite file or at postgres://, and not at {scheme}://")))
        }
        _ => Ok(Place::Sqlite(url.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_path_or_an_address() {
        let sqlite = |path: &str| Some(Place::Sqlite(path.into()));
        assert_eq!(place("tasks.sqlite").ok(), sqlite("tasks.sqlite"));
        assert_eq!(place("sqlite:/var/lib/tasks").ok(), sqlite("/var/lib/tasks"));
        assert_eq!(place("sqlite:///var/lib/tasks").ok(), sqlite("/var/lib/tasks"));
        assert_eq!(place("C:\\tasks").ok(), sqlite("C:\\tasks"));
        assert_eq!(place("postgres://db/tasks").ok(), Some(Place::Postgres("postgres://db/tasks".into())));
        assert!(place("redis://db").is_err());
    }
}
