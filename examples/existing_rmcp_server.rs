//! A server that was written with rmcp alone, and has a tool that takes its time: `cargo run --example existing_rmcp_server`.
//!
//! What makes a task of it is one line above the tool and one where the server is served. Both are marked.

use std::{error::Error, time::Duration};

use mcp_tasks::{Tasks, engine::Engine, task_tool};
use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
};

/// What to translate.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Book {
    /// The book's title.
    title: String,
    /// How many pages it has.
    pages: u32,
}

struct Translator {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Translator {
    fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    /// Says how long a book will take.
    #[tool]
    async fn estimate(&self, Parameters(Book { pages, .. }): Parameters<Book>) -> String {
        format!("{} s", pages / 100)
    }

    /// Translates a book.
    #[task_tool(ttl = "1h")] // <- the line above the tool
    #[tool]
    async fn translate(&self, Parameters(Book { title, pages }): Parameters<Book>) -> String {
        tokio::time::sleep(Duration::from_millis(10) * pages).await;
        format!("{title}, in another language")
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Translator {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::in_memory()?;
    // Was: `Translator::new().serve(rmcp::transport::io::stdio()).await?.waiting().await?`
    Tasks::new(Translator::new(), &engine).serve_stdio().await?;
    Ok(())
}
