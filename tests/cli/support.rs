//! Runs the program, and the servers it talks to. No test here touches the user's folder for data.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::LazyLock,
};

use serde_json::Value;
use tempfile::TempDir;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-tasks");

/// Exit codes, as `--help` lists them.
pub mod exit {
    pub const DONE: i32 = 0;
    pub const TROUBLE: i32 = 1;
    pub const USAGE: i32 = 2;
    pub const TOOL_ERROR: i32 = 3;
    pub const FAILED: i32 = 4;
    pub const CANCELLED: i32 = 5;
    pub const NEEDS_INPUT: i32 = 6;
    pub const EXPIRED: i32 = 7;
    pub const WORKING: i32 = 8;
}

/// An example, built once.
fn example(name: &str) -> PathBuf {
    static BUILT: LazyLock<()> = LazyLock::new(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--example", "workshop", "--example", "http"]);
        let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
        assert!(built.success(), "the examples do not build");
    });
    LazyLock::force(&BUILT);
    Path::new(PROGRAM).parent().expect("a folder").join("examples").join(name)
}

/// The command that starts the workshop on stdio.
pub fn workshop() -> String {
    shell_words_quote(example("workshop").to_str().expect("a path of UTF-8"))
}

fn shell_words_quote(path: &str) -> String {
    format!("'{path}'")
}

/// A server over HTTP; it ends with this.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    pub fn workshop() -> Self {
        Self::start("workshop", &["--port", "0"])
    }

    /// The example with a principal for each token.
    pub fn with_tokens() -> Self {
        Self::start("http", &["0"])
    }

    fn start(name: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(example(name));
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut url).expect("a line");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A user, with a folder for data of their own.
pub struct User {
    pub data: TempDir,
    token: Option<&'static str>,
}

impl User {
    pub fn new() -> Self {
        Self { data: tempfile::tempdir().expect("a folder"), token: None }
    }

    pub fn with_token(token: &'static str) -> Self {
        Self { token: Some(token), ..Self::new() }
    }

    /// The program, with these arguments, in an environment that says nothing else.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).env("MCP_TASKS_DATA_DIR", self.data.path()).env("TERM", "xterm");
        for name in ["MCP_TASKS_TOKEN", "MCP_TASKS_STORE", "MCP_TASKS_KEY_FILE", "MCP_TASKS_SCHEMA"] {
            command.env_remove(name);
        }
        if let Some(token) = self.token {
            command.env("MCP_TASKS_TOKEN", token);
        }
        command
    }

    /// Runs the program in a pipe, to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(b"", arguments)
    }

    /// The same, with this on standard input.
    pub fn run_with(&self, input: &[u8], arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        // It need not read.
        let _ = child.stdin.take().expect("piped").write_all(input);
        Ran { arguments: arguments.join(" "), output: child.wait_with_output().expect("it runs") }
    }

    /// How many tasks are remembered.
    pub fn tickets(&self) -> usize {
        std::fs::read_dir(self.data.path().join("tickets")).map_or(0, Iterator::count)
    }
}

/// What the program did.
pub struct Ran {
    arguments: String,
    output: Output,
}

impl Ran {
    pub fn stdout(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).expect("UTF-8")
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).expect("UTF-8")
    }

    /// Checks the exit code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        let (told, beside) = (self.stdout(), self.stderr());
        assert_eq!(self.output.status.code(), Some(code), "{}\n{told}\n{beside}", self.arguments);
        self
    }

    /// The lines, each of which is JSON.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let told = self.stdout();
        told.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }
}
