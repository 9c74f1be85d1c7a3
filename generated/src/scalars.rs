//! What small values are for: statuses end, durations last, timestamps are moments, answers have a type.

use crate::support::ConversionError;
use crate::{DurationMs, InputKey, InputResponses, TaskStatus, Timestamp};
use jiff::civil;
use jiff::tz::Offset;
use serde::de::DeserializeOwned;
use std::time::Duration;

impl TaskStatus {
    /// Whether a task of this status never changes again (TSK-08). A status that is not known counts as not terminal,
    /// so that a client goes on asking.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl From<DurationMs> for Duration {
    fn from(milliseconds: DurationMs) -> Self {
        Self::from_millis(milliseconds.get())
    }
}

impl TryFrom<Duration> for DurationMs {
    type Error = ConversionError;

    /// Whole milliseconds; what is less than one is left off.
    fn try_from(duration: Duration) -> Result<Self, ConversionError> {
        let milliseconds = u64::try_from(duration.as_millis()).map_err(|_| "longer than a duration can be")?;
        Self::try_from(milliseconds)
    }
}

impl Timestamp {
    /// The moment it names. Takes RFC 3339 and the other forms of ISO 8601 that occur; a time without an offset is
    /// taken as UTC (TSK-03).
    ///
    /// # Errors
    /// The text is no ISO 8601 date and time.
    pub fn parse(&self) -> Result<jiff::Timestamp, jiff::Error> {
        self.as_str().parse::<jiff::Timestamp>().or_else(|error| match self.as_str().parse::<civil::DateTime>() {
            Ok(local) => Offset::UTC.to_timestamp(local),
            Err(_) => Err(error),
        })
    }
}

impl From<jiff::Timestamp> for Timestamp {
    /// RFC 3339 in UTC with `Z`, to the millisecond (TSK-03).
    fn from(moment: jiff::Timestamp) -> Self {
        Self(format!("{moment:.3}"))
    }
}

impl InputResponses {
    /// The answer under a key as a type, such as [`ElicitResult`](crate::ElicitResult) for an elicitation.
    ///
    /// The values are kept as JSON, because which type one has is known only from the question it answers, and a key
    /// that nobody asked for may hold anything (UPD-02).
    ///
    /// # Errors
    /// The value does not fit the type.
    pub fn typed<T: DeserializeOwned>(&self, key: &InputKey) -> Option<Result<T, serde_json::Error>> {
        self.get(key).map(|value| T::deserialize(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_in_the_forms_of_iso_8601_that_occur() {
        let expected: jiff::Timestamp = "2026-07-28T10:30:00Z".parse().unwrap();
        for text in [
            "2026-07-28T10:30:00Z",
            "2026-07-28T10:30:00.000Z",
            "2026-07-28T12:30:00+02:00",
            "2026-07-28T10:30Z",
            "20260728T103000Z",
            "2026-07-28T10:30:00",
        ] {
            assert_eq!(Timestamp::from(text).parse().unwrap(), expected, "{text}");
        }
        assert!(Timestamp::from("tomorrow").parse().is_err());
    }

    #[test]
    fn timestamps_are_written_in_utc_to_the_millisecond() {
        let moment: jiff::Timestamp = "2026-07-28T12:30:00.123456+02:00".parse().unwrap();
        assert_eq!(Timestamp::from(moment).as_str(), "2026-07-28T10:30:00.123Z");
    }

    #[test]
    fn durations_have_a_greatest_value() {
        let most = Duration::from_millis(9_007_199_254_740_991);
        assert_eq!(DurationMs::try_from(most).map(Duration::from), Ok(most));
        assert!(DurationMs::try_from(most + Duration::from_millis(1)).is_err());
        assert!(DurationMs::try_from(Duration::MAX).is_err());
    }
}
