//! Who asks, under which version, and what the request itself declares.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{
    input::{InputKind, InputKinds},
    principal::Principal,
    protocol::{ProtocolError, object::Object},
};

/// The first version that has the extension. Versions are dates, so that their texts are in order (LEG-01).
pub const TASKS_SINCE: &str = mcp_tasks_types::PROTOCOL_VERSION;

/// What one request says of its client, as the checks need it.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The version that the request is made under: its own, or that of its session.
    pub version: Option<&'a str>,
    /// Whether the request itself declares the extension. What other requests of the client declared does not count
    /// (CAP-02, case 33), and neither does the capability of the experimental tasks (LEG-04).
    pub declares_tasks: bool,
    /// Who makes the request.
    pub principal: &'a Principal,
}

impl Caller<'_> {
    /// Whether the extension exists under the request's version (LEG-01).
    pub fn version_has_tasks(&self) -> bool {
        version_has_tasks(self.version)
    }

    /// Whether the request may be answered with a task (CAP-02, LEG-01).
    pub fn takes_tasks(&self) -> bool {
        self.declares_tasks && self.version_has_tasks()
    }

    pub(super) fn require_declared(&self) -> Result<(), ProtocolError> {
        if self.takes_tasks() { Ok(()) } else { Err(ProtocolError::extension_not_declared()) }
    }
}

/// Whether the extension exists under a version; not under an unknown one (LEG-01, case 36).
pub(crate) fn version_has_tasks(version: Option<&str>) -> bool {
    version.is_some_and(|version| version >= TASKS_SINCE)
}

/// The part of a request's `_meta` that the protocol goes by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declared {
    /// `io.modelcontextprotocol/protocolVersion`.
    pub version: Option<String>,
    /// Whether `io.modelcontextprotocol/clientCapabilities` has the extension.
    pub tasks: bool,
    /// What the client can be asked, by its capabilities.
    pub inputs: InputKinds,
    /// Whether all is there that a request of 2026-07-28 must carry: version and capabilities. It need not say who the
    /// client is.
    pub complete: bool,
}

impl Declared {
    /// Reads `params`, the JSON text of a request's parameters. What is missing counts as not declared; so does all of a
    /// `_meta` that is malformed, for the core's own checks refuse it.
    pub fn read(params: &[u8]) -> Self {
        serde_json::from_slice::<Object<Params<'_>>>(params)
            .ok()
            .and_then(|Object(params)| params.meta)
            .map_or_else(Self::default, |Object(meta)| Self::of(meta))
    }

    fn of(meta: Meta<'_>) -> Self {
        let complete = meta.version.is_some() && meta.capabilities.is_some();
        let Object(capabilities) = meta.capabilities.unwrap_or_default();
        Self {
            version: meta.version,
            tasks: capabilities.extensions.and_then(|Object(extensions)| extensions.tasks).is_some(),
            inputs: capabilities.inputs(),
            complete,
        }
    }
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Option<Object<Meta<'a>>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", borrow)]
    capabilities: Option<Object<Capabilities<'a>>>,
}

/// The client's capabilities, as far as they matter here.
#[derive(Deserialize, Default)]
pub(crate) struct Capabilities<'a> {
    #[serde(borrow)]
    extensions: Option<Object<Extensions<'a>>>,
    elicitation: Option<Object<Elicitation>>,
    sampling: Option<IgnoredAny>,
    roots: Option<IgnoredAny>,
}

#[derive(Deserialize, Clone, Copy)]
struct Extensions<'a> {
    #[serde(rename = "io.modelcontextprotocol/tasks", borrow)]
    tasks: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Elicitation {
    form: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

impl Capabilities<'_> {
    /// An `elicitation` that names neither way means the form (core, Elicitation Capabilities).
    fn inputs(&self) -> InputKinds {
        let form = self.elicitation.as_ref().is_some_and(|Object(ways)| ways.form.is_some() || ways.url.is_none());
        let url = self.elicitation.as_ref().is_some_and(|Object(ways)| ways.url.is_some());
        [
            (form, InputKind::FormElicitation),
            (url, InputKind::UrlElicitation),
            (self.sampling.is_some(), InputKind::Sampling),
            (self.roots.is_some(), InputKind::Roots),
        ]
        .into_iter()
        .fold(InputKinds::NONE, |all, (declared, kind)| if declared { all.with(kind) } else { all })
    }
}
