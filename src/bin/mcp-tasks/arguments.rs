//! `key=value`: what a user writes, made into the arguments that a tool's input schema asks for. Pure.
//!
//! Guarantee: what cannot be understood is refused with the name of the argument; nothing is sent that was guessed from
//! half of a value, nor another number than the one that was written. Whether the arguments are all right is for the server
//! to say.

mod numbers;

use serde_json::{Map, Value};

pub use self::numbers::exact;

/// How deep references are followed, for a schema may go round in a circle.
const DEPTH: usize = 16;

/// The arguments that `words` say, by the tool's input `schema`.
///
/// `key=value` is read as what the schema wants; `key:=JSON` is taken as it is. An argument that is a list may be given
/// several times, or with commas.
///
/// # Errors
/// A sentence that names the argument.
pub fn parse(words: &[String], schema: &Value) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for word in words {
        let (name, value) = split(word)?;
        let wanted = property(schema, name).ok_or_else(|| unknown(name, schema))?;
        let value = match value {
            Given::Json(text) => json(text).map_err(|why| format!("argument `{name}`: {why}"))?,
            Given::Text(text) => convert(text, wanted, schema).map_err(|why| format!("argument `{name}`: {why}"))?,
        };
        add(&mut arguments, name, value)?;
    }
    complete(&arguments, schema)?;
    Ok(arguments)
}

/// What `text` says as JSON.
///
/// # Errors
/// If it says nothing, or a number that would be rounded.
pub fn json(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| format!("`{text}` is not JSON: {error}"))?;
    exact(text).map(|()| value)
}

/// A value as it was given.
enum Given<'a> {
    Text(&'a str),
    Json(&'a str),
}

fn split(word: &str) -> Result<(&str, Given<'_>), String> {
    let Some((name, value)) = word.split_once('=') else {
        return Err(format!("`{word}` is no argument: write `name=value`, or `name:=JSON`"));
    };
    Ok(match name.strip_suffix(':') {
        Some(name) => (name, Given::Json(value)),
        None => (name, Given::Text(value)),
    })
}

/// Adds a value; a list grows, anything else is given once.
fn add(arguments: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), String> {
    match (arguments.get_mut(name), value) {
        (None, value) => {
            arguments.insert(name.to_owned(), value);
            Ok(())
        }
        (Some(Value::Array(all)), Value::Array(more)) => {
            all.extend(more);
            Ok(())
        }
        (Some(_), _) => Err(format!("argument `{name}` was given twice")),
    }
}

/// Whether all that the tool requires is there.
fn complete(arguments: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<_> = required.filter(|name| !arguments.contains_key(*name)).collect();
    match missing[..] {
        [] => Ok(()),
        [name] => Err(format!("argument `{name}` is missing: {}", describe(property(schema, name), schema))),
        _ => Err(format!("arguments are missing: `{}`", missing.join("`, `"))),
    }
}

/// The schema of an argument; `None` if the tool has no such argument.
fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    const ANY: &Value = &Value::Bool(true);
    let open = schema["properties"].as_object().is_none_or(Map::is_empty);
    schema["properties"].get(name).or_else(|| match &schema["additionalProperties"] {
        Value::Bool(false) => None,
        extra @ Value::Object(_) => Some(extra),
        Value::Bool(true) => Some(ANY),
        // A schema that says nothing about others mostly means that there are none.
        _ => open.then_some(ANY),
    })
}

fn unknown(name: &str, schema: &Value) -> String {
    let known: Vec<_> = schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    if known.is_empty() {
        format!("the tool takes no argument `{name}`; it takes none at all")
    } else {
        format!("the tool takes no argument `{name}`; it takes `{}`", known.join("`, `"))
    }
}

