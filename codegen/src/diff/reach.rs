//! How far a change goes: to every definition that refers to the changed one, however far away.

use super::names::references;
use super::{Affected, Change, Context, Impact, Verdict};
use crate::ir::Revision;
use std::collections::{BTreeMap, BTreeSet};

/// For each definition that is in both revisions and not untouched, by its new name.
pub(super) fn affected(context: &Context<'_>, changes: &[Change]) -> BTreeMap<String, Affected> {
    let mut own: BTreeMap<&str, Impact> = BTreeMap::new();
    for change in changes {
        let impact = own.entry(&change.definition).or_default();
        *impact = impact.and(change.impact);
    }
    let mut all = BTreeMap::new();
    for definition in context.new.definitions() {
        let Some(old) = context.names.old_of(&definition.name) else { continue };
        let mut names = reached(context.new, &definition.name);
        let old_names = reached(context.old, old);
        names.extend(old_names.iter().map(|name| context.names.new_of(name).unwrap_or(name).to_owned()));
        // Added and removed definitions count where they stand in a shape, not by themselves.
        let shared = names.iter().filter(|name| context.names.old_of(name).is_some());
        let causes: Vec<_> = shared.filter_map(|name| Some((name, *own.get(name.as_str())?))).collect();
        let impact = causes.iter().fold(Impact::default(), |worst, (_, cause)| worst.and(*cause));
        if impact != Impact::default() {
            let mine = own.get(definition.name.as_str()).copied().unwrap_or_default();
            let by = causes.into_iter().filter(|(_, cause)| decides(*cause, mine, impact));
            let by = by.map(|(name, _)| name.clone()).collect();
            all.insert(definition.name.clone(), Affected { impact, by });
        }
    }
    all
}

/// Whether a cause is as bad as the whole and worse than a definition's own changes, for anyone.
fn decides(cause: Impact, own: Impact, whole: Impact) -> bool {
    let for_one = |of: fn(Impact) -> Verdict| of(cause) == of(whole) && of(cause) > of(own);
    for_one(|impact| impact.readers) || for_one(|impact| impact.writers) || for_one(|impact| impact.rust)
}

/// A definition and all that it refers to.
pub(super) fn reached(revision: &Revision, name: &str) -> BTreeSet<String> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = next.pop() {
        if let Some(definition) = revision.get(&name)
            && seen.insert(name)
        {
            next.extend(references(&definition.shape));
        }
    }
    seen
}

/// All that refer to a definition, however far away. It is one of them if it refers to itself.
pub(super) fn reaching(revision: &Revision, name: &str) -> BTreeSet<String> {
    let named: Vec<_> = revision.definitions().map(|other| (&other.name, references(&other.shape))).collect();
    let (mut seen, mut next) = (BTreeSet::new(), vec![name.to_owned()]);
    while let Some(name) = next.pop() {
        for (other, _) in named.iter().filter(|(_, named)| named.contains(&name)) {
            if seen.insert((*other).clone()) {
                next.push((*other).clone());
            }
        }
    }
    seen
}
