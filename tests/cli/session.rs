//! The session that is shown to newcomers: each command prints what stands there.

use std::{collections::BTreeMap, env, path::Path, process::Command};

use crate::support::{PROGRAM, Server, User};

const SESSION: &str = include_str!("session.txt");
const URL: &str = "http://127.0.0.1:8000/mcp";

/// A command, and what it prints.
fn steps() -> Vec<(&'static str, &'static str)> {
    let steps = SESSION.split("$ mcp-tasks ").filter(|step| !step.is_empty());
    steps.map(|step| step.split_once('\n').expect("a command and a line")).collect()
}

/// What is an id in `text`: 32 hexadecimal digits.
fn ids(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_hexdigit());
    words.filter(|word| word.len() == 32).collect()
}

/// CLI-06: the session is true, but for the ids and the port.
#[test]
fn the_session_is_true() {
    let (server, user) = (Server::workshop(), User::new());
    let folder = Path::new(PROGRAM).parent().expect("a folder").to_str().expect("UTF-8");
    let path = format!("{folder}:{}", env::var("PATH").unwrap_or_default());
    // From an id that is shown to the one that it was.
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for (command, shown) in steps() {
        let mut line = format!("mcp-tasks {command}").replace(URL, &server.url);
        for (id, was) in &known {
            line = line.replace(&id[..4], &was[..]);
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {line}; }} 2>&1")]).env("PATH", &path);
        shell.env("MCP_TASKS_DATA_DIR", user.data.path());
        let printed = String::from_utf8(shell.output().expect("it runs").stdout).expect("UTF-8");
        for (id, was) in ids(shown).into_iter().zip(ids(&printed)) {
            known.entry(id).or_insert_with(|| was.to_owned());
        }
        let mut printed = printed.clone();
        for (id, was) in &known {
            printed = printed.replace(was, id);
        }
        assert_eq!(printed, shown, "{line}");
    }
}

/// README.md shows this session, wherever it shows one.
#[test]
fn the_readme_shows_this_session() {
    let readme = include_str!("../../README.md");
    assert!(!readme.contains("$ mcp-tasks ") || readme.contains(SESSION), "README.md shows another session");
}
