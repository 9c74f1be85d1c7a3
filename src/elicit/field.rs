//! One field of a form: from the schema that schemars derives to the little that elicitation allows.

use std::borrow::Cow;

use serde_json::{Number, Value, json};

use crate::types::{PrimitiveSchemaDefinition, StringSchemaFormat, support::JsonObject};

/// Why a field cannot be shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unshowable(pub Cow<'static, str>);

type Shown<T> = Result<T, Unshowable>;

fn unshowable(why: impl Into<Cow<'static, str>>) -> Unshowable {
    Unshowable(why.into())
}

/// Says something about a field that no form needs.
const NOTES: [&str; 8] =
    ["$schema", "$comment", "examples", "deprecated", "readOnly", "writeOnly", "uniqueItems", "contentEncoding"];

/// What a form shows for a field with this schema.
pub(super) fn field(schema: &Value) -> Shown<PrimitiveSchemaDefinition> {
    let Value::Object(schema) = schema else { return Err(unshowable("it can be anything")) };
    let mut schema = without_null(schema.clone());
    for note in NOTES {
        schema.shift_remove(note);
    }
    let shown = match choices(&schema)? {
        Some(choices) => choices.single(&schema)?,
        None => primitive(schema)?,
    };
    serde_json::from_value(shown.into()).map_err(|error| unshowable(error.to_string()))
}

/// The schema of an `Option`'s value: whether it is one stands in `required`.
fn without_null(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Array(kinds)) = schema.get("type") {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        if let [kind] = &*kinds {
            schema.insert("type".to_owned(), kind.clone());
        }
    }
    if let Some(Value::Array(allowed)) = schema.get_mut("enum") {
        allowed.retain(|allowed| !allowed.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
    for keyword in ["anyOf", "allOf"] {
        schema = unwrapped(schema, keyword);
    }
    schema
}

/// Puts the one arm of a combination that is not `null` in its place; what stands beside it comes first.
fn unwrapped(mut schema: JsonObject, keyword: &str) -> JsonObject {
    let Some(Value::Array(arms)) = schema.get(keyword) else { return schema };
    let arms: Vec<&JsonObject> = arms
        .iter()
        .filter_map(Value::as_object)
        .filter(|arm| arm.get("type").is_none_or(|kind| kind != "null"))
        .collect();
    let [arm] = &*arms else { return schema };
    let arm = without_null((*arm).clone());
    schema.shift_remove(keyword);
    for (name, value) in arm {
        schema.entry(name).or_insert(value);
    }
    schema
}

/// Values to choose from, each with a title if it has one.
struct Choices(Vec<(String, Option<String>)>);

/// The values of an enum without data, if it is one.
fn choices(schema: &JsonObject) -> Shown<Option<Choices>> {
    if let Some(Value::Array(arms)) = schema.get("oneOf") {
        let mut all = Vec::new();
        for arm in arms {
            let arm = arm.as_object().map(choices).transpose()?.flatten();
            all.extend(arm.ok_or_else(|| unshowable("a choice with data of its own cannot be asked for"))?.0);
        }
        return Ok(Some(Choices(all)));
    }
    let title = ["title", "description"].iter().find_map(|keyword| schema.get(*keyword)?.as_str());
    match (schema.get("const"), schema.get("enum")) {
        (Some(Value::String(value)), _) => Ok(Some(Choices(vec![(value.clone(), title.map(str::to_owned))]))),
        (None, Some(Value::Array(values))) => {
            let values = values.iter().map(|value| Some((value.as_str()?.to_owned(), None)));
            let values = values.collect::<Option<_>>().ok_or_else(|| unshowable("only texts can be chosen from"))?;
            Ok(Some(Choices(values)))
        }
        (None, None) => Ok(None),
        _ => Err(unshowable("only texts can be chosen from")),
    }
}

impl Choices {
    /// A field to choose one from.
    fn single(self, schema: &JsonObject) -> Shown<JsonObject> {
        let mut shown = kept(schema, "string", &["title", "description", "default"], &["enum", "const", "oneOf"])?;
        let (keyword, values) = self.values("oneOf");
        shown.insert(keyword.to_owned(), values);
        Ok(shown)
    }

    /// The keyword that lists the values, and its value: with titles if any has one.
    fn values(self, titled: &'static str) -> (&'static str, Value) {
        if self.0.iter().all(|(_, title)| title.is_none()) {
            return ("enum", self.0.into_iter().map(|(value, _)| value).collect());
        }
        let titled_value = |(value, title): (String, Option<String>)| json!({"title": title.as_ref().unwrap_or(&value), "const": value});
        (titled, self.0.into_iter().map(titled_value).collect())
    }
}

/// A field to enter something in.
fn primitive(schema: JsonObject) -> Shown<JsonObject> {
    const BOUNDS: [&str; 5] = ["title", "description", "default", "minimum", "maximum"];
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => text(&schema),
        Some("boolean") => kept(&schema, "boolean", &["title", "description", "default"], &[]),
        Some("integer") => kept(&inclusive(schema), "integer", &BOUNDS, &["format"]),
        Some("number") => kept(&schema, "number", &BOUNDS, &["format"]),
        Some("array") => list(&schema),
        Some("object") => Err(unshowable("an object cannot be asked for")),
        _ => Err(unshowable("it is neither text, number, `bool` nor a choice of texts")),
    }
}

