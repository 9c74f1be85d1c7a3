//! `mcp-tasks admin`: an operator looks into a store and puts tasks right.
//!
//! [`work`] does it, on any store that has [`AdminStore`], and knows no terminal; [`view`] is what it tells; [`print`] is
//! how people read that.

mod args;
mod open;
mod print;
mod view;
mod work;

use std::io::Write as _;

use mcp_tasks::{
    clock::{Clock, SystemClock},
    store::{AdminStore, admin::Filter},
};

use self::args::Action;
pub use self::args::AdminArgs;
use crate::{
    exit::{Exit, Problem},
    output::Output,
};

/// Runs one command of an operator.
pub async fn run(args: AdminArgs, output: &Output) -> Result<Exit, Problem> {
    let store = open::open(&args.store).await?;
    act(&*store, args.action, output).await?;
    Ok(Exit::Done)
}

async fn act(store: &dyn AdminStore, action: Action, output: &Output) -> Result<(), Problem> {
    let now = SystemClock.now();
    match action {
        Action::List(list) => {
            let page = work::list(store, &list.select.filter(now)?, list.after, list.limit()).await?;
            output.value(&page, |page| print::page(page, now, output.terminal))
        }
        Action::Show { id } => output.value(&work::show(store, id).await?, |task| print::detail(task, now)),
        Action::Cancel { id } => output.value(&work::cancel(store, id).await?, print::cancelled),
        Action::Retry { id } => output.value(&work::retry(store, id).await?, print::retried),
        Action::Purge { select, yes } => purge(store, &select.filter(now)?, yes, output).await,
        Action::Stats => output.value(&work::stats(store).await?, |stats| print::stats(stats, now, output.terminal)),
    }
}

/// Removes what a person has agreed to.
async fn purge(store: &dyn AdminStore, filter: &Filter, yes: bool, output: &Output) -> Result<(), Problem> {
    let meant = if yes { None } else { Some(agreed(store, filter, output).await?) };
    let purged = match meant {
        Some(false) => view::Purged { removed: 0 },
        _ => work::purge(store, filter).await?,
    };
    output.value(&purged, print::purged)
}

/// Asks whether all those settled tasks shall go.
async fn agreed(store: &dyn AdminStore, filter: &Filter, output: &Output) -> Result<bool, Problem> {
    if !output.interactive {
        return Err(Problem::usage("nothing was removed, for there is no terminal to ask at")
            .hint("say `--yes` to remove what the filters mean"));
    }
    let count = work::count_settled(store, filter).await?;
    if count == 0 {
        return Ok(true);
    }
    let mut err = std::io::stderr();
    write!(err, "Remove {count} settled task{} for ever? [y/N] ", if count == 1 { "" } else { "s" })?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
