//! Whether a server that works on and on takes more and more memory.

use crate::client::{Client, Url};
use mcp_tasks_benches::Goals;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

const TASKS_A_SECOND: u64 = 100;
const POLLS_A_SECOND: u64 = 1_000;
/// How many of the newest tasks are polled: they are all still there.
const POLLED: usize = 1_000;
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Half an hour's tasks are gone by their time to live in between: what is held is the same from the first minute on.
pub fn run(minutes: usize, database: Option<&str>) -> ExitCode {
    let mut server = Server::start(database);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let kilobytes = runtime.block_on(async {
        let load = tokio::spawn(load(server.url.clone()));
        let mut kilobytes = Vec::new();
        for look in 1..=minutes * 2 {
            sleep(LOOK_EVERY).await;
            assert!(!load.is_finished(), "the server answers");
            kilobytes.push(server.kilobytes());
            println!("{:>5.1} minutes: {} KiB", look as f64 / 2.0, kilobytes[kilobytes.len() - 1]);
        }
        kilobytes
    });
    server.child.kill().expect("it runs");
    server.child.wait().expect("it runs");
    let after_a_minute = kilobytes[2.min(kilobytes.len() - 1)] as f64;
    let mut goals = Goals::default();
    goals.at_most("soak_memory_last_vs_second_minute", kilobytes[kilobytes.len() - 1] as f64 / after_a_minute, 1.1);
    goals.exit_code(true)
}

/// A serving process of its own, so that its memory is not the client's.
struct Server {
    child: Child,
    url: Url,
}

impl Server {
    fn start(database: Option<&str>) -> Self {
        let program = std::env::current_exe().expect("this program is a file");
        let mut command = Command::new(program);
        command.arg("serve").stdout(Stdio::piped());
        if let Some(file) = database {
            command.args(["--database", file]);
        }
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it is");
        Self { child, url: Url::parse(line.trim()) }
    }

    /// What the process has in memory now.
    fn kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has some");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}

async fn load(url: Url) {
    let mut client = Client::connect(&url).await;
    let mut newest = VecDeque::with_capacity(POLLED);
    let mut turns = interval(Duration::from_millis(10));
    turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let start = Instant::now();
    for turn in 0_u64.. {
        turns.tick().await;
        if newest.len() == POLLED {
            newest.pop_front();
        }
        newest.push_back(client.create().await);
        for poll in 0..POLLS_A_SECOND / TASKS_A_SECOND {
            let id = &newest[(turn * 7 + poll * 13) as usize % newest.len()];
            client.get(id).await;
        }
        if turn % 6_000 == 5_999 {
            println!("      {:.0} tasks a second", turn as f64 / start.elapsed().as_secs_f64());
        }
    }
}
