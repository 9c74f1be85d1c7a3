//! The values of an enum and the arms of a union.

use super::definitions::kind_of;
use super::names::renamed_type;
use super::render;
use super::{Impact, Kind, Pair, Verdict};
use crate::ir::{Tagged, Type};
use Verdict::{Breaks, Ok, Unknown};
use std::collections::BTreeSet;

impl Pair<'_> {
    pub(super) fn values(&mut self, before: &[String], after: &[String]) {
        let is_open = self.context.settings.open_enums.contains(&self.before.name);
        for value in after.iter().filter(|value| !before.contains(value)) {
            // A closed enum is matched without an arm for what may come.
            let verdict = if is_open { Ok } else { Breaks };
            let shown = Some(format!("`{value}`{}", if is_open { ", open enum" } else { "" }));
            self.push("/enum", Kind::ValueAdded, None, shown, Impact::new(verdict, Ok, verdict));
        }
        for value in before.iter().filter(|value| !after.contains(value)) {
            let impact = Impact::new(Ok, Breaks, Breaks);
            self.push("/enum", Kind::ValueRemoved, Some(format!("`{value}`")), None, impact);
        }
    }

    pub(super) fn tagged(&mut self, before: &Tagged, after: &Tagged) {
        if before.tag != after.tag {
            let (old, new) = (Some(format!("`{}`", before.tag)), Some(format!("`{}`", after.tag)));
            self.push("/oneOf", Kind::DiscriminatorMoved, old, new, Impact::new(Breaks, Breaks, Breaks));
            return;
        }
        let is_open = self.context.settings.open_unions.contains(&self.before.name);
        let rust = if is_named_by_value(before) && is_named_by_value(after) { Ok } else { Unknown };
        for arm in &after.arms {
            let shown = |target: &str| Some(format!("`{}`: {target}", arm.value));
            match before.arms.iter().find(|old| old.value == arm.value) {
                Some(old) if self.context.names.new_of(&old.target) == Some(&arm.target) => {}
                Some(old) => {
                    let (a, b) = (Type::Named(old.target.clone()), Type::Named(arm.target.clone()));
                    self.arm_changed(&a, &b, shown(&old.target), shown(&arm.target));
                }
                None => {
                    let readers = if is_open { Ok } else { Breaks };
                    self.push("/oneOf", Kind::ArmAdded, None, shown(&arm.target), Impact::new(readers, Ok, rust));
                }
            }
        }
        for arm in before.arms.iter().filter(|arm| after.arms.iter().all(|new| new.value != arm.value)) {
            let shown = Some(format!("`{}`: {}", arm.value, arm.target));
            self.push("/oneOf", Kind::ArmRemoved, shown, None, Impact::new(Ok, Breaks, Breaks));
        }
        if before.absent != after.absent {
            let shown = |name: &Option<String>| Some(name.clone().unwrap_or_else(|| "none".to_owned()));
            let impact = Impact::new(Unknown, Unknown, Unknown);
            self.push("/oneOf", Kind::DefaultArmChanged, shown(&before.absent), shown(&after.absent), impact);
        }
    }

    fn arm_changed(&mut self, old: &Type, new: &Type, before: Option<String>, after: Option<String>) {
        let readers = self.context.backward().types(new, old).verdict();
        let writers = self.context.forward().types(old, new).verdict();
        self.push("/oneOf", kind_of(readers, writers), before, after, Impact::new(readers, writers, Breaks));
    }

    pub(super) fn choices(&mut self, before: &[Type], after: &[Type]) {
        let names = self.context.names;
        let old: Vec<_> = before.iter().map(|arm| renamed_type(arm, names)).collect();
        for arm in after.iter().filter(|arm| !old.contains(arm)) {
            let readers = self.context.backward().in_union(arm, before).verdict();
            let shown = Some(render::of(arm));
            let rust = if may_rename_variants(before, arm) { Unknown } else { Ok };
            self.push("/anyOf", Kind::ArmAdded, None, shown, Impact::new(readers, Ok, rust));
        }
        for (arm, _) in before.iter().zip(&old).filter(|(_, renamed)| !after.contains(renamed)) {
            let writers = self.context.forward().in_union(arm, after).verdict();
            let shown = Some(render::of(arm));
            self.push("/anyOf", Kind::ArmRemoved, shown, None, Impact::new(Ok, writers, Breaks));
        }
    }
}

/// Whether an arm more may give the others other names: variants leave out the words that all definitions among the arms
/// end with.
fn may_rename_variants(before: &[Type], added: &Type) -> bool {
    let is_named = |arm: &Type| matches!(arm, Type::Named(_));
    is_named(added) && before.iter().any(is_named)
}

/// Whether the variants are sure to be named by the values of the tag: all of them are plain words, and no two alike.
fn is_named_by_value(union: &Tagged) -> bool {
    let mut seen = BTreeSet::new();
    union.arms.iter().all(|arm| {
        let letters: String = arm.value.chars().filter(char::is_ascii_alphanumeric).collect();
        let letters = letters.to_ascii_lowercase();
        let is_plain = arm.value.chars().all(|char| char.is_ascii_alphanumeric() || "_-/".contains(char));
        is_plain
            && arm.value.starts_with(|char: char| char.is_ascii_alphabetic())
            && letters != "self"
            && seen.insert(letters)
    })
}
