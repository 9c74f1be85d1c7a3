//! The programs, built outside the workspace, and a client of each.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{LazyLock, mpsc},
    thread,
};

use serde_json::Value;

use crate::PATIENCE;

/// What a program is spoken to over.
#[derive(Debug, Clone, Copy)]
pub enum Wire {
    Stdio,
    Http,
}

const SOURCES: [(&str, &str); 4] = [
    ("before_stdio", include_str!("before_stdio.rs")),
    ("after_stdio", include_str!("after_stdio.rs")),
    ("before_http", include_str!("before_http.rs")),
    ("after_http", include_str!("after_http.rs")),
];

/// `@` is the root of this repository.
const MANIFEST: &str = r#"
[package]
name = "adoption"
version = "0.0.0"
edition = "2024"

[dependencies]
axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
rmcp = { version = "3.11", default-features = false, features = ["server", "macros", "transport-io", "transport-streamable-http-server"] }
schemars = "1.2"
serde = { version = "1.0", features = ["derive"] }
tokio = { version = "1.54", default-features = false, features = ["rt-multi-thread", "macros", "time", "net"] }

[dependencies.mcp-tasks]
path = '@'
features = ["http"]

[lints.rust]
warnings = "deny"

# As in the workspace: what is built there serves here.
[profile.dev]
debug = "line-tables-only"

[workspace]
"#;

/// The folder of the built programs. They are built once for all tests, in the target directory of these tests: nearly
/// all of what they depend on is built there already.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adoption");
    let target = project.ancestors().nth(2).expect("it lies in the target directory");
    write(&project.join("Cargo.toml"), &MANIFEST.replace('@', &root.display().to_string()));
    for (name, source) in SOURCES {
        write(&project.join(format!("src/bin/{name}.rs")), source);
    }
    // The same versions as here, which are on this machine.
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("it can be read");
    write(&project.join("Cargo.lock"), &lock);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--bins"]).current_dir(&project).env("CARGO_TARGET_DIR", target);
    assert!(cargo.status().expect("cargo runs").success(), "the programs do not build");
    target.join("debug")
});

/// Leaves what is the same alone, so that it is not built again.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
    fs::write(path, text).expect("it can be written");
}

/// A running program; it ends with this.
pub struct Program {
    child: Child,
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
    /// Where it listens, if it does.
    address: Option<String>,
}

impl Program {
    pub fn start(name: &str, wire: Wire) -> Self {
        let mut command = Command::new(BUILT.join(name));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut program = Self { child, stdin, lines, address: None };
        program.address = matches!(wire, Wire::Http).then(|| program.line());
        program
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line in time")
    }

    /// The result of a request.
    pub fn ask(&mut self, request: &Value) -> Value {
        let answer = match &self.address {
            Some(address) => post(address, request),
            None => {
                writeln!(self.stdin, "{request}").expect("it reads");
                self.line()
            }
        };
        let mut answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!(answer["id"], request["id"], "{answer}");
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Sends a request over HTTP/1.1; the line of its answer that is JSON.
fn post(address: &str, request: &Value) -> String {
    let params = &request["params"];
    let name = params["taskId"].as_str().or(params["name"].as_str()).expect("a tool or a task");
    let (method, body) = (request["method"].as_str().expect("a method"), request.to_string());
    let head = [
        "POST /mcp HTTP/1.1",
        "host: localhost",
        "connection: close",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        "mcp-protocol-version: 2026-07-28",
        &format!("mcp-method: {method}"),
        &format!("mcp-name: {name}"),
        &format!("content-length: {}", body.len()),
    ];
    let mut socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("an option of TCP");
    socket.write_all(format!("{}\r\n\r\n{body}", head.join("\r\n")).as_bytes()).expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer in time");
    // What is around it may be chunks.
    let json = answer.lines().find(|line| line.starts_with('{'));
    json.unwrap_or_else(|| panic!("no JSON: {answer}")).to_owned()
}
