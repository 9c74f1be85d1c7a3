//! What references mean, and which of them lead nowhere.
//!
//! A reference names a definition: `#/$defs/X`, or, of another document, its `$id` and then that. References may go in
//! circles as long as a value can end; where none can, or where a definition is reached again before any part of a value
//! was looked at, there is no type to write.

use super::keywords::DEFINITIONS;
use super::schema::{Definitions, Place, Schema, Shape};
use crate::document::Document;
use crate::error::{Error, Problem, Problems};
use std::collections::BTreeSet;

/// The documents a reference can point into.
pub(super) struct Targets {
    ids: Vec<String>,
}

impl Targets {
    pub(super) fn new(documents: &[Document]) -> Self {
        let id = |document: &Document| Some(document.root.get("$id")?.as_str()?.trim_end_matches('#').to_owned());
        Self { ids: documents.iter().filter_map(id).collect() }
    }

    /// The name of the definition that a `$ref` at `place` points to.
    pub(super) fn name(&self, reference: &str, place: &Place) -> Result<String, Problem> {
        let (document, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && !self.ids.iter().any(|id| id == document) {
            let problem = place.problem(format!("`{reference}` points to a document that is not among the inputs"));
            return Err(problem.help(format!("add the document whose `$id` is `{document}`")));
        }
        definition(pointer).ok_or_else(|| {
            let problem = place.problem(format!("`{reference}` does not point to a definition"));
            problem.help("give the schema a name under `$defs` and point to that")
        })
    }
}

/// The name in `/$defs/NAME`.
fn definition(pointer: &str) -> Option<String> {
    let mut steps = pointer.split('/');
    let (root, keyword, name) = (steps.next()?, steps.next()?, steps.next()?);
    let whole = root.is_empty() && DEFINITIONS.contains(&keyword) && steps.next().is_none();
    whole.then(|| percent_decoded(name).replace("~1", "/").replace("~0", "~"))
}

/// A pointer in a URI may write any byte as `%` and two digits (RFC 6901, section 6).
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        let digits = after.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Refuses references to nothing and circles without an end.
pub(super) fn check(definitions: &Definitions) -> Result<(), Error> {
    let mut problems = Problems::default();
    for schema in definitions.values() {
        refuse_dangling(schema, definitions, &mut problems);
    }
    problems.finish(())?;
    let mut problems = Problems::default();
    let (_, circular) = settle(definitions, is_grounded);
    refuse_circles(definitions, &circular, is_grounded, &mut problems);
    problems.finish(())?;
    let mut problems = Problems::default();
    let (_, endless) = settle(definitions, has_value);
    refuse_circles(definitions, &endless, has_value, &mut problems);
    problems.finish(())
}

/// The names in an order in which whatever a definition is made of comes before it. Needs [`check`]ed definitions.
pub(super) fn dependencies_first(definitions: &Definitions) -> Vec<String> {
    settle(definitions, is_grounded).0.into_iter().map(str::to_owned).collect()
}

fn refuse_dangling(schema: &Schema, definitions: &Definitions, problems: &mut Problems) {
    if let Shape::Reference(name) = &schema.shape
        && !definitions.contains_key(name)
    {
        problems.push(dangling(name, &schema.place, definitions));
    }
    for child in schema.inner() {
        refuse_dangling(child, definitions, problems);
    }
}

fn dangling(name: &str, place: &Place, definitions: &Definitions) -> Problem {
    let problem = place.problem(format!("there is no definition `{name}`"));
    let similar = definitions.keys().find(|other| other.eq_ignore_ascii_case(name));
    match similar {
        Some(similar) => problem.help(format!("write `{similar}`")),
        None => problem.help("define it, or add the document that does"),
    }
}

/// Whether a schema is fine once these definitions are.
type Test = fn(&Schema, &BTreeSet<&str>) -> bool;

/// The definitions that pass the test, each after those it needs, and the ones left over.
fn settle(definitions: &Definitions, test: Test) -> (Vec<&str>, Vec<&str>) {
    let mut order = Vec::new();
    let mut settled = BTreeSet::new();
    let mut open: Vec<&str> = definitions.keys().map(String::as_str).collect();
    loop {
        let before = open.len();
        open.retain(|name| {
            let ready = definitions.get(*name).is_some_and(|schema| test(schema, &settled));
            if ready {
                settled.insert(*name);
                order.push(*name);
            }
            !ready
        });
        if open.len() == before {
            return (order, open);
        }
    }
}

/// Whether each definition that this schema is made of, rather than holds in a field, is settled.
fn is_grounded(schema: &Schema, settled: &BTreeSet<&str>) -> bool {
    match &schema.shape {
        Shape::Reference(name) => settled.contains(name.as_str()),
        Shape::Union(union) => union.arms.iter().all(|arm| is_grounded(arm, settled)),
        Shape::All(members) => members.iter().all(|member| is_grounded(member, settled)),
        _ => true,
    }
}

/// Whether there is a finite value, given that there is one for each settled definition.
fn has_value(schema: &Schema, settled: &BTreeSet<&str>) -> bool {
    match &schema.shape {
        Shape::Reference(name) => settled.contains(name.as_str()),
        Shape::Union(union) => union.arms.iter().any(|arm| has_value(arm, settled)),
        Shape::All(members) => members.iter().all(|member| has_value(member, settled)),
        Shape::Object(object) => {
            let mut required = object.properties.iter().filter(|(name, _)| object.requires(name));
            required.all(|(_, property)| has_value(property, settled))
        }
        Shape::List(list) => list.bounds.min.unwrap_or(0) == 0 || has_value(&list.item, settled),
        Shape::Map(map) => map.bounds.min.unwrap_or(0) == 0 || has_value(&map.value, settled),
        _ => true,
    }
}

/// Names a circle for the definitions left over; those that only lead to one already named are not named again.
fn refuse_circles(definitions: &Definitions, left: &[&str], test: Test, problems: &mut Problems) {
    let settled = definitions.keys().map(String::as_str).filter(|name| !left.contains(name)).collect();
    let mut named = BTreeSet::new();
    for start in left {
        let circle = circle(definitions, start, |schema| waits_for(schema, test, &settled));
        let Some(schema) = circle.first().and_then(|first| definitions.get(*first)) else { continue };
        if circle.iter().any(|name| named.contains(name)) {
            continue;
        }
        let way = circle.iter().chain(circle.first()).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ");
        let problem = schema.place.problem(format!("no value can end this circle of references: {way}"));
        problems.push(problem.help("make one of them optional, or take it out of the circle"));
        named.extend(circle);
    }
}

/// Walks from one definition to the next until one comes round again.
fn circle<'a>(
    definitions: &'a Definitions,
    start: &'a str,
    next: impl Fn(&'a Schema) -> Option<&'a str>,
) -> Vec<&'a str> {
    let mut way = vec![start];
    while let Some(name) = way.last().and_then(|last| definitions.get(*last)).and_then(&next) {
        if let Some(index) = way.iter().position(|earlier| *earlier == name) {
            return way.split_off(index);
        }
        way.push(name);
    }
    Vec::new()
}

