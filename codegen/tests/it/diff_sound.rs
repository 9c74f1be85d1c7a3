//! `diff` says `ok` only where it is: our schemas are changed at random, messages made of one side, and judged by a JSON
//! Schema validator that is not ours on the other side.

mod published;

use crate::support::{get, repository};
use mcp_tasks_codegen::diff::{Report, Verdict, diff};
use mcp_tasks_codegen::ir::{Content, Revision, Scalar, Shape, Type};
use mcp_tasks_codegen::{Document, Settings, read_house};
use serde_json::{Map, Value, json};

const NAME: &str = "2026-07-28";
const ROUNDS: u64 = 400;

/// A generator of numbers that look random (xorshift), the same ones each time.
struct Dice {
    state: u64,
    /// How many values the current message may still have: some schemas would have them go on forever.
    fuel: usize,
}

impl Dice {
    fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, fuel: 0 }
    }

    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 16).expect("64 bits") % end.max(1)
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn documents() -> Vec<Value> {
    let read = |part: &str| get(&repository().join(format!("schema/{NAME}/{part}.schema.json")));
    ["core", "tasks"].map(|part| serde_json::from_str(&read(part)).expect("JSON")).to_vec()
}

fn revision(documents: &[Value]) -> Option<Revision> {
    let documents = documents.iter().map(|root| Document::new("x", root.clone())).collect();
    read_house(&[(NAME.to_owned(), documents)]).ok()?.pop()
}

/// All definitions in one document, which a validator can read.
fn bundle(documents: &[Value]) -> Value {
    let all = documents.iter().flat_map(|root| root["$defs"].as_object().expect("definitions").clone());
    let text = json!(all.collect::<Map<_, _>>()).to_string();
    let text =
        text.replace(&format!("urn:mcp-tasks:{NAME}:core#"), "#").replace("urn:mcp-tasks:2026-07-28:tasks#", "#");
    serde_json::from_str(&text).expect("still JSON")
}

fn validator(definitions: &Value, name: &str) -> jsonschema::Validator {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": needed(definitions, name),
        "$ref": format!("#/$defs/{name}"),
    });
    jsonschema::validator_for(&schema).expect("our schemas are schemas")
}

/// A definition and those it refers to: a validator takes its time over each.
fn needed(definitions: &Value, name: &str) -> Value {
    let (mut kept, mut next) = (Map::new(), vec![name.to_owned()]);
    while let Some(name) = next.pop() {
        let schema = definitions[&name].clone();
        if !kept.contains_key(&name) {
            next.extend(
                schema
                    .to_string()
                    .split("#/$defs/")
                    .skip(1)
                    .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
            );
            kept.insert(name, schema);
        }
    }
    Value::Object(kept)
}

/// Changes one thing somewhere; says whether it did, and where.
fn mutate(documents: &mut [Value], dice: &mut Dice) -> Option<String> {
    let document = dice.below(documents.len());
    let definitions = documents[document]["$defs"].as_object_mut()?;
    // Scalars, enums, maps and unions are few and are to have their share.
    let plain = |schema: &Value| schema.get("properties").is_none() && schema.get("allOf").is_none();
    let only_plain = dice.one_in(3);
    let names = definitions.iter().filter(|(_, schema)| !only_plain || plain(schema));
    let names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
    let name = dice.pick(&names).clone();
    let schema = definitions.get_mut(&name)?;
    let object = match schema.get("allOf").and_then(Value::as_array).map(Vec::len) {
        Some(count) => schema.get_mut("allOf")?.get_mut(count - 1)?,
        None => schema,
    };
    change(object, dice).then_some(name)
}

fn change(schema: &mut Value, dice: &mut Dice) -> bool {
    let Some(schema) = schema.as_object_mut() else { return false };
    if schema.contains_key("properties") {
        return change_object(schema, dice);
    }
    for keyword in ["enum", "oneOf", "anyOf"] {
        if let Some(list) = schema.get_mut(keyword).and_then(Value::as_array_mut) {
            return change_list(list, keyword == "enum", dice);
        }
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => {
            let keyword = *dice.pick(&["minimum", "maximum"]);
            let value = if keyword == "minimum" { dice.below(3) } else { 3 + dice.below(9) };
            schema.insert(keyword.to_owned(), json!(value));
        }
        Some("string") => drop(schema.insert("minLength".to_owned(), json!(dice.below(4)))),
        Some("object") if schema.get("additionalProperties").is_some_and(Value::is_object) => {
            match dice.below(2) {
                0 => schema.insert("minProperties".to_owned(), json!(1 + dice.below(2))),
                _ => schema.insert("additionalProperties".to_owned(), kind(dice)),
            };
        }
        _ => return false,
    }
    true
}

