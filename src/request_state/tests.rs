use serde_json::json;

use super::*;

const NOW: UnixMillis = UnixMillis::new(1_790_000_000_000);
const REQUEST: &str = r#"{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"#;

fn key() -> StateKey {
    StateKey::new(&[7; 32]).expect("long enough")
}

fn binding(principal: &str, tool: &str, arguments: Value) -> Binding {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Binding::new(&Principal::new(principal), tool, &arguments)
}

fn alices() -> Binding {
    binding("alice", "tool", json!({ "a": 1, "b": { "c": 2, "d": 3 } }))
}

fn question() -> Question {
    Question { name: "name".into(), ordinal: 1, request: REQUEST.into() }
}

fn state() -> String {
    Rounds::default().ask(vec![question()]).seal(&key(), &alices(), NOW)
}

fn call(state: String, response: Value) -> CallToolRequestParams {
    let mut request = CallToolRequestParams::new("tool");
    request.request_state = Some(state);
    request.input_responses = Some([("name".to_owned(), response)].into());
    request
}

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "Alice" } })
}

/// What opening the state says: the answers, or the error.
fn opened(key: &StateKey, binding: &Binding, state: String, response: Value, now: UnixMillis) -> String {
    match Rounds::open(key, binding, &call(state, response), now) {
        Ok(rounds) => {
            let answered = rounds.answered();
            answered
                .answer_to(&question())
                .map_or("no answer".into(), |answer| String::from_utf8_lossy(answer).into_owned())
        }
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

/// NEW-02: an answer reaches the question that it was asked for, in whatever order the arguments come back.
#[test]
fn an_answer_comes_back_with_its_state() {
    let reordered = binding("alice", "tool", json!({ "b": { "d": 3, "c": 2 }, "a": 1 }));
    let expected = r#"{"action":"accept","content":{"name":"Alice"}}"#;
    assert_eq!(opened(&key(), &reordered, state(), accepted(), NOW), expected);
}

/// SEC-05: a state opens with its key, for its principal, tool and arguments, unchanged, in time; else not at all.
#[test]
fn a_state_opens_for_its_own_call_alone() {
    let invalid = "-32602 `requestState` is not valid for this call";
    let other_key = StateKey::new(&[8; 32]).expect("long enough");
    assert_eq!(opened(&other_key, &alices(), state(), accepted(), NOW), invalid);
    for other in [
        binding("bob", "tool", json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
        binding("alice", "tools", json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
        binding("alice", "tool", json!({ "a": 2, "b": { "c": 2, "d": 3 } })),
    ] {
        assert_eq!(opened(&key(), &other, state(), accepted(), NOW), invalid);
    }
    let mut changed = state();
    let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
    changed.push(last);
    assert_eq!(opened(&key(), &alices(), changed, accepted(), NOW), invalid);
    let late = NOW.plus(LIFETIME);
    assert_eq!(opened(&key(), &alices(), state(), accepted(), late), "-32602 `requestState` has expired");
}

/// UPD-07: an answer that does not fit is refused here as it is in a task.
#[test]
fn an_answer_that_does_not_fit_is_refused() {
    let refused = Rounds::open(&key(), &alices(), &call(state(), json!({ "action": "accept", "content": {} })), NOW);
    let data = refused.err().and_then(|error| error.data).expect("there is data");
    assert_eq!(data["reason"], "invalid_input_response");
    assert_eq!(data["keys"]["name"], "`name` is missing");
}

#[test]
fn short_keys_are_refused() {
    assert_eq!(StateKey::new(&[1; 31]).err(), Some(KeyTooShort(31)));
}
