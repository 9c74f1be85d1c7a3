//! Which line is whose.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use rmcp::model::ProtocolVersion;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::sync::Semaphore;

use super::pump::OUTBOX;
use crate::{
    handler::Shared,
    principal::Principal,
    protocol::{self, Caller, Declared, Envelope, LISTEN, Listen, ProtocolError, Subscription, TASKS_SINCE},
    subscriptions::{Outbox, Subscriptions},
    types::{ErrorCode, RequestId},
    wire::SUBSCRIPTION_ID_META_KEY,
};

/// How many `tasks/*` requests of one connection are answered at a time: half of the messages that may wait for the client
/// ([`OUTBOX`]), so that answers that have a place among those while they are looked up leave the other half to rmcp.
const ANSWERS: usize = OUTBOX / 2;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const CANCELLED: &str = "notifications/cancelled";

/// Where a line goes.
#[derive(Debug)]
pub(super) enum Onward {
    /// On its way, as it came.
    AsItCame,
    /// On its way, in other words; the states of these tasks come after it.
    Acknowledged { message: Bytes, id: String, subscription: Box<Subscription> },
    /// Nowhere: it has been dealt with.
    Nowhere,
}

/// Looks at the lines of one connection.
pub(super) struct Router {
    shared: Arc<Shared>,
    versions: Cow<'static, [ProtocolVersion]>,
    principal: Principal,
    session: Mutex<Session>,
    answers: Arc<Semaphore>,
    pub subscriptions: Subscriptions,
}

/// What is known of a session of the versions that have sessions.
#[derive(Default)]
struct Session {
    /// The request that starts it, until it is answered.
    initialize: Option<String>,
    /// What was agreed to.
    version: Option<String>,
}

impl Router {
    pub fn new(shared: &Arc<Shared>, versions: Cow<'static, [ProtocolVersion]>) -> Self {
        Self {
            shared: Arc::clone(shared),
            versions,
            principal: shared.principals.of_parts(None),
            session: Mutex::default(),
            answers: Arc::new(Semaphore::new(ANSWERS)),
            subscriptions: Subscriptions::default(),
        }
    }

