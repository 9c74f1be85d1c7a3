//! What definitions have to be like so that values can be judged by them.

use super::keyword::Keyword;
use crate::error::{Error, Problems};
use crate::export::flat::{self, Definitions};
use crate::export::walk;
use crate::ir::Revision;
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks that every keyword is known, and that no definition is its own without a member or an item in between.
pub(super) fn check(definitions: &Definitions, revision: &Revision) -> Result<(), Error> {
    let mut problems = Problems::default();
    for (name, schema) in definitions {
        for word in unknown(schema) {
            let said = format!("no value can be judged by the keyword `{word}`");
            problems.push(flat::problem(revision, name, said));
        }
        if is_its_own(name, definitions) {
            let said = format!("to judge a value by `{name}` is to judge it by `{name}` again");
            problems.push(flat::problem(revision, name, said).help("leave out the arm that leads back to it"));
        }
    }
    problems.finish(())
}

fn unknown(schema: &Value) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    walk::each(&mut schema.clone(), &mut |inner| {
        let words = inner.as_object().into_iter().flatten().map(|(word, _)| word);
        unknown.extend(words.filter(|word| Keyword::named(word).is_none()).cloned());
    });
    unknown
}

/// Whether the same value would have to be judged by a definition again.
fn is_its_own(name: &str, definitions: &Definitions) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&str> = definitions.get(name).map(of_the_same_value).unwrap_or_default();
    while let Some(next) = waiting.pop() {
        if next == name {
            return true;
        }
        if seen.insert(next) {
            waiting.extend(definitions.get(next).map(of_the_same_value).unwrap_or_default());
        }
    }
    false
}

/// The definitions that a schema refers to for the value itself, not for what is in it.
fn of_the_same_value(schema: &Value) -> Vec<&str> {
    let arms = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
    let inner = arms.chain(schema.get("not")).flat_map(of_the_same_value);
    walk::target(schema).into_iter().chain(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(definitions: Value) -> Vec<String> {
        let definitions: Definitions = definitions.as_object().expect("definitions").clone().into_iter().collect();
        let revision = Revision { name: "rev".to_owned(), parts: Vec::new(), index: Default::default() };
        let error = check(&definitions, &revision).err();
        error.iter().flat_map(|error| error.problems()).map(|problem| problem.message.clone()).collect()
    }

    #[test]
    fn a_keyword_that_is_not_known_is_named() {
        let inner = json!({ "type": "array", "items": { "type": "string", "uniqueItems": true } });
        let word = "no value can be judged by the keyword `uniqueItems`";
        assert_eq!(problems(json!({ "List": { "anyOf": [inner] } })), [word]);
        // The members of an object are no keywords.
        let object = json!({ "type": "object", "properties": { "uniqueItems": true } });
        assert_eq!(problems(json!({ "Form": object })), [] as [&str; 0]);
    }

    #[test]
    fn a_union_is_no_arm_of_its_own() {
        let link = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        let found = problems(json!({ "A": { "anyOf": [link("B"), { "type": "null" }] }, "B": link("A") }));
        assert_eq!(found.len(), 2, "{found:?}");
        let list = json!({ "anyOf": [{ "type": "array", "items": link("A") }, { "type": "null" }] });
        assert_eq!(problems(json!({ "A": list })), [] as [&str; 0]);
    }
}
