//! What is in the tables.

use std::time::Duration;

use bytes::Bytes;
use mcp_tasks::{
    limits::Quota,
    store::{AdminStore, TaskStore, admin::Filter},
    task::{Mutation, Settlement, TaskStatus},
};

use crate::support::{LEASE, Schema, client, commit, completed, create, new_task, random_id};

/// Case 26: what is stored is what is returned, byte for byte.
#[tokio::test]
async fn payloads_come_back_as_they_were() {
    let Some(schema) = Schema::new() else { return };
    let (here, there) = (schema.store().await, schema.store().await);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let payloads: [Vec<u8>; 7] = [
        br#"{"text":"\u0000 \ud800"}"#.to_vec(),
        br#"[9007199254740993, 18446744073709551616, 1e400, 1.0]"#.to_vec(),
        deep.into_bytes(),
        vec![b'9'; 1024],
        vec![b'9'; 1025],
        format!("\"{}\"", "A".repeat(5 << 20)).into_bytes(),
        format!("\"{}\"", "z".repeat(8 << 20)).into_bytes(),
    ];
    for payload in payloads {
        let made = here.create(random_id(), new_task("ali\0ce\\", &payload), Some(LEASE), &Quota::UNLIMITED).await;
        let task = made.expect("created");
        let open = there.get(task.id).await.expect("it works").expect("it is there");
        assert_eq!(open, task);
        assert_eq!(open.journal.arguments(), payload);
        let done = commit(&here, &task, Mutation::Settle(Settlement::Completed(Bytes::from(payload)))).await;
        assert_eq!(there.get(task.id).await.expect("it works"), Some(done));
    }
}

/// Large payloads go with their tasks, and no row is left of what is gone (case 23).
#[tokio::test]
async fn nothing_is_left_of_what_is_gone() {
    let Some(schema) = Schema::new() else { return };
    let clock = mcp_tasks::clock::ManualClock::default();
    let config = schema.config().clock(std::sync::Arc::new(clock.clone()));
    let store = mcp_tasks::store::postgres::PostgresStore::connect(config).await.expect("it opens");
    for number in 0..6 {
        let task = store.create(random_id(), new_task("a", &[b'1'; 2000]), Some(LEASE), &Quota::UNLIMITED).await;
        if number % 2 == 0 {
            commit(&store, &task.expect("created"), completed(&"1".repeat(3000))).await;
        }
    }
    clock.advance(Duration::from_secs(7200));
    let mut removed = 0;
    while removed < 6 {
        let reaped = store.reap(2).await.expect("it works");
        assert!(reaped.more || !reaped.expired.is_empty() || reaped.removed > 0 || removed == 6);
        removed += reaped.removed;
        clock.advance(Duration::from_secs(60));
    }
    store.reap(10).await.expect("it works");
    let sql = "SELECT (SELECT count(*) FROM {schema}.tasks) + (SELECT count(*) FROM {schema}.payloads) \
        + (SELECT count(*) FROM {schema}.ledger) + (SELECT sum(live + held)::bigint FROM {schema}.counts)";
    let line = client(&schema.url).await.query_one(&sql.replace("{schema}", &schema.quoted()), &[]).await;
    assert_eq!(line.expect("it runs").get::<_, i64>(0), 0);
}

/// With keys, nothing that came from a client or a tool stands in the tables as it is.
#[cfg(feature = "encryption")]
#[tokio::test]
async fn with_keys_contents_are_sealed() {
    let Some(schema) = Schema::new() else { return };
    let keys = mcp_tasks::store::Keyring::new("k1", [7; 32]).expect("a key id");
    let config = schema.config().keyring(keys);
    let store = mcp_tasks::store::postgres::PostgresStore::connect(config).await.expect("it opens");
    let argument = br#"{"text":"conspicuous"}"#;
    let task = store.create(random_id(), new_task("alice", argument), Some(LEASE), &Quota::UNLIMITED).await;
    let task = task.expect("created");
    let open = store.get(task.id).await.expect("it works").expect("it is there");
    assert_eq!(open.journal.arguments(), argument);
    assert!(!dump(&schema).await.contains("conspicuous"));
    commit(&store, &task, completed("\"conspicuous\"")).await;
    assert!(!dump(&schema).await.contains("conspicuous"));
    let other = schema.store().await;
    assert!(other.get(task.id).await.is_err(), "it is not read without the key");
    // What cannot be read stands in no other's way.
    create(&other).await;
    other.reap(10).await.expect("it works");
}

