//! `claim`: the oldest first, by target, each task once.

use super::*;

clauses![
    the_oldest_are_claimed_first,
    claims_keep_their_limit,
    claims_go_by_method_name_and_version,
    each_task_is_claimed_once,
    a_claim_takes_the_next_epoch_and_attempt,
    only_open_tasks_are_claimed,
];

async fn aged(world: &World, order: &[(u128, &Arc<Target>)]) {
    for (bits, target) in order {
        world.create(*bits, NewTask { target: Arc::clone(target), ..task() }, None).await;
        world.advance(Duration::from_millis(1)).await;
    }
}

async fn the_oldest_are_claimed_first(world: World) {
    let [one, two] = ["1", "2"].map(|version| Arc::new(Target::new("tools/call", "tool", version)));
    aged(&world, &[(9, &one), (5, &two), (7, &one), (6, &two)]).await;
    let both = [two, one];
    let mut order = Vec::new();
    for limit in [3, 3] {
        order.push(ids(&works(world.here.claim(LEASE, &both, limit)).await));
    }
    assert_eq!(order, [vec![9, 5, 7], vec![6]]);
}

async fn claims_keep_their_limit(world: World) {
    let target = task().target;
    aged(&world, &[(1, &target), (2, &target), (3, &target)]).await;
    for (limit, expected) in [(0, vec![]), (1, vec![1]), (1, vec![2]), (10, vec![3]), (10, vec![])] {
        assert_eq!(ids(&works(world.here.claim(LEASE, &[Arc::clone(&target)], limit)).await), expected);
    }
}

async fn claims_go_by_method_name_and_version(world: World) {
    world.create(1, task(), None).await;
    let others = [("prompts/get", "tool", "1"), ("tools/call", "tool", "2"), ("tools/call", "tool2", "1")];
    let others = others.map(|(method, name, version)| Arc::new(Target::new(method, name, version)));
    assert!(works(world.here.claim(LEASE, &others, 10)).await.is_empty());
    assert!(works(world.here.claim(LEASE, &[], 10)).await.is_empty());
    let with = [others[0].clone(), task().target, task().target];
    assert_eq!(ids(&works(world.here.claim(LEASE, &with, 10)).await), [1]);
}

async fn each_task_is_claimed_once(world: World) {
    let target = [task().target];
    for round in 0..10_u128 {
        for bits in 0..4 {
            world.create(round * 4 + bits, task(), None).await;
        }
        let (mut one, two) = tokio::join!(world.here.claim(LEASE, &target, 3), world.there.claim(OTHER, &target, 3));
        let mut all = ids(&one.as_mut().map(std::mem::take).expect("a call failed"));
        all.extend(ids(&two.expect("a call failed")));
        all.extend(ids(&works(world.here.claim(LEASE, &target, 9)).await));
        all.sort_unstable();
        assert_eq!(all, (round * 4..round * 4 + 4).collect::<Vec<_>>());
    }
}

async fn a_claim_takes_the_next_epoch_and_attempt(world: World) {
    let created = world.create(1, task(), None).await;
    let claimed = works(world.there.claim(OTHER, &[task().target], 1)).await.remove(0);
    assert_eq!((claimed.epoch.0, claimed.attempt, claimed.rev.0), (1, 1, 2));
    assert_eq!(claimed.last_updated_at, created.last_updated_at, "no client can see a claim");
    assert_eq!(world.get(&created).await, Some(claimed));
}

async fn only_open_tasks_are_claimed(world: World) {
    let target = task().target;
    let released = world.running(1).await;
    world.changed(&released, &Mutation::Release).await;
    let ended = world.running(2).await;
    world.changed(&ended, &complete("{}")).await;
    let expired = NewTask { ttl: Some(STEP), ..task() };
    world.create(3, expired, None).await;
    world.advance(STEP).await;
    world.create(4, task(), None).await;
    // The expired one, before any sweep, neither counts nor comes.
    let claimed = works(world.there.claim(OTHER, &[target], 2)).await;
    assert_eq!(ids(&claimed), [1, 4]);
}
