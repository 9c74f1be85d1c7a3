//! JSON for people: what fits on a line stands on one.

use serde_json::Value;

/// The longest line that is not broken further, where it can be.
const WIDTH: usize = 88;

/// A value over as many lines as it needs.
pub(super) fn laid_out(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, 0, &mut out);
    out
}

/// Writes a value that begins `before` characters into a line of `indent`.
fn write(value: &Value, indent: usize, before: usize, out: &mut String) {
    let line = inline(value);
    if indent + before + line.chars().count() <= WIDTH && indent > 0 {
        return out.push_str(&line);
    }
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members = members.iter().map(|(name, member)| (format!("{}: ", Value::from(name.as_str())), member));
            block(('{', '}'), members, indent, out);
        }
        Value::Array(items) if !items.is_empty() => {
            block(('[', ']'), items.iter().map(|item| (String::new(), item)), indent, out);
        }
        _ => out.push_str(&line),
    }
}

fn block<'a>(
    (open, close): (char, char),
    items: impl Iterator<Item = (String, &'a Value)>,
    indent: usize,
    out: &mut String,
) {
    let inner = indent + 2;
    out.push(open);
    for (index, (name, item)) in items.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&format!("{:inner$}{name}", ""));
        write(item, inner, name.chars().count(), out);
    }
    out.push_str(&format!("\n{:indent$}{close}", ""));
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members = members.iter().map(|(name, it)| format!("{}: {}", Value::from(name.as_str()), inline(it)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::laid_out;
    use serde_json::json;

    #[test]
    fn what_fits_on_a_line_stands_on_one() {
        let value = json!({ "short": { "a": [1, "two"], "b": {} }, "long": ["x".repeat(50), "y".repeat(50)] });
        let (x, y) = ("x".repeat(50), "y".repeat(50));
        let text = format!(
            "{{\n  \"short\": {{ \"a\": [1, \"two\"], \"b\": {{}} }},\n  \"long\": [\n    \"{x}\",\n    \"{y}\"\n  ]\n}}"
        );
        assert_eq!(laid_out(&value), text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }
}
