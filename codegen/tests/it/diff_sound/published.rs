//! The same for published files, made at random: their schemas say more than the house style lets pass.

use super::{Dice, Side, accepted, places, verdicts};
use mcp_tasks_codegen::diff::{Verdict, diff};
use mcp_tasks_codegen::{Document, Settings, read_published};
use serde_json::{Map, Value, json};

const ROUNDS: u64 = 2000;
const NAMES: [&str; 4] = ["A", "B", "C", "D"];
const WORDS: [&str; 4] = ["", "a", "added", "b"];

fn name_of(dice: &mut Dice) -> &'static str {
    NAMES[dice.below(NAMES.len())]
}

fn reference(dice: &mut Dice) -> Value {
    json!({ "$ref": format!("#/$defs/{}", name_of(dice)) })
}

/// Bounds, where the dice say so.
fn bounded(mut schema: Value, [least, most]: [&str; 2], dice: &mut Dice) -> Value {
    if dice.one_in(3) {
        schema[least] = json!(dice.below(3));
    }
    if dice.one_in(3) {
        schema[most] = json!(2 + dice.below(3));
    }
    schema
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => bounded(json!({ "type": "string" }), ["minLength", "maxLength"], dice),
        1 => bounded(json!({ "type": "integer" }), ["minimum", "maximum"], dice),
        2 => bounded(json!({ "type": "number" }), ["minimum", "maximum"], dice),
        3 => json!({ "type": "boolean" }),
        4 => json!({ "type": "string", "enum": some(&WORDS, 1, dice) }),
        _ => json!({ "const": dice.pick(&[json!("a"), json!("b"), json!(1), json!(2)]) }),
    }
}

/// Some of them, in their order.
fn some<'a>(all: &[&'a str], least: usize, dice: &mut Dice) -> Vec<&'a str> {
    let mut some: Vec<_> = all.iter().copied().filter(|_| dice.one_in(2)).collect();
    if some.len() < least {
        some = vec![all[dice.below(all.len())]];
    }
    some
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let members: Map<_, _> =
        some(&["k", "l", "m", "n"], 1, dice).into_iter().map(|name| (name.to_owned(), slot(dice, depth))).collect();
    let required: Vec<_> = members.keys().filter(|_| dice.one_in(2)).cloned().collect();
    let mut object = json!({ "type": "object", "properties": members, "required": required });
    if dice.one_in(4) {
        object["additionalProperties"] = json!(false);
    }
    object
}

fn slot(dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 {
        return scalar(dice);
    }
    let below = depth - 1;
    match dice.below(12) {
        0 => json!({}),
        1 => json!({ "type": "object" }),
        2 => bounded(json!({ "type": "array", "items": slot(dice, below) }), ["minItems", "maxItems"], dice),
        3 => {
            let map = json!({ "type": "object", "additionalProperties": slot(dice, below) });
            bounded(map, ["minProperties", "maxProperties"], dice)
        }
        4 => object(dice, below),
        5 => json!({ "anyOf": [slot(dice, below), { "type": "null" }] }),
        6 => json!({ "type": some(&["string", "integer", "boolean", "null"], 1, dice) }),
        7 => json!({ "anyOf": [scalar(dice), slot(dice, below)] }),
        8 | 9 => reference(dice),
        _ => scalar(dice),
    }
}

/// An object with a tag, which it may leave out.
fn tagged(tag: &str, dice: &mut Dice) -> Value {
    let mut object = object(dice, 1);
    object["properties"]["t"] = json!({ "const": tag });
    if let (Some(required), false) = (object["required"].as_array_mut(), dice.one_in(4)) {
        required.push(json!("t"));
    }
    object
}

fn definition(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => json!({ "allOf": [reference(dice), object(dice, 2)] }),
        1 => json!({ "anyOf": [reference(dice), reference(dice)] }),
        2 => json!({ "oneOf": [tagged("a", dice), tagged("b", dice), reference(dice)] }),
        3 => tagged("c", dice),
        4 | 5 => slot(dice, 2),
        _ => object(dice, 2),
    }
}

/// Replaces one schema somewhere below, or a bound, a value, or whether a member is required.
fn mutate(schema: &mut Value, dice: &mut Dice) {
    let places = places(schema, "");
    let place = dice.pick(&places).clone();
    let Some(found) = schema.pointer_mut(&place) else { return };
    match found {
        Value::Number(_) => *found = json!(dice.below(5)),
        Value::Bool(value) => *value = !*value,
        Value::Array(list) if place.ends_with("/required") && !list.is_empty() => drop(list.pop()),
        Value::Array(list) if place.ends_with("/enum") => {
            *list = some(&WORDS, 1, dice).into_iter().map(Value::from).collect()
        }
        Value::Object(_) if place.ends_with("/properties") => {
            found[["k", "l", "m", "n"][dice.below(4)]] = slot(dice, 1)
        }
        Value::Object(_) if !place.is_empty() && dice.one_in(2) => *found = slot(dice, 1),
        Value::Object(_) if place.is_empty() && dice.one_in(3) => *found = definition(dice),
        _ => {}
    }
}

fn side(definitions: &Value) -> Option<Side> {
    let root = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions });
    let revision = read_published(&[Document::new("x", root)]).ok()?;
    Some(Side { revision, definitions: definitions.clone() })
}

#[test]
fn what_is_called_compatible_of_published_files_is_compatible() {
    let (mut pairs, mut messages, mut broken) = (0, 0, 0);
    for seed in 0..ROUNDS {
        let mut dice = Dice::new(seed + 1);
        let definitions =
            json!(NAMES.map(|name| (name.to_owned(), definition(&mut dice))).into_iter().collect::<Map<_, _>>());
        let Some(old) = side(&definitions) else { continue };
        let mut changed = definitions.clone();
        for _ in 0..=dice.below(2) {
            mutate(&mut changed[name_of(&mut dice)], &mut dice);
        }
        let Some(new) = side(&changed) else { continue };
        let report = diff(&old.revision, &new.revision, &Settings::default());
        pairs += 1;
        for name in NAMES {
            let (readers, writers) = verdicts(&report, name);
            broken += usize::from(readers == Verdict::Breaks) + usize::from(writers == Verdict::Breaks);
            if readers == Verdict::Ok {
                messages += accepted(&new, &old, name, &mut dice, seed, &report);
            }
            if writers == Verdict::Ok {
                messages += accepted(&old, &new, name, &mut dice, seed, &report);
            }
        }
    }
    println!("{pairs} pairs, {messages} messages, {broken} verdicts that something breaks");
    assert!(pairs > 400 && messages > 30_000 && broken > 300, "{pairs} pairs, {messages} messages, {broken} breaks");
}
