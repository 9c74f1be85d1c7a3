//! The command line as a whole; each group of commands has its own arguments beside what it does.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::{
    admin::AdminArgs,
    call::{AnswerArgs, CallArgs, GetArgs, ListArgs, TaskArgs, WaitArgs, WatchArgs},
    exit,
    tickets::FOLDER_VARIABLE,
    tools::ToolsArgs,
};

/// What a newcomer tries first.
const START: &str = "\
Start here:
  mcp-tasks tools --stdio './server'                 what the server can do
  mcp-tasks call TOOL name=value --stdio './server'  call a tool, see it through
  mcp-tasks call TOOL name=value --url https://...   the same with a server elsewhere
";

/// Call tools that take their time: start, watch, answer and stop tasks on any MCP server.
#[derive(Debug, Parser)]
#[command(name = "mcp-tasks", version, before_help = START, after_help = exit::HELP, max_term_width = 100)]
pub struct Args {
    /// Write JSON, one value a line, and ask nothing: for scripts.
    #[arg(long, global = true)]
    pub json: bool,

    /// Where the tasks that were started from here are remembered, instead of the platform's folder for data.
    #[arg(long, global = true, value_name = "DIR", env = FOLDER_VARIABLE)]
    pub data_dir: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Call a tool, and follow its task to the end.
    Call(CallArgs),
    /// Look at a task once.
    Get(GetArgs),
    /// Follow a task to its end, whoever began it.
    Watch(WatchArgs),
    /// Wait for a task to end, without a word.
    Wait(WaitArgs),
    /// Answer a question of a task.
    Answer(AnswerArgs),
    /// Cancel a task.
    Cancel(TaskArgs),
    /// List the tasks that were started from here and are not over.
    List(ListArgs),
    /// List the tools of a server with their arguments, and say whether it offers tasks.
    Tools(ToolsArgs),
    /// Look into the store of a server, and put tasks right.
    Admin(Box<AdminArgs>),
    /// Print the completions of a shell, to be put where it looks for them.
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// The completions of `shell`: a script of our own.
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "mcp-tasks", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
