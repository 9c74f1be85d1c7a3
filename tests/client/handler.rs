//! Handlers that answer, and one that counts what it is asked.
#![expect(deprecated, reason = "sampling and roots are still asked for")]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, Implementation, ListRootsResult, Root,
        RootsCapabilities, SamplingCapability, SamplingMessage,
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

/// Has a model and roots, and nobody at the keyboard.
pub struct Machine;

impl ClientHandler for Machine {
    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("forty-two"), "parrot".to_owned()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///home")]))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = Some(SamplingCapability::default());
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(capabilities, Implementation::new("machine", "1"))
    }
}
