//! Threads that read, beside the one that writes: none waits for another, nor for the disk of a commit.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{group::Queue, ledger::Fault};
use crate::{
    clock::{Clock, UnixMillis},
    error::StoreError,
    store::seal::Seal,
};

/// What a read has at hand.
pub(super) struct At<'a> {
    pub connection: &'a Connection,
    pub seal: &'a Seal,
    pub now: UnixMillis,
}

/// A read that waits for a thread.
pub(super) type Read = Box<dyn FnOnce(&At<'_>) + Send>;

/// A read, and its outcome.
pub(super) fn read<T, R>(read: R) -> (Read, oneshot::Receiver<Result<T, StoreError>>)
where
    T: Send + 'static,
    R: FnOnce(&At<'_>) -> Result<T, Fault> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let job = move |at: &At<'_>| {
        let outcome = read(at).map_err(|fault| match fault {
            Fault::Undo(cause) => StoreError::Unavailable { cause: cause.into() },
            Fault::Quota(which) => StoreError::QuotaExceeded(which),
        });
        // An error means that nobody waits any more.
        let _ = reply.send(outcome);
    };
    (Box::new(job), answer)
}

/// Does what is queued, until the queue is closed and empty.
pub(super) fn serve(queue: &Queue<Read>, connection: &Connection, seal: &Seal, clock: &Arc<dyn Clock>) {
    let _closed = super::group::CloseOnDrop(queue);
    while let Some(read) = queue.take_one() {
        read(&At { connection, seal, now: clock.now() });
    }
}
