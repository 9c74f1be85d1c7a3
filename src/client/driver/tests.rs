//! The driver against servers of every kind, on a clock of the test's own.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn settings() -> Settings {
    Settings { ask: true, listen: false, seed: 1 }
}

fn task(status: &str, updated: u64, more: Value) -> TaskState {
    let mut task = json!({
        "taskId": "t", "status": status, "ttlMs": null, "pollIntervalMs": 1000, "createdAt": "2026-07-28T10:00:00Z",
        "lastUpdatedAt": format!("2026-07-28T10:{:02}:{:02}Z", updated / 60 % 60, updated % 60),
    });
    let fields = task.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    TaskState::read(&task).expect("a task")
}

fn asking(keys: &[&str], updated: u64) -> TaskState {
    let ask = |key: &&str| ((*key).to_owned(), json!({ "method": "elicitation/create", "params": { "message": key } }));
    let requests: Map<String, Value> = keys.iter().map(ask).collect();
    task("input_required", updated, json!({ "inputRequests": requests }))
}

fn completed(updated: u64) -> TaskState {
    task("completed", updated, json!({ "result": { "content": [] } }))
}

fn created() -> Driver {
    Driver::created(task("working", 0, json!({})), settings())
}

fn polled(state: TaskState) -> Event {
    Event::Polled(Ok(Box::new(state)))
}

fn lost() -> Failure {
    Failure::Lost { retry_after: None, error: ClientError::Transport(crate::client::Cause::new("reset")) }
}

fn refused(code: i64) -> Failure {
    Failure::Refused { code, message: "no".to_owned(), data: None }
}

/// A driver with time that passes only when it waits.
struct Run {
    driver: Driver,
    now: Now,
    done: Option<Result<Outcome, ClientError>>,
}

impl Run {
    fn new(driver: Driver) -> Self {
        Self { driver, now: Now::ZERO, done: None }
    }

    fn tell(&mut self, event: Event) -> Vec<Command> {
        let commands = self.driver.step(event, self.now);
        for command in &commands {
            if let Command::Done(outcome) = command {
                self.done = Some((**outcome).clone());
            }
        }
        commands
    }

    /// Waits until there is something to send, and gives all of it.
    fn wait(&mut self) -> Vec<Command> {
        for _ in 0..1_000 {
            self.now = self.now.max(self.driver.wake().expect("it waits for a moment"));
            let commands: Vec<_> = self.tell(Event::Tick).into_iter().filter(|one| !is_show(one)).collect();
            if !commands.is_empty() {
                return commands;
            }
        }
        panic!("it never sends anything");
    }

    /// Waits for a poll, and answers it.
    fn poll(&mut self, state: TaskState) -> Vec<Command> {
        let commands = self.wait();
        assert!(matches!(commands[..], [Command::Poll]), "{commands:?}");
        self.tell(polled(state))
    }
}

fn is_show(command: &Command) -> bool {
    matches!(command, Command::Show(_))
}

fn asked(commands: &[Command]) -> Vec<&str> {
    commands.iter().filter_map(|command| if let Command::Ask(key, _) = command { Some(&**key) } else { None }).collect()
}

/// CLI-01: the interval is the newest that the server named.
#[test]
fn the_interval_may_change_at_any_poll() {
    let mut run = Run::new(created());
    run.poll(task("working", 1, json!({ "pollIntervalMs": 5000 })));
    assert_eq!(run.now, SECOND);
    run.poll(task("working", 2, json!({ "pollIntervalMs": 2000 })));
    assert_eq!(run.now, SECOND * 6);
    run.wait();
    assert_eq!(run.now, SECOND * 8);
}

/// CLI-04, CLI-09, case 15: an answered key that is shown for three more polls is asked once and answered once, and the
/// interval is kept.
#[test]
fn an_answered_key_that_is_shown_again_is_not_asked_again() {
    let mut run = Run::new(created());
    assert_eq!(asked(&run.poll(asking(&["name"], 1))), ["name"]);
    assert!(matches!(&run.tell(Event::Answered("name".to_owned(), json!(1)))[..], [Command::Update(_)]));
    run.tell(Event::UpdateAcked);
    for poll in 2..5 {
        let before = run.now;
        let commands = run.poll(asking(&["name"], poll));
        assert!(commands.iter().all(is_show), "{commands:?}");
        assert!(poll == 2 || run.now - before == SECOND);
    }
    run.poll(completed(9));
    assert!(matches!(run.done, Some(Ok(Outcome::Completed(_)))));
}

