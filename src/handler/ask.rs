//! Questions of a tool whose call is no task and cannot become one (NEW-02).
//!
//! The tool runs beside the request; its questions travel to the request's own future, which knows how to put them: as the
//! result of the call ([`Round`]), or as requests to the client while the call waits ([`ask_directly`]).

use bytes::Bytes;
use rmcp::{
    RoleServer,
    model::{ClientResult, CustomRequest, ServerRequest},
    service::Peer,
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

/// What travels from the tool.
pub(super) enum Asked {
    /// A question, and where its answer goes.
    Question(Question, oneshot::Sender<Result<Bytes, TaskContextError>>),
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
    replies: Vec<oneshot::Sender<Result<Bytes, TaskContextError>>>,
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

/// Sends a question to the client as a request of its own, and waits for the answer.
pub(super) async fn ask_directly(peer: &Peer<RoleServer>, question: &Question) -> Result<Bytes, TaskContextError> {
    let request: Request = serde_json::from_slice(&question.request).map_err(|_| TaskContextError::CannotAsk)?;
    let request = ServerRequest::CustomRequest(CustomRequest::new(request.method, request.params));
    let answer = peer.send_request(request).await.map_err(|error| {
        tracing::info!(%error, "the client did not answer a question");
        TaskContextError::CannotAsk
    })?;
    written(&answer).map_err(|_| TaskContextError::CannotAsk)
}

fn written(answer: &ClientResult) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(answer).map(Bytes::from)
}
