//! What bad input gets: the file, the place, what is wrong and what to do; an exit code; and no file.

use crate::support::{Run, codegen, folder, get, put, snapshot, tree};
use serde_json::{Value, json};
use std::path::Path;

const CLOSED: &str = include_str!("../fixtures/published/closed-members.schema.json");

/// A document in the house style around some definitions.
fn house(part: &str, definitions: Value) -> String {
    let root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:mcp-tasks:rev:{part}"),
        "title": "Test",
        "description": "A test.",
        "$defs": definitions,
    });
    format!("{root:#}\n")
}

fn published(definitions: Value) -> String {
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions }).to_string()
}

/// A definition with the words that the house style asks for.
fn described(mut definition: Value) -> Value {
    definition["title"] = json!("Thing");
    definition["description"] = json!("A thing. [mcp-tasks: Test]");
    definition
}

fn object(properties: Value, required: Value) -> Value {
    described(json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": true }))
}

fn tag(value: &str) -> Value {
    json!({ "type": "string", "const": value })
}

fn link(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Lays out files, generates, and compares: the complaint with `fixtures/bad-input/NAME.txt`, the exit code with 1, and
/// the files with what they were, for nothing is written.
#[track_caller]
fn refused(name: &str, files: &[(&str, String)], arguments: &[&str]) {
    let place = folder(&format!("bad-input/{name}"));
    for (path, text) in files {
        put(&place.join(path), text);
    }
    let before = tree(&place);
    let run = codegen(&place, arguments);
    snapshot(&format!("bad-input/{name}.txt"), &run.err);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{name}");
    assert_eq!(tree(&place), before, "{name}: something was written");
}

/// A fault in a document in the house style.
#[track_caller]
fn refused_house(name: &str, definitions: Value) {
    let files = [("schema/rev/part.schema.json", house("part", definitions)), ("schema/codegen.toml", String::new())];
    refused(name, &files, &["generate"]);
}

/// A fault in a published document.
#[track_caller]
fn refused_published(name: &str, definitions: Value) {
    let arguments = ["generate", "--schema", "x.json", "--out", "out"];
    refused(name, &[("x.json", published(definitions))], &arguments);
}

/// A fault in the overlay of a document that has a string, a map and an object.
#[track_caller]
fn refused_overlay(name: &str, overlay: &str) {
    let definitions = json!({
        "Word": described(json!({ "type": "string" })),
        "Thing": object(json!({ "kind": tag("thing"), "word": link("Word") }), json!(["kind"])),
    });
    let files =
        [("schema/rev/part.schema.json", house("part", definitions)), ("schema/codegen.toml", overlay.to_owned())];
    refused(name, &files, &["generate"]);
}

#[test]
fn what_is_no_json() {
    let text = "{ \"$defs\": { \"A\": {}, }".to_owned();
    refused("broken-published", &[("x.json", text.clone())], &["generate", "--schema", "x.json", "--out", "out"]);
    refused(
        "broken-house",
        &[("schema/rev/part.schema.json", text), ("schema/codegen.toml", String::new())],
        &["generate"],
    );
}

#[test]
fn what_is_not_there() {
    refused("no-file", &[], &["generate", "--schema", "x.json", "--out", "out"]);
    refused("no-folder", &[], &["generate"]);
    refused("no-revision", &[("schema/codegen.toml", String::new())], &["check"]);
}

#[test]
fn keywords_that_are_not_known() {
    refused_published("keyword-published", json!({ "A": { "type": "object", "unevaluatedProperties": false } }));
    refused_house("keyword-house", json!({ "A": described(json!({ "type": "string", "pattern": "^a" })) }));
}

#[test]
fn constants_where_there_is_no_member() {
    let list = json!({ "type": "array", "items": tag("x") });
    refused_house("constant-house", json!({ "Marks": described(list) }));
}

#[test]
fn references_to_nothing() {
    let to_nothing =
        json!({ "A": { "type": "object", "properties": { "b": link("Thingy") } }, "Thing": { "type": "string" } });
    refused_published("dangling-published", to_nothing);
    refused_house("dangling-house", json!({ "A": object(json!({ "b": link("B") }), json!([])) }));
    let elsewhere = json!({ "$ref": "urn:mcp-tasks:rev:core#/$defs/B" });
    refused_house("dangling-document", json!({ "A": object(json!({ "b": elsewhere }), json!([])) }));
}

#[test]
fn references_in_a_circle() {
    refused_published("circle-published", json!({ "A": link("B"), "B": link("A") }));
    let composed = |other: &str| json!({ "allOf": [link(other), { "type": "object", "properties": { "x": { "type": "string" } } }] });
    refused_published("circle-all-of-published", json!({ "A": composed("B"), "B": composed("A") }));
    let composed = |other: &str| {
        let own = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": true });
        described(json!({ "allOf": [link(other), own] }))
    };
    refused_house("circle-all-of-house", json!({ "A": composed("B"), "B": composed("A") }));
}

/// An object that must hold itself has no end.
#[test]
fn members_in_a_circle() {
    let holds = |other: &str| object(json!({ "other": link(other) }), json!(["other"]));
    refused_house("circle-members-house", json!({ "A": holds("B"), "B": holds("A") }));
}

/// The same in a published file.
#[test]
fn published_members_in_a_circle() {
    let holds = |other: &str| json!({ "type": "object", "properties": { "o": link(other) }, "required": ["o"] });
    refused_published("circle-members-published", json!({ "A": holds("B"), "B": holds("A") }));
}

#[test]
fn names_in_a_circle() {
    refused_house("circle-house", json!({ "A": described(link("B")), "B": described(link("A")) }));
}

/// A tree is no circle: it is boxed, and can be written.
#[test]
fn legal_recursion_is_boxed() {
    let node = json!({
        "type": "object",
        "properties": {
            "next": link("Node"),
            "children": { "type": "array", "items": link("Node") },
            "other": link("Other"),
        },
    });
    let other = json!({ "type": "object", "properties": { "node": link("Node") }, "required": ["node"] });
    let place = folder("bad-input/recursion");
    put(&place.join("x.json"), &published(json!({ "Node": node, "Other": other })));
    let run = codegen(&place, &["generate", "--schema", "x.json", "--out", "out/src"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let types = get(&place.join("out/src/types.rs"));
    assert!(types.contains("pub next: Option<Box<Node>>"), "{types}");
    assert!(types.contains("pub children: Option<Vec<Node>>"), "{types}");
}

#[test]
fn names_that_are_taken() {
    let word = house("part", json!({ "Word": described(json!({ "type": "string" })) }));
    let files = [
        ("schema/rev/part.schema.json", word.clone()),
        ("schema/rev/zart.schema.json", word.replace(":part", ":zart")),
        ("schema/codegen.toml", String::new()),
    ];
    refused("twice-house", &files, &["generate"]);
    refused(
        "twice-published",
        &[
            ("x.json", published(json!({ "Word": { "type": "string" } }))),
            ("y.json", published(json!({ "Word": { "type": "integer" } }))),
        ],
        &["generate", "--schema", "x.json", "--schema", "y.json", "--out", "out"],
    );
    refused_published("twice-in-rust", json!({ "word_one": { "type": "string" }, "WordOne": { "type": "string" } }));
    let members = json!({ "wordOne": { "type": "string" }, "word_one": { "type": "string" } });
    refused_published("member-twice-in-rust", json!({ "A": { "type": "object", "properties": members } }));
}

/// JSON readers let the last one of a name win; a definition would be lost without a word.
#[test]
fn definitions_that_are_given_twice_in_one_file() {
    let place = folder("bad-input/twice-in-file");
    let text = published(json!({ "Word": { "type": "string" }, "Ward": { "type": "integer" } }));
    put(&place.join("x.json"), &text.replace("Ward", "Word"));
    let run = generate(&place);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.starts_with("x.json#") && run.err.contains("`Word`"), "the error names the member: {}", run.err);
    assert!(!place.join("out").exists());
}

#[test]
fn names_that_rust_keeps_for_itself() {
    refused_house("reserved", json!({ "Option": described(json!({ "type": "string" })) }));
    refused_published("no-identifier", json!({ "9lives": { "type": "string" }, "Option": { "type": "string" } }));
}

/// Case 46: a composition that no value satisfies, as the extension's schema once was published.
#[test]
fn what_nothing_can_satisfy() {
    let arguments = ["generate", "--schema", "x.json", "--out", "out"];
    refused("unsatisfiable", &[("x.json", CLOSED.to_owned())], &arguments);
}

#[test]
fn unions_that_nothing_tells_apart() {
    let arm = |name: &str| object(json!({ name: { "type": "string", "description": "A name." } }), json!([name]));
    let union = described(json!({ "oneOf": [link("A"), link("B")] }));
    refused_house("no-tag", json!({ "A": arm("a"), "B": arm("b"), "U": union }));
    let one_of = json!({ "oneOf": [{ "type": "object", "properties": { "a": {} } }, { "type": "object", "properties": { "b": {} } }] });
    refused_published("no-tag-published", json!({ "U": one_of }));
    let union = described(json!({ "anyOf": [link("A"), link("B")] }));
    refused_house("same-shape", json!({ "A": arm("a"), "B": arm("a"), "U": union.clone() }));
    let any_of = described(json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] }));
    refused_house("same-kind", json!({ "U": any_of }));
    let same = |value: &str| object(json!({ "kind": tag(value) }), json!(["kind"]));
    let union = described(json!({ "oneOf": [link("A"), link("B")] }));
    refused_house("same-tag", json!({ "A": same("a"), "B": same("a"), "U": union }));
}

