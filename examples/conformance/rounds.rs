//! The tools of the core's scenarios about `InputRequiredResult`: each asks its client something inside the request, and is
//! called again with the answers. None of their clients declares tasks.

use mcp_tasks::{
    Elicited, TaskContext, TaskServer, ToolError, task_tool,
    types::{
        CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContent,
        SamplingMessageContentBlock, TextContent,
    },
};

pub fn add(server: TaskServer) -> TaskServer {
    server
        .tool::<test_input_required_result_elicitation>()
        .tool::<test_input_required_result_sampling>()
        .tool::<test_input_required_result_list_roots>()
        .tool::<test_input_required_result_request_state>()
        .tool::<test_input_required_result_multiple_inputs>()
        .tool::<test_input_required_result_multi_round>()
        .tool::<test_input_required_result_tampered_state>()
        .tool::<test_input_required_result_capabilities>()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Color {
    color: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Confirmation {
    ok: bool,
}

/// Asks for a name.
#[task_tool]
async fn test_input_required_result_elicitation(task: TaskContext) -> Result<String, ToolError> {
    Ok(match task.elicit::<Name>("user_name", "What is your name?").await? {
        Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
        _ => "Hello!".to_owned(),
    })
}

fn question(text: &str) -> CreateMessageRequestParams {
    let block = SamplingMessageContentBlock::Text(TextContent::new(text));
    let content = SamplingMessageContent::SamplingMessageContentBlock(block);
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, content)], 100.into())
}

fn text(answer: &CreateMessageResult) -> &str {
    match &answer.content {
        SamplingMessageContent::SamplingMessageContentBlock(SamplingMessageContentBlock::Text(content)) => {
            &content.text
        }
        _ => "something other than text",
    }
}

/// Asks the client's model.
#[task_tool]
async fn test_input_required_result_sampling(task: TaskContext) -> Result<String, ToolError> {
    let answer = task.sample("capital_question", question("What is the capital of France?")).await?;
    Ok(text(&answer).to_owned())
}

/// Asks for the client's roots.
#[task_tool]
async fn test_input_required_result_list_roots(task: TaskContext) -> Result<String, ToolError> {
    let roots = task.list_roots().await?;
    Ok(roots.into_iter().map(|root| root.uri.0).collect::<Vec<_>>().join(", "))
}

/// Asks for a confirmation.
#[task_tool]
async fn test_input_required_result_request_state(task: TaskContext) -> Result<String, ToolError> {
    let answer = task.elicit::<Confirmation>("confirm", "Please confirm").await?;
    let agreed = answer.accepted().is_some_and(|answer| answer.ok);
    Ok(if agreed { "state-ok" } else { "not confirmed" }.to_owned())
}

/// Asks three things at once, each of another kind.
#[task_tool]
async fn test_input_required_result_multiple_inputs(task: TaskContext) -> Result<String, ToolError> {
    let (name, greeting, roots) = tokio::join!(
        task.elicit::<Name>("user_name", "What is your name?"),
        task.sample("greeting", question("Generate a greeting")),
        task.list_roots(),
    );
    let name = name?.accepted().map_or_else(|| "stranger".to_owned(), |name| name.name);
    Ok(format!("{}, {name}: {} roots", text(&greeting?), roots?.len()))
}

/// Asks two things, one after the other.
#[task_tool]
async fn test_input_required_result_multi_round(task: TaskContext) -> Result<String, ToolError> {
    let name = task.elicit::<Name>("step1", "Step 1: What is your name?").await?.accepted();
    let color = task.elicit::<Color>("step2", "Step 2: What is your favorite color?").await?.accepted();
    let name = name.map_or_else(|| "Somebody".to_owned(), |name| name.name);
    Ok(format!("{name} likes {}", color.map_or_else(|| "no color".to_owned(), |color| color.color)))
}

/// Asks for a confirmation that somebody is going to forge.
#[task_tool]
async fn test_input_required_result_tampered_state(task: TaskContext) -> Result<String, ToolError> {
    let answer = task.elicit::<Confirmation>("confirm", "Please confirm").await?;
    Ok(format!("confirmed: {}", answer.accepted().is_some_and(|answer| answer.ok)))
}

/// Asks for a name, or the model if there is nobody to ask.
#[task_tool]
async fn test_input_required_result_capabilities(task: TaskContext) -> Result<String, ToolError> {
    let (name, greeting) = tokio::join!(
        task.elicit::<Name>("user_name", "What is your name?"),
        task.sample("greeting", question("Generate a greeting")),
    );
    let name = name.ok().and_then(Elicited::accepted).map_or_else(|| "stranger".to_owned(), |name| name.name);
    let greeting = greeting.map_or_else(|_| "Hello".to_owned(), |greeting| text(&greeting).to_owned());
    Ok(format!("{greeting}, {name}"))
}
