//! What changed between two revisions, and whom it breaks.
//!
//! Both sides are the intermediate value ([`ir`](crate::ir)), so it does not matter whether a schema was ours or a
//! published one. Each change has three verdicts:
//! - readers: code made for the old revision reads messages written for the new one;
//! - writers: code made for the old revision writes messages that the new one reads;
//! - Rust: code that uses the emitted types of the old revision compiles with those of the new one.
//!
//! Readers and writers are one question asked both ways: is every message of this revision one of that revision too
//! (`subset`)? What that cannot decide is `unknown`, never `ok`. A writer is taken to write the members that its schema
//! names and, where the object is open, others that neither revision names. `codegen/docs/diff.md` has the table.

mod definitions;
mod names;
mod objects;
mod overruled;
mod reach;
mod render;
mod residue;
mod subset;
mod unions;

use crate::ir::{Definition, Revision};
use crate::overlay::Settings;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

pub use render::{changelog, json, markdown, text};

/// Whether something keeps working. Ordered by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It does.
    #[default]
    Ok,
    /// The schemas do not say.
    Unknown,
    /// It does not.
    Breaks,
}

/// Whom a change breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Impact {
    /// Old code that reads new messages.
    pub readers: Verdict,
    /// Old code that writes to new readers.
    pub writers: Verdict,
    /// Code that uses the emitted types.
    pub rust: Verdict,
}

impl Impact {
    /// An impact of three verdicts.
    pub const fn new(readers: Verdict, writers: Verdict, rust: Verdict) -> Self {
        Self { readers, writers, rust }
    }

    /// The worse of both, for each.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            readers: self.readers.max(other.readers),
            writers: self.writers.max(other.writers),
            rust: self.rust.max(other.rust),
        }
    }

    /// The worst of the three.
    pub fn worst(self) -> Verdict {
        self.readers.max(self.writers).max(self.rust)
    }
}

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A definition that was not there: a message.
    MessageAdded,
    /// A message that is gone.
    MessageRemoved,
    /// A definition that was not there and is no message.
    DefinitionAdded,
    /// A definition that is gone and was no message.
    DefinitionRemoved,
    /// The same shape under another name.
    DefinitionRenamed,
    /// It is another sort of thing now, such as a union that was an object.
    ShapeChanged,
    /// A member that may be left out was added.
    OptionalMemberAdded,
    /// A member that must be there was added.
    RequiredMemberAdded,
    /// A member is gone.
    MemberRemoved,
    /// A member of the same type and presence has another name.
    MemberRenamed,
    /// A member must be there now.
    BecameRequired,
    /// A member may be left out now.
    BecameOptional,
    /// A member may be null now.
    BecameNullable,
    /// A member must not be null any more.
    BecameNotNull,
    /// A member's constant is another one.
    ConstantChanged,
    /// A type or bound takes more.
    Widened,
    /// A type or bound takes less.
    Narrowed,
    /// A type or bound takes something else, or it cannot be decided what.
    TypeChanged,
    /// Members that are not named are allowed now.
    Opened,
    /// Members that are not named are not allowed any more.
    Closed,
    /// The members that must be there stand in another order.
    OrderChanged,
    /// An enum has a value more.
    ValueAdded,
    /// An enum has a value less.
    ValueRemoved,
    /// A union has an arm more.
    ArmAdded,
    /// A union has an arm less.
    ArmRemoved,
    /// Another member tells the arms of a union apart.
    DiscriminatorMoved,
    /// Which arm is meant when the tag is missing has changed.
    DefaultArmChanged,
    /// What it is composed of has changed, its members apart.
    CompositionChanged,
    /// A keyword that is not compared, such as `format`, has changed.
    KeywordChanged,
    /// Only titles or descriptions have changed.
    WordsChanged,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The definition, by its name in the new revision if it is there, otherwise in the old one.
    pub definition: String,
    /// The part it stands in, such as `tasks`.
    pub part: String,
    /// JSON pointer: into the new file, or into the old one if it is about something that is gone.
    pub pointer: String,
    /// What kind of change.
    pub kind: Kind,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whom it breaks by itself.
    #[serde(flatten)]
    pub impact: Impact,
}