/// The first reference that keeps a schema from passing the test.
fn waits_for<'a>(schema: &'a Schema, test: Test, settled: &BTreeSet<&str>) -> Option<&'a str> {
    if test(schema, settled) {
        return None;
    }
    match &schema.shape {
        Shape::Reference(name) => Some(name),
        Shape::Object(object) => {
            let mut required = object.properties.iter().filter(|(name, _)| object.requires(name));
            required.find_map(|(_, property)| waits_for(property, test, settled))
        }
        _ => schema.inner().into_iter().find_map(|child| waits_for(child, test, settled)),
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, problems};
    use serde_json::{Value, json};

    fn reference(name: &str) -> Value {
        json!({"$ref": format!("#/$defs/{name}")})
    }

    #[test]
    fn a_reference_to_nothing_is_refused() {
        let found = problems(json!({"$defs": {"A": {"type": "array", "items": reference("B")}, "C": reference("a")}}));
        assert_eq!(
            found,
            ["0.json#/$defs/A/items: there is no definition `B`", "0.json#/$defs/C: there is no definition `a`",]
        );
    }

    #[test]
    fn circles_that_no_value_can_end_are_refused_once() {
        let circle = "no value can end this circle of references: ";
        for (defs, way) in [
            (json!({"A": reference("B"), "B": reference("A"), "C": reference("A")}), "`A` -> `B` -> `A`"),
            (json!({"A": {"allOf": [reference("A"), {"type": "object"}]}}), "`A` -> `A`"),
            (json!({"A": {"anyOf": [reference("A"), {"type": "string"}]}}), "`A` -> `A`"),
            (json!({"A": {"properties": {"a": reference("A")}, "required": ["a"]}}), "`A` -> `A`"),
            (json!({"A": {"type": "array", "items": reference("A"), "minItems": 1}}), "`A` -> `A`"),
        ] {
            assert_eq!(problems(json!({ "$defs": defs })), [format!("0.json#/$defs/A: {circle}{way}")]);
        }
    }

    #[test]
    fn recursion_with_an_end_is_fine() {
        let defs = json!({
            "Tree": {"properties": {"left": reference("Tree"), "all": {"type": "array", "items": reference("Tree")}},
                "required": ["all"]},
            "List": {"properties": {"next": {"anyOf": [reference("List"), {"type": "null"}]}}, "required": ["next"]},
        });
        assert_eq!(canonical(&[json!({ "$defs": defs })]).len(), 2);
    }
}
