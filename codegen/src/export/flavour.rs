//! The three flavours, each a change to the flat definitions.

use super::flat::Definitions;
use super::intent::Rules;
use super::walk;
use crate::ir::{Content, Object, Revision, Shape, Tagged, Type};
use crate::overlay::{Lenient, Settings};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// RFC 3339, for those whose validator takes `format` for a remark.
const RFC_3339: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$";
/// A date and a time of ISO 8601, in the basic or the extended form.
const ISO_8601: &str =
    r"^([+-]\d{2})?\d{4}-?\d{2}-?\d{2}[Tt ]\d{2}(:?\d{2}(:?\d{2}([.,]\d+)?)?)?([Zz]|[+-]\d{2}(:?\d{2})?)?$";
const BASE64: &str = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Checks what one writes.
    Strict,
    /// Checks what one reads.
    Tolerant,
    /// Feeds code generators.
    Codegen,
}

impl Flavour {
    pub(super) const ALL: [Self; 3] = [Self::Strict, Self::Tolerant, Self::Codegen];

    /// Its name in paths and `$id`s.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Tolerant => "tolerant",
            Self::Codegen => "codegen",
        }
    }

    pub(super) fn is_for_validators(self) -> bool {
        self != Self::Codegen
    }

    /// The definitions in this flavour.
    pub(super) fn apply(
        self,
        mut definitions: Definitions,
        revision: &Revision,
        settings: &Settings,
        rules: &Rules,
    ) -> Definitions {
        match self {
            Self::Strict => tighten(&mut definitions, revision, rules),
            Self::Tolerant => loosen(&mut definitions, revision, settings),
            Self::Codegen => name_by_title(&mut definitions),
        }
        for schema in definitions.values_mut() {
            walk::each(schema, &mut |inner| self.spell_format(inner));
        }
        definitions
    }

    /// What a format means for this flavour's readers. `byte` is none that JSON Schema knows.
    fn spell_format(self, schema: &mut Value) {
        let Some(format) = schema.get("format").and_then(Value::as_str).map(str::to_owned) else { return };
        let Some(members) = schema.as_object_mut() else { return };
        let mut put = |name: &str, value: &str| members.insert(name.to_owned(), json!(value));
        match (self, format.as_str()) {
            (Self::Strict, "date-time") => _ = put("pattern", RFC_3339),
            (Self::Tolerant, "date-time") => _ = put("pattern", ISO_8601),
            (Self::Strict, "byte") => {
                put("pattern", BASE64);
                put("contentEncoding", "base64");
            }
            _ => (),
        }
        let keeps = match self {
            Self::Strict => format != "byte",
            Self::Tolerant => false,
            // Generators make a moment of a `date-time`, which is wanted, and rewrite URIs, which is not.
            Self::Codegen => format == "date-time",
        };
        if !keeps {
            members.shift_remove("format");
        }
    }
}

/// Some generators name a type by its title, and number the second of the same title.
fn name_by_title(definitions: &mut Definitions) {
    for (name, schema) in definitions {
        let words = ["title", "description"].map(|member| schema[member].as_str().unwrap_or_default().to_owned());
        schema["description"] = json!(words.join(". "));
        schema["title"] = json!(name);
    }
}

fn tighten(definitions: &mut Definitions, revision: &Revision, rules: &Rules) {
    for definition in revision.definitions() {
        if let Shape::Tagged(union) = &definition.shape
            && let Some(arms) = arms_of_one_base(union, revision)
        {
            forbid_payloads_of_others(definitions, &arms);
        }
    }
    for (name, members) in &rules.without {
        members.iter().for_each(|member| forbid(definitions, name, member));
    }
    for name in &rules.closed {
        definitions[name]["additionalProperties"] = json!(false);
    }
    for (name, members) in &rules.some {
        let arm = |member: &String| json!({"type": "object", "properties": {member: true}, "required": [member]});
        definitions[name]["anyOf"] = members.iter().map(arm).collect();
    }
}