fn change_object(schema: &mut Map<String, Value>, dice: &mut Dice) -> bool {
    let members: Vec<_> = schema["properties"].as_object().expect("members").keys().cloned().collect();
    let required = |schema: &mut Map<String, Value>, name: &str, is: bool| {
        let list = schema["required"].as_array_mut().expect("a list");
        list.retain(|other| other != name);
        if is {
            list.push(json!(name));
        }
    };
    if members.is_empty() || dice.one_in(5) {
        schema["properties"]["added"] = kind(dice);
        required(schema, "added", dice.one_in(2));
        return true;
    }
    let name = dice.pick(&members).clone();
    match dice.below(5) {
        0 => {
            let is = schema["required"].as_array().expect("a list").contains(&json!(name));
            required(schema, &name, !is);
        }
        1 => {
            schema["properties"].as_object_mut().expect("members").shift_remove(&name);
            required(schema, &name, false);
        }
        2 => schema["properties"][&name] = kind(dice),
        3 => {
            let was = schema["properties"][&name].clone();
            let has_tag = was.get("const").is_some() || was.get("anyOf").is_some();
            if has_tag || was.as_object().is_none_or(|was| was.keys().all(|key| key == "description")) {
                return false;
            }
            let mut inner = was;
            inner.as_object_mut().expect("a schema").remove("description");
            schema["properties"][&name] = json!({ "anyOf": [inner, { "type": "null" }], "description": "Changed." });
        }
        _ => {
            let was = schema["properties"].as_object_mut().expect("members").shift_remove(&name);
            schema["properties"]["renamed"] = was.expect("it was there");
            let is = schema["required"].as_array().expect("a list").contains(&json!(name));
            required(schema, &name, false);
            required(schema, "renamed", is);
        }
    }
    true
}

fn change_list(list: &mut Vec<Value>, is_enum: bool, dice: &mut Dice) -> bool {
    match (is_enum, dice.one_in(2)) {
        (true, true) => list.push(json!("added")),
        (false, true) if list.iter().any(|arm| arm.get("type").is_some()) => list.push(json!({ "type": "boolean" })),
        _ if list.len() > 2 => drop(list.remove(dice.below(list.len()))),
        _ => return false,
    }
    true
}

fn kind(dice: &mut Dice) -> Value {
    let names = ["string", "integer", "number", "boolean"];
    match dice.below(6) {
        4 => json!({ "type": "array", "items": { "type": "string" }, "description": "Changed." }),
        5 => json!({ "description": "Changed." }),
        index => json!({ "type": names[index], "description": "Changed." }),
    }
}

/// A message of a type, most of them valid.
fn message(revision: &Revision, of: &Type, dice: &mut Dice, depth: usize) -> Value {
    if dice.fuel == 0 {
        return Value::Null;
    }
    dice.fuel -= 1;
    match of {
        Type::Named(name) => shaped(revision, &revision.get(name).expect("it is defined").shape, dice, depth),
        Type::String => json!(dice.pick(&["", "a", "2026-07-28T00:00:00Z", "added"])),
        Type::Integer { min, max } => integer(*min, *max, dice),
        Type::Number => dice.pick(&[json!(0), json!(-1), json!(0.5), json!(7)]).clone(),
        Type::Boolean => json!(dice.one_in(2)),
        Type::Any => dice.pick(&[json!(null), json!(1), json!("a"), json!({}), json!([1])]).clone(),
        Type::Free => dice.pick(&[json!({}), json!({ "a": null })]).clone(),
        Type::List(item) => {
            (0..dice.below(3)).map(|_| message(revision, item, dice, depth.saturating_sub(1))).collect()
        }
        Type::Nullable(_) if dice.one_in(3) => Value::Null,
        Type::Nullable(inner) => message(revision, inner, dice, depth),
    }
}

fn integer(min: Option<i64>, max: Option<i64>, dice: &mut Dice) -> Value {
    let (min, max) = (min.unwrap_or(-5), max.unwrap_or(1000));
    json!(*dice.pick(&[min, max, min.saturating_add(1).min(max), 0.clamp(min, max.max(min))]))
}

