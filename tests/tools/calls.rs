//! How arguments, context and state reach a fn.

use mcp_tasks::{State, TaskContext, task_tool};
use serde_json::json;

use crate::support::{call, call_in, check};

#[task_tool]
async fn sum(a: i64, b: Option<i64>, #[arg(default = 5)] c: i64) -> String {
    format!("{a} {b:?} {c}")
}

#[task_tool]
async fn take(value: serde_json::Value, unit: Option<()>) -> String {
    format!("{value} {unit:?}")
}

#[task_tool]
async fn who(task: TaskContext) -> String {
    format!("{} {}", task.principal(), task.is_task())
}

#[task_tool]
async fn stateful(words: State<Vec<String>>) -> usize {
    words.len()
}

fn text(text: &str) -> serde_json::Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn arguments_are_taken_by_name() {
    assert_eq!(call::<sum>(json!({"a": 1})).await["content"], text("1 None 5"));
    assert_eq!(call::<sum>(json!({"c": 3, "b": 2, "a": 1})).await["content"], text("1 Some(2) 3"));
    assert_eq!(call::<sum>(json!({"a": 1, "b": null})).await["content"], text("1 None 5"));
}

/// The call and the check before it agree on what fits.
#[tokio::test]
async fn the_call_refuses_what_the_check_refuses() {
    for arguments in [json!({}), json!({"a": "1"}), json!({"a": 1, "c": null}), json!({"a": 1.5})] {
        let refused = call::<sum>(arguments.clone()).await;
        assert_eq!(refused, json!({"tool": check::<sum>(arguments)}));
    }
}

/// Any JSON may be an argument, but it has to be there.
#[tokio::test]
async fn any_json_can_be_an_argument() {
    assert_eq!(call::<take>(json!({"value": null})).await["content"], text("null None"));
    assert_eq!(call::<take>(json!({})).await, json!({"tool": "missing argument `value`"}));
}

#[tokio::test]
async fn the_context_is_no_argument() {
    let task = TaskContext::for_test().context();
    assert_eq!(call_in::<who>(json!({"task": 1}), task).await["content"], text("local true"));
}

/// ERR-02: a state that the server does not have is the server's fault, and the client learns nothing more.
#[tokio::test]
async fn a_missing_state_is_an_internal_error() {
    assert_eq!(call::<stateful>(json!({})).await, json!({"protocol": "internal error"}));
}

/// A fn stays the plain fn it is.
#[tokio::test]
async fn a_fn_is_called_as_the_fn_it_is() {
    assert_eq!(sum(1, Some(2), 3).await, "1 Some(2) 3");
    assert_eq!(stateful(State::new(vec![String::new()])).await, 1);
    assert_eq!(who(TaskContext::for_test().context()).await, "local true");
}
