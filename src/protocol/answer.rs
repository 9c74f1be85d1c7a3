//! `Answer`: what a request is answered with, and how that becomes text: once, together with what is around it.

use std::sync::Arc;

use super::ProtocolError;
use crate::{
    task::TaskRecord,
    wire::{self, Object},
};

/// What a `tasks/*` request is answered with.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The task as it was when it was read (GET-01).
    State(Arc<TaskRecord>),
    /// That it was heard, and nothing else (UPD-01, CAN-01).
    Acknowledgement,
}

impl Answer {
    /// The result as JSON text.
    pub fn result(&self) -> Vec<u8> {
        match self {
            Self::State(record) => wire::get_task_result(record),
            Self::Acknowledgement => wire::ACKNOWLEDGEMENT.into(),
        }
    }

    /// Room for the result.
    fn room(&self) -> usize {
        match self {
            Self::State(record) => wire::get_task_result_room(record),
            Self::Acknowledgement => wire::ACKNOWLEDGEMENT.len(),
        }
    }

    fn write(&self, message: &mut Object) {
        match self {
            Self::State(record) => wire::write_get_task_result(&mut message.object("result"), record),
            Self::Acknowledgement => message.raw("result", wire::ACKNOWLEDGEMENT.as_bytes()),
        }
    }
}

/// A whole response to the request `id` (JSON text). What a tool returned is copied into it once.
pub fn response(id: &str, outcome: &Result<Answer, ProtocolError>) -> Vec<u8> {
    match outcome {
        Ok(answer) => {
            let mut message = envelope(id, answer.room());
            answer.write(&mut message);
            message.end()
        }
        Err(error) => {
            let error = error.to_json();
            let mut message = envelope(id, error.len());
            message.raw("error", &error);
            message.end()
        }
    }
}

/// The beginning of a response, with room for the rest.
fn envelope(id: &str, room: usize) -> Object {
    let mut message = Object::with_capacity(room + id.len() + 40);
    message.plain("jsonrpc", "2.0");
    message.raw("id", id.as_bytes());
    message
}
