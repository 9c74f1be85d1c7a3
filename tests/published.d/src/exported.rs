//! The schemas exported for other languages take the published examples and those of the SEP.

use crate::Outcome;
use crate::deviations::Deviations;
use crate::messages::{self, Message};
use crate::sep;
use crate::source::{self, Source, line, validator};
use jsonschema::Validator;
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

const DRAFTS: [&str; 2] = ["2020-12", "draft-07"];
const FLAVOURS: [&str; 3] = ["strict", "tolerant", "codegen"];

/// Judges every example whose definition we have, and every message of ours within any example.
pub fn check(folder: &Path, sep: Option<&Path>) -> Outcome {
    let ours = source::ours()?;
    let examples = messages::examples(folder)?;
    let covered = examples.iter().filter(|example| ours.revision.get(&example.definition).is_some()).count();
    let total = examples.len();
    let messages = corpus(&ours, &source::core(folder)?, examples, sep)?;
    let deviations = Deviations::load()?;
    let mut bundles = bundles()?;
    let mut faults = Vec::new();
    for message in &messages {
        let [newer, older] = refusing(&mut bundles, message)?;
        let listed = newer.is_empty() || deviations.lists_refusal(&message.definition, &message.origin, &newer);
        if newer != older || !listed {
            let Message { origin, definition, value } = message;
            faults.push(format!("{origin}: {definition} {value}: refused by {newer:?}, in draft-07 by {older:?}"));
        }
    }
    // Without the SEP its entries have nothing to fit.
    if sep.is_some() {
        faults.extend(deviations.stale_refusals());
    }
    let verdicts = messages.len() * bundles.len();
    let summary = format!(
        "{covered} of {total} examples, {} messages with those within, {verdicts} verdicts, {} refusals listed",
        messages.len(),
        deviations.refusal.len()
    );
    if faults.is_empty() { Ok(summary) } else { Err(faults) }
}

/// All messages of our definitions, each once. The published shapes show what is within an example that is not ours.
fn corpus(
    ours: &Source,
    core: &Source,
    examples: Vec<Message>,
    sep: Option<&Path>,
) -> Result<Vec<Message>, Vec<String>> {
    let mut messages = messages::with_nested(core, examples.clone());
    messages.extend(messages::with_nested(ours, examples));
    if let Some(file) = sep {
        messages.extend(messages::with_nested(ours, sep::messages(ours, file)?));
    }
    let mut seen = HashSet::new();
    messages.retain(|message| {
        ours.revision.get(&message.definition).is_some()
            && seen.insert((message.definition.clone(), message.value.to_string()))
    });
    Ok(messages)
}

/// The bundle of one draft and flavour, with the validators made from it: one for each definition that was asked for.
struct Bundle {
    draft: &'static str,
    flavour: &'static str,
    schema: Value,
    validators: BTreeMap<String, Validator>,
}

impl Bundle {
    fn read(draft: &'static str, flavour: &'static str) -> Result<Self, Vec<String>> {
        let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated/schema/2026-07-28");
        let file = schemas.join(draft).join(flavour).join("bundle.schema.json");
        let text = fs::read_to_string(&file).map_err(|error| vec![format!("{}: {error}", file.display())])?;
        let schema = serde_json::from_str(&text).map_err(line)?;
        Ok(Self { draft, flavour, schema, validators: BTreeMap::new() })
    }

    fn refuses(&mut self, message: &Message) -> Result<bool, Vec<String>> {
        let validator = match self.validators.entry(message.definition.clone()) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(validator(&self.schema, &message.definition)?),
        };
        Ok(!validator.is_valid(&message.value))
    }
}

fn bundles() -> Result<Vec<Bundle>, Vec<String>> {
    DRAFTS.iter().flat_map(|draft| FLAVOURS.iter().map(|flavour| Bundle::read(draft, flavour))).collect()
}

/// The flavours that refuse a message, by draft.
fn refusing(bundles: &mut [Bundle], message: &Message) -> Result<[BTreeSet<&'static str>; 2], Vec<String>> {
    let mut refusing = [BTreeSet::new(), BTreeSet::new()];
    for bundle in bundles {
        if bundle.refuses(message)? {
            refusing[usize::from(bundle.draft != DRAFTS[0])].insert(bundle.flavour);
        }
    }
    Ok(refusing)
}
