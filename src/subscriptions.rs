//! The listens of one connection that carries all of its messages in one stream, as stdio does.
//!
//! Guarantees: each accepted task's state goes out once after the acknowledgement, then newer ones, in order, the last one
//! always (NOT-05); a client that stops reading holds up one message a listen, and no memory beyond that (case 43); a listen
//! that is cancelled says nothing more, and one that the server ends gets its result (NOT-06).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::{sync::mpsc, task::AbortHandle};

use crate::protocol::Subscription;

/// Where whole messages go out.
pub(crate) type Outbox = mpsc::Sender<Bytes>;

/// The listens of one connection, by the id of their request as JSON text.
#[derive(Default)]
pub(crate) struct Subscriptions(Arc<Mutex<HashMap<String, Listening>>>);

enum Listening {
    /// The core has yet to acknowledge its part.
    Waiting(Subscription),
    /// The acknowledgement is on its way out, which takes as long as the client lets it.
    Acknowledging,
    /// Acknowledged.
    Running(#[expect(dead_code, reason = "stops it when dropped")] Stop),
}

impl Listening {
    fn start(sending: impl Future<Output = ()> + Send + 'static) -> Self {
        Self::Running(Stop(tokio::spawn(sending).abort_handle()))
    }
}

/// Stops what it belongs to when it is dropped.
struct Stop(AbortHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Subscriptions {
    fn by_id(&self) -> MutexGuard<'_, HashMap<String, Listening>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a message of the core's may concern one of them.
    pub fn any(&self) -> bool {
        !self.by_id().is_empty()
    }

    /// Keeps a listen until the core has acknowledged its part of it.
    pub fn wait(&self, id: String, subscription: Subscription) {
        self.by_id().insert(id, Listening::Waiting(subscription));
    }

    /// The listen of this id, if it waits for the core, which has now acknowledged its part. It stays listed, so that it can
    /// be cancelled, until [`run_beside_core`](Self::run_beside_core).
    pub fn acknowledging(&self, id: &str) -> Option<Subscription> {
        let mut by_id = self.by_id();
        let listening = by_id.get_mut(id).filter(|listening| matches!(listening, Listening::Waiting(_)))?;
        match std::mem::replace(listening, Listening::Acknowledging) {
            Listening::Waiting(subscription) => Some(subscription),
            _ => None,
        }
    }

    /// Forgets the listen of this id, if it waits for the core, which has refused its part; whether it did.
    pub fn refused(&self, id: &str) -> bool {
        let mut by_id = self.by_id();
        let waits = matches!(by_id.get(id), Some(Listening::Waiting(_)));
        if waits {
            by_id.remove(id);
        }
        waits
    }

    /// Whether a listen of this id runs.
    pub fn runs(&self, id: &str) -> bool {
        matches!(self.by_id().get(id), Some(Listening::Running(_)))
    }

    /// Sends the states of an acknowledged listen to tasks alone from now on, and its result once the engine shuts down.
    pub fn run(&self, id: String, subscription: Subscription, out: Outbox) {
        let (listens, name) = (Arc::downgrade(&self.0), id.clone());
        // Locked before it starts, so that it is listed when it ends.
        let mut by_id = self.by_id();
        let running = Listening::start(async move {
            send_states(&name, subscription, &out).await;
            // Held until the result is on its way, for it stops what it belongs to: this.
            let ended = listens.upgrade().and_then(|listens| Self(listens).by_id().remove(&name));
            if ended.is_some() {
                let _ = out.send(Subscription::result(&name).into()).await;
            }
        });
        by_id.insert(id, running);
    }

    /// Sends the states of an acknowledged listen that the core has a part in: that part outlives the tasks. Nothing, if it
    /// was cancelled while the acknowledgement was on its way.
    pub fn run_beside_core(&self, id: String, subscription: Subscription, out: Outbox) {
        let mut by_id = self.by_id();
        if let Some(listening @ Listening::Acknowledging) = by_id.get_mut(&id) {
            *listening = Listening::start(async move { send_states(&id, subscription, &out).await });
        }
    }

    /// Ends a listen without a word: its client has called it off.
    pub fn cancel(&self, id: &str) {
        self.by_id().remove(id);
    }

    /// Ends all of them; the messages that say so.
    pub fn end_all(&self) -> Vec<Bytes> {
        self.by_id().drain().map(|(id, _)| Subscription::result(&id).into()).collect()
    }
}

/// Sends each state as soon as the one before is on its way. Ends when the engine shuts down.
async fn send_states(id: &str, mut subscription: Subscription, out: &Outbox) {
    while let Some(record) = subscription.next().await {
        if out.send(Subscription::notification(id, &record).into()).await.is_err() {
            return;
        }
    }
}
