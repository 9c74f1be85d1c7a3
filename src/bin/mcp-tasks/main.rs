//! `mcp-tasks`: tools that take their time, from the command line; and `mcp-tasks admin`, for whoever runs a server.
//!
//! What a command does is a function that gives a value; what is printed of it, for people or as JSON, is decided after
//! that, and here nothing but which one runs.

mod admin;
mod args;
mod arguments;
mod connect;
mod exit;
mod form;
mod live;
mod output;
mod person;
mod result;
mod text;
mod tickets;
mod tools;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Args, Command},
    exit::Exit,
    output::Output,
};

fn main() -> ExitCode {
    let args = Args::parse();
    let output = Output::standard(args.json);
    let exit = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(args.command, &output)),
        Err(error) => Err(error.into()),
    };
    exit.unwrap_or_else(|problem| {
        output.problem(&problem);
        Exit::of(&problem)
    })
    .into()
}

async fn run(command: Command, output: &Output) -> Result<Exit, exit::Problem> {
    match command {
        Command::Admin(command) => admin::run(*command, output).await,
        Command::Tools(command) => tools::run(command, output).await,
        Command::Completions { shell } => {
            args::completions(shell);
            Ok(Exit::Done)
        }
    }
}
