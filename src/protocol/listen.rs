//! `subscriptions/listen` with `taskIds`: what is asked for, what is agreed to, and the messages that follow.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    engine::{TaskEngine, TaskWatch},
    protocol::{Caller, ProtocolError},
    task::TaskRecord,
    task_id::TaskId,
    wire::{Object, SUBSCRIPTION_ID_META_KEY, notification_params},
};

/// What a `subscriptions/listen` asks for, as far as tasks are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listen {
    /// The tasks to be told about.
    pub task_ids: Vec<Box<str>>,
    /// Whether it asks for other notifications as well: then the core's acknowledgement is the one to go out, with the
    /// agreed ids put into it ([`Subscription::acknowledge_with`]), and all kinds share the stream (NOT-06).
    pub others: bool,
}

impl Listen {
    /// Reads the parameters of a `subscriptions/listen`. `None` if it does not ask for tasks: then it is the core's.
    ///
    /// # Errors
    /// `-32602` if `taskIds` is no list of texts.
    pub fn read(params: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let malformed = |_| ProtocolError::invalid_params("`notifications.taskIds` is not a list of task ids");
        let Ok(params) = serde_json::from_slice::<Params<'_>>(params) else { return Ok(None) };
        let Some(task_ids) = params.notifications.task_ids else { return Ok(None) };
        let task_ids = serde_json::from_str(task_ids.get()).map_err(malformed)?;
        Ok(Some(Self { task_ids, others: params.notifications.others() }))
    }

    /// Agrees to the tasks that are the caller's; which of the others do not exist is not told (NOT-01, case 28).
    ///
    /// From here on no change is missed, so that the acknowledgement can be sent at leisure (NOT-05).
    ///
    /// # Errors
    /// - `-32601` under a version without the extension (LEG-01);
    /// - `-32021` if this request did not declare the extension (NOT-02); nothing was acknowledged then;
    /// - `-32602` if it asks for too many tasks (SEC-04).
    pub async fn open(&self, engine: &dyn TaskEngine, caller: &Caller<'_>) -> Result<Subscription, ProtocolError> {
        if !caller.version_has_tasks() {
            return Err(ProtocolError::method_not_found(super::LISTEN));
        }
        caller.require_declared()?;
        let mut ids: Vec<TaskId> = self.task_ids.iter().filter_map(|id| id.parse().ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok(Subscription { watch: engine.watch(caller.principal, ids).await? })
    }
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    notifications: Filter<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filter<'a> {
    #[serde(borrow)]
    task_ids: Option<&'a RawValue>,
    #[serde(borrow)]
    tools_list_changed: Option<&'a RawValue>,
    #[serde(borrow)]
    prompts_list_changed: Option<&'a RawValue>,
    #[serde(borrow)]
    resources_list_changed: Option<&'a RawValue>,
    #[serde(borrow)]
    resource_subscriptions: Option<&'a RawValue>,
}

impl Filter<'_> {
    fn others(&self) -> bool {
        let flags = [self.tools_list_changed, self.prompts_list_changed, self.resources_list_changed];
        flags.into_iter().flatten().any(|flag| flag.get() != "false") || self.resource_subscriptions.is_some()
    }
}

/// A listen request that was agreed to: the messages that go out because of it.
///
/// Ids of listen requests are JSON text, so that they keep their type (case 44). Dropping it ends it.
pub struct Subscription {
    watch: Box<dyn TaskWatch>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("accepted", &self.accepted()).finish_non_exhaustive()
    }
}

impl Subscription {
    /// The tasks that were agreed to.
    pub fn accepted(&self) -> &[TaskId] {
        self.watch.accepted()
    }

    /// The acknowledgement of a listen that asked for tasks alone: a whole message, the first one with its subscription
    /// id (NOT-01, NOT-06).
    pub fn acknowledgement(&self, id: &str) -> Vec<u8> {
        let mut message = Object::with_capacity(256);
        message.plain("jsonrpc", "2.0");
        message.plain("method", "notifications/subscriptions/acknowledged");
        {
            let mut params = message.object("params");
            params.object("notifications").list("taskIds", self.accepted());
            params.object("_meta").raw(SUBSCRIPTION_ID_META_KEY, id.as_bytes());
        }
        message.end()
    }

    /// Puts the agreed tasks into the core's acknowledgement, for a listen that asked for other notifications as well
    /// (NOT-06). `notifications` is the member of that name of the acknowledgement's parameters.
    pub fn acknowledge_with(&self, notifications: &mut serde_json::Map<String, serde_json::Value>) {
        let ids = self.accepted().iter().map(|id| id.to_string().into()).collect();
        notifications.insert("taskIds".to_owned(), serde_json::Value::Array(ids));
    }

    /// The next state of one of the tasks; `None` once the engine has shut down, which ends the listen with its
    /// [`result`](Self::result) (NOT-06). Dropping the future loses nothing.
    ///
    /// The end of all tasks does not end the listen: then this waits until somebody closes it.
    pub async fn next(&mut self) -> Option<std::sync::Arc<TaskRecord>> {
        let next = self.watch.next().await;
        if next.is_none() {
            self.watch.closed().await;
        }
        next
    }

    /// The `notifications/tasks` of a state: a whole message (NOT-03).
    pub fn notification(id: &str, record: &TaskRecord) -> Vec<u8> {
        let params = notification_params(record, id);
        let mut message = Object::with_capacity(params.len() + 80);
        message.plain("jsonrpc", "2.0");
        message.plain("method", "notifications/tasks");
        message.raw("params", &params);
        message.end()
    }

    /// The response with which the server itself ends a listen: a whole message (NOT-06).
    pub fn result(id: &str) -> Vec<u8> {
        let mut message = Object::with_capacity(160);
        message.plain("jsonrpc", "2.0");
        message.raw("id", id.as_bytes());
        {
            let mut result = message.object("result");
            result.plain("resultType", "complete");
            result.object("_meta").raw(SUBSCRIPTION_ID_META_KEY, id.as_bytes());
        }
        message.end()
    }
}