    /// A line from the client. What answers it goes to `out`.
    pub async fn inbound(self: &Arc<Self>, line: &[u8], out: &Outbox) -> Onward {
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(malformed) => return self.malformed(&malformed, out).await,
        };
        match (envelope.as_request(), envelope.method.as_deref()) {
            (Some((method, id)), _) => match request_id(id) {
                Some(id) => self.request(method, id, envelope.params(), out).await,
                None => Onward::AsItCame,
            },
            (None, Some(CANCELLED)) => self.cancelled(envelope.params()),
            _ => Onward::AsItCame,
        }
    }

    /// A key given twice is refused here, whatever rmcp makes of it; anything else is rmcp's to refuse.
    async fn malformed(&self, malformed: &protocol::MalformedMessage, out: &Outbox) -> Onward {
        if !malformed.is_ambiguous() {
            return Onward::AsItCame;
        }
        let error = ProtocolError::new(ErrorCode::INVALID_REQUEST, "the message gives a key twice").to_json();
        let message = [br#"{"jsonrpc":"2.0","error":"#, &error[..], b"}"].concat();
        let _ = out.send(message.into()).await;
        Onward::Nowhere
    }

    async fn request(self: &Arc<Self>, method: &str, id: String, params: &[u8], out: &Outbox) -> Onward {
        match method {
            "initialize" => {
                self.session().initialize = Some(id);
                Onward::AsItCame
            }
            LISTEN => match Listen::read(params) {
                Ok(None) => Onward::AsItCame,
                Ok(Some(listen)) => self.listen(listen, id, params, out).await,
                Err(error) => refuse(&id, error, out).await,
            },
            method if protocol::is_tasks_method(method) => self.about_tasks(method, id, params, out).await,
            _ => Onward::AsItCame,
        }
    }

    /// A `tasks/*` request, answered beside the others.
    ///
    /// Where [`ANSWERS`] of them wait for the client to read, this waits as well, and with it all that the client writes
    /// next, cancellations and answers too: what comes after is not known until this line is out of the way, and to keep
    /// the line would be to keep any number of them (case 43).
    async fn about_tasks(self: &Arc<Self>, method: &str, id: String, params: &[u8], out: &Outbox) -> Onward {
        let declared = Declared::read(params);
        let Some(version) = self.version(&declared) else { return Onward::AsItCame };
        let Ok(turn) = Arc::clone(&self.answers).acquire_owned().await else { return Onward::Nowhere };
        let (router, out) = (Arc::clone(self), out.clone());
        let (method, params) = (method.to_owned(), Bytes::copy_from_slice(params));
        tokio::spawn(async move {
            let _turn = turn;
            let answer = async {
                let caller = router.caller(&version, &declared);
                let answered = protocol::answer(&router.shared.engine, &caller, &method, &params).await;
                Bytes::from(protocol::response(&id, &answered))
            };
            if method == "tasks/get" {
                // What it finds may be large, and is not looked up before there is room for it.
                if let Ok(room) = out.reserve().await {
                    room.send(answer.await);
                }
            } else {
                // What it changes does not wait for the client to read; its answer is small.
                let _ = out.send(answer.await).await;
            }
        });
        Onward::Nowhere
    }

    async fn listen(self: &Arc<Self>, listen: Listen, id: String, params: &[u8], out: &Outbox) -> Onward {
        let declared = Declared::read(params);
        let Some(version) = self.version(&declared) else { return Onward::AsItCame };
        let subscription = match listen.open(&self.shared.engine, &self.caller(&version, &declared)).await {
            Ok(subscription) => subscription,
            Err(error) => return refuse(&id, error, out).await,
        };
        if listen.others {
            self.subscriptions.wait(id, subscription);
            return Onward::AsItCame;
        }
        let _ = out.send(subscription.acknowledgement(&id).into()).await;
        self.subscriptions.run(id, subscription, out.clone());
        Onward::Nowhere
    }

    /// `notifications/cancelled` ends a listen. About anything else it is rmcp's to know; tasks do not hear of it (CAN-04).
    fn cancelled(&self, params: &[u8]) -> Onward {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        if let Ok(params) = serde_json::from_slice::<Params<'_>>(params)
            && let Some(id) = request_id(params.request_id.get())
        {
            self.subscriptions.cancel(&id);
        }
        Onward::AsItCame
    }

    /// The version that a request is made under; `None` if it is rmcp's to refuse the request for it.
    fn version(&self, declared: &Declared) -> Option<String> {
        let Some(own) = &declared.version else { return self.session().version.clone() };
        let supported = self.versions.iter().any(|version| version.as_str() == own);
        // From then on each request brings along all that is to be known of its client.
        let whole = own.as_str() < TASKS_SINCE || declared.complete;
        (supported && whole).then(|| own.clone())
    }

    fn caller<'a>(&'a self, version: &'a str, declared: &Declared) -> Caller<'a> {
        Caller { version: Some(version), declares_tasks: declared.tasks, principal: &self.principal }
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line from rmcp.
    pub fn outbound(&self, line: &[u8]) -> Onward {
        if !self.subscriptions.any() && self.session().initialize.is_none() {
            return Onward::AsItCame;
        }
        let Ok(envelope) = Envelope::read(line) else { return Onward::AsItCame };
        match (envelope.method.as_deref(), envelope.id.and_then(|id| request_id(id.get()))) {
            (Some(ACKNOWLEDGED), None) => self.acknowledged(line),
            (None, Some(id)) => self.responded(&id, &envelope),
            _ => Onward::AsItCame,
        }
    }

    /// Puts the tasks into the acknowledgement of the core's part of a listen (NOT-06).
    fn acknowledged(&self, line: &[u8]) -> Onward {
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return Onward::AsItCame };
        let id = message["params"]["_meta"][SUBSCRIPTION_ID_META_KEY].to_string();
        let Some(subscription) = self.subscriptions.acknowledging(&id) else { return Onward::AsItCame };
        if let Some(agreed) = message.pointer_mut("/params/notifications").and_then(Value::as_object_mut) {
            subscription.acknowledge_with(agreed);
        }
        Onward::Acknowledged { message: message.to_string().into(), id, subscription: Box::new(subscription) }
    }

    fn responded(&self, id: &str, envelope: &Envelope<'_>) -> Onward {
        let mut session = self.session();
        if session.initialize.as_deref() == Some(id) {
            session.initialize = None;
            session.version = envelope.result.and_then(|result| agreed_version(result.get()));
            return Onward::AsItCame;
        }
        drop(session);
        if self.subscriptions.refused(id) {
            // The core refused its part: then the listen as a whole is refused.
            return Onward::AsItCame;
        }
        // The core's part of a listen has ended; the tasks go on, under the same id.
        if self.subscriptions.runs(id) { Onward::Nowhere } else { Onward::AsItCame }
    }
}

async fn refuse(id: &str, error: ProtocolError, out: &Outbox) -> Onward {
    let _ = out.send(protocol::response(id, &Err(error)).into()).await;
    Onward::Nowhere
}

/// The id of a request in the one spelling that rmcp uses for it as well; `None` if it is no id.
fn request_id(text: &str) -> Option<String> {
    let id: RequestId = serde_json::from_str(text).ok()?;
    serde_json::to_string(&id).ok()
}

fn agreed_version(result: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agreed {
        protocol_version: String,
    }
    serde_json::from_str::<Agreed>(result).ok().map(|agreed| agreed.protocol_version)
}
