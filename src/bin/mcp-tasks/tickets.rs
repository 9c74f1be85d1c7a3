//! Tickets: what this program remembers of the tasks that its user started, so that another run of it finds them again.
//!
//! A file each, in the platform's folder for data, readable by the user alone. The token of the environment and the headers
//! of the command line are never in one. The server is, as the user named it: a secret that is a part of its address or of
//! its command is kept with it.

use std::{
    cmp::Reverse,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use directories::ProjectDirs;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::exit::Problem;

/// Names the folder, for tests and for whoever keeps things elsewhere.
pub const FOLDER_VARIABLE: &str = "MCP_TASKS_DATA_DIR";

/// How long a ticket may be written: one that is not finished by then never will be.
const UNFINISHED: Duration = Duration::from_secs(3600);

/// Where tickets are kept.
#[derive(Debug, Clone)]
pub struct Tickets {
    folder: PathBuf,
}

/// Where a server is, as the user named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// An address.
    Url(String),
    /// A command that is started.
    Stdio(String),
}

impl Place {
    /// The place for eyes that may not know the password: without the user in the address.
    pub fn shown(&self) -> Self {
        match self {
            Self::Url(url) => Self::Url(without_user(url)),
            Self::Stdio(command) => Self::Stdio(command.clone()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Url(shown) | Self::Stdio(shown)) = self.shown();
        f.write_str(&shown)
    }
}

/// An address without what is before the `@` of its authority.
pub fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// What is remembered of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept<T> {
    /// The task's id.
    pub task_id: String,
    /// The tool that was called.
    pub tool: Option<String>,
    /// Where its server is.
    pub server: Place,
    /// When it was created, by the clock here, in milliseconds since the Unix epoch.
    pub created: u64,
    /// When it need not be remembered any longer, if ever.
    pub until: Option<u64>,
    /// The client's own ticket.
    pub ticket: T,
}

impl Tickets {
    /// The user's tickets: in `folder`, or where the platform says.
    ///
    /// # Errors
    /// If the platform has no such folder.
    pub fn open(folder: Option<PathBuf>) -> Result<Self, Problem> {
        let folder = folder.filter(|name| !name.as_os_str().is_empty());
        let folder = folder.or_else(|| Some(ProjectDirs::from("", "", "mcp-tasks")?.data_dir().to_owned()));
        let folder = folder.ok_or_else(|| {
            Problem::new("there is no folder to keep tickets in")
                .hint(format!("name one: --data-dir, or {FOLDER_VARIABLE}"))
        })?;
        Ok(Self { folder: folder.join("tickets") })
    }

