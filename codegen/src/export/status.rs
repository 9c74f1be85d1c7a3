//! HTTP statuses of error responses.

/// The status that goes with an error code, where one is settled.
pub(super) fn of_error(code: i64) -> Option<u16> {
    match code {
        // Ours: too many polls (GET-04).
        -32019 => Some(429),
        -32020 | -32021 => Some(400),
        -32601 => Some(404),
        _ => None,
    }
}
