//! What follows from which type holds which: where a box is needed, and which types have the payload's parameter.

use crate::ir::{Content, Revision, Shape, Type};
use crate::overlay::Settings;
use std::collections::{BTreeMap, BTreeSet};

/// The references between the definitions of a revision.
pub(super) struct Graph {
    /// References that lie in the value itself, not behind a list or a map.
    direct: BTreeMap<String, BTreeSet<String>>,
    /// Definitions with a payload in them, however deep.
    generic: BTreeSet<String>,
}

impl Graph {
    pub(super) fn of(revision: &Revision, settings: &Settings) -> Self {
        let mut direct = BTreeMap::new();
        let mut every = BTreeMap::new();
        for definition in revision.definitions() {
            let mut within = References::default();
            within.shape(&definition.shape);
            every.insert(definition.name.clone(), &within.direct | &within.behind);
            direct.insert(definition.name.clone(), within.direct);
        }
        let generic = with_payload(revision, settings, &every);
        Self { direct, generic }
    }

    /// Whether a member of `holder` with this type has to be boxed, because the type would hold itself.
    pub(super) fn is_circular(&self, holder: &str, target: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![target];
        while let Some(name) = next.pop() {
            if name == holder {
                return true;
            }
            if seen.insert(name) {
                next.extend(self.direct.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }

    /// Whether the type has the payload's form as a parameter.
    pub(super) fn is_generic(&self, name: &str) -> bool {
        self.generic.contains(name)
    }
}

fn with_payload(
    revision: &Revision,
    settings: &Settings,
    references: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<String> {
    let mut generic = BTreeSet::new();
    for definition in revision.definitions() {
        let Shape::Object(object) = &definition.shape else { continue };
        let is_payload = |origin: &str, wire: &str| settings.payloads.contains(&format!("{origin}.{wire}"));
        if object.fields.iter().any(|field| is_payload(&field.origin, &field.wire)) {
            generic.insert(definition.name.clone());
        }
    }
    loop {
        let more = references.iter().filter(|(name, targets)| {
            !generic.contains(*name) && targets.iter().any(|target| generic.contains(target))
        });
        let more: Vec<_> = more.map(|(name, _)| name.clone()).collect();
        if more.is_empty() {
            return generic;
        }
        generic.extend(more);
    }
}

#[derive(Default)]
struct References {
    direct: BTreeSet<String>,
    behind: BTreeSet<String>,
}

impl References {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Object(object) => {
                for field in &object.fields {
                    if let Content::Typed(value) = &field.content {
                        self.value(value, true);
                    }
                }
            }
            Shape::Tagged(tagged) => self.direct.extend(tagged.arms.iter().map(|arm| arm.target.clone())),
            Shape::Choice(choice) => choice.arms.iter().for_each(|arm| self.value(arm, true)),
            Shape::Map(map) => self.value(&map.value, false),
            Shape::List(list) => self.value(&list.item, false),
            Shape::Alias(target) => self.value(target, true),
            Shape::Enum(_) | Shape::Scalar(_) => {}
        }
    }

    fn value(&mut self, value: &Type, direct: bool) {
        match value {
            Type::Named(name) if direct => _ = self.direct.insert(name.clone()),
            Type::Named(name) => _ = self.behind.insert(name.clone()),
            Type::List(item) => self.value(item, false),
            Type::Nullable(value) => self.value(value, direct),
            _ => {}
        }
    }
}
