//! An `allOf` that nothing can satisfy.
//!
//! The published extension schema once closed every member of its compositions with `additionalProperties: false`, so
//! that each member forbade what the others required and no task at all was valid. Types made from such a file look right
//! and mean nothing. This check runs on documents as they come, ours and others', before anything is rewritten. It finds
//! what is plain: a required property that another member has no room for, types or constants that exclude each other, in
//! the value itself or in a property it must have. Of a union every arm has to fail. What it cannot decide passes.

use crate::document::{Document, escape};
use crate::error::{Error, Problem, Problems};
use crate::foreign::keywords::is_nothing;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;

/// How much work one `allOf` is worth: unions multiply, and what is not decided by then passes.
const STEPS: u32 = 2_000;

/// How far unions in unions and required properties in required properties are followed.
const DEPTH: usize = 64;

/// How deep schemas are looked for; serde_json parses nothing deeper.
const NESTING: usize = 128;

/// Refuses each `allOf` that no value satisfies.
pub(crate) fn check(documents: &[Document]) -> Result<(), Error> {
    let mut checker = Checker { documents, problems: Problems::default(), named: BTreeSet::new() };
    for (document, Document { root, .. }) in documents.iter().enumerate() {
        checker.visit(&Place { document, pointer: String::new() }, root, 0);
    }
    checker.problems.finish(())
}

/// A place in one of the documents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    document: usize,
    pointer: String,
}

impl Place {
    fn step(&self, step: &str) -> Self {
        Self { document: self.document, pointer: format!("{}/{}", self.pointer, escape(step)) }
    }
}

/// A schema and its place.
#[derive(Clone)]
struct Statement<'a> {
    place: Place,
    schema: &'a Value,
}

impl<'a> Statement<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    fn object(&self, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.get(keyword).and_then(Value::as_object).into_iter().flatten()
    }

    fn list(&self, keyword: &str) -> Vec<Self> {
        let place = self.place.step(keyword);
        let values = self.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let statement = |(index, schema): (usize, &'a Value)| Self { place: place.step(&index.to_string()), schema };
        values.enumerate().map(statement).collect()
    }

    fn required(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    fn property(&self, name: &str) -> Option<Self> {
        let schema = self.get("properties")?.get(name)?;
        Some(Self { place: self.place.step("properties").step(name), schema })
    }

    /// Whether the object may have the property, as far as this statement goes.
    fn has_room_for(&self, property: &str) -> bool {
        let closed =
            self.get("additionalProperties").is_some_and(|rest| *rest == Value::Bool(false) || is_nothing(rest));
        !closed || self.get("patternProperties").is_some() || self.property(property).is_some()
    }
}

struct Checker<'a> {
    documents: &'a [Document],
    problems: Problems,
    /// Contradictions already reported: what refers to one shares it.
    named: BTreeSet<String>,
}

impl<'a> Checker<'a> {
    /// Checks the schemas inside before the schema itself, so that a contradiction is reported where it arises.
    fn visit(&mut self, place: &Place, schema: &'a Value, depth: usize) {
        if depth == NESTING {
            return;
        }
        let statement = Statement { place: place.clone(), schema };
        for keyword in ["$defs", "definitions", "properties"] {
            for (name, schema) in statement.object(keyword) {
                self.visit(&place.step(keyword).step(name), schema, depth + 1);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(schema) = statement.get(keyword) {
                self.visit(&place.step(keyword), schema, depth + 1);
            }
        }
        for arm in ["allOf", "anyOf", "oneOf"].iter().flat_map(|keyword| statement.list(keyword)) {
            self.visit(&arm.place, arm.schema, depth + 1);
        }
        if schema.get("allOf").is_some_and(Value::is_array) {
            self.check(statement);
        }
    }

    fn check(&mut self, statement: Statement<'a>) {
        let place = statement.place.step("allOf");
        let solver = Solver { documents: self.documents, steps: Cell::new(STEPS) };
        let Err(conflict) = solver.all(vec![statement], Facts::default(), 0) else { return };
        if self.named.insert(conflict.clone()) {
            let file = self.documents.get(place.document).map_or("", |document| document.file.as_str());
            let problem = Problem::new(file, place.pointer, format!("nothing can satisfy this `allOf`: {conflict}"));
            self.problems
                .push(problem.help("each member sees the whole value: say in each only what holds for all of it"));
        }
    }
}

/// What a value has to satisfy at once.
#[derive(Clone, Default)]
struct Facts<'a> {
    statements: Vec<Statement<'a>>,
    /// Unions not yet decided.
    unions: Vec<Vec<Statement<'a>>>,
    /// References already followed.
    followed: BTreeSet<Place>,
}

