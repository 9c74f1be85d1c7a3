//! In a pipe: no prompts, JSON lines, exit codes.

use std::{
    io::{BufRead, BufReader},
    net::{Shutdown, TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
};

use serde_json::{Value, json};

use crate::{
    stranger::{Stranger, task},
    support::{Server, User, exit, workshop},
};

fn events(lines: &[Value]) -> Vec<&str> {
    let mut events: Vec<_> = lines.iter().map(|line| line["event"].as_str().expect("an event")).collect();
    events.dedup();
    events
}

/// CLI-06: a call gives its result, whatever happened in between; text and tables for people.
#[test]
fn a_call_prints_its_result() {
    let ran = User::new().run(&["call", "count", "to=2", "pause=1", "--stdio", &workshop()]).ends(exit::DONE);
    assert_eq!(ran.stdout(), " number  square\n 1       1\n 2       4\n");
    assert!(ran.stderr().contains("completed"), "{}", ran.stderr());
}

/// CLI-06: with `--json` each line is a value: creation, states, and the end with the result.
#[test]
fn json_lines_tell_the_whole_story() {
    let user = User::new();
    let lines = user.run(&["call", "count", "to=2", "--json", "--stdio", &workshop()]).ends(exit::DONE).json();
    assert_eq!(events(&lines), ["created", "state", "end"]);
    let end = lines.last().expect("a line");
    assert_eq!(end["outcome"], "completed");
    assert_eq!(end["result"]["structuredContent"][1], json!({"number": 2, "square": 4}));
    assert_eq!(end["taskId"], lines[0]["task"]["taskId"]);
    assert_eq!(user.tickets(), 0, "a task that is over is forgotten");
}

/// TSK-07, ERR-05, case 39: a tool's own error and a failure are told apart, and the error arrives whole.
#[test]
fn the_exit_code_tells_a_tool_error_from_a_failure() {
    let user = User::new();
    let tool = user.run(&["call", "fail", "how=tool", "--stdio", &workshop()]).ends(exit::TOOL_ERROR);
    assert_eq!((tool.stdout().as_str(), tool.stderr().contains("the saw is blunt")), ("", true));
    let failed = user.run(&["call", "fail", "how=protocol", "--json", "--stdio", &workshop()]).ends(exit::FAILED);
    let error = &failed.json().pop().expect("a line")["error"];
    assert_eq!(*error, json!({"code": -32001, "message": "there is no wood", "data": {"wood": 0}}));
}

/// Case 17: without a terminal a question is no silence: the program says what is asked, and ends with a code of its own.
/// CLI-03, CLI-09: another process answers it, by the start of the id alone, and a third waits for the end.
#[test]
fn a_question_is_answered_by_another_process() {
    let (server, user) = (Server::workshop(), User::new());
    let lines = user.run(&["call", "greet", "--json", "--url", &server.url]).ends(exit::NEEDS_INPUT).json();
    let end = lines.last().expect("a line");
    assert_eq!(end["inputRequests"]["guest"]["params"]["message"], "Whom shall I greet?");
    let id = end["taskId"].as_str().expect("an id");

    assert_eq!(user.run(&["list", "--json"]).ends(exit::DONE).json()[0][0]["taskId"], id);
    let wrong = user.run(&["answer", &id[..8], "name=Ada", "language=latin", "loud=no"]).ends(exit::USAGE);
    assert!(
        wrong.stderr().contains("argument `language`: `latin` is not one of `english`, `german`"),
        "{}",
        wrong.stderr()
    );
    user.run(&["answer", &id[..8], "name=Ada", "language=german", "loud=no"]).ends(exit::DONE);
    assert_eq!(user.run(&["wait", &id[..8]]).ends(exit::DONE).stdout(), "hallo Ada\n");
    assert_eq!(user.run(&["list"]).ends(exit::DONE).stdout(), "no tasks\n");
}

/// Case 17: whoever comes later, and cannot answer either, is told so as well, and does not wait for somebody who could.
#[test]
fn a_question_that_waits_is_told_to_whoever_comes_later() {
    let (server, user) = (Server::workshop(), User::new());
    let lines = user.run(&["call", "greet", "--json", "--url", &server.url]).ends(exit::NEEDS_INPUT).json();
    let id = lines.last().expect("a line")["taskId"].as_str().expect("an id");
    for command in ["wait", "watch"] {
        let limit: &[&str] = if command == "wait" { &["--timeout", "20s"] } else { &[] };
        let end = user.run(&[&[command, id, "--json"], limit].concat()).ends(exit::NEEDS_INPUT).json().pop();
        let end = end.expect("a line");
        assert_eq!(end["inputRequests"]["guest"]["params"]["message"], "Whom shall I greet?", "{command}");
    }
}

/// Case 17, NEW-02: what a server asks before there is a task is named by its key too; a later call could answer it, and a
/// task asks the same.
#[test]
fn a_question_before_the_task_is_named() {
    let user = User::new();
    for (nails, there_is_a_task) in [("nails=3", false), ("nails=300", true)] {
        let ran = user.run(&["call", "buy", nails, "--json", "--stdio", &workshop()]).ends(exit::NEEDS_INPUT);
        let end = ran.json().pop().expect("a line");
        let asked = &end["inputRequests"]["agreement"];
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"]["message"], format!("Pay for {} nails?", &nails[6..]));
        assert_eq!(end["taskId"].is_string(), there_is_a_task, "{end}");
    }
}

/// Case 18: decline and cancel of a question reach the tool as such.
#[test]
fn a_question_is_declined_or_dismissed() {
    let (server, user) = (Server::workshop(), User::new());
    for (how, told) in [("--decline", "you would not say\n"), ("--dismiss", "you closed the form\n")] {
        let lines = user.run(&["call", "greet", "--json", "--url", &server.url]).ends(exit::NEEDS_INPUT).json();
        let id = lines.last().expect("a line")["taskId"].as_str().expect("an id").to_owned();
        user.run(&["answer", &id, how]).ends(exit::DONE);
        assert_eq!(user.run(&["wait", &id]).ends(exit::DONE).stdout(), told);
    }
}

/// CLI-03, CAN-01: a task that was left running is looked at, waited for and cancelled, also from another machine.
#[test]
fn a_detached_task_is_cancelled_from_elsewhere() {
    let (server, user, other) = (Server::workshop(), User::new(), User::new());
    let id = user.run(&["call", "sand", "--detach", "--url", &server.url]).ends(exit::DONE).stdout();
    let id = id.trim();
    let get = user.run(&["get", id, "--json"]).ends(exit::WORKING);
    assert_eq!(get.json()[0]["task"]["statusMessage"], "sanding");
    other.run(&["get", id]).ends(exit::USAGE);
    other.run(&["wait", id, "--timeout", "0.2s", "--url", &server.url]).ends(exit::WORKING);
    other.run(&["cancel", id, "--url", &server.url]).ends(exit::DONE);
    user.run(&["wait", id]).ends(exit::CANCELLED);
    assert_eq!(user.tickets(), 0);
}

/// GET-03: a task that never was is told from one that failed.
#[test]
fn what_is_gone_has_a_code_of_its_own() {
    let (server, user) = (Server::workshop(), User::new());
    for command in ["get", "watch", "wait", "cancel", "answer"] {
        user.run(&[command, "0123", "--url", &server.url]).ends(exit::EXPIRED);
    }
}

/// What cannot be sent is not sent: each problem names what is wrong and what to do.
#[test]
fn a_wrong_command_line_is_explained() {
    let user = User::new();
    for (arguments, told) in [
        (vec!["call", "count", "to=many"], "argument `to`: `many` is not a whole number"),
        (vec!["call", "count"], "argument `to` is missing"),
        (vec!["call", "cuont", "to=1"], "it has: count, greet, buy, fail, sand, draw"),
        (vec!["call", "count", "too=1"], "the tool takes no argument `too`; it takes `to`, `pause`"),
    ] {
        let ran = user.run(&[&arguments[..], &["--stdio", &workshop()]].concat()).ends(exit::USAGE);
        assert!(ran.stderr().contains(told), "{told}: {}", ran.stderr());
    }
    assert!(user.run(&["call", "count"]).ends(exit::USAGE).stderr().contains("--url URL"));
    user.run(&["call", "count", "--url", "http://127.0.0.1:1/mcp"]).ends(exit::TROUBLE);
    user.run(&["call", "count", "--stdio", "/nowhere/server"]).ends(exit::TROUBLE);
}

/// Arguments come from a file, or standard input, as well.
#[test]
fn arguments_come_from_standard_input() {
    let user = User::new();
    let mut command = user.command(&["call", "count", "--args", "-", "--stdio", &workshop()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), b"{\"to\": 1, \"pause\": 1}").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), " number  square\n 1       1\n");
}

