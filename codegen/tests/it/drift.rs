//! What lies in `generated/` is what `schema/` says, byte for byte, and whoever changes one of them is told.

use crate::support::{codegen, copy, folder, get, put, repository, tree};
use mcp_tasks_codegen::{Intent, compare, export, generate, load_folder, strays};
use std::path::PathBuf;

const COMMAND: &str = "cargo run -p mcp-tasks-codegen -- generate";
const EXPORT: &str = "cargo run -p mcp-tasks-codegen -- export";

/// The committed types; when this fails, the schemas or the generator have moved on.
#[test]
fn what_is_committed_is_up_to_date() {
    let (schemas, overlay) = load_folder(&repository().join("schema")).expect("the schemas have no faults");
    let files = generate(&schemas, &overlay).expect("the schemas have no faults");
    let drifted = compare(&repository().join("generated"), &files).expect("the files can be read");
    let paths: Vec<_> = drifted.iter().map(|drift| drift.path.as_str()).collect();
    assert!(paths.is_empty(), "{paths:?} are not what the schemas say. Run: {COMMAND}");
}

/// The committed schemas and vectors for other languages.
#[test]
fn what_is_exported_is_up_to_date() {
    let folder = repository().join("schema");
    let (schemas, overlay) = load_folder(&folder).expect("the schemas have no faults");
    let intent = Intent::load(&folder).expect("the rules have no faults");
    let files = export(&schemas, &overlay, &intent).expect("the schemas have no faults");
    assert_eq!(files, export(&schemas, &overlay, &intent).expect("the schemas have no faults"), "not the same twice");
    let drifted = compare(&repository().join("generated"), &files).expect("the files can be read");
    let paths: Vec<_> = drifted.iter().map(|drift| drift.path.as_str()).collect();
    assert!(paths.is_empty(), "{paths:?} are not what the schemas say. Run: {EXPORT}");
    let strays = strays(&repository().join("generated"), &["schema", "vectors"], &files).expect("it can be read");
    assert!(strays.is_empty(), "{strays:?} are not exported any more");
}

/// A copy of `schema/` with what is generated from it.
fn project(name: &str) -> PathBuf {
    let place = folder(&format!("drift/{name}"));
    copy(&repository().join("schema"), &place.join("schema"));
    let run = codegen(&place, &["generate"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert_eq!(run.out, format!("{} files in ./generated\n", tree(&place.join("generated")).len()));
    assert_eq!(codegen(&place, &["export"]).code, Some(0));
    place
}

#[test]
fn the_same_schemas_give_the_same_bytes() {
    let (one, other) = (project("one"), project("other"));
    let before = tree(&one);
    assert_eq!(before, tree(&other));
    assert_eq!(codegen(&one, &["generate"]).code, Some(0));
    assert_eq!(before, tree(&one));
    let run = codegen(&one, &["check"]);
    let count = tree(&one.join("generated")).len();
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert_eq!(run.out, format!("{count} files in ./generated are up to date\n"));
    assert_eq!(before, tree(&one), "a check writes nothing");
}

#[test]
fn a_hand_edited_file_is_drift() {
    let place = project("edited");
    let path = place.join("generated/src/v2026_07_28/tasks.rs");
    let edited = get(&path).replacen("pub struct TaskId(", "pub struct TaskIdentifier(", 1);
    put(&path, &edited);
    let run = codegen(&place, &["check"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.starts_with("--- ./generated/src/v2026_07_28/tasks.rs\n+++ generated\n@@ "), "{}", run.err);
    assert!(run.err.contains("-pub struct TaskIdentifier(") && run.err.contains("+pub struct TaskId("), "{}", run.err);
    let count = tree(&place.join("generated")).len();
    assert!(
        run.err.ends_with(&format!("1 of {count} files are not what the schemas say. Run: {COMMAND}\n")),
        "{}",
        run.err
    );
    assert_eq!(get(&path), edited, "a check writes nothing");
}

#[test]
fn a_file_that_is_gone_is_drift() {
    let place = project("gone");
    std::fs::remove_file(place.join("generated/src/support.rs")).expect("it was there");
    let run = codegen(&place, &["check"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with("./generated/src/support.rs: is missing\n"), "{}", run.err);
}

/// A message that is not exported any more leaves a file behind that still looks like one of the schemas.
#[test]
fn an_exported_file_that_is_left_behind_is_drift() {
    let place = project("left-behind");
    let stray = place.join("generated/schema/2026-07-28/2020-12/strict/messages/PingRequest.schema.json");
    put(&stray, "{}");
    let run = codegen(&place, &["check"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    let path = "./generated/schema/2026-07-28/2020-12/strict/messages/PingRequest.schema.json";
    assert_eq!(run.err, format!("{path}: is not exported any more. Delete it\n"));
    assert!(stray.exists(), "a check writes nothing");
}

#[test]
fn a_changed_schema_is_drift() {
    let place = project("changed");
    let path = place.join("schema/2026-07-28/tasks.schema.json");
    put(&path, &get(&path).replace("\"statusMessage\"", "\"statusText\""));
    // Its requirements go by the name of the member; left behind, they are a fault.
    let path = place.join("schema/export.toml");
    put(&path, &get(&path).replace("statusMessage = ", "statusText = "));
    let run = codegen(&place, &["check"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("-    pub status_message: "), "{}", run.err);
    assert!(run.err.contains("+    pub status_text: "), "{}", run.err);
    assert!(run.err.ends_with(&format!("Run: {COMMAND} && {EXPORT}\n")), "{}", run.err);
    assert_eq!(codegen(&place, &["generate"]).code, Some(0));
    let run = codegen(&place, &["check"]);
    assert_eq!(run.code, Some(1), "the schemas for other languages are checked as well");
    assert!(run.err.ends_with(&format!("Run: {EXPORT}\n")), "{}", run.err);
    assert_eq!(codegen(&place, &["export"]).code, Some(0));
    assert_eq!(codegen(&place, &["check"]).code, Some(0));
}

/// The command that mends drift of published types names what they were made from.
#[test]
fn drift_of_published_types_names_its_own_command() {
    let place = folder("drift/published");
    put(&place.join("x.json"), r#"{"$defs":{"Word":{"type":"string"}}}"#);
    let run = codegen(&place, &["check", "--schema", "x.json", "--out", "out"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.ends_with(&format!("Run: {COMMAND} --schema x.json --out out\n")), "{}", run.err);
}
