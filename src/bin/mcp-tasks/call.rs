//! `mcp-tasks call`, `get`, `watch`, `wait`, `answer`, `cancel`, `list`: tasks from the user's side.

mod answer;
mod args;
mod follow;
mod list;

use std::{
    fs, io,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value};

pub use self::{
    answer::run as answer,
    args::{AnswerArgs, CallArgs, GetArgs, ListArgs, TaskArgs, WaitArgs, WatchArgs},
    list::run as list,
};
use crate::{
    arguments,
    call::follow::Following,
    connect::{Credentials, ServerArgs, connect},
    exit::{Exit, Problem},
    live::{Live, Standing},
    outcome::Outcome,
    output::Output,
    person::{self, Person},
    result::Saver,
    tasks::{Called, Session, Ticket},
    tickets::{Kept, Place, Tickets},
};

/// A server that commands talk to, and what is around it.
struct Client {
    session: Session,
    place: Place,
    person: Person,
    live: Arc<Live>,
    output: Output,
    tickets: Tickets,
}

impl Client {
    async fn open(place: Place, credentials: Credentials, tickets: &Tickets, output: &Output) -> Result<Self, Problem> {
        let live = Arc::new(Live::new(output.interactive, !output.json && !output.interactive));
        let person = Person::new(Arc::clone(&live), output.interactive);
        let session = connect(&place, credentials, person.clone()).await?;
        Ok(Self { session, place, person, live, output: *output, tickets: tickets.clone() })
    }

    /// Who answers questions: nobody without a terminal.
    fn answerer(&self) -> Option<Person> {
        self.output.interactive.then(|| self.person.clone())
    }

    /// Ends the session; what is still asked for is not waited for.
    async fn close(self) {
        person::leave();
        self.live.clear();
        self.session.close().await;
    }
}

/// Calls a tool, and follows its task to the end.
pub async fn call(args: CallArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let client = Client::open(args.server.named()?, Credentials::of(&args.server), tickets, output).await?;
    let outcome = called(&client, &args).await;
    client.close().await;
    match outcome? {
        Some(outcome) => outcome.write(output, &mut Saver::new(args.save.folder)),
        None => Ok(Exit::Done),
    }
}

/// `None`: detached, as the user wanted it.
async fn called(client: &Client, args: &CallArgs) -> Result<Option<Outcome>, Problem> {
    let arguments = read_arguments(client, args).await?;
    if client.output.interactive {
        client.live.show(Standing::of(&serde_json::json!({"status": "calling"})));
    }
    let called = {
        let mut called = std::pin::pin!(client.session.call(&args.tool, arguments));
        loop {
            tokio::select! {
                called = &mut called => break called?,
                () = tokio::time::sleep(Live::PACE) => client.live.tick(),
                () = client.person.interrupted() => return Err(called_off(client, called).await),
            }
        }
    };
    client.live.clear();
    let follow = match called {
        Called::Result(result) => return Ok(Some(Outcome::result(result, None))),
        Called::Error(error) => return Ok(Some(Outcome::error(error, None))),
        Called::Asked(requests) => return Ok(Some(Outcome::asked(requests, None))),
        Called::Task(follow) => follow,
    };
    let following = Following::begin(client, follow, Some(&args.tool))?;
    if args.detach {
        following.detached()?;
        return Ok(None);
    }
    following.until_end().await.map(Some)
}

/// Nobody waits for the call any longer (CLI-10): if it becomes a task soon, that is cancelled.
async fn called_off(client: &Client, called: impl Future<Output = Result<Called, Problem>>) -> Problem {
    const SOON: Duration = Duration::from_secs(2);
    person::leave();
    client.live.clear();
    if let Ok(Ok(Called::Task(follow))) = tokio::time::timeout(SOON, called).await {
        // If that is lost, too, the task ends by its time to live.
        let _ = client.session.cancel(&follow.ticket().task_id).await;
    }
    Problem::new("interrupted before the server answered")
}

/// The arguments of the call, from a file or by the tool's schema.
async fn read_arguments(client: &Client, args: &CallArgs) -> Result<Map<String, Value>, Problem> {
    if let Some(file) = &args.args {
        let text = if file.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
        let text = text.map_err(|error| Problem::new(format!("cannot read {}", file.display())).because(error))?;
        let wrong = || Problem::usage(format!("{} is not a JSON object", file.display()));
        let arguments = serde_json::from_str(&text).map_err(|error| wrong().because(error))?;
        arguments::exact(&text).map_err(|why| Problem::usage(format!("{}: {why}", file.display())))?;
        return Ok(arguments);
    }
    let tools = client.session.tools().await?;
    let Some(tool) = tools.iter().find(|tool| tool.name == args.tool) else {
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        return Err(Problem::usage(format!("the server has no tool `{}`", args.tool))
            .hint(format!("it has: {}", names.join(", "))));
    };
    let schema = Value::Object((*tool.input_schema).clone());
    arguments::parse(&args.arguments, &schema)
        .map_err(|why| Problem::usage(why).hint("`mcp-tasks tools` shows the arguments of each tool"))
}

/// A task that the user named.
struct Named {
    client: Client,
    id: String,
    kept: Option<Kept<Ticket>>,
}

