//! Who makes a request.

use std::sync::{Arc, Once};

use ::http::request::Parts;
use rmcp::model::Extensions;

use crate::principal::Principal;

type PrincipalOf = dyn Fn(Option<&Parts>) -> Principal + Send + Sync;

/// Finds the principal of a request.
#[derive(Clone, Default)]
pub(crate) struct Principals(Option<Arc<PrincipalOf>>);

impl Principals {
    pub fn by(principal: impl Fn(Option<&Parts>) -> Principal + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(principal)))
    }

    /// The principal of the request with these extensions; rmcp's HTTP service puts the request's parts there.
    pub fn of(&self, extensions: &Extensions) -> Principal {
        self.of_parts(extensions.get::<Parts>())
    }

    /// The principal of the request with these HTTP parts; `None` on a local transport. A layer in front has the first
    /// word: it answers about tasks itself, and both have to mean the same principal.
    pub fn of_parts(&self, parts: Option<&Parts>) -> Principal {
        if let Some(principal) = parts.and_then(|parts| parts.extensions.get::<Principal>()) {
            return principal.clone();
        }
        match (&self.0, parts) {
            (Some(principal), parts) => principal(parts),
            (None, None) => Principal::local(),
            (None, Some(_)) => everybody(),
        }
    }
}

/// The one principal that all callers over HTTP are, on a server that does not tell them apart.
fn everybody() -> Principal {
    static WARNING: Once = Once::new();
    WARNING.call_once(|| {
        tracing::warn!(
            "this server tells its HTTP callers not apart: whoever knows the id of a task may read, answer and cancel it; \
             say who calls with `Tasks::principal`"
        );
    });
    Principal::anonymous()
}
