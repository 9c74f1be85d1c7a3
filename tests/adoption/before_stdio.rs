//! A server that was written with rmcp alone, on stdio.

use std::{error::Error, time::Duration};

use rmcp::{
    ServerHandler, ServiceExt,
    handler::server::wrapper::Parameters,
    model::{ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
};

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
    Library.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
