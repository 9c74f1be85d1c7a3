//! What an engine tells operators: metrics, through the facade of the crate `metrics`, and spans, through `tracing`.
//!
//! # Metrics
//! Install a recorder before the engine starts, so that it gets the descriptions. Without one nothing is measured, and
//! nothing is allocated for it. Counts are those of this process: add them up over the nodes. Durations are in seconds, to the
//! millisecond, on the engine's clock; those of store calls are finer.
//!
//! | name | kind | what |
//! |---|---|---|
//! | [`CREATED`] | counter | tasks that were created here |
//! | [`SETTLED`] | counter | tasks whose end was written here, by `status` |
//! | [`RECOVERED`] | counter | lost tasks that were started again here |
//! | [`ABANDONED`] | counter | tasks whose lease was found to have run out |
//! | [`LEASES_LOST`] | counter | tools that were stopped here because their lease was lost |
//! | [`RUNNING`] | gauge | tools that run now, inside requests too; not those that wait for their turn |
//! | [`QUEUE_SECONDS`] | histogram | how long a tool waited for its turn |
//! | [`RUN_SECONDS`] | histogram | how long a tool ran, its waits for answers included |
//! | [`INPUT_SECONDS`] | histogram | how long a tool waited for an answer that came |
//! | [`STORE_SECONDS`] | histogram | how long a store call took, by `call` and `outcome` |
//!
//! `outcome` is `ok`, `refused` (a quota), `unavailable` or `ambiguous`.
//!
//! # Spans
//! | name | level | around |
//! |---|---|---|
//! | `task.create` | info | the creation of a task |
//! | `task.run_inline` | info | a call that runs inside its request, until it ends or becomes a task |
//! | `task.run` | info | a tool, from its turn in the queue to its end; what the tool logs is inside |
//! | `task.queue` | debug | its wait for its turn, where it has to wait |
//! | `task.wait_for_input` | debug | its wait for an answer |
//! | `task.settle` | debug | the writing of its end |
//! | `task.lease_lost` | warn | the moment at which it is stopped because its lease was lost |
//! | `task.update`, `task.cancel` | info | what a client asks for |

use std::time::Duration;

use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, Unit, with_recorder};

use crate::{error::StoreError, store::Operation, task::TaskStatus};

/// Counts tasks that were created.
pub const CREATED: &str = "mcp_tasks_created_total";
/// Counts tasks whose end was written, by `status`.
pub const SETTLED: &str = "mcp_tasks_settled_total";
/// Counts lost tasks that were started again.
pub const RECOVERED: &str = "mcp_tasks_recovered_total";
/// Counts tasks whose lease was found to have run out.
pub const ABANDONED: &str = "mcp_tasks_abandoned_total";
/// Counts tools that were stopped because their lease was lost.
pub const LEASES_LOST: &str = "mcp_tasks_leases_lost_total";
/// Tools that run now.
pub const RUNNING: &str = "mcp_tasks_running";
/// How long tools waited for their turn.
pub const QUEUE_SECONDS: &str = "mcp_tasks_queue_seconds";
/// How long tools ran.
pub const RUN_SECONDS: &str = "mcp_tasks_run_seconds";
/// How long tools waited for answers.
pub const INPUT_SECONDS: &str = "mcp_tasks_input_wait_seconds";
/// How long store calls took, by `call` and `outcome`.
pub const STORE_SECONDS: &str = "mcp_tasks_store_seconds";

static METADATA: Metadata<'static> = Metadata::new("mcp_tasks", Level::INFO, Some("mcp_tasks"));

/// A key with labels, made when the program is compiled.
macro_rules! labelled {
    ($name:expr, $($label:literal => $value:literal),*) => {
        Key::from_static_parts($name, const { &[$(Label::from_static_parts($label, $value)),*] })
    };
}

/// Tells the recorder what each metric is.
pub(super) fn describe() {
    let counters = [
        (CREATED, "Tasks that were created"),
        (SETTLED, "Tasks whose end was written, by status"),
        (RECOVERED, "Lost tasks that were started again"),
        (ABANDONED, "Tasks whose lease was found to have run out"),
        (LEASES_LOST, "Tools that were stopped because their lease was lost"),
    ];
    let histograms = [
        (QUEUE_SECONDS, "How long a tool waited for its turn"),
        (RUN_SECONDS, "How long a tool ran"),
        (INPUT_SECONDS, "How long a tool waited for an answer that came"),
        (STORE_SECONDS, "How long a store call took, by call and outcome"),
    ];
    with_recorder(|recorder| {
        for (name, what) in counters {
            recorder.describe_counter(KeyName::from_const_str(name), Some(Unit::Count), what.into());
        }
        for (name, what) in histograms {
            recorder.describe_histogram(KeyName::from_const_str(name), Some(Unit::Seconds), what.into());
        }
        recorder.describe_gauge(KeyName::from_const_str(RUNNING), Some(Unit::Count), "Tools that run now".into());
    });
}

