//! Reads and creates tasks in the engine, beside rmcp's `TaskManager` and tower-mcp's store.
//!
//! `engine [--large] [--strict]`: large holds a million tasks, and 100,000 in the others (filling those takes a quarter of
//! an hour, for each of their calls looks at every task); strict fails if a goal is short.

mod others;
mod ours;

use bytes::Bytes;
use cpu_time::ProcessTime;
use mcp_tasks::protocol::{self, Caller};
use mcp_tasks::task_id::TaskId;
use mcp_tasks_benches::{Contender, Goals, Race, Size};
use others::{Rmcp, Tower};
use ours::{Ours, ready};
use rmcp::model::{CallToolResult, GetTaskResult};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tower_mcp::async_task::TaskStore;

/// How many tasks a poller asks for again and again.
const HOT: usize = 16;

fn main() -> ExitCode {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let large = given("--large");
    let size = Size { rounds: if large { 400 } else { 100 }, slice: Duration::from_millis(1) };
    let mut goals = Goals::default();
    {
        let mut engines = vec![("of 1k", Ours::with_live(1_000)), ("of 100k", Ours::with_live(100_000))];
        if large {
            engines.push(("of 1M", Ours::with_live(1_000_000)));
        }
        flat_reads(size, &engines, &mut goals);
        creations(Size { rounds: size.rounds / 4, ..size }, &mut engines, &mut goals);
    }
    large_result(size, &mut goals);
    reads_beside_others(Size { rounds: size.rounds / 4, ..size }, if large { 100_000 } else { 2_000 }, &mut goals);
    goals.exit_code(given("--strict"))
}

