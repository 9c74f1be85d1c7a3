//! Typed questions to the client: [`TaskContext::elicit`] and its neighbours.

mod answer;
mod field;
mod form;
mod testing;

use std::sync::Arc;

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use self::answer::{Action, ElicitAnswer};
pub use self::{
    answer::validate_response,
    form::{Form, FormError, form},
};
use crate::{
    context::TaskContext,
    error::TaskContextError,
    input::InputKind,
    types::{
        CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest, ElicitRequestFormParams,
        ElicitRequestURLParams, ListRootsRequest, ListRootsResult, Root,
    },
};

/// What a user did with a question (case 18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elicited<T> {
    /// Answered it (`accept`).
    Accepted(T),
    /// Said no (`decline`).
    Declined,
    /// Closed it without a decision (`cancel`). The task is not cancelled by that: it goes on.
    Dismissed,
}

impl<T> Elicited<T> {
    /// The answer, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Dismissed => None,
        }
    }
}

/// Why a question has no answer.
///
/// A user who declines is no error: see [`Elicited`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// It could not be asked, or the task was cancelled while it waited.
    #[error(transparent)]
    Context(#[from] TaskContextError),
    /// The type has no form that a client could show. Found by `TaskServer::form` when the server is built.
    #[error(transparent)]
    Form(#[from] FormError),
    /// The answer is not what was asked for, though it fits the form.
    #[error("the answer to `{name}` cannot be used")]
    Answer {
        /// The question.
        name: Box<str>,
        /// What does not fit.
        #[source]
        cause: serde_json::Error,
    },
}

/// Questions with typed answers.
///
/// All of these go through [`ask`](TaskContext::ask), and so:
/// - The wire key is `name`, then `name#2` and so on for each further ask of that name (UPD-04, case 12).
/// - Dropping the future withdraws the question (case 10). Cancellation of the task ends it with
///   [`TaskContextError::Cancelled`] at once (case 11).
/// - What the client did not declare it is never asked: that is [`TaskContextError::NotDeclared`] (case 19).
/// - A call that is no task yet becomes one where the client declared tasks.
///
/// # When the call is no task: the fn runs again from its start
/// A client of revision 2026-07-28 that did not declare tasks gets the question as the answer to its call
/// (`InputRequiredResult`). The future of the tool is **dropped at the question**; when the client calls again with the
/// answer, the fn **runs again from its start**, and the question returns the answer instead of asking. Whatever the fn did
/// before it asked is done again, once more for each question. So ask first and act after, or wrap what must not happen
/// twice so that the second time does no harm; [`step`](TaskContext::step) does not help here, for what it records belongs
/// to a task. The questions have to come in the same order each time. After a restart of the server a task with
/// `on_restart = "rerun"` does the same, but keeps its steps.
///
/// A client of revision 2025-11-25 is asked directly while the call waits; there nothing runs twice.
impl TaskContext {
    /// Shows the user a form made from `T` and gives what was entered, as a `T`.
    ///
    /// `T` is a struct with named fields of text, numbers, `bool`, enums without data, or lists of such enums; an `Option`
    /// may be left out. Titles, descriptions, bounds and defaults that schemars finds at a field are shown in the form
    /// ([`form()`] gives it). The answer is checked against the form before it is taken (UPD-07). See [the
    /// notes above](#when-the-call-is-no-task-the-fn-runs-again-from-its-start) on what runs twice.
    ///
    /// ```
    /// use mcp_tasks::{Elicited, TaskContext, ToolError, task_tool};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Approval {
    ///     /// Really delete them?
    ///     sure: bool,
    ///     /// Why?
    ///     #[schemars(length(max = 200))]
    ///     reason: Option<String>,
    /// }
    ///
    /// /// Deletes files, if the user agrees.
    /// #[task_tool]
    /// async fn clean_up(count: u32, task: TaskContext) -> Result<String, ToolError> {
    ///     match task.elicit::<Approval>("approval", format!("Delete {count} files?")).await? {
    ///         Elicited::Accepted(Approval { sure: true, .. }) => Ok(format!("deleted {count} files")),
    ///         Elicited::Accepted(_) | Elicited::Declined => Ok("kept them all".into()),
    ///         Elicited::Dismissed => Err(ToolError::new("nobody decided")),
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut test = TaskContext::for_test().accepts("approval", serde_json::json!({"sure": true}));
    /// assert_eq!(clean_up(3, test.context()).await.unwrap(), "deleted 3 files");
    ///
    /// let mut test = TaskContext::for_test().declines("approval");
    /// assert_eq!(clean_up(3, test.context()).await.unwrap(), "kept them all");
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AskError::Form`] if `T` has no form, before anything is asked; [`AskError::Answer`] if `T` does not read what fits
    /// its form; [`AskError::Context`] as for [`ask`](Self::ask).
    pub async fn elicit<T: Form>(
        &self,
        name: impl Into<Arc<str>>,
        message: impl Into<String>,
    ) -> Result<Elicited<T>, AskError> {
        let name = name.into();
        let mut params = ElicitRequestFormParams::new(message, form::<T>()?);
        params.mode = true;
        let names: Vec<String> = params.requested_schema.properties.keys().cloned().collect();
        let request = ElicitRequest::new(params.into());
        let answer: ElicitAnswer = self.ask_for(InputKind::FormElicitation, &name, &request).await?;
        let entered = answer.entered(&names);
        answer.into_elicited(|| serde_json::from_value(entered.into())).map_err(|cause| unfit(&name, cause))
    }

    /// Sends the user to `url`, for what should not pass through the client, such as a password or a payment. `Accepted`
    /// means that the user agreed to go there, not that anything was done there.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask), or [`AskError::Answer`].
    pub async fn elicit_url(
        &self,
        name: impl Into<Arc<str>>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Elicited<()>, AskError> {
        let name = name.into();
        let request = ElicitRequest::new(ElicitRequestURLParams::new(message, url.into()).into());
        let answer: ElicitAnswer = self.ask_for(InputKind::UrlElicitation, &name, &request).await?;
        answer.into_elicited(|| Ok(())).map_err(|cause| unfit(&name, cause))
    }

    /// Samples from the client's model.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask), or [`AskError::Answer`].
    pub async fn sample(
        &self,
        name: impl Into<Arc<str>>,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, AskError> {
        self.ask_for(InputKind::Sampling, &name.into(), &CreateMessageRequest::new(params)).await
    }

    /// Lists the client's roots, in a question called `roots`.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask), or [`AskError::Answer`].
    pub async fn list_roots(&self) -> Result<Vec<Root>, AskError> {
        let listed: ListRootsResult = self.ask_for(InputKind::Roots, &"roots".into(), &ListRootsRequest::new()).await?;
        Ok(listed.roots)
    }

    async fn ask_for<A: DeserializeOwned>(
        &self,
        kind: InputKind,
        name: &Arc<str>,
        request: &impl Serialize,
    ) -> Result<A, AskError> {
        let request = serde_json::to_vec(request).map_err(|cause| unfit(name, cause))?;
        let response = self.ask(kind, Arc::clone(name), Bytes::from(request)).await?;
        serde_json::from_slice(&response).map_err(|cause| unfit(name, cause))
    }
}

impl ElicitAnswer {
    fn into_elicited<T, E>(self, answer: impl FnOnce() -> Result<T, E>) -> Result<Elicited<T>, E> {
        match self.action {
            Action::Accept => answer().map(Elicited::Accepted),
            Action::Decline => Ok(Elicited::Declined),
            Action::Cancel => Ok(Elicited::Dismissed),
        }
    }
}

fn unfit(name: &str, cause: serde_json::Error) -> AskError {
    AskError::Answer { name: name.into(), cause }
}
