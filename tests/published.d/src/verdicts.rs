//! Our types, our schema, the published schema and the types made from it accept and refuse the same messages.

use crate::Outcome;
use crate::deviations::{Deviations, Disagreement};
use crate::messages::{self, Message};
use crate::mutation::{Mutant, mutants};
use crate::sep;
use crate::source::{self, Source, validator};
use crate::walk::places;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// Judges all messages, and each with every change.
pub fn check(folder: &Path, sep: Option<&Path>) -> Outcome {
    let ours = source::ours()?;
    let deviations = Deviations::load()?;
    let messages = corpus(&ours, folder, sep)?;
    let benches = benches(&ours, &[source::extension(folder)?, source::core(folder)?])?;
    let mut protocol = Protocol { deviations: &deviations, judged: HashSet::new(), unlisted: BTreeMap::new() };
    for message in &messages {
        if let Some(bench) = benches.get(&message.definition) {
            protocol.hear(&ours, bench, message);
        }
    }
    let mut faults = without_message(&ours, &messages);
    faults.extend(protocol.unlisted.iter().map(|(kind, (count, example))| format!("{kind}, {count} times: {example}")));
    faults.extend(deviations.stale_verdicts());
    let (judged, listed) = (protocol.judged.len(), deviations.verdict.len());
    let summary = format!("{judged} messages of {} definitions, {listed} deviations listed", benches.len());
    if faults.is_empty() { Ok(summary) } else { Err(faults) }
}

/// Published examples, those of the SEP, our own, and all that is nested in them.
fn corpus(ours: &Source, folder: &Path, sep: Option<&Path>) -> Result<Vec<Message>, Vec<String>> {
    let mut messages = messages::examples(folder)?;
    messages.extend(messages::built()?);
    if let Some(file) = sep {
        messages.extend(sep::messages(ours, file)?);
    }
    messages.retain(|message| ours.has_type(&message.definition));
    Ok(messages::with_nested(ours, messages))
}

/// The definitions that no message is of: for each there has to be one.
fn without_message(ours: &Source, messages: &[Message]) -> Vec<String> {
    let covered: HashSet<&str> = messages.iter().map(|message| message.definition.as_str()).collect();
    let names = ours.revision.definitions().map(|definition| definition.name.as_str());
    // The key of a map is nowhere referred to.
    let missing = names.filter(|name| ours.has_type(name) && !covered.contains(name) && *name != "InputKey");
    missing.map(|name| format!("no message of {name}; write one into messages.json")).collect()
}

/// Those who judge messages of one definition.
struct Bench {
    definition: String,
    judges: Vec<NamedJudge>,
}

type NamedJudge = (&'static str, Judge);

enum Judge {
    Types(source::Recode),
    Schema(Box<Validator>),
}

impl Bench {
    fn accepts(&self, judge: &Judge, message: &Value) -> bool {
        match judge {
            Judge::Types(recode) => matches!(recode(&self.definition, &message.to_string()), Some(Ok(_))),
            Judge::Schema(validator) => validator.is_valid(message),
        }
    }
}

/// A bench for each of our definitions; the published judges come from the first source that has it.
fn benches(ours: &Source, published: &[Source]) -> Result<BTreeMap<String, Bench>, Vec<String>> {
    let names = ours.revision.definitions().map(|definition| &definition.name).filter(|name| ours.has_type(name));
    names
        .map(|name| {
            let mut judges = vec![("types", Judge::Types(ours.recode)), ("schema", schema(ours, name)?)];
            if let Some(source) = published.iter().find(|source| source.schema["$defs"].get(name).is_some()) {
                judges.push(("published", schema(source, name)?));
                if source.has_type(name) {
                    judges.push(("published-types", Judge::Types(source.recode)));
                }
            }
            Ok((name.clone(), Bench { definition: name.clone(), judges }))
        })
        .collect()
}

fn schema(source: &Source, definition: &str) -> Result<Judge, Vec<String>> {
    Ok(Judge::Schema(Box::new(validator(&source.schema, definition)?)))
}

/// What was judged, and the disagreements that are not listed: kind to count and first example.
struct Protocol<'a> {
    deviations: &'a Deviations,
    judged: HashSet<String>,
    unlisted: BTreeMap<String, (usize, String)>,
}

/// A message to be judged, and how it came about.
struct Case<'a> {
    message: &'a Value,
    mutation: &'a str,
    at: &'a str,
    /// The definitions around the place that was changed, and those of its value.
    within: Vec<String>,
}

impl Protocol<'_> {
    /// Judges a message and what it becomes by every change.
    fn hear(&mut self, ours: &Source, bench: &Bench, message: &Message) {
        let Message { definition, value, .. } = message;
        let as_it_is = Case { message: value, mutation: "none", at: definition, within: Vec::new() };
        self.judge(bench, &bench.judges.iter().collect::<Vec<_>>(), as_it_is);
        // Who refuses the message as it is has nothing to say about its changes.
        let impartial: Vec<_> = bench.judges.iter().filter(|(_, judge)| bench.accepts(judge, value)).collect();
        for place in places(ours, definition, value) {
            let within: Vec<_> = place.within.iter().chain(&place.definitions).cloned().collect();
            for Mutant { change, message } in mutants(value, &place) {
                let case = Case { message: &message, mutation: change, at: &place.at, within: within.clone() };
                self.judge(bench, &impartial, case);
            }
        }
    }

    fn judge(&mut self, bench: &Bench, judges: &[&NamedJudge], case: Case) {
        let accepting = judges.iter().filter(|(_, judge)| bench.accepts(judge, case.message));
        let accepts: BTreeSet<_> = accepting.map(|(name, _)| *name).collect();
        let judges: BTreeSet<_> = judges.iter().map(|(name, _)| *name).collect();
        let description = format!("{} {}", bench.definition, case.message);
        self.judged.insert(description.clone());
        if accepts.is_empty() || accepts == judges {
            return;
        }
        let Case { at, within, mutation, .. } = case;
        let kind = format!("{at}, {mutation}: accepted by {}", Vec::from_iter(accepts.iter().copied()).join(", "));
        if !self.deviations.lists_verdict(&Disagreement { at, within: &within, mutation, judges, accepts }) {
            self.unlisted.entry(kind).or_insert((0, description)).0 += 1;
        }
    }
}
