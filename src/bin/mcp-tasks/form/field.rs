//! `Field`: one line of a form, read from the schema that the server sent, and what may be written there. Pure.

use std::fmt;

use serde_json::{Map, Number, Value};

use crate::{
    arguments::{self, boolean},
    text,
};

/// A property of `requestedSchema`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    /// What to show in its place: its title, or its name.
    pub label: String,
    pub help: Option<String>,
    pub required: bool,
    pub default: Option<Value>,
    pub kind: Kind,
}

/// What may be written into a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Text {
        least: Option<u64>,
        most: Option<u64>,
        format: Option<String>,
    },
    Integer {
        least: Option<Number>,
        most: Option<Number>,
    },
    Number {
        least: Option<Number>,
        most: Option<Number>,
    },
    Boolean,
    One(Vec<Choice>),
    Several {
        choices: Vec<Choice>,
        least: Option<u64>,
        most: Option<u64>,
    },
    /// Something that no form should have; the user writes JSON.
    Json,
}

/// One of the things to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub title: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

/// The fields of a form, in the order of the schema.
pub fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flat_map(Map::iter);
    properties.map(|(name, schema)| Field::read(name, schema, required.contains(&name.as_str()))).collect()
}

impl Field {
    fn read(name: &str, schema: &Value, required: bool) -> Self {
        let text = |key: &str| schema[key].as_str().map(|said| text::brief(said, 400));
        Self {
            name: name.to_owned(),
            label: text("title").unwrap_or_else(|| text::brief(name, 80)),
            help: text("description"),
            required,
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            kind: Kind::read(schema),
        }
    }

    /// The default as one would write it, if it can be seen as what it is: nobody should send by Enter what they did not
    /// see.
    pub fn default_text(&self) -> Option<String> {
        match self.default.as_ref()? {
            Value::String(told) if told.contains('\n') || text::printable(told) != *told => None,
            Value::String(told) => Some(told.clone()),
            other => Some(text::escaped(&other.to_string())),
        }
    }

    /// The value of `written`; `None` for a field that is left out.
    ///
    /// # Errors
    /// A sentence for the one who wrote it.
    pub fn parse(&self, written: &str) -> Result<Option<Value>, String> {
        if written.trim().is_empty() {
            return if self.required { Err("an answer is needed here".to_owned()) } else { Ok(None) };
        }
        self.kind.parse(written).map(Some)
    }

    /// What is asked of an answer, in short.
    pub fn hint(&self) -> Option<String> {
        let says = [self.help.clone(), self.kind.bounds(), (!self.required).then(|| "may be left empty".to_owned())];
        let says: Vec<_> = says.into_iter().flatten().collect();
        (!says.is_empty()).then(|| says.join("; "))
    }
}

impl Kind {
    fn read(schema: &Value) -> Self {
        let number = |key: &str| schema[key].as_number().cloned();
        match schema["type"].as_str() {
            Some("string") if !choices(schema).is_empty() => Self::One(choices(schema)),
            Some("string") => Self::Text {
                least: schema["minLength"].as_u64(),
                most: schema["maxLength"].as_u64(),
                format: schema["format"].as_str().map(|format| text::brief(format, 40)),
            },
            Some("integer") => Self::Integer { least: number("minimum"), most: number("maximum") },
            Some("number") => Self::Number { least: number("minimum"), most: number("maximum") },
            Some("boolean") => Self::Boolean,
            Some("array") if !choices(&schema["items"]).is_empty() => Self::Several {
                choices: choices(&schema["items"]),
                least: schema["minItems"].as_u64(),
                most: schema["maxItems"].as_u64(),
            },
            _ => Self::Json,
        }
    }

    fn parse(&self, written: &str) -> Result<Value, String> {
        match self {
            Self::Text { least, most, format } => {
                let length = written.chars().count() as u64;
                if least.is_some_and(|least| length < least) || most.is_some_and(|most| length > most) {
                    return Err(self.bounds().unwrap_or_default());
                }
                formatted(written, format.as_deref())?;
                Ok(Value::String(written.to_owned()))
            }
            Self::Integer { least, most } => {
                let number: Number = written.trim().parse().map_err(|_| "write a whole number".to_owned())?;
                if number.is_f64() {
                    return Err("write a whole number".to_owned());
                }
                self.within(number, least, most)
            }
            Self::Number { least, most } => {
                let number: Number = written.trim().parse().map_err(|_| "write a number".to_owned())?;
                arguments::exact(written)?;
                self.within(number, least, most)
            }
            Self::Boolean => boolean(written).map(Value::Bool).ok_or_else(|| "write yes or no".to_owned()),
            Self::One(choices) => chosen(choices, written.trim()),
            Self::Several { choices, .. } => {
                let values: Result<_, _> = written.split(',').map(|one| chosen(choices, one.trim())).collect();
                let values: Vec<Value> = values?;
                self.enough(values.len())?;
                Ok(Value::Array(values))
            }
            Self::Json => {
                let value = serde_json::from_str(written).map_err(|error| format!("write JSON: {error}"))?;
                arguments::exact(written).map(|()| value)
            }
        }
    }

