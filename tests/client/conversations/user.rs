//! The person and the program at the client: calls, answers, and what they get in the end.

use std::sync::Arc;

use mcp_tasks::client::{Called, ClientError, FollowOptions, TaskClient, TaskHandle};
use rmcp::{
    ClientHandler, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationCapability, ErrorData, Implementation,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use super::files::Ending;

/// A question that waits for the person's answer.
pub struct Question {
    pub params: Value,
    pub answer: oneshot::Sender<Value>,
}

/// Shows each question to the replayer.
#[derive(Clone)]
pub struct Person(pub mpsc::UnboundedSender<Question>);

impl ClientHandler for Person {
    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (answer, given) = oneshot::channel();
        let params =
            serde_json::to_value(params).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let _ = self.0.send(Question { params, answer });
        let given = given.await.map_err(|_| ErrorData::internal_error("nobody answers", None))?;
        serde_json::from_value(given).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("replayed", "1"))
    }
}

/// How it ended, as a conversation says it.
pub type Outcome = Result<Value, ClientError>;

/// A program that made a call, or took a task up again.
pub struct Program {
    running: JoinHandle<()>,
    handle: watch::Receiver<Option<Arc<TaskHandle>>>,
    pub outcome: watch::Receiver<Option<Arc<Outcome>>>,
    _client: TaskClient,
}

/// Polls are what the conversations are about; streams have tests of their own.
fn following() -> FollowOptions {
    FollowOptions::default().with_poll_only()
}

impl Program {
    fn run<F>(client: TaskClient, work: impl FnOnce(TaskClient, watch::Sender<Option<Arc<TaskHandle>>>) -> F) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let (tell_handle, handle) = watch::channel(None);
        let (tell_outcome, outcome) = watch::channel(None);
        let work = work(client.clone(), tell_handle);
        let running = tokio::spawn(async move { drop(tell_outcome.send(Some(Arc::new(work.await)))) });
        Self { running, handle, outcome, _client: client }
    }

    pub fn calls(client: TaskClient, params: &Value) -> Self {
        let params: CallToolRequestParams = serde_json::from_value(params.clone()).expect("parameters of a call");
        Self::run(client, |client, handle| async move {
            match client.call_tool_task_with(params, following()).await? {
                Called::Result(result) => Ok(json!(result)),
                Called::Task(task) => follow(task, handle).await,
            }
        })
    }

    pub fn lists(client: TaskClient) -> Self {
        Self::run(client, |client, _handle| async move {
            match client.peer().list_tools(None).await {
                Ok(tools) => Ok(json!(tools)),
                Err(ServiceError::UnexpectedResponse) => Err(ClientError::InvalidResponse("a task".into())),
                Err(error) => panic!("{error}"),
            }
        })
    }

    /// Ends, and leaves what it saved to another program.
    pub async fn restarted(mut self, client: TaskClient) -> Self {
        let saved = serde_json::to_value(self.handle().await.ticket()).expect("a ticket is JSON");
        self.running.abort();
        Self::run(client, |client, handle| async move {
            let ticket = serde_json::from_value(saved).expect("a ticket");
            follow(client.resume_with(ticket, following())?, handle).await
        })
    }

    pub async fn cancels(&mut self) {
        let handle = self.handle().await;
        tokio::spawn(async move { handle.cancel().await });
    }

    pub fn lets_go(&self) {
        self.running.abort();
    }

    async fn handle(&mut self) -> Arc<TaskHandle> {
        let handle = self.handle.wait_for(Option::is_some).await.expect("a task");
        handle.clone().expect("a task")
    }
}

async fn follow(task: TaskHandle, handle: watch::Sender<Option<Arc<TaskHandle>>>) -> Outcome {
    let task = Arc::new(task);
    let _ = handle.send(Some(Arc::clone(&task)));
    task.result().await.map(|result| json!(result))
}

/// Whether a call ended as the conversation says.
pub fn is_ending(ending: &Ending, outcome: &Outcome) -> bool {
    match (ending, outcome) {
        (
            Ending::Error(error),
            Err(ClientError::Failed { code, message, data } | ClientError::Rpc { code, message, data }),
        ) => error["code"] == *code && error["message"] == **message && error.get("data") == data.as_deref(),
        (Ending::Cancelled(_), Err(ClientError::Cancelled))
        | (Ending::Expired(_), Err(ClientError::Expired))
        | (Ending::NotFound(_), Err(ClientError::NotFound))
        | (Ending::InvalidResponse(_), Err(ClientError::InvalidResponse(_)))
        | (Ending::AnswersRefused(_), Err(ClientError::AnswerRefused { .. })) => true,
        _ => false,
    }
}
