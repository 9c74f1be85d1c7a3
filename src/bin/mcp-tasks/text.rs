//! Values as people write and read them: durations, moments, tables, text of strangers.

use std::time::Duration;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use jiff::{Span, SpanRelativeTo, Timestamp};
use mcp_tasks::clock::UnixMillis;

/// Reads a duration such as `90s`, `10m`, `2h 30m`, `7d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration; write one like `90s`, `10m`, `2h 30m` or `7d`");
    let span: Span = text.parse().map_err(|_| wrong())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
}

/// A duration in its two largest units: `4.2s`, `3m 12s`, `5h 2m`, `3d 4h`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if seconds < 10 => format!("{:.1}s", duration.as_secs_f64()),
        () if minutes == 0 => format!("{seconds}s"),
        () if hours == 0 => format!("{minutes}m {}s", seconds % 60),
        () if days == 0 => format!("{hours}h {}m", minutes % 60),
        () => format!("{days}d {}h", hours % 24),
    }
}

/// A moment as RFC 3339 in UTC, to the millisecond.
pub fn moment(at: UnixMillis) -> String {
    let millis = i64::try_from(at.get()).unwrap_or(i64::MAX);
    match Timestamp::from_millisecond(millis) {
        Ok(timestamp) => format!("{timestamp:.3}"),
        Err(_) => "never".to_owned(),
    }
}

/// Text of a stranger, safe for a terminal: control characters, which could move the cursor or worse, become visible.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if commands(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// JSON, safe for a terminal: the same value, and what JSON leaves as it is of such characters is escaped. They are only
/// ever inside of strings, where an escape means the same.
pub fn escaped(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if commands(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// [`printable`] text on one line, cut to `most` characters.
pub fn brief(text: &str, most: usize) -> String {
    let line = printable(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Whether a character does something instead of being seen: moves the cursor, or turns the direction of text, with which
/// one command can look like another.
fn commands(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A table for people; without lines where nobody looks, so that `awk` can read it.
pub fn table(terminal: bool, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    let style = TableStyle::new();
    let line = LineStyle::none().fill('─').junction('─');
    table.load_style(if terminal { style.header_separator(line) } else { style });
    // A terminal that does not know its width, or hardly has one, is no reason to break words.
    let fits = terminal && table.width().is_some_and(|width| width >= 40);
    let arrangement = if fits { ContentArrangement::Dynamic } else { ContentArrangement::Disabled };
    table.set_content_arrangement(arrangement);
    table.set_header(head.iter().copied());
    table.add_rows(rows);
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("2h 30m", 9000), ("2h30m", 9000), ("7d", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "soon", "5", "-3s", "1 fortnight"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_written_in_two_units() {
        let texts = [4, 59, 61, 3_599, 3_600, 90_061].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(texts, ["4.0s", "59s", "1m 1s", "59m 59s", "1h 0m", "1d 1h"]);
    }

    #[test]
    fn moments_are_utc() {
        assert_eq!(moment(UnixMillis::new(1_790_000_000_123)), "2026-09-21T14:13:20.123Z");
        assert_eq!(moment(UnixMillis::NEVER), "never");
    }

    /// What a server says cannot move the cursor, nor hide itself.
    #[test]
    fn text_of_strangers_does_nothing() {
        assert_eq!(printable("a\u{1b}[2Jb\r\u{202e}c\nd"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\nd");
        assert_eq!(brief("one\n two  three", 9), "one two …");
    }

    /// A script reads the very value, and a terminal that shows the JSON does nothing.
    #[test]
    fn json_of_strangers_does_nothing_and_stays_the_same() {
        let value = serde_json::json!({"a\u{9b}2J": "\u{1b}[2J\u{7f}\u{202e}é\n"});
        let written = escaped(&value.to_string());
        assert_eq!(written, r#"{"a\u009b2J":"\u001b[2J\u007f\u202eé\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).ok(), Some(value));
    }
}