/// The value that `text` means, where `wanted` is asked for.
fn convert(text: &str, wanted: &Value, root: &Value) -> Result<Value, String> {
    let mut arms = Vec::new();
    flatten(wanted, root, DEPTH, &mut arms);
    // What is narrower goes first: `5` is a number wherever it may be one.
    arms.sort_by_key(|arm| arm.kind);
    let may_be_text = arms.last().is_none_or(|arm| arm.kind == Kind::String);
    let read = match &arms[..] {
        [] => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        arms => {
            arms.iter().find_map(|arm| arm.read(text, root)).ok_or_else(|| format!("`{text}` is not {}", says(arms)))?
        }
    };
    if may_be_text && !is_written_so(&read, text) {
        return Ok(Value::String(text.to_owned()));
    }
    // What is between commas was looked at by itself.
    let is_json = read.is_number() || read.is_object() || (read.is_array() && is_bracketed(text));
    if is_json {
        exact(text)?;
    }
    Ok(read)
}

/// Whether `value`, which was read out of `text`, is written so: `1.10` is no 1.1, and `no` may be Norway.
fn is_written_so(value: &Value, text: &str) -> bool {
    match value {
        Value::Bool(value) => text.trim() == value.to_string(),
        Value::Number(number) => text.trim() == number.to_string(),
        _ => true,
    }
}

/// What is asked for, in words.
fn says(arms: &[Arm<'_>]) -> String {
    let constants: Vec<_> = arms.iter().flat_map(Arm::constants).map(spelling).collect();
    let constants = (!constants.is_empty()).then(|| format!("one of `{}`", constants.join("`, `")));
    let mut kinds: Vec<_> = constants.into_iter().chain(arms.iter().filter_map(|arm| arm.kind.says())).collect();
    kinds.dedup();
    kinds.join(" or ")
}

/// A kind of JSON value, the narrower ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Null,
    Constant,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    String,
}

/// One of the things that are asked for.
struct Arm<'a> {
    kind: Kind,
    schema: &'a Value,
}

/// Follows references and unions to what can be read.
fn flatten<'a>(schema: &'a Value, root: &'a Value, depth: usize, arms: &mut Vec<Arm<'a>>) {
    if depth == 0 {
        return;
    }
    if let Some(target) = schema["$ref"].as_str() {
        if let Some(schema) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            flatten(schema, root, depth - 1, arms);
        }
        return;
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        for arm in schema[union].as_array().into_iter().flatten() {
            flatten(arm, root, depth - 1, arms);
        }
    }
    if schema["enum"].is_array() || schema.get("const").is_some() {
        arms.push(Arm { kind: Kind::Constant, schema });
        return;
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    arms.extend(kinds.into_iter().filter_map(Kind::named).map(|kind| Arm { kind, schema }));
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            _ => return None,
        })
    }

    /// The kind in words; constants speak for themselves.
    fn says(self) -> Option<String> {
        let words = match self {
            Self::Null => "`null`",
            Self::Constant => return None,
            Self::Boolean => "`true` or `false`",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Object => "a JSON object",
            Self::Array => "a list (with commas, or as JSON)",
            Self::String => "text",
        };
        Some(words.to_owned())
    }
}

impl<'a> Arm<'a> {
    /// The value, if `text` is one of this kind.
    fn read(&self, text: &str, root: &Value) -> Option<Value> {
        let json = || serde_json::from_str::<Value>(text.trim()).ok();
        match self.kind {
            Kind::Null => (text == "null").then_some(Value::Null),
            Kind::Constant => self.constants().find(|value| spells(value, text)).cloned(),
            Kind::Boolean => boolean(text).map(Value::Bool),
            Kind::Integer => json().filter(|value| value.is_i64() || value.is_u64()),
            Kind::Number => json().filter(Value::is_number),
            Kind::Object => json().filter(Value::is_object),
            Kind::Array if is_bracketed(text) => json().filter(Value::is_array),
            Kind::Array => self.list(text, root),
            Kind::String => Some(Value::String(text.to_owned())),
        }
    }

