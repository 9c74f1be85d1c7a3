//! Durations as text, in milliseconds: `"500ms"`, `"10m"`, `"1h30m"`.

/// The longest duration, in milliseconds: the largest integer that every JSON reader keeps exact.
const MAX_MS: u64 = (1 << 53) - 1;

/// Why a text is no duration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DurationError {
    /// Not made of whole numbers and units, or empty.
    Malformed,
    /// A number without a unit; the number.
    NoUnit(String),
    /// A unit that does not exist; the unit.
    UnknownUnit(String),
    /// Nothing is left of it.
    Zero,
    /// More than JSON can carry.
    TooLong,
}

/// Reads `text` as a duration above zero, in milliseconds.
pub(crate) fn parse_ms(text: &str) -> Result<u64, DurationError> {
    let mut total = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let (amount, unit, tail) = split_term(rest)?;
        total = term_ms(amount, unit)?.checked_add(total).ok_or(DurationError::TooLong)?;
        rest = tail;
    }
    match total {
        _ if text.is_empty() => Err(DurationError::Malformed),
        0 => Err(DurationError::Zero),
        1..=MAX_MS => Ok(total),
        _ => Err(DurationError::TooLong),
    }
}

/// Splits `"1h30m"` into `("1", "h", "30m")`.
fn split_term(text: &str) -> Result<(&str, &str, &str), DurationError> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (amount, tail) = text.split_at(digits);
    let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
    let (unit, tail) = tail.split_at(letters);
    match (amount, unit) {
        ("", _) => Err(DurationError::Malformed),
        (_, "") if tail.is_empty() => Err(DurationError::NoUnit(amount.to_owned())),
        (_, "") => Err(DurationError::Malformed),
        _ => Ok((amount, unit, tail)),
    }
}

fn term_ms(amount: &str, unit: &str) -> Result<u64, DurationError> {
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(DurationError::UnknownUnit(unit.to_owned())),
    };
    // Digits only, so that the one way to fail is to be too large.
    amount.parse::<u64>().ok().and_then(|amount| amount.checked_mul(unit_ms)).ok_or(DurationError::TooLong)
}

#[cfg(test)]
mod tests {
    use super::{DurationError, MAX_MS, parse_ms};

    #[test]
    fn each_unit_and_their_sums_are_read() {
        let read = [("1ms", 1), ("2s", 2_000), ("3m", 180_000), ("4h", 14_400_000), ("1d", 86_400_000)];
        for (text, ms) in read.into_iter().chain([("1h30m", 5_400_000), ("0s5ms", 5)]) {
            assert_eq!(parse_ms(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        for text in ["", "s", "-1s", "1.5h", " 1s", "1s ", "1_000ms", "soon", "1 s"] {
            assert_eq!(parse_ms(text), Err(DurationError::Malformed), "{text:?}");
        }
        assert_eq!(parse_ms("10"), Err(DurationError::NoUnit("10".into())));
        assert_eq!(parse_ms("1m10"), Err(DurationError::NoUnit("10".into())));
        assert_eq!(parse_ms("10min"), Err(DurationError::UnknownUnit("min".into())));
        assert_eq!(parse_ms("5µs"), Err(DurationError::UnknownUnit("µs".into())));
    }

    /// Case 21: a zero TTL is refused when the tool is built.
    #[test]
    fn zero_is_refused() {
        assert_eq!(parse_ms("0s"), Err(DurationError::Zero));
        assert_eq!(parse_ms("0h0ms"), Err(DurationError::Zero));
    }

    #[test]
    fn the_longest_duration_is_the_largest_exact_json_integer() {
        assert_eq!(parse_ms(&format!("{MAX_MS}ms")), Ok(MAX_MS));
        assert_eq!(parse_ms(&format!("{}ms", MAX_MS + 1)), Err(DurationError::TooLong));
        assert_eq!(parse_ms("99999999999999999999d"), Err(DurationError::TooLong));
    }
}
