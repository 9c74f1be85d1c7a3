//! What `#[task_tool]` and `#[task_handler]` say of each mistake, and that right use compiles without a warning.
//!
//! The messages are recorded beside the fixtures; see `tests/ui/README.md` on how to record them anew.

use trybuild::TestCases;

/// One mistake a fixture, by theme; a fixture has several fns where the mistake has several forms.
#[test]
fn mistakes_are_reported_where_they_are() {
    let cases = TestCases::new();
    cases.compile_fail("signature/*.rs");
    cases.compile_fail("parameters/*.rs");
    cases.compile_fail("arguments/*.rs");
    cases.compile_fail("rmcp/*.rs");
    cases.compile_fail("handler/*.rs");
    cases.compile_fail("types/*.rs");
}
