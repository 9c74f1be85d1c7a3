//! `WithTasks`: a client's handler, with what is pushed about tasks led to those who follow them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    RoleClient,
    model::{
        ClientConfig, ClientResult, ErrorData, NotificationMetaObject, ServerNotification, ServerRequest,
        TASKS_EXTENSION_ID,
    },
    service::{NotificationContext, RequestContext, Service},
};
use serde_json::Value;
use tokio::sync::watch;

use super::state::TaskState;
use crate::clock::BoxFuture;

/// A client's handler that also declares the tasks extension, on every request, and hears `notifications/tasks`. All else
/// goes to the handler itself.
#[derive(Debug)]
pub struct WithTasks<H> {
    handler: Arc<H>,
    routes: Arc<Routes>,
}

impl<H: Service<RoleClient>> WithTasks<H> {
    /// Wraps a handler, which is then served in its place.
    pub fn new(handler: H) -> Self {
        Self { handler: Arc::new(handler), routes: Arc::default() }
    }

    pub(super) fn asker(&self) -> Arc<dyn Asker> {
        Arc::clone(&self.handler) as Arc<dyn Asker>
    }

    pub(super) fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes)
    }
}

impl<H: Service<RoleClient>> Service<RoleClient> for WithTasks<H> {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        self.handler.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // rmcp moves `_meta` into the extensions, and leaves `context.meta` empty.
        let meta = context.extensions.get().unwrap_or(&context.meta);
        if let Some(task) = pushed(&notification, meta)
            && self.routes.push(task)
        {
            return Ok(());
        }
        self.handler.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ClientConfig {
        let mut config = self.handler.get_info();
        config.capabilities.extensions.get_or_insert_default().entry(TASKS_EXTENSION_ID.to_owned()).or_default();
        config
    }
}

/// The task of a `notifications/tasks`, whether rmcp could read it or not.
fn pushed(notification: &ServerNotification, meta: &NotificationMetaObject) -> Option<TaskState> {
    let mut params = match notification {
        ServerNotification::TaskStatusNotification(task) => serde_json::to_value(&task.params).ok()?,
        ServerNotification::CustomNotification(custom) if custom.method == "notifications/tasks" => {
            custom.params.clone()?
        }
        _ => return None,
    };
    // rmcp has taken it out.
    if let Some(params) = params.as_object_mut() {
        params.entry("_meta").or_insert_with(|| serde_json::to_value(meta).unwrap_or_default());
    }
    TaskState::read(&params).inspect_err(|reason| tracing::warn!(reason, "the server pushed what is no task")).ok()
}

/// Who follows which task. Of each only the newest push is kept.
#[derive(Debug, Default)]
pub(super) struct Routes(Mutex<HashMap<String, watch::Sender<Option<TaskState>>>>);

impl Routes {
    /// What is pushed about a task from now on.
    pub fn subscribe(&self, task_id: &str) -> watch::Receiver<Option<TaskState>> {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        routes.retain(|_, sender| !sender.is_closed());
        routes.entry(task_id.to_owned()).or_insert_with(|| watch::channel(None).0).subscribe()
    }

    fn push(&self, task: TaskState) -> bool {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        routes.get(&task.task_id).is_some_and(|sender| sender.send(Some(task)).is_ok())
    }
}

/// Who answers what a server asks: the same handler as for a direct request (CLI-05).
pub(super) trait Asker: Send + Sync + 'static {
    fn ask(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> BoxFuture<'_, Result<ClientResult, ErrorData>>;

    /// What the client said of itself.
    fn config(&self) -> ClientConfig;
}

impl<H: Service<RoleClient>> Asker for H {
    fn ask(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> BoxFuture<'_, Result<ClientResult, ErrorData>> {
        Box::pin(self.handle_request(request, context))
    }

    fn config(&self) -> ClientConfig {
        self.get_info()
    }
}

/// Whether a client with these capabilities has a handler for the method. rmcp's own handlers answer also where nothing
/// was declared, by declining: a user who was never asked.
pub(super) fn has_handler(config: &ClientConfig, method: &str) -> bool {
    let capabilities = &config.capabilities;
    match method {
        "elicitation/create" => capabilities.elicitation.is_some(),
        "sampling/createMessage" => capabilities.sampling.is_some(),
        "roots/list" => capabilities.roots.is_some(),
        _ => true,
    }
}

/// The request as rmcp has it; `None` if the server's is not what its method wants.
pub(super) fn server_request(method: &str, params: &Value) -> Option<ServerRequest> {
    let request = match params {
        Value::Null => serde_json::json!({ "method": method }),
        params => serde_json::json!({ "method": method, "params": params }),
    };
    let request = serde_json::from_value(request).ok()?;
    let known = matches!(method, "elicitation/create" | "sampling/createMessage" | "roots/list");
    (!known || !matches!(request, ServerRequest::CustomRequest(_))).then_some(request)
}
