//! Runs tasks to their end, one after the other on each connection.

use crate::client::{Client, Url};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// Between two polls of one task: what the tools do takes no time, so that what is measured is what is around them.
const PAUSE: Duration = Duration::from_millis(2);

/// Runs so many tasks, and prints how fast that was: tasks a second, and milliseconds from the call to the result.
pub fn run(url: &str, tasks: usize, clients: usize) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let url = Url::parse(url);
    // A server is slower at first.
    runtime.block_on(all(&url, tasks / 10, clients));
    let start = Instant::now();
    let mut taken = runtime.block_on(all(&url, tasks, clients));
    let seconds = start.elapsed().as_secs_f64();
    taken.sort();
    let at = |share: f64| taken[((taken.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let figures: Value = json!({
        "tasks": tasks,
        "clients": clients,
        "tasks_a_second": tasks as f64 / seconds,
        "p50_ms": at(0.5),
        "p99_ms": at(0.99),
    });
    println!("{figures}");
}

/// How long each of the tasks took.
async fn all(url: &Url, tasks: usize, clients: usize) -> Vec<Duration> {
    let begun = Arc::new(AtomicUsize::new(0));
    let each = (0..clients).map(|_| tokio::spawn(one_by_one(url.clone(), tasks, Arc::clone(&begun))));
    let each: Vec<_> = each.collect();
    let mut taken = Vec::with_capacity(tasks);
    for client in each {
        taken.extend(client.await.expect("the server answers"));
    }
    taken
}

async fn one_by_one(url: Url, tasks: usize, begun: Arc<AtomicUsize>) -> Vec<Duration> {
    let mut client = Client::connect(&url).await;
    let mut taken = Vec::new();
    while begun.fetch_add(1, Ordering::Relaxed) < tasks {
        let start = Instant::now();
        let id = client.create().await;
        let task = loop {
            let task = client.get(&id).await;
            if task["status"] != "working" {
                break task;
            }
            tokio::time::sleep(PAUSE).await;
        };
        assert_eq!(task["result"]["content"][0]["text"], "42", "{task}");
        taken.push(start.elapsed());
    }
    taken
}
