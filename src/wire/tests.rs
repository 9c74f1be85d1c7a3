use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_tasks_types::{CreateTaskResult, GetTaskResult, RawObject, TaskStatusNotificationParams};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

use super::*;
use crate::{
    input::Question,
    principal::Principal,
    task::{Event, Mutation, NewTask, Target, Transition},
    task_id::TaskId,
};

const NOW: UnixMillis = UnixMillis::new(1_790_000_000_000);

fn record() -> Arc<TaskRecord> {
    let target = Arc::new(Target::new("tools/call", "tool", ""));
    let new = NewTask::new(Principal::local(), target, Bytes::new());
    Arc::new(TaskRecord::new(TaskId::from_bits(7), new, NOW))
}

fn after(record: &Arc<TaskRecord>, mutation: Mutation) -> Arc<TaskRecord> {
    match record.after(&Event::Commit { epoch: record.epoch, mutation: &mutation }, NOW) {
        Transition::Changed(next) => next,
        other => panic!("{other:?}"),
    }
}

fn asked(record: &Arc<TaskRecord>, name: &str) -> Arc<TaskRecord> {
    let request = Bytes::from_static(br#"{"method":"roots/list"}"#);
    after(record, Mutation::Ask(Question { name: name.into(), ordinal: 1, request }))
}

fn settled(settlement: Settlement) -> Arc<TaskRecord> {
    after(&record(), Mutation::Settle(settlement))
}

fn every_state() -> Vec<Arc<TaskRecord>> {
    let error = Bytes::from_static(br#"{"code":-32000,"message":"no","data":[1]}"#);
    let progress = Some(Progress { done: 1, total: 3 });
    let mut unlimited = (*record()).clone();
    unlimited.ttl = None;
    unlimited.poll_interval = None;
    vec![
        record(),
        Arc::new(unlimited),
        after(&record(), Mutation::Report { status_message: Some("half \"way\"\n".into()), progress }),
        asked(&asked(&record(), "a"), "b \" c"),
        settled(Settlement::Completed(Bytes::from_static(br#"{ "resultType":"complete","content":[],"n":1e400 }"#))),
        settled(Settlement::failed(Failure::Reported { error, message: "no".into() })),
        settled(Settlement::failed(Failure::Panicked)),
        settled(Settlement::Cancelled),
    ]
}

/// Reads `text` as a `T` and checks that the type writes the same members and values, in the same order.
#[track_caller]
fn check_type<T: DeserializeOwned + Serialize>(text: &[u8]) {
    let text = str::from_utf8(text).expect("UTF-8");
    let typed: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let written = serde_json::to_string(&typed).expect("types print");
    assert_eq!(written, text);
}

/// TSK-01, TSK-02, TSK-05: what is written here is, byte for byte, what the generated types write.
#[test]
fn messages_are_those_of_the_generated_types() {
    for record in every_state() {
        check_type::<CreateTaskResult>(&create_task_result(&record));
        check_type::<GetTaskResult<RawObject>>(&get_task_result(&record));
        check_type::<TaskStatusNotificationParams<RawObject>>(&notification_params(&record, r#""s""#));
    }
}

/// GET-06: what the tool returned comes back as the bytes it was, whitespace and large numbers included.
#[test]
fn a_result_is_copied_as_it_is() {
    let result = br#"{ "resultType":"complete", "content":[], "n":123456789012345678901234567890 }"#;
    let text = get_task_result(&settled(Settlement::Completed(Bytes::from_static(result))));
    assert!(text.windows(result.len()).any(|part| part == result));
}

/// Case 24: an unlimited task says `null` for its time to live, and nothing else is ever `null`.
#[test]
fn only_the_time_to_live_is_ever_null() {
    // Not as values: the result holds a number that no value can.
    let nulls = |text: &[u8]| -> Vec<String> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(text).expect("an object");
        members.into_iter().filter(|(_, value)| value.get() == "null").map(|(key, _)| key).collect()
    };
    let all: Vec<String> = every_state().iter().flat_map(|record| nulls(&notification_params(record, "7"))).collect();
    assert_eq!(all, ["ttlMs"]);
}

/// TSK-04: a time to live beyond what JSON readers take as an integer is written as the largest that they do.
#[test]
fn durations_are_integers_that_everybody_reads() {
    let mut long = (*record()).clone();
    long.ttl = Some(Duration::MAX);
    let value: Value = serde_json::from_slice(&get_task_result(&long)).expect("JSON");
    assert_eq!(value["ttlMs"], json!(9_007_199_254_740_991_u64));
}

/// Case 44: the subscription id keeps its JSON type.
#[test]
fn a_subscription_id_keeps_its_type() {
    for (id, expected) in [("7", json!(7)), (r#""7""#, json!("7"))] {
        let value: Value = serde_json::from_slice(&notification_params(&record(), id)).expect("JSON");
        assert_eq!(value["_meta"][SUBSCRIPTION_ID_META_KEY], expected);
    }
}