#[test]
fn overlay_entries_that_match_nothing() {
    refused_overlay("stale-revision", "newest = \"old\"\n[revision.\"older\"]\n");
    refused_overlay(
        "stale-entries",
        r#"
        [revision.rev]
        open-enums = ["Word"]
        open-unions = ["Thing"]
        payloads = ["Thing.nothing", "Thing.kind"]
        opaque-maps = ["Nothing"]
        bases = ["Word"]
        [revision.rev.rename]
        Gone = "Here"
        [revision.rev.known-values]
        Thing = ["a"]
        [revision.rev.keys]
        Word = "Thing"
        [revision.rev.results]
        Word = "Nothing"
        [[revision.rev.lenient]]
        members = ["Thing.word", "Thing.kind"]
        absent = true
        "#,
    );
}

#[test]
fn overlay_entries_that_are_not_known() {
    refused_overlay("unknown-key", "[revision.rev]\nopen-enum = [\"Word\"]\n");
    refused_overlay("no-toml", "newest =\n");
}

#[test]
fn what_is_not_in_the_house_style() {
    let definition = json!({
        "type": "object",
        "properties": {
            "inline": { "type": "object", "properties": {}, "description": "Inline." },
            "words": { "$ref": "#/$defs/Thing", "description": "Beside a reference." },
            "silent": { "type": "string" },
            "either": { "type": ["string", "null"], "description": "Two types." },
        },
        "required": ["nothing"],
    });
    refused_house("style", json!({ "Thing": definition, "Wordless": { "type": "string", "format": "colour" } }));
}

