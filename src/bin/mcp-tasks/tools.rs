//! `mcp-tasks tools`: what a server can do, and whether it offers tasks.

use clap::Args;
use rmcp::model::ServerCapabilities;
use serde::Serialize;
use serde_json::{Map, Value};

use mcp_tasks::types::EXTENSION_ID;

use crate::{
    arguments,
    connect::{ServerArgs, Session, connect},
    exit::{Exit, Problem},
    output::Output,
    person::client_config,
    text,
};

/// The arguments of `tools`.
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// Which server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// What a server can do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer {
    server: Value,
    protocol_version: String,
    /// Whether the server may answer a call with a task. Nothing on the wire says it for a single tool.
    tasks: bool,
    tools: Vec<Value>,
}

/// Lists a server's tools.
pub async fn run(args: ToolsArgs, output: &Output) -> Result<Exit, Problem> {
    let session = connect(&args.server.named()?, &args.server.headers, client_config()).await?;
    let offer = offer(&session).await;
    // The answer counts, not the farewell.
    let _ = session.cancel().await;
    output.value(&offer?, print)?;
    Ok(Exit::Done)
}

async fn offer<H: rmcp::ClientHandler>(session: &Session<H>) -> Result<Offer, Problem> {
    let tools = session.list_all_tools().await;
    let tools = tools.map_err(|error| Problem::new("the server does not list its tools").because(error))?;
    let info = session.peer_info();
    let json = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
    Ok(Offer {
        server: info.as_ref().map_or(Value::Null, |info| json(serde_json::to_value(&info.server_info))),
        protocol_version: info.as_ref().map_or_else(String::new, |info| info.protocol_version.to_string()),
        tasks: info.as_ref().is_some_and(|info| offers_tasks(&info.capabilities)),
        tools: tools.iter().map(|tool| json(serde_json::to_value(tool))).collect(),
    })
}

/// Whether a server advertises the extension (CAP-01).
fn offers_tasks(capabilities: &ServerCapabilities) -> bool {
    capabilities.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(EXTENSION_ID))
}

fn print(offer: &Offer) -> String {
    let said = |value: &Value| text::brief(value.as_str().unwrap_or_default(), 80);
    let (name, version) = (said(&offer.server["name"]), said(&offer.server["version"]));
    let tasks = if offer.tasks {
        "It offers tasks: a tool that takes long may answer with one. Which tools do, it does not say."
    } else {
        "It offers no tasks: every tool answers within its call."
    };
    let tools: Vec<_> = offer.tools.iter().map(tool).collect();
    let head = format!("{name} {version} (protocol {})\n{tasks}", offer.protocol_version);
    if tools.is_empty() { format!("{head}\n\nIt has no tools.") } else { format!("{head}\n\n{}", tools.join("\n\n")) }
}

/// A tool, and a line for each argument.
fn tool(tool: &Value) -> String {
    let description = text::printable(tool["description"].as_str().unwrap_or_default().trim());
    let schema = &tool["inputSchema"];
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties: Vec<_> = schema["properties"].as_object().into_iter().flat_map(Map::iter).collect();
    let width = properties.iter().map(|(name, _)| name.chars().count() + 1).max().unwrap_or(0).min(24);
    let arguments = properties.iter().map(|(name, wanted)| {
        let mark = if required.contains(&name.as_str()) { "=" } else { "?" };
        let told = text::brief(&arguments::describe(Some(wanted), schema), 300);
        format!("\n  {:<width$}  {told}", format!("{}{mark}", text::brief(name, 60)))
    });
    let name = text::brief(tool["name"].as_str().unwrap_or_default(), 80);
    let head = if description.is_empty() { name } else { format!("{name}: {description}") };
    format!("{head}{}", arguments.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_shown_with_its_arguments() {
        let shown = tool(&json!({
            "name": "count", "description": "Counts.\u{1b}[H",
            "inputSchema": {"properties": {"to": {"type": "integer", "description": "How far."},
                "pause": {"type": ["integer", "null"]}}, "required": ["to"]},
        }));
        assert_eq!(shown, "count: Counts.\u{fffd}[H\n  to=     How far. (a whole number)\n  pause?  a whole number");
    }
}
