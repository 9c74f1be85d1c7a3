//! Which definition a message has to fit.

use crate::export::judge::Judge;
use crate::export::messages;
use crate::ir::{Content, Object, Revision, Shape, Type};
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
        let special = error["code"].as_i64().and_then(|code| self.error(code));
        Some(special.unwrap_or("JSONRPCErrorResponse").to_owned())
    }

    /// The error response that is for one code alone.
    fn error(self, code: i64) -> Option<&'a str> {
        let has_code = |name: &str| {
            let content =
                self.revision.object(name).and_then(|object| object.field("code")).map(|field| &field.content);
            matches!(content, Some(Content::ConstantInteger(own)) if *own == code)
        };
        self.message(|object| {
            let content = object.field("error").map(|field| &field.content);
            matches!(content, Some(Content::Typed(Type::Named(name))) if has_code(name))
        })
    }

    /// The first of the whole messages that is it.
    fn message(self, is_it: impl Fn(&Object) -> bool) -> Option<&'a str> {
        let mut definitions = self.revision.definitions();
        let found = definitions.find(|definition| {
            matches!(&definition.shape, Shape::Object(object) if object.field("jsonrpc").is_some() && is_it(object))
        });
        found.map(|definition| definition.name.as_str())
    }
}

fn has_method(object: &Object, method: &str) -> bool {
    let content = object.field("method").map(|field| &field.content);
    matches!(content, Some(Content::Constant(own)) if own == method)
}
