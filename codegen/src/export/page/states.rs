//! `states.json`: the state machine of a task as a table.

use super::sources::Read;
use crate::error::Problems;
use crate::ir::{Enum, Revision, Shape};
use indexmap::IndexMap;
use serde::Deserialize;
use std::collections::BTreeSet;

/// The states of a task, and what leads from one to the next.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    /// The definition whose values the states are.
    of: String,
    /// The state in which a task begins.
    pub(super) initial: String,
    /// What makes a task change, a word and a sentence each.
    pub(super) causes: IndexMap<String, String>,
    /// Each pair of states once.
    pub(super) transitions: Vec<Change>,
}

/// From one state to another.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) from: String,
    pub(super) to: String,
    /// The words of the causes.
    pub(super) by: Vec<String>,
}

impl Machine {
    /// The states that something leads out of, in the order of the table.
    pub(super) fn open(&self) -> Vec<&str> {
        once(self.transitions.iter().map(|change| change.from.as_str()))
    }

    /// The states that nothing leads out of, in the order of the table.
    pub(super) fn ends(&self) -> Vec<&str> {
        let open = self.open();
        once(self.transitions.iter().map(|change| change.to.as_str()).filter(|to| !open.contains(to)))
    }

    fn states(&self) -> impl Iterator<Item = &str> {
        self.open().into_iter().chain(self.ends())
    }
}

fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

impl Read<Machine> {
    /// Checks that the states are the statuses, and the causes those that are named.
    pub(super) fn check(&self, revision: &Revision, problems: &mut Problems) {
        let of = &self.value.of;
        let Some(Shape::Enum(Enum { values: statuses })) = revision.get(of).map(|definition| &definition.shape) else {
            return problems.push(self.problem("/of", format!("there is no list of states `{of}`")));
        };
        let mut state = |pointer: String, name: &String| {
            if !statuses.contains(name) {
                let help = format!("these are: {}", statuses.join(", "));
                problems.push(self.problem(pointer, format!("`{name}` is no {of}")).help(help));
            }
        };
        state("/initial".to_owned(), &self.value.initial);
        for (index, change) in self.value.transitions.iter().enumerate() {
            state(format!("/transitions/{index}/from"), &change.from);
            state(format!("/transitions/{index}/to"), &change.to);
        }
        for status in statuses.iter().filter(|status| self.value.states().all(|state| state != *status)) {
            problems.push(self.problem("/transitions", format!("nothing is said of `{status}`")));
        }
        self.check_causes(problems);
        self.check_pairs(problems);
        if self.value.open().len() != 2 {
            problems.push(self.problem("/transitions", "the drawing has room for two states that are no end"));
        }
    }

    fn check_causes(&self, problems: &mut Problems) {
        let mut used = BTreeSet::new();
        for (index, change) in self.value.transitions.iter().enumerate() {
            for (place, cause) in change.by.iter().enumerate() {
                used.insert(cause);
                if !self.value.causes.contains_key(cause) {
                    let pointer = format!("/transitions/{index}/by/{place}");
                    problems.push(self.problem(pointer, format!("there is no cause `{cause}`")));
                }
            }
        }
        for cause in self.value.causes.keys().filter(|cause| !used.contains(cause)) {
            problems.push(self.problem(format!("/causes/{cause}"), "it causes nothing"));
        }
    }

    fn check_pairs(&self, problems: &mut Problems) {
        let mut seen = BTreeSet::new();
        for (index, change) in self.value.transitions.iter().enumerate() {
            if !seen.insert((&change.from, &change.to)) {
                problems.push(self.problem(format!("/transitions/{index}"), "the pair stands in the table already"));
            }
        }
    }
}
