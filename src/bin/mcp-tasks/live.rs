//! The live line: how a task stands, written over while it goes on. Where there is no terminal, a line for each change.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::{output, text};

/// The key under which our servers, and others that know it, say how far a task has come.
pub const PROGRESS: &str = "rs.mcp-tasks/progress";

/// How a task stands, as far as a line can show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    status: String,
    message: Option<String>,
    /// Units done, and units in all.
    progress: Option<(u64, u64)>,
    ttl: Option<Duration>,
}

impl Standing {
    /// How `task`, as on the wire, stands.
    pub fn of(task: &Value) -> Self {
        let progress = &task["_meta"][PROGRESS];
        Self {
            status: text::brief(task["status"].as_str().unwrap_or("?"), 40),
            message: task["statusMessage"].as_str().map(|message| text::brief(message, 200)),
            progress: units(&progress["done"]).zip(units(&progress["total"])).filter(|(_, total)| *total > 0),
            ttl: task["ttlMs"].as_u64().map(Duration::from_millis),
        }
    }

    /// The line, `elapsed` after the task was created.
    fn line(&self, elapsed: Duration) -> String {
        let mut parts = vec![self.status.replace('_', " ")];
        parts.extend(self.progress.map(|(done, total)| bar(done, total)));
        parts.extend(self.message.clone());
        parts.push(text::duration(elapsed));
        if let Some(ttl) = self.ttl {
            parts.push(format!("({} left)", text::duration(ttl.saturating_sub(elapsed))));
        }
        parts.join("  ")
    }

    /// The line of a change, where nothing is written over.
    pub fn change(&self) -> String {
        let progress = self.progress.map(|(done, total)| format!(" {}%", percent(done, total))).unwrap_or_default();
        let message = self.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        format!("{}{progress}{message}", self.status.replace('_', " "))
    }
}

/// A count of units, be it written as an integer or not.
fn units(value: &Value) -> Option<u64> {
    let fits = |units: &f64| (0.0..1e18).contains(units);
    // Within that range the conversion only leaves a fraction out.
    value.as_u64().or_else(|| value.as_f64().filter(fits).map(|units| units as u64))
}

fn percent(done: u64, total: u64) -> u64 {
    u64::try_from(u128::from(done.min(total)) * 100 / u128::from(total.max(1))).unwrap_or(100)
}

/// `[######------------]  33%`
fn bar(done: u64, total: u64) -> String {
    let percent = percent(done, total);
    let filled = usize::try_from(percent / 5).unwrap_or(20);
    format!("[{:-<20}] {percent:>3}%", "#".repeat(filled))
}

/// Shows one task.
#[derive(Debug)]
pub struct Live {
    /// Nothing where nobody looks.
    bar: Option<ProgressBar>,
    /// Whether changes are written as lines.
    lines: bool,
    since: Instant,
    shown: Mutex<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    standing: Standing,
    /// How many have asked for silence.
    paused: usize,
}

impl Live {
    /// How often the line is written again.
    pub const PACE: Duration = Duration::from_millis(100);

    /// A live line on a terminal; else `lines`, or nothing.
    pub fn new(terminal: bool, lines: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a constant; were it wrong, the default would do.
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar
        });
        Self { bar, lines, since: Instant::now(), shown: Mutex::default() }
    }

    /// Shows how the task stands now.
    pub fn show(&self, standing: Standing) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lines && shown.standing.change() != standing.change() {
            output::beside(&standing.change());
        }
        shown.standing = standing;
        drop(shown);
        self.tick();
    }

    /// Writes the line again, for time passes.
    pub fn tick(&self) {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(bar), 0, false) = (&self.bar, shown.paused, shown.standing.status.is_empty()) {
            bar.set_message(shown.standing.line(self.since.elapsed()));
            bar.tick();
        }
    }

    /// Takes the line away for as long as the value lives: the terminal is for something else.
    pub fn pause(&self) -> Pause<'_> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).paused += 1;
        self.clear();
        Pause(self)
    }

    /// Takes the line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.suspend(|| {});
            bar.finish_and_clear();
            bar.reset();
        }
    }
}

/// Silence.
#[derive(Debug)]
pub struct Pause<'a>(&'a Live);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner).paused -= 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// NOT-04: progress is what the server says under our key in `_meta`.
    #[test]
    fn the_line_says_how_the_task_stands() {
        let task = json!({
            "status": "input_required", "statusMessage": "one\n\u{1b}[2Jtwo", "ttlMs": 600_000,
            "_meta": {PROGRESS: {"done": 1, "total": 3}},
        });
        let standing = Standing::of(&task);
        assert_eq!(
            standing.line(Duration::from_secs(12)),
            "input required  [######--------------]  33%  one \u{fffd}[2Jtwo  12s  (9m 48s left)"
        );
        assert_eq!(standing.change(), "input required 33%: one \u{fffd}[2Jtwo");
        let plain = Standing::of(&json!({"status": "working", "ttlMs": null}));
        assert_eq!(plain.line(Duration::from_millis(4_200)), "working  4.2s");
    }

    #[test]
    fn no_progress_is_more_than_all_or_a_part_of_nothing() {
        assert_eq!(bar(9, 3), "[####################] 100%");
        assert_eq!(bar(u64::MAX, u64::MAX), "[####################] 100%");
        let task = json!({"status": "working", "_meta": {PROGRESS: {"done": 0, "total": 0}}});
        assert_eq!(Standing::of(&task).progress, None);
    }
}