/// All changes between two revisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The old revision's name.
    pub old: String,
    /// The new revision's name.
    pub new: String,
    /// The worst of all changes.
    pub impact: Impact,
    /// The changes, by definition in the order of the new revision; what is gone comes last.
    pub changes: Vec<Change>,
    /// Of each definition that is in both, by its new name: whom its changes break, together with those of all that it
    /// refers to. What is not listed is untouched.
    pub affected: BTreeMap<String, Affected>,
    /// The parts that a definition stands in, in either revision.
    #[serde(skip)]
    parts: BTreeMap<String, BTreeSet<String>>,
}

/// How a definition fares with all that it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Affected {
    /// Whom it breaks.
    #[serde(flatten)]
    pub impact: Impact,
    /// The definitions whose changes make it worse than its own do, and as bad as it is.
    pub by: BTreeSet<String>,
}

impl Report {
    /// Only what stands in one part, such as `tasks`. What happens elsewhere counts where the part refers to it.
    #[must_use]
    pub fn only(mut self, part: &str) -> Self {
        let parts = &self.parts;
        let is_here = |name: &String| parts.get(name).is_some_and(|parts| parts.contains(part));
        self.changes.retain(|change| is_here(&change.definition));
        self.affected.retain(|name, _| is_here(name));
        self.impact = self.affected.values().fold(worst(&self.changes), |worst, affected| worst.and(affected.impact));
        self
    }
}

/// Compares two revisions. `settings` are those of the old one: which enums and unions its readers leave open.
pub fn diff(old: &Revision, new: &Revision, settings: &Settings) -> Report {
    let names = names::Names::pair(old, new);
    let context = Context { old, new, names: &names, settings };
    let mut changes = Vec::new();
    for definition in new.definitions() {
        match names.old_of(&definition.name).and_then(|name| old.get(name)) {
            Some(before) => changes.extend(context.compare(before, definition)),
            None => changes.push(context.added(definition)),
        }
    }
    let gone = old.definitions().filter(|definition| names.new_of(&definition.name).is_none());
    changes.extend(gone.map(|definition| context.removed(definition)));
    let affected = reach::affected(&context, &changes);
    let (impact, parts) = (worst(&changes), context.parts());
    Report { old: old.name.clone(), new: new.name.clone(), impact, changes, affected, parts }
}

fn worst(changes: &[Change]) -> Impact {
    changes.iter().fold(Impact::default(), |worst, change| worst.and(change.impact))
}

/// What a comparison has to know.
struct Context<'a> {
    old: &'a Revision,
    new: &'a Revision,
    names: &'a names::Names,
    settings: &'a Settings,
}

impl Context<'_> {
    /// By the name that a report uses. What has moved stands in two parts.
    fn parts(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut parts: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for part in &self.new.parts {
            for definition in &part.definitions {
                parts.entry(definition.name.clone()).or_default().insert(part.name.clone());
            }
        }
        for part in &self.old.parts {
            for definition in &part.definitions {
                let name = self.names.new_of(&definition.name).unwrap_or(&definition.name);
                parts.entry(name.to_owned()).or_default().insert(part.name.clone());
            }
        }
        parts
    }
}

/// A definition of both revisions, while its changes are gathered.
struct Pair<'a> {
    context: &'a Context<'a>,
    before: &'a Definition,
    after: &'a Definition,
    part: String,
    changes: Vec<Change>,
}

/// The name of the part that a definition stands in.
fn part_of(revision: &Revision, name: &str) -> String {
    let part = revision.parts.iter().find(|part| part.definitions.iter().any(|definition| definition.name == name));
    part.map(|part| part.name.clone()).unwrap_or_default()
}