    /// A list with commas between what it lists.
    fn list(&self, text: &str, root: &Value) -> Option<Value> {
        if text.is_empty() {
            return Some(Value::Array(Vec::new()));
        }
        text.split(',')
            .map(|item| convert(item, &self.schema["items"], root).ok())
            .collect::<Option<_>>()
            .map(Value::Array)
    }

    fn constants(&self) -> impl Iterator<Item = &'a Value> {
        let schema = self.schema;
        schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"))
    }
}

/// `true` and `false` as people write them.
pub fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "y" | "1" | "on" => Some(true),
        "false" | "no" | "n" | "0" | "off" => Some(false),
        _ => None,
    }
}

/// Whether a list is given as JSON.
fn is_bracketed(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

fn spells(value: &Value, text: &str) -> bool {
    spelling(value) == text
}

fn spelling(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What an argument is, for people: its types, and what it is for.
pub fn describe(wanted: Option<&Value>, root: &Value) -> String {
    let mut arms = Vec::new();
    let wanted = wanted.unwrap_or(&Value::Null);
    flatten(wanted, root, DEPTH, &mut arms);
    arms.retain(|arm| arm.kind != Kind::Null);
    let kinds = if arms.is_empty() { "anything".to_owned() } else { says(&arms) };
    match wanted["description"].as_str() {
        Some(description) => format!("{description} ({kinds})"),
        None => kinds,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "description": "How many."},
                "ratio": {"type": ["number", "null"]},
                "loud": {"type": "boolean"},
                "name": {"type": "string"},
                "icing": {"$ref": "#/$defs/Icing"},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "numbers": {"type": "array", "items": {"type": "integer"}},
                "names": {"type": "array", "items": {"type": "string"}},
                "point": {"type": "object"},
                "any": true,
                "amount": {"type": "number"},
                "switch": {"type": ["integer", "boolean"]},
                "country": {"type": ["string", "boolean"]},
                "version": {"type": ["string", "number"]},
                "code": {"enum": [true, "no"]},
            },
            "required": ["count"],
            "$defs": {"Icing": {"type": "string", "enum": ["lemon", "chocolate"]}},
        })
    }

    fn check(words: &[&str], expected: &str) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let told = match parse(&words, &schema()) {
            Ok(arguments) => Value::Object(arguments).to_string(),
            Err(error) => error,
        };
        assert_eq!(told, expected, "{words:?}");
    }

    #[test]
    fn values_become_what_the_schema_asks_for() {
        check(&["count=3"], r#"{"count":3}"#);
        check(&["count=3", "ratio=0.5", "loud=yes"], r#"{"count":3,"ratio":0.5,"loud":true}"#);
        check(&["count=3", "ratio=null", "name=5"], r#"{"count":3,"ratio":null,"name":"5"}"#);
        check(&["count=3", "name=a=b"], r#"{"count":3,"name":"a=b"}"#);
        check(&["count=3", "icing=lemon"], r#"{"count":3,"icing":"lemon"}"#);
        check(&["count=3", "either=5"], r#"{"count":3,"either":5}"#);
        check(&["count=3", "either=five"], r#"{"count":3,"either":"five"}"#);
        check(&["count=3", "point={\"x\":1}"], r#"{"count":3,"point":{"x":1}}"#);
        check(&["count=3", "any=[1]", "name:=\"x\""], r#"{"count":3,"any":[1],"name":"x"}"#);
        check(&["count=3", "any=plain"], r#"{"count":3,"any":"plain"}"#);
    }

    /// What may be several things is the one that is written so.
    #[test]
    fn nothing_is_read_out_of_text_that_was_not_written() {
        check(&["count=3", "switch=1"], r#"{"count":3,"switch":1}"#);
        check(&["count=3", "switch=no"], r#"{"count":3,"switch":false}"#);
        check(&["count=3", "country=no"], r#"{"count":3,"country":"no"}"#);
        check(&["count=3", "country=true"], r#"{"count":3,"country":true}"#);
        check(&["count=3", "version=1.10"], r#"{"count":3,"version":"1.10"}"#);
        check(&["count=3", "version=1.1"], r#"{"count":3,"version":1.1}"#);
        check(&["count=3", "code=no"], r#"{"count":3,"code":"no"}"#);
        check(&["count=3", "any=1.10"], r#"{"count":3,"any":"1.10"}"#);
        check(&["count=3", "any=12345678901234567890123"], r#"{"count":3,"any":"12345678901234567890123"}"#);
        check(&["count=3", "any=1"], r#"{"count":3,"any":1}"#);
    }

    /// A number is sent as it was written, or not at all.
    #[test]
    fn no_number_is_rounded() {
        const MANY: &str = "123456789012345678901";
        let refused =
            |name: &str| format!("argument `{name}`: {MANY} has more digits than can be sent: it would be rounded");
        check(&["count=3", "amount=18446744073709551615"], r#"{"count":3,"amount":18446744073709551615}"#);
        check(&["count=3", "amount=1e3"], r#"{"count":3,"amount":1000.0}"#);
        check(&["count=3", &format!("amount={MANY}")], &refused("amount"));
        check(&["count=3", &format!("amount:={MANY}")], &refused("amount"));
        check(&["count=3", &format!("point={{\"a\":[{MANY}]}}")], &refused("point"));
        check(&["count=3", &format!("any=[{MANY}]")], &refused("any"));
        check(
            &["count=3", &format!("numbers=1,{MANY}")],
            &format!("argument `numbers`: `1,{MANY}` is not a list (with commas, or as JSON)"),
        );
        check(
            &["count=3", &format!("point={{\"{MANY}\":\"\\\"{MANY}\"}}")],
            &format!(r#"{{"count":3,"point":{{"{MANY}":"\"{MANY}"}}}}"#),
        );
    }

    #[test]
    fn lists_are_given_with_commas_or_brackets_or_again_and_again() {
        check(&["count=3", "numbers=1,2"], r#"{"count":3,"numbers":[1,2]}"#);
        check(&["count=3", "numbers=[1, 2]"], r#"{"count":3,"numbers":[1,2]}"#);
        check(&["count=3", "numbers=1", "numbers=2"], r#"{"count":3,"numbers":[1,2]}"#);
        check(&["count=3", "names=1.2.3,\"a"], r#"{"count":3,"names":["1.2.3","\"a"]}"#);
        check(&["count=3", "numbers="], r#"{"count":3,"numbers":[]}"#);
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(&[], "argument `count` is missing: How many. (a whole number)");
        check(&["count=many"], "argument `count`: `many` is not a whole number");
        check(&["count=1.5"], "argument `count`: `1.5` is not a whole number");
        check(&["count=1", "count=2"], "argument `count` was given twice");
        check(&["count=1", "loud=maybe"], "argument `loud`: `maybe` is not `true` or `false`");
        check(&["count=1", "icing=mud"], "argument `icing`: `mud` is not one of `lemon`, `chocolate`");
        check(&["count=1", "numbers=1,x"], "argument `numbers`: `1,x` is not a list (with commas, or as JSON)");
        check(&["count"], "`count` is no argument: write `name=value`, or `name:=JSON`");
        check(&["count:=x"], "argument `count`: `x` is not JSON: expected value at line 1 column 1");
        check(
            &["size=3"],
            "the tool takes no argument `size`; it takes `count`, `ratio`, `loud`, `name`, `icing`, `either`, `numbers`, \
             `names`, `point`, `any`, `amount`, `switch`, `country`, `version`, `code`",
        );
    }

    /// A schema that refers to itself is no reason to hang.
    #[test]
    fn a_circle_of_references_ends() {
        let schema = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        assert!(parse(&["a=1".to_owned()], &schema).is_ok());
    }
}
