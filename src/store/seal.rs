//! Encryption at rest: what came from clients and tools is sealed before a store writes it down.
//!
//! Sealed are arguments, questions, answers, steps, results, errors and status messages. Not sealed is what queries need:
//! task ids, principals, tool names, idempotency keys, times, statuses, progress.
//!
//! A stored value starts with a byte that says which of the two it is:
//! ```text
//! 0, value                                            as it is
//! 1, length of the key id, key id, nonce (24), text   XChaCha20-Poly1305, bound to task id and column
//! ```
//! With keys new values are sealed with the current one, and older ones, also those that were not sealed, are read as
//! long as their key is known.

use bytes::Bytes;

use crate::task_id::TaskId;

#[cfg(feature = "encryption")]
mod keyring;

#[cfg(feature = "encryption")]
pub use self::keyring::{InvalidKeyId, Keyring};

const PLAIN: u8 = 0;
const SEALED: u8 = 1;

/// Why a value is not sealed, or not opened. For the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The key is not on the ring.
    #[error("`{column}` of task {id} is encrypted with the key `{key}`, which is not on the keyring")]
    UnknownKey { id: TaskId, column: &'static str, key: String },
    /// The value was damaged, or moved here from elsewhere, or the key of that id is another one.
    #[error("`{column}` of task {id} does not open with the key `{key}`")]
    #[cfg_attr(not(feature = "encryption"), expect(dead_code, reason = "nothing is opened without keys"))]
    Forged { id: TaskId, column: &'static str, key: String },
    /// The value was written by something else.
    #[error("`{column}` of task {id} is not a stored value")]
    Malformed { id: TaskId, column: &'static str },
    /// There is no nonce, or no memory.
    #[cfg(feature = "encryption")]
    #[error("a value could not be encrypted")]
    Failed,
}

/// Seals and opens stored values: with keys, or by leaving them as they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seal {
    #[cfg(feature = "encryption")]
    keys: Option<std::sync::Arc<Keyring>>,
}

impl Seal {
    /// Seals with the current key of these.
    #[cfg(feature = "encryption")]
    pub fn with(keys: Keyring) -> Self {
        Self { keys: Some(keys.into()) }
    }

    /// What to store for `value` in that column of that task.
    pub fn seal(&self, id: TaskId, column: &'static str, value: &[u8]) -> Result<Vec<u8>, SealError> {
        #[cfg(feature = "encryption")]
        if let Some(keys) = &self.keys {
            return keys.seal(id, column, value);
        }
        let _ = (id, column);
        Ok([&[PLAIN], value].concat())
    }

    /// The value that was stored there.
    pub fn open(&self, id: TaskId, column: &'static str, stored: Vec<u8>) -> Result<Bytes, SealError> {
        let stored = Bytes::from(stored);
        match stored.first() {
            Some(&PLAIN) => Ok(stored.slice(1..)),
            Some(&SEALED) => self.decrypt(id, column, &stored),
            _ => Err(SealError::Malformed { id, column }),
        }
    }

    fn decrypt(&self, id: TaskId, column: &'static str, stored: &[u8]) -> Result<Bytes, SealError> {
        let malformed = || SealError::Malformed { id, column };
        let (length, rest) = stored.get(1..).and_then(<[u8]>::split_first).ok_or_else(malformed)?;
        let (key, rest) = rest.split_at_checked(usize::from(*length)).ok_or_else(malformed)?;
        let key = str::from_utf8(key).map_err(|_| malformed())?;
        #[cfg(feature = "encryption")]
        if let Some(keys) = &self.keys {
            return keys.open(id, column, key, rest);
        }
        let _ = rest;
        Err(SealError::UnknownKey { id, column, key: key.into() })
    }
}

#[cfg(all(test, feature = "encryption"))]
mod tests;
