//! Typed questions.

use mcp_tasks::{
    AskError, Elicited, TaskContext,
    elicit::form,
    error::TaskContextError,
    input::{InputKind, InputKinds},
    types::CreateMessageRequestParams,
};
use serde_json::{Value, json};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    /// As large as it gets.
    Large,
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
enum Topping {
    Nuts,
    Cream,
}

/// An order.
#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Whose is it?
    #[schemars(title = "Name", length(min = 1, max = 20))]
    name: String,
    #[schemars(email)]
    mail: Option<String>,
    size: Size,
    second: Option<Size>,
    #[schemars(range(min = 1, max = 9))]
    count: u8,
    #[serde(default = "half")]
    share: f64,
    gift: Option<bool>,
    #[serde(default)]
    #[schemars(length(max = 2))]
    toppings: Vec<Topping>,
}

fn half() -> f64 {
    0.5
}

#[test]
fn a_form_shows_what_schemars_finds() {
    let form = serde_json::to_value(form::<Order>().expect("it is flat")).expect("it is JSON");
    let sizes = json!([{"title": "small", "const": "small"}, {"title": "As large as it gets.", "const": "large"}]);
    assert_eq!(form["type"], "object");
    assert_eq!(form["required"], json!(["name", "size", "count"]));
    assert_eq!(
        form["properties"],
        json!({
            "name": {
                "type": "string", "title": "Name", "description": "Whose is it?", "minLength": 1, "maxLength": 20,
            },
            "mail": {"type": "string", "format": "email"},
            "size": {"type": "string", "oneOf": sizes},
            "second": {"type": "string", "oneOf": sizes},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "share": {"type": "number", "default": 0.5},
            "gift": {"type": "boolean"},
            "toppings": {
                "type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["Nuts", "Cream"]},
            },
        })
    );
}