/// The arms of a union whose tag is a closed list in a base that all of them share: one thing in several states. The
/// kinds of content blocks are no such thing.
fn arms_of_one_base<'a>(union: &'a Tagged, revision: &'a Revision) -> Option<Vec<(&'a str, &'a Object)>> {
    let arms: Vec<_> =
        union.arms.iter().filter_map(|arm| Some((&*arm.target, revision.object(&arm.target)?))).collect();
    let mut bases = arms.iter().map(|(_, object)| ancestors(object, revision));
    let first = bases.next()?;
    let shared = bases.fold(first, |left, right| left.intersection(&right).copied().collect());
    shared.into_iter().any(|name| has_closed_tag(name, &union.tag, revision)).then_some(arms)
}

fn ancestors<'a>(object: &'a Object, revision: &'a Revision) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for base in &object.bases {
        found.insert(&**base);
        found.extend(revision.object(base).map(|base| ancestors(base, revision)).unwrap_or_default());
    }
    found
}

fn has_closed_tag(name: &str, tag: &str, revision: &Revision) -> bool {
    let content = revision.object(name).and_then(|object| object.field(tag)).map(|field| &field.content);
    let Some(Content::Typed(Type::Named(words))) = content else { return false };
    revision.get(words).is_some_and(|words| matches!(words.shape, Shape::Enum(_)))
}

fn forbid_payloads_of_others(definitions: &mut Definitions, arms: &[(&str, &Object)]) {
    for (name, object) in arms {
        let others = arms.iter().flat_map(|(_, other)| &other.fields).map(|field| field.wire.as_str());
        for member in others.filter(|member| object.field(member).is_none()) {
            forbid(definitions, name, member);
        }
    }
}

fn forbid(definitions: &mut Definitions, name: &str, member: &str) {
    definitions[name]["properties"][member] = json!(false);
}

fn loosen(definitions: &mut Definitions, revision: &Revision, settings: &Settings) {
    for lenient in &settings.lenient {
        lenient.members.iter().for_each(|member| read_leniently(definitions, member, lenient));
    }
    for name in &settings.open_enums {
        definitions[name].as_object_mut().and_then(|schema| schema.shift_remove("enum"));
    }
    for name in &settings.opaque_maps {
        definitions[name]["additionalProperties"] = json!(true);
    }
    for name in &settings.lenient_maps {
        definitions[name].as_object_mut().and_then(|schema| schema.shift_remove("minProperties"));
    }
    for name in &settings.open_unions {
        if let Some(Shape::Tagged(union)) = revision.get(name).map(|definition| &definition.shape) {
            open(&mut definitions[name], union);
        }
    }
}

fn read_leniently(definitions: &mut Definitions, member: &str, lenient: &Lenient) {
    let Some((name, member)) = member.split_once('.') else { return };
    let schema = &mut definitions[name];
    if lenient.absent
        && let Some(required) = schema["required"].as_array_mut()
    {
        required.retain(|name| name != member);
    }
    let constant = schema["properties"][member]["const"].clone();
    if !lenient.also.is_empty() {
        let also = lenient.also.iter().map(|word| json!(word));
        let words: Vec<Value> = std::iter::once(constant).chain(also).collect();
        schema["properties"][member] = json!({"type": "string", "enum": words});
    }
}

/// Adds an arm for objects whose tag is none of the known ones.
fn open(schema: &mut Value, union: &Tagged) {
    let known: Vec<&str> = union.arms.iter().map(|arm| arm.value.as_str()).collect();
    let tag = json!({"type": "string", "not": {"enum": known}});
    let arm = json!({"type": "object", "properties": {&union.tag: tag}, "required": [&union.tag]});
    if let Some(arms) = schema["oneOf"].as_array_mut() {
        arms.push(arm);
    }
}
