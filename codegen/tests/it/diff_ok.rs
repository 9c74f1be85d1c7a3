//! What `diff` must not call `ok`: each is a pair that differs where it is easily overlooked.

use mcp_tasks_codegen::diff::Verdict::{Breaks, Ok, Unknown};
use mcp_tasks_codegen::diff::{Impact, Kind, Report, diff};
use mcp_tasks_codegen::ir::{Revision, Shape};
use mcp_tasks_codegen::{Document, Settings, read_house, read_published};
use serde_json::{Value, json};

const UNKNOWN: Impact = Impact::new(Unknown, Unknown, Unknown);

/// A published file with these definitions.
#[track_caller]
fn read(defs: Value) -> Revision {
    let root = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs });
    read_published(&[Document::new("x", root)]).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn report(old: Value, new: Value) -> Report {
    diff(&read(old), &read(new), &Settings::default())
}

/// Kind, pointer and impact of each change.
fn changes(report: &Report) -> Vec<(Kind, &str, Impact)> {
    report.changes.iter().map(|change| (change.kind, change.pointer.as_str(), change.impact)).collect()
}

/// An open object with these members, all of them required.
fn object(members: Value) -> Value {
    let required: Vec<_> = members.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": members, "required": required })
}

fn text(format: &str) -> Value {
    json!({ "type": "string", "format": format })
}

