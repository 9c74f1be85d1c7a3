//! The house style of `schema/`, enforced.
//!
//! It is the one style that all consumers of the schemas take well (`schema/README.md` says what each rule is for).
//! Only documents of our own are held to it; what is published elsewhere is rewritten by [`foreign`](crate::foreign).

use crate::document::{Document, escape};
use crate::emit::split_source;
use crate::error::{Error, Problem, Problems};
use serde_json::{Map, Value};

/// What a document has at its root.
const ROOT: &[&str] = &["$schema", "$id", "title", "description", "$defs"];

/// String formats that all consumers know.
const FORMATS: &[&str] = &["date-time", "uri", "byte", "uri-template"];

type Schema = Map<String, Value>;

/// Checks documents against the house style.
pub(crate) fn check(documents: &[Document]) -> Result<(), Error> {
    let mut lint = Lint { file: "", problems: Problems::default() };
    for document in documents {
        lint.file = &document.file;
        lint.document(&document.root);
    }
    lint.problems.finish(())
}

struct Lint<'a> {
    file: &'a str,
    problems: Problems,
}

impl Lint<'_> {
    fn report(&mut self, pointer: &str, message: impl Into<String>, help: &str) {
        self.problems.push(Problem::new(self.file, pointer, message).help(help));
    }

    fn document(&mut self, root: &Value) {
        let Some(root) = root.as_object() else {
            return self.report("", "a schema document is an object", "write one document a part, with `$defs`");
        };
        let allowed = format!("the root has {}, each once, and nothing else", ROOT.join(", "));
        for key in ROOT.iter().filter(|key| !root.contains_key(**key)) {
            self.report("", format!("`{key}` is missing"), &allowed);
        }
        for key in root.keys().filter(|key| !ROOT.contains(&key.as_str())) {
            self.report(&format!("/{}", escape(key)), format!("`{key}` at the root"), &allowed);
        }
        if !root.get("$id").and_then(Value::as_str).is_some_and(|id| id.starts_with("urn:mcp-tasks:")) {
            self.report("/$id", "`$id` is not of the form", "write `urn:mcp-tasks:REVISION:PART`");
        }
        for (name, schema) in root.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            let pointer = format!("/$defs/{}", escape(name));
            match schema.as_object() {
                Some(schema) => self.definition(schema, &pointer),
                None => self.report(&pointer, "a definition is an object", "use `{}` with a description for any JSON"),
            }
        }
    }

    fn definition(&mut self, schema: &Schema, pointer: &str) {
        self.words(schema, pointer);
        let own: Vec<&str> = schema.keys().map(String::as_str).filter(|key| !is_words(key)).collect();
        match own.as_slice() {
            [] => {}
            ["allOf"] => self.composition(schema, pointer),
            ["oneOf"] => self.union(schema, "oneOf", pointer),
            ["anyOf"] => self.union(schema, "anyOf", pointer),
            ["$ref"] => {}
            _ => self.typed(schema, pointer),
        }
    }

    /// Every definition says what it is and where that comes from.
    fn words(&mut self, schema: &Schema, pointer: &str) {
        if schema.get("title").and_then(Value::as_str).unwrap_or_default().is_empty() {
            self.report(pointer, "`title` is missing", "name the definition in a few words");
        }
        let help = "end it with its source, such as `[SEP-2663: Task Status; TSK-05]` or `[core 2026-07-28: Tool]`";
        match schema.get("description").and_then(Value::as_str) {
            None => self.report(pointer, "`description` is missing", "say in your own words what it is for"),
            Some(text) => match split_source(text) {
                Some((words, source)) if !words.is_empty() && is_source(source) => {}
                _ => self.report(&format!("{pointer}/description"), "the description names no source", help),
            },
        }
    }

    fn composition(&mut self, schema: &Schema, pointer: &str) {
        let pointer = format!("{pointer}/allOf");
        let members = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let help = "list references to objects, and last at most one object of its own members";
        for (index, member) in members.iter().enumerate() {
            let pointer = format!("{pointer}/{index}");
            match member.as_object() {
                Some(member) if member.contains_key("$ref") => self.reference(member, &pointer),
                Some(member) if index + 1 == members.len() => self.object(member, &pointer),
                _ => self.report(&pointer, "`allOf` is over references to objects", help),
            }
        }
        if members.len() < 2 {
            self.report(&pointer, "`allOf` of one member", "refer to it, or write the object");
        }
    }

    fn union(&mut self, schema: &Schema, keyword: &str, pointer: &str) {
        let pointer = format!("{pointer}/{keyword}");
        for (index, arm) in schema.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let pointer = format!("{pointer}/{index}");
            match arm.as_object() {
                Some(arm) if arm.contains_key("$ref") => self.reference(arm, &pointer),
                Some(arm) if keyword == "anyOf" && !arm.contains_key("properties") => self.slot(arm, &pointer, true),
                _ => self.report(&pointer, format!("an arm of `{keyword}` is a reference"), "name the arm in `$defs`"),
            }
        }
    }

    fn typed(&mut self, schema: &Schema, pointer: &str) {
        match schema.get("type").and_then(Value::as_str) {
            Some("object") if schema.contains_key("properties") => self.object(schema, pointer),
            Some("object") => match schema.get("additionalProperties") {
                Some(Value::Bool(true)) => self.only(schema, pointer, &["type", "additionalProperties"]),
                Some(Value::Object(value)) => {
                    self.only(schema, pointer, &["type", "additionalProperties", "minProperties"]);
                    self.slot(value, &format!("{pointer}/additionalProperties"), true);
                }
                _ => self.report(pointer, "a map says what its values are", "write `additionalProperties`"),
            },
            Some("string") => {
                let beside = ["enum", "format"].into_iter().find(|word| schema.contains_key(*word));
                match beside {
                    Some(word) => self.only(schema, pointer, &["type", word]),
                    None => self.only(schema, pointer, &["type", "format", "enum", "minLength", "maxLength"]),
                }
                self.format(schema, pointer);
            }
            Some("integer" | "number") => self.only(schema, pointer, &["type", "minimum", "maximum"]),
            Some("boolean") => self.only(schema, pointer, &["type"]),
            Some("array") => {
                self.only(schema, pointer, &["type", "items", "minItems", "maxItems"]);
                self.items(schema, pointer);
            }
            _ => self.report(&format!("{pointer}/type"), "`type` is one word", "name the type, or make it a union"),
        }
        self.bounds(schema, pointer);
    }

    /// Bounds are numbers, and have something between them.
    fn bounds(&mut self, schema: &Schema, pointer: &str) {
        for word in ["minLength", "maxLength", "minItems", "maxItems", "minProperties"] {
            if schema.get(word).is_some_and(|bound| !bound.is_u64()) {
                self.report(&format!("{pointer}/{word}"), format!("`{word}` is no count"), "write a whole number");
            }
        }
        for word in ["minimum", "maximum"] {
            if schema.get(word).is_some_and(|bound| !bound.is_number()) {
                self.report(&format!("{pointer}/{word}"), format!("`{word}` is no number"), "write a number");
            }
        }
        for (least, most) in [("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")] {
            let number = |word: &str| schema.get(word).and_then(Value::as_f64);
            if number(least).zip(number(most)).is_some_and(|(least, most)| least > most) {
                let message = format!("`{least}` is greater than `{most}`");
                self.report(&format!("{pointer}/{least}"), message, "no value would fit");
            }
        }
    }

    fn object(&mut self, schema: &Schema, pointer: &str) {
        self.only(schema, pointer, &["type", "properties", "required", "additionalProperties"]);
        let help = "write `type`, `properties`, `required` (also if empty) and `additionalProperties`";
        for key in ["type", "properties", "required", "additionalProperties"] {
            if !schema.contains_key(key) {
                self.report(pointer, format!("`{key}` is missing"), help);
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let known = name.as_str().is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)));
            if !known {
                let message = format!("{name} is required and not among the properties");
                self.report(&format!("{pointer}/required"), message, "describe the member");
            }
        }
        for (name, property) in properties.into_iter().flatten() {
            let pointer = format!("{pointer}/properties/{}", escape(name));
            match property.as_object() {
                Some(property) => self.slot(property, &pointer, false),
                None => self.report(&pointer, "a schema is an object", "use `{}` with a description for any JSON"),
            }
        }
    }

    /// What may stand inside a definition. `silent` places need no description.
    fn slot(&mut self, schema: &Schema, pointer: &str, silent: bool) {
        if schema.contains_key("$ref") {
            return self.reference(schema, pointer);
        }
        let described = silent || schema.contains_key("const") || schema.contains_key("description");
        if !described {
            self.report(pointer, "`description` is missing", "say in your own words what the member is for");
        }
        if let Some(arms) = schema.get("anyOf").and_then(Value::as_array) {
            return self.nullable(schema, arms, pointer);
        }
        match schema.get("type").and_then(Value::as_str) {
            None if schema.keys().all(|key| key == "description") => {}
            Some("string" | "integer") if schema.contains_key("const") => {
                self.only(schema, pointer, &["type", "const"]);
            }
            Some("string" | "integer" | "number" | "boolean") => self.only(schema, pointer, &["type"]),
            Some("array") => {
                self.only(schema, pointer, &["type", "items"]);
                self.items(schema, pointer);
            }
            _ => self.report(pointer, "this shape stands inside a definition", "name it in `$defs` and refer to it"),
        }
    }

    fn nullable(&mut self, schema: &Schema, arms: &[Value], pointer: &str) {
        self.only(schema, pointer, &["anyOf"]);
        let null =
            |arm: &Value| arm.as_object().is_some_and(|arm| arm.len() == 1 && arm.get("type") == Some(&"null".into()));
        match arms {
            [Value::Object(value), last] if null(last) => self.slot(value, &format!("{pointer}/anyOf/0"), true),
            _ => self.report(
                pointer,
                "a union stands inside a definition",
                "name it in `$defs`; only null may join here",
            ),
        }
    }

    fn items(&mut self, schema: &Schema, pointer: &str) {
        let pointer = format!("{pointer}/items");
        match schema.get("items").and_then(Value::as_object) {
            Some(items) => self.slot(items, &pointer, true),
            None => self.report(&pointer, "a list says what its items are", "write `items`"),
        }
    }

    fn reference(&mut self, schema: &Schema, pointer: &str) {
        for key in schema.keys().filter(|key| *key != "$ref") {
            self.report(
                &format!("{pointer}/{}", escape(key)),
                format!("`{key}` beside `$ref`"),
                "let the definition say it",
            );
        }
    }

    fn format(&mut self, schema: &Schema, pointer: &str) {
        let Some(format) = schema.get("format") else { return };
        if !format.as_str().is_some_and(|format| FORMATS.contains(&format)) {
            self.report(
                &format!("{pointer}/format"),
                format!("the format {format} is not known to all"),
                &FORMATS.join(", "),
            );
        }
    }

    fn only(&mut self, schema: &Schema, pointer: &str, allowed: &[&str]) {
        for key in schema.keys().filter(|key| !is_words(key) && !allowed.contains(&key.as_str())) {
            let help = format!("here may stand {}", allowed.join(", "));
            self.report(&format!("{pointer}/{}", escape(key)), format!("the keyword `{key}`"), &help);
        }
    }
}

