//! The statements, for the schema that a store is in.
//!
//! `$1` of most is the time of a test, or null: then the database's clock counts, and no other.

/// The statements of one store.
pub(super) struct Sql {
    /// id -> the time, and the task.
    pub get: String,
    /// ids -> id, rev, whether its time has come.
    pub revs: String,
    /// Rows as they become -> the ids of those that were written: that stood at the revision that was read.
    pub save: String,
    /// id, rev, created_at of rows -> the ids of those that were removed.
    pub remove: String,
    /// ids, epochs, period -> id, epoch, cancel_requested of those that are kept.
    pub renew: String,
    /// Targets, limit -> the time, and tasks that nobody holds, locked.
    pub claim: String,
    /// limit -> the time, and tasks to look at, locked; without payloads that stand apart.
    pub due: String,
    /// ids: to be looked at when they change next.
    pub replan: String,
    /// ids: to be looked at then.
    pub put_off: String,
    /// Keeps others from creating tasks, until the end of the transaction.
    pub lock: String,
    /// ids, principals, keys -> number of the line, id of the task that is there.
    pub known: String,
    /// principals -> the time, live, held, and of each principal live.
    pub counts: String,
    /// Columns of new tasks.
    pub insert: String,
    /// principals, how many more live of each; how many more in all.
    pub count: String,
    /// Takes what is in the ledger off the counts.
    pub fold: String,
    /// Whether there is anything in the ledger.
    pub spent: String,
    /// Filters, position, limit -> the time, and tasks, newest first.
    pub list: String,
    /// The time, and id, rev, created_at of settled tasks by a filter.
    pub purge: String,
    /// name, status, count.
    pub tally: String,
    /// unclaimed, oldest, leased, overdue, bytes.
    pub totals: String,
}

/// The columns of a task, but for its payload.
const COLUMNS: &str = "t.id, t.principal, t.method, t.name, t.version, t.key, t.created_at, t.changes_at, t.settled, \
    t.cancel_requested, t.rev, t.epoch, t.head, t.body";

const NOW: &str = "coalesce($1::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)";

/// A digest of a text: of one length, so that it fits an index.
fn digest(text: &str) -> String {
    format!("sha256(convert_to({text}, 'UTF8'))")
}

