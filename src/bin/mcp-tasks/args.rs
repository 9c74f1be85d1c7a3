//! The command line as a whole; each group of commands has its own arguments beside what it does.

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::{admin::AdminArgs, exit, tools::ToolsArgs};

/// Call tools that take their time: start, watch, answer and stop tasks on any MCP server.
#[derive(Debug, Parser)]
#[command(name = "mcp-tasks", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Args {
    /// Write JSON, one value a line, and ask nothing: for scripts.
    #[arg(long, global = true)]
    pub json: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
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

/// Prints the completions of `shell`.
pub fn completions(shell: Shell) {
    let mut command = Args::command();
    clap_complete::generate(shell, &mut command, "mcp-tasks", &mut std::io::stdout());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
