//! What a description says, apart from where it is from: `Words. [source; ID, ID]`.

use crate::emit::split_source;
use crate::ir::Docs;

/// The description without its source.
pub(super) fn text(docs: &Docs) -> &str {
    let description = docs.description.as_deref().unwrap_or_default();
    split_source(description).map_or(description, |(words, _)| words)
}

/// The document and section that a shape is from.
pub(super) fn source(docs: &Docs) -> Option<&str> {
    let (_, source) = split_source(docs.description.as_deref()?)?;
    Some(source.split_once("; ").map_or(source, |(place, _)| place))
}

/// The requirements that a description ends with.
pub(super) fn requirements(docs: &Docs) -> impl Iterator<Item = &str> {
    let source = docs.description.as_deref().and_then(split_source).map(|(_, source)| source);
    let ids = source.and_then(|source| source.split_once("; ")).map(|(_, ids)| ids).unwrap_or_default();
    ids.split(", ").filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_falls_into_words_source_and_requirements() {
        let docs = Docs { title: None, description: Some("One; two. [SEP-2663: Tasks; TSK-01, GET-02]".to_owned()) };
        assert_eq!((text(&docs), source(&docs)), ("One; two.", Some("SEP-2663: Tasks")));
        assert_eq!(requirements(&docs).collect::<Vec<_>>(), ["TSK-01", "GET-02"]);
        let bare = Docs { title: None, description: Some("One; two. [core 2026-07-28: Tool]".to_owned()) };
        assert_eq!(requirements(&bare).count(), 0);
    }
}
