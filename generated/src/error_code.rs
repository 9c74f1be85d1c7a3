//! The JSON-RPC error codes that the extension speaks of (SEP-2663, Protocol Errors).

use crate::ErrorCode;

impl ErrorCode {
    /// The text is not JSON.
    pub const PARSE_ERROR: Self = Self::new(-32700);
    /// The message is no request.
    pub const INVALID_REQUEST: Self = Self::new(-32600);
    /// There is no such method; also what `tasks/list` and `tasks/result` get (ERR-01, LEG-02).
    pub const METHOD_NOT_FOUND: Self = Self::new(-32601);
    /// The parameters are wrong; also an unknown, foreign or expired task (GET-03, SEC-02).
    pub const INVALID_PARAMS: Self = Self::new(-32602);
    /// The server failed (ERR-02).
    pub const INTERNAL_ERROR: Self = Self::new(-32603);
    /// A header is missing or says something else than the body (HTTP-02).
    pub const HEADER_MISMATCH: Self = Self::new(-32020);
    /// The client did not declare a capability that the request needs (CAP-05, ERR-01, NOT-02).
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: Self = Self::new(-32021);
}
