//! The messages that are measured.

use serde_json::{Value, json};

/// A poll of a task that is being worked on.
pub fn working() -> String {
    let text = r#"{"jsonrpc":"2.0","id":42,"result":{"resultType":"complete","taskId":"786512e2-9e0d-44bd-8f29-789f320fe840","status":"working","statusMessage":"Reading the archive","createdAt":"2026-07-28T10:30:00Z","lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":3600000,"pollIntervalMs":5000}}"#;
    text.to_owned()
}

/// What a tool's structured result is made of. What decoding costs hangs on it: taken apart, every value costs, while as
/// text only the bytes do.
#[derive(Clone, Copy)]
pub enum Rows {
    /// Rows of three numbers.
    Numbers,
    /// Objects with a few members of all kinds.
    Objects,
    /// Objects with long strings.
    Prose,
}

/// A completed task whose structured result has about this many bytes.
pub fn completed(kind: Rows, bytes: usize) -> String {
    let mut rows = Vec::new();
    let mut size = 0;
    while size < bytes {
        let row = row(kind, rows.len());
        size += row.to_string().len() + 1;
        rows.push(row);
    }
    let count = format!("{} rows", rows.len());
    json!({
        "jsonrpc": "2.0",
        "id": 42,
        "result": {
            "resultType": "complete",
            "taskId": "786512e2-9e0d-44bd-8f29-789f320fe840",
            "status": "completed",
            "createdAt": "2026-07-28T10:30:00Z",
            "lastUpdatedAt": "2026-07-28T10:40:00Z",
            "ttlMs": 3_600_000,
            "result": {
                "resultType": "complete",
                "content": [{ "type": "text", "text": count }],
                "structuredContent": { "rows": rows },
                "isError": false,
            },
        },
    })
    .to_string()
}

fn row(kind: Rows, index: usize) -> Value {
    let temperature = (index * 37 % 401) as f64 / 10.0;
    match kind {
        Rows::Numbers => json!([index, temperature, index % 7]),
        Rows::Objects => json!({
            "id": index,
            "name": format!("measuring station {index}"),
            "temperature": temperature,
            "active": index.is_multiple_of(3),
            "tags": ["outdoor", "calibrated"],
            "position": { "latitude": index % 90, "longitude": index % 180 },
        }),
        Rows::Prose => json!({
            "id": format!("{index:08x}"),
            "title": "How the old harbour was dredged, and what was found in the mud",
            "text": "For three summers the dredger worked from the pier to the lighthouse. What it brought up was \
                     washed, numbered and laid out in the sail loft, where whoever wished could come and look.",
        }),
    }
}