/// Engines by what they hold, the smallest first.
type Engines = [(&'static str, Ours)];

/// A read costs the same however many tasks there are, for those that a poller asks for again and again. One of a million
/// that nobody has read for long is not in the cache of the processor, and costs what the memory costs: beside it stands
/// a hash map of as many, which holds nothing else.
fn flat_reads(size: Size, engines: &Engines, goals: &mut Goals) {
    let (few, most) = (engines[0].0, engines[engines.len() - 1].0);
    let contenders = engines.iter().map(|(name, ours)| Contender::new(name, reads(ours, HOT)));
    let race = Race::run("get, 16 tasks over and over", size, contenders.collect());
    goals.at_most("get_flat", race.ratio(most, few), 3.0);

    let map = engines[engines.len() - 1].1.ids.iter().map(|id| (*id, Arc::new([1_u64; 24]))).collect();
    let mut contenders: Vec<_> =
        engines.iter().map(|(name, ours)| Contender::new(name, reads(ours, usize::MAX))).collect();
    contenders.push(Contender::new("HashMap of as many", map_reads(&map)));
    Race::run("get, any task", size, contenders);
}

/// Reads all entries in turn, each as far as a task is read: it is held while its last member is looked at.
fn map_reads(map: &HashMap<TaskId, Arc<[u64; 24]>>) -> impl FnMut() -> u64 {
    let mut ids: Vec<_> = map.keys().copied().collect();
    ids.sort_unstable();
    let mut ids = ids.into_iter().cycle();
    move || {
        let value = map.get(&black_box(ids.next().expect("it has no end"))).cloned().expect("it is there");
        black_box(value)[23]
    }
}

/// Reads so many of the tasks in turn. In the order of their ids, which has nothing to do with that of their creation.
fn reads(ours: &Ours, count: usize) -> impl FnMut() -> u64 {
    let mut ids = ours.ids.clone();
    ids.sort_unstable();
    ids.truncate(count);
    let mut ids = ids.into_iter().cycle();
    move || ours.get(black_box(ids.next().expect("it has no end"))).rev.0
}

/// Creating costs the same as well. Of rmcp and tower-mcp each round takes new ones, for theirs grows with each task.
fn creations(size: Size, engines: &mut Engines, goals: &mut Goals) {
    let (few, most) = (engines[0].0, engines[engines.len() - 1].0);
    let mut contenders: Vec<_> = engines
        .iter_mut()
        .map(|(name, ours)| {
            let small = ours.ids.len() <= 1_000;
            Contender::timed(name, move || {
                if small {
                    *ours = Ours::with_live(1_000);
                }
                timed(|count| ours.create(count))
            })
        })
        .collect();
    contenders.push(Contender::timed("rmcp of 1k", || {
        let mut rmcp = Rmcp::with_live(1_000);
        timed(|count| rmcp.create(count))
    }));
    contenders.push(Contender::timed("tower-mcp of 1k", || {
        let mut tower = Tower::with_live(1_000);
        timed(|count| tower.create(count))
    }));
    let race = Race::run("create, and let the tool start (tower-mcp: only store)", size, contenders);
    goals.at_most("create_flat", race.ratio(most, few), 3.0);
    goals.at_least("create_vs_rmcp_at_1k", race.ratio("rmcp of 1k", few), 10.0);
}

/// The nanoseconds of each of some creations, and what came out.
fn timed(create: impl FnOnce(usize) -> u64) -> (f64, u64) {
    const COUNT: usize = 64;
    let start = ProcessTime::now();
    let outcome = create(COUNT);
    (start.elapsed().as_nanos() as f64 / COUNT as f64, outcome)
}

/// With `held` tasks each. Theirs grows in proportion, so that fewer tasks make a lower bound of the same meaning.
fn reads_beside_others(size: Size, held: usize, goals: &mut Goals) {
    let (ours, rmcp, tower) = (Ours::with_live(held), Rmcp::with_live(held), Tower::with_live(held));
    for (which, count) in [("any task", usize::MAX), ("16 tasks over and over", HOT)] {
        let mut rmcp_ids = rmcp.ids.iter().take(count).cycle();
        let mut tower_ids = tower.ids.iter().take(count).cycle();
        let contenders = vec![
            Contender::new("ours", reads(&ours, count)),
            Contender::new("rmcp", || {
                let id = black_box(rmcp_ids.next().expect("it has no end"));
                rmcp.manager.get_task(id).expect("the task is there").task.task_id.len() as u64
            }),
            Contender::new("tower-mcp", || {
                let id = black_box(tower_ids.next().expect("it has no end"));
                let task = ready(tower.store.get_task_result(id)).expect("it works").expect("the task is there");
                task.0.task_id.len() as u64
            }),
        ];
        let race = Race::run(&format!("get, {which}, {held} in each"), size, contenders);
        if count == HOT {
            let share = held as f64 / 100_000.0;
            goals.at_least(&format!("get_vs_rmcp_at_{held}"), race.ratio("rmcp", "ours"), 5_000.0 * share);
            goals.at_least(&format!("get_vs_tower_at_{held}"), race.ratio("tower-mcp", "ours"), 2_000.0 * share);
        }
    }
}

/// A result of 100 KiB costs the engine nothing when it is read, and its reader a copy into the answer.
fn large_result(size: Size, goals: &mut Goals) {
    let (ours, rmcp) = (Ours::with_live(1), Rmcp::with_live(1));
    let content = structured(100 << 10);
    let result = CallToolResult::structured(content);
    let text = Bytes::from(serde_json::to_vec(&result).expect("it has a JSON form"));
    let (small, large) = (ours.ids[0], ours.complete(&text));
    let theirs = rmcp.complete(result);
    let contenders = vec![
        Contender::new("get, small", || ours.get(black_box(small)).rev.0),
        Contender::new("get, large", || ours.get(black_box(large)).rev.0),
        Contender::new("copy of the text", || black_box(black_box(&text).to_vec()).len() as u64),
        Contender::new("answer, small", || answer(&ours, small)),
        Contender::new("answer, large", || answer(&ours, large)),
        Contender::new("rmcp's get, large", || {
            let task = rmcp.manager.get_task(black_box(&theirs)).expect("the task is there");
            black_box(&task).task.task_id.len() as u64
        }),
        Contender::new("rmcp's answer, large", || {
            let task = rmcp.manager.get_task(black_box(&theirs)).expect("the task is there");
            let answer = serde_json::to_vec(&GetTaskResult::new(task)).expect("it has a JSON form");
            black_box(answer).len() as u64
        }),
    ];
    let race = Race::run(&format!("a result of {} bytes", text.len()), size, contenders);
    goals.at_most("get_large_vs_small", race.ratio("get, large", "get, small"), 1.5);
    goals.at_least("answer_large_vs_rmcp", race.ratio("rmcp's answer, large", "answer, large"), 20.0);
}

/// From the parameters of a `tasks/get` to the text of the whole response: what lies between a transport and the engine.
fn answer(ours: &Ours, id: TaskId) -> u64 {
    let caller = Caller { version: Some("2026-07-28"), declares_tasks: true, principal: &ours.principal };
    let params = format!(r#"{{"taskId":"{id}"}}"#);
    let answer = ready(protocol::answer(&ours.engine, &caller, "tasks/get", black_box(params.as_bytes())));
    assert!(answer.is_ok(), "the task is there");
    black_box(protocol::response("1", &answer)).len() as u64
}

/// A table as tools return it, of about so many bytes of JSON text.
fn structured(bytes: usize) -> Value {
    let row = |n: usize| json!({ "id": n, "name": format!("row {n}"), "score": n as f64 / 8.0, "tags": ["a", "b"] });
    json!({ "rows": (0..bytes / 128).map(row).collect::<Vec<_>>() })
}
