//! What a running task holds, and what a poll allocates.
//!
//! `memory [--large] [--strict]`: large holds more tasks; strict fails if a goal is short.
//!
//! Each make of engine is filled in a process of its own (`memory --hold MAKE COUNT`), so that none is given memory that
//! another one has left.

#[path = "../engine/others.rs"]
#[expect(dead_code, reason = "shared with the program engine")]
mod others;
#[path = "../engine/ours.rs"]
mod ours;

use bytes::Bytes;
use mcp_tasks::protocol::{self, Caller};
use mcp_tasks::task_id::TaskId;
use mcp_tasks_benches::Goals;
use others::{Rmcp, Tower};
use ours::{Ours, ready};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [mode, make, count] = &arguments[..]
        && mode == "--hold"
    {
        println!("{}", hold(make, count.parse().expect("a count")));
        return ExitCode::SUCCESS;
    }
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let large = given("--large");
    let mut goals = Goals::default();
    held(large, &mut goals);
    allocated(&mut goals);
    goals.exit_code(given("--strict"))
}

/// Bytes of each running task, by what the process grows and by what is asked of the allocator. The tool's future, which
/// holds nothing but its context, counts in full.
fn held(large: bool, goals: &mut Goals) {
    println!("bytes held by each running task");
    // The second is just after the tables have doubled. Filling the others takes time by the square of the count.
    let (ours, others) = if large { (1_000_000, 20_000) } else { (118_000, 4_000) };
    for (make, count) in [("ours", 100_000), ("ours", ours), ("rmcp", others), ("tower-mcp", others)] {
        let this = env::current_exe().expect("this program");
        let output = Command::new(this).args(["--hold", make, &count.to_string()]).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("it writes text");
        let (process, heap) = text.trim().split_once(' ').expect("it writes two numbers");
        println!("  {make:<10} of {count:>8}: process {process:>6}, allocated {heap:>6}");
        if make == "ours" {
            goals.at_most(&format!("bytes_per_task_at_{count}"), process.parse().expect("a number"), 1024.0);
        }
    }
}

/// Fills an engine, and says what that took for each task: growth of the process, and bytes allocated.
fn hold(make: &str, count: usize) -> String {
    let (resident, region) = (resident(), Region::new(HEAP));
    let say = || {
        let heap = region.change();
        let grown = self::resident() - resident;
        format!("{} {}", grown / count, (heap.bytes_allocated - heap.bytes_deallocated) / count)
    };
    match make {
        "ours" => {
            let mut ours = Ours::with_live(count);
            ours.ids = Vec::new();
            say()
        }
        "rmcp" => {
            let mut rmcp = Rmcp::with_live(count);
            rmcp.ids = Vec::new();
            say()
        }
        _ => {
            let mut tower = Tower::with_live(count);
            tower.ids = Vec::new();
            say()
        }
    }
}

/// Bytes of memory that the process has, as Linux says.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

/// A poll of a large result allocates no more in the engine than that of a small one, and one copy in the answer.
fn allocated(goals: &mut Goals) {
    let ours = Ours::with_live(1);
    let text = Bytes::from(format!(r#"{{"content":[],"structuredContent":{{"text":"{}"}}}}"#, "x".repeat(100 << 10)));
    let (small, large) = (ours.ids[0], ours.complete(&text));
    println!("bytes allocated by a poll; the result has {}", text.len());
    let mut get = [0; 2];
    for (index, (name, id)) in [("small", small), ("large", large)].into_iter().enumerate() {
        get[index] = bytes(|| drop(black_box(ours.get(black_box(id)))));
        let answer = bytes(|| drop(black_box(answer(&ours, black_box(id)))));
        println!("  {name}: get {}, whole answer {answer}", get[index]);
        if id == large {
            goals.at_most("answer_copies_of_result", answer as f64 / text.len() as f64, 1.1);
        }
    }
    goals.at_most("get_bytes_large_vs_small", get[1] as f64 / get[0] as f64, 1.0);
}

fn bytes(poll: impl Fn()) -> usize {
    poll();
    let region = Region::new(HEAP);
    poll();
    region.change().bytes_allocated
}

/// From the parameters of a `tasks/get` to the text of the whole response: what lies between a transport and the engine.
fn answer(ours: &Ours, id: TaskId) -> Vec<u8> {
    let caller = Caller { version: Some("2026-07-28"), declares_tasks: true, principal: &ours.principal };
    let params = format!(r#"{{"taskId":"{id}"}}"#);
    protocol::response("1", &ready(protocol::answer(&ours.engine, &caller, "tasks/get", params.as_bytes())))
}
