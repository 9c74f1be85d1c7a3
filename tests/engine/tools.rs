//! Tools tested as plain Rust, in a [`TaskContext::for_test`].

use std::time::Duration;

use bytes::Bytes;
use mcp_tasks::{
    context::TaskContext,
    error::TaskContextError,
    input::{InputKind, InputKinds},
};

/// Asks for a name, for a second at most.
async fn greet(task: TaskContext) -> Result<String, TaskContextError> {
    task.status("asking").await?;
    let name = tokio::select! {
        biased;
        name = task.ask(InputKind::FormElicitation, "name", Bytes::from_static(b"{}")) => name?,
        () = task.sleep(Duration::from_secs(1)) => Bytes::from_static(b"nobody"),
        () = task.cancelled() => return Ok("bye".into()),
    };
    task.progress(1, 1).await?;
    Ok(format!("hello {}", String::from_utf8_lossy(&name)))
}

#[tokio::test]
async fn a_script_answers() {
    let mut test = TaskContext::for_test().answer("name", "Luca");
    assert_eq!(greet(test.context()).await.expect("it ends well"), "hello Luca");
    assert_eq!(test.status_messages(), ["asking".into(), "1/1".into()]);
    assert_eq!(&*test.questions()[0].name, "name");
    assert_eq!(test.record().and_then(|record| record.progress).map(|progress| progress.total), Some(1));
}

/// Case 10, as a tool's own test sees it.
#[tokio::test]
async fn a_test_has_its_own_clock() {
    let mut test = TaskContext::for_test().silence("name");
    let clock = test.clock().clone();
    let (greeting, ()) = tokio::join!(greet(test.context()), async {
        clock.sleepers(1).await;
        clock.advance(Duration::from_secs(1));
    });
    assert_eq!(greeting.expect("it ends well"), "hello nobody");
    assert_eq!(test.record().map(|record| record.inputs().outstanding().count()), Some(0));
}

#[tokio::test]
async fn a_test_can_cancel_and_restrict() {
    let mut test = TaskContext::for_test().silence("name");
    let task = test.context();
    let (greeting, ()) = tokio::join!(greet(task), async { test.cancel() });
    assert!(matches!(greeting, Ok(text) if text == "bye") || test.record().is_some());
    let mut test = TaskContext::for_test().declares(InputKinds::NONE);
    assert!(matches!(greet(test.context()).await, Err(TaskContextError::NotDeclared(_))));
}
