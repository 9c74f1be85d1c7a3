//! A page as headings, paragraphs, tables and code. It is made once and written twice, so that Markdown and HTML say the
//! same.

use super::states::Machine;

/// A whole page.
pub(super) struct Page {
    pub(super) title: String,
    /// How the file came to be.
    pub(super) origin: String,
    pub(super) opening: Vec<Block>,
    pub(super) sections: Vec<Section>,
}

/// A heading and what stands below it.
pub(super) struct Section {
    pub(super) title: Title,
    pub(super) blocks: Vec<Block>,
    pub(super) sections: Vec<Section>,
}

/// What a heading says: words, or the name of a definition.
pub(super) enum Title {
    Words(String),
    Name(String),
}

/// What stands under a heading.
pub(super) enum Block {
    Paragraph(Text),
    /// Small print.
    Remark(Text),
    List(Vec<Text>),
    Table(Table),
    Code {
        /// What it shows.
        caption: Text,
        json: String,
    },
    Machine(Machine),
}

/// Rows under heads; the first cell of a row is what the row is about.
pub(super) struct Table {
    /// What the table lists, for those who cannot see where it stands.
    pub(super) label: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Text>>,
}

/// Words, code and links.
pub(super) type Text = Vec<Span>;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Span {
    Words(String),
    Code(String),
    /// To an anchor of the page, or to a file beside it.
    Link {
        to: Target,
        label: Box<Span>,
    },
    /// A place that can be linked to, with its label.
    Anchor(String),
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// The section of a title or the anchor of a label.
    Here(String),
    /// A file, by its path from the page.
    File(String),
}

impl Title {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Words(text) | Self::Name(text) => text,
        }
    }

    pub(super) fn id(&self) -> String {
        id(self.text())
    }
}

impl Span {
    pub(super) fn words(text: impl Into<String>) -> Self {
        Self::Words(text.into())
    }

    pub(super) fn code(text: impl Into<String>) -> Self {
        Self::Code(text.into())
    }

    /// A link to a section by its title, or to an anchor by its label.
    pub(super) fn link(title: &str, label: Self) -> Self {
        Self::Link { to: Target::Here(id(title)), label: Box::new(label) }
    }
}

/// The id of a heading, as GitHub makes it from Markdown.
pub(super) fn id(title: &str) -> String {
    let kept = title.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|char| if char == ' ' { '-' } else { char }).collect()
}

impl Page {
    /// The ids of all headings and anchors, in order.
    pub(super) fn ids(&self) -> Vec<String> {
        let mut ids = vec![id(&self.title)];
        self.sections.iter().for_each(|section| section.ids(&mut ids));
        ids
    }
}

impl Section {
    fn ids(&self, ids: &mut Vec<String>) {
        ids.push(self.title.id());
        let rows = self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(&table.rows),
            _ => None,
        });
        let anchors = rows.flatten().flatten().flatten().filter_map(|span| match span {
            Span::Anchor(label) => Some(id(label)),
            _ => None,
        });
        ids.extend(anchors);
        self.sections.iter().for_each(|section| section.ids(ids));
    }
}

/// Texts with commas between them.
pub(super) fn listed(texts: impl IntoIterator<Item = Text>) -> Text {
    let comma = |(index, text): (usize, Text)| (index > 0).then(|| Span::words(", ")).into_iter().chain(text);
    texts.into_iter().enumerate().flat_map(comma).collect()
}

#[cfg(test)]
mod tests {
    use super::{Span, id, listed};

    #[test]
    fn commas_stand_between() {
        let word = |word: &str| vec![Span::words(word)];
        assert_eq!(listed([]), []);
        assert_eq!(listed([word("a"), word("b")]), [Span::words("a"), Span::words(", "), Span::words("b")]);
    }

    #[test]
    fn ids_are_those_that_github_makes() {
        assert_eq!(id("The 2025-11-25 experiment"), "the-2025-11-25-experiment");
        assert_eq!(id("CLI: The client's side"), "cli-the-clients-side");
    }
}
