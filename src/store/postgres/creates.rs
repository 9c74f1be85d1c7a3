//! New tasks: all that are asked for while one transaction is under way go into the next.
//!
//! A transaction takes the lock on the counts first. So no two nodes create at the same moment: each sees what the other
//! has made, quotas hold across nodes, and an id or a key is never taken twice. It sends its statements one behind the
//! other and waits twice, whatever the number of tasks.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tokio::{
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout_at,
};
use tokio_postgres::Row as Line;

use super::{
    Core,
    pool::{Failure, Params, Session, in_time},
    rows::{Holder, Inserts, bytes_of, id_of, now_of},
};
use crate::{
    clock::UnixMillis,
    limits::Quota,
    principal::Principal,
    store::{Lease, QuotaExceeded, StoreError, row},
    task::{Event, NewTask, TaskRecord, Transition},
    task_id::TaskId,
};

/// How many tasks one transaction creates.
const BATCH: usize = 256;
/// How many may wait for it.
const WAITING: usize = 4 * BATCH;

/// A task that is asked for.
#[derive(Clone)]
pub(super) struct Wish {
    pub id: TaskId,
    pub task: NewTask,
    pub lease: Option<Lease>,
    pub quota: Quota,
}

/// What becomes of a wish.
#[derive(Debug)]
pub(super) enum Granted {
    /// The task that was made.
    New(Arc<TaskRecord>),
    /// There is one of this id, or of the same key.
    Known(TaskId),
}

type Answer = Result<Granted, StoreError>;

/// Where wishes go; dropping this ends the loop.
pub(super) struct Creates {
    wishes: mpsc::Sender<(Wish, oneshot::Sender<Answer>)>,
    works: AbortHandle,
}

impl Drop for Creates {
    fn drop(&mut self) {
        self.works.abort();
    }
}

impl Creates {
    pub fn start(core: &Arc<Core>) -> Self {
        let (wishes, asked) = mpsc::channel(WAITING);
        Self { wishes, works: tokio::spawn(work(Arc::clone(core), asked)).abort_handle() }
    }

    /// Asks for a task, and waits no longer than a call may take.
    pub async fn ask(&self, core: &Core, wish: Wish) -> Answer {
        let deadline = core.pool.deadline();
        let (answer, answered) = oneshot::channel();
        match timeout_at(deadline, self.wishes.send((wish, answer))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(StoreError::Unavailable { cause: "the store is closed".into() }),
            Err(elapsed) => return Err(StoreError::Unavailable { cause: elapsed.into() }),
        }
        match timeout_at(deadline, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(closed)) => Err(StoreError::Ambiguous { cause: closed.into() }),
            Err(elapsed) => Err(StoreError::Ambiguous { cause: elapsed.into() }),
        }
    }
}

async fn work(core: Arc<Core>, mut asked: mpsc::Receiver<(Wish, oneshot::Sender<Answer>)>) {
    let mut batch = Vec::with_capacity(BATCH);
    while asked.recv_many(&mut batch, BATCH).await > 0 {
        // Who has given up is not to have a task.
        batch.retain(|(_, answer)| !answer.is_closed());
        let (wishes, answers): (Vec<Wish>, Vec<_>) = batch.drain(..).unzip();
        if wishes.is_empty() {
            continue;
        }
        match create_all(&core, &wishes).await {
            Ok(granted) => answers.into_iter().zip(granted).for_each(|(answer, granted)| drop(answer.send(granted))),
            Err(error) => {
                let again = || copy_of(&error);
                answers.into_iter().for_each(|answer| drop(answer.send(Err(again()))));
                if matches!(error, StoreError::Unavailable { .. }) {
                    refuse_the_waiting(&mut asked, again);
                }
            }
        }
    }
}

/// Nobody else waits his time out for a database that is not there.
fn refuse_the_waiting(asked: &mut mpsc::Receiver<(Wish, oneshot::Sender<Answer>)>, error: impl Fn() -> StoreError) {
    while let Ok((_, answer)) = asked.try_recv() {
        drop(answer.send(Err(error())));
    }
}

