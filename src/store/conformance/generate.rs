//! Random calls that make sense: mostly of tasks that are there, by whoever may, and now and then not.
//!
//! All spans of time are whole minutes, so that a store whose time moves a little by itself falls on the same side of each
//! limit as the model.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use proptest::{prelude::*, sample::select};
use proptest_state_machine::ReferenceStateMachine;

use super::{call::Call, model::Model};
use crate::{
    input::{InputKey, InputKinds, InputLog, Question, RequestHash},
    limits::Quota,
    principal::Principal,
    store::{Lease, WorkerId},
    task::{
        Epoch, Failure, IdempotencyKey, Mutation, NewTask, OnCancel, OnRestart, Progress, Settlement, Step, Target,
        TaskRecord,
    },
    task_id::TaskId,
};

/// One step of a sequence.
#[derive(Debug, Clone)]
pub(super) enum Move {
    Call(Call),
    Advance(Duration),
    /// All connections are dropped, and opened anew.
    Restart,
}

/// The model, as proptest drives it to make sequences.
pub(super) struct Sequences;

impl ReferenceStateMachine for Sequences {
    type State = Model;
    type Transition = Move;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model::new()).boxed()
    }

    fn transitions(model: &Model) -> BoxedStrategy<Move> {
        prop_oneof![
            24 => calls(model).prop_map(Move::Call),
            5 => minutes(&[1, 4, 5, 5, 10, 30]).prop_map(Move::Advance),
            1 => Just(Move::Restart),
        ]
        .boxed()
    }

    fn apply(mut model: Model, step: &Move) -> Model {
        match step {
            Move::Call(call) => {
                model.advance(TICK);
                model.make(call);
            }
            Move::Advance(step) => model.advance(*step),
            Move::Restart => {}
        }
        model
    }
}

/// Passes before each call, so that no two tasks are of one age.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// How many names there are for tasks.
const TASKS: u128 = 6;

pub(super) fn minutes(choices: &'static [u64]) -> impl Strategy<Value = Duration> + Clone {
    select(choices).prop_map(|minutes| Duration::from_secs(60 * minutes))
}

/// Any call.
pub(super) fn calls(model: &Model) -> BoxedStrategy<Call> {
    prop_oneof![
        4 => creates(),
        3 => ids(model).prop_map(Call::Get),
        4 => responds(model),
        2 => ids(model).prop_map(Call::RequestCancel),
        3 => claims(3),
        3 => renews(model),
        12 => commits(model),
        2 => (ids(model), keys()).prop_map(|(id, key)| Call::Input(id, key)),
        4 => select(&[1, 2, 100][..]).prop_map(Call::Reap),
        1 => proptest::collection::vec(ids(model), 0..4).prop_map(Call::Revs),
    ]
    .boxed()
}

/// Calls for several connections, which make them at the same moment: mostly ones that get in each other's way.
///
/// No more than one task in a claim, a renewal and a look at revisions: only what happens to one task is one step.
pub(super) fn clashes(model: &Model, connections: usize) -> BoxedStrategy<Vec<Call>> {
    let all = |call: BoxedStrategy<Call>| proptest::collection::vec(call, connections);
    let one = crowded(model);
    prop_oneof![
        2 => all(creates()),
        2 => all(claims(1)),
        2 => all(responds_to(one.clone())),
        2 => all(settles(one.clone())),
        2 => all(prop_oneof![one_task(one.clone()), claims(1)].boxed()),
        3 => all(one_task(one)),
        2 => all(prop_oneof![claims(1), creates(), select(&[1, 100][..]).prop_map(Call::Reap)].boxed()),
    ]
    .boxed()
}

/// One task that all of the connections mean.
fn crowded(model: &Model) -> BoxedStrategy<Option<Arc<TaskRecord>>> {
    let all: Vec<_> = model.all().collect();
    if all.is_empty() { Just(None).boxed() } else { Just(all.last().cloned()).boxed() }
}

fn one_task(task: BoxedStrategy<Option<Arc<TaskRecord>>>) -> BoxedStrategy<Call> {
    let settles = settles(task.clone());
    let responds = responds_to(task.clone());
    let others = (task, mutations(), lease(), keys()).prop_flat_map(|(task, mutation, lease, key)| {
        let (id, epoch) = task.as_ref().map_or((TaskId::from_bits(0), Epoch(0)), |task| (task.id, task.epoch));
        let mutation = keep_relative(mutation, task.as_deref());
        prop_oneof![
            4 => Just(Call::Commit { id, epoch, mutation }),
            2 => Just(Call::RequestCancel(id)),
            2 => Just(Call::Renew { lease, held: vec![(id, epoch)] }),
            1 => Just(Call::Get(id)),
            1 => Just(Call::Revs(vec![id])),
            1 => Just(Call::Input(id, key)),
        ]
    });
    prop_oneof![1 => settles, 2 => responds, 4 => others].boxed()
}

