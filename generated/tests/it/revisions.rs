//! Every type of every revision by name, and the schema it was made from.

#[rustfmt::skip]
#[path = "../registry/v2025_11_25.rs"]
mod v2025_11_25;
#[rustfmt::skip]
#[path = "../registry/v2026_07_28.rs"]
mod v2026_07_28;

/// A revision: its definitions, and the types they became.
pub struct Revision {
    /// The name on the wire.
    pub name: &'static str,
    /// All definitions in one document.
    pub schema: &'static str,
    /// The definitions that have a type of their own.
    pub names: &'static [&'static str],
    recode: fn(&str, &str) -> Option<serde_json::Result<String>>,
}

/// All revisions.
pub const ALL: [Revision; 2] = [
    Revision {
        name: "2025-11-25",
        schema: include_str!("../../src/v2025_11_25/schema.json"),
        names: v2025_11_25::NAMES,
        recode: v2025_11_25::recode,
    },
    Revision {
        name: "2026-07-28",
        schema: include_str!("../../src/v2026_07_28/schema.json"),
        names: v2026_07_28::NAMES,
        recode: v2026_07_28::recode,
    },
];

impl Revision {
    /// Reads a text as the type of a definition and writes it again.
    pub fn recode(&self, definition: &str, text: &str) -> serde_json::Result<String> {
        (self.recode)(definition, text).unwrap_or_else(|| panic!("{}: no type for {definition}", self.name))
    }
}
