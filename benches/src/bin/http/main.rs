//! Polls tasks over HTTP on loopback, on 16 connections that stay open: our layer, a bare axum handler that sends as much,
//! rmcp's own server and tower-mcp's.
//!
//! `http [--large] [--strict]`: large gives rmcp's and tower-mcp's server 100,000 tasks as well (filling them takes a
//! quarter of an hour, for each of their calls looks at every task); strict fails if a goal is short.

mod cpu;
mod load;
mod servers;

use cpu::Threads;
use load::Load;
use mcp_tasks_benches::{Contender, Goals, Race, Size};
use servers::Server;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Requests of a turn. Those that look at every task get fewer.
const FAST: usize = 400;
const SLOW: usize = 32;

fn main() -> ExitCode {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let large = given("--large");
    let others = if large { 100_000 } else { 2_000 };
    let threads = Threads::default();
    let runtime = runtime(&threads);
    let mut goals = Goals::default();

    let (one, many) = (runtime.block_on(servers::ours(1)), runtime.block_on(servers::ours(100_000)));
    let mut ours = Polled::new("ours, 1 task", FAST, &one, &threads);
    let mut ours_many = Polled::new("ours, 100k", FAST, &many, &threads);
    let bare = runtime.block_on(servers::bare(ours.load.sample(), one.ids.clone()));
    let mut polled = vec![Polled::new("bare axum", FAST, &bare, &threads)];
    ours_many.load.sample();
    polled.extend([ours, ours_many]);
    let rounds = if large { 500 } else { 150 };
    let fast = race("tasks/get over HTTP", rounds, &mut polled);
    goals.at_least("http_vs_bare_axum", fast.ratio("bare axum", "ours, 1 task"), 0.6);
    goals.at_least("http_100k_vs_1", fast.ratio("ours, 1 task", "ours, 100k"), 0.9);
    // On two processors the client takes its part of each. What the server alone takes shows more of a difference.
    goals.at_least("http_vs_bare_axum_cpu", polled[0].cpu / polled[1].cpu, 0.6);
    goals.at_least("http_100k_vs_1_cpu", polled[1].cpu / polled[2].cpu, 0.9);

    let slow = [
        ("rmcp, 1 task", FAST, runtime.block_on(servers::rmcp(1))),
        ("tower-mcp, 1 task", FAST, runtime.block_on(servers::tower(1))),
        ("rmcp, many", SLOW, runtime.block_on(servers::rmcp(others))),
        ("tower-mcp, many", SLOW, runtime.block_on(servers::tower(others))),
    ];
    polled.truncate(2);
    for (name, count, server) in &slow {
        let mut one = Polled::new(name, *count, server, &threads);
        one.load.sample();
        polled.push(one);
    }
    race(&format!("tasks/get over HTTP, beside others (many: {others})"), rounds / 5, &mut polled);
    goals.exit_code(given("--strict"))
}

/// The runtime of all servers: the processors are theirs and the client's.
fn runtime(threads: &Threads) -> Runtime {
    let threads = threads.clone();
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().on_thread_start(move || threads.enter()).build().expect("a runtime")
}

/// A server that is polled.
struct Polled {
    name: &'static str,
    /// Requests of a turn.
    count: usize,
    load: Load,
    threads: Threads,
    /// Nanoseconds of the server for a request, at best.
    cpu: f64,
}

impl Polled {
    fn new(name: &'static str, count: usize, server: &Server, threads: &Threads) -> Self {
        let load = Load::new(server.address, &server.ids);
        Self { name, count, load, threads: threads.clone(), cpu: f64::INFINITY }
    }

    /// Nanoseconds of a request, and bytes of an answer.
    fn turn(&mut self) -> (f64, u64) {
        let before = self.threads.nanoseconds();
        let (taken, bytes) = self.load.ask(self.count);
        let cpu = self.threads.nanoseconds() - before;
        self.cpu = self.cpu.min(cpu as f64 / self.count as f64);
        (taken.as_nanos() as f64 / self.count as f64, bytes / self.count as u64)
    }
}

/// The first is the measure of all.
fn race(title: &str, rounds: usize, polled: &mut [Polled]) -> Race {
    let contenders = polled.iter_mut().map(|one| Contender::timed(one.name, || one.turn())).collect();
    let race = Race::run(title, Size { rounds, slice: Duration::ZERO }, contenders);
    let first = &polled[0];
    println!("requests a second, and processor time of the server for one");
    for Polled { name, cpu, .. } in polled.iter() {
        let ratio = first.cpu / cpu;
        println!("  {name:<24} {:>10.0}  {cpu:>10.0} ns  bare axum's share {ratio:.2}", 1e9 / race.median(name));
    }
    race
}
