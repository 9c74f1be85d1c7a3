//! Pointers to what must not be there. Of a pointer that leads nowhere in any message nothing is ever there, so that it
//! would pass whatever comes.

use crate::export::members::Members;
use serde_json::Value;

/// Why a pointer into a response can be no pointer to a member that it lacks.
pub(super) fn fault(pointer: &str, response: Option<&Value>, members: &Members<'_>) -> Option<String> {
    let Some((parent, name)) = split(pointer) else { return Some("it is no JSON pointer to a member".to_owned()) };
    let Some(response) = response else { return Some("there is no response here that could lack it".to_owned()) };
    if response.pointer(pointer).is_some() {
        return Some("the response has it".to_owned());
    }
    if !response.pointer(parent).is_some_and(Value::is_object) {
        return Some(format!("the response has no object `{parent}` that could lack it"));
    }
    (!members.have(&name)).then(|| format!("no object of any revision has a member `{name}`"))
}

/// Where the member would stand, and what it is called.
fn split(pointer: &str) -> Option<(&str, String)> {
    let is_escaped = |step: &str| step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let (parent, name) = pointer.rsplit_once('/')?;
    let is_pointer = (parent.is_empty() || parent.starts_with('/')) && is_escaped(pointer);
    is_pointer.then(|| (parent, name.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pointer_leads_to_where_a_member_could_be() {
        let members = Members::named(&["taskId", "a/b"]);
        let response = json!({ "result": { "status": "working", "list": [] } });
        let fault = |pointer: &str| fault(pointer, Some(&response), &members);
        for good in ["/result/taskId", "/result/a~1b", "/taskId"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for (pointer, complaint) in [
            ("", "it is no JSON pointer to a member"),
            ("taskId", "it is no JSON pointer to a member"),
            ("result/taskId", "it is no JSON pointer to a member"),
            ("/result/a~2b", "it is no JSON pointer to a member"),
            ("/result/status", "the response has it"),
            ("/reslut/taskId", "the response has no object `/reslut` that could lack it"),
            ("/result/list/0", "the response has no object `/result/list` that could lack it"),
            ("/result/taskID", "no object of any revision has a member `taskID`"),
        ] {
            assert_eq!(fault(pointer).as_deref(), Some(complaint), "{pointer}");
        }
    }
}