struct Solver<'a> {
    documents: &'a [Document],
    steps: Cell<u32>,
}

impl<'a> Solver<'a> {
    /// Whether one value can satisfy all statements beside the facts; if not, a reason.
    fn all(&self, mut pending: Vec<Statement<'a>>, mut facts: Facts<'a>, depth: usize) -> Result<(), String> {
        while let Some(statement) = pending.pop() {
            if self.is_tired(depth) {
                return Ok(());
            }
            pending.extend(self.target(&statement).filter(|target| facts.followed.insert(target.place.clone())));
            pending.extend(statement.list("allOf"));
            let unions = ["anyOf", "oneOf"].map(|keyword| statement.list(keyword));
            facts.unions.extend(unions.into_iter().filter(|arms| !arms.is_empty()));
            facts.statements.push(statement);
        }
        self.refuse_conflicts(&facts.statements)?;
        match facts.unions.pop() {
            Some(arms) => self.any(arms, &facts, depth),
            None => self.required(&facts.statements, depth),
        }
    }

    /// Tries the arms of a union; the first reason is as good as any.
    fn any(&self, arms: Vec<Statement<'a>>, facts: &Facts<'a>, depth: usize) -> Result<(), String> {
        let mut reason = Ok(());
        for arm in arms {
            match self.all(vec![arm], facts.clone(), depth + 1) {
                Ok(()) => return Ok(()),
                Err(other) => reason = reason.and(Err(other)),
            }
        }
        reason
    }