/// Case 16: an answer that was lost is sent again, the same, and nobody is asked again.
#[test]
fn a_lost_answer_is_sent_again() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!("Ada")));
    assert!(run.tell(Event::UpdateFailed(lost())).is_empty());
    let again = run.wait();
    let [Command::Update(answers)] = &again[..] else { panic!("{again:?}") };
    assert_eq!(answers, &[("name".to_owned(), json!("Ada"))]);
    assert!(matches!(&run.tell(Event::UpdateAcked)[..], [Command::Settled(_, Ok(()))]));
}

/// CLI-09: what the server no longer asks is not sent, whether its answer comes late or has to be sent again.
#[test]
fn only_what_is_outstanding_is_sent() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    let commands = run.poll(task("working", 2, json!({})));
    assert!(commands.iter().any(|command| matches!(command, Command::CloseQuestion(key) if key == "name")));
    assert!(run.tell(Event::Answered("name".to_owned(), json!(1))).is_empty());
    assert!(run.tell(Event::AskFailed("name".to_owned(), ClientError::Detached)).is_empty(), "nobody waits for it");

    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    run.tell(Event::Notified(Box::new(task("working", 2, json!({})))));
    run.tell(Event::UpdateFailed(lost()));
    assert!(matches!(run.wait()[..], [Command::Poll]));
}

/// CLI-09: whoever answered is told that the question was gone before the answer was sent, and that the server has it if it
/// was only the acknowledgement that was lost.
#[test]
fn an_answer_that_was_never_sent_is_not_taken() {
    let settled = |commands: &[Command]| {
        commands
            .iter()
            .find_map(|command| if let Command::Settled(_, how) = command { Some(how.clone()) } else { None })
    };
    for (sent, status) in [(false, "working"), (false, "completed"), (true, "working"), (true, "completed")] {
        let mut run = Run::new(created());
        run.poll(asking(&["name"], 1));
        if sent {
            run.tell(Event::Answered("name".to_owned(), json!(1)));
            run.tell(Event::UpdateFailed(lost()));
        } else {
            assert!(matches!(run.wait()[..], [Command::Poll]));
            assert!(run.tell(Event::Answered("name".to_owned(), json!(1))).is_empty());
        }
        let state = if status == "completed" { completed(2) } else { task("working", 2, json!({})) };
        let told = run.tell(Event::Notified(Box::new(state)));
        match (sent, settled(&told)) {
            (true, Some(Ok(()))) | (false, Some(Err(ClientError::NotOutstanding(_)))) => {}
            (_, other) => panic!("{sent} {status}: {other:?}"),
        }
        assert_eq!(run.driver.answered().contains("name"), sent);
    }
}