/// Files of a result are kept only where the user says.
#[test]
fn files_of_a_result_are_kept_on_demand() {
    let user = User::new();
    let told = user.run(&["call", "draw", "--stdio", &workshop()]).ends(exit::DONE).stdout();
    assert!(told.contains("keep it with --save DIR"), "{told}");
    let folder = user.data.path().join("pictures");
    let told = user.run(&["call", "draw", "--save", folder.to_str().expect("UTF-8"), "--stdio", &workshop()]);
    assert!(told.ends(exit::DONE).stdout().contains("image-1.png"));
    assert!(std::fs::read(folder.join("image-1.png")).expect("a file").starts_with(b"\x89PNG"));
}

/// With `--json` they are kept as well, and the JSON says where; what gives no result keeps none, and says so.
#[test]
fn files_of_a_result_are_kept_with_json() {
    let (server, user) = (Server::workshop(), User::new());
    let folder = user.data.path().join("pictures");
    let save = ["--json", "--save", folder.to_str().expect("UTF-8"), "--url", &server.url];
    let end = user.run(&[&["call", "draw"], &save[..]].concat()).ends(exit::DONE).json().pop().expect("a line");
    assert_eq!(end["files"], json!([folder.join("image-1.png")]));
    let id = end["taskId"].as_str().expect("an id");
    for (command, number) in [("get", 2), ("wait", 3), ("watch", 4)] {
        let seen = user.run(&[&[command, id], &save[..]].concat()).ends(exit::DONE).json().pop().expect("a line");
        let file = folder.join(format!("image-{number}.png"));
        assert_eq!(seen["files"], json!([file]), "{command}");
        assert!(std::fs::read(file).expect("a file").starts_with(b"\x89PNG"));
    }
    for command in ["answer", "cancel"] {
        user.run(&[&[command, id], &save[..]].concat()).ends(exit::USAGE);
    }
}

