//! How people read what an operator is told.

use std::fmt::Write as _;

use mcp_tasks::clock::UnixMillis;
use serde_json::Value;

use super::view::{Cancelled, Detail, How, Input, Numbers, Page, Purged, Retried, Summary};
use crate::text;

/// How wide free text may be in a table.
const MESSAGE: usize = 60;

/// A table of tasks.
pub fn page(page: &Page, now: UnixMillis, terminal: bool) -> String {
    if page.tasks.is_empty() {
        return "no tasks".to_owned();
    }
    let head = ["ID", "STATUS", "TOOL", "PRINCIPAL", "AGE", "GONE IN", "MESSAGE"];
    let mut table = text::table(terminal, &head, page.tasks.iter().map(|task| row(task, now)));
    if let Some(next) = &page.next {
        let _ = write!(table, "\n\nThere are more: --after {next}");
    }
    table
}

fn row(task: &Summary, now: UnixMillis) -> Vec<String> {
    let message = task.status_message.as_deref().unwrap_or_default();
    vec![
        task.task_id.clone(),
        standing(task),
        text::brief(&task.tool, MESSAGE),
        principal(&task.principal),
        text::duration(now.since(task.created)),
        left(task.gone, now),
        text::brief(message, MESSAGE),
    ]
}

/// The status, and how far the tool says it has come.
fn standing(task: &Summary) -> String {
    match &task.progress {
        _ if task.cancel_requested && task.status == "working" => "working (cancelling)".to_owned(),
        Some(progress) if task.status == "working" => format!("working {}/{}", progress.done, progress.total),
        _ => task.status.to_owned(),
    }
}

fn principal(name: &str) -> String {
    if name.is_empty() { "(nobody)".to_owned() } else { text::brief(name, 32) }
}

fn left(at: UnixMillis, now: UnixMillis) -> String {
    if at == UnixMillis::NEVER { "never".to_owned() } else { text::duration(at.since(now)) }
}

/// A task, a line for each thing that is known.
pub fn detail(task: &Detail, now: UnixMillis) -> String {
    let summary = &task.summary;
    let mut lines = vec![
        ("task", summary.task_id.clone()),
        ("status", standing(summary)),
        ("message", text::printable(summary.status_message.as_deref().unwrap_or("-"))),
        ("tool", format!("{} (version {})", text::printable(&summary.tool), text::printable(&summary.version))),
        ("principal", principal(&summary.principal)),
        ("created", format!("{} ({} ago)", summary.created_at, text::duration(now.since(summary.created)))),
        ("updated", summary.last_updated_at.clone()),
        ("gone", format!("in {}", left(summary.gone, now)).replace("in never", "never")),
        ("on cancel", task.on_cancel.to_owned()),
        ("on restart", task.on_restart.clone()),
        ("attempts", summary.attempt.to_string()),
        ("epoch", task.epoch.to_string()),
    ];
    if let Some(arguments) = &task.arguments {
        lines.push(("arguments", json(arguments)));
    }
    lines.extend(task.inputs.iter().map(|input| ("input", asked(input))));
    lines.extend(task.steps.iter().map(|step| ("step", format!("{}: {}", step.key, json(&step.value)))));
    lines.extend(task.result.iter().map(|result| ("result", json(result))));
    lines.extend(task.error.iter().map(|error| ("error", json(error))));
    lines.iter().map(|(name, value)| format!("{name:<11} {}\n", value.replace('\n', "\n            "))).collect()
}

fn asked(input: &Input) -> String {
    let payload = input.request.as_ref().or(input.response.as_ref());
    let payload = payload.map(|payload| format!(" {}", json(payload))).unwrap_or_default();
    format!("{} ({}){payload}", text::printable(&input.key), input.state)
}

/// JSON for people: a text as it is, the rest indented where it is long.
fn json(value: &Value) -> String {
    let short = value.to_string();
    let text = match value {
        Value::String(text) => text.clone(),
        _ if short.len() <= 80 => short,
        _ => format!("{value:#}"),
    };
    text::printable(&text)
}

/// What came of a wish to cancel.
pub fn cancelled(cancelled: &Cancelled) -> String {
    let Cancelled { task_id, status, .. } = cancelled;
    match () {
        () if cancelled.had_ended => format!("{task_id} had ended before: it is {status}"),
        () if cancelled.cancel_requested => {
            format!("{task_id} is {status}; its tool was told, and ends it in its own time")
        }
        () => format!("{task_id} is {status}"),
    }
}

/// What came of a retry.
pub fn retried(retried: &Retried) -> String {
    match retried.how {
        How::TakenFromItsWorker => {
            format!("{} was taken from its worker; the next free worker runs it again", retried.task_id)
        }
        How::NewTask => format!("{} is final; {} does the same again", retried.task_id, retried.runs_as),
    }
}

/// How many are gone.
pub fn purged(purged: &Purged) -> String {
    match purged.removed {
        0 => "nothing was removed".to_owned(),
        1 => "1 task is gone".to_owned(),
        many => format!("{many} tasks are gone"),
    }
}

/// How the store stands.
pub fn stats(stats: &Numbers, now: UnixMillis, terminal: bool) -> String {
    let head = ["TOOL", "WORKING", "INPUT REQUIRED", "COMPLETED", "FAILED", "CANCELLED"];
    let rows = stats.tools.iter().map(|tool| {
        let counts = [tool.working, tool.input_required, tool.completed, tool.failed, tool.cancelled];
        [text::brief(&tool.tool, MESSAGE)].into_iter().chain(counts.map(|count| count.to_string())).collect()
    });
    let waiting = match stats.oldest_unclaimed {
        Some(oldest) => format!("{}, the oldest for {}", stats.unclaimed, text::duration(now.since(oldest))),
        None => stats.unclaimed.to_string(),
    };
    let bytes = stats.bytes.map_or_else(|| "unknown".to_owned(), |bytes| indicatif::HumanBytes(bytes).to_string());
    format!(
        "{}\n\nwaiting for a worker  {waiting}\nheld by workers       {}\nleases run out        {}\nsize of the store     {bytes}",
        text::table(terminal, &head, rows),
        stats.leased,
        stats.overdue,
    )
}
