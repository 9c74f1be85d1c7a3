//! A server that was written with rmcp alone, over Streamable HTTP.

use std::{error::Error, future::IntoFuture, time::Duration};

use axum::Router;
use rmcp::{
    ServerHandler,
    handler::server::wrapper::Parameters,
    model::{ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;

/// What to index.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Book {
    /// The book's title.
    title: String,
}

#[derive(Clone)]
struct Library;

#[tool_router]
impl Library {
    /// Makes the index of a book.
    #[tool]
    async fn index(&self, Parameters(Book { title }): Parameters<Book>) -> String {
        tokio::time::sleep(Duration::from_millis(50)).await;
        format!("the index of {title}")
    }
}

#[tool_handler]
impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service = StreamableHttpService::new(|| Ok(Library), LocalSessionManager::default().into(), config);
    let app = Router::new().route_service("/mcp", service);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}", listener.local_addr()?);
    axum::serve(listener, app).into_future().await?;
    Ok(())
}
