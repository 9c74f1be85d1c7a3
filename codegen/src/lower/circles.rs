//! Definitions that hold themselves without an end.
//!
//! Recursion is fine where a value can leave something out; where none can, no value exists and Rust would have no
//! size for the type.

use crate::error::{Error, Problem, Problems};
use crate::ir::{Content, Definition, Object, Revision, Shape, Type};
use std::collections::BTreeSet;

/// Refuses circles without an end, each once, at the first definition on the way that comes round again.
pub(super) fn check(revision: &Revision) -> Result<(), Error> {
    let finite = finite(revision);
    let mut named = BTreeSet::new();
    let mut problems = Problems::default();
    for start in revision.definitions().filter(|definition| !finite.contains(definition.name.as_str())) {
        let circle = circle(revision, start, &finite);
        if let Some(first) = circle.first().filter(|_| !circle.iter().any(|one| named.contains(&one.name.as_str()))) {
            problems.push(endless(first, &circle));
        }
        named.extend(circle.iter().map(|definition| definition.name.as_str()));
    }
    problems.finish(())
}

/// The definitions that have a value of finite size.
fn finite(revision: &Revision) -> BTreeSet<&str> {
    let mut finite = BTreeSet::new();
    loop {
        let before = finite.len();
        for definition in revision.definitions() {
            if waits_for(&definition.shape, &finite).is_none() {
                finite.insert(definition.name.as_str());
            }
        }
        if finite.len() == before {
            return finite;
        }
    }
}

/// A definition that a shape needs and that is not known to be finite.
fn waits_for<'a>(shape: &'a Shape, finite: &BTreeSet<&str>) -> Option<&'a str> {
    match shape {
        Shape::Object(object) => required(object).find_map(|value| needs(value, finite)),
        Shape::Tagged(union) => all(union.arms.iter().map(|arm| unfinished(&arm.target, finite))),
        Shape::Choice(choice) => all(choice.arms.iter().map(|arm| needs(arm, finite))),
        Shape::Map(map) if map.min.unwrap_or(0) > 0 => needs(&map.value, finite),
        Shape::List(list) if list.min.unwrap_or(0) > 0 => needs(&list.item, finite),
        Shape::Alias(target) => needs(target, finite),
        Shape::Map(_) | Shape::List(_) | Shape::Enum(_) | Shape::Scalar(_) => None,
    }
}

fn required(object: &Object) -> impl Iterator<Item = &Type> {
    let fields = object.fields.iter().filter(|field| field.presence.is_required() && !field.presence.is_nullable());
    fields.filter_map(|field| match &field.content {
        Content::Typed(value) => Some(value),
        Content::Constant(_) | Content::ConstantInteger(_) => None,
    })
}

/// What the first arm waits for, if all arms wait.
fn all<'a>(mut arms: impl Iterator<Item = Option<&'a str>>) -> Option<&'a str> {
    let first = arms.next()??;
    arms.all(|arm| arm.is_some()).then_some(first)
}

fn needs<'a>(value: &'a Type, finite: &BTreeSet<&str>) -> Option<&'a str> {
    match value {
        Type::Named(name) => unfinished(name, finite),
        _ => None,
    }
}

fn unfinished<'a>(name: &'a str, finite: &BTreeSet<&str>) -> Option<&'a str> {
    (!finite.contains(name)).then_some(name)
}

/// Goes from one definition to the one it waits for until one comes round again.
fn circle<'a>(revision: &'a Revision, start: &'a Definition, finite: &BTreeSet<&str>) -> Vec<&'a Definition> {
    let mut way = vec![start];
    while let Some(next) = way.last().and_then(|last| revision.get(waits_for(&last.shape, finite)?)) {
        if let Some(index) = way.iter().position(|earlier| earlier.name == next.name) {
            return way.split_off(index);
        }
        way.push(next);
    }
    Vec::new()
}

fn endless(first: &Definition, circle: &[&Definition]) -> Problem {
    let names = circle.iter().map(|definition| &definition.name).chain([&first.name]);
    let way = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" -> ");
    Problem::new(&first.file, &first.pointer, format!("no value can end this circle of references: {way}"))
        .help("make one of them optional, or take it out of the circle")
}
