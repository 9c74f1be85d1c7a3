//! A conversation, step by step: the replayer is the client, and the hand that moves tools and time.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use mcp_tasks::{
    ToolSet,
    clock::{Clock, ManualClock},
    engine::EngineBuilder,
    limits::Limits,
    store::{TaskStore, faulty::FaultyStore},
};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{
    act::{self, Command, Run, Stage},
    files::{Conversation, Exchange, Known, Late, Sent, Server, Setup, Step, Tool, judge},
    seen::Seen,
};
use crate::{
    http_client,
    stores::{self, Fresh},
    support::{Incoming, Wire, World},
};

/// What is done to each response before it is looked at.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Changes the response to a request, and its HTTP status.
    pub change: fn(request: &Value, response: &mut Value, status: &mut Option<u16>),
    /// How long the server may take for what it does by itself.
    pub patience: Duration,
}

impl Fault {
    pub const NONE: Self = Self { change: |_, _, _| {}, patience: Duration::from_secs(15) };
}

/// Replays a conversation against our server; why it is not the one in the file.
pub async fn replay(conversation: &Conversation, wire: Wire, fault: Fault) -> Result<(), String> {
    let mut replayer = Replayer::new(conversation, wire, fault).await;
    for (place, step) in conversation.steps.iter().enumerate() {
        replayer.step(step).await.map_err(|why| format!("step {place}: {why}"))?;
    }
    replayer.nothing_is_left().await
}

struct Replayer<'a> {
    conversation: &'a Conversation,
    wire: Wire,
    fault: Fault,
    clock: ManualClock,
    fresh: Fresh,
    stage: Arc<Stage>,
    world: World<ToolSet>,
    /// Servers that were killed: they do nothing any more that anybody would notice.
    past: Vec<World<ToolSet>>,
    /// A client for everybody who asks.
    clients: HashMap<&'static str, crate::support::Client>,
    known: Known,
    /// Requests without a response so far, by id.
    open: HashMap<String, (Value, Open)>,
    seen: Seen,
    /// Whether the server does something by itself, which may take it a moment.
    is_settling: bool,
}

/// A request that has been sent.
enum Open {
    Lines(Incoming),
    Http(http_client::Stream),
}

/// One message that came because of a request.
struct Answer {
    message: Value,
    status: Option<u16>,
    head: String,
}

impl<'a> Replayer<'a> {
    async fn new(conversation: &'a Conversation, wire: Wire, fault: Fault) -> Self {
        let clock = ManualClock::default();
        let fresh = stores::fresh(&clock).await;
        let stage = Arc::<Stage>::default();
        let world = serve(conversation, wire, &clock, Arc::clone(&fresh.store), &stage).await;
        Self {
            conversation,
            wire,
            fault,
            clock,
            fresh,
            stage,
            world,
            past: Vec::new(),
            clients: HashMap::new(),
            known: Known::of(conversation),
            open: HashMap::new(),
            seen: Seen::default(),
            is_settling: false,
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Exchange(exchange) => self.exchange(exchange).await,
            Step::Response(late) => self.late(late).await,
            Step::Notification(sent) => self.notify(sent),
            Step::Push(sent) => self.push(sent).await,
            Step::Abandon(id) => self.abandon(id).await,
            Step::User(_) => Ok(()),
            Step::Tool(tool) => self.tool(tool).await,
            Step::Clock(milliseconds) => self.settling(|this| this.clock.advance(Duration::from_millis(*milliseconds))),
            Step::Server(Server::Restarts(_)) => self.restart().await,
            Step::Server(Server::ShutsDown(_)) => {
                self.world.engine.shutdown(Duration::ZERO).await;
                Ok(())
            }
        }
    }

    fn settling(&mut self, act: impl FnOnce(&mut Self)) -> Result<(), String> {
        act(self);
        self.is_settling = true;
        Ok(())
    }

    /// Sends the request, again for as long as the server does something by itself, and meets the response.
    async fn exchange(&mut self, exchange: &Exchange) -> Result<(), String> {
        let deadline = Instant::now() + self.fault.patience;
        let mut before = None;
        loop {
            let (request, mut open) = self.send(exchange).await;
            let Some(response) = &exchange.response else {
                self.open.insert(request["id"].to_string(), (request, open));
                return Ok(());
            };
            let answer =
                self.answer(&request, &mut open, deadline).await.map_err(|why| before.take().unwrap_or(why))?;
            self.known.asking(&request);
            match self.meet(exchange, response, &answer) {
                Ok(()) => {
                    self.is_settling = false;
                    return Ok(());
                }
                Err(why) if !self.is_settling || Instant::now() >= deadline => return Err(why),
                Err(why) => {
                    before = Some(why);
                    sleep(Duration::from_millis(2)).await;
                }
            }
        }
    }

    /// The next message, and nothing after it if it is the response.
    async fn answer(&self, request: &Value, open: &mut Open, deadline: Instant) -> Result<Answer, String> {
        let mut answer = open.next(deadline).await?.ok_or("no response")?;
        (self.fault.change)(request, &mut answer.message, &mut answer.status);
        if let Open::Http(_) = open
            && answer.message.get("method").is_none()
            && let Some(more) = open.next(deadline).await?
        {
            return Err(format!("after the response came {}", more.message));
        }
        Ok(answer)
    }

