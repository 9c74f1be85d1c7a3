//! `mcp-tasks admin` on real files, while a server may have them open.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_tasks::{
    limits::Quota,
    principal::Principal,
    store::{Lease, TaskStore, WorkerId, Written, sqlite::SqliteStore},
    task::{Failure, Mutation, NewTask, OnCancel, OnRestart, Settlement, Target, TaskRecord},
    task_id::TaskId,
};
use serde_json::{Value, json};

use crate::support::{Ran, User, exit};

/// A store with a file of its own, open as a server has it.
struct Shop {
    user: User,
    file: PathBuf,
    store: SqliteStore,
}

const LEASE: Lease = Lease { worker: WorkerId(1), period: Duration::from_secs(60) };

impl Shop {
    fn open() -> Self {
        let user = User::new();
        let file = user.data.path().join("tasks.db");
        Self { store: SqliteStore::open(&file).expect("a store"), user, file }
    }

    /// What an operator runs.
    fn admin(&self, arguments: &[&str]) -> Ran {
        let file = self.file.to_str().expect("UTF-8");
        self.user.run(&[&["admin", "--store", file], arguments].concat())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.admin(&[arguments, &["--json"]].concat()).ends(exit::DONE).json().remove(0)
    }

    /// A task of `tool` for `who` that a worker has begun.
    async fn begun(&self, tool: &str, who: &str, adjust: impl FnOnce(&mut NewTask)) -> Arc<TaskRecord> {
        let target = Arc::new(Target::new("tools/call", tool, "1"));
        let mut task = NewTask::new(Principal::new(who), target, Bytes::from_static(br#"{"layers": 2}"#));
        adjust(&mut task);
        let id = TaskId::random().expect("random bytes");
        self.store.create(id, task, Some(LEASE), &Quota::UNLIMITED).await.expect("created")
    }

    async fn settle(&self, task: &TaskRecord, settlement: Settlement) {
        let written = self.store.commit(task.id, task.epoch, &Mutation::Settle(settlement)).await.expect("written");
        assert!(matches!(written, Written::Stands(_)), "{written:?}");
    }
}

fn rerun(task: &mut NewTask) {
    task.on_restart = OnRestart::Rerun { max_attempts: 3 };
}

fn completed() -> Settlement {
    Settlement::Completed(Bytes::from_static(br#"{"content": []}"#))
}

fn failed() -> Settlement {
    Settlement::failed(Failure::Panicked)
}

fn ids(page: &Value) -> Vec<&str> {
    page["tasks"].as_array().expect("tasks").iter().map(|task| task["taskId"].as_str().expect("an id")).collect()
}

/// An operator finds tasks by status, tool, principal and age, page by page, newest first.
#[tokio::test]
async fn tasks_are_listed_by_what_they_are() {
    let shop = Shop::open();
    let bake = shop.begun("bake", "alice", |_| ()).await;
    let brew = shop.begun("brew", "bob", |_| ()).await;
    shop.settle(&brew, completed()).await;
    let [bake, brew] = [bake.id.to_string(), brew.id.to_string()];

    assert_eq!(ids(&shop.json(&["list", "--status", "working"])), [bake.as_str()]);
    assert_eq!(ids(&shop.json(&["list", "--tool", "brew"])), [brew.as_str()]);
    assert_eq!(ids(&shop.json(&["list", "--principal", "alice"])), [bake.as_str()]);
    assert_eq!(ids(&shop.json(&["list", "--newer-than", "1h"])).len(), 2);
    assert!(ids(&shop.json(&["list", "--older-than", "1h"])).is_empty());

    let first = shop.json(&["list", "--limit", "1"]);
    let rest = shop.json(&["list", "--limit", "1", "--after", first["next"].as_str().expect("there are more")]);
    assert_eq!(rest["next"], Value::Null);
    let mut both = [ids(&first), ids(&rest)].concat();
    both.sort_unstable();
    let mut all = [bake.as_str(), brew.as_str()];
    all.sort_unstable();
    assert_eq!(both, all);

    let table = shop.admin(&["list"]).ends(exit::DONE).stdout();
    assert!(table.contains("STATUS") && table.contains(&bake) && table.contains("alice"), "{table}");
}

/// An operator sees all that is known of a task; one that is gone has an exit code of its own (GET-03).
#[tokio::test]
async fn a_task_is_shown_whole() {
    let shop = Shop::open();
    let task = shop.begun("bake", "alice", rerun).await;
    let id = task.id.to_string();
    let shown = shop.json(&["show", &id]);
    assert_eq!(shown["arguments"], json!({"layers": 2}));
    assert_eq!(
        (&shown["principal"], &shown["onCancel"], &shown["attempt"]),
        (&json!("alice"), &json!("drop"), &json!(1))
    );
    let told = shop.admin(&["show", &id]).ends(exit::DONE).stdout();
    assert!(told.contains("arguments   {\"layers\":2}"), "{told}");
    shop.admin(&["show", &TaskId::from_bits(7).to_string()]).ends(exit::EXPIRED);
    shop.admin(&["show", "7"]).ends(exit::USAGE);
}

/// CAN-02, CAN-03: what a client's cancellation would do; a task that has ended stays as it is.
#[tokio::test]
async fn a_task_is_called_off() {
    let shop = Shop::open();
    let dropped = shop.begun("bake", "a", |_| ()).await.id.to_string();
    let signalled = shop.begun("bake", "a", |task| task.on_cancel = OnCancel::Signal).await.id.to_string();
    let done = shop.begun("bake", "a", |_| ()).await;
    shop.settle(&done, completed()).await;
    assert_eq!(shop.json(&["cancel", &dropped])["status"], "cancelled");
    let told = shop.json(&["cancel", &signalled]);
    assert_eq!((&told["status"], &told["cancelRequested"]), (&json!("working"), &json!(true)));
    let told = shop.json(&["cancel", &done.id.to_string()]);
    assert_eq!((&told["status"], &told["hadEnded"]), (&json!("completed"), &json!(true)));
}

/// Case 6: a task whose worker is stuck is taken from it, if its tool may run again; the late write of that worker is
/// refused.
#[tokio::test]
async fn a_stuck_task_runs_again() {
    let shop = Shop::open();
    let task = shop.begun("bake", "a", rerun).await;
    assert_eq!(shop.json(&["retry", &task.id.to_string()])["how"], "takenFromItsWorker");
    let targets = [Arc::clone(&task.target)];
    let claimed = shop.store.claim(Lease { worker: WorkerId(2), ..LEASE }, &targets, 10).await.expect("claimed");
    assert_eq!(claimed.iter().map(|task| task.id).collect::<Vec<_>>(), [task.id]);
    let late = shop.store.commit(task.id, task.epoch, &Mutation::Settle(completed())).await.expect("answered");
    assert!(matches!(late, Written::Refused(_)), "{late:?}");

    let once = shop.begun("bake", "a", |_| ()).await.id.to_string();
    let told = shop.admin(&["retry", &once]).ends(exit::TROUBLE).stderr();
    assert!(told.contains("may run only once"), "{told}");
    assert_eq!(shop.json(&["show", &once])["status"], "working", "it is unharmed");
}

/// TSK-08: a failed task is final; what it should have done is done by a new one, if its arguments were kept.
#[tokio::test]
async fn a_failed_task_is_run_again_as_a_new_one() {
    let shop = Shop::open();
    let task = shop.begun("bake", "alice", rerun).await;
    shop.settle(&task, failed()).await;
    let told = shop.json(&["retry", &task.id.to_string()]);
    let new = told["runsAs"].as_str().expect("an id");
    assert_eq!(told["how"], "newTask");
    assert_ne!(new, task.id.to_string());
    let shown = shop.json(&["show", new]);
    assert_eq!((&shown["status"], &shown["principal"]), (&json!("working"), &json!("alice")));
    assert_eq!(shown["arguments"], json!({"layers": 2}));
    assert_eq!(shop.json(&["show", &task.id.to_string()])["status"], "failed");

    let once = shop.begun("bake", "a", |_| ()).await;
    shop.settle(&once, failed()).await;
    let told = shop.admin(&["retry", &once.id.to_string()]).ends(exit::TROUBLE).stderr();
    assert!(told.contains("arguments were not kept"), "{told}");
    let done = shop.begun("bake", "a", rerun).await;
    shop.settle(&done, completed()).await;
    let told = shop.admin(&["retry", &done.id.to_string()]).ends(exit::TROUBLE).stderr();
    assert!(told.contains("the task is completed, and that is final"), "{told}");
}

/// Only settled tasks are removed, and without a terminal only if the operator says so.
#[tokio::test]
async fn settled_tasks_are_removed() {
    let shop = Shop::open();
    let open = shop.begun("bake", "a", |_| ()).await.id.to_string();
    for tool in ["bake", "brew"] {
        let task = shop.begun(tool, "a", |_| ()).await;
        shop.settle(&task, completed()).await;
    }
    shop.admin(&["purge"]).ends(exit::USAGE);
    shop.admin(&["purge", "--status", "working", "--yes"]).ends(exit::USAGE);
    assert_eq!(shop.json(&["purge", "--tool", "brew", "--yes"])["removed"], 1);
    assert_eq!(shop.json(&["purge", "--yes"])["removed"], 1);
    assert_eq!(ids(&shop.json(&["list"])), [open.as_str()]);
}

/// How many tasks there are of each tool and status, and what waits for a worker.
#[tokio::test]
async fn the_store_is_counted() {
    let shop = Shop::open();
    shop.begun("bake", "a", |_| ()).await;
    let task = shop.begun("bake", "a", |_| ()).await;
    shop.settle(&task, failed()).await;
    let stats = shop.json(&["stats"]);
    assert_eq!(stats["tools"][0]["tool"], "bake");
    assert_eq!((&stats["tools"][0]["working"], &stats["tools"][0]["failed"]), (&json!(1), &json!(1)));
    assert_eq!((&stats["leased"], &stats["unclaimed"]), (&json!(1), &json!(0)));
    let told = shop.admin(&["stats"]).ends(exit::DONE).stdout();
    assert!(told.contains("held by workers       1"), "{told}");
}

/// What is not there is not made; what is of something else, or of a newer version, is left as it is.
#[tokio::test]
async fn nothing_is_made_and_nothing_upgraded() {
    let shop = Shop::open();
    let at = |name: &str| shop.user.data.path().join(name).to_str().expect("UTF-8").to_owned();
    let list = |path: &str, told: &str| {
        let ran = shop.user.run(&["admin", "--store", path, "list"]).ends(exit::TROUBLE);
        assert!(ran.stderr().contains(told), "{told}: {}", ran.stderr());
    };
    list(&at("missing.db"), "is not there");
    assert!(!std::path::Path::new(&at("missing.db")).exists());
    std::fs::write(at("notes.txt"), "not a store, but long enough to look like a file of something else entirely")
        .expect("written");
    list(&at("notes.txt"), "is not a task store");
    std::fs::write(at("empty.db"), "").expect("written");
    list(&at("empty.db"), "is not a task store");
    assert_eq!(std::fs::metadata(at("empty.db")).expect("there").len(), 0);
    shop.store.close().await;
    let file = rusqlite::Connection::open(&shop.file).expect("open");
    file.pragma_update(None, "user_version", 99).expect("written");
    drop(file);
    list(shop.file.to_str().expect("UTF-8"), "use a newer one");
    shop.user.run(&["admin", "--store", "redis://there", "list"]).ends(exit::USAGE);
}

/// What is sealed stays so without the keys, and says with which key; with them it is shown.
#[cfg(feature = "encryption")]
#[tokio::test]
async fn what_is_sealed_needs_its_key() {
    use mcp_tasks::store::Keyring;

    let mut shop = Shop::open();
    shop.store.close().await;
    let keys = Keyring::new("k1", [7; 32]).expect("a key");
    shop.store = SqliteStore::builder(&shop.file).keyring(keys).open().expect("a store");
    let id = shop.begun("bake", "alice", rerun).await.id.to_string();
    let told = shop.admin(&["show", &id]).ends(exit::TROUBLE).stderr();
    assert!(told.contains("is encrypted with the key `k1`") && told.contains("--key-file"), "{told}");
    let file = shop.user.data.path().join("keys");
    std::fs::write(&file, format!("k1:{}\n", "07".repeat(32))).expect("written");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(shop.json(&["--key-file", file, "show", &id])["arguments"], json!({"layers": 2}));
}
