//! What an engine measures, by the names that it documents.

use std::time::Duration;

use bytes::Bytes;
use mcp_tasks::{
    engine::{Call, Gate, TaskEngine, Work, metrics::*},
    input::InputKind,
    limits::Limits,
    task::{NewTask, OnRestart},
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::support::*;

fn recorder() -> (PrometheusRecorder, PrometheusHandle) {
    let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Prefix("mcp_tasks".into()), &[1.0]);
    let recorder = builder.expect("a bucket").build_recorder();
    let handle = recorder.handle();
    (recorder, handle)
}

/// The value of a line such as `name{label="value"} 3`; nothing if there is no such line.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

/// Each thing that happens is counted once, where it happens.
#[tokio::test]
async fn what_happens_is_measured() {
    let (recorder, handle) = recorder();
    let _here = metrics::set_default_local_recorder(&recorder);
    let world = World::new();
    let gate = Gate::new(1);
    let gated = |seconds| {
        let work = Work::new(move |task| async move {
            task.sleep(Duration::from_secs(seconds)).await;
            completed("1")
        });
        Call { gate: Some(gate.clone()), ..Call::new(new_task(), work) }
    };
    let first = world.engine.create(gated(3)).await.expect("created").id;
    let second = world.engine.create(gated(4)).await.expect("created").id;
    let asks = world
        .create(|task| async move {
            completed(task.ask(InputKind::Roots, "a", Bytes::new()).await.expect("the test answers"))
        })
        .await;
    let panics = world.create(|_| async { panic!("no") }).await;
    let dropped = world.create(|_| std::future::pending()).await;
    settle_down().await;
    assert_eq!(value(&handle.render(), RUNNING), Some(3.0), "the second one waits for its turn");
    world.cancel(dropped).await.expect("cancellation is taken");
    settle_down().await;
    world.advance(Duration::from_secs(3)).await;
    world.respond(asks, &[("a", "1")]).await.expect("taken");
    settle_down().await;
    world.advance(Duration::from_secs(4)).await;
    for (id, shown) in
        [(first, "completed 1"), (second, "completed 1"), (asks, "completed 1"), (panics, "failed Panicked")]
    {
        world.until(id, shown).await;
    }
    world.idle().await;

    let text = handle.render();
    for (series, expected) in [
        (CREATED.to_owned(), 5.0),
        (format!("{SETTLED}{{status=\"completed\"}}"), 3.0),
        (format!("{SETTLED}{{status=\"failed\"}}"), 1.0),
        (format!("{SETTLED}{{status=\"cancelled\"}}"), 1.0),
        (RUNNING.to_owned(), 0.0),
        (format!("{QUEUE_SECONDS}_count"), 5.0),
        (format!("{QUEUE_SECONDS}_sum"), 3.0),
        (format!("{RUN_SECONDS}_sum"), 3.0 + 4.0 + 3.0),
        (format!("{INPUT_SECONDS}_sum"), 3.0),
        (format!("{INPUT_SECONDS}_count"), 1.0),
        (format!("{STORE_SECONDS}_count{{call=\"create\",outcome=\"ok\"}}"), 5.0),
    ] {
        assert_eq!(value(&text, &series), Some(expected), "{series} in\n{text}");
    }
    assert!(text.contains("# HELP mcp_tasks_created_total Tasks that were created"), "{text}");
}

/// A lease that runs out is counted by whoever finds it, the tool that lost it by the node that ran it, and the new start by
/// the node that makes it; a store that fails by its outcome.
#[tokio::test]
async fn losses_are_measured() {
    let (recorder, handle) = recorder();
    let _here = metrics::set_default_local_recorder(&recorder);
    let lease = Duration::from_secs(3);
    let clock = mcp_tasks::clock::ManualClock::default();
    let store = faulty(&clock);
    let mut limits = Limits::default();
    limits.quota.live = 2;
    let engine = engine_on(store.clone(), &clock, |builder| builder.lease(lease).limits(limits));
    for on_restart in [OnRestart::Fail, OnRestart::Rerun { max_attempts: 2 }] {
        let call = Call::new(NewTask { on_restart, ..new_task() }, Work::new(|_| std::future::pending()));
        engine.create(call).await.expect("created");
    }
    let third = Call::new(new_task(), Work::new(|_| std::future::pending()));
    engine.create(third).await.expect_err("too many");
    settle_down().await;
    store.break_down(true);
    clock.advance(lease);
    settle_down().await;
    clock.advance(lease);
    settle_down().await;
    assert_eq!(engine.running(), 0);
    store.break_down(false);
    clock.advance(Duration::from_secs(1));
    settle_down().await;

    let text = handle.render();
    for (series, expected) in [
        (LEASES_LOST.to_owned(), 2.0),
        (ABANDONED.to_owned(), 2.0),
        (format!("{SETTLED}{{status=\"failed\"}}"), 1.0),
        (format!("{STORE_SECONDS}_count{{call=\"create\",outcome=\"refused\"}}"), 1.0),
    ] {
        assert_eq!(value(&text, &series), Some(expected), "{series} in\n{text}");
    }
    let failed = format!("{STORE_SECONDS}_count{{call=\"renew\",outcome=\"unavailable\"}}");
    assert!(value(&text, &failed).is_some_and(|count| count >= 1.0), "{text}");
}
