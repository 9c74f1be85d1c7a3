//! The arguments of `mcp-tasks admin`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use mcp_tasks::{
    clock::UnixMillis,
    principal::Principal,
    store::admin::{Filter, Position},
    task::TaskStatus,
    task_id::TaskId,
};

use super::view;
use crate::{exit::Problem, text};

/// Look into the store of a server, and put tasks right.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-tasks admin --store tasks.sqlite list --status failed --newer-than 1h
  mcp-tasks admin --store tasks.sqlite show 0f5c1d7e5b0a4f0e8f6f8f3f7d9f2a61
  mcp-tasks admin --store postgres://ops@db/tasks purge --older-than 7d --yes

The store may be in use by servers meanwhile. It is never created here, and never upgraded.")]
pub struct AdminArgs {
    /// Which store.
    #[command(flatten)]
    pub store: StoreArgs,

    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// Which store, and how to read it.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// The store: the path of a SQLite file, `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`.
    #[arg(long = "store", value_name = "STORE", env = "MCP_TASKS_STORE", hide_env_values = true)]
    pub url: String,

    /// The schema that a PostgreSQL store is in.
    #[arg(long, value_name = "NAME", env = "MCP_TASKS_SCHEMA")]
    pub schema: Option<String>,

    /// A file with the keys of an encrypted store, `ID:HEX` a line. Without it, what is sealed stays so.
    #[arg(long, value_name = "FILE", env = "MCP_TASKS_KEY_FILE")]
    pub key_file: Option<PathBuf>,
}

/// What to do with a store.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List tasks, newest first.
    List(List),
    /// Show all that is known of a task.
    Show {
        /// Its id.
        id: TaskId,
    },
    /// Call a task off, as its client could.
    Cancel {
        /// Its id.
        id: TaskId,
    },
    /// Run a task again: an open one whose worker is stuck; a failed one as a new task.
    Retry {
        /// Its id.
        id: TaskId,
    },
    /// Remove settled tasks for ever. An open one is never removed: cancel it first.
    Purge {
        /// Which ones.
        #[command(flatten)]
        select: Select,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Count tasks by tool and status, and what waits for a worker.
    Stats,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Which ones.
    #[command(flatten)]
    pub select: Select,
    /// At most so many.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    limit: u32,
    /// Go on where an earlier list said that there are more.
    #[arg(long, value_parser = view::parse_position, value_name = "POSITION")]
    pub after: Option<Position>,
}

impl List {
    /// How many at most.
    pub fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }
}

/// Which tasks are meant. Without any of these, all.
#[derive(Debug, Clone, Default, Args)]
pub struct Select {
    /// Those of this status.
    #[arg(long)]
    pub status: Option<Status>,
    /// Those of this tool.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Those of this principal; an empty name means those that nobody could be told of.
    #[arg(long, value_name = "NAME")]
    pub principal: Option<String>,
    /// Those created longer ago than this, such as `2h` or `7d`.
    #[arg(long, value_parser = text::parse_duration, value_name = "AGE")]
    pub older_than: Option<Duration>,
    /// Those created less long ago than this.
    #[arg(long, value_parser = text::parse_duration, value_name = "AGE")]
    pub newer_than: Option<Duration>,
}

impl Select {
    /// The filter that means the same, where `now` is the time that ages are counted from.
    pub fn filter(&self, now: UnixMillis) -> Result<Filter, Problem> {
        let before = |age: Duration| UnixMillis::new(now.get().saturating_sub(UnixMillis::new(0).plus(age).get()));
        let filter = Filter {
            status: self.status.map(Status::status),
            tool: self.tool.as_deref().map(Into::into),
            principal: self.principal.as_deref().map(Principal::new),
            created_from: self.newer_than.map(before),
            created_before: self.older_than.map(before),
        };
        match (filter.created_from, filter.created_before) {
            (Some(from), Some(before)) if from >= before => {
                Err(Problem::usage("no task is both older than `--older-than` and newer than `--newer-than`"))
            }
            _ => Ok(filter),
        }
    }
}

/// A status, as on the wire.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Status {
    /// The tool runs, or waits for its turn.
    Working,
    /// The client has questions to answer.
    #[value(alias = "input-required")]
    InputRequired,
    /// There is a result.
    Completed,
    /// There is an error.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

impl Status {
    fn status(self) -> TaskStatus {
        match self {
            Self::Working => TaskStatus::Working,
            Self::InputRequired => TaskStatus::InputRequired,
            Self::Completed => TaskStatus::Completed,
            Self::Failed => TaskStatus::Failed,
            Self::Cancelled => TaskStatus::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_from_now() {
        let select = Select {
            older_than: Some(Duration::from_secs(1)),
            newer_than: Some(Duration::from_secs(10)),
            ..Select::default()
        };
        let filter = select.filter(UnixMillis::new(20_000)).expect("a filter");
        assert_eq!(filter.created_from, Some(UnixMillis::new(10_000)));
        assert_eq!(filter.created_before, Some(UnixMillis::new(19_000)));
        assert_eq!(
            Select { newer_than: Some(Duration::MAX), ..Select::default() }.filter(UnixMillis::new(5)).ok(),
            Some(Filter { created_from: Some(UnixMillis::new(0)), ..Filter::default() })
        );
        let none = Select { older_than: select.newer_than, newer_than: select.older_than, ..Select::default() };
        assert!(none.filter(UnixMillis::new(20_000)).is_err());
    }
}