/// Finds the task that `id` means: one of the user's own, by how its id begins, or any other at the server that is named.
/// Whoever names one task names its server with it, which is shown who asks.
async fn named(id: &str, server: &ServerArgs, tickets: &Tickets, output: &Output) -> Result<Named, Problem> {
    let named = server.place();
    let kept: Option<Kept<Ticket>> = tickets.find(id, named.as_ref())?;
    let place = named.or_else(|| kept.as_ref().map(|kept| kept.server.clone())).ok_or_else(|| {
        Problem::usage(format!("no task `{id}` was started from here"))
            .hint("say which server has it: --url URL, or --stdio 'COMMAND ARGUMENTS'")
    })?;
    let id = kept.as_ref().map_or_else(|| id.to_owned(), |kept| kept.task_id.clone());
    let client = Client::open(place, Credentials::of(server), tickets, output).await?;
    Ok(Named { client, id, kept })
}

impl Named {
    fn ticket(&self) -> Ticket {
        let kept = self.kept.as_ref().map(|kept| kept.ticket.clone());
        kept.unwrap_or_else(|| self.client.session.ticket(&self.id))
    }

    /// Remembers what was answered, if the task is one that is remembered.
    fn keep(&self, ticket: Ticket) -> Result<(), Problem> {
        let kept = self.kept.clone().map(|kept| Kept { ticket, ..kept });
        kept.map_or(Ok(()), |kept| self.client.tickets.keep(&kept))
    }

    fn tool(&self) -> Option<&str> {
        self.kept.as_ref()?.tool.as_deref()
    }

    /// The task as it stands; what is gone is forgotten.
    async fn get(&self) -> Result<Option<Value>, Problem> {
        let task = self.client.session.get(&self.id).await?;
        if task.as_ref().is_none_or(|task| Outcome::of(task).is_over()) {
            self.client.tickets.forget(&self.client.place, &self.id);
        }
        Ok(task)
    }
}

/// One look at a task.
pub async fn get(args: GetArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let named = named(&args.task.id, &args.task.server, tickets, output).await?;
    let task = named.get().await;
    let id = named.id.clone();
    named.client.close().await;
    let mut saver = Saver::new(args.save.folder);
    let Some(task) = task? else { return Outcome::expired(&id).write(output, &mut saver) };
    let outcome = Outcome::of(&task);
    if output.json {
        let mut seen = serde_json::json!({"event": "state", "task": task});
        let files = saver.keep(&task["result"])?;
        if !files.is_empty() {
            seen["files"] = files.iter().map(|file| file.to_string_lossy()).collect();
        }
        output.value(&seen, |_| String::new())?;
        return Ok(outcome.exit());
    }
    output.note(&Standing::of(&task).change());
    if outcome.outcome == crate::outcome::Kind::Working {
        return Ok(outcome.exit());
    }
    outcome.write(output, &mut saver)
}

/// Follows a task to its end, as the call that began it would.
pub async fn watch(args: WatchArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let named = named(&args.task.id, &args.task.server, tickets, output).await?;
    let outcome = followed(&named).await;
    named.client.close().await;
    outcome?.write(output, &mut Saver::new(args.save.folder))
}

async fn followed(named: &Named) -> Result<Outcome, Problem> {
    let following = Following::resume(&named.client, named.client.session.follow(named.ticket())?, named.tool());
    following.until_end().await
}

/// Waits for the end of a task, without a word.
pub async fn wait(args: WaitArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let quiet = Output { interactive: false, ..*output };
    let mut named = named(&args.task.id, &args.task.server, tickets, &quiet).await?;
    named.client.live = Arc::new(Live::new(false, false));
    let outcome = match args.timeout {
        Some(limit) => match tokio::time::timeout(limit, waited(&named)).await {
            Ok(outcome) => outcome,
            Err(_) => Ok(Outcome::working(&named.id)),
        },
        None => waited(&named).await,
    };
    named.client.close().await;
    outcome?.write(output, &mut Saver::new(args.save.folder))
}

async fn waited(named: &Named) -> Result<Outcome, Problem> {
    let follow = named.client.session.follow(named.ticket())?;
    Following::resume(&named.client, follow, named.tool()).silently().until_end().await
}

/// Asks for a task to be cancelled, and says how it stands then.
pub async fn cancel(args: TaskArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let named = named(&args.id, &args.server, tickets, output).await?;
    let done = cancelled(&named).await;
    let id = named.id.clone();
    named.client.close().await;
    let Some(task) = done? else { return Outcome::expired(&id).write(output, &mut Saver::new(None)) };
    output.value(&serde_json::json!({"event": "state", "task": task}), |_| match Standing::of(&task).change() {
        standing if Outcome::of(&task).is_over() => format!("{id}: {standing}"),
        standing => format!("{id}: {standing}; the tool was told, and ends in its own time"),
    })?;
    Ok(Exit::Done)
}

async fn cancelled(named: &Named) -> Result<Option<Value>, Problem> {
    if named.get().await?.is_none() {
        return Ok(None);
    }
    named.client.session.cancel(&named.id).await?;
    named.get().await
}

/// Milliseconds since the Unix epoch.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
