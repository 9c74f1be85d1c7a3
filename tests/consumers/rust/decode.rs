//! The decoder of each definition.

use crate::types;
use serde_json::from_str;

/// Whether the type that was made of a definition takes a text. Of some definitions none was made.
pub fn takes(definition: &str, text: &str) -> Option<bool> {
    Some(match definition {
        // ARMS
        _ => return None,
    })
}