/// The same error for another of the batch.
fn copy_of(error: &StoreError) -> StoreError {
    let cause = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source()).skip(1);
    let cause: Box<dyn std::error::Error + Send + Sync> =
        cause.map(ToString::to_string).collect::<Vec<_>>().join(": ").into();
    match error {
        StoreError::Ambiguous { .. } => StoreError::Ambiguous { cause },
        _ => StoreError::Unavailable { cause },
    }
}

/// One transaction, made again if another is in its way.
async fn create_all(core: &Core, wishes: &[Wish]) -> Result<Vec<Answer>, StoreError> {
    let mut session = core.pool.session().await?;
    for _ in 0..core.tries() {
        match transact(core, &mut session, wishes).await {
            Err(Stop::Failure(failure)) if failure.is_conflict() => session.rollback().await,
            Err(Stop::Failure(failure)) => return Err(failure.of_write()),
            Err(Stop::Error(error)) => return Err(error),
            Ok(answers) => return Ok(answers),
        }
    }
    Err(StoreError::Unavailable { cause: "other transactions are in the way".into() })
}

enum Stop {
    Failure(Failure),
    Error(StoreError),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

async fn transact(core: &Core, session: &mut Session, wishes: &[Wish]) -> Result<Vec<Answer>, Stop> {
    let (known, mut counts) = begin(core, session, wishes).await?;
    let mut verdicts = admit(wishes, &known, counts.clone());
    if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Refused(_))) {
        // Settled tasks may stand in the way that are not taken off yet.
        session.query(&core.sql.fold, &[]).await.map_err(Failure::uncommitted)?;
        counts = counts_of(session.query(&core.sql.counts, &[&core.test_time(), &principals(wishes)]).await, wishes)?;
        verdicts = admit(wishes, &known, counts.clone());
    }
    let mut inserts = Inserts::default();
    let mut more: HashMap<&str, i64> = HashMap::new();
    let mut answers = Vec::with_capacity(wishes.len());
    for (wish, verdict) in wishes.iter().zip(verdicts) {
        answers.push(match verdict {
            Verdict::Refused(which) => Err(StoreError::QuotaExceeded(which)),
            Verdict::Known(id) => Ok(Granted::Known(id)),
            Verdict::New => {
                let (record, holder) = made(wish, counts.now);
                inserts.add(&record, holder, &core.seal).map_err(StoreError::from)?;
                *more.entry(wish.task.principal.as_str()).or_default() += 1;
                Ok(Granted::New(record))
            }
        });
    }
    finish(core, session, &inserts, &more).await?;
    Ok(answers)
}

/// A task as it begins, and who holds it.
fn made(wish: &Wish, now: UnixMillis) -> (Arc<TaskRecord>, Holder) {
    let record = TaskRecord::new(wish.id, wish.task.clone(), now);
    let Some(lease) = wish.lease else { return (Arc::new(record), Holder::Nobody) };
    match record.after(&Event::Claim, now) {
        Transition::Changed(claimed) => (claimed, Holder::by(lease, now)),
        _ => (Arc::new(record), Holder::Nobody),
    }
}

/// Begins a transaction, waits for the lock, and looks at what there is: all sent at once.
async fn begin(core: &Core, session: &mut Session, wishes: &[Wish]) -> Result<(Known, Counts), Stop> {
    let lock = session.prepare(&core.sql.lock).await?;
    let known = session.prepare(&core.sql.known).await?;
    let counts = session.prepare(&core.sql.counts).await?;
    let ids: Vec<_> = wishes.iter().map(|wish| bytes_of(wish.id)).collect();
    let keys: Vec<_> = wishes.iter().map(|wish| wish.task.key.as_ref().map(|key| row::escape(&key.text))).collect();
    let keys: Vec<Option<&str>> = keys.iter().map(Option::as_deref).collect();
    let (principals, time) = (principals(wishes), core.test_time());
    session.set_in_transaction(true);
    let client = session.client()?;
    let (of_known, of_counts): (Params<'_>, Params<'_>) = (&[&ids, &principals, &keys], &[&time, &principals]);
    let asked = in_time(session.deadline(), async {
        tokio::try_join!(
            biased;
            client.batch_execute("BEGIN"),
            client.query(&lock, &[]),
            client.query(&known, of_known),
            client.query(&counts, of_counts),
        )
    })
    .await;
    let ((), _, known, counts) = session.see(asked).map_err(keep_conflict)?;
    Ok((known_of(&known)?, counts_of(Ok(counts), wishes)?))
}