    /// Whether each required property can have a value.
    fn required(&self, statements: &[Statement<'a>], depth: usize) -> Result<(), String> {
        let names: BTreeSet<&str> = statements.iter().flat_map(Statement::required).collect();
        names.into_iter().try_for_each(|name| {
            let described = statements.iter().filter_map(|statement| statement.property(name)).collect();
            self.all(described, Facts::default(), depth + 1)
        })
    }

    fn is_tired(&self, depth: usize) -> bool {
        self.steps.set(self.steps.get().saturating_sub(1));
        depth >= DEPTH || self.steps.get() == 0
    }

    /// The definition a statement refers to, in its own document or in any; where there is none, others complain.
    fn target(&self, statement: &Statement<'a>) -> Option<Statement<'a>> {
        let reference = statement.get("$ref")?.as_str()?;
        let (_, pointer) = reference.split_once('#')?;
        let own = statement.place.document;
        let order = [own].into_iter().chain(0..self.documents.len());
        order.filter_map(|document| Some((document, self.documents.get(document)?))).find_map(|(document, found)| {
            let schema = found.root.pointer(pointer)?;
            Some(Statement { place: Place { document, pointer: pointer.into() }, schema })
        })
    }

    fn refuse_conflicts(&self, statements: &[Statement<'a>]) -> Result<(), String> {
        if let Some(nothing) = statements.iter().find(|statement| is_nothing(statement.schema)) {
            return Err(format!("{} allows no value", self.name(&nothing.place)));
        }
        self.refuse_types(statements)?;
        self.refuse_values(statements)?;
        statements.iter().try_for_each(|closed| self.refuse_lost(closed, statements))
    }

    fn refuse_lost(&self, closed: &Statement<'a>, statements: &[Statement<'a>]) -> Result<(), String> {
        let required = statements.iter().flat_map(|other| other.required().map(move |name| (other, name)));
        let mut lost = required.filter(|(_, name)| !closed.has_room_for(name));
        lost.next().map_or(Ok(()), |(other, name)| {
            let (closed, other) = (self.name(&closed.place), self.name(&other.place));
            Err(format!("{closed} has no room for the property `{name}`, which {other} requires"))
        })
    }

    fn refuse_types(&self, statements: &[Statement<'a>]) -> Result<(), String> {
        let mut left = Types::ALL;
        let mut last: Option<&Statement<'_>> = None;
        for statement in statements {
            let types = Types::of(statement);
            if left.and(types).is_empty() {
                let other = last.map_or_else(String::new, |last| self.name(&last.place));
                return Err(format!("{} and {other} allow no type in common", self.name(&statement.place)));
            }
            if types != Types::ALL {
                last = Some(statement);
            }
            left = left.and(types);
        }
        Ok(())
    }

    /// Constants have to agree with each other.
    fn refuse_values(&self, statements: &[Statement<'a>]) -> Result<(), String> {
        let mut left: Option<(Vec<&Value>, &Statement<'_>)> = None;
        for statement in statements {
            let Some(own) = values(statement) else { continue };
            let both = match &left {
                None => own,
                Some((values, other)) => {
                    let both: Vec<&Value> = own.into_iter().filter(|value| values.contains(value)).collect();
                    if both.is_empty() {
                        let places = [&statement.place, &other.place].map(|place| self.name(place)).join(" and ");
                        return Err(format!("{places} allow no value in common"));
                    }
                    both
                }
            };
            left = Some((both, statement));
        }
        Ok(())
    }

    /// The place with its file where there are several.
    fn name(&self, place: &Place) -> String {
        match self.documents.get(place.document) {
            Some(document) if self.documents.len() > 1 => format!("{}#{}", document.file, place.pointer),
            _ => format!("#{}", place.pointer),
        }
    }
}

/// The values that `const` or `enum` leave.
fn values<'a>(statement: &Statement<'a>) -> Option<Vec<&'a Value>> {
    match statement.get("const") {
        Some(value) => Some(vec![value]),
        None => statement.get("enum").and_then(Value::as_array).map(|values| values.iter().collect()),
    }
}

/// A set of JSON types, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const ALL: Self = Self(u8::MAX);
    const OBJECT: Self = Self(1);

    /// The types a statement allows. One about properties is about objects: nobody means the strings it lets through.
    fn of(statement: &Statement<'_>) -> Self {
        match (statement.get("type"), values(statement)) {
            (Some(Value::String(name)), _) => Self::named(name),
            (Some(Value::Array(names)), _) => {
                names.iter().filter_map(Value::as_str).map(Self::named).fold(Self(0), Self::or)
            }
            (_, Some(values)) => values.into_iter().map(Self::of_value).fold(Self(0), Self::or),
            _ if statement.get("properties").or(statement.get("required")).is_some() => Self::OBJECT,
            _ => Self::ALL,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "object" => Self::OBJECT,
            "array" => Self(2),
            "string" => Self(4),
            "boolean" => Self(8),
            "null" => Self(16),
            "integer" => Self(32),
            "number" => Self(32 | 64),
            _ => Self::ALL,
        }
    }

    fn of_value(value: &Value) -> Self {
        Self::named(match value {
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
            Value::Number(_) => "number",
        })
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const UNSATISFIABLE: &str = include_str!("../tests/fixtures/published/closed-members.schema.json");

    fn problems(defs: Value) -> Vec<String> {
        let document = Document::new("x.json", json!({ "$defs": defs }));
        let found = check(&[document]).err().map_or_else(Vec::new, |error| error.problems().to_vec());
        found.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
    }

    fn object(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    fn closed(properties: Value, required: Value) -> Value {
        let mut object = object(properties, required);
        object["additionalProperties"] = json!(false);
        object
    }

    #[test]
    fn members_closed_against_each_other_are_found_once_each() {
        let document = Document::new("closed.json", serde_json::from_str(UNSATISFIABLE).expect("valid JSON"));
        let error = check(&[document]).expect_err("nothing satisfies it");
        let pointers: Vec<&str> = error.problems().iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["/$defs/FetchParcelResult/allOf", "/$defs/NewParcelResult/allOf"]);
    }

    #[test]
    fn a_closed_member_needs_room_for_what_is_required_only() {
        let base = closed(json!({"a": {}}), json!(["a"]));
        let all = |other: Value| json!({"Base": base, "X": {"allOf": [{"$ref": "#/$defs/Base"}, other]}});
        assert!(problems(all(object(json!({"b": {}}), json!(["a"])))).is_empty());
        let message = "nothing can satisfy this `allOf`: #/$defs/Base has no room for the property `b`, \
                       which #/$defs/X/allOf/1 requires";
        let found = problems(all(object(json!({"b": {}}), json!(["b"]))));
        assert_eq!(found, [format!("/$defs/X/allOf: {message}")]);
    }

    #[test]
    fn nothing_written_as_a_negation_closes_too() {
        let base = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": {"not": {}}});
        assert_eq!(problems(json!({"X": {"allOf": [base, {"required": ["b"]}]}})).len(), 1);
    }

    #[test]
    fn constants_and_types_that_exclude_each_other() {
        let tagged = |tag: Value| object(json!({"tag": tag}), json!(["tag"]));
        for (left, right, count) in [
            (json!({"const": "a"}), json!({"const": "b"}), 1),
            (json!({"const": "a"}), json!({"enum": ["b", "a"]}), 0),
            (json!({"const": "a"}), json!({"type": "integer"}), 1),
            (json!({"type": "integer"}), json!({"type": ["number", "null"]}), 0),
            (json!({"$ref": "#/$defs/Word"}), json!({"const": "z"}), 1),
        ] {
            let defs = json!({"Word": {"enum": ["a", "b"]}, "X": {"allOf": [tagged(left), tagged(right)]}});
            assert_eq!(problems(defs.clone()).len(), count, "{defs}");
        }
        assert_eq!(problems(json!({"X": {"allOf": [{"type": "string"}, {"type": "object"}]}})).len(), 1);
    }

    #[test]
    fn an_optional_property_can_be_left_out() {
        let tagged = |tag: &str| object(json!({"tag": {"const": tag}}), json!([]));
        assert!(problems(json!({"X": {"allOf": [tagged("a"), tagged("b")]}})).is_empty());
    }

    #[test]
    fn a_union_fails_only_if_every_arm_does() {
        let arm = |name: &str| closed(json!({name: {}}), json!([name]));
        let all = |arms: Value| json!({"X": {"allOf": [{"required": ["a"]}, {"anyOf": arms}]}});
        assert!(problems(all(json!([arm("b"), arm("a")]))).is_empty());
        assert_eq!(problems(all(json!([arm("b"), arm("c")]))).len(), 1);
    }

    #[test]
    fn circles_end() {
        let tree = json!({"Tree": {"allOf": [object(json!({"left": {"$ref": "#/$defs/Tree"}}), json!(["left"]))]}});
        assert!(problems(tree).is_empty());
        assert!(problems(json!({"A": {"allOf": [{"$ref": "#/$defs/A"}]}})).is_empty());
    }

    #[test]
    fn many_unions_do_not_take_for_ever() {
        let arms = json!({"anyOf": [object(json!({"a": {}}), json!(["a"])), object(json!({"b": {}}), json!(["b"]))]});
        let mut members = vec![arms; 40];
        members.push(object(json!({"z": {"allOf": [{"type": "string"}, {"type": "null"}]}}), json!(["z"])));
        assert_eq!(problems(json!({"X": {"allOf": members}})).len(), 1);
    }
}
