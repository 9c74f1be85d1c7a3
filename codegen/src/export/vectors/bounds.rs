//! Values at the bounds of a schema, and one step beyond them.

use super::sample::{MOST, Sampler, text};
use serde_json::{Value, json};

/// A character that is one code point, four bytes, and two units of UTF-16: whoever counts wrongly is found out by it.
const CRAB: &str = "\u{1f980}";

/// Values at the bounds, each by the keyword.
pub(super) fn at(schema: &Value, sampler: Sampler<'_>) -> Vec<(&'static str, Value)> {
    let value = |bound| schema.get(bound).cloned();
    let length = |bound| Some(json!(text(CRAB, count(schema, bound)?)));
    let list = |bound| Some(sampler.list(schema, count(schema, bound)?));
    // The smallest map has as few members as it may.
    let values = [
        ("minimum", value("minimum")),
        ("maximum", value("maximum")),
        ("minLength", length("minLength")),
        ("maxLength", length("maxLength")),
        ("minItems", list("minItems")),
        ("maxItems", list("maxItems")),
    ];
    values.into_iter().filter_map(|(bound, value)| Some((bound, value?))).collect()
}

/// Values beyond the bounds, each by the side on which it is.
pub(super) fn beyond(schema: &Value, sampler: Sampler<'_>) -> Vec<(&'static str, Value)> {
    let fewer = |bound| count(schema, bound)?.checked_sub(1);
    let more = |bound| Some(count(schema, bound)? + 1);
    let values = [
        ("below", schema.get("minimum").and_then(|least| moved(least, -1))),
        ("above", schema.get("maximum").and_then(|most| moved(most, 1))),
        ("below", fewer("minLength").map(|length| json!(text(CRAB, length)))),
        ("above", more("maxLength").map(|length| json!(text("x", length)))),
        ("below", fewer("minItems").map(|length| sampler.list(schema, length))),
        ("above", more("maxItems").map(|length| sampler.list(schema, length))),
        // Without any it is the empty map, which is tried wherever an object may stand.
        ("below", fewer("minProperties").filter(|count| *count > 0).map(|count| sampler.map(schema, count))),
    ];
    values.into_iter().filter_map(|(side, value)| Some((side, value?))).collect()
}

/// A bound on a number of things, if that many can be made, and one more.
fn count(schema: &Value, bound: &str) -> Option<u64> {
    schema.get(bound)?.as_u64().filter(|count| *count < MOST)
}

/// A whole number moved by so much, as far as there are whole numbers; or, if it is none, any number.
fn moved(bound: &Value, by: i32) -> Option<Value> {
    match bound.as_i64() {
        Some(whole) => whole.checked_add(by.into()).map(|moved| json!(moved)),
        None => Some(json!(bound.as_f64()? + f64::from(by))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::flat::Definitions;
    use crate::export::judge::Judge;
    use crate::ir::Revision;

    fn nothing() -> Revision {
        Revision { name: "rev".to_owned(), parts: Vec::new(), index: Default::default() }
    }

    /// What is at a bound fits, and what is beyond does not; there is one of each for every bound.
    #[test]
    fn a_bound_lies_between_what_is_at_it_and_what_is_beyond() {
        let (definitions, revision) = (Definitions::new(), nothing());
        let sampler = Sampler::of(&definitions, &revision).expect("nothing is endless");
        let judge = Judge::of(&definitions, &revision).expect("nothing is unknown");
        for (schema, at_bound, beyond_it) in [
            (json!({ "type": "string", "minLength": 2, "maxLength": 4 }), 2, 2),
            (json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3 }), 2, 2),
            (json!({ "type": "number", "minimum": 0.25, "maximum": 0.5 }), 2, 2),
            (json!({ "type": "integer", "minimum": -2, "maximum": i64::MAX }), 2, 1),
            (json!({ "type": "object", "additionalProperties": {}, "minProperties": 2 }), 0, 1),
            // There is nothing below, and nobody makes so long a text.
            (json!({ "type": "string", "minLength": 0, "maxLength": 4_294_967_296_u64 }), 1, 0),
        ] {
            let (fit, unfit) = (at(&schema, sampler), beyond(&schema, sampler));
            assert_eq!((fit.len(), unfit.len()), (at_bound, beyond_it), "{schema}");
            assert!(fit.iter().all(|(_, value)| judge.fits(&schema, value)), "{schema}: {fit:?}");
            assert!(unfit.iter().all(|(_, value)| !judge.fits(&schema, value)), "{schema}: {unfit:?}");
        }
    }
}
