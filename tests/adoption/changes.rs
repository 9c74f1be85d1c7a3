//! How many lines of a text have changed.

/// The number of lines that changed from `before` to `after`. A line that became another counts once, and so does a line that
/// was added or removed.
pub fn lines(before: &str, after: &str) -> usize {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    // costs[j]: what it takes from the lines of `before` so far to the first j of `after`.
    let mut costs: Vec<usize> = (0..=after.len()).collect();
    for (i, old) in before.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], i + 1);
        for (j, new) in after.iter().enumerate() {
            let replaced = diagonal + usize::from(old != new);
            diagonal = costs[j + 1];
            costs[j + 1] = replaced.min(costs[j] + 1).min(diagonal + 1);
        }
    }
    costs[after.len()]
}

#[test]
fn changes_are_counted() {
    assert_eq!(lines("a\nb\nc", "a\nb\nc"), 0);
    assert_eq!(lines("a\nb\nc", "a\nx\nc"), 1);
    assert_eq!(lines("a\nc", "a\nb\nc\nd"), 2);
    assert_eq!(lines("a\nb\nc", "c"), 2);
    assert_eq!(lines("a\nb", "x\ny\nz"), 3);
    assert_eq!(lines("", "a"), 1);
}
