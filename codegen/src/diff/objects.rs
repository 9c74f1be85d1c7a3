//! The members of an object.

use super::definitions::kind_of;
use super::names::renamed_type;
use super::render;
use super::{Impact, Kind, Pair, Verdict};
use crate::document::escape;
use crate::ir::{Content, Field, Object};
use Verdict::{Breaks, Ok, Unknown};

impl Pair<'_> {
    pub(super) fn objects(&mut self, before: &Object, after: &Object) {
        let renamed = self.renamed_members(before, after);
        for new in &after.fields {
            let was = renamed.iter().find(|(_, name)| *name == new.wire).map_or(&new.wire, |(name, _)| name);
            match before.field(was) {
                Some(old) if *was != new.wire => self.member_renamed(old, new, before.open, after.open),
                Some(old) => self.member(old, new),
                None => self.member_added(new, before.open),
            }
        }
        for old in &before.fields {
            let is_renamed = renamed.iter().any(|(name, _)| *name == old.wire);
            if after.field(&old.wire).is_none() && !is_renamed {
                self.member_removed(old, after.open);
            }
        }
        self.openness(before.open, after.open);
        self.order(before, after);
        self.composition(before, after);
    }

    /// Members that are only there on one side and fit each other and no third one.
    fn renamed_members(&self, before: &Object, after: &Object) -> Vec<(String, String)> {
        let gone: Vec<_> = before.fields.iter().filter(|field| after.field(&field.wire).is_none()).collect();
        let come: Vec<_> = after.fields.iter().filter(|field| before.field(&field.wire).is_none()).collect();
        let fits = |old: &Field, new: &Field| {
            old.presence == new.presence && self.same_content(&old.content, &new.content) && is_telling(&old.content)
        };
        let mut pairs = Vec::new();
        for old in &gone {
            let fitting: Vec<_> = come.iter().filter(|new| fits(old, new)).collect();
            if let [new] = fitting[..]
                && gone.iter().filter(|other| fits(other, new)).count() == 1
            {
                pairs.push((old.wire.clone(), new.wire.clone()));
            }
        }
        pairs
    }

    fn same_content(&self, old: &Content, new: &Content) -> bool {
        match (old, new) {
            (Content::Typed(old), Content::Typed(new)) => renamed_type(old, self.context.names) == *new,
            _ => old == new,
        }
    }

    fn member_added(&mut self, new: &Field, was_open: bool) {
        let readers = if was_open { Ok } else { Breaks };
        let (kind, writers, rust) = match (new.presence.is_required(), &new.content) {
            (false, _) => (Kind::OptionalMemberAdded, Ok, Ok),
            // A constant is no field of the emitted type, and nobody passes it.
            (true, Content::Typed(_)) => (Kind::RequiredMemberAdded, Breaks, Breaks),
            (true, _) => (Kind::RequiredMemberAdded, Breaks, Ok),
        };
        let shown = render::field(new);
        self.push(&place(&new.wire), kind, None, Some(shown), Impact::new(readers, writers, rust));
    }

    /// A new reader passes over what an old writer still says; whether that loses anything is not in the schema.
    fn member_removed(&mut self, old: &Field, is_open: bool) {
        let readers = if old.presence.is_required() { Breaks } else { Ok };
        let writers = if is_open { Unknown } else { Breaks };
        let shown = render::field(old);
        self.push(&place(&old.wire), Kind::MemberRemoved, Some(shown), None, Impact::new(readers, writers, Breaks));
    }

    fn member_renamed(&mut self, old: &Field, new: &Field, was_open: bool, is_open: bool) {
        // What may be left out reads as left out; what was said under the other name is lost, or not allowed.
        let wire = |open: bool| if open && !new.presence.is_required() { Unknown } else { Breaks };
        let (before, after) = (format!("`{}`", old.wire), format!("`{}`", new.wire));
        let impact = Impact::new(wire(was_open), wire(is_open), Breaks);
        self.push(&place(&new.wire), Kind::MemberRenamed, Some(before), Some(after), impact);
    }

    fn member(&mut self, old: &Field, new: &Field) {
        self.presence(old, new);
        if !self.same_content(&old.content, &new.content) {
            self.content(old, new);
        }
        if old.docs != new.docs && old.docs.is_some() && new.docs.is_some() {
            let impact = Impact::new(Ok, Ok, Ok);
            self.push(&place(&new.wire), Kind::WordsChanged, old.docs.clone(), new.docs.clone(), impact);
        }
    }

    fn presence(&mut self, old: &Field, new: &Field) {
        let shown = |field: &Field| Some(render::presence(field.presence).to_owned());
        let (before, after) = (shown(old), shown(new));
        let place = place(&new.wire);
        match (old.presence.is_required(), new.presence.is_required()) {
            (false, true) => {
                let impact = Impact::new(Ok, Breaks, Breaks);
                self.push(&place, Kind::BecameRequired, before.clone(), after.clone(), impact);
            }
            (true, false) => {
                let impact = Impact::new(Breaks, Ok, Breaks);
                self.push(&place, Kind::BecameOptional, before.clone(), after.clone(), impact);
            }
            _ => {}
        }
        match (old.presence.is_nullable(), new.presence.is_nullable()) {
            (false, true) => {
                self.push(&place, Kind::BecameNullable, before, after, Impact::new(Breaks, Ok, Breaks));
            }
            (true, false) => {
                self.push(&place, Kind::BecameNotNull, before, after, Impact::new(Ok, Breaks, Breaks));
            }
            _ => {}
        }
    }

    fn content(&mut self, old: &Field, new: &Field) {
        let readers = self.context.backward().contents(&new.content, &old.content).verdict();
        let writers = self.context.forward().contents(&old.content, &new.content).verdict();
        // The emitted type has no field for a constant, unless it is a text that may be left out.
        let (kind, rust) = match (&old.content, &new.content) {
            (Content::Constant(_), Content::Constant(_))
            | (Content::ConstantInteger(_), Content::ConstantInteger(_)) => (Kind::ConstantChanged, Ok),
            (Content::Typed(_), _) | (_, Content::Typed(_)) => (kind_of(readers, writers), Breaks),
            _ => (Kind::ConstantChanged, Breaks),
        };
        let (before, after) = (Some(render::content(&old.content)), Some(render::content(&new.content)));
        self.push(&place(&new.wire), kind, before, after, Impact::new(readers, writers, rust));
    }

    fn openness(&mut self, before: bool, after: bool) {
        let shown = |open: bool| Some(open.to_string());
        let place = "/additionalProperties";
        match (before, after) {
            (false, true) => {
                self.push(place, Kind::Opened, shown(before), shown(after), Impact::new(Breaks, Ok, Unknown));
            }
            (true, false) => {
                self.push(place, Kind::Closed, shown(before), shown(after), Impact::new(Ok, Breaks, Unknown));
            }
            _ => {}
        }
    }

    /// The emitted constructor takes what must be there in the order of the schema.
    fn order(&mut self, before: &Object, after: &Object) {
        let is_passed = |field: &&Field| field.presence.is_required() && matches!(field.content, Content::Typed(_));
        let passed = |object: &Object, other: &Object| -> Vec<String> {
            let fields = object.fields.iter().filter(is_passed);
            fields.filter(|field| other.field(&field.wire).is_some()).map(|field| field.wire.clone()).collect()
        };
        let (old, new) = (passed(before, after), passed(after, before));
        let same_set = old.len() == new.len() && old.iter().all(|name| new.contains(name));
        if same_set && old != new {
            let impact = Impact::new(Ok, Ok, Breaks);
            self.push("/required", Kind::OrderChanged, Some(old.join(", ")), Some(new.join(", ")), impact);
        }
    }

    fn composition(&mut self, before: &Object, after: &Object) {
        let names = self.context.names;
        let old: Vec<_> = before.bases.iter().map(|base| names.new_of(base).unwrap_or(base).to_owned()).collect();
        if old != after.bases {
            let shown = |bases: &[String]| Some(if bases.is_empty() { "nothing".to_owned() } else { bases.join(", ") });
            // Only some bases have a conversion in Rust; the overlay decides.
            let impact = Impact::new(Ok, Ok, Unknown);
            self.push("/allOf", Kind::CompositionChanged, shown(&before.bases), shown(&after.bases), impact);
        }
    }
}

/// Whether two members of this content are likely to be the same one.
fn is_telling(content: &Content) -> bool {
    matches!(content, Content::Typed(crate::ir::Type::Named(_)))
}

fn place(wire: &str) -> String {
    format!("/properties/{}", escape(wire))
}
