//! `mcp-tasks tools`: what a server can do, and whether it offers tasks.

use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    arguments,
    connect::{Credentials, ServerArgs, connect},
    exit::{Exit, Problem},
    live::Live,
    output::Output,
    person::Person,
    tasks::Session,
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
    let nobody = Person::new(Arc::new(Live::new(false, false)), false);
    let session = connect(&args.server.named()?, Credentials::of(&args.server), nobody).await?;
    let offer = offer(&session).await;
    session.close().await;
    output.value(&offer?, print)?;
    Ok(Exit::Done)
}

async fn offer(session: &Session) -> Result<Offer, Problem> {
    let tools = session.tools().await?;
    let (server, protocol_version, tasks) = session.server();
    let tools = tools.iter().map(|tool| serde_json::to_value(tool).unwrap_or_default()).collect();
    Ok(Offer { server, protocol_version, tasks, tools })
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
