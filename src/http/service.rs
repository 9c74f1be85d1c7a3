//! The service: which requests are answered here, and how. Checks and decisions are in the files beside it.

use std::{
    convert::Infallible,
    error::Error,
    fmt,
    future::poll_fn,
    mem,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use ::http::{Method, Request, Response, StatusCode, header, request::Parts};
use bytes::Bytes;
use http_body::Body;
use http_body_util::{Either, Full};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tower_service::Service;

use crate::{
    clock::BoxFuture,
    engine::TaskEngine,
    http::{
        PrincipalOf,
        body::{self, ResponseBody},
        listen::Listening,
        request::{self, Kind, Message},
        respond,
        sse::Events,
        transport::{EVENT_STREAM, Transport, Verdict},
    },
    principal::Principal,
    protocol::{self, Caller, Listen, ProtocolError, Subscription},
};

type HttpResponse = Response<ResponseBody>;
/// What is handed on: a body that was read here, or one that was not.
type HandedOn<B> = Request<Either<Full<Bytes>, B>>;

/// A service with tasks in front of it; made by [`TasksLayer`](crate::http::TasksLayer).
#[derive(Clone)]
pub struct TasksService<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> fmt::Debug for TasksService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TasksService").field("transport", &self.shared.transport).finish_non_exhaustive()
    }
}

impl<S> TasksService<S> {
    pub(super) fn new(inner: S, shared: Shared) -> Self {
        Self { inner, shared: Arc::new(shared) }
    }
}

impl<S, B> Service<Request<B>> for TasksService<S>
where
    S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<HttpResponse, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let clone = self.inner.clone();
        // The one that was polled ready is the one to call.
        let inner = mem::replace(&mut self.inner, clone);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { Ok(Exchange { shared, inner }.run(request).await) })
    }
}

/// What all clones of the service share.
pub(super) struct Shared {
    engine: Arc<dyn TaskEngine>,
    principal: Option<Arc<PrincipalOf>>,
    transport: Transport,
    body_limit: usize,
    keep_alive: Option<Duration>,
    shutdown: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Shared {
    pub fn new(
        engine: Arc<dyn TaskEngine>,
        principal: Option<Arc<PrincipalOf>>,
        config: &StreamableHttpServerConfig,
    ) -> Self {
        let token = config.cancellation_token.clone();
        Self {
            engine,
            principal,
            transport: Transport::new(config),
            body_limit: config.max_request_body_bytes,
            keep_alive: config.sse_keep_alive,
            shutdown: Box::new(move || Box::pin(token.clone().cancelled_owned())),
        }
    }

    /// Without a function, what something in front has left in the request.
    fn principal(&self, parts: &Parts) -> Principal {
        let named = match &self.principal {
            Some(of) => of(parts),
            None => parts.extensions.get().cloned(),
        };
        named.unwrap_or_else(Principal::anonymous)
    }

    fn listening(&self, id: &str, tasks: Subscription, others: Option<Events>) -> HttpResponse {
        let (keep_alive, shutdown) = (self.keep_alive, (self.shutdown)());
        respond::events(Listening { id: id.to_owned(), tasks, others, keep_alive, shutdown }.start())
    }
}

/// One request and its response.
struct Exchange<S> {
    shared: Arc<Shared>,
    inner: S,
}

impl<S> Exchange<S> {
    async fn run<B>(mut self, request: Request<B>) -> HttpResponse
    where
        S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible> + Clone,
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        let principal = self.shared.principal(&parts);
        parts.extensions.insert(principal.clone());
        if parts.method != Method::POST {
            return self.hand_on(parts, Either::Right(body)).await;
        }
        match self.shared.transport.verdict(&parts) {
            Verdict::Admitted => {}
            Verdict::LeftToRmcp => return self.hand_on(parts, Either::Right(body)).await,
            Verdict::AskAboutOrigin => {
                if let Some(refusal) = refusal_of_origin(self.inner.clone(), &parts).await {
                    return refusal;
                }
            }
        }
        match body::read(body, self.shared.body_limit).await {
            Ok(body) => self.message(parts, body, &principal).await,
            Err(why) => respond::unread(why),
        }
    }

