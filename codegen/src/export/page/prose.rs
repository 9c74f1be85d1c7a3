//! Sentences of the sources as text with links: names, methods and requirements lead to where they are explained.

use super::document::{Span, Text};
use super::rules::Rulebook;
use super::subject::Subjects;

/// What words can lead to.
#[derive(Clone, Copy)]
pub(super) struct Prose<'a> {
    pub(super) subjects: &'a Subjects<'a>,
    pub(super) rules: &'a Rulebook,
}

impl Prose<'_> {
    /// A sentence with `` `code` `` in it.
    pub(super) fn text(self, sentence: &str) -> Text {
        let mut text = Text::new();
        for (index, piece) in sentence.split('`').enumerate().filter(|(_, piece)| !piece.is_empty()) {
            match index % 2 {
                0 => self.words(piece, &mut text),
                _ => text.push(self.code(piece)),
            }
        }
        text
    }

    /// Code, with a link if it names something.
    pub(super) fn code(self, code: &str) -> Span {
        match self.subjects.find(code) {
            Some(name) => Span::link(name, Span::code(code)),
            None => Span::code(code),
        }
    }

    /// Words, with a link for each that is surely meant as a name.
    fn words(self, words: &str, text: &mut Text) {
        let mut plain = String::new();
        for word in words.split_inclusive(|char: char| !char.is_ascii_alphanumeric() && char != '-') {
            let name = word.trim_end_matches(|char: char| !char.is_ascii_alphanumeric());
            match self.link(name) {
                Some(link) => {
                    text.extend((!plain.is_empty()).then(|| Span::words(std::mem::take(&mut plain))));
                    text.push(link);
                    plain.push_str(word.get(name.len()..).unwrap_or_default());
                }
                None => plain.push_str(word),
            }
        }
        text.extend((!plain.is_empty()).then_some(Span::Words(plain)));
    }

    fn link(self, name: &str) -> Option<Span> {
        if self.rules.rule.contains_key(name) {
            return Some(Span::link(name, Span::words(name)));
        }
        // `Task` or `Error` may be a word of the sentence; with a capital inside it is a name.
        let is_name = name.chars().skip(1).any(|char| char.is_ascii_uppercase());
        let found = self.subjects.find(name).filter(|_| is_name)?;
        Some(Span::link(found, Span::code(name)))
    }
}
