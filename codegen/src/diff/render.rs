//! A report for people: plain text, Markdown, and the draft of an entry in a changelog.

use super::{Affected, Change, Impact, Kind, Report, Verdict};
use crate::ir::{Content, Field, Presence, Scalar, Shape, Type};
use std::fmt::{Display, Write as _};

/// How wide the lines of a changelog are.
const WIDTH: usize = 120;

/// How many definitions are named as the cause of something; JSON has them all.
const MOST_CAUSES: usize = 4;

/// Plain text, a line for each change, and one for each definition that fares worse by what it refers to.
pub fn text(report: &Report) -> String {
    let mut out = format!("{} -> {}\n", report.old, report.new);
    for change in &report.changes {
        let verdicts = verdicts(change.impact);
        let _ = writeln!(out, "{verdicts} {} {}{}", name(change.kind), change.pointer, values(change, 60));
    }
    for (definition, affected) in report.affected.iter().filter(|(_, affected)| !affected.by.is_empty()) {
        let _ = writeln!(out, "{} affected {definition}: by {}", verdicts(affected.impact), by(affected));
    }
    let _ = writeln!(out, "{}", summary(report));
    out
}

/// JSON, with everything that is known of each change.
pub fn json(report: &Report) -> String {
    let text = serde_json::to_string_pretty(report).unwrap_or_default();
    format!("{text}\n")
}

/// Markdown, a table for each definition; changes of words alone are a list at the end.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# Changes from {} to {}\n\n{}\n", report.old, report.new, summary(report));
    let mut tables: Vec<(&str, Vec<&Change>)> = Vec::new();
    let (lone, others): (Vec<_>, Vec<_>) = report
        .changes
        .iter()
        .filter(|change| change.kind != Kind::WordsChanged)
        .partition(|change| is_lone(change.kind));
    for change in others {
        match tables.iter_mut().find(|(name, _)| *name == change.definition) {
            Some((_, rows)) => rows.push(change),
            None => tables.push((&change.definition, vec![change])),
        }
    }
    for (definition, rows) in &tables {
        let _ = write!(out, "\n## {definition}\n\n{}", affected(report, definition));
        table(&mut out, rows);
    }
    let has_table = |name: &str| tables.iter().any(|(definition, _)| *definition == name);
    through_others(&mut out, report.affected.iter().filter(|(name, _)| !has_table(name)));
    lists(&mut out, &lone);
    words(&mut out, report);
    out
}

/// A draft for `CHANGELOG.md`: a person has to say what to do about each line.
pub fn changelog(report: &Report) -> String {
    let mut out = format!("### Revision {} to {}\n", report.old, report.new);
    let (added, moved): (Vec<_>, Vec<_>) = (report.changes.iter())
        .filter(|change| change.kind != Kind::WordsChanged)
        .partition(|change| matches!(change.kind, Kind::MessageAdded | Kind::DefinitionAdded));
    for (verdict, title) in
        [(Verdict::Breaks, "Breaking"), (Verdict::Unknown, "To be judged by a person"), (Verdict::Ok, "Compatible")]
    {
        let changes = moved.iter().filter(|change| change.impact.worst() == verdict);
        section(&mut out, title, changes.map(|change| line(change)).collect());
    }
    let kinds = [(Kind::MessageAdded, "messages"), (Kind::DefinitionAdded, "definitions")];
    section(&mut out, "Added", kinds.into_iter().filter_map(|(kind, word)| addition(&added, kind, word)).collect());
    out
}

fn section(out: &mut String, title: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let lines: Vec<_> = lines.iter().map(|line| wrapped(line)).collect();
        let _ = write!(out, "\n{title}:\n\n{}\n", lines.join("\n"));
    }
}

fn line(change: &Change) -> String {
    let member = member(change).map(|member| format!(".{member}")).unwrap_or_default();
    format!("`{}{member}`: {}{}{}", change.definition, name(change.kind), values(change, 60), whom(change.impact))
}

/// What came in of one kind, in one line: what is new breaks nobody who does not ask for it.
fn addition(added: &[&Change], kind: Kind, word: &str) -> Option<String> {
    let changes: Vec<_> = added.iter().filter(|change| change.kind == kind).collect();
    let names: Vec<_> = changes.iter().map(|change| format!("`{}`", change.definition)).collect();
    Some(format!("{word}{}: {}", whom(changes.first()?.impact), names.join(", ")))
}

