//! The example `cluster`, on the cluster of the tests.

use std::collections::BTreeSet;

use crate::{contents::dump, support::Schema};

#[path = "../../examples/cluster.rs"]
#[expect(dead_code, reason = "`main` is for the program")]
mod example;

/// NEW-01, UPD-06: any node serves any task. Case 29: what is left in the database holds no token and no header.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_node_serves_any_task() {
    let Some(schema) = Schema::new() else { return };
    let mut said = Vec::new();
    let url = format!("{}?sslmode=disable", schema.url);
    example::converse(&url, &schema.name, |line| said.push(line)).await.expect("it is told");
    let nodes: BTreeSet<&str> =
        said.iter().filter_map(|line| line.split_once(": ")?.0.split_once("node ")).map(|(_, node)| node).collect();
    assert_eq!(nodes, BTreeSet::from(["1", "2"]), "{said:#?}");
    assert_eq!(said.last().map(String::as_str), Some("\"node 1 has booked a trip to Trieste\""), "{said:#?}");
    let left = dump(&schema).await;
    assert!(left.contains("alice") && left.contains("Trieste"), "the dump shows what there is: {left}");
    for secret in ["s3cret", "Bearer", "authorization"] {
        assert!(!left.contains(secret), "{secret}");
    }
}
