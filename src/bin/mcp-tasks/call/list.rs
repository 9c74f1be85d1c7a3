//! `mcp-tasks list`: the tasks that the user started from here and that are not over.

use std::time::Duration;

use serde::Serialize;

use super::{Client, ListArgs, now};
use crate::{
    connect::Credentials,
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

/// Lists the tasks that were started from here, or those at the server that is named.
pub async fn run(args: ListArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let named = args.server.place();
    let mut kept = tickets.live::<Ticket>(now());
    kept.retain(|kept| named.as_ref().is_none_or(|named| kept.server == *named));
    let mut rows = Vec::new();
    let asker = Asker::new(&args, tickets, output);
    for kept in kept {
        let status = if args.refresh { asker.status(&kept).await } else { Some(None) };
        if let Some(status) = status {
            let Kept { task_id, tool, server, created, .. } = kept;
            rows.push(Row { task_id, tool, server: server.shown(), created_at_ms: created, status });
        }
    }
    output.value(&rows, |rows| print(rows, output.terminal))?;
    Ok(Exit::Done)
}

/// Asks servers how tasks stand, and shows who asks to none but the one that the user named.
struct Asker<'a> {
    credentials: Credentials,
    /// Whether the user named the server, so that what it does not know is no more.
    named: bool,
    tickets: &'a Tickets,
    output: &'a Output,
}

impl<'a> Asker<'a> {
    fn new(args: &ListArgs, tickets: &'a Tickets, output: &'a Output) -> Self {
        let (named, credentials) = (args.server.url.is_some(), Credentials::of(&args.server));
        if args.refresh && !named && !credentials.is_empty() {
            output.note("No token and no header is sent to servers that you do not name: say --url URL.");
        }
        let credentials = if named { credentials } else { Credentials::none() };
        Self { credentials, named, tickets, output }
    }

    /// How a task stands; `None` if it is over.
    async fn status(&self, kept: &Kept<Ticket>) -> Option<Option<String>> {
        // A server that cannot be asked, such as one on stdio that is not to be started for this, says nothing.
        if matches!(kept.server, Place::Stdio(_)) {
            return Some(None);
        }
        let unreachable = || Some(Some("unreachable".to_owned()));
        let opened = Client::open(kept.server.clone(), self.credentials.clone(), self.tickets, self.output).await;
        let Ok(client) = opened else { return unreachable() };
        let task = client.session.get(&kept.task_id).await;
        client.close().await;
        match task {
            Ok(Some(task)) if !Outcome::of(&task).is_over() => Some(task["status"].as_str().map(str::to_owned)),
            // To whom nobody says who asks, another's task is one that never was.
            Ok(None) if !self.named => Some(Some("unknown".to_owned())),
            Ok(_) => {
                self.tickets.forget(&kept.server, &kept.task_id);
                None
            }
            Err(_) => unreachable(),
        }
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
