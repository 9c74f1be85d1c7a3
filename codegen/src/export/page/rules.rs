//! `rules.toml`: the requirements, a sentence each, and what they are about.

use super::citations::Citations;
use super::sources::Read;
use super::subject::Subjects;
use crate::error::Problems;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The requirements by ID.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rulebook {
    /// What the letters before the number stand for.
    pub(super) area: BTreeMap<String, String>,
    /// The rules.
    pub(super) rule: BTreeMap<String, Rule>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) strength: Strength,
    /// The requirement in a sentence or two.
    pub(super) says: String,
    /// Definitions, methods, or [`EXCHANGE`], besides the definitions that cite it.
    #[serde(default)]
    pub(super) about: Vec<String>,
    /// Why no conversation shows it.
    pub(super) unseen: Option<String>,
}

/// How much it binds: a word of the specification, or ours.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) enum Strength {
    #[serde(rename = "MUST")]
    Must,
    #[serde(rename = "SHOULD")]
    Should,
    #[serde(rename = "MAY")]
    May,
    #[serde(rename = "own")]
    Own,
}

impl Strength {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
            Self::Own => "own",
        }
    }
}

/// What a rule is about that concerns more than one message.
pub(super) const EXCHANGE: &str = "exchange";

impl Read<Rulebook> {
    /// Checks that each rule stands in an area, and is found from somewhere and only by one way.
    pub(super) fn check(&self, subjects: &Subjects<'_>, citations: &Citations, problems: &mut Problems) {
        for (id, rule) in &self.value.rule {
            let pointer = format!("/rule/{id}");
            if !self.value.area.contains_key(area_of(id)) {
                problems.push(self.problem(&pointer, format!("there is no area `{}`", area_of(id))));
            }
            for (index, subject) in rule.about.iter().enumerate().filter(|(_, subject)| *subject != EXCHANGE) {
                let pointer = format!("{pointer}/about/{index}");
                match subjects.find(subject) {
                    None => {
                        let help = format!("name a definition, a method, or \"{EXCHANGE}\"");
                        problems.push(self.problem(pointer, format!("there is no `{subject}`")).help(help));
                    }
                    Some(name) if citations.definitions(id).any(|citing| citing == name) => {
                        let said = format!("the description of `{name}` cites {id} already");
                        problems.push(self.problem(pointer, said).help("leave it out here"));
                    }
                    Some(_) => (),
                }
            }
            if rule.about.is_empty() && citations.definitions(id).next().is_none() {
                let help = "cite it in a description, or say here what it is `about`";
                problems.push(self.problem(pointer, "the rule is about nothing").help(help));
            }
        }
        for area in self.value.area.keys().filter(|area| self.value.of_area(area).next().is_none()) {
            problems.push(self.problem(format!("/area/{area}"), "the area has no rule"));
        }
    }
}

impl Rulebook {
    /// The rules of an area.
    pub(super) fn of_area<'a>(&'a self, area: &'a str) -> impl Iterator<Item = (&'a String, &'a Rule)> {
        self.rule.iter().filter(move |(id, _)| area_of(id) == area)
    }
}

fn area_of(id: &str) -> &str {
    id.split_once('-').map_or(id, |(area, _)| area)
}
