//! `TaskId`: an unguessable, opaque name for a task.
//!
//! Guarantee: an id carries 128 bits from the operating system's cryptographic generator (SEC-01), and has exactly one
//! spelling, so that two texts name the same task only if they are equal. No meaning is encoded in it.

use std::{fmt, str::FromStr};

/// The identifier of a task; `taskId` on the wire, where it is 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u128);

/// The operating system gave no random bytes, so that no unguessable id can be made.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoEntropy {
    #[source]
    cause: getrandom::Error,
}

/// A text that no [`TaskId`] prints as.
///
/// To a client this is the same as an id that names no task (GET-03).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task id is 32 lower-case hexadecimal digits")]
pub struct MalformedTaskId;

impl TaskId {
    /// How many characters the text of an id has.
    pub const TEXT_LEN: usize = 32;

    /// Makes an id of 128 random bits (SEC-01).
    ///
    /// # Errors
    /// [`NoEntropy`] if the operating system's generator fails; there is no weaker generator to fall back to.
    pub fn random() -> Result<Self, NoEntropy> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|cause| NoEntropy { cause })?;
        Ok(Self::from_bits(u128::from_be_bytes(bytes)))
    }

    /// The id with these bits: for reading back what a store has kept, and for tests.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The bits of the id: for writing it to a store.
    pub const fn to_bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

impl FromStr for TaskId {
    type Err = MalformedTaskId;

    fn from_str(text: &str) -> Result<Self, MalformedTaskId> {
        let canonical = text.len() == Self::TEXT_LEN && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !canonical {
            return Err(MalformedTaskId);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| MalformedTaskId)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// SEC-01: each of the 128 bits is sometimes set and sometimes not, and no id comes twice.
    #[test]
    fn every_bit_of_an_id_is_random() {
        let ids: HashSet<u128> = (0..256).map(|_| TaskId::random().expect("random bytes").to_bits()).collect();
        assert_eq!(ids.len(), 256);
        assert_eq!(ids.iter().fold(0, |all, id| all | id), u128::MAX);
        assert_eq!(ids.iter().fold(u128::MAX, |all, id| all & id), 0);
    }

    #[test]
    fn the_text_of_an_id_reads_back_as_the_id() {
        for id in [TaskId::from_bits(0), TaskId::from_bits(7), TaskId::from_bits(u128::MAX)] {
            assert_eq!(id.to_string().len(), TaskId::TEXT_LEN);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    /// GET-03: what is malformed names no task, however close it comes.
    #[test]
    fn an_id_has_one_spelling() {
        let lower = "00000000000000000000000000000abc";
        assert!(lower.parse::<TaskId>().is_ok());
        for other in
            ["", "abc", "00000000000000000000000000000ABC", "+0000000000000000000000000000abc", &lower.repeat(2)]
        {
            assert_eq!(other.parse::<TaskId>(), Err(MalformedTaskId), "{other:?}");
        }
    }
}