impl Sql {
    pub fn new(schema: &str) -> Self {
        let tasks = format!("{schema}.tasks");
        let payload = format!(
            "CASE WHEN t.apart THEN (SELECT p.data FROM {schema}.payloads p WHERE p.id = t.id) ELSE t.payload END AS payload"
        );
        let full = format!("{COLUMNS}, {payload}");
        Self {
            get: format!("SELECT {NOW} AS now, {full} FROM {tasks} t WHERE t.id = $2"),
            revs: format!("SELECT t.id, t.rev, t.changes_at <= {NOW} FROM {tasks} t WHERE t.id = ANY($2::bytea[])"),
            save: save(schema),
            remove: remove(schema),
            renew: format!(
                "WITH time AS MATERIALIZED (SELECT {NOW} AS now) \
                 UPDATE {tasks} t SET leased_until = time.now + $4::bigint, \
                    look_at = least(t.look_at, time.now + $4::bigint) \
                 FROM time, unnest($2::bytea[], $3::bigint[]) AS held (id, epoch) \
                 WHERE t.id = held.id AND t.epoch = held.epoch AND t.leased_until IS NOT NULL AND time.now < t.changes_at \
                 RETURNING t.id, t.epoch, t.cancel_requested"
            ),
            claim: format!(
                "SELECT {NOW} AS now, oldest.* \
                 FROM unnest($2::text[], $3::text[], $4::text[]) AS target (method, name, version) \
                 CROSS JOIN LATERAL (SELECT {full} FROM {tasks} t WHERE t.waiting AND t.method = target.method \
                    AND t.name = target.name AND t.version = target.version AND t.changes_at > {NOW} \
                    ORDER BY t.created_at, t.id LIMIT $5::bigint FOR UPDATE SKIP LOCKED) AS oldest \
                 ORDER BY oldest.created_at, oldest.id LIMIT $5::bigint"
            ),
            due: format!(
                "SELECT {NOW} AS now, {COLUMNS}, t.payload, t.apart, t.leased_until \
                 FROM {tasks} t WHERE t.look_at <= {NOW} ORDER BY t.look_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED"
            ),
            replan: format!("UPDATE {tasks} SET look_at = least(changes_at, leased_until) WHERE id = ANY($1::bytea[])"),
            put_off: format!("UPDATE {tasks} SET look_at = $2::bigint WHERE id = ANY($1::bytea[])"),
            lock: format!("SELECT FROM {schema}.counts WHERE owner = '' FOR UPDATE"),
            known: known(&tasks),
            counts: format!(
                "SELECT {NOW} AS now, total.live, total.held, \
                    array(SELECT coalesce(c.live, 0) FROM unnest($2::text[]) WITH ORDINALITY AS asked (principal, line) \
                    LEFT JOIN {schema}.counts c ON c.owner = {} ORDER BY asked.line) AS each \
                 FROM {schema}.counts total WHERE total.owner = ''",
                digest("asked.principal")
            ),
            insert: insert(schema),
            count: format!(
                "WITH added AS (INSERT INTO {schema}.counts AS c (owner, live, held) \
                    SELECT {}, live, 0 FROM unnest($1::text[], $2::bigint[]) AS new (principal, live) \
                    ON CONFLICT (owner) DO UPDATE SET live = c.live + excluded.live) \
                 UPDATE {schema}.counts SET live = live + $3::bigint, held = held + $3::bigint WHERE owner = ''",
                digest("principal")
            ),
            fold: fold(schema),
            spent: format!("SELECT EXISTS (SELECT FROM {schema}.ledger)"),
            list: format!(
                "SELECT {NOW} AS now, {full} FROM {tasks} t WHERE {} AND (t.created_at, t.id) < ($7::bigint, $8::bytea) \
                 ORDER BY t.created_at DESC, t.id DESC LIMIT $9::bigint",
                filtered("t.status = $3::text OR (NOT t.settled AND t.changes_at <= {NOW})")
            ),
            purge: format!(
                "SELECT t.id, t.rev, t.created_at FROM {tasks} t WHERE {} AND t.settled AND t.changes_at > {NOW} \
                 LIMIT $7::bigint",
                filtered("t.status = $3::text")
            ),
            tally: format!(
                "SELECT t.name, CASE WHEN t.settled OR t.changes_at > {NOW} THEN t.status ELSE 'failed' END, count(*) \
                 FROM {tasks} t WHERE NOT t.settled OR t.changes_at > {NOW} GROUP BY 1, 2"
            ),
            totals: format!(
                "SELECT count(*) FILTER (WHERE t.waiting AND t.changes_at > {NOW}), \
                    min(t.created_at) FILTER (WHERE t.waiting AND t.changes_at > {NOW}), \
                    count(*) FILTER (WHERE t.leased_until > {NOW}), count(*) FILTER (WHERE t.leased_until <= {NOW}), \
                    (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c \
                     WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace($2::text)) \
                 FROM {tasks} t"
            ),
        }
    }
}

/// `$2` principal, `$3` status, `$4` tool, `$5` and `$6` the range of creation; null is any.
fn filtered(status: &str) -> String {
    format!(
        "($2::text IS NULL OR t.principal = $2) AND ($3::text IS NULL OR {}) AND ($4::text IS NULL OR t.name = $4) \
         AND ($5::bigint IS NULL OR t.created_at >= $5) AND ($6::bigint IS NULL OR t.created_at < $6)",
        status.replace("{NOW}", NOW)
    )
}

/// The payload, and what is to be counted, are written in the statement that writes the row.
fn save(schema: &str) -> String {
    format!(
        "WITH saved AS (UPDATE {schema}.tasks t SET changes_at = new.changes_at, status = new.status, \
            settled = new.settled, cancel_requested = new.cancel_requested, rev = new.rev, epoch = new.epoch, \
            head = new.head, body = new.body, \
            payload = CASE WHEN new.laden THEN new.payload ELSE t.payload END, \
            apart = CASE WHEN new.laden THEN new.data IS NOT NULL ELSE t.apart END, \
            leased_until = CASE WHEN new.passes THEN new.leased_until ELSE t.leased_until END, \
            worker = CASE WHEN new.passes THEN new.worker ELSE t.worker END, \
            waiting = CASE WHEN new.passes THEN NOT new.settled AND new.leased_until IS NULL ELSE t.waiting END, \
            look_at = CASE WHEN new.passes THEN least(new.changes_at, new.leased_until) \
                ELSE least(t.look_at, new.changes_at) END \
         FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::boolean[], $7::boolean[], \
            $8::bigint[], $9::bigint[], $10::bytea[], $11::bytea[], $12::boolean[], $13::bytea[], $14::bytea[], \
            $15::boolean[], $16::bigint[], $17::bigint[]) \
            AS new (id, was_rev, created_at, changes_at, status, settled, cancel_requested, rev, epoch, head, body, \
            laden, payload, data, passes, leased_until, worker) \
         WHERE t.id = new.id AND t.rev = new.was_rev AND t.created_at = new.created_at \
         RETURNING t.id, t.owner, t.settled, new.laden, new.data), \
         put AS (INSERT INTO {schema}.payloads AS p (id, data) SELECT id, data FROM saved WHERE data IS NOT NULL \
            ON CONFLICT (id) DO UPDATE SET data = excluded.data), \
         cut AS (DELETE FROM {schema}.payloads p USING saved WHERE p.id = saved.id AND saved.laden AND saved.data IS NULL), \
         spent AS (INSERT INTO {schema}.ledger (owner, live, held) SELECT owner, -1, 0 FROM saved WHERE settled) \
         SELECT id FROM saved"
    )
}