/// Whether anybody takes measurements: the recorder that stands in for none has no state, and so no size.
pub(super) fn are_recorded() -> bool {
    with_recorder(|recorder| size_of_val::<dyn Recorder>(recorder) > 0)
}

fn count(key: &'static Key, by: usize) {
    if by > 0 {
        with_recorder(|recorder| recorder.register_counter(key, &METADATA).increment(by as u64));
    }
}

fn took(key: &'static Key, duration: Duration) {
    with_recorder(|recorder| recorder.register_histogram(key, &METADATA).record(duration.as_secs_f64()));
}

/// A task was created.
pub(super) fn created() {
    static KEY: Key = Key::from_static_name(CREATED);
    count(&KEY, 1);
}

/// The end of a task was written. A task that is open does not count.
pub(super) fn settled(status: TaskStatus, tasks: usize) {
    static COMPLETED: Key = labelled!(SETTLED, "status" => "completed");
    static FAILED: Key = labelled!(SETTLED, "status" => "failed");
    static CANCELLED: Key = labelled!(SETTLED, "status" => "cancelled");
    match status {
        TaskStatus::Completed => count(&COMPLETED, tasks),
        TaskStatus::Failed => count(&FAILED, tasks),
        TaskStatus::Cancelled => count(&CANCELLED, tasks),
        TaskStatus::Working | TaskStatus::InputRequired => {}
    }
}

/// A lost task was started again.
pub(super) fn recovered() {
    static KEY: Key = Key::from_static_name(RECOVERED);
    count(&KEY, 1);
}

/// Leases were found to have run out.
pub(super) fn abandoned(tasks: usize) {
    static KEY: Key = Key::from_static_name(ABANDONED);
    count(&KEY, tasks);
}

/// A tool is stopped because its lease was lost.
pub(super) fn lease_lost() {
    static KEY: Key = Key::from_static_name(LEASES_LOST);
    count(&KEY, 1);
}

/// A tool got its turn.
pub(super) fn queued(waited: Duration) {
    static KEY: Key = Key::from_static_name(QUEUE_SECONDS);
    took(&KEY, waited);
}

/// A tool is no longer run.
pub(super) fn ran(duration: Duration) {
    static KEY: Key = Key::from_static_name(RUN_SECONDS);
    took(&KEY, duration);
}

/// A tool got an answer.
pub(crate) fn answered(waited: Duration) {
    static KEY: Key = Key::from_static_name(INPUT_SECONDS);
    took(&KEY, waited);
}

/// A tool that runs, until this is dropped.
pub(super) struct RunningNow(());

impl RunningNow {
    pub fn new() -> Self {
        Self::change(1.0);
        Self(())
    }

    fn change(by: f64) {
        static KEY: Key = Key::from_static_name(RUNNING);
        with_recorder(|recorder| recorder.register_gauge(&KEY, &METADATA).increment(by));
    }
}

impl Drop for RunningNow {
    fn drop(&mut self) {
        Self::change(-1.0);
    }
}

/// One key for each outcome of each call; the calls in the order of [`Operation`].
macro_rules! store_keys {
    ($($call:literal)*) => {
        [$(store_keys!(@outcomes $call, "ok" "refused" "unavailable" "ambiguous")),*]
    };
    (@outcomes $call:literal, $($outcome:literal)*) => {
        [$(labelled!(STORE_SECONDS, "call" => $call, "outcome" => $outcome)),*]
    };
}

static STORE_KEYS: [[Key; 4]; 10] =
    store_keys!("create" "get" "respond" "request_cancel" "claim" "renew" "commit" "input" "reap" "revs");

/// A store call has ended.
pub(super) fn stored<T>(call: Operation, ended: &Result<T, StoreError>, duration: Duration) {
    let outcome = match ended {
        Ok(_) => 0,
        Err(StoreError::QuotaExceeded(_)) => 1,
        Err(StoreError::Unavailable { .. }) => 2,
        Err(StoreError::Ambiguous { .. }) => 3,
    };
    took(&STORE_KEYS[call as usize][outcome], duration);
}
