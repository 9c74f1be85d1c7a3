//! The result of a tool, for people: text as it is, structured content as a table where it is one, and what is no text
//! as files.

mod save;

use serde_json::{Map, Value};

pub use self::save::Saver;
use crate::{exit::Problem, text};

/// A `CallToolResult` as text for a terminal.
///
/// # Errors
/// If a file cannot be written.
pub fn render(result: &Value, saver: &mut Saver, terminal: bool) -> Result<String, Problem> {
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let mut parts = Vec::new();
    for block in result["content"].as_array().into_iter().flatten() {
        // Servers send structured content as text as well, for clients that know no better.
        let repeated = structured.is_some_and(|value| repeats(block, value));
        if !repeated {
            parts.push(self::block(block, saver)?);
        }
    }
    parts.extend(structured.map(|value| readable(value, terminal)));
    parts.retain(|part| !part.is_empty());
    Ok(if parts.is_empty() { "(the result is empty)".to_owned() } else { parts.join("\n") })
}

/// Whether a block of text is the structured content once more.
fn repeats(block: &Value, structured: &Value) -> bool {
    let told = block["text"].as_str();
    block["type"] == "text"
        && told.is_some_and(|told| serde_json::from_str::<Value>(told).is_ok_and(|v| v == *structured))
}

fn block(block: &Value, saver: &mut Saver) -> Result<String, Problem> {
    let said = |value: &Value| text::printable(value.as_str().unwrap_or_default());
    match block["type"].as_str() {
        Some("text") => Ok(said(&block["text"])),
        Some(kind @ ("image" | "audio")) => saver.blob(kind, &block["mimeType"], &block["data"]),
        Some("resource_link") => Ok(format!("{}: {}", said(&block["name"]), said(&block["uri"]))),
        Some("resource") => {
            let resource = &block["resource"];
            let shown = match resource["text"].as_str() {
                Some(told) => text::printable(told),
                None => saver.blob("resource", &resource["mimeType"], &resource["blob"])?,
            };
            Ok(format!("{}:\n{shown}", said(&resource["uri"])))
        }
        _ => Ok(readable(block, false)),
    }
}

/// Any JSON for people: a table where it is a list of like objects, lines where it is a flat object.
pub fn readable(value: &Value, terminal: bool) -> String {
    match value {
        Value::Array(rows) if is_table(rows) => rows_table(rows, terminal),
        Value::Object(members) if !members.is_empty() && members.values().all(is_scalar) => lines(members),
        Value::Object(_) | Value::Array(_) => text::printable(&format!("{value:#}")),
        scalar => cell(scalar),
    }
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

/// A table has no cell with a structure of its own, and not so many columns that none can be read.
fn is_table(rows: &[Value]) -> bool {
    const COLUMNS: usize = 12;
    let flat = |row: &Value| row.as_object().is_some_and(|row| !row.is_empty() && row.values().all(is_scalar));
    !rows.is_empty() && rows.iter().all(flat) && columns(rows).len() <= COLUMNS
}

/// The names in the rows, in the order in which they first come.
fn columns(rows: &[Value]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    columns
}

fn rows_table(rows: &[Value], terminal: bool) -> String {
    let columns = columns(rows);
    let cells =
        rows.iter().map(|row| columns.iter().map(|name| row.get(*name).map_or_else(String::new, cell)).collect());
    let head: Vec<String> = columns.iter().map(|name| text::printable(name)).collect();
    text::table(terminal, &head.iter().map(String::as_str).collect::<Vec<_>>(), cells)
}

fn lines(members: &Map<String, Value>) -> String {
    let width = members.keys().map(|name| name.chars().count()).max().unwrap_or(0).min(30);
    let lines = members.iter().map(|(name, value)| format!("{:<width$}  {}", text::printable(name), cell(value)));
    lines.collect::<Vec<_>>().join("\n")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(told) => text::printable(told),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(result: Value, expected: &str) {
        let told = render(&result, &mut Saver::nowhere(), false).expect("rendered");
        assert_eq!(told, expected);
    }

    #[test]
    fn text_comes_as_it_is_but_moves_no_cursor() {
        check(json!({"content": [{"type": "text", "text": "one\ntwo\u{1b}[H"}]}), "one\ntwo\u{fffd}[H");
        check(json!({"content": []}), "(the result is empty)");
    }

    #[test]
    fn structured_content_is_shown_once_and_so_that_it_can_be_read() {
        let rows = json!([{"id": 1, "name": "a"}, {"id": 22, "size": null}]);
        check(
            json!({"content": [{"type": "text", "text": rows.to_string()}], "structuredContent": rows}),
            " id  name  size\n 1   a\n 22        -",
        );
        check(json!({"content": [], "structuredContent": {"a": 1, "long": "x"}}), "a     1\nlong  x");
        check(json!({"content": [], "structuredContent": {"a": [1]}}), "{\n  \"a\": [\n    1\n  ]\n}");
        check(json!({"content": [{"type": "text", "text": "7"}], "structuredContent": 7}), "7");
    }

    #[test]
    fn what_is_no_text_is_named() {
        check(
            json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}),
            "[image, image/png, 3 bytes; keep it with --save DIR]",
        );
        check(
            json!({"content": [
                {"type": "resource_link", "name": "log", "uri": "file:///log"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "told"}},
            ]}),
            "log: file:///log\na:b:\ntold",
        );
        check(
            json!({"content": [{"type": "image", "mimeType": "image/png", "data": "%"}]}),
            "[image, image/png: not base64]",
        );
    }
}