/// A failed update is made again, and not for ever, although polls succeed meanwhile.
#[test]
fn a_server_that_takes_no_answer_is_given_up() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    let mut updates = 1;
    run.tell(Event::UpdateFailed(refused(-32603)));
    while run.done.is_none() {
        match &run.wait()[..] {
            [Command::Poll] => drop(run.tell(polled(asking(&["name"], 1)))),
            [Command::Update(_)] => {
                updates += 1;
                run.tell(Event::UpdateFailed(refused(-32603)));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(updates, MAX_FAILURES + 1);
    assert!(matches!(run.done, Some(Err(ClientError::Rpc { code: -32603, .. }))), "{:?}", run.done);
}

/// CLI-11: a refused answer is followed by one `tasks/get`; the task lives, so the caller is told, and nothing is sent again.
#[test]
fn a_refused_answer_is_checked_and_told() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    let mut commands = run.tell(Event::UpdateFailed(refused(-32602)));
    if !commands.iter().any(|command| matches!(command, Command::Poll)) {
        commands = run.wait();
    }
    assert!(commands.iter().any(|command| matches!(command, Command::Poll)), "{commands:?}");
    run.tell(polled(asking(&["name"], 2)));
    assert!(matches!(run.done, Some(Err(ClientError::AnswerRefused { .. }))), "{:?}", run.done);
    assert!(run.driver.answered().is_empty(), "a ticket can be resumed and the question be asked again");
}

/// CLI-11: an answer to the check that makes no sense is no check; the next one is.
#[test]
fn a_check_that_fails_is_made_again() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    if !run.tell(Event::UpdateFailed(refused(-32602))).iter().any(|command| matches!(command, Command::Poll)) {
        run.wait();
    }
    run.tell(Event::Polled(Err("nonsense".to_owned())));
    assert!(run.done.is_none());
    assert!(matches!(run.wait()[..], [Command::Poll]));
    let told = run.tell(polled(asking(&["name"], 2)));
    let refused = |command: &Command| matches!(command, Command::Settled(_, Err(ClientError::AnswerRefused { .. })));
    assert!(told.iter().any(refused), "{told:?}");
    assert!(matches!(run.done, Some(Err(ClientError::AnswerRefused { .. }))), "{:?}", run.done);
}

/// CLI-11: if the task is gone, that is what the caller is told.
#[test]
fn a_refused_answer_to_a_task_that_is_gone_means_it_expired() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    let commands = run.tell(Event::UpdateFailed(refused(-32602)));
    if !commands.iter().any(|command| matches!(command, Command::Poll)) {
        run.wait();
    }
    run.tell(Event::PollFailed(refused(-32602)));
    assert!(matches!(run.done, Some(Err(ClientError::Expired))));
}

/// Case 38: the older of two answers arrives last. A push that is older than what is known changes nothing.
#[test]
fn there_is_no_step_back() {
    let mut run = Run::new(created());
    run.wait();
    run.tell(Event::Notified(Box::new(asking(&["name"], 5))));
    let commands = run.tell(polled(task("working", 3, json!({}))));
    assert!(commands.is_empty(), "{commands:?}");
    assert_eq!(run.driver.state().expect("a state").changed_at(), asking(&[], 5).changed_at());
    run.tell(Event::Notified(Box::new(completed(6))));
    assert!(run.tell(polled(task("working", 9, json!({})))).is_empty());
    assert!(matches!(run.done, Some(Ok(_))));
}

/// Case 38: a server whose clock has whole seconds does not take a question back by an answer that overtook nothing.
#[test]
fn there_is_no_step_back_within_a_second() {
    let mut run = Run::new(created());
    run.wait();
    run.now += FLOOR;
    assert_eq!(asked(&run.tell(Event::Notified(Box::new(asking(&["name"], 5))))), ["name"]);
    assert!(run.tell(polled(task("working", 5, json!({})))).is_empty());
    assert!(run.driver.takes("name"));
}

/// A server whose clock goes back is believed after a while, so that its questions are not missed.
#[test]
fn a_clock_that_goes_back_is_believed_in_the_end() {
    let mut run = Run::new(Driver::created(task("working", 3_000, json!({})), settings()));
    let mut polls = 0;
    while asked(&run.poll(asking(&["name"], 10 + polls))).is_empty() {
        polls += 1;
        assert!(polls < 10);
    }
}

/// CLI-02: a task whose time to live is over is given up, by the client's own elapsed time, whatever the server's clock says.
#[test]
fn the_time_to_live_is_a_backstop() {
    let mut run = Run::new(Driver::created(task("working", 0, json!({ "ttlMs": 60_000 })), settings()));
    while run.done.is_none() {
        run.now = run.now.max(run.driver.wake().expect("it waits for a moment"));
        let commands = run.tell(Event::Tick);
        if commands.iter().any(|command| matches!(command, Command::Poll)) {
            run.tell(polled(task("working", 0, json!({ "ttlMs": 60_000 }))));
        }
    }
    assert!(matches!(run.done, Some(Err(ClientError::Expired))));
    assert!(run.now >= SECOND * 60 && run.now <= SECOND * 60 + TTL_MARGIN);
}

