//! The stream that answers a `subscriptions/listen` with `taskIds`.
//!
//! Guarantees:
//! - the acknowledgement is the first message, and the only one (NOT-06);
//! - a state is taken from the subscription only when there is room to send it: a client that stops reading makes the
//!   server hold a fixed number of messages, and reads the newest state when it goes on (case 43);
//! - the stream ends when the client leaves or the server shuts down, then with the listen's result (NOT-06).

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    clock::BoxFuture,
    http::sse::{self, Events, KEEP_ALIVE},
    protocol::{Envelope, Subscription},
};

/// How many messages may wait for the client. Those in the buffers of the connection come on top.
const WAITING: usize = 1;

/// A listen that was agreed to.
pub(super) struct Listening {
    /// The id of the request, as JSON text.
    pub id: String,
    pub tasks: Subscription,
    /// rmcp's stream for what else was asked for.
    pub others: Option<Events>,
    pub keep_alive: Option<Duration>,
    /// Ready once the server shuts down.
    pub shutdown: BoxFuture<'static, ()>,
}

/// What to send next.
enum Next {
    Message(Bytes),
    /// Nothing, but the stream goes on.
    Nothing,
    Last(Bytes),
    Gone,
}

impl Listening {
    /// Starts the stream; what is to be sent comes out of the receiver.
    pub fn start(self) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(self.run(sender));
        receiver
    }

    async fn run(mut self, out: mpsc::Sender<Bytes>) {
        let mut acknowledged = false;
        loop {
            let permit = tokio::select! {
                permit = out.reserve() => permit,
                () = &mut self.shutdown => return,
            };
            let Ok(permit) = permit else { return };
            let next = if acknowledged { self.next(&out).await } else { self.acknowledge(&out).await };
            match next {
                Next::Message(message) => permit.send(message),
                Next::Nothing => continue,
                Next::Last(message) => return permit.send(message),
                Next::Gone => return,
            }
            acknowledged = true;
        }
    }

    /// The one acknowledgement: ours, or rmcp's with the tasks put into it.
    async fn acknowledge(&mut self, out: &mpsc::Sender<Bytes>) -> Next {
        let Some(others) = &mut self.others else {
            return Next::Message(sse::event(&self.tasks.acknowledgement(&self.id)));
        };
        let event = tokio::select! {
            event = others.next() => event,
            () = out.closed() => return Next::Gone,
            () = &mut self.shutdown => return Next::Gone,
        };
        let Some(event) = event else { return Next::Gone };
        match Message::of(&event) {
            Message::None => Next::Nothing,
            Message::Acknowledgement(mut message) => {
                acknowledge_tasks(&mut message, &self.tasks);
                Next::Message(sse::event(message.to_string().as_bytes()))
            }
            // Refused: then so is the whole of it.
            Message::Response { .. } => Next::Last(event),
            Message::Other => Next::Nothing,
        }
    }

    async fn next(&mut self, out: &mpsc::Sender<Bytes>) -> Next {
        tokio::select! {
            biased;
            () = &mut self.shutdown => self.end(),
            () = out.closed() => Next::Gone,
            state = self.tasks.next() => match state {
                Some(record) => Next::Message(sse::event(&Subscription::notification(&self.id, &record))),
                None => self.end(),
            },
            event = next_of(&mut self.others) => self.other(event),
            () = quiet(self.keep_alive) => Next::Message(KEEP_ALIVE),
        }
    }

    fn end(&self) -> Next {
        Next::Last(sse::event(&Subscription::result(&self.id)))
    }

    /// An event of rmcp's. Its end, or its result, ends the other kinds; the tasks go on.
    fn other(&mut self, event: Option<Bytes>) -> Next {
        let Some(event) = event else {
            self.others = None;
            return Next::Nothing;
        };
        match Message::of(&event) {
            Message::Response { failed: true } => Next::Last(event),
            Message::Response { failed: false } => {
                self.others = None;
                Next::Nothing
            }
            Message::None | Message::Acknowledgement(_) => Next::Nothing,
            Message::Other => Next::Message(event),
        }
    }
}

async fn next_of(events: &mut Option<Events>) -> Option<Bytes> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

async fn quiet(period: Option<Duration>) {
    match period {
        Some(period) => tokio::time::sleep(period).await,
        None => std::future::pending().await,
    }
}

/// What an event of rmcp's carries.
enum Message {
    None,
    Acknowledgement(Value),
    Response { failed: bool },
    Other,
}

impl Message {
    fn of(event: &[u8]) -> Self {
        let text = sse::message(event);
        let Ok(envelope) = Envelope::read(&text) else { return Self::None };
        match envelope.method.as_deref() {
            Some("notifications/subscriptions/acknowledged") => {
                serde_json::from_slice(&text).map_or(Self::None, Self::Acknowledgement)
            }
            Some(_) => Self::Other,
            None => Self::Response { failed: envelope.error.is_some() },
        }
    }
}

fn acknowledge_tasks(message: &mut Value, tasks: &Subscription) {
    if let Some(notifications) = message.pointer_mut("/params/notifications").and_then(Value::as_object_mut) {
        tasks.acknowledge_with(notifications);
    }
}
