//! Which definition a message has to fit.

use crate::export::judge::Judge;
use crate::export::messages;
use crate::ir::{Content, Object, Revision};
use crate::overlay::Settings;
use serde_json::Value;

/// The definitions of a revision, to be found by what messages say.
#[derive(Clone, Copy)]
pub(super) struct Finder<'a> {
    pub(super) revision: &'a Revision,
    pub(super) settings: &'a Settings,
    pub(super) strict: Judge<'a>,
}

impl<'a> Finder<'a> {
    /// The definition of a request by its method.
    pub(super) fn request(self, method: &str) -> Option<&'a str> {
        self.message(|object| object.field("id").is_some() && has_method(object, method))
    }

    /// The definition of a notification by its method.
    pub(super) fn notification(self, method: &str) -> Option<&'a str> {
        self.message(|object| object.field("id").is_none() && has_method(object, method))
    }

    /// The definition of a result, or of a whole response that is an error.
    pub(super) fn response(self, method: &str, response: &Value) -> Option<String> {
        let Some(error) = response.get("error") else {
            let result = messages::result_of(self.request(method)?, self.settings);
            return result.filter(|name| self.strict.definitions().contains_key(name));
        };
        messages::error_response(self.revision, error["code"].as_i64()).map(str::to_owned)
    }

    fn message(self, is_it: impl Fn(&Object) -> bool) -> Option<&'a str> {
        messages::envelope(self.revision, is_it)
    }
}

fn has_method(object: &Object, method: &str) -> bool {
    let content = object.field("method").map(|field| &field.content);
    matches!(content, Some(Content::Constant(own)) if own == method)
}