fn to(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

#[test]
fn what_is_removed_and_only_refers_to_itself_is_told_by_nobody() {
    let list = |name: &str| json!({ "type": "array", "items": to(name) });
    let old = json!({
        "Kept": object(json!({ "of": to("Below") })),
        "Below": object(json!({ "below": list("Below") })),
        "Tree": object(json!({ "children": list("Tree") })),
        "Hen": object(json!({ "eggs": list("Egg") })),
        "Egg": object(json!({ "hens": list("Hen"), "shell": to("Shell") })),
        "Shell": object(json!({ "colour": { "type": "string" } })),
    });
    let report = report(old, json!({ "Kept": object(json!({})) }));
    let wire = |name: &str| {
        let change = report.changes.iter().find(|change| change.pointer == format!("/$defs/{name}"));
        change.map(|change| (change.impact.readers, change.impact.writers))
    };
    for name in ["Tree", "Hen", "Egg"] {
        assert_eq!(wire(name), Some((Unknown, Unknown)), "{name}");
    }
    for name in ["Below", "Shell"] {
        assert_eq!(wire(name), Some((Ok, Ok)), "{name}");
    }
}

#[test]
fn a_format_within_a_union_is_compared() {
    let union = |format: &str| json!({ "anyOf": [text(format), { "type": "integer", "format": "int64" }] });
    let report = report(json!({ "X": union("uuid") }), json!({ "X": union("uri") }));
    assert_eq!(changes(&report), [(Kind::KeywordChanged, "/$defs/X/anyOf/0/format", UNKNOWN)]);
}

/// The net below all steps holds where a member's words have changed too: here a member is there twice, which no step asks
/// for.
#[test]
fn what_no_step_sees_is_still_a_change() {
    let thing = |words: &str| {
        let members = json!({ "a": { "type": "string", "description": words }, "b": { "type": "string" } });
        read(json!({ "X": { "type": "object", "properties": members } }))
    };
    let (old, mut new) = (thing("Before."), thing("After."));
    let Shape::Object(object) = &mut new.parts[0].definitions[0].shape else { panic!("it is an object") };
    object.fields.push(object.fields[1].clone());
    let report = diff(&old, &new, &Settings::default());
    assert_eq!(changes(&report).last(), Some(&(Kind::TypeChanged, "/$defs/X", UNKNOWN)));
}

/// The order of the arms is none of the messages' business.
#[test]
fn arms_in_another_order_say_the_same() {
    let (one, other) = (text("uuid"), json!({ "type": "integer", "format": "int64" }));
    let report = report(json!({ "X": { "anyOf": [one, other] } }), json!({ "X": { "anyOf": [other, one] } }));
    assert_eq!(changes(&report), []);
}

#[test]
fn a_member_renamed_where_no_others_are_allowed_breaks() {
    let with = |member: &str, open: bool| {
        json!({
            "Name": { "type": "string", "minLength": 1 },
            "Bed": { "type": "object", "properties": { member: to("Name") }, "additionalProperties": open },
        })
    };
    for (was_open, is_open, readers, writers) in [
        (true, true, Unknown, Unknown),
        (false, false, Breaks, Breaks),
        (false, true, Breaks, Unknown),
        (true, false, Unknown, Breaks),
    ] {
        let report = report(with("place", was_open), with("spot", is_open));
        let expected = (Kind::MemberRenamed, "/$defs/Bed/properties/spot", Impact::new(readers, writers, Breaks));
        assert_eq!(changes(&report)[0], expected);
    }
}

/// The shapes are the same, and what is behind the name is not.
#[test]
fn another_definition_with_another_format_is_another_type() {
    let with = |name: &str| json!({ "Day": text("date"), "Page": text("uri"), "X": object(json!({ "a": to(name) })) });
    let impact = Impact::new(Unknown, Unknown, Breaks);
    let found = report(with("Day"), with("Page"));
    assert_eq!(changes(&found), [(Kind::TypeChanged, "/$defs/X/properties/a", impact)]);
    // Also in lists, and where the format is gone.
    let list =
        |item: Value| json!({ "Day": text("date"), "X": object(json!({ "a": { "type": "array", "items": item } })) });
    let found = report(list(to("Day")), list(json!({ "type": "string" })));
    assert_eq!(changes(&found), [(Kind::TypeChanged, "/$defs/X/properties/a", impact)]);
}

/// A constant that is no member is a type of its own.
#[test]
fn constants_that_are_no_members_are_compared() {
    let arm = |number: u8| json!({ "anyOf": [{ "const": number }, { "type": "string" }] });
    let item = |number: u8| json!({ "type": "array", "items": { "const": number } });
    for (old, new, pointer) in [(arm(1), arm(2), "/$defs/X/anyOf/0"), (item(1), item(2), "/$defs/X/items")] {
        let found = report(json!({ "X": old }), json!({ "X": new }));
        let (kind, place, impact) = changes(&found)[0];
        assert_eq!((kind, place, impact.readers, impact.writers), (Kind::TypeChanged, pointer, Breaks, Breaks));
    }
}

/// Of a closed enum the emitted type is one that is matched without an arm for others.
#[test]
fn a_value_more_in_a_closed_enum_breaks_rust() {
    let season = |values: &[&str]| json!({ "Season": { "type": "string", "enum": values } });
    let found = report(season(&["dry", "wet"]), season(&["dry", "wet", "cold"]));
    assert_eq!(changes(&found), [(Kind::ValueAdded, "/$defs/Season/enum", Impact::new(Breaks, Ok, Breaks))]);
}

/// `CatPet` and `DogPet` are `Cat` and `Dog` until a `Tree` comes, which is no `Pet`.
#[test]
fn an_arm_may_give_the_others_other_names() {
    let with = |arms: Vec<Value>| {
        let own = |member: &str| object(json!({ member: { "type": "string" } }));
        json!({ "X": { "anyOf": arms }, "CatPet": own("cat"), "DogPet": own("dog"), "Tree": own("tree") })
    };
    for (arm, rust) in [(to("Tree"), Unknown), (json!({ "type": "boolean" }), Ok)] {
        let found = report(with(vec![to("CatPet"), to("DogPet")]), with(vec![to("CatPet"), to("DogPet"), arm]));
        assert_eq!(changes(&found), [(Kind::ArmAdded, "/$defs/X/anyOf", Impact::new(Breaks, Ok, rust))]);
    }
}

/// Arms have the names of their tag's values where all of those are names, and no two the same.
#[test]
fn a_tag_that_is_no_name_may_give_the_other_arms_other_names() {
    let with = |tags: &[&str]| {
        let name = |index: usize| format!("Arm{index}");
        let arms = tags.iter().enumerate();
        let union: Vec<_> = arms.clone().map(|(index, _)| to(&name(index))).collect();
        let mut defs = json!({ "X": { "oneOf": union } });
        arms.for_each(|(index, tag)| defs[name(index)] = object(json!({ "kind": { "const": tag } })));
        defs
    };
    for (tag, rust) in [("c", Ok), ("3", Unknown), ("A", Unknown), ("self", Unknown)] {
        let found = report(with(&["a", "b"]), with(&["a", "b", tag]));
        assert_eq!(changes(&found)[0], (Kind::ArmAdded, "/$defs/X/oneOf", Impact::new(Breaks, Ok, rust)), "{tag}");
    }
}

/// A constant that another member of the `allOf` does not admit is one that can never be there.
#[test]
fn a_constant_is_compared_with_what_it_overrules() {
    let base = |member: Value| json!({ "type": "object", "properties": { "a": member, "b": {} } });
    let composed = json!({ "allOf": [to("Base"), { "type": "object", "properties": { "a": { "const": "x" } } }] });
    let with = |member: Value| {
        let few = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
        json!({ "Base": base(member), "Few": few, "Word": { "type": "string" }, "X": composed })
    };
    let text = json!({ "type": "string" });
    for (old, new, impact) in [
        (text.clone(), to("Few"), Some(UNKNOWN)),
        (json!({}), json!({ "type": "string", "maxLength": 3 }), Some(UNKNOWN)),
        (text, to("Word"), None),
        (json!({}), to("Word"), None),
    ] {
        let found = report(with(old), with(new));
        assert_eq!(found.affected.get("X").map(|affected| affected.impact), impact, "{:?}", found.changes);
    }
}

/// The same with a definition: an object of any content does not admit a word.
#[test]
fn a_definition_is_compared_with_the_object_that_it_overrules() {
    let with = |member: Value, name: &str| {
        let base = json!({ "type": "object", "properties": { "a": member, "b": {} } });
        let composed = json!({ "allOf": [to("Base"), { "type": "object", "properties": { "a": to(name) } }] });
        json!({ "Base": base, "X": composed, "Word": { "type": "string" }, "Thing": object(json!({ "c": {} })) })
    };
    for (name, impact) in [("Word", Some(UNKNOWN)), ("Thing", None)] {
        let found = report(with(json!({}), name), with(json!({ "type": "object" }), name));
        assert_eq!(found.affected.get("X").map(|affected| affected.impact), impact, "{:?}", found.changes);
    }
}

/// A text that may be left out is a field, a number is none.
#[test]
fn a_constant_of_another_type_breaks_rust() {
    let with = |constant: Value| json!({ "X": { "type": "object", "properties": { "a": { "const": constant } } } });
    for (new, rust) in [(json!("b"), Ok), (json!(1), Breaks)] {
        let found = report(with(json!("a")), with(new));
        let expected = (Kind::ConstantChanged, "/$defs/X/properties/a", Impact::new(Breaks, Breaks, rust));
        assert_eq!(changes(&found), [expected]);
    }
}

/// As with members: what a base says, all that is composed of it says.
#[test]
fn the_keywords_of_a_base_are_those_of_what_is_composed_of_it() {
    let base = |format: &str| object(json!({ "id": text(format), "kind": { "type": "string" } }));
    let own = object(json!({ "size": { "type": "integer" } }));
    let with = |base_name: &str, first: &str| json!({ "One": base(first), "Two": base("uri"), "X": { "allOf": [to(base_name), own] } });
    let found = report(with("One", "uuid"), with("Two", "uuid"));
    assert_eq!(found.affected["X"].impact, UNKNOWN, "{:?}", found.changes);
    let found = report(with("One", "uuid"), with("One", "date"));
    assert_eq!(found.affected["X"].impact, UNKNOWN, "{:?}", found.changes);
}

/// A document of ours, with one definition.
#[track_caller]
fn house_report(old: Value, new: Value) -> Report {
    let read = |mut definition: Value| {
        definition["title"] = json!("A thing");
        definition["description"] = json!("A thing. [mcp-tasks: Invented for a test]");
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:mcp-tasks:2026-07-28:tasks",
            "title": "Things",
            "description": "Things. [mcp-tasks: Invented for a test]",
            "$defs": { "X": definition },
        });
        let read = read_house(&[("2026-07-28".to_owned(), vec![Document::new("x", root)])]);
        read.unwrap_or_else(|error| panic!("{error}")).pop().expect("a revision")
    };
    diff(&read(old), &read(new), &Settings::default())
}

/// Shapes do not hold all that the house style lets pass.
#[test]
fn what_the_shape_does_not_hold_is_compared_as_it_stands() {
    let beside =
        |rest: Value| json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": rest });
    let length = |most: u64| json!({ "type": "string", "maxLength": most });
    for (old, new, pointer) in [
        (beside(json!({ "type": "string" })), beside(json!({ "type": "integer" })), "additionalProperties"),
        (beside(json!(true)), beside(json!({ "type": "integer" })), "additionalProperties"),
        (length(5_000_000_000), length(6_000_000_000), "maxLength"),
    ] {
        let report = house_report(old, new);
        assert_eq!(changes(&report), [(Kind::KeywordChanged, format!("/$defs/X/{pointer}").as_str(), UNKNOWN)]);
    }
}
