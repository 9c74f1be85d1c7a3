//! Messages of the extension, as text: what is read, what is written, and what is said about what is refused.

use mcp_tasks_types::support::{IndexMap, JsonObject};
use mcp_tasks_types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a poll tells about a task that is named here `t-17`, whatever its status.
const COMMON: &str = r#""taskId":"t-17","createdAt":"2026-07-28T08:00:00Z","lastUpdatedAt":"2026-07-28T08:00:05Z""#;

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn write(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it can be written")
}

/// Why a text is no `T`, without the place.
fn refusal<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    let error = serde_json::from_str::<T>(text).expect_err(text).to_string();
    error.split(" at line ").next().unwrap_or_default().to_owned()
}

/// The text comes out as it went in, members in the same order.
#[track_caller]
fn survives<T: DeserializeOwned + Serialize>(text: &str) {
    assert_eq!(write(&read::<T>(text)), text);
}

/// A poll's answer with some members beside the common ones.
fn polled(members: &str) -> String {
    format!(r#"{{"resultType":"complete",{COMMON},"ttlMs":null,{members}}}"#)
}

fn as_poll(task: DetailedTask) -> GetTaskResult {
    task.into()
}

/// One task of each status.
fn one_of_each_status() -> [DetailedTask; 5] {
    let (id, from, to) = ("t-17", "2026-07-28T08:00:00Z", "2026-07-28T08:00:05Z");
    let requests = InputRequests::from_iter([("folder".into(), ListRootsRequest::new().into())]);
    let result = JsonObject::from_iter([("content".to_owned(), json!([]))]);
    [
        WorkingTask::new(id, from, to, None).into(),
        InputRequiredTask::new(id, from, to, None, requests).into(),
        CompletedTask::new(id, from, to, None, result).into(),
        FailedTask::new(id, from, to, None, ErrorObject::new(ErrorCode::INTERNAL_ERROR, "broke")).into(),
        CancelledTask::new(id, from, to, None).into(),
    ]
}

mod results {
    use super::*;

    /// RES-01: what hands out a task says `task`.
    #[test]
    fn a_created_task_says_task() {
        let created =
            CreateTaskResult::new("t-17", TaskStatus::Working, "2026-07-28T08:00:00Z", "2026-07-28T08:00:05Z", None);
        assert_eq!(
            write(&created),
            format!(r#"{{"resultType":"task","taskId":"t-17","status":"working",{},"ttlMs":null}}"#, &COMMON[16..])
        );
    }

    /// RES-01: a result that hands out a task says so itself; another word, or none, is no such result.
    #[test]
    fn a_created_task_without_task_is_refused() {
        let task = format!(r#"{COMMON},"status":"working","ttlMs":null"#);
        let absent = refusal::<CreateTaskResult>(&format!("{{{task}}}"));
        assert_eq!(absent, "CreateTaskResult.resultType: is missing");
        let other = refusal::<CreateTaskResult>(&format!(r#"{{"resultType":"complete",{task}}}"#));
        assert_eq!(other, r#"CreateTaskResult.resultType: unknown value "complete", expected "task""#);
    }

    /// RES-02: no other result says `task`, not even one that was read with it.
    #[test]
    fn no_other_result_says_task() {
        for task in one_of_each_status() {
            let text = write(&as_poll(task)).replace(r#""resultType":"complete""#, r#""resultType":"task""#);
            let written = write(&read::<GetTaskResult>(&text));
            assert!(written.starts_with(r#"{"resultType":"complete","#), "{written}");
        }
        assert_eq!(
            refusal::<UpdateTaskResult>(r#"{"resultType":"task"}"#),
            r#"UpdateTaskResult.resultType: unknown value "task", expected "complete""#
        );
        assert_eq!(
            refusal::<CancelTaskResult>(r#"{"resultType":"task"}"#),
            r#"CancelTaskResult.resultType: unknown value "task", expected "complete""#
        );
    }

    /// RES-03: the three methods of the extension answer with `complete`.
    #[test]
    fn results_of_the_extension_say_complete() {
        for task in one_of_each_status() {
            let written = write(&as_poll(task));
            assert!(written.starts_with(r#"{"resultType":"complete","#), "{written}");
        }
        assert_eq!(write(&UpdateTaskResult::new()), r#"{"resultType":"complete"}"#);
        assert_eq!(write(&CancelTaskResult::new()), r#"{"resultType":"complete"}"#);
    }

    /// RES-04: an absent `resultType` reads as `complete`.
    #[test]
    fn an_absent_result_type_reads_as_complete() {
        for task in one_of_each_status() {
            let strict = write(&as_poll(task));
            let absent = strict.replace(r#""resultType":"complete","#, "");
            assert_eq!(read::<GetTaskResult>(&absent), read(&strict));
            assert_eq!(write(&read::<GetTaskResult>(&absent)), strict);
        }
        assert_eq!(write(&read::<CancelTaskResult>("{}")), r#"{"resultType":"complete"}"#);
        assert_eq!(write(&read::<UpdateTaskResult>("{}")), r#"{"resultType":"complete"}"#);
        let CallToolResponse::Complete(_) = read(r#"{"content":[]}"#) else { panic!("an ordinary result") };
    }

    /// RES-04: an unknown `resultType` is reported, with what was expected.
    #[test]
    fn an_unknown_result_type_is_refused() {
        assert_eq!(
            refusal::<CallToolResponse>(r#"{"resultType":"maybe","content":[]}"#),
            r#"CallToolResponse.resultType: unknown value "maybe", expected one of complete, input_required, task"#
        );
        assert_eq!(
            refusal::<GetTaskResult>(&format!(r#"{{"resultType":"maybe",{COMMON},"ttlMs":1,"status":"working"}}"#)),
            r#"GetTaskResult.resultType: unknown value "maybe", expected "complete""#
        );
        let text = refusal::<CallToolResponse>(r#"{"resultType":7,"content":[]}"#);
        assert_eq!(text, "CallToolResponse.resultType: invalid type: integer `7`, expected a string");
    }

    /// RES-04: the three answers to a tool call are told apart by `resultType`, wherever it stands.
    #[test]
    fn a_tool_call_has_three_answers() {
        let call = |text: &str| read::<CallToolResponse>(text).result_type().to_owned();
        assert_eq!(call(r#"{"content":[],"resultType":"complete"}"#), "complete");
        assert_eq!(call(r#"{"requestState":"s","resultType":"input_required"}"#), "input_required");
        assert_eq!(call(&format!(r#"{{{COMMON},"status":"working","ttlMs":5,"resultType":"task"}}"#)), "task");
    }
}

mod tasks {
    use super::*;

    /// TSK-01: five members are always there, and an unlimited task says `null` (case 24).
    #[test]
    fn the_five_members_are_always_written() {
        for task in one_of_each_status() {
            let members = serde_json::to_value(&task).unwrap();
            for name in ["taskId", "status", "createdAt", "lastUpdatedAt"] {
                assert!(members[name].is_string(), "{name} of {members}");
            }
            assert_eq!(members.get("ttlMs"), Some(&Value::Null), "{members}");
        }
    }

    /// TSK-01: a task that lacks one of the five is refused, and the error says which.
    #[test]
    fn a_task_without_one_of_the_five_is_refused() {
        for name in ["taskId", "createdAt", "lastUpdatedAt", "ttlMs"] {
            let mut task: JsonObject = read(&polled(r#""status":"working""#));
            task.remove(name);
            assert_eq!(refusal::<GetTaskResult>(&write(&task)), format!("GetTaskResult.{name}: is missing"));
        }
        let no_status = format!(r#"{{{COMMON},"ttlMs":null}}"#);
        assert_eq!(refusal::<DetailedTask>(&no_status), "DetailedTask.status: is missing");
        assert_eq!(refusal::<Task>(&no_status), "Task.status: is missing");
    }

    /// TSK-02: `statusMessage` and `pollIntervalMs` are left out while unset, and nothing else is ever written as null
    /// (case 24).
    #[test]
    fn what_is_unset_is_left_out() {
        for task in one_of_each_status() {
            let written = write(&as_poll(task));
            assert_eq!(written.matches("null").count(), 1, "{written}");
            for name in ["statusMessage", "pollIntervalMs", "_meta"] {
                assert!(!written.contains(name), "{written}");
            }
        }
        let task = WorkingTask::new("t", "a", "b", DurationMs::new(5))
            .with_status_message("half way")
            .with_poll_interval_ms(DurationMs::new(250).unwrap());
        assert_eq!(
            write(&task),
            r#"{"taskId":"t","status":"working","statusMessage":"half way","createdAt":"a","lastUpdatedAt":"b","ttlMs":5,"pollIntervalMs":250}"#
        );
    }

    /// TSK-02: null is not a way to leave a member out (case 24).
    #[test]
    fn null_is_refused_where_it_means_nothing() {
        let refused = |members: &str| refusal::<GetTaskResult>(&polled(members));
        assert_eq!(
            refused(r#""status":"working","statusMessage":null"#),
            "GetTaskResult.statusMessage: invalid type: null, expected a string"
        );
        assert_eq!(
            refused(r#""status":"working","pollIntervalMs":null"#),
            "GetTaskResult.pollIntervalMs: invalid type: null, expected an integer from 0 to 9007199254740991"
        );
        assert_eq!(
            refused(r#""status":"completed","result":null"#),
            "GetTaskResult.result: invalid type: null, expected an object"
        );
        assert_eq!(
            refused(r#""status":"failed","error":null"#),
            "GetTaskResult.error: invalid type: null, expected an object (Error)"
        );
        assert_eq!(
            refused(r#""status":"input_required","inputRequests":null"#),
            "GetTaskResult.inputRequests: invalid type: null, expected an object (InputRequests)"
        );
        assert_eq!(
            refused(r#""status":"working","_meta":null"#),
            "GetTaskResult._meta: invalid type: null, expected an object (ResultMetaObject)"
        );
    }

    /// TSK-03: timestamps keep the text they came with, in any form of ISO 8601, and are moments on demand.
    #[test]
    fn timestamps_keep_their_text() {
        for text in ["2026-07-28T08:00:00Z", "2026-07-28T10:00:00.000+02:00", "20260728T080000Z", "2026-07-28T08:00"] {
            let message = format!(
                r#"{{"taskId":"t","status":"working","createdAt":"{text}","lastUpdatedAt":"{text}","ttlMs":1}}"#
            );
            survives::<DetailedTask>(&message);
            let DetailedTask::<JsonObject>::Working(task) = read(&message) else { panic!("it is working") };
            let moment: jiff::Timestamp = "2026-07-28T08:00:00Z".parse().unwrap();
            assert_eq!(task.created_at.parse().unwrap(), moment, "{text}");
            assert_eq!(Timestamp::from(moment).as_str(), "2026-07-28T08:00:00.000Z");
        }
    }

    /// TSK-04: durations are whole milliseconds from 0 to 2^53 - 1, however JSON writes them (case 34).
    #[test]
    fn durations_are_whole_milliseconds() {
        for (text, written) in [
            ("60000", "60000"),
            ("60000.0", "60000"),
            ("1e3", "1000"),
            ("0", "0"),
            ("-0.0", "0"),
            ("9007199254740991", "9007199254740991"),
            ("9007199254740991.0", "9007199254740991"),
        ] {
            let message = |ttl: &str| format!(r#"{{"retryAfterMs":{ttl}}}"#);
            assert_eq!(write(&read::<RateLimitedErrorData>(&message(text))), message(written));
        }
    }

    /// TSK-04: what is no such duration is refused, with the type, the member and the reason (case 34).
    #[test]
    fn other_durations_are_refused() {
        for (text, reason) in [
            ("-1", "-1 is less than 0"),
            ("-0.5", "-0.5 is not an integer"),
            ("0.5", "0.5 is not an integer"),
            ("9007199254740992", "9007199254740992 is more than 9007199254740991"),
            ("1.8e19", "18000000000000000000 is more than 9007199254740991"),
            ("18446744073709551615", "18446744073709551615 is more than 9007199254740991"),
            (r#""60000""#, r#"invalid type: string "60000", expected an integer from 0 to 9007199254740991"#),
            ("[1]", "invalid type: sequence, expected an integer from 0 to 9007199254740991"),
            ("true", "invalid type: boolean `true`, expected an integer from 0 to 9007199254740991"),
        ] {
            let message = format!(r#"{{{COMMON},"status":"working","ttlMs":{text}}}"#);
            assert_eq!(refusal::<WorkingTask>(&message), format!("WorkingTask.ttlMs: {reason}"));
            assert_eq!(refusal::<Task>(&message), format!("Task.ttlMs: {reason}"));
            assert_eq!(refusal::<GetTaskResult>(&message), format!("GetTaskResult.ttlMs: {reason}"));
            let message = format!(r#"{{{COMMON},"status":"working","ttlMs":null,"pollIntervalMs":{text}}}"#);
            assert_eq!(refusal::<DetailedTask>(&message), format!("DetailedTask.pollIntervalMs: {reason}"));
        }
    }

    /// TSK-04: the place in the text is named as well.
    #[test]
    fn errors_name_the_place() {
        let error = serde_json::from_str::<RateLimitedErrorData>("{\n \"retryAfterMs\": -1 }").unwrap_err();
        assert_eq!(error.to_string(), "RateLimitedErrorData.retryAfterMs: -1 is less than 0 at line 2 column 19");
    }

    /// TSK-05: a message without its payload is an error that says so, and never another variant (case 34).
    #[test]
    fn a_missing_payload_is_an_error() {
        for (status, payload) in [("input_required", "inputRequests"), ("completed", "result"), ("failed", "error")] {
            let members = format!(r#"{COMMON},"ttlMs":null,"status":"{status}""#);
            let missing = format!("{payload}: is missing");
            assert_eq!(refusal::<DetailedTask>(&format!("{{{members}}}")), format!("DetailedTask.{missing}"));
            assert_eq!(refusal::<GetTaskResult>(&format!("{{{members}}}")), format!("GetTaskResult.{missing}"));
            assert_eq!(
                refusal::<TaskStatusNotificationParams>(&format!("{{{members}}}")),
                format!("TaskStatusNotificationParams.{missing}")
            );
            for other in ["inputRequests", "result", "error"].into_iter().filter(|other| *other != payload) {
                let message = format!(r#"{{{members},"{other}":{{"code":1,"message":"m"}}}}"#);
                assert_eq!(refusal::<GetTaskResult>(&message), format!("GetTaskResult.{missing}"), "{message}");
            }
        }
    }

    /// TSK-05: a payload of the wrong form is an error that names the member inside.
    #[test]
    fn a_payload_of_the_wrong_form_is_an_error() {
        assert_eq!(
            refusal::<GetTaskResult>(&polled(r#""status":"failed","error":{"code":1}"#)),
            "GetTaskResult.error: Error.message: is missing"
        );
        assert_eq!(
            refusal::<GetTaskResult>(&polled(r#""status":"completed","result":[1]"#)),
            "GetTaskResult.result: invalid type: array, expected an object"
        );
        assert_eq!(
            refusal::<GetTaskResult>(&polled(r#""status":"input_required","inputRequests":{"k":{"params":{}}}"#)),
            r#"GetTaskResult.inputRequests: InputRequests["k"]: InputRequest.method: is missing"#
        );
    }

    /// TSK-05: the order of members means nothing, not even `result` before `status` (case 34).
    #[test]
    fn members_come_in_any_order() {
        for task in one_of_each_status() {
            let straight: JsonObject = read(&write(&as_poll(task)));
            let expected: GetTaskResult = serde_json::from_value(straight.clone().into()).unwrap();
            for turn in 0..straight.len() {
                let mut members: Vec<_> = straight.clone().into_iter().collect();
                members.rotate_left(turn);
                assert_eq!(read::<GetTaskResult>(&write(&JsonObject::from_iter(members.clone()))), expected);
                members.reverse();
                assert_eq!(read::<GetTaskResult>(&write(&JsonObject::from_iter(members))), expected);
            }
        }
    }

    /// TSK-06: unknown members and `_meta` survive, in their order, behind those that are known.
    #[test]
    fn unknown_members_survive() {
        survives::<GetTaskResult>(
            r#"{"resultType":"complete","_meta":{"b":[1,{"z":0,"a":null}],"a":1e+300},"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"zeta":{"y":1,"x":2},"alpha":18446744073709551615}"#,
        );
        survives::<GetTaskRequest>(
            r#"{"jsonrpc":"2.0","id":"7","method":"tasks/get","params":{"taskId":"t","_meta":{"trace":"x"},"more":[]},"also":null}"#,
        );
        let DetailedTask::<JsonObject>::Working(mut task) =
            read(&format!(r#"{{{COMMON},"status":"working","ttlMs":1,"x":"y"}}"#))
        else {
            panic!("it is working")
        };
        assert_eq!(task.extra.get("x"), Some(&json!("y")));
        assert_eq!(task.extra.insert("x", 5), Some(json!("y")));
        assert_eq!(task.extra.remove("x"), Some(json!(5)));
        assert!(task.extra.is_empty());
    }

    /// TSK-06: a member that a type writes itself is not written a second time for being among the unknown ones.
    #[test]
    fn no_member_is_written_twice() {
        let mut task = CancelledTask::new("t", "c", "l", None);
        task.extra.insert("taskId", "another");
        task.extra.insert("statusMessage", "kept, for there is none");
        assert_eq!(
            write(&task),
            r#"{"taskId":"t","status":"cancelled","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"statusMessage":"kept, for there is none"}"#
        );
    }

    /// TSK-06: payloads that do not belong to the status survive, typed or not.
    #[test]
    fn stray_payloads_survive() {
        for (status, stray) in [
            ("working", r#""result":{"content":[]}"#),
            ("working", r#""inputRequests":[],"result":"not even an object""#),
            ("cancelled", r#""error":{"code":"none"}"#),
        ] {
            survives::<GetTaskResult>(&format!(
                r#"{{"resultType":"complete","taskId":"t","status":"{status}","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,{stray}}}"#
            ));
        }
        let failed =
            read::<GetTaskResult>(&polled(r#""result":null,"error":{"code":-32603,"message":"m"},"status":"failed""#));
        let GetTaskResult::Failed(task) = &failed else { panic!("it failed") };
        assert_eq!(task.extra.get("result"), Some(&Value::Null));
        assert!(
            write(&failed).ends_with(r#""error":{"code":-32603,"message":"m"},"result":null}"#),
            "{}",
            write(&failed)
        );
    }

    /// TSK-07: `failed` carries a JSON-RPC error with a code; a tool's own error is a result, and completes the task.
    #[test]
    fn failed_is_a_protocol_error_and_completed_may_be_a_tools() {
        let completed = polled(r#""status":"completed","result":{"content":[],"isError":true}"#);
        let GetTaskResult::Completed(task) = read::<GetTaskResult>(&completed) else { panic!("it is completed") };
        let result: CallToolResult = serde_json::from_value(task.result.into()).unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(
            refusal::<GetTaskResult>(&polled(r#""status":"failed","error":{"content":[],"isError":true}"#)),
            "GetTaskResult.error: Error.code: is missing"
        );
        assert_eq!(
            refusal::<GetTaskResult>(&polled(r#""status":"failed","error":"broke""#)),
            r#"GetTaskResult.error: invalid type: string "broke", expected an object (Error)"#
        );
    }

    /// A status that nobody knows yet is kept, and counts as not terminal (case 34).
    #[test]
    fn an_unknown_status_is_kept() {
        let text =
            r#"{"status":"paused","taskId":"t","createdAt":"c","lastUpdatedAt":"l","ttlMs":7,"until":{"b":1,"a":2}}"#;
        let DetailedTask::<JsonObject>::Other { status, fields } = read(text) else { panic!("it is another") };
        assert_eq!((status.as_str(), fields["ttlMs"].as_i64()), ("paused", Some(7)));
        let task: DetailedTask = read(text);
        assert_eq!(serde_json::to_value(&task).unwrap(), read::<Value>(text));
        assert!(!task.is_terminal());
        assert_eq!(read::<Task>(text).status, TaskStatus::Other("paused".to_owned()));
        assert!(!TaskStatus::from("paused").is_terminal());
        assert_eq!(write(&TaskStatus::from("paused")), r#""paused""#);
        // What all tasks have keeps its type under any status.
        assert_eq!(refusal::<DetailedTask>(&text.replace('7', "-7")), "DetailedTask.ttlMs: -7 is less than 0");
    }

    /// The statuses, and which of them are the last.
    #[test]
    fn three_statuses_are_terminal() {
        let terminal: Vec<_> = one_of_each_status().iter().map(DetailedTask::is_terminal).collect();
        assert_eq!(terminal, [false, false, true, true, true]);
        for task in one_of_each_status() {
            assert_eq!(as_poll(task.clone()).is_terminal(), task.is_terminal());
            assert_eq!(TaskStatus::from(task.status()).is_terminal(), task.is_terminal());
        }
    }
}

mod conversions {
    use super::*;

    /// A task goes from form to form and back, and keeps what both forms have room for.
    #[test]
    fn a_task_keeps_all_on_its_way_through_a_poll_and_a_notification() {
        for task in one_of_each_status() {
            let poll: GetTaskResult = task.clone().into();
            assert_eq!(DetailedTask::from(poll), task);
            let params: TaskStatusNotificationParams = task.clone().into();
            assert_eq!(DetailedTask::from(params), task);
        }
        let other: DetailedTask = read(r#"{"status":"paused","taskId":"t"}"#);
        assert_eq!(DetailedTask::from(GetTaskResult::from(other.clone())), other);
    }

    /// The base of a detailed task has its status, and leaves the payload behind.
    #[test]
    fn a_detailed_task_becomes_a_task() {
        for task in one_of_each_status() {
            let status = task.status().to_owned();
            let base = Task::try_from(task).unwrap();
            assert_eq!(base, Task::new("t-17", status.as_str(), "2026-07-28T08:00:00Z", "2026-07-28T08:00:05Z", None));
        }
        let text = r#"{"status":"paused","taskId":"t","createdAt":"c","lastUpdatedAt":"l","ttlMs":7,"until":1}"#;
        let base = Task::try_from(read::<DetailedTask>(text)).unwrap();
        assert_eq!(serde_json::to_value(&base).unwrap(), read::<Value>(text));
        let bare = DetailedTask::<JsonObject>::Other { status: "paused".to_owned(), fields: JsonObject::new() };
        assert_eq!(Task::try_from(bare).unwrap_err().to_string(), "Task.taskId: is missing");
    }

    /// A created task is a task and `_meta`.
    #[test]
    fn a_created_task_becomes_a_task_and_back() {
        let task = Task::new("t", TaskStatus::Working, "c", "l", DurationMs::new(5)).with_status_message("begun");
        let created = CreateTaskResult::from(task.clone());
        assert_eq!(created.status_message.as_deref(), Some("begun"));
        assert_eq!(Task::from(created), task);
    }

    /// Unknown members go along.
    #[test]
    fn unknown_members_go_along() {
        let poll: GetTaskResult = read(&polled(r#""status":"working","x":1"#));
        let task = Task::try_from(DetailedTask::from(poll)).unwrap();
        assert_eq!(task.extra.get("x"), Some(&json!(1)));
        let created: CreateTaskResult = task.into();
        assert!(write(&created).ends_with(r#","x":1}"#));
    }
}

mod whole_messages {
    use super::*;

    /// A response is a result or an error, and keeps what it does not know.
    #[test]
    fn a_response_is_a_result_or_an_error() {
        survives::<Response<CancelTaskResult>>(
            r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete"},"x":[0]}"#,
        );
        survives::<Response<GetTaskResult>>(
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no such task","data":{"b":1,"a":null}}}"#,
        );
        let response = Response::new(RequestId::String("r".into()), Ok(UpdateTaskResult::new()));
        assert_eq!(write(&response), r#"{"jsonrpc":"2.0","id":"r","result":{"resultType":"complete"}}"#);
        let failed: Response<UpdateTaskResult> =
            Response::new(RequestId::Integer(5.into()), Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, "no")));
        assert_eq!(write(&failed), r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"no"}}"#);
    }

    /// An error may be about a message whose id could not be read; a result never is.
    #[test]
    fn only_an_error_has_no_id() {
        let error = r#""error":{"code":-32700,"message":"not JSON"}"#;
        for id in ["", r#""id":null,"#] {
            let response: Response<GetTaskResult> = read(&format!(r#"{{"jsonrpc":"2.0",{id}{error}}}"#));
            assert_eq!((response.id, response.outcome.unwrap_err().code), (None, ErrorCode::PARSE_ERROR));
        }
        assert_eq!(
            refusal::<Response<CancelTaskResult>>(r#"{"jsonrpc":"2.0","result":{}}"#),
            "Response.id: is missing"
        );
    }

    /// A null id belongs to errors only; beside a result it is as wrong as none.
    #[test]
    fn a_result_with_a_null_id_is_refused() {
        assert!(
            serde_json::from_str::<Response<CancelTaskResult>>(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#).is_err()
        );
    }

    /// What is no response is refused, in words.
    #[test]
    fn what_is_no_response_is_refused() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1}"#, "Response: neither `result` nor `error` is there"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
                "Response: `result` and `error` are both there",
            ),
            (r#"{"id":1,"result":{}}"#, "Response.jsonrpc: is missing"),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, r#"Response.jsonrpc: unknown value "1.0", expected "2.0""#),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"task"}}"#,
                r#"Response.result: CancelTaskResult.resultType: unknown value "task", expected "complete""#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"result":{}}"#,
                "Response.id: RequestId: this array fits none of string, integer",
            ),
            ("[]", "invalid type: sequence, expected an object (Response)"),
        ] {
            assert_eq!(refusal::<Response<CancelTaskResult>>(text), expected);
        }
    }

    /// Ids are strings or integers, and stay what they were.
    #[test]
    fn ids_stay_what_they_were() {
        for id in ["\"\"", "\"7\"", "7", "-9223372036854775808", "9223372036854775807"] {
            survives::<RequestId>(id);
        }
        assert_eq!(write(&read::<RequestId>("7.0")), "7");
        assert_eq!(refusal::<RequestId>("7.5"), "RequestId: 7.5 is not an integer");
        assert_eq!(refusal::<RequestId>("null"), "RequestId: this null fits none of string, integer");
    }

    /// Requests and notifications know their method, and what they carry and bring back, at compile time.
    #[test]
    fn messages_know_their_method_and_types() {
        fn method<R: Request<Params = P, Result = T>, P, T>() -> &'static str {
            R::METHOD
        }
        fn notice<N: Notification<Params = P>, P>() -> &'static str {
            N::METHOD
        }
        assert_eq!(method::<GetTaskRequest, GetTaskRequestParams, GetTaskResult>(), "tasks/get");
        assert_eq!(method::<UpdateTaskRequest, UpdateTaskRequestParams, UpdateTaskResult>(), "tasks/update");
        assert_eq!(method::<CancelTaskRequest, CancelTaskRequestParams, CancelTaskResult>(), "tasks/cancel");
        assert_eq!(method::<CallToolRequest, CallToolRequestParams, CallToolResponse>(), "tools/call");
        assert_eq!(method::<DiscoverRequest, RequestParams, DiscoverResult>(), "server/discover");
        assert_eq!(method::<ElicitRequest, ElicitRequestParams, ElicitResult>(), "elicitation/create");
        assert_eq!(
            method::<CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult>(),
            "sampling/createMessage"
        );
        assert_eq!(method::<ListRootsRequest, ListRootsRequestParams, ListRootsResult>(), "roots/list");
        assert_eq!(
            method::<SubscriptionsListenRequest, SubscriptionsListenRequestParams, SubscriptionsListenResult>(),
            "subscriptions/listen"
        );
        assert_eq!(notice::<TaskStatusNotification, TaskStatusNotificationParams>(), "notifications/tasks");
        assert_eq!(
            notice::<SubscriptionsAcknowledgedNotification, SubscriptionsAcknowledgedNotificationParams>(),
            "notifications/subscriptions/acknowledged"
        );
        assert_eq!(notice::<CancelledNotification, CancelledNotificationParams>(), "notifications/cancelled");
    }

    /// A request writes its method and version, and another method is not it.
    #[test]
    fn a_request_is_its_method() {
        let request = GetTaskRequest::new(RequestId::Integer(1.into()), GetTaskRequestParams::new("t-17"));
        assert_eq!(write(&request), r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t-17"}}"#);
        assert_eq!(
            refusal::<GetTaskRequest>(&write(&request).replace("tasks/get", "tasks/list")),
            r#"GetTaskRequest.method: unknown value "tasks/list", expected "tasks/get""#
        );
        assert_eq!(
            refusal::<CancelTaskRequest>(r#"{"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"taskId":5}}"#),
            "CancelTaskRequest.params: CancelTaskRequestParams.taskId: invalid type: integer `5`, expected a string"
        );
    }

    /// NOT-03: a notification carries the whole task and the id of its subscription.
    #[test]
    fn a_notification_carries_the_whole_task() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3},"taskId":"t","status":"completed","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"result":{"content":[]}}}"#;
        survives::<TaskStatusNotification>(text);
        let notification: TaskStatusNotification = read(text);
        let TaskStatusNotificationParams::Completed(params) = notification.params else { panic!("it is completed") };
        assert_eq!(params.meta.unwrap().subscription_id, Some(RequestId::Integer(3.into())));
    }

    /// The names on the wire that no message carries.
    #[test]
    fn the_names_of_the_extension_and_revisions() {
        assert_eq!(EXTENSION_ID, "io.modelcontextprotocol/tasks");
        assert_eq!((PROTOCOL_VERSION, LEGACY_PROTOCOL_VERSION), ("2026-07-28", "2025-11-25"));
        let codes = [
            ErrorCode::PARSE_ERROR,
            ErrorCode::INVALID_REQUEST,
            ErrorCode::METHOD_NOT_FOUND,
            ErrorCode::INVALID_PARAMS,
            ErrorCode::INTERNAL_ERROR,
            ErrorCode::HEADER_MISMATCH,
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ];
        assert_eq!(write(&codes), "[-32700,-32600,-32601,-32602,-32603,-32020,-32021]");
    }
}

mod inputs {
    use super::*;

    /// UPD-02: answers are taken one by one, so that what nobody asked for spoils nothing.
    #[test]
    fn answers_are_typed_one_by_one() {
        let text = r#"{"taskId":"t","inputResponses":{"z":{"action":"accept","content":{"n":1.5}},"stray":[null],"a":{"roots":[]}}}"#;
        survives::<UpdateTaskRequestParams>(text);
        let answers = read::<UpdateTaskRequestParams>(text).input_responses;
        let answer = answers.typed::<ElicitResult>(&"z".into()).unwrap().unwrap();
        assert_eq!(answer.action, ElicitResultAction::Accept);
        assert!(answers.typed::<ListRootsResult>(&"a".into()).unwrap().unwrap().roots.is_empty());
        assert_eq!(
            answers.typed::<ElicitResult>(&"a".into()).unwrap().unwrap_err().to_string(),
            "ElicitResult.action: is missing"
        );
        assert!(answers.typed::<ElicitResult>(&"none".into()).is_none());
    }

    /// Maps leave in the order they came in.
    #[test]
    fn maps_keep_their_order() {
        survives::<InputRequests>(
            r#"{"zulu":{"method":"roots/list"},"alpha":{"method":"roots/list","params":{}},"mike":{"method":"roots/list"}}"#,
        );
        survives::<ElicitResultContent>(r#"{"z":1,"y":"2","x":[],"a":true}"#);
        let requests: InputRequests = read(r#"{"b":{"method":"roots/list"},"a":{"method":"roots/list"}}"#);
        assert_eq!(requests.keys().map(|key| key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        let entries = IndexMap::from([(InputKey::from("k"), Value::Null)]);
        assert_eq!(write(&InputResponses(entries)), r#"{"k":null}"#);
    }

    /// CLI-05: a request of a method that is not known is kept, not lost with the whole poll.
    #[test]
    fn an_unknown_request_is_kept() {
        let text =
            polled(r#""inputRequests":{"k":{"method":"oracle/ask","params":{"b":0,"a":0}}},"status":"input_required""#);
        let GetTaskResult::<JsonObject>::InputRequired(task) = read(&text) else { panic!("it waits") };
        assert_eq!(task.input_requests[&InputKey::from("k")].method(), "oracle/ask");
        assert_eq!(write(&task.input_requests), r#"{"k":{"method":"oracle/ask","params":{"b":0,"a":0}}}"#);
    }

    /// Content of a kind that is not known is kept.
    #[test]
    fn unknown_content_is_kept() {
        survives::<ContentBlock>(r#"{"type":"hologram","points":[1,2.5],"_meta":{"z":1}}"#);
        survives::<SamplingMessageContentBlock>(r#"{"type":"hologram","text":7}"#);
        survives::<CallToolResult>(
            r#"{"resultType":"complete","content":[{"type":"hologram"},{"type":"text","text":"x"}]}"#,
        );
    }

    /// Kinds of answers and questions that are told apart by their shape.
    #[test]
    fn shapes_are_told_apart() {
        assert!(matches!(read(r#"{"action":"decline"}"#), InputResponse::Elicit(_)));
        assert!(matches!(read(r#"{"roots":[]}"#), InputResponse::ListRoots(_)));
        let message = r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#;
        assert!(matches!(read(message), InputResponse::CreateMessage(_)));
        assert_eq!(
            refusal::<InputResponse>(r#"{"nothing":1}"#),
            "InputResponse: this object fits none of ElicitResult, CreateMessageResult, ListRootsResult"
        );
        assert!(matches!(read(r#"{"type":"string"}"#), PrimitiveSchemaDefinition::String(_)));
        assert!(matches!(read(r#"{"type":"integer"}"#), PrimitiveSchemaDefinition::Number(_)));
        assert!(matches!(
            read(r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#),
            PrimitiveSchemaDefinition::LegacyTitledEnum(_)
        ));
        assert!(matches!(read(r#"{"message":"?","url":"a:b","mode":"url"}"#), ElicitRequestParams::Url(_)));
        let form = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
        assert!(matches!(read(form), ElicitRequestParams::Form(_)));
        survives::<ElicitRequestParams>(form);
    }
}

mod duplicates {
    use super::*;

    /// HTTP-02: a member given twice is refused, whether it is known, a tag, unknown, or a key of a map.
    #[test]
    fn a_member_given_twice_is_refused() {
        for (member, again) in [
            ("taskId", r#""taskId":"t-17""#),
            ("status", r#""status":"working""#),
            ("ttlMs", r#""ttlMs":null"#),
            ("x", r#""x":1,"x":1"#),
            ("result", r#""result":{},"result":{}"#),
            ("error", r#""error":1,"error":1"#),
        ] {
            let text = polled(&format!(r#""status":"working",{again}"#));
            assert_eq!(refusal::<GetTaskResult>(&text), format!("GetTaskResult.{member}: is given twice"));
            let status_last = format!(r#"{{{again},{COMMON},"ttlMs":null,{again},"status":"working"}}"#);
            assert_eq!(refusal::<GetTaskResult>(&status_last), format!("GetTaskResult.{member}: is given twice"));
        }
        assert_eq!(
            refusal::<GetTaskRequest>(r#"{"jsonrpc":"2.0","method":"tasks/get","method":"tasks/get"}"#),
            "GetTaskRequest.method: is given twice"
        );
        assert_eq!(refusal::<InputResponses>(r#"{"k":1,"l":2,"k":1}"#), r#"InputResponses["k"]: is given twice"#);
        assert_eq!(
            refusal::<Response<CancelTaskResult>>(r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#),
            "Response.result: is given twice"
        );
    }

    /// HTTP-02: typed members are held to it at any depth, wherever the tag stands that says which type it is.
    #[test]
    fn a_member_given_twice_inside_is_refused() {
        let twice = r#""params":{"message":"one","message":"two","requestedSchema":{"type":"object","properties":{}}}"#;
        let tag = r#""method":"elicitation/create""#;
        assert_eq!(
            refusal::<InputRequest>(&format!("{{{tag},{twice}}}")),
            "InputRequest.params: ElicitRequestParams.message: is given twice"
        );
        assert!(
            serde_json::from_str::<InputRequest>(&format!("{{{twice},{tag}}}")).is_err(),
            "taken for once when the tag comes last"
        );
    }

    /// HTTP-02: values whose shape is looked at first are held to it as well.
    #[test]
    fn a_member_given_twice_in_a_union_of_shapes_is_refused() {
        for text in [r#"{"action":"accept","action":"decline"}"#, r#"{"roots":[],"roots":[]}"#] {
            assert!(serde_json::from_str::<InputResponse>(text).is_err(), "{text} is read");
        }
        let text = r#"{"type":"string","type":"boolean"}"#;
        assert!(serde_json::from_str::<PrimitiveSchemaDefinition>(text).is_err(), "{text} is read");
    }
}
