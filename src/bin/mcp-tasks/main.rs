//! `mcp-tasks`: tools that take their time, from the command line; and `mcp-tasks admin`, for whoever runs a server.
//!
//! What a command does is a function that gives a value; what is printed of it, for people or as JSON, is decided after
//! that, and here nothing but which one runs.

mod admin;
mod args;
mod arguments;
mod call;
mod connect;
mod exit;
mod form;
mod live;
mod outcome;
mod output;
mod person;
mod result;
mod tasks;
mod text;
mod tickets;
mod tools;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Args, Command},
    exit::{Exit, Problem},
    output::Output,
    tickets::Tickets,
};

fn main() -> ExitCode {
    let args = Args::parse();
    let output = Output::standard(args.json);
    let exit = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let exit = runtime.block_on(run(args, &output));
            // A prompt that nobody waits for any longer may still read the terminal.
            runtime.shutdown_background();
            person::leave();
            exit
        }
        Err(error) => Err(error.into()),
    };
    exit.unwrap_or_else(|problem| {
        output.problem(&problem);
        Exit::of(&problem)
    })
    .into()
}

async fn run(args: Args, output: &Output) -> Result<Exit, Problem> {
    let tickets = || Tickets::open(args.data_dir.clone());
    match args.command {
        Command::Admin(command) => admin::run(*command, output).await,
        Command::Call(command) => call::call(command, &tickets()?, output).await,
        Command::Get(command) => call::get(command, &tickets()?, output).await,
        Command::Watch(command) => call::watch(command, &tickets()?, output).await,
        Command::Wait(command) => call::wait(command, &tickets()?, output).await,
        Command::Answer(command) => call::answer(command, &tickets()?, output).await,
        Command::Cancel(command) => call::cancel(command, &tickets()?, output).await,
        Command::List(command) => call::list(command, &tickets()?, output).await,
        Command::Tools(command) => tools::run(command, output).await,
        Command::Completions { shell } => {
            Output::script(&args::completions(shell))?;
            Ok(Exit::Done)
        }
    }
}