/// Fields that no form can show are named.
#[test]
fn what_no_form_can_show_is_refused() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nested {
        #[expect(dead_code, reason = "only its schema counts")]
        order: Order,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Texts {
        #[expect(dead_code, reason = "only its schema counts")]
        lines: Vec<String>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    enum WithData {
        #[expect(dead_code, reason = "only its schema counts")]
        A(i64),
        B,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Choice {
        #[expect(dead_code, reason = "only its schema counts")]
        which: WithData,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Any {
        #[expect(dead_code, reason = "only its schema counts")]
        value: Value,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Pattern {
        #[expect(dead_code, reason = "only its schema counts")]
        #[schemars(regex(pattern = "^a"))]
        text: String,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Others {
        #[expect(dead_code, reason = "only its schema counts")]
        #[serde(flatten)]
        others: std::collections::HashMap<String, String>,
    }
    fn why<T: mcp_tasks::elicit::Form>() -> String {
        form::<T>().expect_err("it cannot be shown").to_string()
    }
    let _ = WithData::B;
    assert_eq!(why::<Nested>(), "`Nested` cannot be a form: field `order`: an object cannot be asked for");
    assert_eq!(why::<Texts>(), "`Texts` cannot be a form: field `lines`: only lists of choices can be asked for");
    assert_eq!(
        why::<Choice>(),
        "`Choice` cannot be a form: field `which`: a choice with data of its own cannot be asked for"
    );
    assert_eq!(why::<Any>(), "`Any` cannot be a form: field `value`: it can be anything");
    assert_eq!(why::<Pattern>(), "`Pattern` cannot be a form: field `text`: a form cannot say `pattern`");
    assert_eq!(why::<Others>(), "`Others` cannot be a form: a form has no fields without a name");
    assert_eq!(why::<WithData>(), "`WithData` cannot be a form: a form is a struct with named fields");
    assert_eq!(why::<bool>(), "`bool` cannot be a form: a form is a struct with named fields");
}

/// Case 18: accepted, declined and dismissed are told apart, and none is an error.
#[tokio::test]
async fn the_three_actions_are_told_apart() {
    let answer = json!({"name": "Ada", "size": "large", "count": 2, "mail": null, "unknown": {"kept": "out"}});
    let mut test = TaskContext::for_test().accepts("order", answer).declines("order").dismisses("order");
    let task = test.context();
    let first = task.elicit::<Order>("order", "What?").await.expect("it is answered");
    let order = first.accepted().expect("it is accepted");
    assert_eq!((order.name.as_str(), order.size, order.count, order.share), ("Ada", Size::Large, 2, 0.5));
    assert_eq!((order.mail, order.toppings), (None, vec![]));
    assert_eq!(task.elicit::<Order>("order", "What?").await.expect("it is answered"), Elicited::Declined);
    assert_eq!(task.elicit::<Order>("order", "What?").await.expect("it is answered"), Elicited::Dismissed);

    let request: Value = serde_json::from_slice(&test.questions()[0].request).expect("a request is JSON");
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!((&request["params"]["mode"], &request["params"]["message"]), (&json!("form"), &json!("What?")));
}

/// What fits the form and is no `T` is an error that names the question.
#[tokio::test]
async fn an_answer_that_is_no_t_is_an_error() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct Port {
        #[expect(dead_code, reason = "it is never read")]
        #[schemars(with = "u32")]
        port: u16,
    }
    let mut test = TaskContext::for_test().accepts("port", json!({"port": 70_000}));
    let error = test.context().elicit::<Port>("port", "Which?").await.expect_err("it is too large");
    assert_eq!(error.to_string(), "the answer to `port` cannot be used");
    assert!(std::error::Error::source(&error).is_some());
}

/// A type that has no form is never shown to a client.
#[tokio::test]
async fn what_has_no_form_is_not_asked() {
    let mut test = TaskContext::for_test();
    let error = test.context().elicit::<bool>("sure", "?").await.expect_err("it has no form");
    assert!(matches!(error, AskError::Form(_)));
    assert_eq!(test.questions(), []);
}

/// Case 19: what the client did not declare is not asked.
#[tokio::test]
async fn what_was_not_declared_is_not_asked() {
    let mut test = TaskContext::for_test().declares(InputKinds::NONE);
    let task = test.context();
    let sampled = task.sample("thought", CreateMessageRequestParams::new(vec![], 5.into())).await;
    assert!(matches!(sampled, Err(AskError::Context(TaskContextError::NotDeclared(InputKind::Sampling)))));
    assert_eq!(test.questions(), []);
}

#[tokio::test]
async fn every_kind_of_question_has_its_answer() {
    let message = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"});
    let mut test = TaskContext::for_test()
        .answer("login", r#"{"action":"accept"}"#)
        .answer("thought", message.to_string())
        .answer("roots", r#"{"roots":[{"uri":"file:///a"}]}"#);
    let task = test.context();
    let login = task.elicit_url("login", "Log in", "https://a.b").await.expect("it is answered");
    assert_eq!(login, Elicited::Accepted(()));
    let thought =
        task.sample("thought", CreateMessageRequestParams::new(vec![], 5.into())).await.expect("it is answered");
    assert_eq!(thought.model, "m");
    assert_eq!(task.list_roots().await.expect("it is answered").len(), 1);
    let methods: Vec<Value> = test
        .questions()
        .iter()
        .map(|question| {
            serde_json::from_slice::<Value>(&question.request).expect("a request is JSON")["method"].clone()
        })
        .collect();
    assert_eq!(methods, ["elicitation/create", "sampling/createMessage", "roots/list"]);
}

/// Case 11: a question after cancellation ends at once.
#[tokio::test]
async fn a_question_after_cancellation_ends_at_once() {
    let mut test = TaskContext::for_test();
    let task = test.context();
    test.cancel();
    let asked = task.elicit::<Order>("order", "What?").await;
    assert!(matches!(asked, Err(AskError::Context(TaskContextError::Cancelled))));
}
