//! Follows one task: shows how it stands, keeps its ticket, hears Ctrl-C.

use std::pin::pin;

use serde_json::{Value, json};

use super::{Client, now};
use crate::{
    exit::Problem,
    live::{Live, Standing},
    outcome::Outcome,
    output::Output,
    person::Wish,
    tasks::{self, Follow, Ticket},
    tickets::{Kept, Place},
};

/// How long a ticket is kept after the time to live of its task, in milliseconds: servers keep a while what expired.
const GRACE: u64 = 3_600_000;

/// A task that is followed.
pub struct Following<'a> {
    client: &'a Client,
    id: String,
    tool: Option<String>,
    task: Value,
    ticket: Ticket,
    /// Whether changes are told.
    told: bool,
    /// Whether `task` was told already.
    fresh: bool,
}

impl<'a> Following<'a> {
    /// A task that was made just now. Its ticket is kept before anything else happens.
    pub fn begin(client: &'a Client, task: &Value, tool: Option<&str>) -> Result<Self, Problem> {
        let following = Self { fresh: true, ..Self::resume(client, task, tool, Ticket::default()) };
        following.keep()?;
        if client.output.json {
            client.output.value(&json!({"event": "created", "task": task}), |_| String::new())?;
        } else {
            client.output.note(&format!("task {}", following.id));
        }
        Ok(following)
    }

    /// A task that is known.
    pub fn resume(client: &'a Client, task: &Value, tool: Option<&str>, ticket: Ticket) -> Self {
        let id = task["taskId"].as_str().unwrap_or_default().to_owned();
        Self { client, id, tool: tool.map(str::to_owned), task: task.clone(), ticket, told: true, fresh: false }
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
    pub async fn until_end(self) -> Result<Outcome, Problem> {
        let client = self.client;
        if self.fresh {
            client.live.show(Standing::of(&self.task));
        } else {
            self.show(&self.task)?;
        }
        let outcome = Outcome::of(&self.task);
        if self.is_last(&outcome) {
            return self.ended(outcome);
        }
        let mut follow = Follow::new(&client.session, &self.id, client.answerer(), self.ticket.clone());
        let outcome = loop {
            let next = self.next(&mut follow).await?;
            let Some(state) = next else { break Outcome::working(&self.id) };
            let Some(state) = state else { break Outcome::expired(&self.id) };
            self.show(&state)?;
            let outcome = Outcome::of(&state);
            if self.is_last(&outcome) {
                break outcome;
            }
        };
        let ticket = follow.ticket().clone();
        Self { ticket, ..self }.ended(outcome)
    }

    /// The next state, `Some(None)` if the task is gone; `None` if the user leaves it.
    async fn next(&self, follow: &mut Follow<'_, crate::person::Person>) -> Result<Option<Option<Value>>, Problem> {
        let client = self.client;
        let mut next = pin!(follow.next());
        loop {
            tokio::select! {
                state = &mut next => return state.map(Some),
                () = tokio::time::sleep(Live::PACE) => client.live.tick(),
                () = client.person.interrupted() => match self.wish().await {
                    Wish::GoOn => {}
                    Wish::Cancel => tasks::cancel(&client.session, &self.id).await?,
                    Wish::Detach => return Ok(None),
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
        self.client.person.leave();
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
        let ttl = self.task["ttlMs"].as_u64();
        self.client.tickets.keep(&Kept {
            task_id: self.id.clone(),
            tool: self.tool.clone(),
            server: self.client.place.clone(),
            created: now(),
            until: ttl.map(|ttl| now().saturating_add(ttl).saturating_add(GRACE)),
            ticket: self.ticket.clone(),
        })
    }
}
