//! Follows one task: shows how it stands, keeps its ticket, hears Ctrl-C.

use serde_json::{Value, json};

use super::Client;
use crate::{
    exit::Problem,
    live::{Live, Standing},
    outcome::Outcome,
    output::Output,
    person::{self, Wish},
    tasks::Follow,
    tickets::{Kept, Place},
};

/// How long a ticket is kept after the time to live of its task, in milliseconds: servers keep a while what expired.
const GRACE: u64 = 3_600_000;

/// A task that is followed.
pub struct Following<'a> {
    client: &'a Client,
    follow: Follow,
    id: String,
    tool: Option<String>,
    /// Whether changes are told.
    told: bool,
}

/// What comes next.
enum Next {
    State(Value),
    Gone,
    /// The user leaves the task.
    Left,
}

impl<'a> Following<'a> {
    /// A task that was made just now. Its ticket is kept before anything else happens.
    pub fn begin(client: &'a Client, follow: Follow, tool: Option<&str>) -> Result<Self, Problem> {
        let following = Self::resume(client, follow, tool);
        following.keep()?;
        if client.output.json {
            let created = json!({"event": "created", "task": following.follow.task()});
            client.output.value(&created, |_| String::new())?;
        } else {
            client.output.note(&format!("task {}", following.id));
        }
        Ok(following)
    }

    /// A task that is known.
    pub fn resume(client: &'a Client, follow: Follow, tool: Option<&str>) -> Self {
        let id = follow.ticket().task_id;
        Self { client, follow, id, tool: tool.map(str::to_owned), told: true }
    }

    /// The same, without a word until the end.
    pub fn silently(self) -> Self {
        Self { told: false, ..self }
    }

    /// Leaves the task running.
    pub fn detached(&self) -> Result<(), Problem> {
        if let Place::Stdio(_) = self.client.place {
            self.client.output.note(
                "The server is a process of this command and ends with it; the task goes on only if that server keeps its \
                 tasks in a store and runs them again.",
            );
        }
        if self.client.output.json { Ok(()) } else { Output::line(&self.id) }
    }

    /// Follows it until it ends, needs input that nobody here gives, or is left.
    pub async fn until_end(mut self) -> Result<Outcome, Problem> {
        let outcome = loop {
            match self.next().await? {
                Next::Left => break Outcome::working(&self.id),
                Next::Gone => break Outcome::expired(&self.id),
                Next::State(task) => {
                    self.show(&task)?;
                    let outcome = Outcome::of(&task);
                    if self.is_last(&outcome) {
                        break outcome;
                    }
                }
            }
        };
        self.ended(outcome)
    }

    async fn next(&mut self) -> Result<Next, Problem> {
        loop {
            tokio::select! {
                state = self.follow.next() => return Ok(state?.map_or(Next::Gone, Next::State)),
                () = tokio::time::sleep(Live::PACE) => self.client.live.tick(),
                () = self.client.person.interrupted() => match self.wish().await {
                    Wish::GoOn => {}
                    Wish::Cancel => self.client.session.cancel(&self.id).await?,
                    Wish::Detach => return Ok(Next::Left),
                },
            }
        }
    }

    /// What Ctrl-C means: without a terminal, that this program shall end.
    async fn wish(&self) -> Wish {
        if self.client.output.interactive { self.client.person.wish().await } else { Wish::Detach }
    }

    fn show(&self, task: &Value) -> Result<(), Problem> {
        if self.told && self.client.output.json {
            self.client.output.value(&json!({"event": "state", "task": task}), |_| String::new())?;
        }
        self.client.live.show(Standing::of(task));
        Ok(())
    }

    /// Whether there is nothing to wait for.
    fn is_last(&self, outcome: &Outcome) -> bool {
        let asks = outcome.outcome == crate::outcome::Kind::NeedsInput && !self.client.output.interactive;
        outcome.is_over() || asks
    }

    /// Forgets a task that is over, and remembers any other.
    fn ended(self, outcome: Outcome) -> Result<Outcome, Problem> {
        person::leave();
        self.client.live.clear();
        if outcome.is_over() {
            self.client.tickets.forget(&self.client.place, &self.id);
        } else {
            self.keep()?;
        }
        if outcome.outcome == crate::outcome::Kind::Working {
            self.detached()?;
        }
        Ok(outcome)
    }

    fn keep(&self) -> Result<(), Problem> {
        let ticket = self.follow.ticket();
        let end = |ttl: u64| ticket.created.saturating_add(ttl).saturating_add(GRACE);
        self.client.tickets.keep(&Kept {
            task_id: self.id.clone(),
            tool: self.tool.clone(),
            server: self.client.place.clone(),
            created: ticket.created,
            until: ticket.ttl.map(end),
            ticket,
        })
    }
}