    fn within(&self, number: Number, least: &Option<Number>, most: &Option<Number>) -> Result<Value, String> {
        let value = number.as_f64().unwrap_or(f64::NAN);
        let below = least.as_ref().and_then(Number::as_f64).is_some_and(|least| value < least);
        let above = most.as_ref().and_then(Number::as_f64).is_some_and(|most| value > most);
        if below || above { Err(self.bounds().unwrap_or_default()) } else { Ok(Value::Number(number)) }
    }

    /// Whether so many choices are allowed.
    pub fn enough(&self, count: usize) -> Result<(), String> {
        let Self::Several { least, most, .. } = self else { return Ok(()) };
        let count = count as u64;
        if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
            return Err(self.bounds().unwrap_or_default());
        }
        Ok(())
    }

    /// The bounds of an answer, in words.
    fn bounds(&self) -> Option<String> {
        match self {
            Self::Text { least, most, format } => {
                let length = range(least.as_ref(), most.as_ref()).map(|range| format!("{range} characters"));
                length.or_else(|| format.clone())
            }
            Self::Integer { least, most } => {
                range(least.as_ref(), most.as_ref()).map(|r| format!("a whole number, {r}"))
            }
            Self::Number { least, most } => range(least.as_ref(), most.as_ref()).map(|r| format!("a number, {r}")),
            Self::Several { least, most, .. } => range(least.as_ref(), most.as_ref()).map(|r| format!("choose {r}")),
            Self::Json => Some("as JSON".to_owned()),
            Self::Boolean | Self::One(_) => None,
        }
    }
}

