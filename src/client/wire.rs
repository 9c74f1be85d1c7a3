//! Requests and answers, as JSON, over rmcp's peer.

use std::{error::Error, sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleClient,
    model::{ClientRequest, CustomRequest, RequestId, ServerResult},
    service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{
    ClientError, Running,
    driver::Failure,
    error::Cause,
    relay::{Asker, Routes, has_handler, server_request},
    state::InputRequest,
};

/// How long the answer to a `tasks/*` request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server.
#[derive(Clone)]
pub(super) struct Wire {
    pub peer: Peer<RoleClient>,
    pub asker: Arc<dyn Asker>,
    pub routes: Arc<Routes>,
    /// Closes the connection when nobody needs it any more.
    pub running: Arc<Running>,
}

impl Wire {
    /// Sends `tasks/get`, `tasks/update` or `tasks/cancel` (HTTP-01: rmcp derives the headers from the body).
    pub async fn task_request(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match tokio::time::timeout(PATIENCE, self.peer.send_request(request)).await {
            Ok(Ok(result)) => value(&result).map_err(lost),
            Ok(Err(error)) => Err(self.failure(error)),
            Err(_) => Err(lost(format!("no answer to {method} within {PATIENCE:?}"))),
        }
    }

    /// Opens `subscriptions/listen` for one task; it ends with the stream.
    pub async fn listen(&self, task_id: &str) -> Result<OpenRequest, ServiceError> {
        let params = json!({ "notifications": { "taskIds": [task_id] } });
        self.open(ClientRequest::CustomRequest(CustomRequest::new("subscriptions/listen", Some(params)))).await
    }

    /// Sends a request whose answer may take as long as it likes.
    pub async fn open(&self, request: ClientRequest) -> Result<OpenRequest, ServiceError> {
        let handle = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        Ok(OpenRequest(Some(handle)))
    }

    /// Lets the handler answer a request, as if the server had sent it by itself (CLI-05).
    ///
    /// # Errors
    /// Nobody is there to answer, or the handler did not.
    pub async fn ask(&self, key: &str, request: &InputRequest) -> Result<Value, ClientError> {
        let method = &request.method;
        if !has_handler(&self.asker.config(), method) {
            return Err(ClientError::MissingHandler { method: method.clone() });
        }
        let Some(request) = server_request(method, &request.params) else {
            return Err(ClientError::InvalidResponse(format!("the server's `{method}` under `{key}` cannot be read")));
        };
        let context = RequestContext::new(RequestId::String(key.into()), self.peer.clone());
        match self.asker.ask(request, context).await {
            Ok(result) => serde_json::to_value(&result)
                .map_err(|error| ClientError::Handler { method: method.clone(), message: error.to_string() }),
            Err(error) if error.code.0 == -32601 => Err(ClientError::MissingHandler { method: method.clone() }),
            Err(error) => Err(ClientError::Handler { method: method.clone(), message: error.message.into_owned() }),
        }
    }

    /// What an error of rmcp's means for the one request.
    pub fn failure(&self, error: ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => refused(error),
            error if self.peer.is_transport_closed() => Failure::Closed(ClientError::Transport(Cause::new(error))),
            ServiceError::TransportSend(error) => {
                let retry_after = retry_after(&error);
                Failure::Lost { retry_after, error: ClientError::Transport(Cause::new(error)) }
            }
            error => Failure::Lost { retry_after: None, error: ClientError::Transport(Cause::new(error)) },
        }
    }
}

/// A request that has no answer yet; taken back when dropped.
pub(super) struct OpenRequest(Option<RequestHandle<RoleClient>>);

impl OpenRequest {
    /// The answer. Nothing is lost if the future is dropped.
    pub async fn response(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.0 else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(handle.cancel(Some("nobody waits for it".to_owned())));
        }
    }
}

fn lost(why: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    Failure::Lost { retry_after: None, error: ClientError::Transport(Cause::new(why)) }
}

/// A JSON-RPC error; one that says when to come again is no refusal (GET-04).
fn refused(error: rmcp::ErrorData) -> Failure {
    let (code, message, data) = (i64::from(error.code.0), error.message.into_owned(), error.data.map(Box::new));
    let wait = data.as_ref().and_then(|data| data.get("retryAfterMs")).and_then(Value::as_u64);
    match wait {
        Some(ms) => Failure::Lost {
            retry_after: Some(Duration::from_millis(ms)),
            error: ClientError::Rpc { code, message, data },
        },
        None => Failure::Refused { code, message, data },
    }
}

impl From<Failure> for ClientError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Lost { error, .. } | Failure::Closed(error) => error,
            Failure::Refused { code: -32602, .. } => Self::NotFound,
            Failure::Refused { code: -32601, message, .. } => Self::TasksUnsupported(message),
            Failure::Refused { code, message, data } => Self::Rpc { code, message, data },
        }
    }
}

/// A result as JSON, whatever rmcp took it for.
pub(super) fn value(result: &ServerResult) -> Result<Value, serde_json::Error> {
    serde_json::to_value(result)
}

/// How long the server wants to be left alone, from the `Retry-After` of an HTTP answer.
#[cfg(feature = "client-http")]
fn retry_after(error: &(dyn Error + 'static)) -> Option<Duration> {
    use rmcp::transport::streamable_http_client::{HttpStatusError, StreamableHttpError};

    let mut source = Some(error);
    while let Some(error) = source {
        // The outer error passes itself off as the inner one, which is not among its sources.
        let status = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::HttpStatus(status)) => Some(status),
            _ => error.downcast_ref::<HttpStatusError>(),
        };
        if let Some(status) = status {
            return status.retry_after.as_deref().and_then(parse_retry_after);
        }
        source = error.source();
    }
    None
}

/// Without HTTP nobody says so.
#[cfg(not(feature = "client-http"))]
fn retry_after(_: &(dyn Error + 'static)) -> Option<Duration> {
    None
}

/// Seconds, or a date of HTTP's.
#[cfg(feature = "client-http")]
fn parse_retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(text).ok()?.duration_since(std::time::SystemTime::now()).ok()
}
