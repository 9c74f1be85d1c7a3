//! What is made for other languages is whole: definitions documented, every one tested by a vector that must fail too.

use crate::support::{folder, get, put, repository, tree};
use mcp_tasks_codegen::Intent;
use serde_json::{Value, json};
use std::collections::BTreeSet;

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

/// The generator knows shapes, and no definition by its name. Names of one word are left out: Rust and prose have them too.
#[test]
fn no_definition_is_known_by_its_name() {
    let sources = tree(&repository().join("codegen/src"));
    for (name, _) in REVISIONS.into_iter().flat_map(|revision| definitions(revision, "strict")) {
        if name.chars().filter(char::is_ascii_uppercase).count() < 2 {
            continue;
        }
        let quoted = format!("\"{name}\"");
        for (file, bytes) in sources.iter().filter(|(file, _)| file.ends_with(".rs")) {
            let text = String::from_utf8_lossy(bytes);
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            assert!(!code.contains(&quoted), "{file} names {name}");
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
        let ids: BTreeSet<_> = vectors.iter().map(|vector| vector["id"].as_str()).collect();
        assert_eq!(ids.len(), vectors.len(), "{revision}: an id stands twice");
        for vector in &vectors {
            assert!(vector["strict"] == false || vector["tolerant"] == true, "{}", vector["id"]);
        }
    }
}

/// Neither rules nor messages by hand have to be there, and none of them is passed over for want of the other.
#[test]
fn messages_by_hand_are_read_with_rules_and_without() {
    let place = folder("export/intent");
    put(&place.join("export.toml"), "[revision.ruled]\nclosed = [\"Bed\"]\n");
    let message = json!({
        "id": "own", "definition": "Bed", "requirements": [], "why": "", "strict": true, "tolerant": true, "message": 1,
    });
    put(&place.join("unruled/vectors.json"), &json!([message]).to_string());
    put(&place.join("neither/core.schema.json"), "{}");
    let intent = Intent::load(&place).expect("nothing is broken");
    let found: Vec<_> = intent.revision.iter().map(|(name, rules)| (name.as_str(), rules.messages.len())).collect();
    assert_eq!(found, [("ruled", 0), ("unruled", 1)]);
    put(&place.join("ruled/vectors.json"), "{}");
    let error = Intent::load(&place).expect_err("an object is no list").to_string();
    assert!(error.contains("ruled/vectors.json") && error.contains("no vectors"), "{error}");
}

/// A vector's requirements are the ids that its definition ends with: none for a plain core shape, and no prose.
#[test]
fn requirements_are_ids() {
    let is_id = |text: &str| {
        let (area, number) = text.split_once('-').unwrap_or_default();
        area.len() >= 2 && area.bytes().all(|byte| byte.is_ascii_uppercase()) && number.parse::<u8>().is_ok()
    };
    for revision in REVISIONS {
        for vector in vectors(revision) {
            let ids = vector["requirements"].as_array().expect("a list");
            assert!(ids.iter().all(|id| id.as_str().is_some_and(is_id)), "{revision} {}: {ids:?}", vector["id"]);
        }
    }
}

/// `x-is-a-string` has a string at x, where no valid message of that definition has one; and so for every kind of JSON.
#[test]
fn a_vector_of_another_type_is_of_another_type() {
    for revision in REVISIONS {
        let vectors = vectors(revision);
        let mut valid = BTreeSet::new();
        for vector in vectors.iter().filter(|vector| vector["strict"] == true) {
            let (scope, _) = split(vector);
            valid.insert((scope, "", kind(&vector["message"])));
            let members = vector["message"].as_object().into_iter().flatten();
            valid.extend(members.map(|(name, value)| (scope, name.as_str(), kind(value))));
        }
        let mut found = 0;
        for vector in &vectors {
            let (scope, rule) = split(vector);
            let Some((member, said)) = KINDS.iter().find_map(|said| Some((rule.strip_suffix(said)?, *said))) else {
                continue;
            };
            let member = member.trim_end_matches('-');
            let value = if member.is_empty() { &vector["message"] } else { &vector["message"][member] };
            assert_eq!(kind(value), said, "{revision} {}", vector["id"]);
            assert!(!valid.contains(&(scope, member, said)), "{revision} {}: fits elsewhere", vector["id"]);
            found += 1;
        }
        assert!(found > 100, "{revision}: {found} vectors of another type");
    }
}

const KINDS: [&str; 5] = ["is-null", "is-a-number", "is-a-string", "is-a-list", "is-an-object"];

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "is-null",
        Value::Bool(_) => "is-a-boolean",
        Value::Number(_) => "is-a-number",
        Value::String(_) => "is-a-string",
        Value::Array(_) => "is-a-list",
        Value::Object(_) => "is-an-object",
    }
}

/// The definition of a vector, with the arm where it has some, and its rule. Names of members may have a slash.
fn split(vector: &Value) -> (&str, &str) {
    let id = vector["id"].as_str().unwrap_or_default();
    let is_name = |part: &&str| part.chars().all(char::is_alphanumeric) && part.starts_with(char::is_uppercase);
    let names = id.split('/').take_while(is_name).map(|name| name.len() + 1).sum();
    id.split_at_checked(names).unwrap_or((id, ""))
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
