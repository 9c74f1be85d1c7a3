//! Between the rows of the database and records: reading one, and the columns of several that are written at once.

use std::sync::Arc;

use tokio_postgres::{Row as Line, types::ToSql};

use crate::{
    clock::UnixMillis,
    store::{
        Lease, StoreError, WorkerId,
        row::{self, Row},
        seal::{Seal, SealError},
    },
    task::TaskRecord,
    task_id::TaskId,
};

/// A payload of more bytes has a row of its own.
const LARGE: usize = 1024;

/// The bytes of an id, as they stand in a column.
pub(super) fn bytes_of(id: TaskId) -> Vec<u8> {
    id.to_bits().to_be_bytes().to_vec()
}

/// The id of a column.
pub(super) fn id_of(bytes: &[u8]) -> Result<TaskId, StoreError> {
    let bits = bytes.try_into().map_err(|_| StoreError::Unavailable { cause: "an id has 16 bytes".into() })?;
    Ok(TaskId::from_bits(u128::from_be_bytes(bits)))
}

/// The time in the column `now`.
pub(super) fn now_of(line: &Line) -> Result<UnixMillis, StoreError> {
    row::from_millis(line.get("now")).ok_or_else(|| StoreError::Unavailable { cause: "it is before 1970".into() })
}

/// A column that holds a `u64` as its 64 bits.
pub(super) const fn bits_of(worker: WorkerId) -> i64 {
    worker.0.cast_signed()
}

/// The columns of a line.
pub(super) fn row_of(line: &Line) -> Result<Row, StoreError> {
    Ok(Row {
        id: id_of(line.get("id"))?,
        principal: line.get("principal"),
        method: line.get("method"),
        name: line.get("name"),
        version: line.get("version"),
        key: line.get("key"),
        created_at: line.get("created_at"),
        changes_at: line.get("changes_at"),
        status: "",
        settled: line.get("settled"),
        cancel_requested: line.get("cancel_requested"),
        rev: line.get("rev"),
        epoch: line.get("epoch"),
        head: line.get("head"),
        body: line.get("body"),
    })
}

/// The task of a line.
pub(super) fn record_of(line: &Line, seal: &Seal) -> Result<Arc<TaskRecord>, StoreError> {
    Ok(row::decode(row_of(line)?, line.get("payload"), seal)?)
}

/// Who may run a task after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// Whoever held it before.
    Same,
    /// Nobody.
    Nobody,
    /// This one, until then.
    Leased(Lease, UnixMillis),
}

impl Holder {
    /// The holder by a lease that is given now.
    pub fn by(lease: Lease, now: UnixMillis) -> Self {
        Self::Leased(lease, now.plus(lease.period))
    }

    fn until(self) -> Option<i64> {
        match self {
            Self::Leased(_, until) => Some(row::millis(until)),
            Self::Same | Self::Nobody => None,
        }
    }

    fn worker(self) -> Option<i64> {
        match self {
            Self::Leased(lease, _) => Some(bits_of(lease.worker)),
            Self::Same | Self::Nobody => None,
        }
    }
}

/// The columns of rows that take the place of others.
#[derive(Default)]
pub(super) struct Saves {
    id: Vec<Vec<u8>>,
    was_rev: Vec<i64>,
    created_at: Vec<i64>,
    changes_at: Vec<i64>,
    status: Vec<&'static str>,
    settled: Vec<bool>,
    cancel_requested: Vec<bool>,
    rev: Vec<i64>,
    epoch: Vec<i64>,
    head: Vec<Vec<u8>>,
    body: Vec<Option<Vec<u8>>>,
    laden: Vec<bool>,
    payload: Vec<Option<Vec<u8>>>,
    data: Vec<Option<Vec<u8>>>,
    passes: Vec<bool>,
    leased_until: Vec<Option<i64>>,
    worker: Vec<Option<i64>>,
}

