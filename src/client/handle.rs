//! `TaskHandle`: a task that is followed.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use rmcp::model::CallToolResult;
use serde::Serialize;
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot, watch},
    task::AbortHandle,
};

use super::{
    ClientError, FollowOptions, OnDrop,
    call::{cancel_by_shell, cancel_unfollowed},
    driver::Driver,
    shell::{Final, Shell, Told, View, locked},
    state::TaskState,
    ticket::Ticket,
    wire::Wire,
};

/// A task that is followed in the background: polled or listened to, its questions led to the client's handlers.
///
/// It is a [`Stream`] of the task's states, each once, the first one as soon as it is known. Whoever reads slowly may miss
/// some in between, never the last. When the handle is dropped the task is left to itself or cancelled, as
/// [`FollowOptions::on_drop`] says.
#[must_use = "a handle that is dropped follows nothing"]
pub struct TaskHandle {
    task_id: String,
    view: Arc<Mutex<View>>,
    outcome: watch::Receiver<Option<Final>>,
    tell: Option<mpsc::UnboundedSender<Told>>,
    shell: AbortHandle,
    on_drop: OnDrop,
    wire: Wire,
    /// A handle may be dropped outside.
    runtime: Handle,
}

impl TaskHandle {
    pub(super) fn start(wire: Wire, ticket: Ticket, driver: Driver, before: Duration, options: &FollowOptions) -> Self {
        let task_id = ticket.task_id.clone();
        let view = Arc::new(Mutex::new(View::new(ticket)));
        let (sender, outcome) = watch::channel(None);
        let (tell, told) = mpsc::unbounded_channel();
        let (shell, incoming) = Shell::new(wire.clone(), task_id.clone(), driver, before, Arc::clone(&view), sender);
        let shell = tokio::spawn(shell.run(incoming, told)).abort_handle();
        let runtime = Handle::current();
        Self { task_id, view, outcome, tell: Some(tell), shell, on_drop: options.on_drop, wire, runtime }
    }

    /// The server's name for the task.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The task as it was last seen; `None` before the first answer to a task of which only the id was known.
    pub fn state(&self) -> Option<TaskState> {
        locked(&self.view).ticket.last.clone()
    }

    /// What is needed to go on after a crash or a restart (CLI-03). It changes as the task does: write it down when the
    /// stream gives a state.
    pub fn ticket(&self) -> Ticket {
        locked(&self.view).ticket.clone()
    }

    /// Waits for the end, and gives the result that the tool returned, also one with `isError` (CLI-02). May be called again,
    /// and dropped and called again: the task is followed either way.
    ///
    /// # Errors
    /// Why there is no result: see [`ClientError`].
    pub async fn result(&self) -> Result<CallToolResult, ClientError> {
        let mut outcome = self.outcome.clone();
        match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(ClientError::Detached)),
            Err(_) => Err(ClientError::Detached),
        }
    }

    /// Answers a question, and waits until the server has the answer. An answer that is lost on the way is sent again. The
    /// handler that was asked the same, if any, is told to forget it by dropping its future.
    ///
    /// Of a task that is resumed it is not known what is outstanding before its first state: until then the answer waits. If
    /// the future is dropped the answer is sent all the same.
    ///
    /// # Errors
    /// - [`NotOutstanding`](ClientError::NotOutstanding): the newest state has no such question, or it is answered, or the
    ///   question was gone before the answer was sent (CLI-09).
    /// - [`AnswerRefused`](ClientError::AnswerRefused): the server does not take it (CLI-11).
    /// - Whatever else ended the task before.
    pub async fn answer(&self, key: impl Into<String>, response: impl Serialize) -> Result<(), ClientError> {
        let key = key.into();
        let response = serde_json::to_value(response)
            .map_err(|error| ClientError::Handler { method: key.clone(), message: error.to_string() })?;
        match self.tell(|reply| Told::Answer(key.clone(), response, reply)).await {
            Some(answer) => answer,
            // It ended before the answer was sent.
            None => self.result().await.and(Err(ClientError::NotOutstanding(key))),
        }
    }

    /// Asks the server to cancel the task, and waits until it has heard (CAN-01). Questions that are open are closed. The
    /// task may still end in another way; [`result`](Self::result) says how.
    ///
    /// If the future is dropped the task is cancelled all the same.
    ///
    /// # Errors
    /// The server did not take it. A task that has ended is cancelled without an error.
    pub async fn cancel(&self) -> Result<(), ClientError> {
        let heard = match self.tell(Told::Cancel).await {
            Some(answer) => answer,
            None => self.result().await.map(drop),
        };
        match heard {
            Err(ClientError::Cancelled | ClientError::Failed { .. }) => Ok(()),
            other => other,
        }
    }

    /// Leaves the task to itself: nothing is sent any more. The ticket can be resumed, here or elsewhere.
    pub fn detach(mut self) -> Ticket {
        self.on_drop = OnDrop::Detach;
        self.ticket()
    }

    /// Tells the shell, and waits for its reply; `None` if it has ended, and with it the following of the task.
    async fn tell(
        &self,
        told: impl FnOnce(oneshot::Sender<Result<(), ClientError>>) -> Told,
    ) -> Option<Result<(), ClientError>> {
        let (reply, answer) = oneshot::channel();
        self.tell.as_ref()?.send(told(reply)).ok()?;
        answer.await.ok()
    }
}

impl Stream for TaskHandle {
    type Item = TaskState;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TaskState>> {
        let mut view = locked(&self.view);
        match view.queue.pop_front() {
            Some(state) => Poll::Ready(Some(state)),
            None if view.ended => Poll::Ready(None),
            None => {
                view.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl TaskHandle {
    /// The next state; `None` once the task has ended and all was shown. Nothing is lost if the future is dropped.
    pub async fn next_state(&mut self) -> Option<TaskState> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Drop for TaskHandle {
    fn drop(&mut self) {
        let is_followed = self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok();
        let lives = self.outcome.borrow().as_ref().is_some_and(may_live);
        match (self.on_drop, self.tell.take()) {
            (OnDrop::Cancel, Some(tell)) if is_followed => cancel_by_shell(&self.runtime, tell),
            (OnDrop::Cancel, _) if lives => cancel_unfollowed(&self.runtime, self.wire.clone(), self.task_id.clone()),
            _ => self.shell.abort(),
        }
    }
}

/// Whether the task may run on although it is not followed any more.
fn may_live(outcome: &Final) -> bool {
    use ClientError::{Cancelled, Expired, Failed, NotFound, TasksUnsupported};
    !matches!(outcome, Ok(_) | Err(Failed { .. } | Cancelled | Expired | NotFound | TasksUnsupported(_)))
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("task_id", &self.task_id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
