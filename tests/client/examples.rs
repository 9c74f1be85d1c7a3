//! The example of a client, run as anybody would run it. `peer_client` is run by `tests/peers`.

use std::process::Command;

/// The task is shown, its question answered, its result printed.
#[test]
fn the_example_answers_and_prints() {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--example", "client"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("cargo runs it");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("asked: Who is there?"), "{text}");
    assert!(text.ends_with("result: Good evening, Ada.\n"), "{text}");
}
