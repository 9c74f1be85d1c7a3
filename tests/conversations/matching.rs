//! When a message is the one that a conversation has: the same, but for what the other side may choose.

use std::{cmp::Ordering, collections::BTreeMap};

use mcp_tasks::types::Timestamp;
use serde_json::{Map, Value};

use super::{Chosen, Conversation};

/// Objects that have exactly the members that are named.
const WHOLE: [&str; 3] = ["inputRequests", "inputResponses", "keys"];

/// What is known so far of the other side's choices.
#[derive(Debug, Clone, Default)]
pub struct Known {
    chosen: BTreeMap<String, Chosen>,
    texts: BTreeMap<String, String>,
    /// Whether each change has a later moment (TSK-03).
    has_strict_moments: bool,
    /// Moments by task and member, as they stand in the file and as they came.
    moments: Vec<(String, i128, i128)>,
    /// The task that is asked about.
    subject: String,
}

impl Known {
    pub fn of(conversation: &Conversation) -> Self {
        let has_strict_moments = conversation.requirements.iter().any(|id| id == "TSK-03");
        Self { chosen: conversation.chosen.clone(), has_strict_moments, ..Self::default() }
    }

    /// From now on, messages are about what this request asks for.
    pub fn asking(&mut self, request: &Value) {
        self.subject = request["params"]["taskId"].as_str().unwrap_or_default().to_owned();
    }

    /// A message of the file as it is to be sent: with what the other side chose.
    pub fn fill(&self, expected: &Value) -> Value {
        match expected {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (self.text(name), self.fill(value))).collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    /// A text of the file as it is to be sent.
    pub fn text(&self, expected: &str) -> String {
        self.texts.get(expected).map_or(expected, String::as_str).to_owned()
    }

    /// A body of the file, which may be no JSON, as it is to be sent.
    pub fn body(&self, expected: &str) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        self.texts.iter().fold(expected.to_owned(), |body, (from, to)| body.replace(&quoted(from), &quoted(to)))
    }

    /// Takes in a message if it is the one that is expected; otherwise says where it is not, and forgets it.
    pub fn meet(&mut self, expected: &Value, actual: &Value) -> Result<(), String> {
        let mut after = self.clone();
        after.value(expected, actual, "", "", false)?;
        *self = after;
        Ok(())
    }

    /// Takes in an object that has exactly these members.
    pub fn meet_whole(&mut self, expected: &Map<String, Value>, actual: &Map<String, Value>) -> Result<(), String> {
        let mut after = self.clone();
        after.object(expected, actual, "", "", true)?;
        *self = after;
        Ok(())
    }

    fn value(&mut self, expected: &Value, actual: &Value, task: &str, at: &str, whole: bool) -> Result<(), String> {
        match (expected, actual) {
            (Value::Object(expected), Value::Object(actual)) => self.object(expected, actual, task, at, whole),
            (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
                let mut pairs = expected.iter().zip(actual).enumerate();
                pairs.try_for_each(|(n, (expected, actual))| {
                    self.value(expected, actual, task, &format!("{at}/{n}"), false)
                })
            }
            (Value::String(expected), Value::String(actual)) => self.string(expected, actual, task, at),
            (Value::Number(expected), Value::Number(actual)) if expected.as_f64() == actual.as_f64() => Ok(()),
            _ if expected == actual => Ok(()),
            _ => Err(format!("{at}: {actual} instead of {expected}")),
        }
    }

