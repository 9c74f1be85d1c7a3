//! Hints between nodes: `NOTIFY` after the commit, batched, and `LISTEN`, both on one connection of its own.
//!
//! A `NOTIFY` in the writing transaction would let only one commit at a time. So a change is told to this node at once,
//! and to the others by a loop: while one statement is under way, the next gathers. What cannot be told is summed up as
//! "some were missed"; whoever relies on a change looks again now and then anyway.

use std::{
    collections::HashMap,
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Notify, broadcast, watch},
    task::AbortHandle,
    time::timeout,
};
use tokio_postgres::{
    AsyncMessage, Client, Connection,
    tls::MakeTlsConnect,
    types::{ToSql, Type},
};

use super::tls::Tls;
use crate::{
    input::RequestHash,
    store::{Heard, Hint, Hints},
    task::Rev,
    task_id::TaskId,
};

/// How many hints a reader may lag behind before it is told that it missed some.
const HINTS: usize = 1024;
/// How many tasks may wait to be told of. Beyond that the others look for themselves.
const WAITING: usize = 16 * 1024;
/// PostgreSQL takes less than 8,000 bytes.
const PAYLOAD: usize = 7900;
/// Between two statements, so that a busy node sends few large ones.
const PACE: Duration = Duration::from_millis(2);
/// How often a silent connection is asked whether it is there.
const CHECK: Duration = Duration::from_secs(2);
/// How long to wait after a connection was lost, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
/// What stands for hints that were lost.
const MISSED: &str = "*";
/// What stands for a task that was let go.
const CLAIMABLE: &str = "+";

/// The hints of a store.
pub(super) struct Signals {
    hints: broadcast::Sender<Heard>,
    told: Mutex<Told>,
    news: Notify,
    /// False where nodes do not tell each other.
    remote: bool,
}

/// What the other nodes are to be told.
#[derive(Default)]
struct Told {
    changed: HashMap<TaskId, Rev>,
    claimable: bool,
    missed: bool,
}

impl Signals {
    pub fn new(remote: bool) -> Self {
        Self { hints: broadcast::Sender::new(HINTS), told: Mutex::default(), news: Notify::new(), remote }
    }

    pub fn watch(&self) -> Hints {
        Hints::new(self.hints.subscribe())
    }

    /// Tells of a change that is committed.
    pub fn tell(&self, id: TaskId, rev: Rev) {
        self.say(Heard::Hint(Hint { id, rev }));
        if !self.remote {
            return;
        }
        let mut told = self.told();
        if told.changed.len() >= WAITING {
            *told = Told { missed: true, ..Told::default() };
        }
        let newest = told.changed.entry(id).or_default();
        *newest = rev.max(*newest);
        drop(told);
        self.news.notify_one();
    }

    /// Tells that there is a task which nobody holds.
    pub fn offer(&self) {
        self.say(Heard::Claimable);
        if self.remote {
            self.told().claimable = true;
            self.news.notify_one();
        }
    }

    /// An error means that nobody watches.
    fn say(&self, heard: Heard) {
        drop(self.hints.send(heard));
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is to be told.
    fn take(&self) -> Told {
        mem::take(&mut self.told())
    }

    /// Something was not told, perhaps: that is the next to be told.
    fn lost(&self) {
        self.told().missed = true;
        self.news.notify_one();
    }
}

/// What connects, and to what.
pub(super) struct Line {
    pub database: tokio_postgres::Config,
    pub tls: Tls,
    pub schema: Box<str>,
    pub timeout: Duration,
}

/// The loop of a store; dropping this ends it.
pub(super) struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Listening {
    /// Starts to listen; returns once it does, or after the time a call may take. It goes on trying in any case.
    pub async fn start(signals: &Arc<Signals>, line: Line) -> Self {
        let (listens, mut ready) = watch::channel(false);
        let patience = line.timeout;
        let listening = Self(tokio::spawn(listen(Arc::downgrade(signals), line, listens)).abort_handle());
        // Not to hear is no reason not to serve.
        drop(timeout(patience, ready.wait_for(|ready| *ready)).await);
        listening
    }
}

/// For as long as there is a store: connects, listens and tells until the connection is lost.
async fn listen(signals: Weak<Signals>, line: Line, listens: watch::Sender<bool>) {
    let node = TaskId::random().map_or(0, |id| id.to_bits() as u64);
    let mut wait = BACK_OFF[0];
    loop {
        let Some(signals) = signals.upgrade() else { return };
        match connect(&line, &signals, node).await {
            Ok(hearing) => {
                // What was said before it did not hear.
                signals.say(Heard::Missed);
                listens.send_replace(true);
                wait = BACK_OFF[0];
                let error = tell_others(&hearing, &line, &signals, node).await;
                tracing::warn!(error = &*error as &dyn std::error::Error, "the connection for hints was lost");
                signals.lost();
            }
            Err(error) => tracing::debug!(error = &*error as &dyn std::error::Error, "no connection for hints"),
        }
        drop(signals);
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(BACK_OFF[1]);
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A connection that listens.
async fn connect(line: &Line, signals: &Arc<Signals>, node: u64) -> Result<Hearing, BoxError> {
    let hearing = match &line.tls {
        Tls::No(tls) => hear(line, *tls, signals, node).await?,
        #[cfg(feature = "postgres-tls")]
        Tls::Rustls(tls) => hear(line, tls.clone(), signals, node).await?,
    };
    // What is only told need not be on disk.
    let start = format!("SET synchronous_commit = off; LISTEN {}", channel(&line.schema));
    timeout(line.timeout, hearing.client.batch_execute(&start)).await??;
    Ok(hearing)
}

/// A connection, and the loop that hears what arrives on it.
struct Hearing {
    client: Client,
    hears: AbortHandle,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.hears.abort();
    }
}

async fn hear<T>(line: &Line, tls: T, signals: &Arc<Signals>, node: u64) -> Result<Hearing, BoxError>
where
    T: MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = timeout(line.timeout, line.database.connect(tls)).await??;
    let hears = tokio::spawn(pass_on(connection, Arc::downgrade(signals), node)).abort_handle();
    Ok(Hearing { client, hears })
}

/// Passes on what others say, until the connection ends.
async fn pass_on<S, T>(mut connection: Connection<S, T>, signals: Weak<Signals>, node: u64)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        let Some(signals) = signals.upgrade() else { return };
        if let AsyncMessage::Notification(notification) = message {
            read(notification.payload(), node).into_iter().for_each(|heard| signals.say(heard));
        }
    }
}