/// Those whom a change breaks, and those whom it may break.
fn whom(impact: Impact) -> String {
    let all = [("readers", impact.readers), ("writers", impact.writers), ("Rust", impact.rust)];
    let named = |wanted: Verdict, word: &'static str| {
        let whom = all.into_iter().filter(move |(_, verdict)| *verdict == wanted);
        whom.map(move |(whom, _)| format!("{word}{whom}"))
    };
    let whom: Vec<_> = named(Verdict::Breaks, "").chain(named(Verdict::Unknown, "perhaps ")).collect();
    if whom.is_empty() { String::new() } else { format!(" ({})", whom.join(", ")) }
}

/// An item of a list, as wide as the changelog is.
fn wrapped(text: &str) -> String {
    let mut out = String::from("-");
    let mut width = 1;
    for word in text.split(' ') {
        let length = word.chars().count() + 1;
        if width + length > WIDTH {
            out.push_str("\n ");
            width = 1;
        }
        let _ = write!(out, " {word}");
        width += length;
    }
    out
}

/// The member that a change is about.
fn member(change: &Change) -> Option<&str> {
    change.pointer.rsplit_once("/properties/").map(|(_, member)| member)
}

fn is_lone(kind: Kind) -> bool {
    matches!(kind, Kind::MessageAdded | Kind::MessageRemoved | Kind::DefinitionAdded | Kind::DefinitionRemoved)
}

fn affected(report: &Report, definition: &str) -> String {
    let Some(affected) = report.affected.get(definition) else { return String::new() };
    let Impact { readers, writers, rust } = affected.impact;
    let by = if affected.by.is_empty() { String::new() } else { format!(" By {}.", by(affected)) };
    format!(
        "With all that it refers to: readers {}, writers {}, Rust {}.{by}\n\n",
        word(readers),
        word(writers),
        word(rust)
    )
}

/// The definitions that are affected and have no changes of their own.
fn through_others<'a>(out: &mut String, all: impl Iterator<Item = (&'a String, &'a Affected)>) {
    let mut all = all.peekable();
    if all.peek().is_none() {
        return;
    }
    out.push_str(
        "\n## Changed by what they refer to\n\nWith all that they refer to; their own members are the same.\n\n",
    );
    out.push_str("| definition | by | readers | writers | Rust |\n|---|---|---|---|---|\n");
    for (definition, affected) in all {
        let _ = writeln!(out, "| {definition} | {} | {} |", by(affected), cells(affected.impact));
    }
}

/// The first of those that something is affected by.
fn by(affected: &Affected) -> String {
    let mut named: Vec<_> = affected.by.iter().take(MOST_CAUSES).map(String::as_str).collect();
    let more = format!("{} more", affected.by.len().saturating_sub(MOST_CAUSES));
    if affected.by.len() > MOST_CAUSES {
        named.push(&more);
    }
    named.join(", ")
}

fn cells(impact: Impact) -> String {
    format!("{} | {} | {}", word(impact.readers), word(impact.writers), word(impact.rust))
}

fn table(out: &mut String, rows: &[&Change]) {
    out.push_str("| change | where | before | after | readers | writers | Rust |\n|---|---|---|---|---|---|---|\n");
    for change in rows {
        let cell = |text: &Option<String>| text.as_deref().map(|text| escaped(&short(text, 90))).unwrap_or_default();
        let (before, after) = (cell(&change.before), cell(&change.after));
        let verdicts = cells(change.impact);
        let _ = writeln!(out, "| {} | `{}` | {before} | {after} | {verdicts} |", name(change.kind), change.pointer);
    }
}

fn lists(out: &mut String, lone: &[&Change]) {
    for (kind, title) in [
        (Kind::MessageRemoved, "Messages that are gone"),
        (Kind::DefinitionRemoved, "Definitions that are gone"),
        (Kind::MessageAdded, "New messages"),
        (Kind::DefinitionAdded, "New definitions"),
    ] {
        let rows: Vec<_> = lone.iter().filter(|change| change.kind == kind).collect();
        if rows.is_empty() {
            continue;
        }
        let _ =
            write!(out, "\n## {title}\n\n| definition | where | readers | writers | Rust |\n|---|---|---|---|---|\n");
        for change in rows {
            let _ = writeln!(out, "| {} | `{}` | {} |", change.definition, change.pointer, cells(change.impact));
        }
    }
}

