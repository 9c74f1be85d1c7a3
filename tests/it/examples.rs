//! Every program in `examples/` runs and says what it should.

#[path = "../../examples/conversation.rs"]
#[expect(dead_code, reason = "`main` is for the program")]
mod conversation;

#[test]
fn a_conversation_is_told_message_by_message() {
    let told = conversation::transcript().expect("every message decodes");
    assert_eq!(told, include_str!("examples/conversation.txt"), "run: cargo run --example conversation");
}

/// An example that no test runs would rot. The quickstart is run by `tests/tools`, the others are started as the programs
/// they are.
#[test]
fn every_example_has_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let found = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        found.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let expected = [
        "approval.rs",
        "client.rs",
        "cluster.rs",
        "conformance",
        "conversation.rs",
        "existing_rmcp_server.rs",
        "http.rs",
        "metrics.rs",
        "peer_client.rs",
        "quickstart.rs",
        "restart.rs",
        "workshop.rs",
    ];
    assert_eq!(names, expected);
}
