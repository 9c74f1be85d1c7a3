//! The arguments of the commands about tasks.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use crate::{connect::ServerArgs, text};

/// The arguments of `call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-tasks call slow_sum numbers=3,4,5 --stdio ./server
  mcp-tasks call bake layers=2 --url http://127.0.0.1:8000/mcp
  id=$(mcp-tasks call bake layers=2 --detach --url ...)

A value is read as the tool's input schema wants it. Lists have commas, or are given several times.
`name:=JSON` is taken as it is.

Ctrl-C asks whether to cancel the task or to leave it running.")]
pub struct CallArgs {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// A file with the arguments as a JSON object; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "arguments")]
    pub args: Option<PathBuf>,
    /// Do not wait: print the id of the task, and leave it running.
    #[arg(long)]
    pub detach: bool,
    /// What to keep of the result.
    #[command(flatten)]
    pub save: SaveArgs,
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Which task.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// The id of the task; of one that was started from here, how its id begins is enough.
    pub id: String,
    /// Which server; for a task that was started from here, it is known.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What to keep of a result.
#[derive(Debug, Args)]
pub struct SaveArgs {
    /// Keep images and other files of the result in this folder; with --json, `files` says where.
    #[arg(long = "save", value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// The arguments of `get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskArgs,
    /// What to keep of the result.
    #[command(flatten)]
    pub save: SaveArgs,
}

/// The arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Questions of the task are asked here, and Ctrl-C asks whether to cancel the task or to leave it running, as with `call`.")]
pub struct WatchArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskArgs,
    /// What to keep of the result.
    #[command(flatten)]
    pub save: SaveArgs,
}

/// The arguments of `wait`.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskArgs,
    /// What to keep of the result.
    #[command(flatten)]
    pub save: SaveArgs,
    /// No longer than this, such as `30s`; the task goes on then.
    #[arg(long, value_parser = text::parse_duration, value_name = "DURATION")]
    pub timeout: Option<Duration>,
}

/// The arguments of `answer`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-tasks answer 0f5c                          (shows the question as a form)
  mcp-tasks answer 0f5c name=Ada loud=yes
  mcp-tasks answer 0f5c --key guest --decline")]
pub struct AnswerArgs {
    /// Which task.
    #[command(flatten)]
    pub task: TaskArgs,
    /// What goes into the form; without any, the form is shown at the terminal.
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Which question, if there are several.
    #[arg(long)]
    pub key: Option<String>,
    /// Say no.
    #[arg(long, conflicts_with_all = ["arguments", "dismiss"])]
    pub decline: bool,
    /// Close the question without an answer. (This does not cancel the task.)
    #[arg(long, conflicts_with = "arguments")]
    pub dismiss: bool,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = "\
With --url or --stdio, the tasks at that server are listed. The token in MCP_TASKS_TOKEN and each --header are sent to the \
server that --url names, and to no other: without --url, --refresh asks every server as somebody unknown, and a task that \
such a server does not know is kept.")]
pub struct ListArgs {
    /// Ask each server how the tasks stand; those that have ended are forgotten.
    #[arg(long)]
    pub refresh: bool,
    /// Which server, of all.
    #[command(flatten)]
    pub server: ServerArgs,
}
