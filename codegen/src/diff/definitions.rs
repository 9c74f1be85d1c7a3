//! One definition against its counterpart: what is the same for every shape.

use super::reach::{reached, reaching};
use super::residue::{Said, residue};
use super::subset::Subset;
use super::{Change, Context, Impact, Kind, Pair, Verdict, part_of};
use crate::ir::{Content, Definition, Revision, Shape};
use Verdict::{Breaks, Ok, Unknown};
use std::fmt::Debug;

const NOTHING: Impact = Impact::new(Ok, Ok, Ok);
const UNKNOWN: Impact = Impact::new(Unknown, Unknown, Unknown);

impl<'a> Context<'a> {
    pub(super) fn compare(&'a self, before: &'a Definition, after: &'a Definition) -> Vec<Change> {
        let part = part_of(self.new, &after.name);
        let mut pair = Pair { context: self, before, after, part, changes: Vec::new() };
        if before.name != after.name {
            let impact = Impact::new(Ok, Ok, Breaks);
            pair.push("", Kind::DefinitionRenamed, Some(before.name.clone()), Some(after.name.clone()), impact);
        }
        pair.shape();
        pair.keywords();
        pair.nothing_missed();
        pair.words();
        pair.changes
    }

    pub(super) fn added(&self, definition: &Definition) -> Change {
        let is_message = is_message(definition, self.new);
        let kind = if is_message { Kind::MessageAdded } else { Kind::DefinitionAdded };
        // Old code gets a request or notification that it does not know; the schemas do not say what it does.
        let impact = Impact::new(if is_message { Unknown } else { Ok }, Ok, Ok);
        lone(definition, part_of(self.new, &definition.name), kind, impact)
    }

    pub(super) fn removed(&self, definition: &Definition) -> Change {
        let part = part_of(self.old, &definition.name);
        if is_message(definition, self.old) {
            return lone(definition, part, Kind::MessageRemoved, Impact::new(Ok, Breaks, Breaks));
        }
        let wire = if self.is_told(definition) { Ok } else { Unknown };
        lone(definition, part, Kind::DefinitionRemoved, Impact::new(wire, wire, Breaks))
    }

    /// Whether the change of another definition says what happens to the messages that hold this one: of one that is
    /// still there, of a message, or of one whose own removal is told. What only refers to each other tells of nothing.
    fn is_told(&self, definition: &Definition) -> bool {
        let below = reached(self.old, &definition.name);
        let tells = |name: &String| {
            let is_message = self.old.get(name).is_some_and(|other| is_message(other, self.old));
            self.names.new_of(name).is_some() || is_message || !below.contains(name)
        };
        reaching(self.old, &definition.name).iter().any(tells)
    }

    /// Asks whether new values are old ones.
    pub(super) fn backward(&self) -> Subset<'_> {
        Subset { from: self.new, to: self.old, names: self.names, forward: false }
    }

    /// Asks whether old values are new ones.
    pub(super) fn forward(&self) -> Subset<'_> {
        Subset { from: self.old, to: self.new, names: self.names, forward: true }
    }
}

/// Whether it is sent on its own. What has a method but no envelope stands within a message, unless the files leave
/// envelopes out altogether.
fn is_message(definition: &Definition, revision: &Revision) -> bool {
    let is_enveloped = |definition: &Definition| has(definition, "method") && has(definition, "jsonrpc");
    is_enveloped(definition) || (has(definition, "method") && !revision.definitions().any(is_enveloped))
}

/// Whether it has that member, as a constant.
fn has(definition: &Definition, member: &str) -> bool {
    let Shape::Object(object) = &definition.shape else { return false };
    object.field(member).is_some_and(|field| matches!(field.content, Content::Constant(_)))
}

fn lone(definition: &Definition, part: String, kind: Kind, impact: Impact) -> Change {
    let (name, pointer) = (definition.name.clone(), definition.pointer.clone());
    Change { definition: name, part, pointer, kind, before: None, after: None, impact }
}

/// What a change of a type is called, by whom it breaks.
pub(super) fn kind_of(readers: Verdict, writers: Verdict) -> Kind {
    match (readers, writers) {
        (Ok, Breaks | Unknown) => Kind::Narrowed,
        (Breaks | Unknown, Ok) => Kind::Widened,
        _ => Kind::TypeChanged,
    }
}

