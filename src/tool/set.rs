//! `ToolSet`: the tools of a [`TaskServer`](crate::TaskServer) as an rmcp handler like any other.

use std::{collections::HashMap, fmt, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig, Tool},
    service::RequestContext,
};

use super::{
    call::{ToolCall, ToolResult},
    definition::{DefinedTool, InvalidTool, TaskTool, ToolDefinition},
    parameter::BadArguments,
    state::States,
};
use crate::{clock::BoxFuture, private::handler, types::support::JsonObject};

/// Tools made by [`task_tool`](crate::task_tool), the state they share, and what the server says about itself.
///
/// It knows nothing of tasks: like a router of rmcp's it is served through [`Tasks`](crate::Tasks), which decides what
/// becomes one. Clones share everything.
#[derive(Clone)]
pub struct ToolSet(Arc<Shared>);

struct Shared {
    config: ServerConfig,
    tools: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
    states: Arc<States>,
}

struct Entry {
    defined: DefinedTool,
    call: CallTool,
}

type CallTool = fn(ToolCall) -> BoxFuture<'static, ToolResult>;

impl ToolSet {
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.tools.get(*self.0.by_name.get(name)?)
    }

    /// Whether a call of `name` with these arguments would get as far as the tool's own code (ERR-04).
    ///
    /// # Errors
    /// The first argument that does not fit, and why.
    pub fn check(&self, name: &str, arguments: &JsonObject) -> Result<(), BadArguments> {
        self.entry(name).map_or(Ok(()), |entry| entry.defined.check(arguments))
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("unknown tool: {}", request.name), None);
        let run = self.entry(&request.name).ok_or_else(unknown)?.call;
        let call = ToolCall::new(request.arguments.unwrap_or_default(), handler::task_context(&mut context)?);
        let ended = run(call.with_states(&self.0.states)).await;
        ended.or_else(|failed| failed.into_error().into_result()).map(Into::into)
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.tools.iter().map(|entry| &entry.defined.tool.name)).finish()
    }
}

impl Entry {
    /// The tool as the glue sees it: its options stand in its `_meta`, until `Tasks` takes them out.
    fn tool(&self) -> Tool {
        let meta = handler::tool_meta(self.defined.tool.meta.clone(), self.defined.options);
        self.defined.tool.clone().with_meta(meta)
    }
}

impl ServerHandler for ToolSet {
    fn get_info(&self) -> ServerConfig {
        self.0.config.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.iter().map(Entry::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).map(Entry::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.run(request, context).await
    }
}

/// Collects tools.
#[derive(Default)]
pub(crate) struct SetBuilder {
    tools: Vec<(ToolDefinition, CallTool)>,
    pub states: States,
}

/// Why a set of tools is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetFault {
    /// Two tools have this name.
    Duplicate(&'static str),
    /// The tool of this name is no good.
    Invalid(&'static str, InvalidTool),
    /// The tool of this name takes a state of this type, which is not there.
    MissingState(&'static str, &'static str),
}

impl SetBuilder {
    pub fn add<T: TaskTool>(&mut self) {
        self.tools.push((T::definition(), |call| Box::pin(T::call(call))));
    }

    pub fn finish(self, config: ServerConfig) -> Result<ToolSet, SetFault> {
        let mut by_name = HashMap::new();
        let mut tools = Vec::new();
        for (definition, call) in self.tools {
            let name = definition.name();
            if by_name.insert(name, tools.len()).is_some() {
                return Err(SetFault::Duplicate(name));
            }
            if let Some(missing) = definition.missing_state(&self.states) {
                return Err(SetFault::MissingState(name, missing));
            }
            let defined = definition.finish().map_err(|invalid| SetFault::Invalid(name, invalid))?;
            tools.push(Entry { defined, call });
        }
        Ok(ToolSet(Arc::new(Shared { config, tools, by_name, states: Arc::new(self.states) })))
    }
}
