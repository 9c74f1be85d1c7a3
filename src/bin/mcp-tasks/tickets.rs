//! Tickets: what this program remembers of the tasks that its user started, so that another run of it finds them again.
//!
//! A file each, in the platform's folder for data, readable by the user alone. No token and no header is ever in one.

use std::{
    cmp::Reverse,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use directories::ProjectDirs;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::exit::Problem;

/// Names the folder, for tests and for whoever keeps things elsewhere.
pub const FOLDER_VARIABLE: &str = "MCP_TASKS_DATA_DIR";

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
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let texts = files.filter_map(|file| fs::read(file.path()).ok());
        let mut all: Vec<Kept<T>> = texts.filter_map(|text| serde_json::from_slice(&text).ok()).collect();
        all.sort_by_key(|kept| Reverse(kept.created));
        all
    }

    /// Forgets what is too old at `now`, in milliseconds since the Unix epoch; returns the rest, newest first.
    pub fn live<T: DeserializeOwned>(&self, now: u64) -> Vec<Kept<T>> {
        let (live, old): (Vec<_>, Vec<_>) =
            self.all().into_iter().partition(|kept: &Kept<T>| kept.until.is_none_or(|until| now < until));
        for kept in &old {
            self.forget(&kept.server, &kept.task_id);
        }
        live
    }

    /// The ticket of a task whose id is, or begins with, `text`.
    ///
    /// # Errors
    /// If several begin so.
    pub fn find<T: DeserializeOwned>(&self, text: &str) -> Result<Option<Kept<T>>, Problem> {
        let mut found: Vec<Kept<T>> = self.all();
        found.retain(|kept| kept.task_id.starts_with(text));
        if let Some(exact) = found.iter().position(|kept| kept.task_id == text) {
            return Ok(Some(found.swap_remove(exact)));
        }
        match found.len() {
            0 | 1 => Ok(found.pop()),
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
        assert_eq!(tickets.find("abc").expect("one"), Some(kept("abc/../1", 1, None)));
        assert!(tickets.find::<u32>("ab").is_err());
        assert_eq!(tickets.find::<u32>("x").expect("none"), None);
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
