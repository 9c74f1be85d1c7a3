//! Who may see a task.

use mcp_tasks::{
    clock::ManualClock,
    engine::{Call, TaskEngine, Work},
    input::InputKey,
    principal::Principal,
    store::Operation,
    task::NewTask,
    task_id::TaskId,
};

use crate::support::*;

/// SEC-02, SEC-01: to a stranger a task looks like one that does not exist: the same error, after the same number of reads
/// of the store, for every call; and the stranger changes nothing. NOT-01: a listen leaves it out. Cases 27 and 28.
#[tokio::test]
async fn a_foreign_task_looks_unknown() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    let people = ["", "alice", "bob"].map(Principal::new);
    for owner in &people {
        let task = NewTask { principal: owner.clone(), ..new_task() };
        let work = Work::new(|_| std::future::pending());
        let id = engine.create(Call::new(task, work)).await.expect("created").id;
        let before = engine.get(owner, id).await.expect("its owner sees it");
        let unknown = TaskId::random().expect("random bytes");
        for stranger in people.iter().filter(|person| *person != owner) {
            let mut told = Vec::new();
            for id in [id, unknown] {
                let reads = store.calls(Operation::Get);
                let answers = vec![(InputKey::new("a"), "1".into())];
                let mut errors = format!(
                    "{:?} {:?} {:?}",
                    engine.get(stranger, id).await,
                    engine.respond(stranger, id, answers).await,
                    engine.cancel(stranger, id).await,
                );
                let mut watch = engine.watch(stranger, vec![id]).await.expect("one id is not too many");
                errors += &format!("{:?}", watch.accepted());
                errors += &format!("{:?}", watch.next().await);
                told.push((errors, store.calls(Operation::Get) - reads));
            }
            assert_eq!(told[0], told[1]);
            assert!(told[0].0.contains("UnknownTask"));
        }
        assert_eq!(engine.get(owner, id).await.expect("its owner sees it"), before);
    }
}
