//! Whether a number of JSON is still the one that was written, for a double holds but so many digits.

use serde_json::Number;

/// Whether each number in `json`, which is valid, can be sent as it is written.
///
/// # Errors
/// A sentence that names the number that would be rounded.
pub fn exact(json: &str) -> Result<(), String> {
    match numbers(json).into_iter().find(|number| is_rounded(number)) {
        Some(number) => Err(format!("{number} has more digits than can be sent: it would be rounded")),
        None => Ok(()),
    }
}

/// The numbers of valid JSON: what is digits outside of strings.
fn numbers(json: &str) -> Vec<&str> {
    let mut outside = Vec::new();
    let mut rest = json;
    while let Some((before, string)) = rest.split_once('"') {
        outside.push(before);
        rest = after_string(string);
    }
    outside.push(rest);
    let part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let words = outside.into_iter().flat_map(|text| text.split(move |c| !part(c)));
    // The letters of `true` and `false` are no digits.
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// What follows the string that `text` is inside of.
fn after_string(text: &str) -> &str {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or("", |end| &text[end + 1..])
}

fn is_rounded(written: &str) -> bool {
    let number: Option<Number> = written.parse().ok();
    number.is_none_or(|number| Decimal::of(&number.to_string()) != Decimal::of(written))
}

/// A number by its digits, whichever way it is written.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    /// Without zeros at either end.
    digits: String,
    /// The power of ten that the last digit counts.
    power: i64,
}

impl Decimal {
    /// `None` if the exponent is beyond everything.
    fn of(written: &str) -> Option<Self> {
        let (mantissa, exponent) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
        let ended = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - ended.len()).ok()?;
        let places = i64::try_from(fraction.len()).ok()?;
        let power = exponent.parse::<i64>().ok()?.checked_sub(places)?.checked_add(zeros)?;
        let digits = ended.trim_start_matches('0').to_owned();
        let power = if digits.is_empty() { 0 } else { power };
        Some(Self { negative: whole.starts_with('-') && !digits.is_empty(), digits, power })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_rounded_is() {
        for kept in ["0", "-0", "0.0e9", "1.10", "1e3", "1E+3", "0.1", "-12.50", "100", "1e-7", "18446744073709551615"]
        {
            assert!(!is_rounded(kept), "{kept}");
        }
        for lost in ["18446744073709551617", "0.12345678901234567890", "1e-400", "1e400", "1e99999999999999999999"] {
            assert!(is_rounded(lost), "{lost}");
        }
    }

    #[test]
    fn numbers_are_outside_of_strings() {
        assert_eq!(numbers(r#"{"1\"2": [3, -4.5e+6, "7", true], "\\": 8}"#), ["3", "-4.5e+6", "8"]);
    }
}
