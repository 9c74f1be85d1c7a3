//! Messages to test with: for every definition valid ones and, each rule broken once, invalid ones; and those that were
//! written by hand. `vectors/README.md` describes the format.

mod bounds;
mod broken;
mod finite;
mod sample;

use super::bundle::origin;
use super::intent::Rules;
use super::judge::Judge;
use super::{flat, read, walk, words};
use crate::emit::OutputFile;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use broken::Subject;
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
    let Some((file, text)) = read::text_if_there(path)? else { return Ok(Default::default()) };
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
#[derive(Clone)]
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
pub(super) fn of(revision: &Revision, rules: &Rules, strict: Judge<'_>, tolerant: Judge<'_>) -> Result<Vectors, Error> {
    let sampler = Sampler::of(strict.definitions(), revision)?;
    let maker = Maker { revision, rules, strict, tolerant, sampler };
    let mut problems = Problems::default();
    let mut all: Vec<Vector<'_>> = maker.made(&mut problems);
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
    strict: Judge<'a>,
    tolerant: Judge<'a>,
    sampler: Sampler<'a>,
}

impl<'a> Maker<'a> {
    /// The vectors of all definitions.
    fn made(&self, problems: &mut Problems) -> Vec<Vector<'a>> {
        let names = self.strict.definitions().keys();
        names.filter_map(|name| problems.take(self.vectors(name))).flatten().collect()
    }

    fn vectors(&self, name: &'a str) -> Result<Vec<Vector<'a>>, Error> {
        let mut seen = BTreeSet::new();
        let cases = self.cases(name)?.into_iter().filter(|case| seen.insert(case.rule.clone()));
        Ok(cases.map(|case| self.vector(name, case)).collect())
    }

    fn cases(&self, name: &str) -> Result<Vec<Case>, Error> {
        let (judge, schema) = (self.strict, &self.strict.definitions()[name]);
        if let Some(arms) = schema.get("oneOf").and_then(Value::as_array) {
            let cases = arms.iter().filter_map(walk::target).map(|arm| self.cases_of_arm(name, arm));
            return Ok(cases.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let (smallest, fullest) = (self.sample(name, Size::Smallest)?, self.sample(name, Size::Fullest)?);
        let subject = Subject { schema, smallest: &smallest, fullest: &fullest, judge, sampler: self.sampler };
        let mut cases = vec![
            Case::new("smallest", "all that is required, and no more", smallest.clone()),
            Case::new("fullest", "every member that has a name", fullest.clone()),
        ];
        cases.extend(subject.valid_edges());
        cases.extend(subject.broken().into_iter().filter(|case| !judge.accepts(name, &case.message)));
        cases.retain(|case| case.rule == "is-null" || !case.message.is_null() || judge.accepts(name, &Value::Null));
        Ok(cases)
    }

    fn sample(&self, name: &str, size: Size) -> Result<Value, Problem> {
        let value = self.sampler.named(name, size);
        if self.strict.accepts(name, &value) {
            return Ok(value);
        }
        let help = "see whether its bounds leave room for a value, and are no larger than a test message can be";
        Err(flat::problem(self.revision, name, format!("no value of `{name}` was found to test with")).help(help))
    }

    /// What holds for an arm holds for the union, and what breaks an arm breaks the union, unless it makes another arm.
    fn cases_of_arm(&self, union: &str, arm: &str) -> Result<Vec<Case>, Error> {
        let judge = self.strict;
        let same = |case: &Case| judge.accepts(union, &case.message) == judge.accepts(arm, &case.message);
        let renamed = |case: Case| Case { rule: format!("{arm}/{}", case.rule), ..case };
        Ok(self.cases(arm)?.into_iter().filter(same).map(renamed).collect())
    }

    fn vector(&self, name: &'a str, case: Case) -> Vector<'a> {
        let requirements = case.member.as_ref().and_then(|member| self.rules.requirements.get(member).cloned());
        Vector {
            id: format!("{name}/{}", case.rule),
            definition: name,
            requirements: requirements.unwrap_or_else(|| self.requirements(name)),
            why: case.why,
            strict: self.strict.accepts(name, &case.message),
            tolerant: self.tolerant.accepts(name, &case.message),
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