fn words(out: &mut String, report: &Report) {
    let changes: Vec<_> = report.changes.iter().filter(|change| change.kind == Kind::WordsChanged).collect();
    if changes.is_empty() {
        return;
    }
    out.push_str("\n## Other words\n\nTitles and descriptions that were changed; to be read by a person.\n\n");
    for change in changes {
        let _ = writeln!(out, "- `{}`", change.pointer);
    }
}

fn summary(report: &Report) -> String {
    let words = report.changes.iter().filter(|change| change.kind == Kind::WordsChanged).count();
    let impact = report.impact;
    format!(
        "{}, {words} of words alone. Readers: {}. Writers: {}. Rust: {}.",
        match report.changes.len() {
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        },
        word(impact.readers),
        word(impact.writers),
        word(impact.rust)
    )
}

fn verdicts(impact: Impact) -> String {
    format!("{:7} {:7} {:7}", word(impact.readers), word(impact.writers), word(impact.rust))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Unknown => "unknown",
        Verdict::Breaks => "breaks",
    }
}

fn values(change: &Change, length: usize) -> String {
    if change.kind == Kind::WordsChanged {
        return String::new();
    }
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!(": {} -> {}", short(before, length), short(after, length)),
        (Some(one), None) | (None, Some(one)) => format!(": {}", short(one, length)),
        (None, None) => String::new(),
    }
}

/// The name of a kind of change, as people read it.
fn name(kind: Kind) -> String {
    let name = serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(|name| name.replace('-', " ")));
    name.unwrap_or_default()
}

fn short(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A member's presence and type.
pub(super) fn field(field: &Field) -> String {
    format!("{} {}", presence(field.presence), content(&field.content))
}

pub(super) fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Required => "required",
        Presence::Optional => "optional",
        Presence::RequiredNullable => "required or null",
        Presence::OptionalNullable => "optional or null",
    }
}

pub(super) fn content(content: &Content) -> String {
    match content {
        Content::Typed(of_type) => of(of_type),
        Content::Constant(word) => format!("`{word}`"),
        Content::ConstantInteger(value) => format!("`{value}`"),
    }
}

/// A type, as people read it.
pub(super) fn of(of_type: &Type) -> String {
    match of_type {
        Type::Named(name) => name.clone(),
        Type::String => "string".to_owned(),
        Type::Integer { min, max } => format!("integer{}", bounds(min.as_ref(), max.as_ref())),
        Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Any => "any JSON".to_owned(),
        Type::Free => "any object".to_owned(),
        Type::List(item) => format!("list of {}", of(item)),
        Type::Nullable(inner) => format!("{} or null", of(inner)),
    }
}

pub(super) fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Object(object) => format!("object of {} members", object.fields.len()),
        Shape::Tagged(tagged) => format!("union by `{}`", tagged.tag),
        Shape::Choice(choice) => choice.arms.iter().map(of).collect::<Vec<_>>().join(" or "),
        Shape::Enum(words) => format!("one of {}", words.values.join(", ")),
        Shape::Scalar(Scalar::String { min, max }) => format!("string{}", bounds(min.as_ref(), max.as_ref())),
        Shape::Scalar(Scalar::Integer { min, max }) => format!("integer{}", bounds(min.as_ref(), max.as_ref())),
        Shape::Scalar(Scalar::Number { min, max }) => format!("number{}", bounds(min.as_ref(), max.as_ref())),
        Shape::Scalar(Scalar::Boolean) => "boolean".to_owned(),
        Shape::Map(map) => format!("map of {}{}", of(&map.value), bounds(map.min.as_ref(), map.max.as_ref())),
        Shape::List(list) => format!("list of {}{}", of(&list.item), bounds(list.min.as_ref(), list.max.as_ref())),
        Shape::Alias(other) => of(other),
    }
}

fn bounds<T: Display>(min: Option<&T>, max: Option<&T>) -> String {
    match (min, max) {
        (None, None) => String::new(),
        (Some(min), None) => format!(" from {min}"),
        (None, Some(max)) => format!(" to {max}"),
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
    }
}
