//! `Person`: who sits at the terminal. Answers what servers ask, as rmcp's `ClientHandler`, and says what Ctrl-C means.
//!
//! Questions of tasks and direct ones come here alike (CLI-05). One is shown at a time.

use std::{
    pin::pin,
    sync::{Arc, PoisonError},
};

use crossterm::terminal;
use inquire::{InquireError, Select};
use rmcp::{
    ClientHandler, ErrorData,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        FormElicitationCapability, Implementation, UrlElicitationCapability,
    },
    service::{RequestContext, RoleClient},
};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, Notify},
    task::spawn_blocking,
};

use crate::{
    exit::Problem,
    form::{self, Answer},
    live::Live,
    output, text,
};

/// Whoever sits at the terminal, or nobody.
#[derive(Debug, Clone)]
pub struct Person(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    live: Arc<Live>,
    /// Who uses the terminal: one at a time.
    terminal: Arc<Mutex<()>>,
    /// Whether anybody is there.
    there: bool,
    /// The last question that nobody was there to answer, under its key.
    unanswered: std::sync::Mutex<Option<Value>>,
    /// Ctrl-C while a question was open.
    interrupted: Notify,
    /// The question may be shown again.
    resumed: Notify,
}

/// What a person means by Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing: go on.
    GoOn,
    /// The task shall stop.
    Cancel,
    /// The task shall go on without this program.
    Detach,
}

impl Person {
    /// The person who sees `live`, if one is `there`.
    pub fn new(live: Arc<Live>, there: bool) -> Self {
        Self(Arc::new(Inner {
            live,
            terminal: Arc::default(),
            there,
            unanswered: Default::default(),
            interrupted: Notify::new(),
            resumed: Notify::new(),
        }))
    }

    /// Whether anybody is there to be asked.
    pub fn is_there(&self) -> bool {
        self.0.there
    }

