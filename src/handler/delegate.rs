//! `Tasks<H>` as a handler: what is about tasks is answered here, everything else by the handler behind.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
        CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams,
        GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
        ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};

use super::{Tasks, answers, call, glue, registry::strip};
use crate::{protocol::IDEMPOTENCY_KEY, types::EXTENSION_ID};

/// What a server with tasks advertises: the extension, and our own that goes with it.
const EXTENSIONS: [&str; 2] = [EXTENSION_ID, IDEMPOTENCY_KEY];

/// Adds the extensions to what a server advertises (CAP-01).
pub(super) fn advertise(capabilities: &mut ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.extend(EXTENSIONS.map(|extension| (extension.to_owned(), serde_json::Map::new())));
}

/// Takes the extensions out of what a server advertises (LEG-01).
pub(super) fn conceal(capabilities: &mut ServerCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.retain(|extension, _| !EXTENSIONS.contains(&extension.as_str()));
        if extensions.is_empty() {
            capabilities.extensions = None;
        }
    }
}

/// The code of a handler's tools.
pub(super) fn call_inner<H: ServerHandler>(
    inner: Arc<H>,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> glue::CallFuture {
    Box::pin(async move { inner.call_tool(request, context).await })
}

impl<H: ServerHandler> ServerHandler for Tasks<H> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let shared = self.shared();
        let known = shared.cache.find(self.inner(), &request.name);
        let gated = call::gate(shared, known.as_ref(), self.inner(), &request, &context);
        let inner = Arc::clone(&self.inner);
        let run = move |request, context| call_inner(inner, request, context);
        call::answer(shared, gated, request, context, run).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.inner.list_tools(request, context).await?;
        listed.tools.iter_mut().for_each(strip);
        Ok(listed)
    }

    /// Advertises the extension: rmcp looks here before it lets a `tasks/*` request through. In a session, whose version does
    /// not have it, it is not there (LEG-01).
    fn get_info(&self) -> ServerConfig {
        let mut config = self.inner.get_info();
        if self.in_session.load(Ordering::Relaxed) {
            conceal(&mut config.capabilities);
        } else {
            advertise(&mut config.capabilities);
        }
        config
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut discovered = self.inner.discover(context).await?;
        advertise(&mut discovered.capabilities);
        Ok(discovered)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let shared = self.shared();
        match answers::answer_custom(&shared.engine, &shared.principals, &request, &context).await {
            Some(answered) => answered,
            None => self.inner.on_custom_request(request, context).await,
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let shared = self.shared();
        answers::answer_as(&shared.engine, &shared.principals, &context, "tasks/get", &request).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let shared = self.shared();
        let answered = answers::answer(&shared.engine, &shared.principals, &context, "tasks/update", &request).await;
        glue::acknowledged(answered)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let shared = self.shared();
        let answered = answers::answer(&shared.engine, &shared.principals, &context, "tasks/cancel", &request).await;
        glue::acknowledged(answered)
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.inner.ping(context).await
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.in_session.store(true, Ordering::Relaxed);
        self.inner.initialize(request, context).await
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        self.inner.negotiate_initialize(request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.inner.complete(request, context).await
    }

    #[allow(deprecated, reason = "passed on for the versions that have it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.set_level(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.inner.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.inner.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.inner.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.inner.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.inner.read_resource(request, context).await
    }

    /// A handler that has nothing to subscribe to is no reason to refuse a listen: tasks can be listened to.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.inner.accepted_subscription_filter(requested).unwrap_or_default())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
    }

    #[allow(deprecated, reason = "passed on for the versions that have it")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.subscribe(request, context).await
    }

    #[allow(deprecated, reason = "passed on for the versions that have it")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.unsubscribe(request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.get_tool(name)
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, context: NotificationContext<RoleServer>) {
        self.inner.on_cancelled(notification, context).await;
    }

    async fn on_progress(&self, notification: ProgressNotificationParam, context: NotificationContext<RoleServer>) {
        self.inner.on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: NotificationContext<RoleServer>) {
        self.inner.on_custom_notification(notification, context).await;
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.inner.list_skills(request, context).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.inner.get_skill(request, context).await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.inner.read_resource_directory(request, context).await
    }
}