fn remove(schema: &str) -> String {
    format!(
        "WITH gone AS (DELETE FROM {schema}.tasks t \
            USING unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS old (id, rev, created_at) \
            WHERE t.id = old.id AND t.rev = old.rev AND t.created_at = old.created_at \
            RETURNING t.id, t.owner, t.settled), \
         cut AS (DELETE FROM {schema}.payloads p USING gone WHERE p.id = gone.id), \
         spent AS (INSERT INTO {schema}.ledger (owner, live, held) \
            SELECT owner, -count(*) FILTER (WHERE NOT settled), -count(*) FROM gone GROUP BY owner) \
         SELECT id FROM gone"
    )
}

/// By id, or by the key of the same principal.
fn known(tasks: &str) -> String {
    let asked = "unnest($1::bytea[], $2::text[], $3::text[]) WITH ORDINALITY AS asked (id, principal, key, line)";
    format!(
        "SELECT asked.line, t.id FROM {asked} JOIN {tasks} t ON t.id = asked.id \
         UNION ALL SELECT asked.line, t.id FROM {asked} JOIN {tasks} t ON t.owner = {} AND t.key_digest = {} \
         WHERE asked.key IS NOT NULL",
        digest("asked.principal"),
        digest("asked.key")
    )
}

fn insert(schema: &str) -> String {
    format!(
        "WITH made AS (INSERT INTO {schema}.tasks (id, principal, owner, method, name, version, key, key_digest, \
            created_at, changes_at, look_at, leased_until, worker, status, settled, waiting, cancel_requested, rev, epoch, \
            head, body, payload, apart) \
         SELECT id, principal, {}, method, name, version, key, {}, created_at, changes_at, \
            least(changes_at, leased_until), leased_until, worker, status, settled, leased_until IS NULL, \
            cancel_requested, rev, epoch, head, body, payload, data IS NOT NULL \
         FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], \
            $9::bigint[], $10::bigint[], $11::text[], $12::boolean[], $13::boolean[], $14::bigint[], $15::bigint[], \
            $16::bytea[], $17::bytea[], $18::bytea[], $19::bytea[]) \
            AS new (id, principal, method, name, version, key, created_at, changes_at, leased_until, worker, status, \
            settled, cancel_requested, rev, epoch, head, body, payload, data)) \
         INSERT INTO {schema}.payloads (id, data) \
         SELECT id, data FROM unnest($1::bytea[], $19::bytea[]) AS new (id, data) WHERE data IS NOT NULL",
        digest("principal"),
        digest("key")
    )
}

/// Under the lock of [`Sql::lock`], so that no two do it at once.
fn fold(schema: &str) -> String {
    format!(
        "WITH spent AS (DELETE FROM {schema}.ledger RETURNING owner, live, held), \
         each AS (SELECT owner, sum(live)::bigint AS live FROM spent GROUP BY owner), \
         fewer AS (UPDATE {schema}.counts c SET live = c.live + each.live FROM each \
            WHERE c.owner = each.owner AND c.live + each.live > 0), \
         none AS (DELETE FROM {schema}.counts c USING each WHERE c.owner = each.owner AND c.live + each.live <= 0) \
         UPDATE {schema}.counts SET live = live + (SELECT coalesce(sum(live), 0)::bigint FROM spent), \
            held = held + (SELECT coalesce(sum(held), 0)::bigint FROM spent) WHERE owner = ''"
    )
}