    fn meet(&mut self, exchange: &Exchange, response: &Value, answer: &Answer) -> Result<(), String> {
        self.meet_response(response, exchange.response_definition.as_deref(), &answer.message)?;
        if let Some(pointer) = exchange.absent.iter().find(|pointer| answer.message.pointer(pointer).is_some()) {
            return Err(format!("{pointer} is there: {}", answer.message));
        }
        match (answer.status, exchange.http.status) {
            (Some(is), Some(should)) if is != should => return Err(format!("status {is} instead of {should}")),
            (None, _) => return Ok(()),
            _ => {}
        }
        let headers = exchange.http.response_headers.iter();
        let lines = headers.map(|(name, value)| format!("\r\n{}: {value}\r\n", name.to_ascii_lowercase()));
        match lines.into_iter().find(|line| !answer.head.contains(line.as_str())) {
            Some(line) => Err(format!("no header {line:?} in {:?}", answer.head)),
            None => Ok(()),
        }
    }

    fn meet_response(&mut self, expected: &Value, definition: Option<&str>, actual: &Value) -> Result<(), String> {
        if expected["id"] != actual["id"] {
            return Err(format!("no response to {}: {actual}", expected["id"]));
        }
        self.keeps_secrets(actual)?;
        if let Some(definition) = definition {
            let judged = if expected.get("error").is_some() { actual } else { &actual["result"] };
            judge(&self.conversation.revision, definition, judged)?;
        }
        self.known.meet(expected, actual).map_err(|why| format!("{why} in {actual}"))?;
        self.seen.state(&actual["result"]);
        Ok(())
    }

    fn keeps_secrets(&self, message: &Value) -> Result<(), String> {
        match self.conversation.unsaid.iter().find(|secret| message.to_string().contains(secret.as_str())) {
            Some(secret) => Err(format!("it tells {secret:?}: {message}")),
            None => Ok(()),
        }
    }

    async fn late(&mut self, late: &Late) -> Result<(), String> {
        let id = &late.message["id"];
        let deadline = Instant::now() + self.fault.patience;
        let (request, mut open) = self.opened(id)?;
        let mut answer = self.answer(&request, &mut open, deadline).await?;
        while self.seen.may_come_again(&id.to_string(), &answer.message) {
            answer = self.answer(&request, &mut open, deadline).await?;
        }
        self.meet_response(&late.message, late.response_definition.as_deref(), &answer.message)
    }

    fn opened(&mut self, id: &Value) -> Result<(Value, Open), String> {
        self.open.remove(&id.to_string()).ok_or_else(|| format!("no request {id} is open"))
    }

    fn notify(&mut self, sent: &Sent) -> Result<(), String> {
        let message = self.known.fill(&sent.message);
        self.client("Ada").post(message);
        Ok(())
    }

    /// A message on a stream; a state may come again before it.
    async fn push(&mut self, sent: &Sent) -> Result<(), String> {
        let id = sent.message["params"]["_meta"][crate::support::SUBSCRIPTION].to_string();
        let deadline = Instant::now() + self.fault.patience;
        let (request, mut open) = self.open.remove(&id).ok_or_else(|| format!("no stream {id} is open"))?;
        loop {
            let Answer { mut message, .. } = open.next(deadline).await?.ok_or("the stream ended")?;
            (self.fault.change)(&request, &mut message, &mut None);
            self.keeps_secrets(&message)?;
            if let Some(definition) = &sent.definition {
                judge(&self.conversation.revision, definition, &message)?;
            }
            match self.known.meet(&sent.message, &message) {
                Ok(()) => break self.seen.on_stream(&id, &message),
                Err(why) if !self.seen.may_come_again(&id, &message) => return Err(format!("{why} in {message}")),
                Err(_) => {}
            }
        }
        self.is_settling = false;
        self.open.insert(id, (request, open));
        Ok(())
    }

    async fn abandon(&mut self, id: &Value) -> Result<(), String> {
        let (_, mut open) = self.opened(id)?;
        while let Some(message) = open.ready().await {
            if !self.seen.may_come_again(&id.to_string(), &message) {
                return Err(format!("nobody asked for {message}"));
            }
        }
        match open {
            Open::Lines(incoming) => self.client("Ada").abandon(incoming),
            Open::Http(stream) => drop(stream),
        }
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), String> {
        let store = self.fresh.reopened(&self.clock).await;
        let next = serve(self.conversation, self.wire, &self.clock, store, &self.stage).await;
        self.past.push(std::mem::replace(&mut self.world, next));
        self.clients.clear();
        Ok(())
    }

    async fn send(&mut self, exchange: &Exchange) -> (Value, Open) {
        let who = if exchange.who.as_deref() == Some("Bob") { "Bob" } else { "Ada" };
        let request = self.known.fill(&exchange.request);
        let Some(client) = self.world.http() else {
            let incoming = self.client(who).send(request.clone());
            return (request, Open::Lines(incoming));
        };
        let body = exchange.body.as_ref().map_or_else(|| request.to_string(), |body| self.known.body(body));
        let mut post = http_client::Post::raw(body).bearer(&format!("token-of-{who}"));
        for (name, value) in &exchange.http.headers {
            post = post.with(name, &self.known.text(value));
        }
        (request, Open::Http(client.start(&post).await))
    }

