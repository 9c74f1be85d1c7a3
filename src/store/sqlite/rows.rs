//! The statements about one task: SQL on one side, records on the other.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Params, named_params};

use super::ledger::Fault;
use crate::{
    clock::UnixMillis,
    store::{
        row::{self, Corrupt, Row, millis},
        seal::Seal,
    },
    task::{Rev, TaskRecord},
    task_id::TaskId,
};

/// A larger payload stands in a table of its own, so that rows stay small.
const INLINE: usize = 2 << 10;

/// What [`RawTask::read`] reads, and where from.
pub(super) const SELECT: &str = "SELECT t.seq, t.id, t.principal, t.method, t.name, t.version, t.key, t.created_at, \
    t.changes_at, t.settled, t.cancel_requested, t.rev, t.epoch, t.head, t.body, coalesce(t.payload, p.value), \
    t.leased_until, t.look_at FROM task t LEFT JOIN payload p ON p.task = t.seq";

/// A task as it stands in the file.
pub(super) struct Stored {
    pub seq: i64,
    pub record: Arc<TaskRecord>,
    /// `None` if nobody holds it.
    pub leased_until: Option<i64>,
    pub look_at: i64,
}

/// The columns of a task.
pub(super) struct RawTask {
    seq: i64,
    row: Row,
    payload: Option<Vec<u8>>,
    leased_until: Option<i64>,
    look_at: i64,
}

impl RawTask {
    pub fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            row: Row {
                id: id_of(row.get(1)?),
                principal: row.get(2)?,
                method: row.get(3)?,
                name: row.get(4)?,
                version: row.get(5)?,
                key: row.get(6)?,
                created_at: row.get(7)?,
                changes_at: row.get(8)?,
                status: "",
                settled: row.get(9)?,
                cancel_requested: row.get(10)?,
                rev: row.get(11)?,
                epoch: row.get(12)?,
                head: row.get(13)?,
                body: row.get(14)?,
            },
            payload: row.get(15)?,
            leased_until: row.get(16)?,
            look_at: row.get(17)?,
        })
    }

    pub fn decode(self, seal: &Seal) -> Result<Stored, Corrupt> {
        let Self { seq, row, payload, leased_until, look_at } = self;
        Ok(Stored { seq, record: row::decode(row, payload, seal)?, leased_until, look_at })
    }
}

pub(super) fn id_bytes(id: TaskId) -> [u8; 16] {
    id.to_bits().to_be_bytes()
}

pub(super) fn id_of(bytes: [u8; 16]) -> TaskId {
    TaskId::from_bits(u128::from_be_bytes(bytes))
}

/// The first task that `condition` holds for.
fn find(connection: &Connection, condition: &str, params: impl Params) -> rusqlite::Result<Option<RawTask>> {
    let sql = format!("{SELECT} WHERE {condition}");
    connection.prepare_cached(&sql)?.query_row(params, RawTask::read).optional()
}

pub(super) fn by_id(connection: &Connection, id: TaskId) -> rusqlite::Result<Option<RawTask>> {
    find(connection, "t.id = ?1", [id_bytes(id)])
}

pub(super) fn by_key(connection: &Connection, principal: &str, key: &str) -> rusqlite::Result<Option<RawTask>> {
    find(connection, "t.principal = ?1 AND t.key = ?2", [row::escape(principal), row::escape(key)])
}

/// Where tasks are.
#[derive(Default)]
pub(super) struct Revs {
    pub current: Vec<(TaskId, Rev)>,
    /// Tasks that time has changed since they were written.
    pub due: Vec<TaskId>,
}