/// CLI-02: a status that is not known is shown, and polled on.
#[test]
fn an_unknown_status_is_polled_on() {
    let mut run = Run::new(created());
    let commands = run.poll(task("paused", 1, json!({})));
    assert!(matches!(&commands[..], [Command::Show(state)] if state.status.as_str() == "paused"));
    run.poll(completed(2));
    assert!(matches!(run.done, Some(Ok(_))));
}

/// Case 40: after `-32602` there is no other poll; what was known has expired, what was not was never there.
#[test]
fn a_task_that_is_gone_is_not_polled_again() {
    for (last, expired) in [(Some(task("working", 0, json!({}))), true), (None, false)] {
        let mut run = Run::new(Driver::resumed(last, BTreeSet::new(), None, Now::ZERO, settings()));
        assert!(matches!(run.wait()[..], [Command::Poll]));
        run.tell(Event::PollFailed(refused(-32602)));
        let expected = matches!(run.done, Some(Err(ClientError::Expired))) == expired;
        assert!(expected && run.driver.wake().is_none(), "{:?}", run.done);
    }
}

/// CLI-03: keys that an earlier run answered are not asked.
#[test]
fn answered_keys_are_remembered() {
    let answered = BTreeSet::from(["name".to_owned()]);
    let mut run = Run::new(Driver::resumed(None, answered, None, Now::ZERO, settings()));
    assert_eq!(asked(&run.poll(asking(&["name", "size"], 1))), ["size"]);
}

/// Cancelling closes an open question, and no answer is sent after it.
#[test]
fn cancelling_closes_the_question() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    let commands = run.tell(Event::CancelRequested);
    assert!(matches!(&commands[..], [Command::CloseQuestion(_), Command::Cancel]), "{commands:?}");
    run.tell(Event::CancelAcked);
    assert!(!run.driver.takes("name"));
    assert!(asked(&run.poll(asking(&["name", "size"], 2))).is_empty());
    run.poll(task("cancelled", 3, json!({})));
    assert!(matches!(run.done, Some(Err(ClientError::Cancelled))));
}

/// CLI-03: a task that is taken up again is shown as it is, also if it is as it was; before that nothing is answered.
#[test]
fn a_resumed_task_is_shown() {
    let before = asking(&["name"], 1);
    let mut run = Run::new(Driver::resumed(Some(before.clone()), BTreeSet::new(), None, Now::ZERO, settings()));
    assert!(!run.driver.takes("name"), "it may have been answered since");
    let shown = run.poll(before.clone());
    assert!(shown.iter().any(is_show) && asked(&shown) == ["name"], "{shown:?}");
    assert!(!run.poll(before).iter().any(is_show), "each state is shown once");
}

/// A cancellation is sent although an answer was refused just now, and although the server wants to be left alone.
#[test]
fn a_cancellation_does_not_wait() {
    let mut run = Run::new(created());
    run.poll(asking(&["name"], 1));
    run.tell(Event::Answered("name".to_owned(), json!(1)));
    run.tell(Event::UpdateFailed(refused(-32602)));
    assert!(matches!(run.wait()[..], [Command::Poll]));
    run.tell(Event::CancelRequested);
    let commands = run.tell(polled(asking(&["name"], 1)));
    assert!(matches!(commands[..], [Command::Cancel]), "{commands:?}");

    let mut run = Run::new(created());
    run.wait();
    let busy = Failure::Lost { retry_after: Some(SECOND * 500), error: ClientError::Detached };
    run.tell(Event::PollFailed(busy));
    assert!(matches!(run.tell(Event::CancelRequested)[..], [Command::Cancel]));
}

/// A cancellation that is lost is sent again, after a while; the task is polled meanwhile, for it may have ended.
#[test]
fn a_lost_cancellation_is_sent_again() {
    let mut run = Run::new(created());
    run.poll(task("working", 1, json!({ "pollIntervalMs": 20 })));
    assert!(matches!(run.tell(Event::CancelRequested)[..], [Command::Cancel]));
    assert!(run.tell(Event::CancelFailed(lost())).is_empty());
    assert!(run.driver.wake().expect("a moment") > run.now, "nothing is to be done now");
    for poll in 2..1_000 {
        match &run.wait()[..] {
            [Command::Poll] => drop(run.tell(polled(task("working", poll, json!({ "pollIntervalMs": 20 }))))),
            [Command::Cancel] => return assert!(poll > 2, "it is polled meanwhile"),
            other => panic!("{other:?}"),
        }
    }
    panic!("the cancellation is never sent again");
}