fn settles(task: BoxedStrategy<Option<Arc<TaskRecord>>>) -> BoxedStrategy<Call> {
    (task, settlements(), any::<bool>())
        .prop_map(|(task, settlement, cancel)| match task {
            Some(task) if cancel => Call::RequestCancel(task.id),
            Some(task) => Call::Commit { id: task.id, epoch: task.epoch, mutation: Mutation::Settle(settlement) },
            None => Call::Get(TaskId::from_bits(0)),
        })
        .boxed()
}

fn responds_to(task: BoxedStrategy<Option<Arc<TaskRecord>>>) -> BoxedStrategy<Call> {
    (task, answers())
        .prop_map(|(task, answers)| Call::Respond(task.map_or(TaskId::from_bits(0), |task| task.id), answers))
        .boxed()
}

/// A task: mostly one that is there.
fn tasks(model: &Model) -> BoxedStrategy<Option<Arc<TaskRecord>>> {
    let all: Vec<_> = model.all().map(Some).collect();
    if all.is_empty() { Just(None).boxed() } else { prop_oneof![12 => select(all), 1 => Just(None)].boxed() }
}

fn ids(model: &Model) -> BoxedStrategy<TaskId> {
    (tasks(model), 0..TASKS).prop_map(|(task, bits)| task.map_or(TaskId::from_bits(bits), |task| task.id)).boxed()
}

fn lease() -> impl Strategy<Value = Lease> + Clone {
    (1_u64..3, minutes(&[5, 15])).prop_map(|(worker, period)| Lease { worker: WorkerId(worker), period })
}

fn target() -> impl Strategy<Value = Arc<Target>> + Clone {
    select(&[("tool", "1"), ("tool", "2"), ("other", "1")][..])
        .prop_map(|(name, version)| Arc::new(Target::new("tools/call", name, version)))
}

fn creates() -> BoxedStrategy<Call> {
    (0..TASKS, new_tasks(), proptest::option::weighted(0.6, lease()), quotas())
        .prop_map(|(bits, task, lease, quota)| Call::Create {
            id: TaskId::from_bits(bits),
            task: Box::new(task),
            lease,
            quota,
        })
        .boxed()
}

fn quotas() -> impl Strategy<Value = Quota> {
    let bound = || prop_oneof![4 => Just(usize::MAX), 1 => 0_usize..5];
    (bound(), bound(), bound()).prop_map(|(live, live_per_principal, held)| Quota { live, live_per_principal, held })
}

fn new_tasks() -> impl Strategy<Value = NewTask> {
    let who = (select(&["alice", "bob"][..]), proptest::option::weighted(0.3, select(&["k", "l"][..])), target());
    let life = (
        prop_oneof![Just(None), minutes(&[10, 60]).prop_map(Some)],
        minutes(&[0, 5]),
        any::<bool>(),
        prop_oneof![Just(0_u32), 1_u32..4],
    );
    let rest = (proptest::option::of(select(&["waiting", ""][..])), any::<bool>(), 0_u8..16);
    (who, life, rest).prop_map(
        |((principal, key, target), (ttl, grace, signal, attempts), (message, before, kinds))| {
            let key = key.map(|text| IdempotencyKey { text: text.into(), call: RequestHash(u64::MAX) });
            let on_restart = match attempts {
                0 => OnRestart::Fail,
                max_attempts => OnRestart::Rerun { max_attempts },
            };
            let mut inputs = InputLog::new();
            if before {
                inputs.answered_before(&question("a", 1, "before"), Bytes::from_static(b"\"before\""));
            }
            NewTask {
                key,
                ttl,
                grace,
                on_cancel: if signal { OnCancel::Signal } else { OnCancel::Drop },
                on_restart,
                declared: InputKinds::from_bits(kinds),
                status_message: message.map(Into::into),
                progress: before.then_some(Progress { done: 1, total: u64::MAX }),
                steps: if before {
                    vec![Step { key: "before".into(), value: Bytes::from_static(b"1") }]
                } else {
                    vec![]
                },
                inputs,
                ..NewTask::new(Principal::new(principal), target, Bytes::from_static(b"{\"n\":1e400}"))
            }
        },
    )
}

fn keys() -> impl Strategy<Value = InputKey> + Clone {
    select(&["a", "a#2", "a#3", "b", "never"][..]).prop_map(InputKey::new)
}

fn answers() -> BoxedStrategy<Vec<(InputKey, Bytes)>> {
    let answer =
        select(&["1", "\"two\"", "{\"action\":\"accept\"}"][..]).prop_map(|text| Bytes::from_static(text.as_bytes()));
    proptest::collection::vec((keys(), answer), 0..3).boxed()
}

/// Answers to what is asked, mostly; perhaps to other keys as well, perhaps in another order.
fn responds(model: &Model) -> BoxedStrategy<Call> {
    (tasks(model), answers(), any::<bool>(), 0..TASKS)
        .prop_map(|(task, mut answers, all, bits)| {
            let id = task.as_ref().map_or(TaskId::from_bits(bits), |task| task.id);
            if let (true, Some(task)) = (all, task) {
                let asked = task.inputs().outstanding().map(|(key, _)| (key.clone(), Bytes::from_static(b"\"asked\"")));
                answers.extend(asked);
            }
            Call::Respond(id, answers)
        })
        .boxed()
}

