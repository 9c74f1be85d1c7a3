//! Messages made whole: what follows from the revision and the transport is added, and each is judged by its schema.

use super::format::{Conversation, Exchange, Flawed, Response, Sent, Step};
use crate::error::{Error, Problem, Problems};
use crate::export::flat::Definitions;
use crate::export::judge::Judge;
use crate::export::messages;
use crate::ir::{Content, Definition, Object, Revision, Shape, Type};
use crate::overlay::Settings;
use serde_json::{Map, Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Makes the steps of one conversation whole.
pub(super) struct Scribe<'a> {
    revision: &'a Revision,
    settings: &'a Settings,
    strict: &'a Definitions,
    conversation: &'a Conversation,
    /// The requests so far: their ids, and what they ask for.
    asked: Vec<(Value, &'a str)>,
    problems: Problems,
}

impl<'a> Scribe<'a> {
    pub(super) fn new(
        revision: &'a Revision,
        settings: &'a Settings,
        strict: &'a Definitions,
        conversation: &'a Conversation,
    ) -> Self {
        Self { revision, settings, strict, conversation, asked: Vec::new(), problems: Problems::default() }
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
            self.problem("/chosen", &format!("no message has `{name}`"));
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

    fn exchange(&mut self, pointer: &str, exchange: &'a Exchange) -> Value {
        let id = exchange.id.clone().unwrap_or_else(|| self.asked.len().saturating_add(1).into());
        self.asked.push((id.clone(), &exchange.method));
        let request = self.request(exchange, &id);
        let response = message(&id, exchange.result.as_ref(), exchange.error.as_ref());
        let mut whole = Map::new();
        let mut put = |name: &str, value: Value| whole.insert(name.to_owned(), value);
        if let Some(who) = &exchange.who {
            put("who", who.as_str().into());
        }
        if let Some(milliseconds) = exchange.after_ms {
            put("afterMs", milliseconds.into());
        }
        put("request", request.clone());
        if let Some(body) = &exchange.body {
            put("body", body.as_str().into());
        }
        put("definition", json!(self.definition_of_request(&exchange.method).map(|it| &it.name)));
        put("http", self.http(exchange, response.as_ref()));
        if let Some(response) = &response {
            put("response", response.clone());
            put("responseDefinition", json!(self.definition_of_response(&exchange.method, response)));
        }
        if !exchange.absent.is_empty() {
            put("absent", json!(exchange.absent));
        }
        if exchange.body.is_none() {
            self.judge_request(pointer, exchange, &request);
        }
        if let Some(response) = response.as_ref().filter(|_| !exchange.part) {
            let flawed = exchange.flawed.contains(&Flawed::Response);
            self.judge_response(pointer, &exchange.method, response, flawed);
        }
        whole.into()
    }

    fn late(&mut self, pointer: &str, response: &Response) -> Value {
        let Some(method) = self.asked.iter().find(|(id, _)| *id == response.id).map(|(_, method)| *method) else {
            self.problem(pointer, &format!("there is no request with the id {}", response.id));
            return Value::Null;
        };
        let Some(whole) = message(&response.id, response.result.as_ref(), response.error.as_ref()) else {
            self.problem(pointer, "it has neither `result` nor `error`");
            return Value::Null;
        };
        self.judge_response(pointer, method, &whole, false);
        let definition = self.definition_of_response(method, &whole);
        json!({ "message": whole, "responseDefinition": definition })
    }

    fn notification(&mut self, pointer: &str, sent: &Sent) -> Value {
        let whole = json!({ "jsonrpc": "2.0", "method": sent.method, "params": sent.params });
        let definition = self.with_method(&sent.method, false).map(|definition| definition.name.as_str());
        if let Some(definition) = definition {
            self.judge(&format!("{pointer}/params"), definition, &whole, false);
        }
        json!({ "message": whole, "definition": definition })
    }

    fn request(&self, exchange: &Exchange, id: &Value) -> Value {
        let mut params = exchange.params.clone();
        if self.says_who_it_is() {
            let mut meta = Map::new();
            meta.insert(VERSION.to_owned(), self.revision.name.clone().into());
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
        self.revision.object("RequestMetaObject").is_some_and(|meta| meta.field(CAPABILITIES).is_some())
    }

    /// Headers of the request, and the status of the response.
    fn http(&self, exchange: &Exchange, response: Option<&Value>) -> Value {
        let mut headers = Map::new();
        headers.insert("MCP-Protocol-Version".to_owned(), self.revision.name.clone().into());
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
        let mut http = Map::from_iter([("headers".to_owned(), headers.into())]);
        if let Some(status) = exchange.status.or_else(|| response.and_then(usual_status)) {
            http.insert("status".to_owned(), status.into());
        }
        if !exchange.response_headers.is_empty() {
            http.insert("responseHeaders".to_owned(), json!(exchange.response_headers));
        }
        http.into()
    }

    fn judge_request(&mut self, pointer: &str, exchange: &Exchange, request: &Value) {
        let flawed = exchange.flawed.contains(&Flawed::Request);
        match self.definition_of_request(&exchange.method).map(|definition| definition.name.as_str()) {
            Some(name) => self.judge(&format!("{pointer}/params"), name, request, flawed),
            None if flawed => self.problem(pointer, &format!("`{}` has no schema to break", exchange.method)),
            None => (),
        }
    }

    fn judge_response(&mut self, pointer: &str, method: &str, response: &Value, flawed: bool) {
        if let Some(definition) = self.definition_of_response(method, response) {
            match response.get("error") {
                Some(_) => self.judge(&format!("{pointer}/error"), &definition, response, flawed),
                None => self.judge(&format!("{pointer}/result"), &definition, &response["result"], flawed),
            }
        }
    }

    fn judge(&mut self, pointer: &str, definition: &str, value: &Value, flawed: bool) {
        let fits = Judge(self.strict).accepts(definition, value);
        match (fits, flawed) {
            (false, false) => self.problem(pointer, &format!("it does not fit `{definition}`")),
            (true, true) => self.problem(pointer, &format!("it is said to be flawed, and fits `{definition}`")),
            _ => (),
        }
    }

    fn definition_of_request(&self, method: &str) -> Option<&'a Definition> {
        self.with_method(method, true)
    }

    /// The definition of a message by its method.
    fn with_method(&self, method: &str, is_request: bool) -> Option<&'a Definition> {
        let of_method = |object: &Object| {
            let constant = object.field("method").map(|field| &field.content);
            object.field("id").is_some() == is_request
                && constant.is_some_and(|it| matches!(it, Content::Constant(text) if text == method))
        };
        self.revision.definitions().find(|definition| {
            matches!(&definition.shape, Shape::Object(object) if object.field("jsonrpc").is_some() && of_method(object))
        })
    }

    /// The definition of a result, or of a whole response that is an error.
    fn definition_of_response(&self, method: &str, response: &Value) -> Option<String> {
        match response.get("error") {
            Some(error) => {
                let special = error["code"].as_i64().and_then(|code| self.definition_of_error(code));
                Some(special.unwrap_or("JSONRPCErrorResponse").to_owned())
            }
            None => messages::result_of(&self.definition_of_request(method)?.name, self.settings)
                .filter(|name| self.strict.contains_key(name)),
        }
    }

    /// The error response that is for one code alone.
    fn definition_of_error(&self, code: i64) -> Option<&'a str> {
        let has_code = |name: &String| {
            let code_of =
                self.revision.object(name).and_then(|object| object.field("code")).map(|field| &field.content);
            matches!(code_of, Some(Content::ConstantInteger(own)) if *own == code)
        };
        let definition = self.revision.definitions().find(|definition| {
            let Shape::Object(object) = &definition.shape else { return false };
            matches!(object.field("error").map(|field| &field.content), Some(Content::Typed(Type::Named(name))) if has_code(name))
        })?;
        Some(&definition.name)
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

/// The status that the specification demands of a response; it leaves that of other errors open.
fn usual_status(response: &Value) -> Option<u16> {
    let Some(error) = response.get("error") else { return Some(200) };
    match error["code"].as_i64()? {
        -32020 | -32021 => Some(400),
        -32601 => Some(404),
        _ => None,
    }
}
