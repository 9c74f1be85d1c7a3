//! Doc comments from titles and descriptions.

use crate::ir::{Content, Type};
use crate::ir::{Definition, Field, Revision};
use proc_macro2::TokenStream;
use quote::quote;

/// The doc comment of a definition's type.
pub(super) fn of_definition(definition: &Definition) -> TokenStream {
    let title = definition.docs.title.as_deref().map(sentence);
    let description = definition.docs.description.as_deref().map(text);
    let docs = match (title, description) {
        (Some(title), Some(description)) => format!("{title}\n\n{description}"),
        (Some(docs), None) | (None, Some(docs)) => docs,
        (None, None) => format!("`{}`.", definition.name),
    };
    comment(&docs)
}

/// The doc comment of a member: its own description or the one of what it refers to.
pub(super) fn of_field(field: &Field, revision: &Revision) -> TokenStream {
    let target = match &field.content {
        Content::Typed(Type::Named(name)) => revision.get(name),
        _ => None,
    };
    let docs = match (&field.docs, target.map(|target| &target.docs)) {
        (Some(docs), _) => text(docs),
        (None, Some(docs)) => match (&docs.title, &docs.description) {
            (Some(title), _) => sentence(title),
            (None, Some(description)) => text(description),
            (None, None) => format!("`{}`.", field.wire),
        },
        (None, None) => format!("`{}`.", field.wire),
    };
    comment(&docs)
}

/// A doc comment of this text.
pub(super) fn comment(docs: &str) -> TokenStream {
    let lines = docs.lines().map(|line| match line.is_empty() {
        true => String::new(),
        false => format!(" {line}"),
    });
    quote!(#(#[doc = #lines])*)
}

fn sentence(phrase: &str) -> String {
    let phrase = text(phrase);
    if phrase.ends_with(['.', '!', '?']) { phrase } else { format!("{phrase}.") }
}

/// A description as Markdown that rustdoc takes: links and tags are words, and the source at the end is a line of its
/// own.
fn text(description: &str) -> String {
    let (words, source) = match split_source(description) {
        Some((words, source)) => (words, Some(source)),
        None => (description, None),
    };
    let words = escape(&without_links(words));
    match source {
        Some(source) => format!("{words}\n\nSource: {}.", escape(source)),
        None => words,
    }
}

/// Splits off `[source]` at the end.
pub(crate) fn split_source(description: &str) -> Option<(&str, &str)> {
    let (words, source) = description.strip_suffix(']')?.rsplit_once('[')?;
    Some((words.trim_end(), source))
}

/// `{@link Name}` and `{@link Name | words}`, as TypeScript writes them, become code.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("{@link ") {
        let (target, after) = link.split_once('}').unwrap_or((link, ""));
        let words = target.split_once('|').map_or(target, |(_, words)| words).trim();
        plain.push_str(before);
        plain.push_str(&format!("`{}`", words.trim_matches('`')));
        rest = after;
    }
    plain + rest
}

fn escape(text: &str) -> String {
    let mut in_code = false;
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '`' => in_code = !in_code,
            '[' | ']' | '<' | '>' if !in_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(char);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_source_is_a_line_of_its_own() {
        assert_eq!(text("Words. [SEP-2663: Tasks; TSK-01]"), "Words.\n\nSource: SEP-2663: Tasks; TSK-01.");
    }

    #[test]
    fn markdown_that_rustdoc_would_read_otherwise_is_escaped() {
        assert_eq!(text("see {@link Tool | the tool} in <b> or `Vec<T>`"), "see `the tool` in \\<b\\> or `Vec<T>`");
        assert_eq!(text("{@link Open"), "`Open`");
    }
}
