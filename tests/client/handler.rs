//! A handler that counts what it is asked.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        ErrorData, Implementation,
    },
    service::RequestContext,
};

/// Answers each question with the same name, or lets it wait for ever.
#[derive(Clone, Default)]
pub struct User {
    pub asked: Arc<AtomicU32>,
    pub dropped: Arc<AtomicU32>,
    pub silent: bool,
}

struct CountDrop(Arc<AtomicU32>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl User {
    pub fn silent() -> Self {
        Self { silent: true, ..Self::default() }
    }

    pub fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn dropped(&self) -> u32 {
        self.dropped.load(Ordering::SeqCst)
    }
}

impl ClientHandler for User {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.silent {
            let _guard = CountDrop(Arc::clone(&self.dropped));
            return std::future::pending().await;
        }
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(serde_json::json!({ "name": "Ada" })))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }
}