fn is_words(key: &str) -> bool {
    matches!(key, "title" | "description")
}

/// `SEP-2663: Section; TSK-01, TSK-02`, `core 2026-07-28: Name` or `mcp-tasks: Topic`, with or without requirements.
fn is_source(source: &str) -> bool {
    let (place, requirements) = source.split_once("; ").unwrap_or((source, ""));
    let Some((document, section)) = place.split_once(": ") else { return false };
    let known = matches!(document, "SEP-2663" | "mcp-tasks") || document.starts_with("core 20");
    let is_requirement = |id: &str| {
        id.split_once('-').is_some_and(|(group, number)| {
            !group.is_empty()
                && group.bytes().all(|byte| byte.is_ascii_uppercase())
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    known && !section.is_empty() && (requirements.is_empty() || requirements.split(", ").all(is_requirement))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(definition: Value) -> Vec<String> {
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:mcp-tasks:test:part",
            "title": "Test",
            "description": "Test.",
            "$defs": { "Thing": definition },
        });
        match check(&[Document::new("t.json", root)]) {
            Ok(()) => Vec::new(),
            Err(error) => {
                error.problems().iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect()
            }
        }
    }

    fn described(mut definition: Value) -> Value {
        definition["title"] = json!("Thing");
        definition["description"] = json!("A thing. [mcp-tasks: Test]");
        definition
    }

    #[test]
    fn an_object_in_house_style_passes() {
        let definition = described(json!({
            "type": "object",
            "properties": { "kind": { "type": "string", "const": "thing" }, "other": { "$ref": "#/$defs/Thing" } },
            "required": ["kind"],
            "additionalProperties": true,
        }));
        assert_eq!(problems(definition), [] as [&str; 0]);
    }

    #[test]
    fn every_fault_is_reported_at_its_place() {
        let definition = json!({
            "type": "object",
            "properties": { "a": { "type": "object", "properties": {} }, "b": { "$ref": "#/$defs/Thing", "title": "B" } },
            "x-order": 1,
        });
        assert_eq!(
            problems(definition),
            [
                "/$defs/Thing `additionalProperties` is missing",
                "/$defs/Thing `description` is missing",
                "/$defs/Thing `required` is missing",
                "/$defs/Thing `title` is missing",
                "/$defs/Thing/properties/a `description` is missing",
                "/$defs/Thing/properties/a this shape stands inside a definition",
                "/$defs/Thing/properties/b/title `title` beside `$ref`",
                "/$defs/Thing/x-order the keyword `x-order`",
            ]
        );
    }

    /// What would be passed over later, for it is no number or stands where nobody looks for it.
    #[test]
    fn bounds_are_numbers_in_their_places() {
        for (definition, complaints) in [
            (json!({ "type": "string", "minLength": 0, "maxLength": 0 }), &[][..]),
            (json!({ "type": "string", "minLength": -1 }), &["/$defs/Thing/minLength `minLength` is no count"]),
            (json!({ "type": "number", "maximum": "1" }), &["/$defs/Thing/maximum `maximum` is no number"]),
            (
                json!({ "type": "array", "items": {}, "minItems": 2, "maxItems": 1 }),
                &["/$defs/Thing/minItems `minItems` is greater than `maxItems`"],
            ),
            (
                json!({ "type": "string", "enum": ["a"], "maxLength": 1 }),
                &["/$defs/Thing/maxLength the keyword `maxLength`"],
            ),
            (
                json!({ "type": "string", "format": "uri", "minLength": 9 }),
                &["/$defs/Thing/minLength the keyword `minLength`"],
            ),
            (
                json!({ "type": "object", "additionalProperties": true, "minProperties": 1 }),
                &["/$defs/Thing/minProperties the keyword `minProperties`"],
            ),
        ] {
            assert_eq!(problems(described(definition.clone())), complaints, "{definition}");
        }
    }

    #[test]
    fn a_description_ends_with_its_source() {
        for (source, good) in [
            ("[SEP-2663: Task Status; TSK-05, TSK-07]", true),
            ("[core 2026-07-28: Tool]", true),
            ("[SEP-2663]", false),
            ("[SEP-2663: Tasks; tsk-1]", false),
            ("", false),
        ] {
            let mut definition = described(json!({ "type": "string" }));
            definition["description"] = json!(format!("Words. {source}"));
            assert_eq!(problems(definition).is_empty(), good, "{source}");
        }
    }

    #[test]
    fn the_root_has_its_five_members_and_no_other() {
        let error = check(&[Document::new("t.json", json!({ "$defs": {}, "$comment": "" }))]).unwrap_err();
        let pointers: Vec<_> = error.problems().iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["", "", "", "", "/$comment", "/$id"]);
    }
}
