//! How much memory an input can make a reader take: no more than a fixed number of bytes for each of its own.

#[allow(dead_code, reason = "the schemas are for other tests")]
#[path = "it/revisions.rs"]
mod revisions;

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that may be taken at any time for each byte of the input.
const EACH: usize = 256;

/// Bytes that may be taken besides.
const BESIDES: usize = 4 * 1024;

/// All in one test, for the allocator counts what other tests take as well.
#[test]
fn memory_is_in_proportion_to_the_input() {
    let mut worst = (0, String::new());
    for (what, text) in inputs() {
        for revision in &revisions::ALL {
            for name in revision.names {
                MEMORY.reset_peak_usage();
                let before = MEMORY.current_usage();
                let outcome = revision.recode(name, &text);
                let taken = MEMORY.peak_usage() - before;
                drop(outcome);
                let allowed = EACH * text.len() + BESIDES;
                assert!(taken <= allowed, "{name}: {what}: {} bytes took {taken}", text.len());
                let each = taken.saturating_sub(BESIDES) / text.len();
                if each > worst.0 {
                    worst = (each, format!("{name}: {what}"));
                }
            }
        }
    }
    println!("at most {} bytes for each: {}", worst.0, worst.1);
}

/// What is small as text and large as a value, alone and wherever a type might expect it.
fn inputs() -> Vec<(String, String)> {
    let shapes = [
        ("empty objects", list("{}")),
        ("empty lists", list("[]")),
        ("numbers", list("1")),
        ("texts", list("\"\"")),
        ("small objects", list("{\"a\":0}")),
        ("items with a late tag", list("{\"text\":\"\",\"type\":\"text\"}")),
        ("questions", list("{\"type\":\"string\"}")),
        ("messages", list("{\"role\":\"user\",\"content\":[]}")),
        ("a map of empty objects", map("{}")),
        ("a map of requests", map("{\"method\":\"roots/list\"}")),
        ("a map of questions", map("{\"type\":\"boolean\"}")),
        ("a long text", format!("\"{}\"", "x".repeat(300))),
        ("a long text of escapes", format!("\"{}\"", "\\u200b".repeat(500))),
        ("a text of what is long when shown", format!("\"{}\"", "\u{200b}".repeat(300))),
        ("a long number", "9".repeat(3_000)),
        ("brackets", "[".repeat(3_000)),
        ("objects in objects", "{\"a\":".repeat(100) + "1" + &"}".repeat(100)),
        ("one member many times", format!("{{{}\"x\":0}}", "\"taskId\":0,".repeat(300))),
    ];
    let members = [
        "content",
        "messages",
        "hints",
        "icons",
        "roots",
        "result",
        "inputRequests",
        "inputResponses",
        "params",
        "_meta",
        "properties",
        "status",
        "type",
        "method",
        "resultType",
        "taskIds",
        "unknown",
    ];
    let mut inputs = Vec::new();
    for (what, text) in &shapes {
        inputs.push(((*what).to_owned(), text.clone()));
        inputs.extend(members.iter().map(|member| (format!("{what} in {member}"), format!("{{\"{member}\":{text}}}"))));
    }
    inputs
}

fn list(item: &str) -> String {
    format!("[{}{item}]", format!("{item},").repeat(150))
}

fn map(value: &str) -> String {
    let entries: Vec<_> = (0..100).map(|index| format!("\"{index}\":{value}")).collect();
    format!("{{{}}}", entries.join(","))
}