    fn object(
        &mut self,
        expected: &Map<String, Value>,
        actual: &Map<String, Value>,
        task: &str,
        at: &str,
        whole: bool,
    ) -> Result<(), String> {
        if whole && expected.len() != actual.len() {
            return Err(format!("{at}: {} members instead of {}", actual.len(), expected.len()));
        }
        if let (Some(created), Some(updated)) = (moment_of(actual, "createdAt"), moment_of(actual, "lastUpdatedAt"))
            && updated < created
        {
            return Err(format!("{at}: it changed before it was made"));
        }
        let task = expected.get("taskId").and_then(Value::as_str).unwrap_or(task);
        for (name, expected) in expected {
            let at = format!("{at}/{name}");
            let whole = WHOLE.contains(&name.as_str());
            let known = self.texts.get(name);
            if known.is_none() && self.chosen.contains_key(name) {
                self.unnamed(name, expected, actual, task, &at)?;
                continue;
            }
            let value = actual.get(known.unwrap_or(name)).ok_or_else(|| format!("{at}: is missing"))?;
            self.value(expected, value, task, &at, whole)?;
        }
        Ok(())
    }

    /// A member whose name the other side chose, and that has not been met yet.
    fn unnamed(
        &mut self,
        name: &str,
        expected: &Value,
        actual: &Map<String, Value>,
        task: &str,
        at: &str,
    ) -> Result<(), String> {
        for (candidate, value) in actual {
            let mut after = self.clone();
            if after.string(name, candidate, task, at).is_ok() && after.value(expected, value, task, at, false).is_ok()
            {
                *self = after;
                return Ok(());
            }
        }
        Err(format!("{at}: is under no name"))
    }

    fn string(&mut self, expected: &str, actual: &str, task: &str, at: &str) -> Result<(), String> {
        match self.chosen.get(expected) {
            Some(_) if actual.is_empty() => return Err(format!("{at}: is empty")),
            Some(Chosen::Words) => return Ok(()),
            Some(Chosen::Alike) => return self.choice(expected, &self.without_subject(actual), at),
            Some(Chosen::Id) => return self.id(expected, actual, at),
            None => {}
        }
        match (moment(expected), moment(actual)) {
            (Some(from), Some(to)) if !task.is_empty() => self.moment(task, from, to, at),
            _ if expected == actual => Ok(()),
            _ => Err(format!("{at}: {actual:?} instead of {expected:?}")),
        }
    }

    fn without_subject(&self, text: &str) -> String {
        if self.subject.is_empty() { text.to_owned() } else { text.replace(&self.subject, "") }
    }

    /// Two ids that differ in the file differ on the wire.
    fn id(&mut self, expected: &str, actual: &str, at: &str) -> Result<(), String> {
        if !self.texts.contains_key(expected) && self.texts.values().any(|known| known == actual) {
            return Err(format!("{at}: {actual:?} stands for something else already"));
        }
        self.choice(expected, actual, at)
    }

    fn choice(&mut self, expected: &str, actual: &str, at: &str) -> Result<(), String> {
        match self.texts.entry(expected.to_owned()).or_insert_with(|| actual.to_owned()) {
            known if known == actual => Ok(()),
            known => Err(format!("{at}: {actual:?}, and was {known:?} before")),
        }
    }

    /// Moments of one member of one task follow each other as they do in the file.
    fn moment(&mut self, task: &str, expected: i128, actual: i128, at: &str) -> Result<(), String> {
        let member = at.rsplit('/').next().unwrap_or_default();
        let owner = format!("{task} {member}");
        let fits = |from: &i128, to: &i128| match (expected.cmp(from), actual.cmp(to)) {
            (Ordering::Equal, order) => order.is_eq(),
            (order, found) => found == order || (found.is_eq() && !self.has_strict_moments),
        };
        if let Some((_, _, to)) = self.moments.iter().find(|(of, from, to)| *of == owner && !fits(from, to)) {
            return Err(format!("{at}: an earlier moment was {:?} than this one", to.cmp(&actual)));
        }
        self.moments.push((owner, expected, actual));
        Ok(())
    }
}

fn moment_of(object: &Map<String, Value>, member: &str) -> Option<i128> {
    moment(object.get(member)?.as_str()?)
}

fn moment(text: &str) -> Option<i128> {
    let timestamp: Timestamp = serde_json::from_value(text.into()).ok()?;
    Some(timestamp.parse().ok()?.as_nanosecond())
}
