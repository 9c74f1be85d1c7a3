//! What a request says of its client, as rmcp has read it.

use rmcp::{RoleServer, model::ClientCapabilities, service::RequestContext};

use crate::{
    input::{InputKind, InputKinds},
    principal::Principal,
    protocol::Caller,
};

/// The client of one request.
pub(crate) struct Client {
    pub version: Option<String>,
    pub declares_tasks: bool,
    pub inputs: InputKinds,
    pub principal: Principal,
}

impl Client {
    /// Reads the request. The extension counts only where the request itself declares it (CAP-02); what the client can be
    /// asked may also come from the start of its session, under versions that have sessions.
    pub fn of(context: &RequestContext<RoleServer>, principal: Principal) -> Self {
        let own = context.meta.client_capabilities();
        let session = context.client_capabilities();
        Self {
            version: context.protocol_version().map(|version| version.as_str().to_owned()),
            declares_tasks: own.as_ref().is_some_and(ClientCapabilities::supports_tasks),
            inputs: own.or(session).as_ref().map_or(InputKinds::NONE, inputs),
            principal,
        }
    }

    pub fn caller(&self) -> Caller<'_> {
        Caller { version: self.version.as_deref(), declares_tasks: self.declares_tasks, principal: &self.principal }
    }

    /// Whether questions before there is a task go out as results of the call, or as requests to the client (NEW-02).
    pub fn has_round_trips(&self) -> bool {
        self.caller().version_has_tasks()
    }
}

/// An `elicitation` that names neither way means the form.
#[allow(deprecated, reason = "sampling and roots are on their way out, but clients declare them")]
fn inputs(capabilities: &ClientCapabilities) -> InputKinds {
    let elicitation = capabilities.elicitation.as_ref();
    let url = elicitation.is_some_and(|ways| ways.url.is_some());
    let form = elicitation.is_some_and(|ways| ways.form.is_some() || ways.url.is_none());
    [
        (form, InputKind::FormElicitation),
        (url, InputKind::UrlElicitation),
        (capabilities.sampling.is_some(), InputKind::Sampling),
        (capabilities.roots.is_some(), InputKind::Roots),
    ]
    .into_iter()
    .fold(InputKinds::NONE, |all, (declared, kind)| if declared { all.with(kind) } else { all })
}
