//! Over Streamable HTTP: headers, statuses, and our own server behind the layer.

use std::{
    future::IntoFuture,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use http_body::Frame;
use mcp_tasks::{
    client::{Called, FollowOptions, TaskClient, http},
    http::TasksLayer,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use serde_json::Value;

use super::{handler::User, ours};

/// What came, and how often `tasks/get` is to fail first.
#[derive(Clone, Default)]
struct Gate {
    seen: Arc<Mutex<Vec<Seen>>>,
    failing: Arc<AtomicU32>,
}

#[derive(Debug, Clone)]
struct Seen {
    at: Instant,
    method: String,
    name: String,
    message: Value,
}

/// A body that breaks off, and the connection with it.
struct Reset;

impl HttpBody for Reset {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into())))
    }
}

fn header(request: &Request, name: &str) -> String {
    request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
}

async fn look(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (method, name) = (header(&request, "mcp-method"), header(&request, "mcp-name"));
    let get = method == "tasks/get";
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.expect("a body");
    let message = serde_json::from_slice(&body).unwrap_or_default();
    gate.seen.lock().unwrap().push(Seen { at: Instant::now(), method, name, message });
    let fail = |left: u32| left.checked_sub(1);
    if get && let Ok(left) = gate.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fail) {
        if left % 2 == 0 {
            return Response::new(Body::new(Reset));
        }
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "1")], "busy").into_response();
    }
    next.run(Request::from_parts(head, Body::from(body))).await
}

async fn serve(gate: Gate) -> SocketAddr {
    let server = ours::server().build().expect("a server");
    let layer = TasksLayer::new(server.engine());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.handler()), sessions, config);
    let app =
        Router::new().route_service("/mcp", layer.around(service)).layer(middleware::from_fn_with_state(gate, look));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    tokio::spawn(axum::serve(listener, app).into_future());
    address
}

async fn connect(address: SocketAddr, user: User) -> TaskClient {
    let transport = http(format!("http://{address}/mcp"));
    TaskClient::connect(user, transport).await.expect("a session")
}

/// HTTP-01: `tasks/get`, `tasks/update` and `tasks/cancel` carry their method and the task's id in headers. And our own
/// server takes all of it: a result, a question, a cancellation.
#[tokio::test]
async fn requests_carry_their_headers() {
    let (gate, user) = (Gate::default(), User::default());
    let client = connect(serve(gate.clone()).await, user.clone()).await;
    ours::result_question_and_cancel(&client, &user, &FollowOptions::default().with_poll_only()).await;
    let seen = gate.seen.lock().unwrap().clone();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let of_method: Vec<_> = seen.iter().filter(|seen| seen.method == method).collect();
        assert!(!of_method.is_empty(), "{method}: {seen:?}");
        let fits = |seen: &&Seen| seen.message["method"] == method && seen.message["params"]["taskId"] == *seen.name;
        assert!(of_method.iter().all(fits), "{method}: {of_method:?}");
    }
}

/// Case 41: a `503` with `Retry-After`, a connection that breaks off, a `503` again, then an answer: the call succeeds, and
/// waited as long as it was told.
#[tokio::test]
async fn an_unavailable_server_is_waited_for() {
    let (gate, user) = (Gate::default(), User::default());
    gate.failing.store(3, Ordering::SeqCst);
    let client = connect(serve(gate.clone()).await, user.clone()).await;
    let options = FollowOptions::default().with_poll_only();
    let called = client.call_tool_task_with(ours::params("greet"), options).await;
    let Ok(Called::Task(handle)) = called else { panic!("no task: {called:?}") };
    handle.result().await.expect("a result");
    let times: Vec<_> =
        gate.seen.lock().unwrap().iter().filter(|seen| seen.method == "tasks/get").map(|seen| seen.at).collect();
    assert!(times.len() >= 2, "{times:?}");
    assert!(times[1] - times[0] >= Duration::from_secs(1), "{times:?}");
    assert_eq!(user.asked(), 1);
}

/// With a stream the server is not polled at all: each state is pushed.
#[tokio::test]
async fn a_stream_replaces_polls() {
    let (gate, user) = (Gate::default(), User::default());
    let client = connect(serve(gate.clone()).await, user.clone()).await;
    ours::result_question_and_cancel(&client, &user, &FollowOptions::default()).await;
    let seen = gate.seen.lock().unwrap().clone();
    let count = |method| seen.iter().filter(|seen| seen.method == method).count();
    assert!(count("subscriptions/listen") == 2 && count("tasks/get") <= 2, "{seen:?}");
}
