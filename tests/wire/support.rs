//! A server, and clients that speak JSON to it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use mcp_tasks::{
    Tasks, ToolSet,
    clock::ManualClock,
    elicit::validate_response,
    engine::{Engine, EngineBuilder},
    http::TasksLayer,
    principal::Principal,
    stdio,
    store::TaskStore,
};
use rmcp::{
    ServerHandler, ServiceExt,
    transport::streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf},
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::timeout,
};

use crate::{
    http_client, stores,
    tools::{self, Signals},
};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const PATIENCE: Duration = Duration::from_secs(20);

/// The transports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wire {
    /// Lines of JSON, as over stdio.
    Stdio,
    /// Streamable HTTP, behind the layer.
    Http,
}

/// Makes a test of each fn for each transport.
macro_rules! on_every_wire {
    ($($(#[$meta:meta])* async fn $name:ident($wire:ident: Wire) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            async fn check($wire: Wire) $body

            $(#[$meta])*
            #[tokio::test]
            async fn stdio() {
                check(Wire::Stdio).await;
            }

            $(#[$meta])*
            #[tokio::test]
            async fn http() {
                check(Wire::Http).await;
            }
        }
    )*};
}

/// An engine with a clock of the test's own, and a server in front of it.
pub struct World<H = ToolSet> {
    pub clock: ManualClock,
    pub engine: Engine,
    pub signals: Arc<Signals>,
    tasks: Tasks<H>,
    wire: Wire,
    http: Option<http_client::Client>,
    /// Keeps the store's place for as long as the world.
    _fresh: Option<stores::Fresh>,
}

impl World {
    pub async fn new(wire: Wire) -> Self {
        Self::with(wire, |builder| builder).await
    }

    pub async fn with(wire: Wire, configure: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let signals = Arc::new(Signals::default());
        let shared = Arc::clone(&signals);
        Self::of(wire, configure, signals, move |engine| tools::handler(engine, shared)).await
    }
}

impl<H: ServerHandler> World<H> {
    pub async fn of(
        wire: Wire,
        configure: impl FnOnce(EngineBuilder) -> EngineBuilder,
        signals: Arc<Signals>,
        handler: impl FnOnce(&Engine) -> Tasks<H>,
    ) -> Self {
        let clock = ManualClock::default();
        let fresh = stores::fresh(&clock).await;
        let store = Arc::clone(&fresh.store);
        Self::on(store, clock, wire, configure, signals, handler).await.keeping(fresh)
    }

    /// The same world, which keeps the place of its store for as long as it lasts.
    pub fn keeping(self, fresh: stores::Fresh) -> Self {
        Self { _fresh: Some(fresh), ..self }
    }

    pub async fn on(
        store: Arc<dyn TaskStore>,
        clock: ManualClock,
        wire: Wire,
        configure: impl FnOnce(EngineBuilder) -> EngineBuilder,
        signals: Arc<Signals>,
        handler: impl FnOnce(&Engine) -> Tasks<H>,
    ) -> Self {
        let builder = Engine::builder(store, Arc::new(clock.clone()));
        let engine = configure(builder.validate_input(Arc::new(validate_response))).start().expect("random bytes");
        let tasks = handler(&engine);
        let http = match wire {
            Wire::Http => Some(serve_http(&engine, tasks.clone()).await),
            Wire::Stdio => None,
        };
        Self { clock, engine, signals, tasks, wire, http, _fresh: None }
    }

    /// A client of 2026-07-28 that declares tasks and forms.
    pub fn client(&self, user: &'static str) -> Client {
        let capabilities = json!({ "extensions": { EXTENSION: {} }, "elicitation": {} });
        let connection: Arc<dyn Connection> = match &self.http {
            Some(client) => Arc::new(Http { client: *client, user }),
            None => Arc::new(Lines::connect(self.tasks.clone().principal(move |_| Principal::new(user)))),
        };
        Client { connection, next_id: Arc::default(), meta: meta("2026-07-28", capabilities) }
    }

    /// The handler.
    pub fn tasks(&self) -> Tasks<H> {
        self.tasks.clone()
    }

    /// A client of bytes; none over stdio.
    pub fn http(&self) -> Option<http_client::Client> {
        self.http
    }

    pub fn is_http(&self) -> bool {
        self.wire == Wire::Http
    }

    /// Moves the clock on once whoever should notice waits for it.
    pub async fn advance(&self, step: Duration, waiting: usize) {
        timeout(PATIENCE, self.clock.sleepers(waiting)).await.expect("somebody waits for the clock");
        self.clock.advance(step);
    }
}

fn meta(version: &str, capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

async fn serve_http<H: ServerHandler>(engine: &Engine, tasks: Tasks<H>) -> http_client::Client {
    use axum::serve::ListenerExt;

    let handler = move || Ok(tasks.clone());
    let service = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), Default::default());
    let service = TasksLayer::new(engine)
        .principal(|parts| {
            let user = parts.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer token-of-")?;
            Some(Principal::new(user))
        })
        .around(service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|socket| socket.set_nodelay(true).expect("an option of TCP"));
    let app = axum::Router::new().route_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, app).await });
    http_client::Client(address)
}

