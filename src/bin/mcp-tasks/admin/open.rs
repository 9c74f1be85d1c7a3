//! Opens the store that an operator names. What is not there is not made, and nothing is upgraded.

use std::{path::PathBuf, sync::Arc};

use mcp_tasks::store::{
    AdminStore,
    sqlite::{OpenError, SqliteStore},
};

use super::args::StoreArgs;
use crate::exit::Problem;

/// Where a store is.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

/// The store that `args` names.
///
/// # Errors
/// If it is not there, is of another version, or cannot be opened.
pub async fn open(args: &StoreArgs) -> Result<Arc<dyn AdminStore>, Problem> {
    match place(&args.url)? {
        Place::Sqlite(path) => sqlite(path, args),
        Place::Postgres(url) => postgres(&url, args).await,
    }
}

fn sqlite(path: PathBuf, args: &StoreArgs) -> Result<Arc<dyn AdminStore>, Problem> {
    let builder = SqliteStore::builder(path).existing();
    #[cfg(feature = "encryption")]
    let builder = match keys::read(args)? {
        Some(keys) => builder.keyring(keys),
        None => builder,
    };
    #[cfg(not(feature = "encryption"))]
    keys::refuse(args)?;
    let store = builder.open().map_err(|error| match error {
        OpenError::Missing { .. } => {
            Problem::new(error.to_string()).hint("name the file of a server's store; none is made here")
        }
        other => Problem::new("the store cannot be opened").because(other),
    })?;
    Ok(Arc::new(store))
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str, args: &StoreArgs) -> Result<Arc<dyn AdminStore>, Problem> {
    use mcp_tasks::store::postgres::{PostgresConfig, PostgresStore};

    let refused = |error| Problem::new("the store cannot be opened").because(error);
    let mut config = PostgresConfig::from_url(url).map_err(refused)?.migrate(false);
    if let Some(name) = &args.schema {
        config = config.schema(name);
    }
    #[cfg(feature = "encryption")]
    if let Some(keys) = keys::read(args)? {
        config = config.keyring(keys);
    }
    #[cfg(not(feature = "encryption"))]
    keys::refuse(args)?;
    Ok(Arc::new(PostgresStore::connect(config).await.map_err(refused)?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_url: &str, _args: &StoreArgs) -> Result<Arc<dyn AdminStore>, Problem> {
    Err(Problem::usage("this program was built without PostgreSQL").hint("build it with the feature `postgres`"))
}

/// The keys of an encrypted store.
#[cfg(feature = "encryption")]
mod keys {
    use std::fs;

    use mcp_tasks::store::Keyring;

    use super::StoreArgs;
    use crate::exit::Problem;

    /// The keys in the file that `args` names: `ID:HEX` a line, the current one first.
    pub fn read(args: &StoreArgs) -> Result<Option<Keyring>, Problem> {
        let Some(path) = &args.key_file else { return Ok(None) };
        let text = fs::read_to_string(path)
            .map_err(|error| Problem::new(format!("cannot read {}", path.display())).because(error))?;
        parse(&text).map(Some).map_err(|why| Problem::usage(format!("{}: {why}", path.display())))
    }

    /// What is wrong names the line, and nothing of what stands there.
    fn parse(text: &str) -> Result<Keyring, String> {
        let mut keyring: Option<Keyring> = None;
        let lines = text.lines().map(str::trim).enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            let (id, key) = line.split_once(':').ok_or_else(|| wrong("a key is `ID:HEX`"))?;
            let key = bytes(key.trim()).ok_or_else(|| wrong("the key is not 64 hexadecimal digits"))?;
            let added = match keyring {
                None => Keyring::new(id.trim(), key),
                Some(ring) => ring.with_older(id.trim(), key),
            };
            keyring = Some(added.map_err(|error| wrong(&error.to_string()))?);
        }
        keyring.ok_or_else(|| "there is no key".to_owned())
    }

    fn bytes(hex: &str) -> Option<[u8; 32]> {
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (n, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok()?;
        }
        Some(bytes)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn keys_are_one_a_line() {
            let key = "0f".repeat(32);
            assert!(parse(&format!("# keys\nnew: {key}\n\nold:{key}\n")).is_ok());
            for (text, told) in [
                (String::new(), "there is no key"),
                (format!("\n{key}"), "line 2: a key is `ID:HEX`"),
                ("a:00".to_owned(), "line 1: the key is not 64 hexadecimal digits"),
            ] {
                assert_eq!(parse(&text).err().as_deref(), Some(told));
            }
        }
    }
}

/// Without the feature no store is read that needs keys.
#[cfg(not(feature = "encryption"))]
mod keys {
    use super::StoreArgs;
    use crate::exit::Problem;

    pub fn refuse(args: &StoreArgs) -> Result<(), Problem> {
        if args.key_file.is_none() {
            return Ok(());
        }
        Err(Problem::usage("this program was built without encryption").hint("build it with the feature `encryption`"))
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