    /// The last question that nobody was there to answer, as in `inputRequests`.
    pub fn unanswered(&self) -> Option<Value> {
        self.0.unanswered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resolves once Ctrl-C was pressed, in a question or outside.
    pub async fn interrupted(&self) {
        tokio::select! {
            // Where Ctrl-C cannot be heard, it ends the program, as it always does.
            Ok(()) = tokio::signal::ctrl_c() => {}
            () = self.0.interrupted.notified() => {}
        }
    }

    /// Asks what Ctrl-C shall mean. Pressing it again detaches, which harms nothing.
    pub async fn wish(&self) -> Wish {
        const CANCEL: &str = "Cancel the task";
        const DETACH: &str = "Detach: leave it running, and print its id";
        const GO_ON: &str = "Go on waiting";
        let _silence = self.0.live.pause();
        let terminal = Arc::clone(&self.0.terminal).lock_owned().await;
        let chosen = spawn_blocking(move || {
            let chosen = Select::new("What now?", vec![CANCEL, DETACH, GO_ON]).without_filtering().prompt();
            drop(terminal);
            chosen
        });
        match chosen.await {
            Ok(Ok(CANCEL)) => Wish::Cancel,
            Ok(Ok(GO_ON) | Err(InquireError::OperationCanceled)) => {
                self.0.resumed.notify_waiters();
                Wish::GoOn
            }
            _ => Wish::Detach,
        }
    }

    /// Shows a question, whoever asks it, and waits for the answer.
    ///
    /// # Errors
    /// If the terminal cannot be used.
    pub async fn answer(&self, question: Question) -> Result<ElicitResult, Problem> {
        loop {
            match self.ask(question.clone()).await? {
                Answer::Accept(content) => {
                    let content = Value::Object(content);
                    return Ok(match question {
                        Question::Form { .. } => ElicitResult::new(ElicitationAction::Accept).with_content(content),
                        Question::Url { .. } => ElicitResult::new(ElicitationAction::Accept),
                    });
                }
                Answer::Decline => return Ok(ElicitResult::new(ElicitationAction::Decline)),
                Answer::Cancel => return Ok(ElicitResult::new(ElicitationAction::Cancel)),
                // Whoever waits decides what becomes of the task; if it goes on, so does the question.
                Answer::Interrupted => {
                    let mut resumed = pin!(self.0.resumed.notified());
                    resumed.as_mut().enable();
                    self.0.interrupted.notify_one();
                    resumed.await;
                }
            }
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        let terminal = Arc::clone(&self.0.terminal).lock_owned().await;
        let _silence = self.0.live.pause();
        let mut closed = Closed(true);
        let asked = spawn_blocking(move || {
            // Until the prompt has returned, the terminal is its own, even if nobody waits for the answer any longer.
            let _terminal = terminal;
            output::beside(&question.said());
            form::ask(question.schema())
        })
        .await;
        closed.0 = false;
        let asked = asked.map_err(|error| Problem::new("the question could not be shown").because(error))?;
        asked.map_err(|error| Problem::new("cannot ask at this terminal").because(error))
    }
}

/// Gives the terminal back as it was, also from a prompt that nobody waits for any longer.
pub fn leave() {
    if terminal::is_raw_mode_enabled().unwrap_or(false) {
        // Bracketed paste off, cursor on: what a prompt sets, and takes back when it ends.
        output::raw("\r\n\u{1b}[?2004l\u{1b}[?25h");
        let _ = terminal::disable_raw_mode();
    }
}

/// Tells the user of a prompt that nobody waits for: the server has closed the question.
struct Closed(bool);

impl Drop for Closed {
    fn drop(&mut self) {
        if self.0 {
            output::raw("\r\n(The server no longer asks this.)\r\n");
        }
    }
}

/// What a server asks.
#[derive(Debug, Clone)]
pub enum Question {
    /// A form.
    Form { message: String, schema: Value },
    /// Whether the user goes to an address.
    Url { message: String, url: String },
}

impl Question {
    /// The question of an `elicitation/create`, by its params as on the wire.
    pub fn of(params: &Value) -> Option<Self> {
        let text = |key: &str| params[key].as_str().map(text::printable);
        let message = text("message")?;
        match params["mode"].as_str() {
            None | Some("form") => Some(Self::Form { message, schema: params["requestedSchema"].clone() }),
            Some("url") => Some(Self::Url { message, url: text("url")? }),
            _ => None,
        }
    }

    fn said(&self) -> String {
        match self {
            Self::Form { message, .. } => format!("The server asks: {message}"),
            Self::Url { message, url } => {
                format!("The server asks you to visit an address: {message}\n  {url}\nAgree only if you trust it.")
            }
        }
    }

    /// The form; what has none is agreed to or not.
    pub fn schema(&self) -> &Value {
        match self {
            Self::Form { schema, .. } => schema,
            Self::Url { .. } => &Value::Null,
        }
    }
}

/// What this program says of itself to servers.
fn client_config() -> ClientConfig {
    let elicitation = ElicitationCapability::new()
        .with_form(FormElicitationCapability::default())
        .with_url(UrlElicitationCapability::default());
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(elicitation);
    ClientConfig::new(capabilities, Implementation::new("mcp-tasks", env!("CARGO_PKG_VERSION")))
}

impl ClientHandler for Person {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(&request).unwrap_or_default();
        let question = Question::of(&params);
        if !self.0.there {
            // The client gives a question of a round its key as the id; a direct request has the server's.
            let asked = json!({ context.id.to_string(): { "method": "elicitation/create", "params": params } });
            *self.0.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
            return Err(ErrorData::internal_error("nobody is there to ask", None));
        }
        let question = question.ok_or_else(|| ErrorData::invalid_params("a question of an unknown kind", None))?;
        self.answer(question).await.map_err(|problem| {
            output::beside(&problem.to_string());
            ErrorData::internal_error("the user cannot be asked", Some(json!({})))
        })
    }

    fn get_info(&self) -> ClientConfig {
        client_config()
    }
}