/// Where those of these tasks are that there are at all.
pub(super) fn revs(connection: &Connection, ids: &[TaskId], now: UnixMillis) -> Result<Revs, Fault> {
    let mut find = connection.prepare_cached("SELECT rev, changes_at FROM task WHERE id = ?1")?;
    let mut revs = Revs::default();
    for id in ids {
        let found = find.query_row([id_bytes(*id)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((rev, changes_at)): Option<(i64, i64)> = found else { continue };
        if changes_at <= millis(now) {
            revs.due.push(*id);
        } else {
            revs.current.push((*id, Rev(u64::try_from(rev).unwrap_or(0))));
        }
    }
    Ok(revs)
}

/// When to look at a task.
fn look_at(row: &Row, leased_until: Option<UnixMillis>) -> i64 {
    leased_until.map_or(row.changes_at, |until| row.changes_at.min(millis(until)))
}

fn put_payload(connection: &Connection, seq: i64, value: &[u8]) -> rusqlite::Result<()> {
    connection.prepare_cached("INSERT INTO payload (task, value) VALUES (?1, ?2)")?.execute((seq, value)).map(drop)
}

fn drop_payload(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM payload WHERE task = ?1")?.execute([seq]).map(drop)
}

/// Writes a new task.
pub(super) fn insert(
    connection: &Connection,
    seal: &Seal,
    record: &TaskRecord,
    leased_until: Option<UnixMillis>,
) -> Result<(), Fault> {
    let (row, payload) = (row::encode(record, seal)?, row::encode_payload(record, seal)?);
    let (inline, apart) = row::placed(payload, INLINE);
    let mut insert = connection.prepare_cached(
        "INSERT INTO task (id, principal, method, name, version, key, created_at, changes_at, status, settled, \
         cancel_requested, rev, epoch, head, body, payload, gone_at, leased_until, look_at) VALUES (:id, :principal, \
         :method, :name, :version, :key, :created_at, :changes_at, :status, :settled, :cancel_requested, :rev, :epoch, \
         :head, :body, :payload, :gone_at, :leased_until, :look_at)",
    )?;
    insert.execute(named_params! {
        ":id": id_bytes(row.id),
        ":principal": row.principal,
        ":method": row.method,
        ":name": row.name,
        ":version": row.version,
        ":key": row.key,
        ":created_at": row.created_at,
        ":changes_at": row.changes_at,
        ":status": row.status,
        ":settled": row.settled,
        ":cancel_requested": row.cancel_requested,
        ":rev": row.rev,
        ":epoch": row.epoch,
        ":head": row.head,
        ":body": row.body,
        ":payload": inline,
        ":gone_at": millis(record.gone_at()),
        ":leased_until": leased_until.map(millis),
        ":look_at": look_at(&row, leased_until),
    })?;
    if let Some(payload) = apart {
        put_payload(connection, connection.last_insert_rowid(), &payload)?;
    }
    Ok(())
}

/// Writes `next` in the place of `stored`.
pub(super) fn update(
    connection: &Connection,
    seal: &Seal,
    stored: &Stored,
    next: &TaskRecord,
    leased_until: Option<UnixMillis>,
) -> Result<(), Fault> {
    let row = row::encode(next, seal)?;
    if row::payload_differs(&stored.record, next) {
        let (inline, apart) = row::placed(row::encode_payload(next, seal)?, INLINE);
        drop_payload(connection, stored.seq)?;
        connection.prepare_cached("UPDATE task SET payload = ?2 WHERE seq = ?1")?.execute((stored.seq, inline))?;
        if let Some(payload) = apart {
            put_payload(connection, stored.seq, &payload)?;
        }
    }
    let mut update = connection.prepare_cached(
        "UPDATE task SET changes_at = :changes_at, status = :status, settled = :settled, \
         cancel_requested = :cancel_requested, rev = :rev, epoch = :epoch, head = :head, body = :body, \
         gone_at = :gone_at, leased_until = :leased_until, look_at = :look_at WHERE seq = :seq",
    )?;
    update.execute(named_params! {
        ":seq": stored.seq,
        ":changes_at": row.changes_at,
        ":status": row.status,
        ":settled": row.settled,
        ":cancel_requested": row.cancel_requested,
        ":rev": row.rev,
        ":epoch": row.epoch,
        ":head": row.head,
        ":body": row.body,
        ":gone_at": millis(next.gone_at()),
        ":leased_until": leased_until.map(millis),
        ":look_at": look_at(&row, leased_until),
    })?;
    Ok(())
}

/// Removes a task.
pub(super) fn delete(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    drop_payload(connection, seq)?;
    connection.prepare_cached("DELETE FROM task WHERE seq = ?1")?.execute([seq]).map(drop)
}
