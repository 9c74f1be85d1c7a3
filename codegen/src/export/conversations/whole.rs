//! Messages made whole: what follows from the revision and the transport is added, and each is judged by its schema.

use super::absent;
use super::definitions::Finder;
use super::format::{Conversation, Exchange, Flawed, Response, Sent, Step};
use super::made;
use crate::document::escape;
use crate::error::{Error, Problem, Problems};
use crate::export::members::Members;
use crate::export::status;
use serde_json::{Map, Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Makes the steps of one conversation whole.
pub(super) struct Scribe<'a> {
    finder: Finder<'a>,
    members: &'a Members<'a>,
    conversation: &'a Conversation,
    /// The requests so far: their ids, and what they ask for.
    asked: Vec<(Value, &'a str)>,
    problems: Problems,
}

impl<'a> Scribe<'a> {
    pub(super) fn new(finder: Finder<'a>, members: &'a Members<'a>, conversation: &'a Conversation) -> Self {
        Self { finder, members, conversation, asked: Vec::new(), problems: Problems::default() }
    }

    /// All steps, as they are written out.
    pub(super) fn steps(mut self) -> Result<Vec<Value>, Error> {
        let conversation = self.conversation;
        if conversation.replay.is_empty() {
            self.problem("/replay", "it can be replayed against nobody");
        }
        if conversation.requirements.is_empty() {
            self.problem("/requirements", "it proves nothing");
        }
        let steps: Vec<Value> = (0..).zip(&conversation.steps).map(|(place, step)| self.step(place, step)).collect();
        let text = Value::from(steps.clone()).to_string();
        for name in conversation.chosen.keys().filter(|name| !text.contains(&Value::from(name.as_str()).to_string())) {
            self.problem(&format!("/chosen/{}", escape(name)), &format!("no message has `{name}`"));
        }
        self.problems.finish(steps)
    }

    fn step(&mut self, place: usize, step: &'a Step) -> Value {
        let at = |kind: &str| format!("/steps/{place}/{kind}");
        match step {
            Step::Exchange(exchange) => json!({ "exchange": self.exchange(&at("exchange"), exchange) }),
            Step::Response(response) => json!({ "response": self.late(&at("response"), response) }),
            Step::Notification(sent) => json!({ "notification": self.notification(&at("notification"), sent) }),
            Step::Push(sent) => json!({ "push": self.notification(&at("push"), sent) }),
            Step::Abandon(id) => json!({ "abandon": id }),
            Step::User(user) => json!({ "user": user }),
            Step::Tool(tool) => json!({ "tool": tool }),
            Step::Clock(milliseconds) => json!({ "clock": milliseconds }),
            Step::Server(server) => json!({ "server": server }),
        }
    }

    fn exchange(&mut self, pointer: &str, exchange: &'a Exchange) -> made::Exchange<'a> {
        let id = exchange.id.clone().unwrap_or_else(|| self.asked.len().saturating_add(1).into());
        self.asked.push((id.clone(), &exchange.method));
        let request = self.request(exchange, &id);
        let response = message(&id, exchange.result.as_ref(), exchange.error.as_ref());
        self.judge_request(pointer, exchange, &request);
        if let Some(response) = response.as_ref().filter(|_| !exchange.part) {
            let flawed = exchange.flawed.contains(&Flawed::Response);
            self.judge_response(pointer, &exchange.method, response, flawed);
        }
        self.judge_absent(pointer, exchange, response.as_ref());
        made::Exchange {
            who: exchange.who,
            after_ms: exchange.after_ms,
            request,
            body: exchange.body.as_deref(),
            definition: self.finder.request(&exchange.method),
            http: self.http(exchange, response.as_ref()),
            answer: response.map(|response| made::Answer {
                response_definition: self.finder.response(&exchange.method, &response),
                response,
            }),
            absent: &exchange.absent,
        }
    }

    fn late(&mut self, pointer: &str, response: &Response) -> Option<made::Late> {
        let Some(method) = self.asked.iter().find(|(id, _)| *id == response.id).map(|(_, method)| *method) else {
            self.problem(pointer, &format!("there is no request with the id {}", response.id));
            return None;
        };
        let Some(message) = message(&response.id, response.result.as_ref(), response.error.as_ref()) else {
            self.problem(pointer, "it has neither `result` nor `error`");
            return None;
        };
        self.judge_response(pointer, method, &message, false);
        Some(made::Late { response_definition: self.finder.response(method, &message), message })
    }

    fn notification(&mut self, pointer: &str, sent: &Sent) -> made::Notification<'a> {
        let message = json!({ "jsonrpc": "2.0", "method": sent.method, "params": sent.params });
        let definition = self.finder.notification(&sent.method);
        if let Some(definition) = definition {
            self.judge(&format!("{pointer}/params"), definition, &message, false);
        }
        made::Notification { message, definition }
    }

    fn request(&self, exchange: &Exchange, id: &Value) -> Value {
        let mut params = exchange.params.clone();
        if self.says_who_it_is() {
            let mut meta = Map::new();
            meta.insert(VERSION.to_owned(), self.finder.revision.name.clone().into());
            meta.insert(CLIENT.to_owned(), json!({ "name": "replay", "version": "1" }));
            meta.insert(CAPABILITIES.to_owned(), self.capabilities(exchange));
            meta.extend(params.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default());
            params.insert("_meta".to_owned(), meta.into());
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": exchange.method, "params": params })
    }

    fn capabilities(&self, exchange: &Exchange) -> Value {
        let usual = || json!({ "elicitation": {}, "extensions": { EXTENSION: {} } });
        exchange.capabilities.clone().or_else(|| self.conversation.capabilities.clone()).unwrap_or_else(usual)
    }

    /// Whether each request says what its client can do; before, a session said it once.
    fn says_who_it_is(&self) -> bool {
        Members::of(std::slice::from_ref(self.finder.revision)).have(CAPABILITIES)
    }

    /// Headers of the request, and the status of the response.
    fn http(&self, exchange: &'a Exchange, response: Option<&Value>) -> made::Http<'a> {
        let mut headers = Map::new();
        headers.insert("MCP-Protocol-Version".to_owned(), self.finder.revision.name.clone().into());
        if self.says_who_it_is() {
            headers.insert("Mcp-Method".to_owned(), exchange.method.clone().into());
            if let Some(name) =
                exchange.params.get("taskId").or(exchange.params.get("name")).filter(|it| it.is_string())
            {
                headers.insert("Mcp-Name".to_owned(), name.clone());
            }
        }
        for (name, value) in &exchange.headers {
            match value {
                Some(value) => headers.insert(name.clone(), value.as_str().into()),
                None => headers.shift_remove(name),
            };
        }
        let status = exchange.status.or_else(|| response.and_then(usual_status));
        made::Http { headers, status, response_headers: &exchange.response_headers }
    }

    fn judge_request(&mut self, pointer: &str, exchange: &Exchange, request: &Value) {
        if exchange.body.is_some() {
            return;
        }
        let flawed = exchange.flawed.contains(&Flawed::Request);
        match self.finder.request(&exchange.method) {
            Some(name) => self.judge(&format!("{pointer}/params"), name, request, flawed),
            None if flawed => self.problem(pointer, &format!("`{}` has no schema to break", exchange.method)),
            None => (),
        }
    }

    fn judge_response(&mut self, pointer: &str, method: &str, response: &Value, flawed: bool) {
        let Some(definition) = self.finder.response(method, response) else { return };
        match response.get("error") {
            Some(_) => self.judge(&format!("{pointer}/error"), &definition, response, flawed),
            None => self.judge(&format!("{pointer}/result"), &definition, &response["result"], flawed),
        }
    }

    fn judge_absent(&mut self, pointer: &str, exchange: &Exchange, response: Option<&Value>) {
        for (place, absent) in exchange.absent.iter().enumerate() {
            if let Some(fault) = absent::fault(absent, response, self.members) {
                self.problem(&format!("{pointer}/absent/{place}"), &fault);
            }
        }
    }

    fn judge(&mut self, pointer: &str, definition: &str, value: &Value, flawed: bool) {
        let fits = self.finder.strict.accepts(definition, value);
        match (fits, flawed) {
            (false, false) => self.problem(pointer, &format!("it does not fit `{definition}`")),
            (true, true) => self.problem(pointer, &format!("it is said to be flawed, and fits `{definition}`")),
            _ => (),
        }
    }

    fn problem(&mut self, pointer: &str, message: &str) {
        self.problems.push(Problem::new(&self.conversation.file, pointer, message));
    }
}

/// A response; none if there is neither a result nor an error.
fn message(id: &Value, result: Option<&Value>, error: Option<&Value>) -> Option<Value> {
    match (result, error) {
        (Some(result), _) => Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        (None, Some(error)) => Some(json!({ "jsonrpc": "2.0", "id": id, "error": error })),
        (None, None) => None,
    }
}

/// The status of a response, where it is settled.
fn usual_status(response: &Value) -> Option<u16> {
    match response.get("error") {
        Some(error) => status::of_error(error["code"].as_i64()?),
        None => Some(200),
    }
}