/// Tells the others what is to be told, until that fails.
async fn tell_others(hearing: &Hearing, line: &Line, signals: &Signals, node: u64) -> BoxError {
    let channel = channel(&line.schema);
    let channel = channel.trim_matches('"');
    let sql = "SELECT count(pg_notify($1, text)) FROM unnest($2) AS text";
    loop {
        let asked = timeout(CHECK, signals.news.notified()).await;
        // With nothing to say, it asks whether the connection is there.
        let texts = if asked.is_ok() { written(&signals.take(), node) } else { Vec::new() };
        let params: [(&(dyn ToSql + Sync), Type); 2] = [(&channel, Type::TEXT), (&texts, Type::TEXT_ARRAY)];
        match timeout(line.timeout, hearing.client.query_typed(sql, &params)).await {
            Ok(Ok(_)) => tokio::time::sleep(PACE).await,
            Ok(Err(error)) => return error.into(),
            Err(elapsed) => return elapsed.into(),
        }
    }
}

/// The channel of a schema: every node of it computes the same.
fn channel(schema: &str) -> String {
    format!("\"mcp_tasks_{:016x}\"", RequestHash::of(schema.as_bytes()).0)
}

/// What is sent: who says it, then `id:rev` of each task, in as many texts as it takes.
fn written(told: &Told, node: u64) -> Vec<String> {
    let start = format!("{node:016x}");
    let mut texts = Vec::new();
    let mut text = start.clone();
    for (_, word) in [(told.missed, MISSED), (told.claimable, CLAIMABLE)].into_iter().filter(|(said, _)| *said) {
        text = format!("{text} {word}");
    }
    for (id, rev) in &told.changed {
        let next = format!(" {id}:{}", rev.0);
        if text.len() + next.len() > PAYLOAD {
            texts.push(mem::replace(&mut text, start.clone()));
        }
        text += &next;
    }
    if text.len() > start.len() {
        texts.push(text);
    }
    texts
}

/// What a text says; nothing if this node sent it. What is not understood may be anything.
fn read(text: &str, node: u64) -> Vec<Heard> {
    let mut words = text.split(' ');
    if words.next() == Some(&format!("{node:016x}")) {
        return Vec::new();
    }
    words.map(meaning).collect()
}

fn meaning(word: &str) -> Heard {
    match word {
        CLAIMABLE => Heard::Claimable,
        word => hint(word).map_or(Heard::Missed, Heard::Hint),
    }
}

fn hint(word: &str) -> Option<Hint> {
    let (id, rev) = word.split_once(':')?;
    Some(Hint { id: id.parse().ok()?, rev: Rev(rev.parse().ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(count: u128) -> Told {
        Told { changed: (0..count).map(|n| (TaskId::from_bits(n << 64), Rev(7))).collect(), ..Told::default() }
    }

    #[test]
    fn what_is_written_is_read_by_others_and_not_by_oneself() {
        let texts = written(&told(1000), 1);
        assert!(texts.len() > 1 && texts.iter().all(|text| text.len() < 8000));
        let heard: Vec<Heard> = texts.iter().flat_map(|text| read(text, 2)).collect();
        assert_eq!(heard.len(), 1000);
        assert!(heard.iter().all(|heard| matches!(heard, Heard::Hint(Hint { rev: Rev(7), .. }))));
        assert!(texts.iter().all(|text| read(text, 1).is_empty()));
    }

    #[test]
    fn what_is_not_understood_may_be_anything() {
        for odd in ["x *", "x 12:a", "x 1", "x 00000000000000000000000000000001:"] {
            assert_eq!(read(odd, 2), [Heard::Missed], "{odd}");
        }
        assert_eq!(written(&Told::default(), 1), Vec::<String>::new());
        let both = Told { missed: true, claimable: true, ..told(0) };
        assert_eq!(read(&written(&both, 1)[0], 2), [Heard::Missed, Heard::Claimable]);
    }

    /// Case 43: what nobody can be told does not pile up.
    #[test]
    fn what_waits_is_bounded() {
        let signals = Signals::new(true);
        (0..3 * WAITING as u128).for_each(|n| signals.tell(TaskId::from_bits(n), Rev(1)));
        let told = signals.take();
        assert!(told.missed && told.changed.len() <= WAITING);
    }
}