/// All rows, as text; bytes as the text they are.
pub async fn dump(schema: &Schema) -> String {
    let mut all = String::new();
    for table in ["tasks", "payloads", "counts", "ledger"] {
        let sql = format!("SELECT encode(convert_to(t::text, 'UTF8'), 'escape') FROM {}.{table} t", schema.quoted());
        for line in client(&schema.url).await.query(&sql, &[]).await.expect("it runs") {
            let text: String = line.get(0);
            all += &text;
            // A bytea prints as hexadecimal digits: read as text they are what they hold.
            all += &String::from_utf8_lossy(&unhexed(&text));
        }
    }
    all
}

fn unhexed(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    // Both ways to pair them, for other digits stand before.
    let pairs = |from: usize| {
        digits[from.min(digits.len())..].chunks_exact(2).map(|pair| {
            let pair = std::str::from_utf8(pair).expect("digits");
            u8::from_str_radix(pair, 16).expect("digits")
        })
    };
    pairs(0).chain(pairs(1)).collect()
}

/// An operator's list is filtered, in order and in pages; the statistics say what there is.
#[tokio::test]
async fn an_operator_sees_what_there_is() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.store().await;
    for number in 0..5 {
        let task = create(&store).await;
        if number < 2 {
            commit(&store, &task, completed("1")).await;
        }
    }
    let filter = Filter { status: Some(TaskStatus::Working), ..Filter::default() };
    let first = store.list(&filter, None, 2).await.expect("it works");
    let last = first.last().expect("two");
    let position = mcp_tasks::store::admin::Position { created_at: last.created_at, id: last.id };
    let second = store.list(&filter, Some(position), 2).await.expect("it works");
    assert_eq!((first.len(), second.len()), (2, 1));
    let keys: Vec<_> = first.iter().chain(&second).map(|task| (task.created_at, task.id)).collect();
    assert!(keys.is_sorted_by(|a, b| a > b), "{keys:?}");
    let stats = store.stats().await.expect("it works");
    assert_eq!(stats.tasks[&("tool".into(), TaskStatus::Completed)], 2);
    assert_eq!((stats.leased, stats.unclaimed, stats.overdue), (3, 0, 0));
    assert!(stats.bytes.is_some_and(|bytes| bytes > 0), "{stats:?}");
    assert_eq!(store.purge(&filter, 10).await.expect("it works"), 0, "open tasks are not removed");
    assert_eq!(store.purge(&Filter::default(), 1).await.expect("it works"), 1);
}

/// Tasks that cannot be read stand in no other's way, even where they are the oldest, and as many as are asked for.
#[tokio::test]
async fn a_claim_looks_past_what_cannot_be_read() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.store().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let task = store.create(random_id(), new_task("alice", b"{}"), None, &Quota::UNLIMITED).await.expect("created");
        ids.push((task.created_at, task.id));
    }
    ids.sort_unstable();
    let sql = "UPDATE {schema}.tasks SET head = '\\x00' WHERE id IN \
        (SELECT id FROM {schema}.tasks ORDER BY created_at, id LIMIT 3)";
    schema.run(sql).await;
    let targets = [new_task("alice", b"{}").target];
    for expected in [Some(ids[3].1), Some(ids[4].1), None] {
        let claimed = store.claim(LEASE, &targets, 1).await.expect("it works");
        assert_eq!(claimed.iter().map(|task| task.id).collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    }
}
