//! Input from somebody who means harm: it is read or refused, and nothing else happens.
//!
//! Memory is measured in a test of its own, `tests/memory.rs`.

use crate::budget;
use crate::messages::{Definitions, Source, any_json};
use crate::revisions;
use mcp_tasks_types::{GetTaskResult, Response};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::thread;

/// Enough for an unoptimised build to read JSON as deep as serde_json reads it, and no more.
const STACK: usize = 512 * 1024;

/// Brackets that are too deep for anybody.
const DEEP: usize = 100_000;

/// Runs on a small stack; a panic in there is ours as well, and an overflow ends the process.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Reads a text as every type.
fn read_as_everything(text: &str) {
    for revision in &revisions::ALL {
        for name in revision.names {
            if let Ok(written) = revision.recode(name, text) {
                assert!(revision.recode(name, &written).is_ok(), "{name}: written {written} and refused");
            }
        }
    }
}

fn for_all(cases: u32, length: usize, property: impl Fn(&[u8])) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&vec(any::<u8>(), 0..length), |bytes| {
        property(&bytes);
        Ok::<(), TestCaseError>(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Bytes without any order, and JSON without any order.
#[test]
fn anything_is_read_or_refused() {
    on_a_small_stack(|| {
        for () in budget::rounds() {
            for_all(64, 200, |bytes| {
                let _ = serde_json::from_slice::<Response<GetTaskResult>>(bytes);
                read_as_everything(&String::from_utf8_lossy(bytes));
                read_as_everything(&any_json(&mut Source::new(bytes), 0).to_string());
            });
        }
    });
}

/// Valid messages with bytes changed, taken out, doubled and cut off.
#[test]
fn broken_messages_are_read_or_refused() {
    on_a_small_stack(|| {
        let all: Vec<_> =
            revisions::ALL.iter().map(|revision| (revision, Definitions::parse(revision.schema))).collect();
        for () in budget::rounds() {
            for (revision, definitions) in &all {
                for name in revision.names {
                    for_all(8, 300, |bytes| {
                        let (damage, bytes) = bytes.split_at(bytes.len().min(8));
                        let mut text = definitions.message(name, &mut Source::new(bytes)).to_string().into_bytes();
                        break_up(&mut text, damage);
                        let _ = revision.recode(name, &String::from_utf8_lossy(&text));
                    });
                }
            }
        }
    });
}

fn break_up(text: &mut Vec<u8>, damage: &[u8]) {
    for step in damage.chunks_exact(2) {
        if text.is_empty() {
            return;
        }
        let place = usize::from(step[1]) * text.len() / 256;
        match step[0] % 6 {
            0 => text[place] = step[1],
            1 => drop(text.remove(place)),
            2 => text.truncate(place),
            3 => text.insert(place, b"{}[],:\"\\0e-"[usize::from(step[1]) % 11]),
            4 => text.extend_from_within(place..),
            _ => text[place] ^= 1 << (step[1] % 8),
        }
    }
}

/// Nesting far beyond any limit, in each place that holds any JSON or that has a type of its own.
#[test]
fn deep_nesting_is_refused() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("{\"content\":[", "]}"), ("{\"_meta\":", "}")] {
            let closed = format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
            let unfinished = open.repeat(DEEP);
            for inner in [closed, unfinished] {
                read_as_everything(&inner);
                for member in ["result", "error", "_meta", "unknown", "structuredContent", "content", "inputRequests"] {
                    read_as_everything(&format!("{{\"{member}\":{inner},\"status\":\"completed\",\"taskId\":\"t\"}}"));
                }
            }
        }
    });
}

/// Types that hold types that hold types, the tag always last, so that all of it has to be kept until then.
#[test]
fn late_tags_are_read_however_deep() {
    on_a_small_stack(|| {
        let text = r#"{"text":"x","type":"text"}"#;
        let block = format!(r#"{{"content":[{text},{text}],"toolUseId":"u","type":"tool_result"}}"#);
        let message = format!(r#"{{"content":[{block},{text}],"role":"user"}}"#);
        let params = format!(r#"{{"messages":[{message},{message}],"maxTokens":10}}"#);
        let request = format!(r#"{{"params":{params},"method":"sampling/createMessage"}}"#);
        let task = format!(
            r#"{{"inputRequests":{{"k":{request}}},"ttlMs":null,"lastUpdatedAt":"","createdAt":"","taskId":"t","status":"input_required"}}"#
        );
        let response = format!(r#"{{"result":{task},"id":1,"jsonrpc":"2.0"}}"#);
        let read: Response<GetTaskResult> = serde_json::from_str(&response).unwrap();
        assert_eq!(read.outcome.unwrap().status(), "input_required");
    });
}

/// Numbers that no machine type holds, and texts that are no text.
#[test]
fn extreme_scalars_are_read_or_refused() {
    on_a_small_stack(|| {
        let digits = "9".repeat(10_000);
        for scalar in [
            "1e400",
            "-1e400",
            "1e-400",
            "-0",
            "-0.0",
            "18446744073709551616",
            "1E+309",
            &digits,
            &format!("0.{digits}"),
            &format!("1e{digits}"),
            &format!("-{digits}.{digits}e-{digits}"),
            r#""\ud800""#,
            r#""\udc00\ud800""#,
            r#""\u0000""#,
            &format!("\"{}\"", "\\u200b".repeat(10_000)),
        ] {
            read_as_everything(scalar);
            for member in
                ["ttlMs", "pollIntervalMs", "status", "taskId", "code", "id", "type", "size", "maxTokens", "x"]
            {
                read_as_everything(&format!("{{\"{member}\":{scalar}}}"));
            }
        }
    });
}

/// One member many times over, whether the schema names it or not.
#[test]
fn many_duplicates_are_refused() {
    on_a_small_stack(|| {
        for member in ["taskId", "status", "_meta", "result", "unknown", "content", "inputRequests"] {
            let many = format!("\"{member}\":{{}},").repeat(10_000);
            read_as_everything(&format!("{{{many}\"x\":1}}"));
            let task = "\"taskId\":\"t\",\"createdAt\":\"\",\"lastUpdatedAt\":\"\",\"ttlMs\":1,\"status\":\"working\"";
            let text = format!("{{{many}{task}}}");
            assert!(serde_json::from_str::<GetTaskResult>(&text).is_err(), "{member}");
        }
    });
}
