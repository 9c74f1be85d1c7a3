-- A task. See src/store/row.rs for the columns up to `body`.
CREATE TABLE task (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    principal TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT,
    created_at INTEGER NOT NULL,
    changes_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    settled INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    head BLOB NOT NULL,
    body BLOB,
    -- The payload, if it is small.
    payload BLOB,
    gone_at INTEGER NOT NULL,
    -- NULL if nobody holds it.
    leased_until INTEGER,
    -- Time does nothing to the task before that: never after `changes_at` and `leased_until`.
    look_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX task_by_key ON task (principal, key) WHERE key IS NOT NULL;
CREATE INDEX task_by_look ON task (look_at);
CREATE INDEX task_unclaimed ON task (method, name, version, created_at, id)
    WHERE settled = 0 AND leased_until IS NULL;

-- Large payloads.
CREATE TABLE payload (
    task INTEGER PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;

-- Open tasks of each principal that has any.
CREATE TABLE live (
    principal TEXT PRIMARY KEY,
    tasks INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: tasks, and open tasks.
CREATE TABLE total (
    held INTEGER NOT NULL,
    live INTEGER NOT NULL
) STRICT;
INSERT INTO total VALUES (0, 0);
