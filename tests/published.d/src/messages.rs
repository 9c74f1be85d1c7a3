//! Messages to check with: the published examples and those of this folder.

use crate::source::{Source, line};
use crate::walk::places;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A message and the definition it is of.
#[derive(Clone, Debug)]
pub struct Message {
    pub definition: String,
    pub value: Value,
    /// Where it is from, for a person.
    pub origin: String,
}

/// The published examples: `examples-2026-07-28/DEFINITION/*.json`.
pub fn examples(folder: &Path) -> Result<Vec<Message>, Vec<String>> {
    let mut messages = Vec::new();
    for definition in sorted(&folder.join("examples-2026-07-28"))? {
        for file in sorted(&definition)? {
            let value = serde_json::from_str(&fs::read_to_string(&file).map_err(line)?).map_err(line)?;
            messages.push(Message { definition: name(&definition), value, origin: name(&file) });
        }
    }
    Ok(messages)
}

/// Messages written for these checks: `messages.json`, by definition.
pub fn built() -> Result<Vec<Message>, Vec<String>> {
    let by_definition: serde_json::Map<String, Value> =
        serde_json::from_str(include_str!("../messages.json")).map_err(line)?;
    let lists = by_definition.into_iter().map(|(definition, list)| match list {
        Value::Array(values) => (definition, values),
        value => (definition, vec![value]),
    });
    let origin = || "messages.json".to_owned();
    Ok(lists
        .flat_map(|(definition, values)| values.into_iter().map(move |value| (definition.clone(), value)))
        .map(|(definition, value)| Message { definition, value, origin: origin() })
        .collect())
}

/// The messages and every message within them that has a type of its own, each once.
pub fn with_nested(source: &Source, messages: Vec<Message>) -> Vec<Message> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for message in messages {
        for place in places(source, &message.definition, &message.value) {
            let Some(value) = message.value.pointer(&place.pointer) else { continue };
            for definition in place.definitions {
                if source.has_type(&definition) && seen.insert((definition.clone(), value.to_string())) {
                    all.push(Message { definition, value: value.clone(), origin: message.origin.clone() });
                }
            }
        }
    }
    all
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| vec![format!("{}: {error}", folder.display())])?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(line)?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
