//! `Keyring`: the keys that an operator supplies, by id, and which of them seals what is new.

use std::{collections::BTreeMap, fmt};

use bytes::Bytes;
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

use super::{SEALED, SealError};
use crate::task_id::TaskId;

const NONCE_BYTES: usize = 24;
/// What the cipher adds to a value.
const TAG_BYTES: usize = 16;

/// The keys that stored values are encrypted with (XChaCha20-Poly1305). New values get the current key; values under older
/// keys are read as long as those are on the ring. Each key has an id, which is stored beside the value.
///
/// To change keys, make the new key the current one and add the old one with [`with_older`](Self::with_older) on every
/// node; where several nodes share a store, first add the new key as an older one everywhere. The old key can go once
/// every task that it sealed is gone, which is after the longest time to live.
///
/// A value does not open in another column or for another task than it was sealed for. What was stored before there were
/// keys stays readable as it is.
pub struct Keyring {
    current: Box<str>,
    keys: BTreeMap<Box<str>, XChaCha20Poly1305>,
}

/// A text that cannot be a key's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a key has 1 to 64 letters, digits, `-`, `_` and `.`")]
pub struct InvalidKeyId;

impl Keyring {
    /// Keys of which there is one so far: 32 random bytes. The `id` names it in what is stored, so it must be no secret,
    /// and no other key may ever have it.
    ///
    /// # Errors
    /// If `id` is empty, too long, or has other characters than letters, digits, `-`, `_` and `.`.
    pub fn new(id: &str, key: [u8; 32]) -> Result<Self, InvalidKeyId> {
        Self { current: id.into(), keys: BTreeMap::new() }.with_older(id, key)
    }

    /// Adds a key that was the current one earlier, or will be later: what it sealed can be read.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_older(mut self, id: &str, key: [u8; 32]) -> Result<Self, InvalidKeyId> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        if id.is_empty() || id.len() > 64 || !id.bytes().all(allowed) {
            return Err(InvalidKeyId);
        }
        self.keys.insert(id.into(), XChaCha20Poly1305::new(&Key::from(key)));
        Ok(self)
    }

    pub(super) fn seal(&self, id: TaskId, column: &'static str, value: &[u8]) -> Result<Vec<u8>, SealError> {
        let cipher = self.keys.get(&self.current).ok_or(SealError::Failed)?;
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Failed)?;
        let aad = place(id, column);
        let text =
            cipher.encrypt(&XNonce::from(nonce), Payload { msg: value, aad: &aad }).map_err(|_| SealError::Failed)?;
        let mut stored = Vec::with_capacity(2 + self.current.len() + NONCE_BYTES + TAG_BYTES + value.len());
        // At most 64, as was checked.
        stored.extend([SEALED, self.current.len() as u8]);
        stored.extend(self.current.as_bytes());
        stored.extend(nonce);
        stored.extend(text);
        Ok(stored)
    }

    /// Opens `sealed`, a nonce and what follows it.
    pub(super) fn open(&self, id: TaskId, column: &'static str, key: &str, sealed: &[u8]) -> Result<Bytes, SealError> {
        let cipher = self.keys.get(key).ok_or_else(|| SealError::UnknownKey { id, column, key: key.into() })?;
        let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::Malformed { id, column })?;
        let aad = place(id, column);
        cipher
            .decrypt(&XNonce::from(*nonce), Payload { msg: text, aad: &aad })
            .map(Bytes::from)
            .map_err(|_| SealError::Forged { id, column, key: key.into() })
    }
}

/// Where a value belongs: it is authenticated with it.
fn place(id: TaskId, column: &str) -> Vec<u8> {
    [&id.to_bits().to_be_bytes(), column.as_bytes()].concat()
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("current", &self.current).field("ids", &self.keys.keys()).finish()
    }
}