/// A live stream: polls are rare. Once it drops they are not.
#[test]
fn a_stream_replaces_polls() {
    let mut run = Run::new(Driver::created(task("working", 0, json!({})), Settings { listen: true, ..settings() }));
    assert!(run.tell(Event::Tick).iter().any(|command| matches!(command, Command::Listen)));
    run.tell(Event::ListenUp);
    run.poll(task("working", 1, json!({})));
    let before = run.now;
    run.poll(task("working", 2, json!({})));
    assert!(run.now - before >= SECOND * 30);
    let before = run.now;
    run.tell(Event::ListenDown(false));
    run.wait();
    assert_eq!(run.now - before, SECOND);
}

/// What a server may do next.
#[derive(Debug, Clone)]
enum Move {
    Wait(u64),
    Answer(u8, u64, u64),
    Lose(Option<u64>),
    Refuse(i64),
    Nonsense,
    Push(u8, u64),
    User,
    Cancel,
    Stream(bool),
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        3 => (0_u64..5_000).prop_map(Move::Wait),
        6 => (0_u8..12, 0_u64..60, 0_u64..3_000).prop_map(|(kind, at, pace)| Move::Answer(kind, at, pace)),
        2 => proptest::option::of(0_u64..100_000).prop_map(Move::Lose),
        1 => prop_oneof![Just(-32602), Just(-32603), Just(-32601)].prop_map(Move::Refuse),
        1 => Just(Move::Nonsense),
        2 => (0_u8..12, 0_u64..60).prop_map(|(kind, at)| Move::Push(kind, at)),
        4 => Just(Move::User),
        1 => Just(Move::Cancel),
        1 => any::<bool>().prop_map(Move::Stream),
    ]
}

fn any_state(kind: u8, updated: u64, pace: u64) -> TaskState {
    let mut state = match kind {
        0..=2 => task("working", updated, json!({})),
        3 => asking(&["a"], updated),
        4 => asking(&["b"], updated),
        5 | 6 => asking(&["a", "b"], updated),
        7 => asking(&["c", "a"], updated),
        8 => task("paused", updated, json!({})),
        9 => asking(&[], updated),
        10 => task("working", 59 - updated.min(59), json!({})),
        _ => completed(updated),
    };
    state.poll_interval = (!pace.is_multiple_of(3)).then(|| Duration::from_millis(pace / 3));
    state
}

/// What must never happen, watched from outside.
#[derive(Default)]
struct Watch {
    asked: BTreeMap<String, u32>,
    open: Vec<String>,
    in_flight: Option<&'static str>,
    last_poll: Option<Now>,
    done: bool,
    unacked: BTreeMap<String, Value>,
    sent: Vec<String>,
}

