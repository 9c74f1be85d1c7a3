//! Which definition of the old revision is which of the new one: by name, and what is left by shape.

use crate::ir::{Content, Definition, Object, Revision, Shape, Tagged, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions that correspond.
pub(super) struct Names {
    forward: BTreeMap<String, String>,
    backward: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn pair(old: &Revision, new: &Revision) -> Self {
        let shared = old.definitions().filter(|definition| new.get(&definition.name).is_some());
        let mut forward: BTreeMap<_, _> =
            shared.map(|definition| (definition.name.clone(), definition.name.clone())).collect();
        forward.extend(renamed(old, new));
        let backward = forward.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
        Self { forward, backward }
    }

    /// The new name of a definition of the old revision.
    pub(super) fn new_of(&self, old: &str) -> Option<&str> {
        self.forward.get(old).map(String::as_str)
    }

    /// The old name of a definition of the new revision.
    pub(super) fn old_of(&self, new: &str) -> Option<&str> {
        self.backward.get(new).map(String::as_str)
    }

    /// A shape without words, its references in new names, its parts in an order that does not matter.
    pub(super) fn normal(&self, shape: &Shape) -> Shape {
        let mut shape = plain(shape);
        rename(&mut shape, &|name| self.new_of(name).unwrap_or(name).to_owned());
        sort(&mut shape);
        shape
    }
}

/// Pairs of definitions that are only there on one side, whose shapes are the same and like no third one.
fn renamed(old: &Revision, new: &Revision) -> Vec<(String, String)> {
    let gone: Vec<_> = only(old, new).collect();
    let come: Vec<_> = only(new, old).collect();
    let twins = |shape: &Shape, among: &[&Definition]| among.iter().filter(|other| same(shape, &other.shape)).count();
    let mut pairs = Vec::new();
    for before in &gone {
        let mut fitting = come.iter().filter(|after| same(&before.shape, &after.shape));
        if let (Some(after), None) = (fitting.next(), fitting.next())
            && twins(&after.shape, &gone) == 1
        {
            pairs.push((before.name.clone(), after.name.clone()));
        }
    }
    pairs
}

/// What only the first has and says enough to be known again.
fn only<'a>(revision: &'a Revision, other: &'a Revision) -> impl Iterator<Item = &'a Definition> {
    let missing = move |definition: &&Definition| other.get(&definition.name).is_none();
    revision.definitions().filter(missing).filter(|definition| is_telling(&definition.shape))
}

fn is_telling(shape: &Shape) -> bool {
    match shape {
        Shape::Object(object) => object.fields.len() >= 2,
        Shape::Tagged(_) | Shape::Enum(_) => true,
        _ => false,
    }
}

fn same(a: &Shape, b: &Shape) -> bool {
    let normal = |shape: &Shape| {
        let mut shape = plain(shape);
        sort(&mut shape);
        shape
    };
    normal(a) == normal(b)
}

/// The shape without words, bases and origins.
fn plain(shape: &Shape) -> Shape {
    let mut shape = shape.clone();
    if let Shape::Object(object) = &mut shape {
        object.bases.clear();
        for field in &mut object.fields {
            field.docs = None;
            field.origin.clear();
        }
    }
    shape
}

fn sort(shape: &mut Shape) {
    match shape {
        Shape::Object(Object { fields, .. }) => fields.sort_by(|a, b| a.wire.cmp(&b.wire)),
        Shape::Tagged(Tagged { arms, .. }) => arms.sort_by(|a, b| a.value.cmp(&b.value)),
        Shape::Choice(choice) => choice.arms.sort_by_key(|arm| format!("{arm:?}")),
        Shape::Enum(words) => words.values.sort(),
        _ => {}
    }
}

fn rename(shape: &mut Shape, to: &dyn Fn(&str) -> String) {
    match shape {
        Shape::Tagged(tagged) => tagged.arms.iter_mut().for_each(|arm| arm.target = to(&arm.target)),
        _ => types_mut(shape).into_iter().for_each(|of| rename_type(of, to)),
    }
}

fn types_mut(shape: &mut Shape) -> Vec<&mut Type> {
    let typed = |content| match content {
        &mut Content::Typed(ref mut of) => Some(of),
        _ => None,
    };
    match shape {
        Shape::Object(object) => object.fields.iter_mut().filter_map(|field| typed(&mut field.content)).collect(),
        Shape::Choice(choice) => choice.arms.iter_mut().collect(),
        Shape::Map(map) => vec![&mut map.value],
        Shape::List(list) => vec![&mut list.item],
        Shape::Alias(of) => vec![of],
        Shape::Tagged(_) | Shape::Enum(_) | Shape::Scalar(_) => Vec::new(),
    }
}

fn rename_type(of: &mut Type, to: &dyn Fn(&str) -> String) {
    match of {
        Type::Named(name) => *name = to(name),
        Type::List(inner) | Type::Nullable(inner) => rename_type(inner, to),
        _ => {}
    }
}

/// A type in new names.
pub(super) fn renamed_type(of: &Type, names: &Names) -> Type {
    let mut of = of.clone();
    rename_type(&mut of, &|name| names.new_of(name).unwrap_or(name).to_owned());
    of
}

/// The definitions that a shape names.
pub(super) fn references(shape: &Shape) -> BTreeSet<String> {
    let mut shape = shape.clone();
    let found = std::cell::RefCell::new(BTreeSet::new());
    rename(&mut shape, &|name| {
        found.borrow_mut().insert(name.to_owned());
        name.to_owned()
    });
    found.into_inner()
}
