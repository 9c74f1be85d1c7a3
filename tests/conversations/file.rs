//! The files, as they are read.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Conversation {
    #[serde(rename = "$comment")]
    _comment: String,
    pub format: u32,
    pub revision: String,
    pub name: String,
    #[serde(rename = "title")]
    _title: String,
    #[serde(rename = "why")]
    _why: String,
    pub requirements: Vec<String>,
    pub replay: Vec<Role>,
    pub transport: Option<Transport>,
    pub setup: Vec<Setup>,
    pub chosen: BTreeMap<String, Chosen>,
    pub unsaid: Vec<String>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Server,
    Client,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Transport {
    Lines,
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Setup {
    RateLimit,
    ReadOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Chosen {
    Id,
    Words,
    Alike,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    Exchange(Box<Exchange>),
    Response(Late),
    Notification(Sent),
    Push(Sent),
    Abandon(Value),
    User(User),
    Tool(Tool),
    Clock(u64),
    Server(Server),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Exchange {
    pub who: Option<String>,
    #[serde(default)]
    pub after_ms: u64,
    pub request: Value,
    pub body: Option<String>,
    pub definition: Option<String>,
    pub http: Http,
    pub response: Option<Value>,
    pub response_definition: Option<String>,
    #[serde(default)]
    pub absent: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Http {
    pub headers: BTreeMap<String, String>,
    pub status: Option<u16>,
    #[serde(default)]
    pub response_headers: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Late {
    pub message: Value,
    pub response_definition: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Sent {
    pub message: Value,
    pub definition: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum User {
    Calls(Value),
    Lists(Empty),
    Answers(Answer),
    Cancels(Empty),
    LetsGo(Empty),
    Restarts(Empty),
    Gets(Value),
    Fails(Ending),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub request: Value,
    pub response: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    Error(Value),
    Cancelled(Empty),
    Expired(Empty),
    NotFound(Empty),
    InvalidResponse(Empty),
    AnswersRefused(Empty),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tool {
    Says(String),
    Asks(Map<String, Value>),
    Has(Map<String, Value>),
    Returns(Value),
    Fails(Value),
    Breaks(String),
    IsTold(Empty),
    IsStopped(Empty),
    Began(usize),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    Restarts(Empty),
    ShutsDown(Empty),
}

/// Where the exported files are.
pub fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("generated")
}

/// All conversations that can be replayed against this side.
pub fn conversations(role: Role) -> Vec<Conversation> {
    let mut paths = Vec::new();
    for revision in fs::read_dir(generated().join("vectors")).expect("vectors") {
        let folder = revision.expect("an entry").path().join("conversations");
        paths.extend(fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()));
    }
    paths.sort();
    let all = paths.iter().map(|path| read(path));
    all.filter(|conversation| conversation.replay.contains(&role)).collect()
}

/// A conversation of 2026-07-28 that somebody has spoilt.
pub fn altered(name: &str, alter: impl FnOnce(&mut Value)) -> Conversation {
    let path = generated().join("vectors/2026-07-28/conversations").join(format!("{name}.json"));
    let mut file = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    alter(&mut file);
    serde_json::from_value(file).expect("a conversation")
}

fn read(path: &Path) -> Conversation {
    let text = fs::read_to_string(path).expect("a file");
    let read: Conversation = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(read.format, 1, "{}", path.display());
    read
}
