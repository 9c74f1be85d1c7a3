//! Rust identifiers for names of the schemas.

use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use crate::overlay::Settings;
use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};
use quote::format_ident;
use std::collections::BTreeMap;

/// Names of the prelude and of what the emitted code itself says, which a type must not shadow.
const RESERVED: &[&str] = &[
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "DeserializeOwned",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "Extend",
    "From",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Serializer",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Value",
    "Vec",
];

/// Words that Rust keeps for itself and that are no raw identifiers either.
const NEVER_RAW: &[&str] = &["self", "super", "crate", "Self", "_"];

/// The Rust name of each definition.
pub(super) struct TypeNames(BTreeMap<String, Ident>);

impl TypeNames {
    pub(super) fn of(revision: &Revision, settings: &Settings) -> Result<Self, Error> {
        let mut problems = Problems::default();
        let mut names: BTreeMap<String, Ident> = BTreeMap::new();
        for definition in revision.definitions() {
            let problem = |message: String| Problem::new(&definition.file, &definition.pointer, message);
            let renamed = settings.rename.get(&definition.name);
            let text = renamed.cloned().unwrap_or_else(|| type_name(&definition.name));
            let Ok(ident) = syn::parse_str::<Ident>(&text) else {
                problems.push(problem(format!("`{text}` is no name for a Rust type")).help("rename it in the overlay"));
                continue;
            };
            if RESERVED.contains(&text.as_str()) {
                let help = format!("rename it in the overlay: `[revision.\"{}\".rename]`", revision.name);
                problems.push(problem(format!("`{text}` would shadow a name of Rust's prelude")).help(help));
            }
            if let Some((other, _)) = names.iter().find(|(_, taken)| **taken == ident) {
                problems.push(problem(format!("`{text}` is the Rust name of `{other}` as well")));
            }
            names.insert(definition.name.clone(), ident);
        }
        problems.finish(Self(names))
    }

    /// The Rust name of a definition; the definition is one of the revision's.
    pub(super) fn get(&self, definition: &str) -> Ident {
        self.0.get(definition).cloned().unwrap_or_else(|| type_ident(definition))
    }
}

/// A name that is an identifier already stays as it is: acronyms such as `JSONRPCRequest` are the field's words.
fn type_name(name: &str) -> String {
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_uppercase());
    match begins && syn::parse_str::<Ident>(name).is_ok() {
        true => name.to_owned(),
        false => name.to_upper_camel_case(),
    }
}

fn type_ident(name: &str) -> Ident {
    syn::parse_str(&type_name(name)).unwrap_or_else(|_| format_ident!("Unnamed"))
}

/// The Rust name of a member: snake case; of a name with a path (`io.example/thing`) the last step.
pub(super) fn field_ident(wire: &str) -> Option<Ident> {
    let last = wire.rsplit('/').next().unwrap_or(wire);
    let snake = last.to_snake_case();
    match snake.as_str() {
        // The struct has a member of this name for all that the schema does not name.
        "extra" => Some(format_ident!("extra_member")),
        _ => value_ident(&snake),
    }
}

/// A variable or member; a keyword becomes a raw identifier.
pub(super) fn value_ident(name: &str) -> Option<Ident> {
    if let Ok(ident) = syn::parse_str::<Ident>(name) {
        return Some(ident);
    }
    let word = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    let raw = word && !name.starts_with(|first: char| first.is_ascii_digit()) && !NEVER_RAW.contains(&name);
    raw.then(|| Ident::new_raw(name, Span::call_site()))
}

/// The Rust name of an enum's variant for a value on the wire.
pub(super) fn variant_ident(value: &str) -> Option<Ident> {
    let camel = value.to_upper_camel_case();
    syn::parse_str::<Ident>(&camel).ok()
}

/// Names of types without the words that all of them end with: `WorkingTask`, `FailedTask` become `Working`, `Failed`.
pub(super) fn without_common_suffix(names: &[String]) -> Vec<String> {
    let words: Vec<Vec<String>> = names.iter().map(|name| camel_words(name)).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let nth_last = |words: &Vec<String>, n: usize| words[words.len() - 1 - n].clone();
    let common = (0..shortest.saturating_sub(1))
        .take_while(|n| words.windows(2).all(|pair| nth_last(&pair[0], *n) == nth_last(&pair[1], *n)))
        .count();
    let common = if words.len() < 2 { 0 } else { common };
    words.iter().map(|words| words[..words.len() - common].concat()).collect()
}

fn camel_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower_before = true;
    for char in name.chars() {
        match words.last_mut() {
            Some(word) if !(char.is_uppercase() && lower_before) => word.push(char),
            _ => words.push(char.to_string()),
        }
        lower_before = !char.is_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_snake_case_and_keywords_are_raw() {
        let name = |wire| field_ident(wire).map(|ident| ident.to_string());
        assert_eq!(name("ttlMs").as_deref(), Some("ttl_ms"));
        assert_eq!(name("_meta").as_deref(), Some("meta"));
        assert_eq!(name("$schema").as_deref(), Some("schema"));
        assert_eq!(name("type").as_deref(), Some("r#type"));
        assert_eq!(name("io.modelcontextprotocol/clientInfo").as_deref(), Some("client_info"));
        assert_eq!(name("extra").as_deref(), Some("extra_member"));
        assert_eq!(name("self"), None);
        assert_eq!(name("!"), None);
    }

    #[test]
    fn arms_lose_the_words_they_share() {
        let names = |names: &[&str]| without_common_suffix(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["ElicitResult", "ListRootsResult"]), ["Elicit", "ListRoots"]);
        assert_eq!(names(&["JSONRPCRequest", "JSONRPCNotification"]), ["JSONRPCRequest", "JSONRPCNotification"]);
        assert_eq!(names(&["Result", "ListRootsResult"]), ["Result", "ListRootsResult"]);
        assert_eq!(names(&["Block"]), ["Block"]);
    }
}
