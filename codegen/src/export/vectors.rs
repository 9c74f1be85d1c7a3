//! Messages to test with: for every definition valid ones and, each rule broken once, invalid ones; and those that were
//! written by hand. `vectors/README.md` describes the format.

mod broken;
mod sample;

use super::bundle::origin;
use super::flat::Definitions;
use super::intent::Rules;
use super::judge::Judge;
use super::{walk, words};
use crate::emit::OutputFile;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use sample::{Sampler, Size};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A message written by hand. Its verdicts are what a person says; where the schemas differ, nothing is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// What comes after the definition in the vector's id.
    pub id: String,
    /// The definition it is meant to be.
    pub definition: String,
    /// The requirements it belongs to.
    pub requirements: Vec<String>,
    /// What is special about it, in a sentence.
    pub why: String,
    /// Whether one may write it.
    pub strict: bool,
    /// Whether one should read it.
    pub tolerant: bool,
    /// The message.
    pub message: Value,
}

/// Reads the messages written by hand, and says in which file they are; without the file there are none.
pub(super) fn load(path: &Path) -> Result<(String, Vec<Written>), Error> {
    if !path.exists() {
        return Ok(Default::default());
    }
    let (file, text) = super::intent::read(path)?;
    let messages = serde_json::from_str(&text);
    let messages = messages.map_err(|error| Problem::new(&file, "", format!("no vectors: {error}")))?;
    Ok((file, messages))
}

/// A test vector. The members stand in this order.
#[derive(Serialize)]
struct Vector<'a> {
    id: String,
    definition: &'a str,
    requirements: Vec<String>,
    why: String,
    strict: bool,
    tolerant: bool,
    message: Value,
}

/// A message with what is special about it.
struct Case {
    rule: String,
    why: String,
    /// The member that is about, where it is one.
    member: Option<String>,
    message: Value,
}

impl Case {
    fn new(rule: impl Into<String>, why: impl Into<String>, message: Value) -> Self {
        Self { rule: rule.into(), why: why.into(), member: None, message }
    }
}

/// The vectors of one revision.
pub(super) struct Vectors {
    /// All of them, one a line.
    pub(super) file: OutputFile,
    /// The ids of those that must not be written.
    pub(super) invalid: BTreeSet<String>,
}

/// Makes the vectors of one revision.
pub(super) fn of(
    revision: &Revision,
    rules: &Rules,
    strict: &Definitions,
    tolerant: &Definitions,
) -> Result<Vectors, Error> {
    let maker = Maker { revision, rules, strict, tolerant };
    let mut problems = Problems::default();
    let mut all: Vec<Vector<'_>> = strict.keys().flat_map(|name| maker.vectors(name)).collect();
    let written = rules.messages.iter().enumerate();
    let written = written.map(|(place, written)| maker.written(place, written).map_err(Error::from));
    all.extend(written.filter_map(|vector| problems.take(vector)));
    let lines: Vec<String> = all.iter().map(|vector| serde_json::to_string(vector).unwrap_or_default()).collect();
    let head = json!({"$comment": origin(&revision.name), "format": 1, "revision": revision.name});
    let head = head.to_string();
    let text = format!("{},\"vectors\":[\n{}\n]}}\n", head.trim_end_matches('}'), lines.join(",\n"));
    let file = OutputFile::new(format!("vectors/{}/messages.json", revision.name), text);
    let invalid = all.into_iter().filter(|vector| !vector.strict).map(|vector| vector.id).collect();
    problems.finish(Vectors { file, invalid })
}

struct Maker<'a> {
    revision: &'a Revision,
    rules: &'a Rules,
    strict: &'a Definitions,
    tolerant: &'a Definitions,
}

impl<'a> Maker<'a> {
    fn vectors(&self, name: &'a str) -> Vec<Vector<'a>> {
        let mut seen = BTreeSet::new();
        let cases = self.cases(name).into_iter().filter(|case| seen.insert(case.rule.clone()));
        cases.map(|case| self.vector(name, case)).collect()
    }

    fn cases(&self, name: &str) -> Vec<Case> {
        let schema = &self.strict[name];
        if let Some(arms) = schema.get("oneOf").and_then(Value::as_array) {
            return arms.iter().filter_map(walk::target).flat_map(|arm| self.cases_of_arm(name, arm)).collect();
        }
        let sampler = Sampler(self.strict);
        let judge = Judge(self.strict);
        let (smallest, fullest) = (sampler.named(name, Size::Smallest), sampler.named(name, Size::Fullest));
        let mut cases = vec![
            Case::new("smallest", "all that is required, and no more", smallest.clone()),
            Case::new("fullest", "every member that has a name", fullest.clone()),
        ];
        cases.extend(broken::valid_edges(schema, &fullest, judge));
        let broken = broken::cases(schema, &smallest, &fullest, judge);
        cases.extend(broken.into_iter().filter(|case| !judge.accepts(name, &case.message)));
        cases.retain(|case| case.rule == "is-null" || !case.message.is_null() || judge.accepts(name, &Value::Null));
        cases
    }

    /// What holds for an arm holds for the union, and what breaks an arm breaks the union, unless it makes another arm.
    fn cases_of_arm(&self, union: &str, arm: &str) -> Vec<Case> {
        let judge = Judge(self.strict);
        let same = |case: &Case| judge.accepts(union, &case.message) == judge.accepts(arm, &case.message);
        let renamed = |case: Case| Case { rule: format!("{arm}/{}", case.rule), ..case };
        self.cases(arm).into_iter().filter(same).map(renamed).collect()
    }

    fn vector(&self, name: &'a str, case: Case) -> Vector<'a> {
        let requirements = case.member.as_ref().and_then(|member| self.rules.requirements.get(member).cloned());
        Vector {
            id: format!("{name}/{}", case.rule),
            definition: name,
            requirements: requirements.unwrap_or_else(|| self.requirements(name)),
            why: case.why,
            strict: Judge(self.strict).accepts(name, &case.message),
            tolerant: Judge(self.tolerant).accepts(name, &case.message),
            message: case.message,
        }
    }

    fn written(&self, place: usize, written: &'a Written) -> Result<Vector<'a>, Problem> {
        let case = Case::new(&written.id, &written.why, written.message.clone());
        let vector = Vector { requirements: written.requirements.clone(), ..self.vector(&written.definition, case) };
        if (vector.strict, vector.tolerant) == (written.strict, written.tolerant) {
            return Ok(vector);
        }
        let said = format!("the schemas say strict {} and tolerant {}", vector.strict, vector.tolerant);
        Err(Problem::new(&self.rules.messages_file, format!("/{place}"), said).help("mend the vector, or the schema"))
    }

    /// The requirements that a definition's description cites.
    fn requirements(&self, name: &str) -> Vec<String> {
        let definition = self.revision.get(name);
        definition.iter().flat_map(|it| words::requirements(&it.docs)).map(str::to_owned).collect()
    }
}