impl Pair<'_> {
    pub(super) fn push(
        &mut self,
        below: &str,
        kind: Kind,
        before: Option<String>,
        after: Option<String>,
        impact: Impact,
    ) {
        // What is gone can only be pointed at where it was.
        let gone = after.is_none() && before.is_some();
        let root = if gone { &self.before.pointer } else { &self.after.pointer };
        let (definition, part, pointer) = (self.after.name.clone(), self.part.clone(), format!("{root}{below}"));
        self.changes.push(Change { definition, part, pointer, kind, before, after, impact });
    }

    fn shape(&mut self) {
        match (&self.before.shape, &self.after.shape) {
            (Shape::Object(before), Shape::Object(after)) => self.objects(before, after),
            (Shape::Tagged(before), Shape::Tagged(after)) => self.tagged(before, after),
            (Shape::Choice(before), Shape::Choice(after)) => self.choices(&before.arms, &after.arms),
            (Shape::Enum(before), Shape::Enum(after)) => self.values(&before.values, &after.values),
            (before, after) if self.context.names.normal(before) == self.context.names.normal(after) => {}
            (before, after) => self.other(before, after),
        }
    }

    /// Scalars, maps, lists and other names, and what has become another sort of thing.
    fn other(&mut self, before: &Shape, after: &Shape) {
        let readers = self.context.backward().shapes(after, before).verdict();
        let writers = self.context.forward().shapes(before, after).verdict();
        let same_sort = std::mem::discriminant(before) == std::mem::discriminant(after);
        let kind = if same_sort { kind_of(readers, writers) } else { Kind::ShapeChanged };
        // A bound alone may or may not change the Rust type that holds it.
        let rust = if matches!((before, after), (Shape::Scalar(a), Shape::Scalar(b)) if same_sort_of(a, b)) {
            Unknown
        } else {
            Breaks
        };
        let impact = Impact::new(readers, writers, rust);
        self.push("", kind, Some(super::render::shape(before)), Some(super::render::shape(after)), impact);
    }

    fn keywords(&mut self) {
        let mut old = residue(self.context.old, self.before);
        let mut new = residue(self.context.new, self.after);
        drop_common(&mut old, &mut new);
        while let Some(place) = old.iter().chain(&new).map(|said| said.place.clone()).min() {
            let take = |side: &mut Vec<Said>| {
                let index = side.iter().position(|said| said.place == place)?;
                Some(side.remove(index))
            };
            let (before, after) = (take(&mut old), take(&mut new));
            let pointer = after.as_ref().or(before.as_ref()).map(|said| said.pointer.clone()).unwrap_or_default();
            let value = |said: Option<Said>| said.map(|said| said.value);
            self.push(&pointer, Kind::KeywordChanged, value(before), value(after), UNKNOWN);
        }
    }

    /// If the shapes differ and no step above saw how, that is a change too.
    fn nothing_missed(&mut self) {
        let names = self.context.names;
        let is_of_shape = |change: &Change| {
            !matches!(change.kind, Kind::DefinitionRenamed | Kind::KeywordChanged | Kind::WordsChanged)
        };
        let seen = self.changes.iter().any(is_of_shape);
        if !seen && names.normal(&self.before.shape) != names.normal(&self.after.shape) {
            self.push("", Kind::TypeChanged, None, None, UNKNOWN);
        }
    }

    fn words(&mut self) {
        let (before, after) = (&self.before.docs, &self.after.docs);
        if before != after {
            let words = |docs: &crate::ir::Docs| docs.description.clone().or(docs.title.clone());
            self.push("", Kind::WordsChanged, words(before), words(after).or(Some(String::new())), NOTHING);
        }
    }
}

fn same_sort_of<T: Debug>(a: &T, b: &T) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Leaves what only one side says.
fn drop_common(old: &mut Vec<Said>, new: &mut Vec<Said>) {
    old.retain(|said| match new.iter().position(|other| (&other.place, &other.value) == (&said.place, &said.value)) {
        Some(index) => {
            new.remove(index);
            false
        }
        None => true,
    });
}
