//! What a shape without a name of its own is called: after the place it stands in.
//!
//! `Parent` and the field, as in `GetTaskRequest` + `params`; an item of a list adds `Item`, a value of a map `Value`,
//! and the arm of a union the value of its tag.

use super::schema::{Schema, Shape};
use serde_json::Value;

/// The name a place would give to what stands there, and its last part.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The whole name.
    pub(super) name: String,
    /// What the last step added.
    pub(super) step: String,
}

impl Context {
    /// The context of a definition.
    pub(super) fn definition(name: &str) -> Self {
        Self { name: name.into(), step: name.into() }
    }

    /// One step further in.
    pub(super) fn step(&self, step: &str) -> Self {
        Self { name: format!("{}{step}", self.name), step: step.into() }
    }

    /// The context of a property.
    pub(super) fn field(&self, property: &str) -> Self {
        self.step(&upper_camel(property))
    }

    /// The contexts of a union's arms. What is only made nullable keeps the name of its place.
    pub(super) fn arms(&self, arms: &[Schema]) -> Vec<Self> {
        let others = arms.iter().filter(|arm| !matches!(arm.shape, Shape::Null)).count();
        if others == 1 {
            return vec![self.clone(); arms.len()];
        }
        let tags: Vec<Option<String>> = arms.iter().map(tag).collect();
        let name = |(index, tag): (usize, &Option<String>)| match tag {
            Some(word) if tags.iter().filter(|other| *other == tag).count() == 1 => self.step(word),
            _ => self.step(&format!("Option{}", index + 1)),
        };
        tags.iter().enumerate().map(name).collect()
    }
}

/// The word for an inline arm: its first constant string.
fn tag(arm: &Schema) -> Option<String> {
    match &arm.shape {
        Shape::All(members) => members.iter().find_map(tag),
        Shape::Object(object) => object.properties.values().find_map(|property| match &property.shape {
            Shape::Const(Value::String(text)) => Some(upper_camel(text)),
            _ => None,
        }),
        _ => None,
    }
}

/// A key as a part of a type name: what stands after the last `/`, each word with a capital.
pub(super) fn upper_camel(key: &str) -> String {
    let last = key.rsplit('/').next().unwrap_or(key);
    let words: String = last.split(|c: char| !c.is_alphanumeric()).map(capitalised).collect();
    if words.is_empty() { "Field".into() } else { words }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_words() {
        let cases = [
            ("inputRequests", "InputRequests"),
            ("_meta", "Meta"),
            ("$schema", "Schema"),
            ("org.example/related-thing", "RelatedThing"),
            ("a/b.c", "BC"),
            ("in_progress", "InProgress"),
            ("/", "Field"),
        ];
        for (key, word) in cases {
            assert_eq!(upper_camel(key), word, "{key}");
        }
    }
}