/// Faults of several files and kinds come together, in the order of files and places.
#[test]
fn faults_are_reported_together() {
    refused_house(
        "together",
        json!({
            "A": object(json!({ "b": link("Nothing"), "c": link("NoThing") }), json!([])),
            "B": described(link("Nowhere")),
            "C": described(json!({ "type": "string", "enum": ["a", "a"] })),
        }),
    );
    let files = [("x.json", "[".to_owned()), ("y.json", "{".to_owned())];
    refused("together-files", &files, &["generate", "--schema", "x.json", "--schema", "y.json", "--out", "out"]);
}

/// Faults in a check are faults, not drift: exit code 1 and the same words.
#[test]
fn a_check_reports_faults() {
    let place = folder("bad-input/check");
    put(&place.join("x.json"), "{");
    let arguments = |command| [command, "--schema", "x.json", "--out", "out"];
    let (generate, check) = (codegen(&place, &arguments("generate")), codegen(&place, &arguments("check")));
    assert_eq!((check.code, check.err), (generate.code, generate.err));
}

#[test]
fn wrong_arguments_are_exit_code_2() {
    let place = folder("bad-input/arguments");
    for (arguments, complaint) in [
        (&[][..], "Usage: mcp-tasks-codegen"),
        (&["generte"], "unrecognized subcommand 'generte'"),
        (&["generate", "--schema", "x.json"], "required arguments were not provided"),
        (&["generate", "--registry"], "required arguments were not provided"),
        (&["generate", "--out"], "a value is required for '--out <DIR>'"),
    ] {
        let run = codegen(&place, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.err);
        assert!(run.err.contains(complaint), "{arguments:?}: {}", run.err);
    }
    assert_eq!(tree(&place).len(), 0);
}

fn with_a_word(name: &str) -> std::path::PathBuf {
    let place = folder(&format!("bad-input/{name}"));
    put(
        &place.join("x.json"),
        &published(json!({ "Word": { "type": "object", "properties": { "a": { "type": "string" } } } })),
    );
    place
}

fn generate(place: &Path) -> Run {
    codegen(place, &["generate", "--schema", "x.json", "--out", "out"])
}

/// What cannot be written is exit code 3, and the file in question keeps what it had.
#[test]
fn an_output_that_cannot_be_written_is_exit_code_3() {
    let place = with_a_word("unwritable");
    put(&place.join("out"), "a file where a folder should be");
    let before = tree(&place);
    let run = generate(&place);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.starts_with("out/lib.rs: "), "the error names the file: {}", run.err);
    assert_eq!(tree(&place), before);

    let place = with_a_word("unwritable-file");
    put(&place.join("out/types.rs/here"), "a folder where a file should be");
    let run = generate(&place);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.err.starts_with("out/types.rs: "), "{}", run.err);
    assert_eq!(
        tree(&place).keys().collect::<Vec<_>>(),
        ["out/lib.rs", "out/support.rs", "out/types.rs/here", "x.json"]
    );
}

/// No temporary file is left, and a second run touches nothing.
#[test]
fn files_are_written_whole_and_once() {
    let place = with_a_word("whole");
    assert_eq!(generate(&place).out, "3 files in out\n");
    let written = || tree(&place).into_keys().collect::<Vec<_>>();
    assert_eq!(written(), ["out/lib.rs", "out/support.rs", "out/types.rs", "x.json"]);
    let times = || {
        ["lib.rs", "support.rs", "types.rs"]
            .map(|name| place.join("out").join(name).metadata().unwrap().modified().unwrap())
    };
    let before = times();
    assert_eq!(generate(&place).code, Some(0));
    assert_eq!((times(), written().len()), (before, 4));
}
