//! Answers for the scripted client of a [`TestTask`].

use serde::Serialize;
use serde_json::json;

use crate::context::TestTask;

/// Answers to [`elicit`](crate::context::TaskContext::elicit), in the order in which they are given.
impl TestTask {
    /// The user answers the next question of this name with `content`.
    ///
    /// # Panics
    /// If `content` cannot be written as JSON.
    #[must_use]
    pub fn accepts(self, name: &str, content: impl Serialize) -> Self {
        self.answer(name, json!({"action": "accept", "content": content}).to_string())
    }

    /// The user declines the next question of this name.
    #[must_use]
    pub fn declines(self, name: &str) -> Self {
        self.answer(name, json!({"action": "decline"}).to_string())
    }

    /// The user closes the next question of this name without a decision.
    #[must_use]
    pub fn dismisses(self, name: &str) -> Self {
        self.answer(name, json!({"action": "cancel"}).to_string())
    }
}
