//! Several documents as one set of definitions.
//!
//! Published files repeat each other: the extension's file carries the core shapes it needs. A definition that stands in
//! two files has to say the same in both, or the types would depend on the order of the files.

use super::schema::Definitions;
use crate::error::{Error, Problems};
use indexmap::map::Entry;

/// All definitions in the order of the documents.
pub(super) fn join(documents: Vec<Definitions>) -> Result<Definitions, Error> {
    let mut joined = Definitions::new();
    let mut problems = Problems::default();
    for (name, schema) in documents.into_iter().flatten() {
        match joined.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(schema);
            }
            Entry::Occupied(mut entry) => {
                let first = entry.get_mut();
                if first.shape.fingerprint() != schema.shape.fingerprint() {
                    let message =
                        format!("this definition differs from the one in {}#{}", first.place.file, first.place.pointer);
                    let help = "generate from files of the same revision, or from each file on its own";
                    problems.push(schema.place.problem(message).help(help));
                }
                first.notes = std::mem::take(&mut first.notes).or(schema.notes);
            }
        }
    }
    problems.finish(joined)
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, problems, problems_of};
    use serde_json::json;

    #[test]
    fn a_definition_repeated_in_the_same_words_is_one() {
        let point = json!({"$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}}}});
        let line = json!({"$id": "urn:line", "$defs": {
            "Point": {"properties": {"x": {"type": "number", "description": "East."}}, "type": "object"},
            "Line": {"type": "array", "items": {"$ref": "urn:line#/$defs/Point"}},
        }});
        let joined = canonical(&[point, line]);
        assert_eq!(joined.keys().collect::<Vec<_>>(), ["Point", "Line"]);
        assert_eq!(joined["Line"]["items"], json!({"$ref": "#/$defs/Point"}));
    }

    #[test]
    fn a_definition_that_differs_is_refused_and_both_places_named() {
        let first = json!({"$defs": {"Point": {"type": "string"}}});
        let second = json!({"$defs": {"Point": {"type": "number"}}});
        let found = problems_of(&[first, second]);
        assert_eq!(found, ["1.json#/$defs/Point: this definition differs from the one in 0.json#/$defs/Point"]);
        assert!(problems(json!({"$defs": {"Point": {"type": "number"}}})).is_empty());
    }
}