fn claims(most: usize) -> BoxedStrategy<Call> {
    (lease(), proptest::collection::vec(target(), 0..5), 0..=most)
        .prop_map(|(lease, targets, limit)| Call::Claim { lease, targets, limit })
        .boxed()
}

/// Mostly the newest epoch.
fn epochs(task: Option<&TaskRecord>) -> BoxedStrategy<Epoch> {
    let newest = task.map_or(1, |task| task.epoch.0);
    prop_oneof![12 => Just(newest), 1 => Just(newest.saturating_sub(1)), 1 => Just(newest + 1)].prop_map(Epoch).boxed()
}

fn held(model: &Model) -> BoxedStrategy<(TaskId, Epoch)> {
    (tasks(model), 0..TASKS)
        .prop_flat_map(|(task, bits)| {
            let id = task.as_ref().map_or(TaskId::from_bits(bits), |task| task.id);
            (Just(id), epochs(task.as_deref()))
        })
        .boxed()
}

fn renews(model: &Model) -> BoxedStrategy<Call> {
    let held = proptest::collection::btree_map(ids(model), 0_u64..4, 0..1);
    let newest: Vec<_> = model.all().map(|task| (task.id, task.epoch)).collect();
    let newest = proptest::sample::subsequence(newest.clone(), 0..=newest.len());
    (lease(), held, newest)
        .prop_map(|(lease, others, mut held)| {
            held.extend(others.into_iter().map(|(id, epoch)| (id, Epoch(epoch))));
            Call::Renew { lease, held }
        })
        .boxed()
}

fn commits(model: &Model) -> BoxedStrategy<Call> {
    let model = model.clone();
    (held(&model), mutations())
        .prop_map(move |((id, epoch), mutation)| {
            let mutation = keep_relative(mutation, model.get(id).as_deref());
            Call::Commit { id, epoch, mutation }
        })
        .boxed()
}

/// A time to keep a task until, which was generated as one after zero, counted from the task's creation.
fn keep_relative(mutation: Mutation, task: Option<&TaskRecord>) -> Mutation {
    match (mutation, task) {
        (Mutation::KeepUntil(until), Some(task)) => {
            Mutation::KeepUntil(task.created_at.plus(Duration::from_millis(until.get())))
        }
        (mutation, _) => mutation,
    }
}

fn question(name: &str, ordinal: u32, request: &'static str) -> Question {
    Question { name: name.into(), ordinal, request: Bytes::from_static(request.as_bytes()) }
}

fn questions() -> impl Strategy<Value = Question> {
    (select(&["a", "b"][..]), 1_u32..3, select(&["{}", "{\"other\":1}"][..]))
        .prop_map(|(name, ordinal, request)| question(name, ordinal, request))
}

fn mutations() -> BoxedStrategy<Mutation> {
    let report = (proptest::option::of(select(&["half", "done"][..])), proptest::option::of(0_u64..3)).prop_map(
        |(message, done)| Mutation::Report {
            status_message: message.map(Into::into),
            progress: done.map(|done| Progress { done, total: 2 }),
        },
    );
    let withdraw =
        questions().prop_map(|question| Mutation::Withdraw { name: question.name, ordinal: question.ordinal });
    let step = (select(&["s", "s#2"][..]), select(&["1", "[2]"][..])).prop_map(|(key, value)| {
        Mutation::Record(Step { key: key.into(), value: Bytes::from_static(value.as_bytes()) })
    });
    prop_oneof![
        2 => report,
        5 => questions().prop_map(Mutation::Ask),
        1 => withdraw,
        1 => minutes(&[1, 90, 600]).prop_map(|kept| Mutation::KeepUntil(crate::clock::UnixMillis::new(0).plus(kept))),
        1 => minutes(&[1, 2]).prop_map(Mutation::PollInterval),
        2 => step,
        2 => settlements().prop_map(Mutation::Settle),
        1 => Just(Mutation::Release),
    ]
    .boxed()
}

fn settlements() -> BoxedStrategy<Settlement> {
    let error = Bytes::from_static(b"{\"code\":-32000,\"message\":\"no\"}");
    let failures = vec![
        Failure::Reported { error, message: "no".into() },
        Failure::Panicked,
        Failure::ResultTooLarge { limit: 7 },
        Failure::Interrupted,
        Failure::Expired,
    ];
    prop_oneof![
        2 => select(&["{}", "{\"content\":[]}"][..])
            .prop_map(|result| Settlement::Completed(Bytes::from_static(result.as_bytes()))),
        1 => select(failures).prop_map(Settlement::failed),
        1 => Just(Settlement::Cancelled),
    ]
    .boxed()
}