/// Nothing is committed: whatever the failure, nothing was done. A conflict stays one.
fn keep_conflict(failure: Failure) -> Failure {
    if failure.is_conflict() { failure } else { failure.uncommitted() }
}

fn principals(wishes: &[Wish]) -> Vec<String> {
    wishes.iter().map(|wish| row::escape(wish.task.principal.as_str()).into_owned()).collect()
}

/// The tasks that are there already, by the place of the wish: of its id, or of its key.
type Known = HashMap<usize, Vec<TaskId>>;

fn known_of(lines: &[Line]) -> Result<Known, StoreError> {
    let mut known = Known::new();
    for line in lines {
        let place = usize::try_from(line.get::<_, i64>(0) - 1).unwrap_or(usize::MAX);
        known.entry(place).or_default().push(id_of(line.get(1))?);
    }
    Ok(known)
}

/// Writes the new rows and the counts, and commits: all sent at once.
async fn finish(
    core: &Core,
    session: &mut Session,
    inserts: &Inserts,
    more: &HashMap<&str, i64>,
) -> Result<(), Failure> {
    if inserts.is_empty() {
        // A fold may have been made, which is good to keep.
        return session.commit().await.map_err(Failure::uncommitted);
    }
    let insert = session.prepare(&core.sql.insert).await?;
    let count = session.prepare(&core.sql.count).await?;
    let mut more: Vec<(String, i64)> =
        more.iter().map(|(principal, live)| (row::escape(principal).into_owned(), *live)).collect();
    more.sort_unstable();
    let (principals, live): (Vec<String>, Vec<i64>) = more.into_iter().unzip();
    let in_all: i64 = live.iter().sum();
    let client = session.client()?;
    let (of_insert, of_count): (_, Params<'_>) = (inserts.params(), &[&principals, &live, &in_all]);
    let written = in_time(session.deadline(), async {
        tokio::try_join!(
            biased;
            client.execute(&insert, &of_insert),
            client.execute(&count, of_count),
            client.batch_execute("COMMIT"),
        )
    })
    .await;
    session.see(written)?;
    session.set_in_transaction(false);
    Ok(())
}

/// How many tasks there are, by the counts and before they are corrected: no fewer than there are.
#[derive(Debug, Clone, Default)]
struct Counts {
    now: UnixMillis,
    live: u64,
    held: u64,
    each: HashMap<Principal, u64>,
}

fn counts_of(lines: Result<Vec<Line>, Failure>, wishes: &[Wish]) -> Result<Counts, Stop> {
    let lines = lines.map_err(keep_conflict)?;
    let line = lines.first().ok_or_else(|| StoreError::Unavailable { cause: "the table `counts` is empty".into() })?;
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    let each: Vec<i64> = line.get("each");
    Ok(Counts {
        now: now_of(line)?,
        live: number(line.get("live")),
        held: number(line.get("held")),
        each: wishes.iter().map(|wish| wish.task.principal.clone()).zip(each.into_iter().map(number)).collect(),
    })
}

/// What is to become of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    New,
    Known(TaskId),
    Refused(QuotaExceeded),
}

