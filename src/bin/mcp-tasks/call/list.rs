//! `mcp-tasks list`: the tasks that the user started from here and that are not over.

use std::time::Duration;

use serde::Serialize;

use super::{ListArgs, named, now};
use crate::{
    exit::{Exit, Problem},
    outcome::Outcome,
    output::Output,
    tasks::Ticket,
    text,
    tickets::{Kept, Place, Tickets},
};

/// One of the tasks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    task_id: String,
    tool: Option<String>,
    server: Place,
    created_at_ms: u64,
    /// How it stands, if its server was asked and answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
}

/// Lists the tasks that were started from here.
pub async fn run(args: ListArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let mut rows = Vec::new();
    for kept in tickets.live::<Ticket>(now()) {
        let status = if args.refresh { status(&kept, &args, tickets, output).await } else { Some(None) };
        if let Some(status) = status {
            let Kept { task_id, tool, server, created, .. } = kept;
            rows.push(Row { task_id, tool, server, created_at_ms: created, status });
        }
    }
    output.value(&rows, |rows| print(rows, output.terminal))?;
    Ok(Exit::Done)
}

/// How a task stands; `None` if it is over.
async fn status(kept: &Kept<Ticket>, args: &ListArgs, tickets: &Tickets, output: &Output) -> Option<Option<String>> {
    // A server that cannot be asked, such as one on stdio that is not to be started for this, says nothing.
    if matches!(kept.server, Place::Stdio(_)) {
        return Some(None);
    }
    let mut server = args.server.clone();
    (server.url, server.stdio) = (None, None);
    let Ok(named) = named(&kept.task_id, &server, tickets, output).await else {
        return Some(Some("unreachable".to_owned()));
    };
    let task = named.get().await;
    named.client.close().await;
    match task {
        Ok(Some(task)) if !Outcome::of(&task).is_over() => Some(task["status"].as_str().map(str::to_owned)),
        Ok(_) => None,
        Err(_) => Some(Some("unreachable".to_owned())),
    }
}

fn print(rows: &[Row], terminal: bool) -> String {
    if rows.is_empty() {
        return "no tasks".to_owned();
    }
    let cells = rows.iter().map(|row| {
        let (Place::Url(server) | Place::Stdio(server)) = &row.server;
        let age = Duration::from_millis(now().saturating_sub(row.created_at_ms));
        vec![
            text::brief(&row.task_id, 64),
            text::brief(row.tool.as_deref().unwrap_or("-"), 40),
            text::duration(age),
            text::brief(row.status.as_deref().unwrap_or("-"), 20),
            text::brief(server, 80),
        ]
    });
    text::table(terminal, &["ID", "TOOL", "AGE", "STATUS", "SERVER"], cells)
}
