//! What the output of `#[task_handler]` and of `#[task_tool]` on rmcp's methods calls.

use std::{
    any::TypeId,
    borrow::Cow,
    future::{Ready, ready},
    pin::Pin,
    sync::{Arc, OnceLock},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::common::{AsRequestContext, FromContextPart},
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult, ErrorCode,
        GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult, ListToolsResult, ProtocolVersion,
        ServerConfig, UpdateTaskParams,
    },
    service::RequestContext,
};

use super::{
    Principals, Shared, answers, call,
    delegate::{advertise, conceal},
    recovery::Recovery,
    registry::{OptionsCache, strip},
};
use crate::{
    clock::SystemClock, context::TaskContext, elicit::validate_response, engine::Engine, store::memory::MemoryStore,
    wire,
};

/// The future of a tool's own code.
pub type CallFuture = Pin<Box<dyn Future<Output = Result<CallToolResponse, ErrorData>> + Send>>;

/// The engine of handlers that name none: in memory, one for the process.
///
/// # Panics
/// Outside a tokio runtime, or if the operating system gives no random bytes, the first time it is called.
pub fn process_engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let clock = Arc::new(SystemClock);
        let store = Arc::new(MemoryStore::new(clock.clone()));
        let builder = Engine::builder(store, clock).validate_input(Arc::new(validate_response));
        builder.start().expect("the operating system gives random bytes")
    })
}

/// An rmcp handler under `#[task_handler]`, which implements this.
pub trait TaskHandler: ServerHandler {
    /// Lets the engine that the handler names run lost tasks of its tools again from now on, with a clone of this handler
    /// that it keeps until it shuts down. Nothing happens if there already is one of this type, or if the handler names no
    /// engine: then tasks end with the process.
    ///
    /// A session and a call do this by themselves. Over HTTP, where a handler is made for each request, call it before the
    /// first one comes, so that tasks go on that an earlier process left.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    fn recover_tasks(&self);
}

/// What `recover_tasks` does: `call` is the handler's own code.
pub fn recover_tasks<H, F>(engine: &Engine, handler: &H, call: F)
where
    H: TaskHandler + Clone,
    F: Fn(H, CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Clone + Send + Sync + 'static,
{
    engine.recover_with_type(TypeId::of::<H>(), || {
        let (handler, shared) = (Arc::new(handler.clone()), Arc::new(Shared::new(engine)));
        let call = move |handler: Arc<H>, request, context| call(H::clone(&handler), request, context);
        Arc::new(Recovery::new(handler, shared, Some(OptionsCache::of_type::<H>()), call))
    });
}

/// Answers `tools/call`: `call` is the handler's own code.
///
/// # Errors
/// As for the tool, and those of the protocol.
pub async fn call_tool<H, F>(
    engine: &Engine,
    handler: H,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    call: F,
) -> Result<CallToolResponse, ErrorData>
where
    H: TaskHandler,
    F: FnOnce(H, CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
{
    handler.recover_tasks();
    let shared = Shared::new(engine);
    let known = OptionsCache::of_type::<H>().find(&handler, &request.name);
    let gated = call::gate(&shared, known.as_ref(), &handler, &request, &context);
    call::answer(&shared, gated, request, context, move |request, context| call(handler, request, context)).await
}

/// Takes our mark out of tools that are about to be listed.
pub fn list_tools(mut listed: ListToolsResult) -> ListToolsResult {
    listed.tools.iter_mut().for_each(strip);
    listed
}

/// The same configuration, with the extension advertised (CAP-01). A handler that is asked for it is about to be served.
pub fn get_info<H: TaskHandler>(handler: &H, mut config: ServerConfig) -> ServerConfig {
    if tokio::runtime::Handle::try_current().is_ok() {
        handler.recover_tasks();
    }
    advertise(&mut config.capabilities);
    config
}

/// The answer to `initialize` of a handler whose configuration is `config`: no version that it can agree to has the
/// extension, so that it is not advertised (LEG-01).
///
/// # Errors
/// Those of rmcp's own negotiation.
pub fn negotiate_initialize(
    mut config: ServerConfig,
    versions: Cow<'static, [ProtocolVersion]>,
    request: &InitializeRequestParams,
) -> Result<InitializeResult, ErrorData> {
    conceal(&mut config.capabilities);
    Negotiator { config, versions }.negotiate_initialize(request)
}

/// A handler that does nothing but what rmcp does by itself.
struct Negotiator {
    config: ServerConfig,
    versions: Cow<'static, [ProtocolVersion]>,
}

impl ServerHandler for Negotiator {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.versions.clone()
    }
}

/// What rmcp answers to a request that nobody knows.
pub fn unknown_request(
    request: CustomRequest,
    _: RequestContext<RoleServer>,
) -> Ready<Result<CustomResult, ErrorData>> {
    ready(Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)))
}

/// Answers requests that rmcp could not make sense of and that are about tasks; the others are `theirs`.
///
/// # Errors
/// Those of the protocol, and of `theirs`.
pub async fn on_custom_request<F, R>(
    engine: &Engine,
    request: CustomRequest,
    context: RequestContext<RoleServer>,
    theirs: F,
) -> Result<CustomResult, ErrorData>
where
    F: FnOnce(CustomRequest, RequestContext<RoleServer>) -> R + Send,
    R: Future<Output = Result<CustomResult, ErrorData>> + Send,
{
    match answers::answer_custom(engine, &Principals::default(), &request, &context).await {
        Some(answered) => answered,
        None => theirs(request, context).await,
    }
}

/// Answers `tasks/get`.
///
/// # Errors
/// Those of the protocol.
pub async fn get_task(
    engine: &Engine,
    params: GetTaskParams,
    context: RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    answers::answer_as(engine, &Principals::default(), &context, "tasks/get", &params).await
}

/// Answers `tasks/update`.
///
/// # Errors
/// Those of the protocol.
pub async fn update_task(
    engine: &Engine,
    params: UpdateTaskParams,
    context: RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    acknowledged(answers::answer(engine, &Principals::default(), &context, "tasks/update", &params).await)
}

/// Answers `tasks/cancel`.
///
/// # Errors
/// Those of the protocol.
pub async fn cancel_task(
    engine: &Engine,
    params: CancelTaskParams,
    context: RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    acknowledged(answers::answer(engine, &Principals::default(), &context, "tasks/cancel", &params).await)
}

/// rmcp writes the acknowledgement itself.
pub(super) fn acknowledged(answered: Result<Vec<u8>, ErrorData>) -> Result<(), ErrorData> {
    answered.map(|text| debug_assert_eq!(text, wire::ACKNOWLEDGEMENT.as_bytes()))
}

/// The context of the call that `context` belongs to.
///
/// # Errors
/// If the handler is served without tasks.
pub fn task_context(context: &mut RequestContext<RoleServer>) -> Result<TaskContext, ErrorData> {
    context.extensions.get::<TaskContext>().cloned().ok_or_else(|| {
        tracing::error!(
            "a tool wants a `TaskContext`, but its handler has no `#[task_handler]` and is in no `Tasks::new`"
        );
        ErrorData::internal_error("internal error", None)
    })
}

impl<C: AsRequestContext> FromContextPart<C> for TaskContext {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        task_context(context.as_request_context_mut())
    }
}
