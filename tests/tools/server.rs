//! What is wrong with a server is found when it is built.

use mcp_tasks::{State, TaskContext, TaskServer, task_tool};
use rmcp::ServerHandler;

#[task_tool]
async fn one() {}

#[task_tool(name = "one")]
async fn another() {}

#[task_tool]
async fn not_an_object(#[args] texts: Vec<String>) {
    drop(texts);
}

#[task_tool]
async fn stateful(task: TaskContext, words: State<Vec<String>>) -> usize {
    drop(task);
    words.len()
}

fn fault(server: TaskServer) -> String {
    server.build().expect_err("something is wrong").to_string()
}

#[tokio::test]
async fn faults_are_found_when_it_is_built() {
    let server = || TaskServer::new("test", "1").in_memory();
    assert_eq!(fault(server().tool::<one>().tool::<another>()), "there are two tools called `one`");
    assert_eq!(
        fault(server().tool::<not_an_object>()),
        "tool `not_an_object`: the type of its `#[args]` is no JSON object"
    );
    assert_eq!(
        fault(server().state(1_u8).tool::<stateful>()),
        "tool `stateful` takes a `mcp_tasks::tool::state::State<alloc::vec::Vec<alloc::string::String>>` that the server \
         does not have: add it with `TaskServer::state`"
    );
    assert!(server().tool::<stateful>().state(vec![String::new()]).build().is_ok());
    assert_eq!(fault(server().state(1_u8).state(2_u8)), "there are two states of type `u8`");
    assert_eq!(fault(server().form::<u8>()), "`u8` cannot be a form: a form is a struct with named fields");
}

#[tokio::test]
async fn a_server_says_who_it_is() {
    let server =
        TaskServer::new("test", "1").instructions("Ask.").tool::<one>().in_memory().build().expect("it is fine");
    let info = server.tools().get_info();
    assert_eq!((info.server_info.name.as_str(), info.instructions.as_deref()), ("test", Some("Ask.")));
    assert!(info.capabilities.tools.is_some());
    assert_eq!(server.engine().running(), 0);
}
