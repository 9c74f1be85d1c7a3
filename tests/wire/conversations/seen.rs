//! The states of tasks that were met, and which of them a stream may show again.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::SUBSCRIPTION;

#[derive(Default)]
pub struct Seen {
    /// In the order in which they were met, on whatever way.
    states: Vec<Value>,
    streams: HashMap<String, Stream>,
}

/// What is known of a stream.
#[derive(Default)]
struct Stream {
    /// The ids of the tasks that the server agreed to tell about.
    covered: Vec<Value>,
    /// The newest of the states that it showed, by task.
    newest: HashMap<String, usize>,
}

impl Seen {
    /// Takes in the result of a response; what is no state of a task is passed over.
    pub fn state(&mut self, result: &Value) -> Option<usize> {
        let state = bare(result)?;
        if let Some(place) = self.states.iter().position(|known| *known == state) {
            return Some(place);
        }
        self.states.push(state);
        Some(self.states.len() - 1)
    }

    /// Takes in a message that was met on a stream.
    pub fn on_stream(&mut self, stream: &str, message: &Value) {
        let params = &message["params"];
        let place = self.state(params);
        let stream = self.streams.entry(stream.to_owned()).or_default();
        if let Some(place) = place {
            stream.newest.insert(params["taskId"].to_string(), place);
        }
        if let Some(covered) = params["notifications"]["taskIds"].as_array() {
            stream.covered.clone_from(covered);
        }
    }

    /// Whether the message says again how a task stands: one of those that the stream is about, in a state that was met,
    /// and in none of before the one that the stream showed.
    pub fn may_come_again(&self, stream: &str, message: &Value) -> bool {
        let params = &message["params"];
        let named = params["_meta"][SUBSCRIPTION].to_string();
        let is_ours = named == stream;
        let state = bare(params).and_then(|state| self.states.iter().position(|known| *known == state));
        let (Some(stream), Some(place)) = (self.streams.get(stream), state) else { return false };
        let is_newest = stream.newest.get(&params["taskId"].to_string()).is_none_or(|newest| place >= *newest);
        message["method"] == "notifications/tasks" && is_ours && stream.covered.contains(&params["taskId"]) && is_newest
    }
}

/// A state of a task without what depends on the message that shows it.
fn bare(state: &Value) -> Option<Value> {
    let mut state = state.clone();
    let members = state.as_object_mut()?;
    members.get("taskId")?;
    members.get("status")?;
    members.shift_remove("_meta");
    members.shift_remove("resultType");
    Some(state)
}

/// NOT-03, NOT-05, SEC-02: of what no step has, a stream may show nothing but the newest state again.
#[test]
fn only_the_newest_state_may_come_again() {
    let push = |state: &Value| {
        let mut params = state.clone();
        params["_meta"] = json!({ SUBSCRIPTION: "stream" });
        json!({ "method": "notifications/tasks", "params": params })
    };
    let [first, second] =
        ["first", "second"].map(|said| json!({ "taskId": "task-1", "status": "working", "statusMessage": said }));
    let foreign = json!({ "taskId": "task-2", "status": "working" });
    let mut seen = Seen::default();
    for state in [&first, &second, &foreign] {
        seen.state(state);
    }
    assert!(!seen.may_come_again("\"stream\"", &push(&first)), "nothing was acknowledged");
    let acknowledged = json!({ "params": { "notifications": { "taskIds": ["task-1"] } } });
    seen.on_stream("\"stream\"", &acknowledged);
    let may = |seen: &Seen| [&first, &second, &foreign].map(|state| seen.may_come_again("\"stream\"", &push(state)));
    assert_eq!(may(&seen), [true, true, false]);
    seen.on_stream("\"stream\"", &push(&second));
    assert_eq!(may(&seen), [false, true, false]);
    let mut elsewhere = push(&second);
    elsewhere["params"]["_meta"][SUBSCRIPTION] = json!("another");
    assert!(!seen.may_come_again("\"stream\"", &elsewhere));
    let unmet = json!({ "taskId": "task-1", "status": "working", "statusMessage": "third" });
    assert!(!seen.may_come_again("\"stream\"", &push(&unmet)));
}
