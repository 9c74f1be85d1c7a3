//! Any bytes, read as every type: nothing but an answer or an error may come of it, and what is written again is read
//! again as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_tasks_types::{DetailedTask, GetTaskResult, RawObject, Response, TaskStatusNotification};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[rustfmt::skip]
#[path = "../../generated/tests/registry/v2025_11_25.rs"]
mod v2025_11_25;
#[rustfmt::skip]
#[path = "../../generated/tests/registry/v2026_07_28.rs"]
mod v2026_07_28;

fn again<T: DeserializeOwned + Serialize>(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<T>(bytes) else { return };
    let once = serde_json::to_vec(&value).expect("what was read can be written");
    let value = serde_json::from_slice::<T>(&once).expect("what was written can be read");
    assert_eq!(serde_json::to_vec(&value).expect("what was read can be written"), once);
}

fuzz_target!(|bytes: &[u8]| {
    again::<Response<GetTaskResult>>(bytes);
    again::<Response<GetTaskResult<RawObject>>>(bytes);
    again::<DetailedTask<RawObject>>(bytes);
    again::<TaskStatusNotification<RawObject>>(bytes);
    let Ok(text) = str::from_utf8(bytes) else { return };
    for (names, recode) in [
        (v2025_11_25::NAMES, v2025_11_25::recode as fn(&str, &str) -> Option<serde_json::Result<String>>),
        (v2026_07_28::NAMES, v2026_07_28::recode),
    ] {
        for name in names {
            if let Some(Ok(once)) = recode(name, text) {
                let twice = recode(name, &once).expect("the name is known").expect("what was written can be read");
                assert_eq!(twice, once, "{name}");
            }
        }
    }
});
