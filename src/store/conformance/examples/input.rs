//! `respond` and `input`: the first answer a key, each kept once.

use super::*;

clauses![
    upd_06_the_first_answer_wins,
    upd_02_keys_that_are_not_outstanding_are_ignored_and_the_rest_counts,
    case_13_an_answer_to_nothing_changes_nothing,
    upd_03_a_task_waits_for_its_last_key,
    case_14_answers_of_two_connections_are_both_kept,
    upd_04_a_rerun_finds_what_was_answered,
    a_repeated_answer_changes_nothing,
    an_answer_is_gone_with_the_end_of_the_task,
];

async fn upd_06_the_first_answer_wins(world: World) {
    let record = world.running(1).await;
    let asked = world.changed(&record, &ask("a")).await;
    assert_eq!(asked.status(), TaskStatus::InputRequired);
    assert_eq!(world.input(&record, "a").await, None);
    let first = stands(world.respond(&record, &[("a", "1")]).await);
    assert_eq!(first.status(), TaskStatus::Working);
    assert_eq!(stands(world.respond(&record, &[("a", "2")]).await), first);
    assert_eq!(world.input(&record, "a").await, Some(Bytes::from_static(b"1")));
    let record = world.changed(&record, &ask("b")).await;
    world.respond(&record, &[("b", "3"), ("b", "4")]).await;
    assert_eq!(world.input(&record, "b").await, Some(Bytes::from_static(b"3")));
}

async fn upd_02_keys_that_are_not_outstanding_are_ignored_and_the_rest_counts(world: World) {
    let record = world.running(1).await;
    for name in ["a", "b", "c"] {
        world.changed(&record, &ask(name)).await;
    }
    world.changed(&record, &Mutation::Withdraw { name: "b".into(), ordinal: 1 }).await;
    let answered = stands(world.respond(&record, &[("never", "0"), ("b", "0"), ("a", "1"), ("a#2", "0")]).await);
    assert_eq!(answered.inputs().outstanding().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["c"]);
    for (key, answer) in [("a", Some("1")), ("b", None), ("c", None), ("never", None)] {
        assert_eq!(world.input(&record, key).await, answer.map(Bytes::from), "{key}");
    }
}

async fn case_13_an_answer_to_nothing_changes_nothing(world: World) {
    let record = world.running(1).await;
    let asked = world.changed(&record, &ask("a")).await;
    world.advance(STEP).await;
    for answers in [&[][..], &[("never", "1")], &[("A", "1")], &[("a ", "1")]] {
        assert_eq!(stands(world.respond(&record, answers).await), asked);
    }
    assert_eq!(world.get(&record).await, Some(asked));
}

async fn upd_03_a_task_waits_for_its_last_key(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &ask("a")).await;
    world.changed(&record, &ask("b")).await;
    assert_eq!(stands(world.respond(&record, &[("b", "2")]).await).status(), TaskStatus::InputRequired);
    assert_eq!(stands(world.respond(&record, &[("a", "1")]).await).status(), TaskStatus::Working);
}

async fn case_14_answers_of_two_connections_are_both_kept(world: World) {
    let record = world.running(1).await;
    for round in 0..20 {
        let (left, right) = (format!("l{round}"), format!("r{round}"));
        world.changed(&record, &ask(&left)).await;
        world.changed(&record, &ask(&right)).await;
        let answers = [left.as_str(), right.as_str()].map(|key| [(InputKey::new(key), Bytes::from_static(b"1"))]);
        let (one, two) =
            tokio::join!(world.here.respond(record.id, &answers[0]), world.there.respond(record.id, &answers[1]));
        let last = [one, two].map(|written| stands(written.expect("a call failed")).status());
        assert!(last.contains(&TaskStatus::Working), "round {round}: {last:?}");
        assert_eq!(world.status(&record).await, Some(TaskStatus::Working), "round {round}");
        for key in [left, right] {
            assert!(world.input(&record, &key).await.is_some(), "round {round}: the answer to {key} was lost");
        }
    }
}

async fn upd_04_a_rerun_finds_what_was_answered(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &ask("a")).await;
    world.respond(&record, &[("a", "1")]).await;
    world.changed(&record, &ask("b")).await;
    world.changed(&record, &Mutation::Release).await;
    assert_eq!(world.status(&record).await, Some(TaskStatus::InputRequired), "asked while nobody runs it");
    world.respond(&record, &[("b", "2")]).await;
    let again = works(world.there.claim(OTHER, &[Arc::clone(&record.target)], 1)).await.remove(0);
    assert_eq!(again.attempt, 2);
    let same = stands(works(world.there.commit(again.id, again.epoch, &ask("a"))).await);
    assert_eq!(same, again, "the same question is paired with its answer");
    for (key, answer) in [("a", "1"), ("b", "2")] {
        assert_eq!(world.input(&again, key).await, Some(Bytes::from(answer)));
    }
}

async fn a_repeated_answer_changes_nothing(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &ask("a")).await;
    let once = world.respond(&record, &[("a", "1"), ("x", "2")]).await;
    world.advance(STEP).await;
    assert_eq!(world.respond(&record, &[("a", "1"), ("x", "2")]).await, once);
}

async fn an_answer_is_gone_with_the_end_of_the_task(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &ask("a")).await;
    world.respond(&record, &[("a", "1")]).await;
    world.changed(&record, &complete("{}")).await;
    assert_eq!(world.input(&record, "a").await, None);
}