fn range<T: fmt::Display>(least: Option<&T>, most: Option<&T>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// The formats that a form may name. The server checks closer.
fn formatted(written: &str, format: Option<&str>) -> Result<(), String> {
    let (fits, sentence) = match format {
        Some("email") => {
            let fits = written.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
            (fits, "write an e-mail address")
        }
        Some("uri") => {
            let fits = written.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
            (fits, "write an address with its scheme, such as https://example.org")
        }
        Some("date") => (written.parse::<jiff::civil::Date>().is_ok(), "write a date, such as 2026-07-28"),
        Some("date-time") => {
            (written.parse::<jiff::Timestamp>().is_ok(), "write a moment with its offset, such as 2026-07-28T12:00:00Z")
        }
        _ => (true, ""),
    };
    if fits { Ok(()) } else { Err(sentence.to_owned()) }
}

/// The choice that `written` names, by value or title.
fn chosen(choices: &[Choice], written: &str) -> Result<Value, String> {
    let found = choices.iter().find(|choice| choice.value == written);
    match found.or_else(|| choices.iter().find(|choice| choice.title == written)) {
        Some(choice) => Ok(Value::String(choice.value.clone())),
        None => {
            let values: Vec<_> = choices.iter().map(|choice| text::brief(&choice.value, 120)).collect();
            Err(format!("choose one of {}", values.join(", ")))
        }
    }
}

/// What there is to choose from: `enum`, with `enumNames` or without, or constants with titles.
fn choices(schema: &Value) -> Vec<Choice> {
    let titles = schema["enumNames"].as_array();
    let plain = schema["enum"].as_array().into_iter().flatten().enumerate().filter_map(|(n, value)| {
        let title = titles.and_then(|titles| titles.get(n)?.as_str());
        choice(value.as_str()?, title)
    });
    let titled = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let titled = titled.filter_map(|arm| choice(arm["const"].as_str()?, arm["title"].as_str()));
    plain.chain(titled).collect()
}

fn choice(value: &str, title: Option<&str>) -> Option<Choice> {
    Some(Choice { value: value.to_owned(), title: text::brief(title.unwrap_or(value), 120) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(schema: Value, required: bool) -> Field {
        Field::read("it", &schema, required)
    }

    #[track_caller]
    fn check(field: &Field, written: &str, expected: &str) {
        let told = match field.parse(written) {
            Ok(Some(value)) => value.to_string(),
            Ok(None) => "left out".to_owned(),
            Err(why) => why,
        };
        assert_eq!(told, expected, "{written}");
    }

    #[test]
    fn text_has_a_length_and_a_format() {
        let name = field(json!({"type": "string", "minLength": 2, "maxLength": 3}), true);
        check(&name, "abc", r#""abc""#);
        check(&name, "a", "2 to 3 characters");
        check(&name, "", "an answer is needed here");
        check(&field(json!({"type": "string"}), false), " ", "left out");
        check(
            &field(json!({"type": "string", "format": "date"}), true),
            "2026-02-30",
            "write a date, such as 2026-07-28",
        );
        check(&field(json!({"type": "string", "format": "email"}), true), "a@b", r#""a@b""#);
        check(&field(json!({"type": "string", "format": "email"}), true), "ab", "write an e-mail address");
    }

    #[test]
    fn numbers_have_bounds() {
        let age = field(json!({"type": "integer", "minimum": 0, "maximum": 100}), true);
        check(&age, "7", "7");
        check(&age, "7.5", "write a whole number");
        check(&age, "101", "a whole number, 0 to 100");
        check(&field(json!({"type": "number", "maximum": 1.5}), true), "1.6", "a number, at most 1.5");
        check(&field(json!({"type": "number"}), true), "1e3", "1000.0");
        let many = "0.1234567890123456789";
        check(
            &field(json!({"type": "number"}), true),
            many,
            &format!("{many} has more digits than can be sent: it would be rounded"),
        );
    }

    /// Each of the five forms in which a server may say what there is to choose from.
    #[test]
    fn choices_are_by_value_or_title() {
        for schema in [
            json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}),
            json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}),
        ] {
            let colour = field(schema, true);
            check(&colour, "r", r#""r""#);
            check(&colour, "Green", r#""g""#);
            check(&colour, "blue", "choose one of r, g");
        }
        check(&field(json!({"type": "string", "enum": ["r", "g"]}), true), "g", r#""g""#);
        for items in [
            json!({"type": "string", "enum": ["r", "g"]}),
            json!({"anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}),
        ] {
            let colours = field(json!({"type": "array", "items": items, "minItems": 2}), true);
            check(&colours, "r, g", r#"["r","g"]"#);
            check(&colours, "r", "choose at least 2");
        }
    }

    #[test]
    fn fields_keep_the_order_of_the_schema() {
        let schema = json!({"properties": {"z": {"type": "boolean"}, "a": {"type": "null"}}, "required": ["a"]});
        let fields = fields(&schema);
        assert_eq!(
            fields.iter().map(|field| (&*field.name, field.required)).collect::<Vec<_>>(),
            [("z", false), ("a", true)]
        );
        assert_eq!(fields[1].kind, Kind::Json);
    }

    /// Nothing of a form is a command to the terminal, and nobody sends by Enter what they cannot see.
    #[test]
    fn a_form_of_a_stranger_does_nothing() {
        const EVIL: &str = "\u{9b}2J\u{202e}";
        let said = field(json!({"type": "string", "title": EVIL, "description": EVIL, "format": EVIL}), true);
        assert_eq!(said.label, "\u{fffd}2J\u{fffd}");
        assert_eq!(said.hint().as_deref(), Some("\u{fffd}2J\u{fffd}; \u{fffd}2J\u{fffd}"));
        check(&field(json!({"type": "string", "enum": [EVIL]}), true), "x", "choose one of \u{fffd}2J\u{fffd}");
        let default = |value: Value| field(json!({"default": value}), false).default_text();
        assert_eq!(default(json!(EVIL)), None);
        assert_eq!(default(json!("a\nThe server asks: ")), None);
        assert_eq!(default(json!([EVIL])).as_deref(), Some(r#"["\u009b2J\u202e"]"#));
        assert_eq!(default(json!("plain")).as_deref(), Some("plain"));
    }

    #[test]
    fn a_hint_says_what_is_expected() {
        let candles = field(json!({"type": "integer", "maximum": 100, "description": "How many candles?"}), false);
        assert_eq!(
            candles.hint().as_deref(),
            Some("How many candles?; a whole number, at most 100; may be left empty")
        );
    }
}