impl Saves {
    /// Puts `new` in the place of `old`.
    pub fn add(&mut self, old: &TaskRecord, new: &TaskRecord, holder: Holder, seal: &Seal) -> Result<(), SealError> {
        let row = row::encode(new, seal)?;
        let laden = row::payload_differs(old, new);
        let (payload, data) = row::placed(if laden { row::encode_payload(new, seal)? } else { None }, LARGE);
        self.id.push(bytes_of(row.id));
        self.was_rev.push(i64::try_from(old.rev.0).unwrap_or(i64::MAX));
        self.created_at.push(row.created_at);
        self.changes_at.push(row.changes_at);
        self.status.push(row.status);
        self.settled.push(row.settled);
        self.cancel_requested.push(row.cancel_requested);
        self.rev.push(row.rev);
        self.epoch.push(row.epoch);
        self.head.push(row.head);
        self.body.push(row.body);
        self.laden.push(laden);
        self.payload.push(payload);
        self.data.push(data);
        self.passes.push(holder != Holder::Same);
        self.leased_until.push(holder.until());
        self.worker.push(holder.worker());
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// As parameters of [`Sql::save`](super::sql::Sql::save).
    pub fn params(&self) -> [&(dyn ToSql + Sync); 17] {
        [
            &self.id,
            &self.was_rev,
            &self.created_at,
            &self.changes_at,
            &self.status,
            &self.settled,
            &self.cancel_requested,
            &self.rev,
            &self.epoch,
            &self.head,
            &self.body,
            &self.laden,
            &self.payload,
            &self.data,
            &self.passes,
            &self.leased_until,
            &self.worker,
        ]
    }
}

/// The columns of new rows.
#[derive(Default)]
pub(super) struct Inserts {
    id: Vec<Vec<u8>>,
    principal: Vec<String>,
    method: Vec<String>,
    name: Vec<String>,
    version: Vec<String>,
    key: Vec<Option<String>>,
    created_at: Vec<i64>,
    changes_at: Vec<i64>,
    leased_until: Vec<Option<i64>>,
    worker: Vec<Option<i64>>,
    status: Vec<&'static str>,
    settled: Vec<bool>,
    cancel_requested: Vec<bool>,
    rev: Vec<i64>,
    epoch: Vec<i64>,
    head: Vec<Vec<u8>>,
    body: Vec<Option<Vec<u8>>>,
    payload: Vec<Option<Vec<u8>>>,
    data: Vec<Option<Vec<u8>>>,
}

impl Inserts {
    pub fn add(&mut self, record: &TaskRecord, holder: Holder, seal: &Seal) -> Result<(), SealError> {
        let row = row::encode(record, seal)?;
        let (payload, data) = row::placed(row::encode_payload(record, seal)?, LARGE);
        self.id.push(bytes_of(row.id));
        self.principal.push(row.principal);
        self.method.push(row.method);
        self.name.push(row.name);
        self.version.push(row.version);
        self.key.push(row.key);
        self.created_at.push(row.created_at);
        self.changes_at.push(row.changes_at);
        self.leased_until.push(holder.until());
        self.worker.push(holder.worker());
        self.status.push(row.status);
        self.settled.push(row.settled);
        self.cancel_requested.push(row.cancel_requested);
        self.rev.push(row.rev);
        self.epoch.push(row.epoch);
        self.head.push(row.head);
        self.body.push(row.body);
        self.payload.push(payload);
        self.data.push(data);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// As parameters of [`Sql::insert`](super::sql::Sql::insert).
    pub fn params(&self) -> [&(dyn ToSql + Sync); 19] {
        [
            &self.id,
            &self.principal,
            &self.method,
            &self.name,
            &self.version,
            &self.key,
            &self.created_at,
            &self.changes_at,
            &self.leased_until,
            &self.worker,
            &self.status,
            &self.settled,
            &self.cancel_requested,
            &self.rev,
            &self.epoch,
            &self.head,
            &self.body,
            &self.payload,
            &self.data,
        ]
    }
}

/// The columns of rows that are to be removed.
#[derive(Default)]
pub(super) struct Removals {
    id: Vec<Vec<u8>>,
    rev: Vec<i64>,
    created_at: Vec<i64>,
}

impl Removals {
    pub fn of(record: &TaskRecord) -> Self {
        let mut removals = Self::default();
        let rev = i64::try_from(record.rev.0).unwrap_or(i64::MAX);
        removals.add(bytes_of(record.id), rev, row::millis(record.created_at));
        removals
    }

    pub fn add(&mut self, id: Vec<u8>, rev: i64, created_at: i64) {
        self.id.push(id);
        self.rev.push(rev);
        self.created_at.push(created_at);
    }

    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// As parameters of [`Sql::remove`](super::sql::Sql::remove).
    pub fn params(&self) -> [&(dyn ToSql + Sync); 3] {
        [&self.id, &self.rev, &self.created_at]
    }
}
