//! `deviations.toml`: where the accounts differ on purpose. What is listed and does not occur is a fault.

use crate::source::line;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The checked-in list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviations {
    pub shape: Vec<ShapeRule>,
    pub verdict: Vec<VerdictRule>,
    pub refusal: Vec<RefusalRule>,
}

/// A difference between our shapes and the published ones.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeRule {
    /// `Definition` or `Definition.member`, with `*` for any text.
    at: Vec<String>,
    ours: String,
    published: String,
    why: String,
    #[serde(skip)]
    used: Used,
}

/// A kind of message that is not judged alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRule {
    rule: String,
    /// The place that was changed, as `walk::Place::at` names it, with `*` for any text.
    at: Vec<String>,
    /// Definitions of which one has to be around that place; none if it does not matter.
    #[serde(default)]
    within: Vec<String>,
    /// What was changed; `none` for a message as it is.
    mutation: Vec<String>,
    /// Who accepts it.
    accepts: BTreeSet<String>,
    why: String,
    #[serde(skip)]
    used: Used,
}

/// Published examples that exported schemas refuse.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalRule {
    /// The definitions.
    at: Vec<String>,
    /// The name of the example, or `SEP-2663`.
    example: String,
    /// The flavours that refuse.
    by: BTreeSet<String>,
    why: String,
    #[serde(skip)]
    used: Used,
}

/// A disagreement about one message.
pub struct Disagreement<'a> {
    pub at: &'a str,
    pub within: &'a [String],
    pub mutation: &'a str,
    /// The judges that have an opinion.
    pub judges: BTreeSet<&'a str>,
    /// Those of them that accept.
    pub accepts: BTreeSet<&'a str>,
}

impl Deviations {
    pub fn load() -> Result<Self, Vec<String>> {
        let deviations: Self = toml::from_str(include_str!("../deviations.toml")).map_err(line)?;
        let reasons = (deviations.shape.iter().map(|rule| &rule.why))
            .chain(deviations.verdict.iter().map(|rule| &rule.why))
            .chain(deviations.refusal.iter().map(|rule| &rule.why));
        let unexplained = reasons.filter(|why| why.is_empty()).count();
        if unexplained > 0 {
            Err(vec![format!("deviations.toml: {unexplained} entries without a reason")])
        } else {
            Ok(deviations)
        }
    }

    /// Whether a difference of shapes is listed.
    pub fn lists_shape(&self, at: &str, ours: &str, published: &str) -> bool {
        let fitting = self.shape.iter().filter(|rule| rule.ours == ours && rule.published == published);
        // Not `any`: every entry that fits is in use.
        fitting.filter(|rule| rule.used.note(&rule.at, |pattern| matches(pattern, at))).count() > 0
    }

    /// Whether a disagreement is listed.
    pub fn lists_verdict(&self, disagreement: &Disagreement) -> bool {
        self.verdict.iter().filter(|rule| rule.covers(disagreement)).count() > 0
    }

    /// Whether it is listed that just these flavours refuse an example.
    pub fn lists_refusal(&self, definition: &str, example: &str, by: &BTreeSet<&str>) -> bool {
        let fitting = self.refusal.iter().filter(|rule| rule.example == example && rule.by.iter().eq(by));
        fitting.filter(|rule| rule.used.note(&rule.at, |name| name == definition)).count() > 0
    }

    /// The entries, or parts of them, that no difference of shapes needed.
    pub fn stale_shapes(&self) -> Vec<String> {
        let stale = |rule: &ShapeRule| rule.used.missing(&rule.at);
        self.shape.iter().flat_map(stale).map(|part| format!("no longer needed: shape deviation at {part}")).collect()
    }

    /// The entries, or parts of them, that no disagreement needed.
    pub fn stale_verdicts(&self) -> Vec<String> {
        let stale = |rule: &VerdictRule| -> Vec<String> {
            let parts = [&rule.at, &rule.within, &rule.mutation].into_iter().flat_map(|parts| rule.used.missing(parts));
            parts.map(|part| format!("no longer needed: {part} in verdict deviation {}", rule.rule)).collect()
        };
        self.verdict.iter().flat_map(stale).collect()
    }

    /// The entries, or parts of them, that no refusal needed.
    pub fn stale_refusals(&self) -> Vec<String> {
        let stale = |rule: &RefusalRule| -> Vec<String> {
            let missing = rule.used.missing(&rule.at).into_iter();
            missing.map(|at| format!("no longer needed: refusal of {at} in {}", rule.example)).collect()
        };
        self.refusal.iter().flat_map(stale).collect()
    }
}

impl VerdictRule {
    fn covers(&self, disagreement: &Disagreement) -> bool {
        let accepts: BTreeSet<_> =
            self.accepts.iter().map(String::as_str).filter(|name| disagreement.judges.contains(name)).collect();
        let is_within = |name: &String| disagreement.within.contains(name);
        let fits = accepts == disagreement.accepts
            && self.mutation.iter().any(|mutation| mutation == disagreement.mutation)
            && self.at.iter().any(|pattern| matches(pattern, disagreement.at))
            && (self.within.is_empty() || self.within.iter().any(is_within));
        if fits {
            self.used.note(&self.at, |pattern| matches(pattern, disagreement.at));
            self.used.note(&self.within, |name| disagreement.within.iter().any(|outer| outer == name));
            self.used.note(&self.mutation, |mutation| mutation == disagreement.mutation);
        }
        fits
    }
}

/// The parts of an entry that were needed.
#[derive(Default)]
struct Used(RefCell<BTreeSet<String>>);

impl Used {
    /// Notes the parts that fit, and tells whether there were any.
    fn note(&self, parts: &[String], fits: impl Fn(&str) -> bool) -> bool {
        let fitting: Vec<_> = parts.iter().filter(|part| fits(part)).cloned().collect();
        let any = !fitting.is_empty();
        self.0.borrow_mut().extend(fitting);
        any
    }

    fn missing(&self, parts: &[String]) -> Vec<String> {
        parts.iter().filter(|part| !self.0.borrow().contains(*part)).cloned().collect()
    }
}

/// Whether a text fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => match text.strip_prefix(start) {
            Some(tail) => (0..=tail.len()).filter_map(|cut| tail.get(cut..)).any(|tail| matches(rest, tail)),
            None => false,
        },
    }
}
