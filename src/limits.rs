//! `Limits`: how much a client or a tool may make the server hold (SEC-04). Plain numbers; the engine and the stores
//! enforce them, each with an error that names the limit.

/// Upper bounds. The defaults are safe for a server that faces strangers; raise them knowingly.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Unsettled tasks, and settled ones that have not expired yet.
    pub quota: Quota,
    /// Bytes of JSON text of a call's arguments.
    pub argument_bytes: usize,
    /// Bytes of JSON text of one input response.
    pub response_bytes: usize,
    /// Bytes of JSON text of a result or of a protocol error.
    pub result_bytes: usize,
    /// Bytes of a status message. A tool that sets a longer one gets an error; the message of a protocol error is cut.
    pub status_message_bytes: usize,
    /// Bytes of JSON text of all that is recorded while a task runs: the steps of its tool, its questions, and their answers.
    /// A tool that would record more gets an error.
    pub journal_bytes: usize,
    /// Input requests of one task that wait for an answer at the same time.
    pub outstanding_inputs: usize,
    /// Task ids in one `subscriptions/listen`.
    pub listen_task_ids: usize,
    /// Tools that run at the same time on this engine; tasks beyond it wait, `working`.
    pub running: usize,
    /// How many polls (`tasks/get`) of one task are let through beyond its `pollIntervalMs`; `None`, the default, is any
    /// number (GET-04).
    ///
    /// A client that polls faster than that is told how long to wait: status 429 with `Retry-After` over HTTP, behind
    /// `TasksLayer`, and everywhere the error
    /// [`RATE_LIMITED`](crate::protocol::RATE_LIMITED). The task does not notice, its end is never held back, and a client
    /// that waits the interval is let through whatever came before. Each engine counts for itself, and counts the task's
    /// polls, whoever makes them; a few should be tolerated, for networks delay some messages more than others.
    pub poll_tolerance: Option<u32>,
}

/// How many tasks a store holds. Checked by the store, in the same step that creates the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// Unsettled tasks of everybody.
    pub live: usize,
    /// Unsettled tasks of one principal.
    pub live_per_principal: usize,
    /// Tasks of everybody that are held at all, settled ones included, until they expire.
    pub held: usize,
}

impl Quota {
    /// No bound at all: for benchmarks, and for callers that count elsewhere.
    pub const UNLIMITED: Self = Self { live: usize::MAX, live_per_principal: usize::MAX, held: usize::MAX };
}

impl Default for Quota {
    fn default() -> Self {
        Self { live: 100_000, live_per_principal: 10_000, held: 1_000_000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quota: Quota::default(),
            argument_bytes: 8 << 20,
            response_bytes: 1 << 20,
            result_bytes: 16 << 20,
            status_message_bytes: 4 << 10,
            journal_bytes: 16 << 20,
            outstanding_inputs: 32,
            listen_task_ids: 1_000,
            running: 100_000,
            poll_tolerance: None,
        }
    }
}
