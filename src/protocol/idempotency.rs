//! Idempotency keys: how a client can ask again for a task whose creation it did not hear of.
//!
//! A server that understands them advertises the extension [`IDEMPOTENCY_KEY`], with `{}`. A client then puts a key of its
//! own choice into `_meta` of a `tools/call`, under the same name: a text of 1 to 128 characters that it uses for no other
//! call. If the answer is lost it sends the same request again, and gets the task that the first one made, as it stands
//! now; the tool is not started a second time. The same key with another tool or other arguments is refused. An internal
//! error is no answer to the question whether there is a task: the same request asks again.
//!
//! A key holds for one [principal](crate::principal::Principal), and as long as its task is kept. A request that does not
//! declare tasks gets none, so that its key is ignored; so is that of a call that a tool's `when` keeps inside the request.

use serde_json::Value;

use crate::protocol::ProtocolError;

/// The extension by which a server says that it understands idempotency keys, and the name in `_meta` under which a client
/// gives one.
pub const IDEMPOTENCY_KEY: &str = "rs.mcp-tasks/idempotency-key";

/// The most characters that a key has.
pub const IDEMPOTENCY_KEY_CHARS: usize = 128;

/// Reads what a request has under [`IDEMPOTENCY_KEY`].
///
/// # Errors
/// `-32602` if that is no key.
pub fn idempotency_key(given: Option<&Value>) -> Result<Option<&str>, ProtocolError> {
    let Some(given) = given else { return Ok(None) };
    let key = given.as_str().filter(|key| (1..=IDEMPOTENCY_KEY_CHARS).contains(&key.chars().count()));
    key.map(Some).ok_or_else(|| {
        let rule = format!("`_meta[{IDEMPOTENCY_KEY:?}]` is not a text of 1 to {IDEMPOTENCY_KEY_CHARS} characters");
        ProtocolError::invalid_params(rule)
    })
}
