//! Servers that nobody should trust: what they say to the terminal, and what they are told.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{
    stranger::{EVIL, Stranger, asking, commands, task},
    support::{User, exit},
};

fn error(code: i64) -> Value {
    json!({"code": code, "message": format!("no{EVIL}"), "data": {EVIL: EVIL}})
}

/// A server whose every word is meant for the terminal.
fn evil() -> Stranger {
    Stranger::new(|method, params| match method {
        "tools/list" => Ok(json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{"name": format!("tool{EVIL}"), "description": EVIL, "inputSchema": {
                "type": "object", "properties": {EVIL: {"description": EVIL, "enum": [EVIL]}}, "required": [EVIL],
            }}],
        })),
        "tools/call" => {
            let mut created = task(&format!("id{EVIL}"), "working", json!({"statusMessage": EVIL}));
            created["resultType"] = "task".into();
            Ok(created)
        }
        "tasks/get" if params["taskId"] == "failed" => Ok(task("failed", "failed", json!({"error": error(1)}))),
        "tasks/get" if params["taskId"] == "other" => {
            let request = json!({"method": format!("other{EVIL}"), "params": {}});
            Ok(task("other", "input_required", json!({"inputRequests": {EVIL: request}})))
        }
        "tasks/get" => {
            Ok(asking("asks", &format!("key{EVIL}"), EVIL, json!({"properties": {"name": {"type": "string"}}})))
        }
        _ => Err(error(-32602)),
    })
}

/// Whatever a server says, whichever way it is printed, is no command to the terminal.
#[test]
fn no_server_commands_the_terminal() {
    let (server, user) = (evil(), User::new());
    let tool = format!("tool{EVIL}");
    for (arguments, code) in [
        (vec!["tools"], exit::DONE),
        (vec!["call", "x"], exit::USAGE),
        (vec!["call", &tool], exit::USAGE),
        (vec!["call", &tool, "name=x"], exit::USAGE),
        (vec!["call", &tool, "--args", "-", "--detach"], exit::DONE),
        (vec!["answer", "asks", "name=x"], exit::TROUBLE),
        (vec!["answer", "asks", "--key", "x"], exit::USAGE),
        (vec!["answer", "asks", "other=x"], exit::USAGE),
        (vec!["answer", "other", "name=x"], exit::TROUBLE),
        (vec!["get", "asks"], exit::NEEDS_INPUT),
        (vec!["get", "failed"], exit::FAILED),
        (vec!["cancel", "asks"], exit::TROUBLE),
    ] {
        for json in [&["--url", &server.url][..], &["--url", &server.url, "--json"]] {
            let ran = user.run_with(b"{}", &[&arguments[..], json].concat()).ends(code);
            for told in [ran.stdout(), ran.stderr()] {
                assert!(!commands(&told), "{arguments:?}: {told:?}");
            }
        }
    }
    let told = user.run(&["answer", "asks", "name=x", "--url", &server.url]).ends(exit::TROUBLE).stderr();
    assert!(told.contains("no\u{fffd}[2J\u{fffd}2J\u{fffd}"), "{told}");
    let told = user.run(&["get", "failed", "--json", "--url", &server.url]).ends(exit::FAILED).json();
    assert_eq!(told[0]["task"]["error"]["message"], error(1)["message"], "JSON is exact");
}

/// A script that has seen enough is no reason to fail, whichever of the two it closes.
#[test]
fn a_reader_that_has_gone_is_no_trouble() {
    let (server, user) = (evil(), User::new());
    let gone = || std::io::pipe().expect("a pipe").1;
    let code = |command: &mut Command| command.stdin(Stdio::null()).status().expect("it runs").code();
    let mut watch = user.command(&["watch", "failed", "--url", &server.url]);
    assert_eq!(code(watch.stderr(gone())), Some(exit::FAILED));
    assert_eq!(code(user.command(&["completions", "bash"]).stdout(gone())), Some(exit::DONE));
}

/// SEC-02: one server's token and headers are not shown to another, and `list` shows no password.
#[test]
fn only_the_server_that_is_named_is_shown_the_token() {
    let server = || {
        Stranger::new(|method, _| match method {
            "tools/call" => Ok(task("id", "working", json!({"resultType": "task"}))),
            _ => Ok(task("id", "working", json!({}))),
        })
    };
    let (near, far) = (server(), server());
    let with_user = far.url.replace("http://", "http://user:secret@");
    let user = User::new();
    for url in [&near.url, &with_user] {
        user.run_with(b"{}", &["call", "x", "--args", "-", "--detach", "--url", url]).ends(exit::DONE);
    }
    let told = |server: &Stranger| server.heads().iter().any(|head| head.contains("t0ken") || head.contains("x-key"));
    let list = |more: &[&str]| {
        let mut command = user.command(&[&["list", "--refresh", "--header", "X-Key: 1"], more].concat());
        let ran = command.env("MCP_TASKS_TOKEN", "t0ken").output().expect("it runs");
        [ran.stdout, ran.stderr].map(|told| String::from_utf8(told).expect("UTF-8"))
    };
    let [rows, note] = list(&[]);
    assert_eq!(rows.matches("working").count(), 2, "{rows}");
    assert!(note.contains("--url") && !rows.contains("secret"), "{note}{rows}");
    assert!(!told(&near) && !told(&far));
    let [rows, note] = list(&["--url", &near.url]);
    assert_eq!((rows.matches("working").count(), note.as_str()), (1, ""), "{rows}");
    assert!(told(&near) && !told(&far));
    assert!(!list(&["--json"])[0].contains("secret"));
}

/// A server that is not told who asks may say of any task that it never was: that forgets none.
#[test]
fn a_task_is_not_forgotten_because_nobody_asked() {
    let server = Stranger::new(|method, _| match method {
        "tools/call" => Ok(task("id", "working", json!({"resultType": "task"}))),
        _ => Err(json!({"code": -32602, "message": "Task not found"})),
    });
    let user = User::new();
    user.run_with(b"{}", &["call", "x", "--args", "-", "--detach", "--url", &server.url]).ends(exit::DONE);
    assert!(user.run(&["list", "--refresh"]).ends(exit::DONE).stdout().contains("unknown"));
    assert_eq!(user.run(&["list", "--refresh", "--url", &server.url]).ends(exit::DONE).stdout(), "no tasks\n");
}
