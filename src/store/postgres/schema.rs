//! The tables. A step that was once released never changes: what follows is a new step.

/// The version of the tables that this version of the crate needs.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32;

/// What brings the tables from one version to the next. `{schema}` stands for the quoted name of the schema.
pub(super) const MIGRATIONS: &[&str] = &[TABLES];

/// - `tasks`: a row a task. `look_at` is when time may change it, never later than `changes_at` and the end of the lease;
///   a lease that is prolonged leaves it, so that no index is touched. `waiting` means open and held by nobody. A small
///   payload stands in the row, a large one (`apart`) in `payloads`. `owner` is a digest of the principal: of any length,
///   it fits an index.
/// - `counts`: how many tasks are unsettled (of each owner, and in all: the empty owner), and held at all. Locked by who
///   creates tasks, so that quotas hold across nodes.
/// - `ledger`: what is to be subtracted from `counts`. Who settles or removes a task only adds a line here, and waits for
///   nobody.
const TABLES: &str = "
CREATE TABLE {schema}.version (version integer NOT NULL);
INSERT INTO {schema}.version VALUES (0);
CREATE TABLE {schema}.tasks (
    id bytea PRIMARY KEY,
    principal text NOT NULL,
    owner bytea NOT NULL,
    method text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    key text,
    key_digest bytea,
    created_at bigint NOT NULL,
    changes_at bigint NOT NULL,
    look_at bigint NOT NULL,
    leased_until bigint,
    worker bigint,
    status text NOT NULL,
    settled boolean NOT NULL,
    waiting boolean NOT NULL,
    cancel_requested boolean NOT NULL,
    rev bigint NOT NULL,
    epoch bigint NOT NULL,
    head bytea NOT NULL,
    body bytea,
    payload bytea,
    apart boolean NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX tasks_look ON {schema}.tasks (look_at);
CREATE INDEX tasks_waiting ON {schema}.tasks (method, name, version, created_at, id) WHERE waiting;
CREATE UNIQUE INDEX tasks_key ON {schema}.tasks (owner, key_digest) WHERE key_digest IS NOT NULL;
CREATE TABLE {schema}.payloads (
    id bytea PRIMARY KEY,
    data bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE TABLE {schema}.counts (
    owner bytea PRIMARY KEY,
    live bigint NOT NULL,
    held bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO {schema}.counts VALUES ('', 0, 0);
CREATE TABLE {schema}.ledger (
    owner bytea NOT NULL,
    live bigint NOT NULL,
    held bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
";
