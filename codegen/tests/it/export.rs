//! What is made for other languages is whole: definitions documented, every one tested by a vector that must fail too.

use crate::support::{get, repository};
use serde_json::Value;

const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

fn read(path: &str) -> Value {
    serde_json::from_str(&get(&repository().join("generated").join(path))).expect("what is exported is JSON")
}

fn definitions(revision: &str, flavour: &str) -> serde_json::Map<String, Value> {
    let bundle = read(&format!("schema/{revision}/2020-12/{flavour}/bundle.schema.json"));
    bundle["$defs"].as_object().expect("a bundle has definitions").clone()
}

fn vectors(revision: &str) -> Vec<Value> {
    let replay = read(&format!("vectors/{revision}/messages.json"));
    replay["vectors"].as_array().expect("a list of vectors").clone()
}

/// Each definition has a title and a description, in every flavour; licence and version stand in the file.
#[test]
fn definitions_say_what_they_are() {
    for revision in REVISIONS {
        for flavour in ["strict", "tolerant", "codegen"] {
            for (name, schema) in definitions(revision, flavour) {
                let says = |word: &str| schema[word].as_str().is_some_and(|text| !text.is_empty());
                assert!(says("title") && says("description"), "{revision} {flavour} {name}");
            }
            let head = read(&format!("schema/{revision}/draft-07/{flavour}/bundle.schema.json"));
            let origin = head["$comment"].as_str().unwrap_or_default();
            assert!(origin.contains("MIT OR Apache-2.0") && origin.contains(env!("CARGO_PKG_VERSION")), "{origin}");
        }
    }
}

/// The flavour for generators negates nothing: no `not`, and no member that is `false`.
#[test]
fn generators_meet_no_negation() {
    for revision in REVISIONS {
        let text = get(&repository().join(format!("generated/schema/{revision}/2020-12/codegen/bundle.schema.json")));
        assert!(!text.contains("\"not\"") && !text.contains(": false"), "{revision}");
    }
}

/// Each definition has a smallest and a fullest message that may be written, and one that must be refused, unless it is
/// any object. Each member that is required is missing once.
#[test]
fn every_definition_has_vectors() {
    for revision in REVISIONS {
        let vectors = vectors(revision);
        for (name, schema) in definitions(revision, "strict") {
            let of: Vec<_> = vectors.iter().filter(|vector| vector["definition"] == *name).collect();
            let has = |end: &str, verdict: bool| {
                of.iter().any(|it| it["strict"] == verdict && it["id"].as_str().is_some_and(|id| id.ends_with(end)))
            };
            assert!(has("/smallest", true) && has("/fullest", true) && has("", false), "{revision} {name}");
            for member in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(has(&format!("/without-{member}"), false), "{revision} {name} without {member}");
            }
        }
    }
}

/// Ids are unique, and what may be written can be read.
#[test]
fn vectors_are_sound() {
    for revision in REVISIONS {
        let vectors = vectors(revision);
        let ids: std::collections::BTreeSet<_> = vectors.iter().map(|vector| vector["id"].as_str()).collect();
        assert_eq!(ids.len(), vectors.len(), "{revision}: an id stands twice");
        for vector in &vectors {
            assert!(vector["strict"] == false || vector["tolerant"] == true, "{}", vector["id"]);
        }
    }
}

/// TSK-05: a payload stands where it belongs, and nowhere else.
#[test]
fn every_status_has_its_payload_alone() {
    let vectors = vectors("2026-07-28");
    let verdict = |id: &str| vectors.iter().find(|vector| vector["id"] == id).map(|vector| &vector["strict"]);
    for (arm, own) in [
        ("WorkingTaskResult", None),
        ("InputRequiredTaskResult", Some("inputRequests")),
        ("CompletedTaskResult", Some("result")),
        ("FailedTaskResult", Some("error")),
        ("CancelledTaskResult", None),
    ] {
        for member in ["inputRequests", "result", "error"] {
            let word = if own == Some(member) { "without" } else { "with" };
            let id = format!("GetTaskResult/{arm}/{word}-{member}");
            assert_eq!(verdict(&id), Some(&Value::Bool(false)), "{id}");
        }
    }
}