    async fn message<B>(mut self, parts: Parts, body: Bytes, principal: &Principal) -> HttpResponse
    where
        S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible>,
    {
        let request = match Message::read(&body, &parts.headers) {
            Message::Ours(request) => *request,
            Message::Foreign => {
                let body = Either::Left(Full::new(body.clone()));
                return self.hand_on(parts, body).await;
            }
            Message::Legacy(id, method) => return respond::no_such_method(id, &method),
            Message::NotJsonRpc(id) => return respond::not_jsonrpc(id),
            Message::Malformed => return respond::malformed(),
        };
        if let Err(error) = request.check(&parts.headers) {
            return respond::bad_request(request.id, error);
        }
        if !request.is_complete() {
            return respond::bad_request(request.id, incomplete());
        }
        let caller = request.caller(principal);
        match &request.kind {
            Kind::Tasks(method) => {
                let outcome = protocol::answer(&*self.shared.engine, &caller, method, request.params).await;
                respond::answer(request.id, &outcome)
            }
            Kind::Listen(listen) => match open(&*self.shared.engine, listen, &caller).await {
                Ok((subscription, false)) => self.shared.listening(request.id, subscription, None),
                Ok((subscription, true)) => self.share(parts, &body, request.id, subscription).await,
                Err(error) => respond::answer(request.id, &Err(error)),
            },
        }
    }

    /// One stream for tasks and what else was asked for (NOT-06). A server that has nothing else to tell still tells of
    /// tasks; any other refusal is the refusal of the whole.
    async fn share<B>(&mut self, parts: Parts, body: &[u8], id: &str, tasks: Subscription) -> HttpResponse
    where
        S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible>,
    {
        let Some(rest) = request::without_task_ids(body) else {
            return respond::answer(id, &Err(ProtocolError::internal()));
        };
        let response = self.hand_on(without_length(parts), Either::Left(Full::from(rest))).await;
        if response.status() == StatusCode::NOT_FOUND {
            return self.shared.listening(id, tasks, None);
        }
        if !is_event_stream(&response) {
            return response;
        }
        self.shared.listening(id, tasks, Some(Events::of(response.into_body())))
    }

    async fn hand_on<B>(&mut self, parts: Parts, body: Either<Full<Bytes>, B>) -> HttpResponse
    where
        S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible>,
    {
        let Ok(response) = self.inner.call(Request::from_parts(parts, body)).await;
        response
    }
}

/// rmcp checks the origin before anything else, and only then whether it has the method. Asked with a clone, which nobody
/// has polled ready.
async fn refusal_of_origin<S, B>(mut inner: S, parts: &Parts) -> Option<HttpResponse>
where
    S: Service<HandedOn<B>, Response = HttpResponse, Error = Infallible>,
{
    let mut request = Request::new(Either::Left(Full::default()));
    *request.method_mut() = Method::OPTIONS;
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    let Ok(()) = poll_fn(|cx| inner.poll_ready(cx)).await;
    let Ok(response) = inner.call(request).await;
    matches!(response.status(), StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST).then_some(response)
}

/// Agrees to a listen; the second says whether it asks for other kinds as well.
async fn open(
    engine: &dyn TaskEngine,
    listen: &Result<Listen, ProtocolError>,
    caller: &Caller<'_>,
) -> Result<(Subscription, bool), ProtocolError> {
    let listen = match listen {
        Ok(listen) => listen,
        Err(_) if !caller.takes_tasks() => return Err(ProtocolError::extension_not_declared()),
        Err(error) => return Err(error.clone()),
    };
    Ok((listen.open(engine, caller).await?, listen.others))
}

fn incomplete() -> ProtocolError {
    ProtocolError::invalid_params(
        "the request's _meta lacks protocolVersion or clientCapabilities, or they are malformed",
    )
}

fn without_length(mut parts: Parts) -> Parts {
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
}

fn is_event_stream(response: &HttpResponse) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    response.status().is_success() && content_type.is_some_and(|value| value.starts_with(EVENT_STREAM))
}
