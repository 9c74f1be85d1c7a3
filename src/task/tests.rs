use super::*;

const T0: UnixMillis = UnixMillis::new(1_000_000);
const ERROR: &[u8] = br#"{"code":-32000,"message":"no"}"#;

fn new_task(on_cancel: OnCancel, on_restart: OnRestart) -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    NewTask { on_cancel, on_restart, ..NewTask::new(Principal::local(), target, Bytes::from_static(b"{}")) }
}

fn question(name: &str) -> Question {
    Question { name: name.into(), ordinal: 1, request: Bytes::from_static(b"{}") }
}

fn failure() -> Settlement {
    Settlement::failed(Failure::Reported { error: Bytes::from_static(ERROR), message: "no".into() })
}

/// A claimed task, 10 ms old.
fn working(on_cancel: OnCancel, on_restart: OnRestart) -> TaskRecord {
    let record = TaskRecord::new(TaskId::from_bits(1), new_task(on_cancel, on_restart), T0);
    take(&record, &Event::Claim)
}

fn take(record: &TaskRecord, event: &Event<'_>) -> TaskRecord {
    match record.after(event, T0.plus(Duration::from_millis(10))) {
        Transition::Changed(next) => TaskRecord::clone(&next),
        other => panic!("{event:?} gave {other:?}"),
    }
}

fn commit(record: &TaskRecord, mutation: &Mutation) -> TaskRecord {
    take(record, &Event::Commit { epoch: record.epoch, mutation })
}

/// One task of each status.
fn of_each_status(on_cancel: OnCancel, on_restart: OnRestart) -> Vec<TaskRecord> {
    let working = working(on_cancel, on_restart);
    vec![
        working.clone(),
        commit(&working, &Mutation::Ask(question("name"))),
        commit(&working, &Mutation::Settle(Settlement::Completed(Bytes::from_static(b"{}")))),
        commit(&working, &Mutation::Settle(failure())),
        commit(&working, &Mutation::Settle(Settlement::Cancelled)),
    ]
}

fn mutations() -> Vec<(&'static str, Mutation)> {
    vec![
        ("report", Mutation::Report { status_message: Some("half way".into()), progress: None }),
        ("ask", Mutation::Ask(question("other"))),
        ("withdraw", Mutation::Withdraw { name: "name".into(), ordinal: 1 }),
        ("keep longer", Mutation::KeepUntil(T0.plus(Duration::from_secs(7200)))),
        ("keep", Mutation::KeepUntil(T0)),
        ("poll interval", Mutation::PollInterval(Duration::from_secs(9))),
        ("record", Mutation::Record(Step { key: "step".into(), value: Bytes::from_static(b"1") })),
        ("complete", Mutation::Settle(Settlement::Completed(Bytes::from_static(b"{}")))),
        ("fail", Mutation::Settle(failure())),
        ("stop", Mutation::Settle(Settlement::Cancelled)),
        ("release", Mutation::Release),
    ]
}

/// All events there are, as a worker of `epoch` and a client that answers `answers` would cause them.
fn events<'a>(
    epoch: Epoch,
    mutations: &'a [(&'static str, Mutation)],
    answers: &'a [(InputKey, Bytes)],
) -> Vec<(&'static str, Event<'a>)> {
    let mut events = vec![
        ("respond", Event::Respond(answers)),
        ("respond nothing", Event::Respond(&[])),
        ("request cancel", Event::RequestCancel),
        ("claim", Event::Claim),
        ("abandon", Event::Abandon),
    ];
    events.extend(mutations.iter().map(|(name, mutation)| (*name, Event::Commit { epoch, mutation })));
    events
}

/// One line an event: what it does to a task of each status.
fn table(on_cancel: OnCancel, on_restart: OnRestart) -> String {
    let records = of_each_status(on_cancel, on_restart);
    let mutations = mutations();
    let answers = [(InputKey::new("name"), Bytes::from_static(b"1")), (InputKey::new("never"), Bytes::new())];
    let mut table = String::new();
    for (name, event) in events(Epoch(1), &mutations, &answers) {
        let outcomes: Vec<String> = records.iter().map(|record| outcome(record, &event)).collect();
        table += &format!("{name}: {}\n", outcomes.join(", "));
    }
    table
}

fn outcome(record: &TaskRecord, event: &Event<'_>) -> String {
    match record.after(event, T0) {
        Transition::Changed(next) if next.last_updated_at == record.last_updated_at => {
            format!("({:?})", next.status())
        }
        Transition::Changed(next) => format!("{:?}", next.status()),
        Transition::Unchanged => "-".into(),
        Transition::Refused(refusal) => format!("!{refusal:?}"),
    }
}

