//! The table of states that the reference page draws, against what a record does.

use bytes::Bytes;
use mcp_tasks::clock::UnixMillis;
use mcp_tasks::input::{InputKey, Question};
use mcp_tasks::principal::Principal;
use mcp_tasks::task::{
    Event, Failure, Mutation, NewTask, OnCancel, OnRestart, Progress, Settlement, Step, Target, TaskRecord, TaskStatus,
    Transition,
};
use mcp_tasks::task_id::TaskId;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const CREATED: UnixMillis = UnixMillis::new(1_000_000);
const TTL: Duration = Duration::from_secs(3600);

/// From, to, by what.
type Change = (String, String, String);

/// What stands in `schema/`.
fn machine() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/2026-07-28/states.json");
    let text = std::fs::read_to_string(path).expect("the table is there");
    serde_json::from_str(&text).expect("the table is JSON")
}

fn table(machine: &Value) -> BTreeSet<Change> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let changes = machine["transitions"].as_array().expect("a table").iter().flat_map(|it| {
        let causes = it["by"].as_array().expect("causes");
        causes.iter().map(|cause| (word(&it["from"]), word(&it["to"]), word(cause)))
    });
    changes.collect()
}

/// Tasks of each way to be called off and to be run again, as they begin.
fn beginnings() -> Vec<TaskRecord> {
    let mut records = Vec::new();
    for on_cancel in [OnCancel::Drop, OnCancel::Signal] {
        for on_restart in [OnRestart::Fail, OnRestart::Rerun { max_attempts: 2 }] {
            let target = Arc::new(Target::new("tools/call", "tool", "1"));
            let mut new = NewTask::new(Principal::local(), target, Bytes::from_static(b"{}"));
            new.ttl = Some(TTL);
            new.on_cancel = on_cancel;
            new.on_restart = on_restart;
            records.push(TaskRecord::new(TaskId::from_bits(1), new, CREATED));
        }
    }
    records
}

/// Every write of a worker, with what the table calls it; without a name, it must not change a status.
fn mutations() -> Vec<(&'static str, Mutation)> {
    let question = |name: &str| Question {
        name: name.into(),
        ordinal: 1,
        request: Bytes::from_static(b"{\"method\":\"roots/list\"}"),
    };
    let withdraw = |name: &str| Mutation::Withdraw { name: name.into(), ordinal: 1 };
    let reported = Failure::Reported { error: Bytes::from_static(b"{\"code\":-32000}"), message: "no".into() };
    vec![
        ("", Mutation::Report { status_message: Some("half".into()), progress: Some(Progress { done: 1, total: 2 }) }),
        ("", Mutation::KeepUntil(CREATED.plus(TTL * 2))),
        ("", Mutation::PollInterval(Duration::from_secs(9))),
        ("", Mutation::Record(Step { key: "step".into(), value: Bytes::from_static(b"1") })),
        ("ask", Mutation::Ask(question("one"))),
        ("ask", Mutation::Ask(question("other"))),
        ("withdraw", withdraw("one")),
        ("withdraw", withdraw("other")),
        ("return", Mutation::Settle(Settlement::Completed(Bytes::from_static(b"{}")))),
        ("error", Mutation::Settle(Settlement::failed(reported))),
        ("error", Mutation::Settle(Settlement::failed(Failure::Panicked))),
        ("error", Mutation::Settle(Settlement::failed(Failure::ResultTooLarge { limit: 1 }))),
        ("stop", Mutation::Settle(Settlement::Cancelled)),
        ("interruption", Mutation::Release),
    ]
}

/// What the table calls the loss of a worker: the task is interrupted, or stops if its tool had been told to.
fn by_loss(record: &TaskRecord) -> &'static str {
    if record.cancel_requested { "stop" } else { "interruption" }
}

/// All that can become of a record by one event, and by what.
fn steps(record: &TaskRecord) -> Vec<(&'static str, Arc<TaskRecord>)> {
    let answer = |key: &InputKey| vec![(key.clone(), Bytes::from_static(b"{}"))];
    let answers: Vec<_> = record.inputs().outstanding().map(|(key, _)| answer(key)).collect();
    let to_nothing = answer(&InputKey::new("never"));
    let mutations = mutations();
    let mut events = vec![
        ("", Event::Respond(&to_nothing)),
        ("cancel", Event::RequestCancel),
        ("", Event::Claim),
        (by_loss(record), Event::Abandon),
    ];
    events.extend(answers.iter().map(|answer| ("answer", Event::Respond(answer))));
    events.extend(mutations.iter().map(|(cause, mutation)| {
        let cause = if *mutation == Mutation::Release { by_loss(record) } else { cause };
        (cause, Event::Commit { epoch: record.epoch, mutation })
    }));
    let now = CREATED.plus(Duration::from_secs(1));
    let changed = |(cause, event): (&'static str, Event<'_>)| match record.after(&event, now) {
        Transition::Changed(next) => Some((cause, next)),
        Transition::Unchanged | Transition::Refused(_) => None,
    };
    let mut steps: Vec<_> = events.into_iter().filter_map(changed).collect();
    let at_deadline = Arc::new(record.clone()).at(record.deadline());
    steps.extend(at_deadline.map(|next| ("expiry", next)));
    steps
}

/// What decides about the next status. A question that is asked again has another key, and is the same here.
fn mark(record: &TaskRecord) -> String {
    let name = |key: &InputKey| key.to_string().split('#').next().map(str::to_owned);
    let open: Vec<_> = record.inputs().outstanding().filter_map(|(key, _)| name(key)).collect();
    let (told, tries) = (record.cancel_requested, record.attempt.min(2));
    format!("{:?} {open:?} {told} {tries} {:?} {:?}", record.status(), record.on_cancel, record.on_restart)
}

/// Every record that can be reached from a beginning, by any events in any order; each kind once.
fn reachable() -> Vec<Arc<TaskRecord>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut waiting: VecDeque<Arc<TaskRecord>> = beginnings().into_iter().map(Arc::new).collect();
    while let Some(record) = waiting.pop_front() {
        if seen.insert(mark(&record)) {
            waiting.extend(steps(&record).into_iter().map(|(_, next)| next));
            found.push(record);
        }
    }
    found
}

/// TSK-08, TSK-09: a record goes from status to status exactly as the table says, and by what it says, whatever happens
/// to it in whatever order; and a task begins as the table says.
#[test]
fn the_table_of_states_is_what_a_record_does() {
    let records = reachable();
    let statuses: BTreeSet<_> = records.iter().map(|record| record.status().as_str()).collect();
    assert_eq!(statuses.len(), TaskStatus::ALL.len(), "only {statuses:?} were reached");
    let mut found = BTreeSet::new();
    for record in &records {
        for (cause, next) in steps(record) {
            let (from, to) = (record.status(), next.status());
            if from != to {
                assert!(!from.is_terminal(), "{from:?} to {to:?} by {cause}");
                found.insert((from.as_str().to_owned(), to.as_str().to_owned(), cause.to_owned()));
            }
        }
    }
    let machine = machine();
    assert_eq!(found, table(&machine));
    for record in beginnings() {
        assert_eq!(machine["initial"], record.status().as_str());
    }
}
