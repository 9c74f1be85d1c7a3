//! Whether a call of a tool becomes a task. Pure.

use std::time::Duration;

use crate::protocol::{Caller, ProtocolError};

/// What a tool says about becoming a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolPolicy {
    /// It can only run as a task (`mode = "required"`).
    pub required: bool,
    /// What its `when` says of this call; `true` if it has none.
    pub wanted: bool,
    /// It runs inside the request first, for this long (`promote_after`).
    pub promote_after: Option<Duration>,
}

/// How a `tools/call` is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// To its end, inside the request (CAP-02, CAP-07, LEG-01).
    Inline,
    /// As a task from its start.
    Task,
    /// Inside the request, and as a task if it takes longer than this or asks the client something (case 45).
    Promote(Duration),
    /// Not at all: [`ProtocolError::extension_not_declared`], before the tool runs (CAP-05, LEG-01).
    Refuse,
}

impl Decision {
    /// Decides. Only what the request itself declares counts (CAP-02, LEG-04), and only under a version that has the
    /// extension (LEG-01); a `task` parameter of the experimental kind is not even looked at (LEG-03).
    pub fn of(caller: &Caller<'_>, tool: &ToolPolicy) -> Self {
        match (caller.takes_tasks(), tool) {
            (false, ToolPolicy { required: true, .. }) => Self::Refuse,
            (false, _) => Self::Inline,
            (true, ToolPolicy { required: true, .. }) => Self::Task,
            (true, ToolPolicy { wanted: false, .. }) => Self::Inline,
            (true, ToolPolicy { promote_after: Some(patience), .. }) => Self::Promote(*patience),
            (true, _) => Self::Task,
        }
    }

    /// The error of a call that is refused.
    pub fn refusal(self) -> Option<ProtocolError> {
        (self == Self::Refuse).then(ProtocolError::extension_not_declared)
    }
}