/// Decides on each wish, in their order: what one is granted counts for the next.
fn admit(wishes: &[Wish], known: &Known, mut counts: Counts) -> Vec<Verdict> {
    let mut made: HashSet<TaskId> = HashSet::new();
    let mut keyed: HashMap<(&str, &str), TaskId> = HashMap::new();
    let mut verdicts = Vec::with_capacity(wishes.len());
    for (place, wish) in wishes.iter().enumerate() {
        let name = wish.task.key.as_ref().map(|key| (wish.task.principal.as_str(), &*key.text));
        let there = known.get(&place).map_or(&[][..], Vec::as_slice);
        // The id before the key.
        let found = if there.contains(&wish.id) || made.contains(&wish.id) {
            Some(wish.id)
        } else {
            there.first().copied().or_else(|| keyed.get(&name?).copied())
        };
        let verdict = match found {
            Some(id) => Verdict::Known(id),
            None => counts.add(wish).map_or(Verdict::New, Verdict::Refused),
        };
        if verdict == Verdict::New {
            made.insert(wish.id);
            keyed.extend(name.map(|name| (name, wish.id)));
        }
        verdicts.push(verdict);
    }
    verdicts
}

impl Counts {
    /// Counts one more, unless that breaks its quota.
    fn add(&mut self, wish: &Wish) -> Option<QuotaExceeded> {
        let Quota { live, live_per_principal, held } = wish.quota;
        let mine = self.each.entry(wish.task.principal.clone()).or_default();
        if self.held >= held as u64 {
            return Some(QuotaExceeded::Held(held));
        }
        if self.live >= live as u64 {
            return Some(QuotaExceeded::Live(live));
        }
        if *mine >= live_per_principal as u64 {
            return Some(QuotaExceeded::LivePerPrincipal(live_per_principal));
        }
        *mine += 1;
        self.live += 1;
        self.held += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{
        input::RequestHash,
        task::{IdempotencyKey, Target},
    };

    fn wish(id: u128, principal: &str, key: Option<&str>, quota: Quota) -> Wish {
        let key = key.map(|text| IdempotencyKey { text: text.into(), call: RequestHash(0) });
        let target = Arc::new(Target::new("m", "t", "1"));
        let task = NewTask { key, ..NewTask::new(Principal::new(principal), target, Bytes::new()) };
        Wish { id: TaskId::from_bits(id), task, lease: None, quota }
    }

    fn told(verdicts: &[Verdict]) -> String {
        let word = |verdict: &Verdict| match verdict {
            Verdict::New => "new".to_owned(),
            Verdict::Known(id) => format!("={}", id.to_bits()),
            Verdict::Refused(QuotaExceeded::Live(_)) => "live".to_owned(),
            Verdict::Refused(QuotaExceeded::LivePerPrincipal(_)) => "mine".to_owned(),
            Verdict::Refused(QuotaExceeded::Held(_)) => "held".to_owned(),
        };
        verdicts.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// Within one batch as between two: an id and a key are taken once, and only by their principal.
    #[test]
    fn twins_in_one_batch_are_one_task() {
        let any = Quota::UNLIMITED;
        let wishes = [
            wish(1, "a", Some("k"), any),
            wish(1, "a", None, any),
            wish(2, "a", Some("k"), any),
            wish(3, "b", Some("k"), any),
            wish(4, "a", None, any),
        ];
        let known =
            Known::from([(4, vec![TaskId::from_bits(9)]), (2, vec![TaskId::from_bits(8), TaskId::from_bits(2)])]);
        assert_eq!(told(&admit(&wishes, &known, Counts::default())), "new =1 =2 new =9");
    }

    /// SEC-04: each wish is held to its own quota, and what one is granted counts for the next.
    #[test]
    fn each_bound_refuses_what_breaks_it() {
        let quota = |live, live_per_principal, held| Quota { live, live_per_principal, held };
        let counts =
            || Counts { live: 1, held: 2, each: HashMap::from([(Principal::new("a"), 1)]), ..Counts::default() };
        let verdicts = |quota: Quota| {
            let wishes = ["a", "a", "b"].iter().zip(1..).map(|(name, id)| wish(id, name, None, quota));
            told(&admit(&wishes.collect::<Vec<_>>(), &Known::new(), counts()))
        };
        assert_eq!(verdicts(quota(9, 9, 9)), "new new new");
        assert_eq!(verdicts(quota(2, 9, 9)), "new live live");
        assert_eq!(verdicts(quota(9, 2, 9)), "new mine new");
        assert_eq!(verdicts(quota(9, 9, 4)), "new new held");
    }
}
