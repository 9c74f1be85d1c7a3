//! What a person writes: the steps of a conversation, with only what is special about them.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A conversation between a client and a server, as it is written by hand.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Conversation {
    /// The name of its file, without the ending.
    #[serde(skip)]
    pub name: String,
    /// The file, for messages.
    #[serde(skip)]
    pub file: String,
    /// What happens, in a phrase.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub why: String,
    /// The requirements that it proves.
    pub requirements: Vec<String>,
    /// Whom it can be replayed against.
    pub replay: Vec<Role>,
    /// The only transport that it makes sense on.
    pub transport: Option<Transport>,
    /// How the server has to be set up, beyond the fixture.
    #[serde(default)]
    pub setup: Vec<Setup>,
    /// What the client declares, if it is not tasks and forms.
    pub capabilities: Option<Value>,
    /// Texts in the messages that are of the other side's choosing.
    #[serde(default)]
    pub chosen: IndexMap<String, Chosen>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// Whom a conversation can be replayed against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The replayer plays the client.
    Server,
    /// The replayer plays the server.
    Client,
}

/// A transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Transport {
    /// A message a line, as over stdio.
    Lines,
    /// Streamable HTTP.
    Http,
}

/// A property of the server that is an option of its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Setup {
    /// Three polls of a task within one poll interval are borne, a fourth is refused.
    RateLimit,
    /// Its store takes nothing new.
    ReadOnly,
}

/// What a text of the other side's choosing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Chosen {
    /// It names something: where two of these differ in the file, they differ on the wire.
    Id,
    /// It is for people.
    Words,
    /// It is for people, and the same each time, save for the id of the task that was asked about.
    Alike,
}

/// A step of a conversation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// A request and, unless a later step has it, its response.
    Exchange(Box<Exchange>),
    /// The response to a request that was left open.
    Response(Response),
    /// A notification from the client.
    Notification(Sent),
    /// A message from the server that is no response.
    Push(Sent),
    /// The client takes back a request, or ends its stream: by the id of the request.
    Abandon(Value),
    /// What the person or program at the client does, or what it is told.
    User(User),
    /// What the tool at the server does, or what it is told.
    Tool(Tool),
    /// The server's clock moves on by so many milliseconds.
    Clock(u64),
    /// What befalls the server.
    Server(Server),
}

/// A request with its response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Exchange {
    /// The request's id, if another than the next number matters.
    pub id: Option<Value>,
    /// Who asks, if it is not always the same.
    pub who: Option<Who>,
    /// What the client declares on this request, if it is not what it always does.
    pub capabilities: Option<Value>,
    /// The request's method.
    pub method: String,
    /// The request's parameters; metadata is added.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// A body in place of the message, for one that no JSON value can be.
    pub body: Option<String>,
    /// Headers that are other than they should be; `null` leaves one out.
    #[serde(default)]
    pub headers: IndexMap<String, Option<String>>,
    /// At least so many milliseconds after the response before.
    pub after_ms: Option<u64>,
    /// The HTTP status, if it does not follow from the response.
    pub status: Option<u16>,
    /// Headers of the HTTP response that matter.
    #[serde(default)]
    pub response_headers: IndexMap<String, String>,
    /// The result.
    pub result: Option<Value>,
    /// The error.
    pub error: Option<Value>,
    /// Whether the result is only what matters of it.
    #[serde(default)]
    pub part: bool,
    /// JSON pointers into the response to what must not be there.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The messages that must not fit their schemas.
    #[serde(default)]
    pub flawed: Vec<Flawed>,
}

/// A principal: whoever replays a conversation has credentials for each of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Who {
    /// The one who asks where nobody is named.
    Ada,
    /// Somebody else.
    Bob,
}

/// A message that breaks a rule on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Flawed {
    /// The request does.
    Request,
    /// The response does.
    Response,
}

/// The response to a request that was left open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Response {
    /// The id of the request.
    pub id: Value,
    /// The result.
    pub result: Option<Value>,
    /// The error.
    pub error: Option<Value>,
}

/// A notification.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Sent {
    /// Its method.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

/// What the person or program at the client does, or what it is told.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum User {
    /// Calls a tool, given as the parameters of `tools/call`.
    Calls(Value),
    /// Asks for the list of tools.
    Lists(Empty),
    /// Is shown this input request, and answers.
    Answers(Answer),
    /// Cancels the task.
    Cancels(Empty),
    /// Lets go of the call before its answer is there.
    LetsGo(Empty),
    /// Ends, having saved the task; begins anew, and takes it up again.
    Restarts(Empty),
    /// Gets this result in the end.
    Gets(Value),
    /// Gets an error in the end.
    Fails(Ending),
}

/// Nothing more to say: `{}`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// An input request that is shown, and the answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The request.
    pub request: Value,
    /// The answer.
    pub response: Value,
}

/// How a call ends that has no result.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// With this JSON-RPC error.
    Error(Value),
    /// The task was cancelled.
    Cancelled(Empty),
    /// The task outlived its time to live, as far as anybody can tell.
    Expired(Empty),
    /// The server does not know the task.
    NotFound(Empty),
    /// The server gave a response that is none.
    InvalidResponse(Empty),
    /// The server did not take the answers.
    AnswersRefused(Empty),
}

/// What the tool behind the run that began last does, or what it is told.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Tool {
    /// Sets the status message.
    Says(String),
    /// Asks, by key.
    Asks(Map<String, Value>),
    /// Has been given these answers by now, and no others.
    Has(Map<String, Value>),
    /// Returns this result.
    Returns(Value),
    /// Ends with this JSON-RPC error.
    Fails(Value),
    /// Breaks down in the way of its language, with this text.
    Breaks(String),
    /// Has been told to stop, and runs on.
    IsTold(Empty),
    /// Runs no more, without having returned.
    IsStopped(Empty),
    /// Has been started so often in all.
    Began(u32),
}

/// What befalls the server.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// The process is killed; another one serves the same store.
    Restarts(Empty),
    /// It ends in good order.
    ShutsDown(Empty),
}
