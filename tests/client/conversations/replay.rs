//! A conversation, step by step: the replayer is the server, and the person at the client.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use super::{
    files::{Answer, Conversation, Exchange, Known, Late, Step, User, judge},
    user::{Outcome, Person, Program, Question, is_ending},
    wires::{Connect, Got, Server},
};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Longer than any client waits before it gives up.
const LONG: Duration = Duration::from_secs(1_000);

/// Replays a conversation against our client; why it is not the one in the file.
pub async fn replay(conversation: &Conversation, server: Server, connect: Connect) -> Result<(), String> {
    let (ask, questions) = mpsc::unbounded_channel();
    let person = Person(ask);
    let mut replayer = Replayer {
        patience: if server.is_real { Duration::from_secs(15) } else { LONG },
        revision: conversation.revision.clone(),
        server,
        connect,
        person,
        questions,
        program: None,
        open: BTreeMap::new(),
        state: None,
        answered: Instant::now(),
        end: End::default(),
    };
    for (place, step) in conversation.steps.iter().enumerate() {
        replayer.step(step).await.map_err(|why| format!("step {place}: {why}"))?;
    }
    replayer.nothing_is_left().await
}

struct Replayer {
    revision: String,
    server: Server,
    connect: Connect,
    person: Person,
    questions: mpsc::UnboundedReceiver<Question>,
    program: Option<Program>,
    /// Requests that were left open, by the id that they have in the file.
    open: BTreeMap<String, Got>,
    /// The task as the client saw it last: a poll more gets it again.
    state: Option<Value>,
    /// When the last response was given.
    answered: Instant,
    end: End,
    patience: Duration,
}

/// What the client knows of how its call ends.
#[derive(Default)]
struct End {
    is_known: bool,
    /// When the time to live is over.
    expires: Option<Instant>,
}

impl End {
    /// Takes in what the client is told.
    fn hears(&mut self, response: &Value) {
        let result = &response["result"];
        let is_terminal = ["completed", "failed", "cancelled"].iter().any(|status| result["status"] == **status);
        self.is_known |= is_terminal || response["error"]["code"] == -32602;
        if result["resultType"] == "task" {
            self.expires = result["ttlMs"].as_u64().map(|ttl| Instant::now() + Duration::from_millis(ttl));
        }
    }

    fn is_known(&self) -> bool {
        self.is_known || self.expires.is_some_and(|expires| Instant::now() >= expires)
    }
}