/// A task is as old as it is, however often it is watched.
#[test]
fn a_task_that_is_watched_grows_no_younger() {
    let seconds = std::sync::atomic::AtomicU8::new(0);
    let server = Stranger::new(move |method, _| {
        let kind = if method == "tools/call" { "task" } else { "complete" };
        let second = seconds.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let updated = format!("2026-07-28T10:00:{:02}Z", second.min(59));
        Ok(task("id", "working", json!({"resultType": kind, "lastUpdatedAt": updated, "statusMessage": updated})))
    });
    let user = User::new();
    user.run_with(b"{}", &["call", "x", "--args", "-", "--detach", "--url", &server.url]).ends(exit::DONE);
    let created = || user.run(&["list", "--json"]).ends(exit::DONE).json()[0][0]["createdAtMs"].clone();
    let before = created();
    let mut child = user.command(&["watch", "id", "--json"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    lines.next().expect("a state");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    lines.last().expect("the end");
    assert_eq!(child.wait().expect("it ends").code(), Some(exit::WORKING));
    assert_eq!(created(), before);
}

/// What a server says on standard error is passed on, also what is no UTF-8, and the server is not stopped by it.
#[test]
fn a_server_may_say_what_is_no_text() {
    let server = format!("sh -c 'printf \"one\\377\\ntwo\\n\" >&2; exec \"$0\"' {}", workshop());
    let told = User::new().run(&["tools", "--stdio", &server]).ends(exit::DONE).stderr();
    assert!(told.contains("server: one\u{fffd}\n") && told.contains("server: two\n"), "{told}");
}

/// CAP-01: a server's tools with their arguments, and whether it offers tasks.
#[test]
fn the_tools_of_a_server_are_listed() {
    let user = User::new();
    let told = user.run(&["tools", "--stdio", &workshop()]).ends(exit::DONE).stdout();
    assert!(told.contains("It offers tasks"), "{told}");
    assert!(told.contains("count: Counts, slowly.\n  to=     How far. (a whole number)\n"), "{told}");
    let json = user.run(&["tools", "--json", "--stdio", &workshop()]).ends(exit::DONE).json();
    assert_eq!((&json[0]["tasks"], &json[0]["tools"][0]["name"]), (&json!(true), &json!("count")));
}

/// SEC-02: the token comes from the environment, and another's task is one that never was.
#[test]
fn the_token_says_who_asks() {
    let server = Server::with_tokens();
    let (alice, bob) = (User::with_token("s3cret-of-alice"), User::with_token("s3cret-of-bob"));
    let id = alice.run(&["call", "brew", "minutes=5", "--detach", "--url", &server.url]).ends(exit::DONE).stdout();
    alice.run(&["get", id.trim()]).ends(exit::WORKING);
    bob.run(&["get", id.trim(), "--url", &server.url]).ends(exit::EXPIRED);
    User::new().run(&["get", id.trim(), "--url", &server.url]).ends(exit::TROUBLE);
    let header = "authorization: Bearer s3cret-of-alice";
    User::new().run(&["get", id.trim(), "--url", &server.url, "--header", header]).ends(exit::WORKING);
    let kept =
        std::fs::read_dir(alice.data.path().join("tickets")).expect("a folder").flatten().next().expect("a file");
    assert!(!std::fs::read_to_string(kept.path()).expect("text").contains("s3cret"), "no token is kept");
}

/// Interrupted in a pipe, the program leaves the task running, says its id, and how to find it again.
#[test]
fn an_interrupted_script_leaves_the_task_running() {
    let (server, user) = (Server::workshop(), User::new());
    let mut command = user.command(&["call", "sand", "--json", "--url", &server.url]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    lines.find(|line| line.contains("sanding")).expect("the task runs");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let end: Value = serde_json::from_str(&lines.last().expect("a line")).expect("JSON");
    assert_eq!(end["outcome"], "working");
    assert_eq!(child.wait().expect("it ends").code(), Some(exit::WORKING));
    user.run(&["get", end["taskId"].as_str().expect("an id")]).ends(exit::WORKING);
}

/// A newcomer can work from the help; a shell completes what it says.
#[test]
fn help_and_completions_name_every_command() {
    let user = User::new();
    let help = user.run(&["--help"]).ends(exit::DONE).stdout();
    let bash = user.run(&["completions", "bash"]).ends(exit::DONE).stdout();
    for command in ["call", "get", "watch", "wait", "answer", "cancel", "list", "tools", "admin", "completions"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
        assert!(bash.contains(command), "{command}");
    }
    assert!(help.contains("6  the task needs input"), "{help}");
}

/// A way to a server that breaks some of its connections: those with these numbers, from 0.
fn shaky(server: &Server, broken: std::ops::Range<usize>) -> String {
    let target =
        server.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp")).expect("an address").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for (number, near) in listener.incoming().flatten().enumerate() {
            if broken.contains(&number) {
                continue;
            }
            let far = TcpStream::connect(&target).expect("the server is there");
            for (mut from, mut to) in
                [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))].map(|(a, b)| (a.expect("a"), b.expect("b")))
            {
                thread::spawn(move || {
                    // Either side may close when it likes.
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    url
}

/// Case 41: polls that fail for a while do not fail the call.
#[test]
fn a_network_may_fail_for_a_while() {
    let (server, user) = (Server::workshop(), User::new());
    // What comes before is to discover, to list the tools, to call.
    let url = shaky(&server, 4..7);
    let ran = user.run(&["call", "count", "to=3", "--url", &url]).ends(exit::DONE);
    assert!(ran.stdout().contains("9"), "{}", ran.stdout());
}
