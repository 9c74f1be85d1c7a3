//! Writes a JSON object member by member into one buffer. No reflection, no intermediate values.

use std::{
    fmt::Display,
    io::Write,
    ops::{Deref, DerefMut},
};

/// An object that is being written. Members stand in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Object {
    text: Vec<u8>,
    empty: bool,
}

impl Object {
    /// An empty object in a buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut text = Vec::with_capacity(capacity);
        text.push(b'{');
        Self { text, empty: true }
    }

    /// A member that is JSON text already.
    pub fn raw(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.text.extend_from_slice(value);
    }

    /// A text that needs no escapes: one that was made here.
    pub fn plain(&mut self, key: &str, value: &str) {
        self.key(key);
        self.text.push(b'"');
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'"');
    }

    /// Any text.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.escaped(value);
    }

    /// A count.
    pub fn number(&mut self, key: &str, value: u64) {
        self.display(key, value);
    }

    /// A number with a sign.
    pub fn signed(&mut self, key: &str, value: i64) {
        self.display(key, value);
    }

    /// A list of texts that need no escapes.
    pub fn list<T: Display>(&mut self, key: &str, values: impl IntoIterator<Item = T>) {
        self.key(key);
        self.text.push(b'[');
        for (index, value) in values.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a Vec does not fail.
            let _ = write!(self.text, "{comma}\"{value}\"");
        }
        self.text.push(b']');
    }

    /// Begins an object that is a member of this one; it ends where the returned value is dropped.
    pub fn object(&mut self, key: &str) -> Member<'_> {
        self.key(key);
        let inner = std::mem::take(&mut self.text);
        let mut object = Self { text: inner, empty: true };
        object.text.push(b'{');
        Member { outer: self, object }
    }

    /// The JSON text.
    pub fn end(mut self) -> Vec<u8> {
        self.text.push(b'}');
        self.text
    }

    fn display(&mut self, key: &str, value: impl Display) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.empty) {
            self.text.push(b',');
        }
        self.escaped(key);
        self.text.push(b':');
    }

    fn escaped(&mut self, text: &str) {
        // A text always has a JSON form, and a Vec takes whatever is written.
        let _ = serde_json::to_writer(&mut self.text, text);
    }
}

/// An object inside another one.
pub(crate) struct Member<'a> {
    outer: &'a mut Object,
    object: Object,
}

impl Deref for Member<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}

impl DerefMut for Member<'_> {
    fn deref_mut(&mut self) -> &mut Object {
        &mut self.object
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.outer.text = std::mem::take(&mut self.object.text);
        self.outer.text.push(b'}');
    }
}