impl Replayer {
    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Exchange(exchange) => self.exchange(exchange).await,
            Step::Response(late) => self.late(late),
            Step::User(user) => self.user(user).await,
            Step::Tool(_) | Step::Clock(_) | Step::Server(_) => Ok(()),
            other => Err(format!("this replayer cannot do {other:?}")),
        }
    }

    async fn user(&mut self, user: &User) -> Result<(), String> {
        match user {
            User::Calls(params) => {
                self.end = End::default();
                self.program = Some(Program::calls(self.client().await, params));
            }
            User::Lists(_) => self.program = Some(Program::lists(self.client().await)),
            User::Restarts(_) => {
                let program = self.program.take().ok_or("no program runs")?;
                let client = self.client().await;
                self.program = Some(program.restarted(client).await);
            }
            User::Cancels(_) => {
                self.end.is_known = true;
                self.program()?.cancels().await;
            }
            User::LetsGo(_) => {
                self.end.is_known = true;
                self.program()?.lets_go();
            }
            User::Answers(answer) => return self.answers(answer).await,
            User::Gets(result) => {
                let outcome = self.outcome().await?;
                return match outcome.as_ref() {
                    Ok(actual) => Known::default().meet(&untyped(result), actual),
                    Err(error) => Err(format!("{error:?} instead of {result}")),
                };
            }
            User::Fails(ending) => {
                let outcome = self.outcome().await?;
                return if is_ending(ending, &outcome) {
                    Ok(())
                } else {
                    Err(format!("{outcome:?} instead of {ending:?}"))
                };
            }
        }
        Ok(())
    }

    fn program(&mut self) -> Result<&mut Program, String> {
        self.program.as_mut().ok_or_else(|| "no program runs".to_owned())
    }

    /// A client that has just connected.
    async fn client(&mut self) -> mcp_tasks::client::TaskClient {
        let connecting = (self.connect)(self.person.clone());
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                client = &mut connecting => return client,
                Some(got) = self.server.incoming.recv() => drop(greeted(got)),
            }
        }
    }

    async fn answers(&mut self, answer: &Answer) -> Result<(), String> {
        let question = timeout(self.patience, self.questions.recv()).await.ok().flatten().ok_or("nobody was asked")?;
        Known::default().meet(&answer.request["params"], &question.params)?;
        question.answer.send(answer.response.clone()).map_err(|_| "nobody waits for the answer".to_owned())
    }

    /// How the call ended; the client may poll until it knows.
    async fn outcome(&mut self) -> Result<std::sync::Arc<Outcome>, String> {
        let deadline = Instant::now() + self.patience;
        loop {
            let mut outcome = self.program()?.outcome.clone();
            tokio::select! {
                outcome = outcome.wait_for(Option::is_some) => {
                    return outcome.map_err(|_| "it was stopped".to_owned())?.clone().ok_or_else(|| "no outcome".to_owned());
                }
                Some(got) = self.server.incoming.recv() => self.besides(got)?,
                () = tokio::time::sleep_until(deadline) => return Err("it never ended".to_owned()),
            }
        }
    }

    /// Waits for the request, and answers it. A client that knows how it ended need not poll.
    async fn exchange(&mut self, exchange: &Exchange) -> Result<(), String> {
        let method = &exchange.request["method"];
        let deadline = Instant::now() + self.patience;
        loop {
            let got = tokio::select! {
                biased;
                Some(got) = self.server.incoming.recv() => got,
                () = is_over(self.program.as_ref()), if *method == "tasks/get" && self.end.is_known() => return Ok(()),
                () = is_over(self.program.as_ref()), if !self.end.is_known() => {
                    return Err(format!("it ended, and no {method} came"));
                }
                () = tokio::time::sleep_until(deadline) => return Err(format!("no {method} came")),
            };
            if got.message["method"] != *method {
                self.besides(got)?;
                continue;
            }
            self.meets(exchange, &got)?;
            match &exchange.response {
                Some(response) => self.answer(got, response),
                None => drop(self.open.insert(exchange.request["id"].to_string(), got)),
            }
            return Ok(());
        }
    }

    fn meets(&self, exchange: &Exchange, got: &Got) -> Result<(), String> {
        if let Some(definition) = &exchange.definition {
            judge(&self.revision, definition, &got.message)?;
        }
        let mut expected = exchange.request["params"].clone();
        let meta = expected.as_object_mut().and_then(|params| params.shift_remove("_meta"));
        let actual = &got.message["params"];
        Known::default().meet(&expected, actual).map_err(|why| format!("{why} in {}", got.message))?;
        let declared = meta.map_or(Value::Null, |mut meta| meta[CAPABILITIES].take());
        if !declared.is_null() {
            let declares = Known::default().meet(&declared, &actual["_meta"][CAPABILITIES]);
            declares.map_err(|why| format!("it does not declare what it should: {why} in {}", got.message))?;
        }
        let waited = got.at.saturating_duration_since(self.answered);
        if !self.server.is_real && waited < Duration::from_millis(exchange.after_ms) {
            return Err(format!("it came after {waited:?}, and not after {} ms", exchange.after_ms));
        }
        let headers = got.headers.iter().flat_map(|headers| exchange.http.headers.iter().map(move |it| (headers, it)));
        for (headers, (name, value)) in headers {
            if headers.get(&name.to_ascii_lowercase()) != Some(value) {
                return Err(format!("{} has no header {name}: {value}", got.message["method"]));
            }
        }
        Ok(())
    }

    fn answer(&mut self, got: Got, response: &Value) {
        let mut response = response.clone();
        if self.server.is_real && response["result"]["pollIntervalMs"].is_number() {
            response["result"]["pollIntervalMs"] = json!(20);
        }
        if got.message["method"] == "tasks/get" {
            self.state = Some(response.clone());
        }
        self.answered = Instant::now();
        if got.message["method"] != "tasks/update" {
            self.end.hears(&response);
        }
        got.answer(&response);
    }

    fn late(&mut self, late: &Late) -> Result<(), String> {
        let got = self.open.remove(&late.message["id"].to_string()).ok_or("no such request is open")?;
        self.answer(got, &late.message);
        Ok(())
    }

    /// What a client may send although no step has it: how it connects, and the last poll once more.
    fn besides(&mut self, got: Got) -> Result<(), String> {
        let Some(got) = greeted(got) else { return Ok(()) };
        match (&got.message["method"], self.state.clone()) {
            (Value::String(method), Some(state)) if method == "tasks/get" => {
                self.answer(got, &state);
                Ok(())
            }
            _ => Err(format!("nobody asked for {}", got.message)),
        }
    }

    /// The client is silent once it is over, and has asked nothing that no step has.
    async fn nothing_is_left(mut self) -> Result<(), String> {
        if let Ok(question) = self.questions.try_recv() {
            return Err(format!("nobody is to be asked {}", question.params));
        }
        let period = if self.server.is_real { Duration::from_millis(100) } else { LONG };
        match timeout(period, self.server.incoming.recv()).await {
            Ok(Some(got)) => Err(format!("after the end came {}", got.message)),
            _ => Ok(()),
        }
    }
}

async fn is_over(program: Option<&Program>) {
    match program {
        Some(program) => drop(program.outcome.clone().wait_for(Option::is_some).await),
        None => std::future::pending().await,
    }
}

/// Answers what a client says when it connects, and the wish for a stream; gives back anything else.
fn greeted(got: Got) -> Option<Got> {
    let discovered = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": { "tools": {}, "extensions": { EXTENSION: {} } },
    });
    match got.message["method"].as_str() {
        Some("server/discover") => got.answer(&json!({ "jsonrpc": "2.0", "result": discovered })),
        Some("subscriptions/listen") => {
            got.answer(&json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "no streams" } }));
        }
        Some("notifications/initialized") => {}
        _ => return Some(got),
    }
    None
}

/// A result without its type, which a client need not keep.
fn untyped(result: &Value) -> Value {
    let mut result = result.clone();
    result.as_object_mut().and_then(|members| members.shift_remove("resultType"));
    result
}