/// What a transport does for a client.
pub trait Connection: Send + Sync {
    /// Sends a message, and gives all that comes because of it.
    fn post(&self, message: Value) -> UnboundedReceiver<Value>;

    /// Takes back a request that has no answer yet.
    fn abandon(&self, id: &Value, incoming: Incoming);

    /// What came with no request to belong to. Empty where a transport has no place for such messages.
    fn strays(&self) -> Vec<Value>;
}

/// What comes because of one request.
pub struct Incoming {
    pub id: Value,
    messages: UnboundedReceiver<Value>,
}

impl Incoming {
    /// The next message; `None` where no more can come.
    pub async fn next(&mut self) -> Option<Value> {
        timeout(PATIENCE, self.messages.recv()).await.expect("a message in time")
    }

    /// The next message, which has this method; its parameters.
    pub async fn notified(&mut self, method: &str) -> Value {
        let mut message = self.next().await.expect("a message");
        assert_eq!(message["method"], method, "{message}");
        message["params"].take()
    }

    /// The response, and nothing before it.
    pub async fn response(mut self) -> Value {
        let message = self.next().await.expect("a response");
        assert_eq!(message["id"], self.id, "{message}");
        message
    }

    /// What has come by now.
    pub fn ready(&mut self) -> Option<Value> {
        self.messages.try_recv().ok()
    }

    /// Whether nothing comes while everything else has time to.
    pub async fn is_quiet(&mut self) -> bool {
        timeout(Duration::from_millis(100), self.messages.recv()).await.is_err()
    }

    /// The next message, if one comes while everything else has time to.
    pub async fn soon(&mut self) -> Option<Value> {
        timeout(Duration::from_millis(100), self.messages.recv()).await.ok().flatten()
    }
}

#[derive(Clone)]
pub struct Client {
    connection: Arc<dyn Connection>,
    next_id: Arc<AtomicI64>,
    meta: Value,
}

impl Client {
    /// The same client, declaring something else from now on.
    pub fn declaring(&self, capabilities: Value) -> Self {
        Self { meta: meta("2026-07-28", capabilities), ..self.clone() }
    }

    /// The same client, with an idempotency key on each of its requests.
    pub fn with_key(&self, key: Value) -> Self {
        let mut client = self.clone();
        client.meta["rs.mcp-tasks/idempotency-key"] = key;
        client
    }

    pub fn declaring_nothing(&self) -> Self {
        self.declaring(json!({}))
    }

    /// The same client under a version with sessions: what it says of itself stands nowhere in its requests.
    pub fn without_meta(&self) -> Self {
        Self { meta: Value::Null, ..self.clone() }
    }

    /// Sends a request as it is.
    pub fn send(&self, message: Value) -> Incoming {
        Incoming { id: message["id"].clone(), messages: self.connection.post(message) }
    }

    pub fn start(&self, method: &str, params: Value) -> Incoming {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.start_as(id.into(), method, params)
    }

