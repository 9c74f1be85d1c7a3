//! A client for a server of somebody else's: `cargo run --example peer_client -- URL TOOL ARGUMENTS [cancel]`.
//!
//! Calls the tool, answers each form with the values that its fields name as defaults or with `Ada`, and prints what happens,
//! one line of JSON each. With `cancel` the task is cancelled as soon as there is one.

use std::error::Error;

use mcp_tasks::client::{self, Called, TaskClient};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, Implementation,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

/// Fills in every field.
struct User;

fn value(property: &Value) -> Value {
    match (property.get("default"), property["type"].as_str()) {
        (Some(default), _) => default.clone(),
        (None, Some("integer" | "number")) => json!(7),
        (None, Some("boolean")) => json!(true),
        _ => property["enum"].get(0).cloned().unwrap_or_else(|| json!("Ada")),
    }
}

impl ClientHandler for User {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(&request).unwrap_or_default();
        println!("{}", json!({ "asked": request["message"] }));
        let properties = request["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let content: Map<String, Value> = properties.iter().map(|(name, one)| (name.clone(), value(one))).collect();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content)))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("peer-client", "1.0"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(tool), Some(text)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: URL TOOL ARGUMENTS [cancel]".into());
    };
    let cancel = arguments.next().is_some_and(|word| word == "cancel");
    let client = TaskClient::connect(User, client::http(url)).await?;
    println!("{}", json!({ "tasks": client.offers_tasks() }));
    let params = CallToolRequestParams::new(tool).with_arguments(serde_json::from_str(&text)?);
    let outcome = match client.call_tool_task(params).await {
        Ok(Called::Result(result)) => Ok(*result),
        Ok(Called::Task(mut task)) => {
            println!("{}", json!({ "task": task.task_id() }));
            if cancel {
                task.cancel().await?;
            }
            while let Some(state) = task.next_state().await {
                println!("{}", json!({ "status": state.status, "message": state.status_message }));
            }
            task.result().await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(result) => println!("{}", json!({ "result": result })),
        Err(error) => println!("{}", json!({ "error": error.to_string(), "kind": format!("{error:?}") })),
    }
    Ok(())
}
