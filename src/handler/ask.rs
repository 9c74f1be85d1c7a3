//! Questions of a tool whose call is no task and cannot become one (NEW-02).
//!
//! The tool runs beside the request; its questions travel to the request's own future, which knows how to put them: as the
//! result of the call ([`Round`]), or as requests to the client while the call waits ([`ask_directly`]).

use bytes::Bytes;
use rmcp::{
    RoleServer,
    model::{ClientResult, CustomRequest, ServerRequest},
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::{
    clock::BoxFuture,
    engine::InlineInput,
    error::TaskContextError,
    input::{InputKind, Question},
};

/// Where an answer goes.
type Reply = oneshot::Sender<Result<Bytes, TaskContextError>>;

/// What travels from the tool.
pub(super) enum Asked {
    /// A question, and where its answer goes.
    Question(Question, Reply),
    /// Everything that the tool asked at once has been sent.
    AllSent,
}

/// The tool's end.
pub(super) struct Questions(mpsc::UnboundedSender<Asked>);

/// The two ends of a way for questions.
pub(super) fn way() -> (Questions, mpsc::UnboundedReceiver<Asked>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Questions(sender), receiver)
}

impl InlineInput for Questions {
    fn ask(&self, _: InputKind, question: Question) -> BoxFuture<'static, Result<Bytes, TaskContextError>> {
        let questions = self.0.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // Where nobody listens any more, the reply is dropped, and so there is an error below.
            let _ = questions.send(Asked::Question(question, reply));
            // The tool is polled once more: by then it has asked whatever it asks at the same time.
            tokio::task::yield_now().await;
            let _ = questions.send(Asked::AllSent);
            answer.await.unwrap_or(Err(TaskContextError::Stopped))
        })
    }
}

/// Collects the questions that a tool asks at once; to be put to the client together.
#[derive(Default)]
pub(super) struct Round {
    questions: Vec<Question>,
    /// Kept so that the tool waits, until it is dropped.
    replies: Vec<Reply>,
}

impl Round {
    /// Takes one more thing from the tool; the questions, once they are all there.
    pub fn take(&mut self, asked: Asked) -> Option<Vec<Question>> {
        match asked {
            Asked::Question(question, reply) => {
                self.questions.push(question);
                self.replies.push(reply);
                None
            }
            Asked::AllSent => Some(std::mem::take(&mut self.questions)),
        }
    }
}

#[derive(Deserialize)]
struct Request {
    method: String,
    params: Option<Value>,
}

/// Sends a question to the client as a request of its own; returns when it is on its way. The answer goes to `reply`, and
/// the request is taken back once nobody waits for it.
pub(super) async fn ask_directly(peer: &Peer<RoleServer>, question: &Question, reply: Reply) {
    if reply.is_closed() {
        return;
    }
    // Sent from the call's own future, where rmcp sees to which request of the client's it belongs.
    match send(peer, question).await {
        Ok(request) => drop(tokio::spawn(pass_on(request, reply))),
        Err(error) => drop(reply.send(Err(error))),
    }
}

async fn send(peer: &Peer<RoleServer>, question: &Question) -> Result<RequestHandle<RoleServer>, TaskContextError> {
    let request: Request = serde_json::from_slice(&question.request).map_err(|_| TaskContextError::CannotAsk)?;
    let request = ServerRequest::CustomRequest(CustomRequest::new(request.method, request.params));
    peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.map_err(unanswered)
}

/// Ends with the tool at the latest, for that drops the other end of `reply`.
async fn pass_on(mut request: RequestHandle<RoleServer>, mut reply: Reply) {
    let answer = tokio::select! {
        answer = &mut request.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
        () = reply.closed() => {
            // An error means that the client has left.
            let _ = request.cancel(Some("the tool no longer waits for the answer".to_owned())).await;
            return;
        }
    };
    let answer =
        answer.map_err(unanswered).and_then(|answer| written(&answer).map_err(|_| TaskContextError::CannotAsk));
    // An error means that the tool no longer waits.
    let _ = reply.send(answer);
}

fn unanswered(error: ServiceError) -> TaskContextError {
    tracing::info!(%error, "the client did not answer a question");
    TaskContextError::CannotAsk
}

fn written(answer: &ClientResult) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(answer).map(Bytes::from)
}