/// TSK-08, TSK-09: every event on every status. Columns: working, input_required, completed, failed, cancelled. A status in
/// parentheses: a change that no client can see. A dash: no change. `!`: refused.
#[test]
fn every_event_on_every_status() {
    let expected = "\
respond: -, Working, -, -, -
respond nothing: -, -, -, -, -
request cancel: Cancelled, Cancelled, -, -, -
claim: (Working), (InputRequired), !Settled, !Settled, !Settled
abandon: Failed, Failed, -, -, -
report: Working, InputRequired, !Settled, !Settled, !Settled
ask: InputRequired, InputRequired, !Settled, !Settled, !Settled
withdraw: -, Working, !Settled, !Settled, !Settled
keep longer: Working, InputRequired, !Settled, !Settled, !Settled
keep: -, -, !Settled, !Settled, !Settled
poll interval: Working, InputRequired, !Settled, !Settled, !Settled
record: -, -, !Settled, !Settled, !Settled
complete: Completed, Completed, !Settled, !Settled, !Settled
fail: Failed, Failed, !Settled, !Settled, !Settled
stop: Cancelled, Cancelled, !Settled, !Settled, !Settled
release: Failed, Failed, !Settled, !Settled, !Settled
";
    assert_eq!(table(OnCancel::Drop, OnRestart::Fail), expected);
    let rerun = expected
        .replace("abandon: Failed, Failed", "abandon: (Working), (InputRequired)")
        .replace("release: Failed, Failed", "release: (Working), (InputRequired)")
        .replace("record: -, -", "record: (Working), (InputRequired)");
    assert_eq!(table(OnCancel::Drop, OnRestart::Rerun { max_attempts: 2 }), rerun);
    let last_run = rerun
        .replace("abandon: (Working), (InputRequired)", "abandon: Failed, Failed")
        .replace("release: (Working), (InputRequired)", "release: Failed, Failed");
    assert_eq!(table(OnCancel::Drop, OnRestart::Rerun { max_attempts: 1 }), last_run);
    let signal = expected.replace("request cancel: Cancelled, Cancelled", "request cancel: (Working), Working");
    assert_eq!(table(OnCancel::Signal, OnRestart::Fail), signal);
}

/// TSK-08: a worker whose epoch is not the newest writes nothing, whatever it writes.
#[test]
fn an_old_epoch_writes_nothing() {
    let record = working(OnCancel::Drop, OnRestart::Fail);
    for (name, mutation) in &mutations() {
        for epoch in [Epoch(0), Epoch(2)] {
            let outcome = record.after(&Event::Commit { epoch, mutation }, T0);
            assert_eq!(outcome, Transition::Refused(Refusal::Fenced), "{name}");
        }
    }
}

/// Each write may be repeated: a settled task refuses, an open one is not changed again.
#[test]
fn a_repeated_write_changes_nothing() {
    let record = working(OnCancel::Drop, OnRestart::Fail);
    for (name, mutation) in &mutations() {
        let event = Event::Commit { epoch: record.epoch, mutation };
        if let Transition::Changed(once) = record.after(&event, T0) {
            assert!(!matches!(once.after(&event, T0), Transition::Changed(_)), "{name}");
        }
    }
}

/// TSK-03: each visible change is dated at least a millisecond later, also when the clock steps back; an invisible one
/// leaves the date alone. `rev` counts both.
#[test]
fn dates_only_grow() {
    let mutations = mutations();
    let answers = [(InputKey::new("name"), Bytes::from_static(b"1"))];
    for record in of_each_status(OnCancel::Signal, OnRestart::Rerun { max_attempts: 9 }) {
        for (name, event) in events(Epoch(1), &mutations, &answers) {
            for now in [UnixMillis::new(0), T0, record.last_updated_at, T0.plus(Duration::from_secs(1))] {
                let Transition::Changed(next) = record.after(&event, now) else { continue };
                assert_eq!(next.rev, Rev(record.rev.0 + 1), "{name}");
                let visible = |r: &TaskRecord| {
                    (r.status(), r.status_message.clone(), r.ttl, r.poll_interval, r.inputs().outstanding().count())
                };
                if visible(&next) == visible(&record) {
                    assert_eq!(next.last_updated_at, record.last_updated_at, "{name}");
                } else {
                    assert!(next.last_updated_at > record.last_updated_at, "{name}");
                    assert!(next.last_updated_at >= now, "{name}");
                }
                assert!(next.last_updated_at >= next.created_at, "{name}");
            }
        }
    }
}

/// TSK-10: a failed task says why.
#[test]
fn a_failed_task_says_why() {
    let failures = [
        Failure::Reported { error: Bytes::from_static(ERROR), message: "no".into() },
        Failure::Panicked,
        Failure::ResultTooLarge { limit: 5 },
        Failure::Interrupted,
        Failure::Expired,
    ];
    for failure in failures {
        let record = working(OnCancel::Drop, OnRestart::Fail);
        let failed = commit(&record, &Mutation::Settle(Settlement::failed(failure.clone())));
        assert_eq!(failed.status_message, Some(failure.message()));
    }
}

