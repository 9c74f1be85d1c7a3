//! Runs lost tasks again with the handler that is served: from the stored arguments, in a request made up for it.
//!
//! The handler's own code runs as it did for the call, so that any rmcp handler with task tools takes part. What came with
//! the request and is not stored is not there: no HTTP parts, no `Peer` that reaches anybody.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, PaginatedRequestParams, RequestId, Tool},
    service::RequestContext,
};
use tokio::sync::OnceCell;

use super::{
    Shared,
    glue::CallFuture,
    registry::OptionsCache,
    work::{Answer, Becomes, nobody, work},
};
use crate::{
    clock::BoxFuture,
    engine::{Gate, Recover, Work},
    protocol::{TASKS_SINCE, TOOLS_CALL},
    task::{Target, TaskRecord},
    tool::ToolOptions,
};

/// How many pages a list of tools may have. A handler that gives a cursor each time would be asked for ever.
const PAGES: usize = 1_000;

/// The target of the tasks of a tool.
pub(super) fn target(tool: &str, options: &ToolOptions) -> Target {
    Target::new(TOOLS_CALL, tool, options.version)
}

/// Runs again the tasks of a handler's tools; `call` is the handler's own code.
pub(super) struct Recovery<H, F> {
    pub handler: Arc<H>,
    pub call: F,
    pub shared: Arc<Shared>,
    pub cache: Option<Arc<OptionsCache>>,
    /// What the handler's task tools are, once it has listed them.
    targets: OnceCell<Vec<Arc<Target>>>,
}

impl<H, F> Recovery<H, F>
where
    H: ServerHandler,
    F: Fn(Arc<H>, CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Clone + Send + Sync + 'static,
{
    pub fn new(handler: Arc<H>, shared: Arc<Shared>, cache: Option<Arc<OptionsCache>>, call: F) -> Self {
        Self { handler, call, shared, cache, targets: OnceCell::new() }
    }

    fn options(&self, tool: &str) -> Option<&ToolOptions> {
        let cache = self.cache.as_deref().unwrap_or(&self.shared.cache);
        let known = cache.find(&*self.handler, tool)?;
        known.options.or(self.shared.default_options.as_ref())
    }

    async fn list(&self) -> Result<Vec<Arc<Target>>, ErrorData> {
        let mut targets = Vec::new();
        for tool in all_tools(&*self.handler).await? {
            if let Some(options) = self.options(&tool.name) {
                targets.push(Arc::new(target(&tool.name, options)));
            }
        }
        Ok(targets)
    }
}

impl<H, F> Recover for Recovery<H, F>
where
    H: ServerHandler,
    F: Fn(Arc<H>, CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Clone + Send + Sync + 'static,
{
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Err(error) = self.targets.get_or_try_init(|| self.list()).await {
                tracing::warn!(%error, "the tools of a handler could not be listed, so that its lost tasks do not run again");
            }
        })
    }

    fn targets(&self) -> Vec<Arc<Target>> {
        self.targets.get().cloned().unwrap_or_default()
    }

    fn recover(&self, task: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        let options = self.options(&task.target.name)?;
        let arguments = serde_json::from_slice(task.journal.arguments()).inspect_err(|error| {
            tracing::error!(task_id = %task.id, error = error as &dyn std::error::Error, "stored arguments are no JSON object");
        });
        let request = CallToolRequestParams::new(task.target.name.to_string()).with_arguments(arguments.ok()?);
        let (handler, call) = (Arc::clone(&self.handler), self.call.clone());
        let run = move |request, context| call(handler, request, context);
        let work = work(run, request, made_up_request(), Becomes::Task, Answer::default());
        Some((work, self.shared.gate(&task.target.name, options)))
    }
}

/// All tools that the handler lists, page by page.
async fn all_tools<H: ServerHandler>(handler: &H) -> Result<Vec<Tool>, ErrorData> {
    let (mut tools, mut page) = (Vec::new(), None);
    for _ in 0..PAGES {
        let listed = handler.list_tools(page, made_up_request()).await?;
        tools.extend(listed.tools);
        match listed.next_cursor {
            Some(cursor) => page = Some(PaginatedRequestParams::default().with_cursor(Some(cursor))),
            None => return Ok(tools),
        }
    }
    Err(ErrorData::internal_error(format!("its list of tools does not end within {PAGES} pages"), None))
}

/// The request of nobody, under a version that has tasks, and declaring nothing.
fn made_up_request() -> RequestContext<RoleServer> {
    let mut context = RequestContext::new(RequestId::Number(0), nobody());
    let meta = &mut context.meta.0.0;
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), TASKS_SINCE.into());
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), serde_json::json!({}));
    context
}