fn shaped(revision: &Revision, shape: &Shape, dice: &mut Dice, depth: usize) -> Value {
    let below = depth.saturating_sub(1);
    match shape {
        Shape::Object(object) => {
            let mut out = Map::new();
            for field in &object.fields {
                let presence = field.presence;
                if !presence.is_required() && (depth == 0 || dice.one_in(2)) {
                    continue;
                }
                let value = match &field.content {
                    _ if presence.is_nullable() && dice.one_in(3) => Value::Null,
                    Content::Typed(of) => message(revision, of, dice, below),
                    Content::Constant(word) => json!(word),
                    Content::ConstantInteger(value) => json!(value),
                };
                out.insert(field.wire.clone(), value);
            }
            if object.open && dice.one_in(4) {
                out.insert("x-neither-names-this".to_owned(), json!([null]));
            }
            Value::Object(out)
        }
        Shape::Tagged(tagged) => message(revision, &Type::Named(dice.pick(&tagged.arms).target.clone()), dice, below),
        Shape::Choice(choice) => message(revision, &dice.pick(&choice.arms).clone(), dice, below),
        Shape::Enum(words) => json!(dice.pick(&words.values)),
        Shape::Scalar(Scalar::String { min, .. }) => {
            let word = dice.pick(&["", "a", "2026-07-28T00:00:00Z"]).to_string();
            json!(format!("{word}{}", "b".repeat(min.unwrap_or(0) as usize * dice.below(2))))
        }
        Shape::Scalar(Scalar::Integer { min, max }) => integer(*min, *max, dice),
        Shape::Scalar(Scalar::Number { min, max }) => json!(*dice.pick(&[min.unwrap_or(0.0), max.unwrap_or(9.5)])),
        Shape::Scalar(Scalar::Boolean) => json!(dice.one_in(2)),
        Shape::Map(map) => {
            let count = usize::try_from(map.min.unwrap_or(0)).expect("small") + dice.below(2);
            (0..count).map(|index| (format!("k{index}"), message(revision, &map.value, dice, below))).collect()
        }
        Shape::List(list) => {
            let count = usize::try_from(list.min.unwrap_or(0)).expect("small") + dice.below(2);
            (0..count).map(|_| message(revision, &list.item, dice, below)).collect()
        }
        Shape::Alias(of) => message(revision, of, dice, depth),
    }
}

/// A side of a pair: what it means, and its definitions for a validator.
struct Side {
    revision: Revision,
    definitions: Value,
}

/// Puts something else in one place of a message, or takes a member away: what the schemas say counts, and not only what
/// was understood of them. (That it turns an arm into another one with members that only the first names, which `diff`
/// takes nobody to write, is rare; none of the rounds here does.)
fn twist(message: &mut Value, dice: &mut Dice) {
    let places = places(message, "");
    let place = dice.pick(&places).clone();
    if let Some((parent, member)) = place.rsplit_once('/')
        && dice.one_in(3)
        && let Some(Value::Object(members)) = message.pointer_mut(parent)
    {
        members.shift_remove(member);
    } else if let Some(value) = message.pointer_mut(&place) {
        let others = json!([null, true, 0, 1, 2, 3, 5, 0.5, "", "a", "b", "aaaa", [], [1], [1, 2, 3, 4, 5], {}]);
        *value = dice.pick(others.as_array().expect("a list")).clone();
    }
}

/// The pointers to a value and all below it.
fn places(value: &Value, at: &str) -> Vec<String> {
    let mut all = vec![at.to_owned()];
    let below: Vec<_> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    all.extend(below.into_iter().flat_map(|(step, value)| places(value, &format!("{at}/{step}"))));
    all
}

/// Asserts that what is valid on one side is valid on the other; says how many messages there were.
fn accepted(from: &Side, to: &Side, name: &str, dice: &mut Dice, seed: u64, report: &Report) -> usize {
    let (ours, theirs) = (validator(&from.definitions, name), validator(&to.definitions, name));
    let mut count = 0;
    for _ in 0..12 {
        dice.fuel = 300;
        let mut message = message(&from.revision, &Type::Named(name.to_owned()), dice, 4);
        if dice.one_in(3) {
            twist(&mut message, dice);
        }
        if ours.is_valid(&message) {
            count += 1;
            assert!(theirs.is_valid(&message), "seed {seed}: {name}: {message}\n{:#?}", report.changes);
        }
    }
    count
}

fn verdicts(report: &Report, name: &str) -> (Verdict, Verdict) {
    report
        .affected
        .get(name)
        .map_or((Verdict::Ok, Verdict::Ok), |affected| (affected.impact.readers, affected.impact.writers))
}

#[test]
fn what_is_called_compatible_is_compatible() {
    let base = documents();
    let old = Side { revision: revision(&base).expect("ours have no faults"), definitions: bundle(&base) };
    let (mut pairs, mut messages, mut broken) = (0, 0, 0);
    for seed in 0..ROUNDS {
        let mut dice = Dice::new(seed + 1);
        let mut changed = base.clone();
        let Some(name) = mutate(&mut changed, &mut dice) else { continue };
        let Some(read) = revision(&changed) else { continue };
        let new = Side { revision: read, definitions: bundle(&changed) };
        let report = diff(&old.revision, &new.revision, &Settings::default());
        pairs += 1;
        // The changed definition and some that may refer to it.
        let mut names = vec![name];
        names.extend(report.affected.keys().take(4).cloned());
        for name in names {
            let (readers, writers) = verdicts(&report, &name);
            broken += usize::from(readers == Verdict::Breaks) + usize::from(writers == Verdict::Breaks);
            if readers == Verdict::Ok {
                messages += accepted(&new, &old, &name, &mut dice, seed, &report);
            }
            if writers == Verdict::Ok {
                messages += accepted(&old, &new, &name, &mut dice, seed, &report);
            }
        }
    }
    println!("{pairs} pairs, {messages} messages, {broken} verdicts that something breaks");
    assert!(pairs > 250 && messages > 6000 && broken > 500, "{pairs} pairs, {messages} messages, {broken} breaks");
}