impl Watch {
    fn see(&mut self, commands: &[Command], now: Now) {
        for command in commands {
            assert!(!self.done, "nothing comes after the end: {command:?}");
            match command {
                Command::Poll => {
                    assert!(self.in_flight.replace("poll").is_none());
                    assert!(self.last_poll.is_none_or(|last| now >= last + FLOOR), "polls stay within the rate");
                    self.last_poll = Some(now);
                }
                Command::Update(answers) => {
                    assert!(self.in_flight.replace("update").is_none());
                    for (key, value) in answers {
                        assert_eq!(self.unacked.get(key), Some(value), "each answer is sent as it was given");
                        self.sent.push(key.clone());
                    }
                }
                Command::Cancel => assert!(self.in_flight.replace("cancel").is_none()),
                Command::Ask(key, _) => {
                    *self.asked.entry(key.clone()).or_default() += 1;
                    assert_eq!(self.asked[key], 1, "{key} is asked once");
                    self.open.push(key.clone());
                }
                Command::CloseQuestion(key) => self.open.retain(|open| open != key),
                Command::Settled(key, _) => drop(self.unacked.remove(key)),
                Command::Done(_) => self.done = true,
                Command::Listen | Command::Show(_) => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// CLI-02, CLI-04, CLI-09, case 37: for any history of a server, each key is asked at most once, nothing is sent once
    /// the task has ended, polls stay within the rate, one request is in flight, and an answer waits until the server has it
    /// or the question is gone.
    #[test]
    fn whatever_the_server_does(history in proptest::collection::vec(moves(), 1..80), listen: bool, seed: u64) {
        let mut driver = Driver::created(task("working", 0, json!({})), Settings { ask: true, listen, seed });
        let mut watch = Watch::default();
        let mut now = Now::ZERO;
        watch.see(&driver.step(Event::Tick, now), now);
        for step in history {
            let event = match (step, watch.in_flight) {
                (Move::Wait(ms), _) => {
                    now += Duration::from_millis(ms);
                    Event::Tick
                }
                (Move::Push(kind, at), _) => Event::Notified(Box::new(any_state(kind, at, 3))),
                (Move::User, _) => match watch.open.pop() {
                    Some(key) => {
                        let value = json!(now.as_millis() as u64);
                        if driver.takes(&key) {
                            watch.unacked.insert(key.clone(), value.clone());
                        }
                        Event::Answered(key, value)
                    }
                    None => Event::Tick,
                },
                (Move::Cancel, _) => Event::CancelRequested,
                (Move::Stream(true), _) if listen => Event::ListenUp,
                (Move::Stream(false), _) if listen => Event::ListenDown(true),
                (Move::Answer(kind, at, pace), Some("poll")) => polled(any_state(kind, at, pace)),
                (Move::Answer(..), Some("update")) => {
                    for key in watch.sent.drain(..) {
                        watch.unacked.remove(&key);
                    }
                    Event::UpdateAcked
                }
                (Move::Answer(..), Some(_)) => Event::CancelAcked,
                (Move::Nonsense, Some("poll")) => Event::Polled(Err("nonsense".to_owned())),
                (Move::Lose(after), Some(what)) => {
                    let mut failure = lost();
                    if let Failure::Lost { retry_after, .. } = &mut failure {
                        *retry_after = after.map(Duration::from_millis);
                    }
                    failed(what, failure)
                }
                (Move::Refuse(code), Some(what)) => failed(what, refused(code)),
                _ => Event::Tick,
            };
            if !matches!(event, Event::Tick | Event::Notified(_) | Event::Answered(..) | Event::CancelRequested
                | Event::ListenUp | Event::ListenDown(_))
            {
                watch.in_flight = None;
            }
            if matches!(event, Event::UpdateFailed(_)) {
                watch.sent.clear();
            }
            watch.see(&driver.step(event, now), now);
            prop_assert_eq!(driver.is_done(), watch.done);
            // It never sleeps for ever: something is on its way, or there is a moment to wake at. And it never spins: that
            // moment is still to come.
            prop_assert!(watch.done || watch.in_flight.is_some() || driver.wake().is_some());
            prop_assert!(driver.wake().is_none_or(|wake| wake > now), "it wakes at {:?} for nothing", driver.wake());
        }
        // A server that recovers gets every answer that is not acknowledged.
        for _ in 0..20_000 {
            if watch.done || watch.unacked.is_empty() {
                return Ok(());
            }
            let event = match watch.in_flight.take() {
                None => {
                    now = now.max(driver.wake().expect("it goes on"));
                    Event::Tick
                }
                Some("update") => {
                    for key in watch.sent.drain(..) {
                        watch.unacked.remove(&key);
                    }
                    Event::UpdateAcked
                }
                Some("poll") => polled(driver.state().expect("a state").clone()),
                Some(_) => Event::CancelAcked,
            };
            watch.see(&driver.step(event, now), now);
        }
        prop_assert!(false, "answers are kept back: {:?}", watch.unacked);
    }
}

fn failed(what: &str, failure: Failure) -> Event {
    match what {
        "poll" => Event::PollFailed(failure),
        "update" => Event::UpdateFailed(failure),
        _ => Event::CancelFailed(failure),
    }
}
