//! Definitions as tables: members, arms, values.

use super::chapters::Chapters;
use super::document::{Block, Span, Table, Text, listed};
use super::prose::Prose;
use crate::export::intent::Rules;
use crate::export::words;
use crate::ir::{
    Choice, Content, Definition, Field, List, Map, Object, Presence, Revision, Scalar, Shape, Tagged, Type,
};

/// Writes definitions of one revision.
#[derive(Clone, Copy)]
pub(super) struct Shapes<'a> {
    pub(super) revision: &'a Revision,
    pub(super) intent: &'a Rules,
    pub(super) prose: Prose<'a>,
    pub(super) chapters: &'a Chapters,
}

impl Shapes<'_> {
    /// What a definition is for, its form, and what the strict schema asks of it besides.
    pub(super) fn of(self, definition: &Definition) -> Vec<Block> {
        let mut blocks = vec![Block::Paragraph(self.prose.text(words::text(&definition.docs)))];
        blocks.extend(self.form(definition));
        blocks.extend(self.limits(&definition.name));
        blocks
    }

    fn form(self, definition: &Definition) -> Vec<Block> {
        let name = definition.name.as_str();
        match &definition.shape {
            Shape::Object(object) if object.fields.is_empty() => {
                vec![sentence("An object without members of its own.")]
            }
            Shape::Object(object) => vec![self.members(name, object)],
            Shape::Tagged(union) => self.tagged(name, union),
            Shape::Choice(Choice { arms }) => vec![phrase("One of: ", &listed(arms.iter().map(of_type)), ".")],
            Shape::Enum(list) => {
                let values = list.values.iter().map(|value| vec![Span::code(quoted(value))]);
                vec![phrase("One of: ", &listed(values), ".")]
            }
            Shape::Scalar(scalar) => vec![sentence(scalar_words(scalar))],
            Shape::Map(map) => vec![phrase("An object; each member is ", &of_type(&map.value), &at_least(map))],
            Shape::List(list) => vec![phrase("A list; each item is ", &of_type(&list.item), &bounds_of_list(list))],
            Shape::Alias(target) => vec![phrase("The same as ", &of_type(target), ".")],
        }
    }

    fn members(self, name: &str, object: &Object) -> Block {
        let rows = object.fields.iter().map(|field| self.member(field, presence(field.presence).to_owned()));
        Block::Table(Table { label: format!("Members of {name}"), head: HEAD.to_vec(), rows: rows.collect() })
    }

    fn member(self, field: &Field, presence: String) -> Vec<Text> {
        let nullable = field.presence.is_nullable().then(|| Span::words(" or null"));
        let content = content(&field.content).into_iter().chain(nullable).collect();
        vec![vec![Span::code(&field.wire)], content, vec![Span::words(presence)], self.meaning(field)]
    }

    /// A member's own description, or what the page says of it, or how the description of its type begins.
    fn meaning(self, field: &Field) -> Text {
        let target = match &field.content {
            Content::Typed(Type::Named(target)) => self.revision.get(target),
            _ => None,
        };
        let own = field.docs.as_deref().or_else(|| self.chapters.meaning(field));
        match (own, &field.content, target) {
            (Some(docs), ..) => self.prose.text(docs),
            (None, Content::Constant(_) | Content::ConstantInteger(_), _) => vec![Span::words("Always this.")],
            (None, Content::Typed(_), Some(target)) => self.prose.text(first_sentence(words::text(&target.docs))),
            (None, Content::Typed(_), None) => Text::new(),
        }
    }

    /// The arms by their tag, and the members of all in one table.
    fn tagged(self, name: &str, union: &Tagged) -> Vec<Block> {
        let arm = |target: &str| vec![Span::link(target, Span::code(target))];
        let rows = union.arms.iter().map(|it| vec![vec![Span::code(quoted(&it.value))], arm(&it.target)]);
        let label = format!("What {name} can be");
        let mut blocks = vec![
            Block::Paragraph(vec![Span::words("Told apart by "), Span::code(&union.tag), Span::words(":")]),
            Block::Table(Table { label, head: vec!["Value", "Shape"], rows: rows.collect() }),
        ];
        if let Some(value) = &union.absent {
            blocks.push(phrase("Where it is missing, ", &vec![Span::code(quoted(value))], " is meant."));
        }
        blocks
    }

    /// The members of a union's arms, each once.
    pub(super) fn members_of_arms(self, name: &str, union: &Tagged) -> Block {
        let arms: Vec<(&str, &Object)> =
            union.arms.iter().filter_map(|arm| Some((&*arm.value, self.revision.object(&arm.target)?))).collect();
        let mut rows: Vec<(&str, Vec<Text>)> = Vec::new();
        for field in arms.iter().flat_map(|(_, object)| &object.fields) {
            if rows.iter().any(|(wire, _)| *wire == field.wire) {
                continue;
            }
            let with: Vec<&str> = arms
                .iter()
                .filter(|(_, object)| object.field(&field.wire).is_some())
                .map(|(value, _)| *value)
                .collect();
            let when = match with.len() == arms.len() {
                true => presence(field.presence).to_owned(),
                false => format!("{}, with {}", presence(field.presence), with.join(", ")),
            };
            let mut row = self.member(field, when);
            if field.wire == union.tag {
                let values = union.arms.iter().map(|arm| vec![Span::code(quoted(&arm.value))]);
                row[1] = listed(values);
                row[3] = vec![Span::words("Tells what else is there.")];
            }
            rows.push((&field.wire, row));
        }
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Block::Table(Table { label: format!("Members of {name}"), head: HEAD.to_vec(), rows })
    }

    /// What writers keep to and the shape alone does not say.
    fn limits(self, name: &str) -> Vec<Block> {
        let mut blocks = Vec::new();
        let code = |members: &[String]| listed(members.iter().map(|member| vec![Span::code(member)]));
        if self.intent.closed.iter().any(|closed| closed == name) {
            blocks.push(sentence("Who writes it writes no other members."));
        }
        if let Some(members) = self.intent.without.get(name) {
            blocks.push(phrase("Who writes it writes none of ", &code(members), "."));
        }
        if let Some(members) = self.intent.some.get(name) {
            blocks.push(phrase("Who writes it writes at least one of ", &code(members), "."));
        }
        blocks
    }
}