    fn client(&mut self, who: &'static str) -> &crate::support::Client {
        self.clients.entry(who).or_insert_with(|| self.world.client(who))
    }

    async fn tool(&mut self, tool: &Tool) -> Result<(), String> {
        match tool {
            Tool::Began(count) => self.until(|this| this.stage.began() == *count, "another number of runs began").await,
            Tool::Says(text) => self.order([Command::Say(text.clone())]).await,
            Tool::Asks(questions) => {
                let asked = questions.iter().map(|(key, request)| Command::Ask(key.clone(), request.clone()));
                self.order(asked.collect::<Vec<_>>()).await
            }
            Tool::Returns(result) => self.order([Command::Return(result.clone())]).await,
            Tool::Fails(error) => self.order([Command::Fail(error.clone())]).await,
            Tool::Breaks(text) => self.order([Command::Break(text.clone())]).await,
            Tool::IsTold(_) => self.until_run(|run| run.is_told.load(Ordering::SeqCst), "the tool is not told").await,
            Tool::IsStopped(_) => self.until_run(|run| run.is_over.load(Ordering::SeqCst), "the tool runs on").await,
            Tool::Has(answers) => self.has(answers).await,
        }
    }

    /// Tells the run that began last what to do, once it has begun.
    async fn order(&mut self, commands: impl IntoIterator<Item = Command>) -> Result<(), String> {
        self.until(|this| this.stage.last().is_some(), "no tool runs").await?;
        let run = self.stage.last().ok_or("no tool runs")?;
        self.is_settling = true;
        commands.into_iter().try_for_each(|command| run.order(command))
    }

    async fn has(&mut self, answers: &Map<String, Value>) -> Result<(), String> {
        let given = |this: &Self| this.stage.last().map(|run| run.has.lock().expect("no test panics here").clone());
        let known = self.known.clone();
        let fits = |this: &Self| given(this).is_some_and(|has| known.clone().meet_whole(answers, &has).is_ok());
        let outcome = self.until(fits, "the tool has other answers").await;
        outcome.map_err(|why| format!("{why}: {:?}", given(self)))
    }

    async fn until_run(&self, is: impl Fn(&Run) -> bool, otherwise: &str) -> Result<(), String> {
        self.until(|this| this.stage.last().is_some_and(|run| is(&run)), otherwise).await
    }

    async fn until(&self, is: impl Fn(&Self) -> bool, otherwise: &str) -> Result<(), String> {
        let deadline = Instant::now() + self.fault.patience;
        while !is(self) {
            if Instant::now() >= deadline {
                return Err(otherwise.to_owned());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// Nothing came that no step has.
    async fn nothing_is_left(self) -> Result<(), String> {
        if let Some(id) = self.open.keys().next() {
            return Err(format!("the request {id} is still open"));
        }
        for client in self.clients.values() {
            // What was sent before this has come by then, for lines keep their order.
            client.request("server/discover", json!({})).await;
        }
        match self.clients.values().find_map(|client| client.strays().pop()) {
            Some(stray) => Err(format!("nobody asked for {stray}")),
            None => Ok(()),
        }
    }
}

impl Open {
    /// What has come by now.
    async fn ready(&mut self) -> Option<Value> {
        match self {
            Self::Lines(incoming) => incoming.ready(),
            Self::Http(stream) => timeout(Duration::ZERO, stream.next()).await.ok().flatten(),
        }
    }

    /// The next message; `None` where no more can come.
    async fn next(&mut self, deadline: Instant) -> Result<Option<Answer>, String> {
        let next = async {
            match self {
                Self::Lines(incoming) => {
                    incoming.next().await.map(|message| Answer { message, status: None, head: String::new() })
                }
                Self::Http(stream) => {
                    let message = stream.next().await?;
                    Some(Answer { message, status: Some(stream.status), head: stream.head.clone() })
                }
            }
        };
        timeout_at(deadline, next).await.map_err(|_| "nothing came".to_owned())
    }
}

async fn serve(
    conversation: &Conversation,
    wire: Wire,
    clock: &ManualClock,
    mut store: Arc<dyn TaskStore>,
    stage: &Arc<Stage>,
) -> World<ToolSet> {
    let has = |setup| conversation.setup.contains(&setup);
    let configure = |builder: EngineBuilder| {
        let mut limits = Limits::default();
        limits.poll_tolerance = has(Setup::RateLimit).then_some(2);
        builder.limits(limits)
    };
    if has(Setup::ReadOnly) {
        let broken = FaultyStore::<dyn TaskStore>::new(store, Arc::new(clock.clone()) as Arc<dyn Clock>);
        broken.break_down(true);
        store = Arc::new(broken);
    }
    let stage = Arc::clone(stage);
    World::on(store, clock.clone(), wire, configure, Arc::default(), move |engine| act::handler(engine, stage)).await
}