    pub fn start_as(&self, id: Value, method: &str, mut params: Value) -> Incoming {
        if !self.meta.is_null() {
            params["_meta"] = self.meta.clone();
        }
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    /// Sends a message that is answered by nobody, or a response.
    pub fn post(&self, message: Value) {
        self.connection.post(message);
    }

    /// Sends a text as it is, over a transport of lines.
    pub fn send_text(&self, text: &str) {
        self.connection.post(text.into());
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.connection.post(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn abandon(&self, incoming: Incoming) {
        self.connection.abandon(&incoming.id.clone(), incoming);
    }

    pub fn strays(&self) -> Vec<Value> {
        self.connection.strays()
    }

    pub async fn request(&self, method: &str, params: Value) -> Value {
        self.start(method, params).response().await
    }

    pub async fn result(&self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    pub async fn error(&self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(response.get("result").is_none(), "{method}: {response}");
        response["error"].take()
    }

    /// The code of the error that a request gets.
    pub async fn code(&self, method: &str, params: Value) -> i64 {
        self.error(method, params).await["code"].as_i64().expect("a code")
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Calls a tool that becomes a task; its id.
    pub async fn task(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["resultType"], "task", "{result}");
        result["taskId"].as_str().expect("an id").to_owned()
    }

    pub async fn get(&self, id: &str) -> Value {
        self.result("tasks/get", json!({ "taskId": id })).await
    }

    pub async fn cancel(&self, id: &str) -> Value {
        self.result("tasks/cancel", json!({ "taskId": id })).await
    }

    pub async fn update(&self, id: &str, responses: Value) -> Value {
        self.result("tasks/update", json!({ "taskId": id, "inputResponses": responses })).await
    }

    /// The task once it has this status.
    pub async fn reach(&self, id: &str, status: &str) -> Value {
        let begun = std::time::Instant::now();
        loop {
            let last = self.get(id).await;
            if last["status"] == status {
                return last;
            }
            assert!(begun.elapsed() < PATIENCE, "the task never was {status}: {last}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Listens to tasks; the acknowledged ids come first.
    pub fn listen(&self, ids: &[&str]) -> Incoming {
        self.start("subscriptions/listen", json!({ "notifications": { "taskIds": ids } }))
    }
}

/// Lines of JSON to a server of the connection's own.
struct Lines {
    to_server: UnboundedSender<Value>,
    routes: Arc<Mutex<Routes>>,
}

/// Who waits for what; the key is an id as JSON text.
#[derive(Default)]
struct Routes {
    waiting: HashMap<String, UnboundedSender<Value>>,
    strays: Vec<Value>,
}

impl Lines {
    fn connect<H: ServerHandler>(tasks: Tasks<H>) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        let transport = stdio::transport(&tasks, read, write);
        tokio::spawn(async move {
            if let Ok(service) = tasks.serve(transport).await {
                let _ = service.waiting().await;
            }
        });
        let (read, write) = tokio::io::split(near);
        let routes = Arc::new(Mutex::new(Routes::default()));
        tokio::spawn(route(read, Arc::clone(&routes)));
        let (to_server, messages) = mpsc::unbounded_channel();
        tokio::spawn(write_lines(write, messages));
        Self { to_server, routes }
    }
}

async fn write_lines(mut write: WriteHalf<DuplexStream>, mut messages: UnboundedReceiver<Value>) {
    while let Some(message) = messages.recv().await {
        // A text is sent as it is, so that a test can say what no JSON value can.
        let line = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
        if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn route(read: tokio::io::ReadHalf<DuplexStream>, routes: Arc<Mutex<Routes>>) {
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a line is a message");
        routes.lock().expect("no test panics here").take(message);
    }
}

impl Routes {
    /// A response is the last that comes because of its request.
    fn take(&mut self, message: Value) {
        let waiting = if message["method"].is_null() {
            self.waiting.remove(&message["id"].to_string())
        } else {
            self.waiting.get(&message["params"]["_meta"][SUBSCRIPTION].to_string()).cloned()
        };
        match waiting {
            Some(waiting) => drop(waiting.send(message)),
            None => self.strays.push(message),
        }
    }
}

impl Connection for Lines {
    fn post(&self, message: Value) -> UnboundedReceiver<Value> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if !message["id"].is_null() {
            self.routes.lock().expect("no test panics here").waiting.insert(message["id"].to_string(), sender);
        }
        self.to_server.send(message).expect("the server reads");
        receiver
    }

    fn abandon(&self, id: &Value, _: Incoming) {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        self.to_server.send(cancelled).expect("the server reads");
    }

    fn strays(&self) -> Vec<Value> {
        self.routes.lock().expect("no test panics here").strays.clone()
    }
}

/// A connection for each request.
struct Http {
    client: http_client::Client,
    user: &'static str,
}

impl Connection for Http {
    fn post(&self, message: Value) -> UnboundedReceiver<Value> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (client, post) = (self.client, self.request(&message));
        tokio::spawn(async move {
            let mut stream = tokio::select! {
                stream = client.open(&post) => stream,
                () = sender.closed() => return,
            };
            if !stream.head.contains("text/event-stream") {
                let reply = stream.rest().await;
                return drop(sender.send(reply.json()));
            }
            loop {
                let message = tokio::select! {
                    message = stream.message() => message,
                    () = sender.closed() => return,
                };
                let Some(message) = message else { return };
                let _ = sender.send(message);
            }
        });
        receiver
    }

    fn abandon(&self, _: &Value, incoming: Incoming) {
        drop(incoming);
    }

    fn strays(&self) -> Vec<Value> {
        Vec::new()
    }
}

impl Http {
    fn request(&self, message: &Value) -> http_client::Post {
        let params = &message["params"];
        let name = params["taskId"].as_str().or(params["name"].as_str());
        let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let mut post = http_client::Post::raw(message.to_string()).bearer(&format!("token-of-{}", self.user));
        if let Some(version) = version {
            post = post.with("mcp-protocol-version", version);
        }
        if let Some(method) = message["method"].as_str() {
            post = post.with("mcp-method", method);
        }
        match name.filter(|name| name.is_ascii()) {
            Some(name) => post.with("mcp-name", name),
            None => post,
        }
    }
}