const HEAD: [&str; 4] = ["Member", "Type", "Presence", "Meaning"];

fn presence(presence: Presence) -> &'static str {
    if presence.is_required() { "required" } else { "optional" }
}

fn content(content: &Content) -> Text {
    match content {
        Content::Typed(it) => of_type(it),
        Content::Constant(text) => vec![Span::code(quoted(text))],
        Content::ConstantInteger(number) => vec![Span::code(number.to_string())],
    }
}

fn of_type(it: &Type) -> Text {
    match it {
        Type::Named(name) => vec![Span::link(name, Span::code(name))],
        Type::String => vec![Span::words("string")],
        Type::Integer { min, max } => vec![Span::words(format!("integer{}", bounds(*min, *max)))],
        Type::Number => vec![Span::words("number")],
        Type::Boolean => vec![Span::words("boolean")],
        Type::Any => vec![Span::words("any JSON")],
        Type::Free => vec![Span::words("object")],
        Type::List(item) => [vec![Span::words("list of ")], of_type(item)].concat(),
        Type::Nullable(inner) => [of_type(inner), vec![Span::words(" or null")]].concat(),
    }
}

fn phrase(before: &str, text: &Text, after: &str) -> Block {
    let ends = [vec![Span::words(before)], text.clone(), vec![Span::words(after)]];
    Block::Paragraph(ends.concat())
}

fn sentence(text: impl Into<String>) -> Block {
    Block::Paragraph(vec![Span::words(text)])
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").and_then(|(first, _)| text.get(..=first.len())).unwrap_or(text)
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn scalar_words(scalar: &Scalar) -> String {
    match scalar {
        Scalar::String { min: None, max: None } => "A string.".to_owned(),
        Scalar::String { min, max } => format!("A string; its length is{}.", bounds(*min, *max)),
        Scalar::Integer { min, max } => format!("An integer{}.", bounds(*min, *max)),
        Scalar::Number { min, max } => format!("A number{}.", bounds(*min, *max)),
        Scalar::Boolean => "A boolean.".to_owned(),
    }
}

fn bounds<T: std::fmt::Display>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" from {min}"),
        (None, Some(max)) => format!(" up to {max}"),
        (None, None) => String::new(),
    }
}

fn at_least(map: &Map) -> String {
    match map.min {
        Some(least) if least > 0 => format!(". It has at least {least}."),
        _ => ".".to_owned(),
    }
}

fn bounds_of_list(list: &List) -> String {
    match bounds(list.min, list.max).as_str() {
        "" => ".".to_owned(),
        bounds => format!(". Its length is{bounds}."),
    }
}