    /// Remembers a task, in place of what was remembered of it.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn keep<T: Serialize>(&self, kept: &Kept<T>) -> Result<(), Problem> {
        let path = self.path(&kept.server, &kept.task_id);
        let written = serde_json::to_vec(kept).map_err(io::Error::other).and_then(|text| {
            private_folder(&self.folder)?;
            replace(&path, &text)
        });
        written
            .map_err(|error| Problem::new(format!("cannot keep a ticket in {}", self.folder.display())).because(error))
    }

    /// Forgets a task.
    pub fn forget(&self, server: &Place, task_id: &str) {
        // What is not there is forgotten already; what cannot be removed is removed when it is too old.
        let _ = fs::remove_file(self.path(server, task_id));
    }

    /// All tickets, newest first. What cannot be read as one is skipped.
    pub fn all<T: DeserializeOwned>(&self) -> Vec<Kept<T>> {
        let tickets = self.files().filter(|path| path.extension().is_some_and(|kind| kind == "json"));
        let texts = tickets.filter_map(|path| fs::read(path).ok());
        let mut all: Vec<Kept<T>> = texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect();
        all.sort_by_key(|kept| Reverse(kept.created));
        all
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path())
    }

    /// Forgets what is too old at `now`, in milliseconds since the Unix epoch; returns the rest, newest first.
    pub fn live<T: DeserializeOwned>(&self, now: u64) -> Vec<Kept<T>> {
        self.tidy(now);
        let (live, old): (Vec<_>, Vec<_>) =
            self.all().into_iter().partition(|kept: &Kept<T>| kept.until.is_none_or(|until| now < until));
        for kept in &old {
            self.forget(&kept.server, &kept.task_id);
        }
        live
    }

    /// Removes what programs left that ended while they wrote a ticket.
    fn tidy(&self, now: u64) {
        let old = UNIX_EPOCH + Duration::from_millis(now).saturating_sub(UNFINISHED);
        for path in self.files().filter(|path| path.extension().is_some_and(|kind| kind == "new")) {
            if fs::metadata(&path).and_then(|file| file.modified()).is_ok_and(|written| written < old) {
                // What cannot be removed now is tried again the next time.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The ticket of a task whose id is, or begins with, `text`: one at the server that is `named`, or at any.
    ///
    /// # Errors
    /// If that may be several, or is nothing that an id could be.
    pub fn find<T: DeserializeOwned>(&self, text: &str, named: Option<&Place>) -> Result<Option<Kept<T>>, Problem> {
        if text.is_empty() {
            return Err(Problem::usage("an id cannot be empty"));
        }
        let mut found: Vec<Kept<T>> = self.all();
        found.retain(|kept| kept.task_id.starts_with(text) && named.is_none_or(|named| kept.server == *named));
        if found.iter().any(|kept| kept.task_id == text) {
            found.retain(|kept| kept.task_id == text);
        }
        match found.len() {
            0 | 1 => Ok(found.pop()),
            // Where the server is known, this may be the whole id of a task that was not started from here.
            _ if named.is_some() => Ok(None),
            many if found[0].task_id == text => {
                Err(Problem::usage(format!("{many} servers have a task `{text}`")).hint("say which: --url URL"))
            }
            many => Err(Problem::usage(format!("{many} tasks have an id that begins with `{text}`"))),
        }
    }

    /// A name of our own making: ids are the server's, and may be no names of files.
    fn path(&self, server: &Place, task_id: &str) -> PathBuf {
        let (Place::Url(server) | Place::Stdio(server)) = server;
        let name = mcp_tasks::input::RequestHash::of(format!("{server}\n{task_id}").as_bytes());
        self.folder.join(format!("{:016x}.json", name.0))
    }
}

/// Makes the folder, for the user alone.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Writes a file, for the user alone, that is at any moment either the old or the new one.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&new)?.write_all(text)?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn kept(task_id: &str, created: u64, until: Option<u64>) -> Kept<u32> {
        let server = Place::Url("http://localhost/mcp".to_owned());
        Kept { task_id: task_id.to_owned(), tool: None, server, created, until, ticket: 7 }
    }

    fn folder() -> (tempfile::TempDir, Tickets) {
        let folder = tempfile::tempdir().expect("a folder");
        let tickets = Tickets::open(Some(folder.path().join("data"))).expect("a name");
        (folder, tickets)
    }

    /// CLI-03: what is kept is found again, by its id or by how that begins.
    #[test]
    fn a_ticket_is_found_again() {
        let (_folder, tickets) = folder();
        for kept in [kept("abc/../1", 1, None), kept("abd", 2, None)] {
            tickets.keep(&kept).expect("kept");
        }
        assert_eq!(tickets.find("abc", None).expect("one"), Some(kept("abc/../1", 1, None)));
        assert!(tickets.find::<u32>("ab", None).is_err());
        assert_eq!(tickets.find::<u32>("x", None).expect("none"), None);
        assert_eq!(tickets.all::<u32>().iter().map(|kept| kept.created).collect::<Vec<_>>(), [2, 1]);
        tickets.forget(&kept("abd", 2, None).server, "abd");
        assert_eq!(tickets.all::<u32>().len(), 1);
    }

    #[test]
    fn old_tickets_are_forgotten() {
        let (_folder, tickets) = folder();
        for kept in [kept("old", 1, Some(10)), kept("new", 1, Some(11)), kept("for ever", 1, None)] {
            tickets.keep(&kept).expect("kept");
        }
        assert_eq!(tickets.live::<u32>(10).len(), 2);
        assert_eq!(tickets.all::<u32>().len(), 2);
    }

    /// An id means what it says: nothing is not "any", and the same id elsewhere is another task.
    #[test]
    fn an_id_is_of_one_server() {
        let (_folder, tickets) = folder();
        let place = |name: &str| Place::Url(format!("http://{name}/mcp"));
        let at = |name: &str, id: &str, created| Kept { server: place(name), ..kept(id, created, None) };
        for kept in [at("a", "1", 1), at("b", "1", 2), at("a", "12", 3), at("a", "13", 4), at("c", "21", 5)] {
            tickets.keep(&kept).expect("kept");
        }
        let find = |id: &str, named: Option<&str>| tickets.find::<u32>(id, named.map(place).as_ref());
        assert!(find("", None).is_err());
        assert!(find("", Some("c")).is_err());
        assert!(find("1", None).is_err_and(|problem| problem.to_string().contains("2 servers")));
        assert_eq!(find("1", Some("a")).expect("one"), Some(at("a", "1", 1)));
        assert_eq!(find("1", Some("b")).expect("one"), Some(at("b", "1", 2)));
        assert_eq!(find("1", Some("c")).expect("the id as it is"), None);
        assert_eq!(find("2", Some("c")).expect("one"), Some(at("c", "21", 5)));
        tickets.forget(&place("a"), "1");
        assert_eq!(find("1", Some("a")).expect("the id as it is"), None);
        assert_eq!(find("12", None).expect("one"), Some(at("a", "12", 3)));
    }

    /// A program that was stopped while it wrote a ticket leaves none, nor a file for ever.
    #[test]
    fn an_unfinished_ticket_is_none() {
        let (_folder, tickets) = folder();
        tickets.keep(&kept("a", 1, None)).expect("kept");
        let file = tickets.files().next().expect("a ticket");
        fs::copy(&file, file.with_extension("7.new")).expect("copied");
        assert_eq!(tickets.all::<u32>().len(), 1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after the epoch").as_millis() as u64;
        assert_eq!((tickets.live::<u32>(now).len(), tickets.files().count()), (1, 2), "it may be in use");
        assert_eq!((tickets.live::<u32>(now + 7_200_000).len(), tickets.files().count()), (1, 1));
    }

    #[test]
    fn an_address_is_shown_without_its_user() {
        for (url, shown) in [
            ("https://user:p@ss@host:1/a@b?c=@", "https://host:1/a@b?c=@"),
            ("https://user@host", "https://host"),
            ("https://host/@", "https://host/@"),
            ("host", "host"),
        ] {
            assert_eq!(Place::Url(url.to_owned()).to_string(), shown);
        }
        assert_eq!(Place::Stdio("a b@c".to_owned()).to_string(), "a b@c");
    }

    #[cfg(unix)]
    #[test]
    fn tickets_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, tickets) = folder();
        tickets.keep(&kept("a", 1, None)).expect("kept");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&tickets.folder), 0o700);
        let file = fs::read_dir(&tickets.folder).expect("a folder").flatten().next().expect("a file").path();
        assert_eq!(mode(&file), 0o600);
    }
}