/// GET-05, case 22: time ends an open task as failed for the grace period, and takes a settled one away at once. Case 25:
/// however often and late it is read in between, it reads the same.
#[test]
fn time_ends_tasks() {
    let day = Duration::from_secs(86_400);
    let ttl = Duration::from_secs(3600);
    let grace = Duration::from_secs(60);
    let [open, asking, completed, failed, cancelled] =
        of_each_status(OnCancel::Drop, OnRestart::Fail).try_into().expect("there are five statuses");
    let status = |record: &TaskRecord, after: Duration| {
        Arc::new(record.clone()).at(record.created_at.plus(after)).map(|record| record.status())
    };
    let just_before = ttl - Duration::from_millis(1);
    for record in [open, asking] {
        assert_eq!(status(&record, just_before), Some(record.status()));
        assert_eq!(status(&record, ttl), Some(TaskStatus::Failed));
        assert_eq!(status(&record, ttl + grace - Duration::from_millis(1)), Some(TaskStatus::Failed));
        assert_eq!(status(&record, ttl + grace), None);

        let record = Arc::new(record);
        let expired = record.at(record.created_at.plus(ttl)).expect("readable for the grace period");
        assert_eq!(record.at(record.created_at.plus(ttl + grace / 2)), Some(Arc::clone(&expired)));
        assert_eq!(expired.at(record.created_at.plus(ttl + grace / 2)), Some(expired));
    }
    for record in [completed, failed, cancelled] {
        assert_eq!(status(&record, just_before), Some(record.status()));
        assert_eq!(status(&record, ttl), None);
        let unlimited = TaskRecord { ttl: None, ..record };
        assert_eq!(status(&unlimited, day * 1_000), Some(unlimited.status()));
    }
}

/// Case 11: once cancellation is requested, nothing more is asked, and what was asked is withdrawn.
#[test]
fn nothing_is_asked_after_a_cancellation_request() {
    let asking = commit(&working(OnCancel::Signal, OnRestart::Fail), &Mutation::Ask(question("name")));
    let told = take(&asking, &Event::RequestCancel);
    assert_eq!(told.status(), TaskStatus::Working);
    let ask = Mutation::Ask(question("more"));
    let event = Event::Commit { epoch: told.epoch, mutation: &ask };
    assert_eq!(told.after(&event, T0), Transition::Refused(Refusal::CancelRequested));
}

/// UPD-04: what was asked and answered before a restart is there for the next run.
#[test]
fn a_rerun_finds_answers_steps_and_arguments() {
    let record = working(OnCancel::Drop, OnRestart::Rerun { max_attempts: 2 });
    let record = commit(&record, &Mutation::Ask(question("name")));
    let record = take(&record, &Event::Respond(&[(InputKey::new("name"), Bytes::from_static(b"1"))]));
    let record = commit(&record, &Mutation::Record(Step { key: "step".into(), value: Bytes::from_static(b"2") }));
    let again = take(&take(&record, &Event::Abandon), &Event::Claim);
    assert_eq!((again.attempt, again.epoch), (2, Epoch(3)));
    assert_eq!(again.journal.arguments(), b"{}");
    assert_eq!(again.journal.steps().len(), 1);
    assert!(again.inputs().paired(&question("name")).is_some());
}

/// A failed task of a tool that may run again keeps its arguments and nothing else, so that an operator can have it done
/// anew: by a task that is like it was when it was new. No other task is retried.
#[test]
fn only_a_failed_task_that_may_run_again_is_retried() {
    let rerun = OnRestart::Rerun { max_attempts: 2 };
    for on_restart in [OnRestart::Fail, rerun] {
        for record in of_each_status(OnCancel::Signal, on_restart) {
            let expected = record.status() == TaskStatus::Failed && on_restart == rerun;
            assert_eq!(record.retried().is_some(), expected, "{:?} {on_restart:?}", record.status());
        }
    }
    let key = IdempotencyKey { text: "k".into(), call: RequestHash(1) };
    let first = NewTask { key: Some(key), ttl: None, declared: InputKinds::ALL, ..new_task(OnCancel::Signal, rerun) };
    let record = take(&TaskRecord::new(TaskId::from_bits(1), first.clone(), T0), &Event::Claim);
    let record = commit(&record, &Mutation::Ask(question("name")));
    let record = commit(&record, &Mutation::Record(Step { key: "step".into(), value: Bytes::from_static(b"2") }));
    let failed = commit(&record, &Mutation::Settle(failure()));
    assert!(failed.inputs().entries().is_empty() && failed.journal.steps().is_empty());
    let again = TaskRecord::new(TaskId::from_bits(2), failed.retried().expect("it failed"), T0);
    let anew = TaskRecord::new(TaskId::from_bits(2), NewTask { key: None, ..first }, T0);
    assert_eq!(again, anew);
}
