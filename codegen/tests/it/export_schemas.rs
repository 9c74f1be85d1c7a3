//! Schemas that are exported, of forms that the project's own do not have: recursion, bounds, formats.

use crate::support::{Run, codegen, folder, get, put};
use mcp_tasks_codegen::{Document, Intent, Overlay, Schemas, export};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Lays out definitions in house style, with the rules for writers.
fn laid_out(name: &str, definitions: Value, rules: &str) -> PathBuf {
    let place = folder(&format!("export/{name}"));
    let mut definitions = definitions.as_object().expect("definitions by name").clone();
    for definition in definitions.values_mut() {
        definition["title"] = json!("A thing");
        definition["description"] = json!("A thing. [mcp-tasks: Test]");
    }
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:mcp-tasks:rev:part",
        "title": "Part",
        "description": "A part.",
        "$defs": definitions,
    });
    put(&place.join("schema/rev/part.schema.json"), &document.to_string());
    put(&place.join("schema/codegen.toml"), "");
    put(&place.join("schema/export.toml"), &format!("[revision.rev]\n{rules}"));
    place
}

/// The test messages by their ids, each with its strict verdict.
#[track_caller]
fn messages(name: &str, definitions: Value) -> BTreeMap<String, (bool, Value)> {
    let place = laid_out(name, definitions, "");
    let run = codegen(&place, &["export"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{name}");
    let file: Value = serde_json::from_str(&get(&place.join("generated/vectors/rev/messages.json"))).expect("JSON");
    let vectors = file["vectors"].as_array().expect("a list of vectors").iter();
    let entry = |vector: &Value| {
        let id = vector["id"].as_str().expect("an id").to_owned();
        (id, (vector["strict"] == true, vector["message"].clone()))
    };
    vectors.map(entry).collect()
}

#[track_caller]
fn refused(name: &str, definitions: Value, rules: &str, complaint: &str) {
    let place = laid_out(name, definitions, rules);
    let Run { code, err, .. } = codegen(&place, &["export"]);
    assert_eq!(code, Some(1), "{name}: {err}");
    assert!(err.contains(complaint), "{name}: {err}");
    assert!(!place.join("generated").exists(), "{name}: something was written");
}

fn object(properties: Value, required: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": true })
}

fn link(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn tag(value: &str) -> Value {
    json!({ "type": "string", "const": value })
}

/// An arm that leads back to the union may stand first: a value takes another arm in the end.
#[test]
fn a_union_that_leads_back_to_itself_has_test_messages() {
    let found = messages(
        "recursive-union",
        json!({
            "Expr": { "oneOf": [link("Not"), link("Leaf")] },
            "Not": object(json!({ "kind": tag("not"), "inner": link("Expr") }), json!(["kind", "inner"])),
            "Leaf": object(json!({ "kind": tag("leaf") }), json!(["kind"])),
        }),
    );
    let leaf = json!({ "kind": "leaf" });
    assert_eq!(found["Expr/Leaf/smallest"], (true, leaf.clone()));
    assert_eq!(found["Expr/Not/smallest"], (true, json!({ "kind": "not", "inner": leaf })));
    assert_eq!(found["Not/without-inner"], (false, json!({ "kind": "not" })));
}

/// Through a list, a map, a member that may be missing, a union, another name, and bounds that ask for one at least.
#[test]
fn recursion_of_every_kind_has_an_end() {
    let bounded_list = json!({ "type": "array", "items": link("Choice"), "minItems": 1 });
    let found = messages(
        "recursion",
        json!({
            "Json": { "anyOf": [link("JsonList"), link("JsonMap"), { "type": "string" }, { "type": "number" }] },
            "JsonList": { "type": "array", "items": link("Json") },
            "JsonMap": { "type": "object", "additionalProperties": link("Json") },
            "Node": object(json!({ "next": link("Node"), "again": link("Again"), "children": link("Nodes") }), json!([])),
            "Again": link("Node"),
            "Nodes": { "type": "array", "items": link("Node") },
            "Choice": { "anyOf": [link("Some"), link("Named"), { "type": "string" }] },
            "Some": bounded_list,
            "Named": { "type": "object", "additionalProperties": link("Choice"), "minProperties": 2 },
        }),
    );
    assert_eq!(found["Json/smallest"], (true, json!([])));
    assert_eq!(found["Node/smallest"], (true, json!({})));
    assert_eq!(found["Some/smallest"], (true, json!(["words"])));
    assert_eq!(found["Some/empty"], (false, json!([])));
    assert!(!found["Named/below"].0);
}

/// The number of values within one another grows with each step, unless what is met again is small.
#[test]
fn a_definition_with_many_members_of_its_own_kind_is_soon_full() {
    let members: serde_json::Map<String, Value> = (0..20).map(|n| (format!("m{n}"), link("Wide"))).collect();
    let found = messages("wide", json!({ "Wide": object(Value::Object(members), json!([])) }));
    assert_eq!(found["Wide/fullest"].1["m19"], json!({}));
}

/// A union that is an arm of itself says nothing, and no value could be judged by it.
#[test]
fn a_union_that_is_its_own_arm_is_refused() {
    let definitions = json!({
        "One": { "anyOf": [link("Other"), link("Word")] },
        "Other": { "anyOf": [link("One"), link("Number")] },
        "Word": { "type": "string" },
        "Number": { "type": "integer" },
    });
    let complaint = "schema/rev/part.schema.json#/$defs/One: to judge a value by `One` is to judge it by `One` again";
    refused("own-arm", definitions, "", complaint);
}

/// What rules for writers ask for can leave a definition without any value.
#[test]
fn rules_that_no_value_keeps_are_refused() {
    let definitions = || {
        json!({
            "Node": object(json!({ "next": link("Node"), "name": { "type": "string", "description": "A name." } }), json!([])),
        })
    };
    refused(
        "endless",
        definitions(),
        "some.Node = [\"next\"]",
        "schema/rev/part.schema.json#/$defs/Node: no value of `Node` has an end",
    );
    let place = laid_out("other-end", definitions(), "some.Node = [\"next\", \"name\"]");
    assert_eq!(codegen(&place, &["export"]).err, "");
    let text = get(&place.join("generated/vectors/rev/messages.json"));
    assert!(text.contains(r#""id":"Node/smallest""#) && text.contains(r#""message":{"name":"words"}"#), "{text}");
}

/// A rule about what is not there is told with its place; a member that was renamed does not lose its requirements.
#[test]
fn rules_are_about_what_is_there() {
    let definitions = || {
        json!({
            "Word": { "type": "string" },
            "Thing": object(json!({ "name": link("Word"), "size": link("Word") }), json!(["name"])),
        })
    };
    for (name, rules, complaint) in [
        ("closed", "closed = [\"Thing\", \"Word\"]", "/closed/1: there is no object `Word`"),
        ("without", "without.Thong = [\"size\"]", "/without/Thong: there is no object `Thong`"),
        ("without-name", "without.Thing = [\"size\", \"sise\"]", "/without/Thing/1: no object of any revision has"),
        ("without-required", "without.Thing = [\"name\"]", "/without/Thing/0: `Thing` has to have `name`"),
        ("some", "some.Thong = [\"size\"]", "/some/Thong: there is no object `Thong`"),
        ("some-name", "some.Thing = [\"size\", \"sise\"]", "/some/Thing/1: `Thing` has no member `sise`"),
        ("some-none", "some.Thing = []", "/some/Thing: it names no member"),
        ("requirements", "requirements.sise = [\"TSK-01\"]", "/requirements/sise: no object has a member `sise`"),
    ] {
        let complaint = format!("schema/export.toml#/revision/rev{complaint}");
        refused(&format!("rules-{name}"), definitions(), rules, &complaint);
    }
}

/// Published schemas have no flavours: the file is named.
#[test]
fn published_schemas_are_refused_by_name() {
    let schemas = Schemas::Published(vec![Document::new("x.json", json!({ "$defs": {} }))]);
    let error = export(&schemas, &Overlay::default(), &Intent::default()).expect_err("nothing is exported");
    assert_eq!(error.to_string(), "x.json#: only schemas in the house style can be exported");
}

/// Values at the edge of each bound, and one on its other side; a text is as long as it has code points.
#[test]
fn every_bound_has_an_edge_and_a_value_beyond_it() {
    let found = messages(
        "bounds",
        json!({
            "Code": { "type": "string", "minLength": 6, "maxLength": 8 },
            "Pair": { "type": "array", "items": link("Code"), "minItems": 2, "maxItems": 3 },
            "Share": { "type": "number", "minimum": 0.75, "maximum": 1.5 },
            "Few": { "type": "integer", "minimum": 1, "maximum": 3 },
            "Holder": object(json!({ "code": link("Code") }), json!(["code"])),
        }),
    );
    let length = |id: &str| found[id].1.as_str().expect("a text").chars().count();
    let items = |id: &str| found[id].1.as_array().expect("a list").len();
    for (id, fits, size) in [
        ("Code/smallest", true, 6),
        ("Code/minLength", true, 6),
        ("Code/maxLength", true, 8),
        ("Code/below", false, 5),
        ("Code/above", false, 9),
    ] {
        assert_eq!((found[id].0, length(id)), (fits, size), "{id}");
    }
    for (id, fits, size) in [
        ("Pair/smallest", true, 2),
        ("Pair/fullest", true, 2),
        ("Pair/minItems", true, 2),
        ("Pair/maxItems", true, 3),
        ("Pair/below", false, 1),
        ("Pair/above", false, 4),
    ] {
        assert_eq!((found[id].0, items(id)), (fits, size), "{id}");
    }
    assert_eq!(found["Share/smallest"], (true, json!(0.75)));
    assert_eq!(found["Share/below"], (false, json!(-0.25)));
    assert_eq!(found["Share/above"], (false, json!(2.5)));
    assert_eq!(found["Few/fullest"], (true, json!(3)));
    assert!(found["Holder/code-maxLength"].0 && !found["Holder/code-above"].0);
}

/// No value that a bound leaves no room for is called valid.
#[test]
fn bounds_without_room_are_refused() {
    refused(
        "no-room",
        json!({ "Huge": { "type": "string", "minLength": 4_000_000_000_u64 } }),
        "",
        "schema/rev/part.schema.json#/$defs/Huge: no value of `Huge` was found to test with",
    );
}