fn text(schema: &JsonObject) -> Shown<JsonObject> {
    let allowed = ["title", "description", "default", "minLength", "maxLength", "format"];
    let mut shown = kept(schema, "string", &allowed, &[])?;
    // A format that forms do not know is a note.
    if format_of(schema).is_none() {
        shown.shift_remove("format");
    }
    Ok(shown)
}

fn format_of(schema: &JsonObject) -> Option<StringSchemaFormat> {
    schema.get("format")?.as_str()?.parse().ok()
}

/// A field to choose several from.
fn list(schema: &JsonObject) -> Shown<JsonObject> {
    let items = schema.get("items").and_then(Value::as_object).map(|items| without_null(items.clone()));
    let choices = items.as_ref().map(choices).transpose()?.flatten();
    let choices = choices.ok_or_else(|| unshowable("only lists of choices can be asked for"))?;
    let allowed = ["title", "description", "default", "minItems", "maxItems"];
    let mut shown = kept(schema, "array", &allowed, &["items"])?;
    let items = match choices.values("anyOf") {
        ("enum", values) => json!({"type": "string", "enum": values}),
        (keyword, values) => json!({ keyword: values }),
    };
    shown.insert("items".to_owned(), items);
    Ok(shown)
}

/// Turns exclusive bounds of a whole number into inclusive ones, the only ones that forms know.
fn inclusive(mut schema: JsonObject) -> JsonObject {
    for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        let bound = schema.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
        if let Some(bound) = bound {
            schema.shift_remove(exclusive);
            let tighter = schema.get(inclusive).and_then(Value::as_i64).filter(|own| (own - bound).signum() == step);
            schema.insert(inclusive.to_owned(), Number::from(tighter.unwrap_or(bound)).into());
        }
    }
    schema
}

/// The members of `schema` that are `allowed`. Those in `replaced` say something that the caller says in another way; any
/// other would be lost, and is an error.
fn kept(schema: &JsonObject, kind: &str, allowed: &[&str], replaced: &[&str]) -> Shown<JsonObject> {
    let mut shown = JsonObject::new();
    shown.insert("type".to_owned(), kind.into());
    for (keyword, value) in schema {
        match keyword.as_str() {
            "type" => {}
            known if allowed.contains(&known) => {
                shown.insert(keyword.clone(), value.clone());
            }
            known if replaced.contains(&known) => {}
            other => return Err(unshowable(format!("a form cannot say `{other}`"))),
        }
    }
    Ok(shown)
}

/// Holds a text that was entered against the format of its field (UPD-07), roughly: what is refused is surely none.
pub(super) fn check_format(schema: &Value, name: &str, value: &Value) -> Result<(), String> {
    let (Some(schema), Some(text)) = (schema.as_object(), value.as_str()) else { return Ok(()) };
    let Some(format) = format_of(schema) else { return Ok(()) };
    let fits = match format {
        StringSchemaFormat::Email => is_email(text),
        StringSchemaFormat::Uri => is_uri(text),
        StringSchemaFormat::Date => is_date(text),
        StringSchemaFormat::DateTime => is_date_time(text),
    };
    if fits { Ok(()) } else { Err(format!("`/{name}`: {value} is no {format}")) }
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !text.contains(' '))
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let name = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    name && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.is_empty() && !text.contains(' ')
}

fn is_date(text: &str) -> bool {
    let parts: Option<Vec<u32>> = text.split('-').map(digits).collect();
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    matches!(parts.as_deref(), Some([_, 1..=12, 1..=31])) && lengths == [4, 2, 2]
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let clock = time.get(..8).is_some_and(is_clock);
    let zone = time.ends_with(['Z', 'z']) || time.get(8..).is_some_and(|rest| rest.contains(['+', '-']));
    is_date(date) && clock && zone
}

fn is_clock(text: &str) -> bool {
    let parts: Option<Vec<u32>> = text.split(':').map(digits).collect();
    matches!(parts.as_deref(), Some([0..=23, 0..=59, 0..=60]))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_refuse_what_is_surely_none() {
        for (text, fits) in [("2026-02-03", true), ("2026-13-03", false), ("26-2-3", false), ("2026-02-0x", false)] {
            assert_eq!(is_date(text), fits, "{text}");
        }
        let times =
            ["2026-02-03T10:11:12Z", "2026-02-03t10:11:12.5+02:00", "2026-02-03T10:11:12", "2026-02-03", "äöüT"];
        assert_eq!(times.map(is_date_time), [true, true, false, false, false]);
        assert_eq!(
            ["mailto:a@b", "https://a.b/c", "://x", "no scheme: x", "x"].map(is_uri),
            [true, true, false, false, false]
        );
        assert_eq!(["a@b", "@b", "a@", "a b@c"].map(is_email), [true, false, false, false]);
    }

    #[test]
    fn exclusive_bounds_become_inclusive_ones() {
        let shown = |schema: Value| field(&schema).map(|shown| serde_json::to_value(shown).expect("it is JSON"));
        let bounded =
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": 2, "exclusiveMaximum": 9, "maximum": 7});
        assert_eq!(shown(bounded), Ok(json!({"type": "integer", "minimum": 3, "maximum": 7})));
        let float = json!({"type": "number", "exclusiveMinimum": 0.0});
        assert_eq!(shown(float), Err(unshowable("a form cannot say `exclusiveMinimum`")));
    }
}
