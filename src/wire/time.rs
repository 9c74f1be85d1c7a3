//! A moment as RFC 3339 text in UTC, to the millisecond (TSK-03).

use super::UnixMillis;

const MS_PER_DAY: u64 = 86_400_000;

/// The last moment of the year 9999, beyond which RFC 3339 has no text.
const LAST: u64 = 253_402_300_799_999;

/// The text of a moment, such as `2026-07-28T10:00:00.000Z`.
pub(super) fn timestamp(moment: UnixMillis) -> String {
    let moment = moment.get().min(LAST);
    let (days, ms) = (moment / MS_PER_DAY, moment % MS_PER_DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
}

/// Year, month and day of that many days after the first of January 1970, in eras of 400 years that begin in March.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(millis: u64, text: &str) {
        assert_eq!(timestamp(UnixMillis::new(millis)), text);
    }

    /// TSK-03: RFC 3339 in UTC with `Z`, also at the edges of months, leap years and of what has a text.
    #[test]
    fn moments_are_rfc_3339() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_790_000_000_123, "2026-09-21T14:13:20.123Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
        check(u64::MAX, "9999-12-31T23:59:59.999Z");
    }
}
