//! The overlay (`codegen.toml`): what is about Rust and not about the wire.
//!
//! Names that would shadow the prelude, enums and unions that keep what they do not know, payloads that stay opaque.
//! Every entry must match something in the schemas; one that does not is an error, so that the overlay cannot go stale
//! behind a schema that moved.

use crate::error::{Error, Problem, Problems};
use crate::ir::{Content, Revision, Shape};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a revision's types should be like in Rust.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Overlay {
    /// The revision whose types stand at the root of the crate.
    pub newest: Option<String>,
    /// Also emit what the feature `raw` needs.
    pub raw: bool,
    /// Also emit `schemars::JsonSchema` for each type, behind the feature `schemars`.
    pub schemars: bool,
    /// Settings by revision, the name of a folder of `schema/`.
    pub revision: BTreeMap<String, Settings>,
    /// The file, for messages.
    #[serde(skip)]
    pub file: String,
}

/// The settings of one revision.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Settings {
    /// Schema name to Rust name.
    pub rename: BTreeMap<String, String>,
    /// String enums that keep values they do not know.
    pub open_enums: Vec<String>,
    /// Strings with values of known meaning: they become enums that keep all others.
    pub known_values: BTreeMap<String, Vec<String>>,
    /// Unions that keep messages whose tag they do not know.
    pub open_unions: Vec<String>,
    /// Members, as `Type.member`, whose object stays opaque: its form is a type parameter.
    pub payloads: Vec<String>,
    /// Maps whose values stay JSON.
    pub opaque_maps: Vec<String>,
    /// Maps that are read with fewer or more entries than they may have.
    pub lenient_maps: Vec<String>,
    /// Map to the type of its keys.
    pub keys: BTreeMap<String, String>,
    /// Request to the type of its result, where the names do not say it.
    pub results: BTreeMap<String, String>,
    /// Definitions that everything composed of them can be turned into.
    pub bases: Vec<String>,
    /// Constant members that are read more leniently than they are written.
    pub lenient: Vec<Lenient>,
}

/// How certain constant members are read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Lenient {
    /// The members, as `Type.member`.
    pub members: Vec<String>,
    /// Whether the member may be missing.
    pub absent: bool,
    /// Other values that are read for the constant.
    pub also: Vec<String>,
}

impl Overlay {
    /// Reads an overlay from its text.
    ///
    /// # Errors
    /// The text is not TOML or has entries of a name or type that an overlay does not have.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let overlay: Self = toml::from_str(text).map_err(|error| Problem::new(file, "", error.to_string()))?;
        Ok(Self { file: file.to_owned(), ..overlay })
    }

    /// Reads an overlay from a file.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Overlay::parse`].
    pub fn load(path: &std::path::Path) -> Result<Self, Error> {
        crate::load::load_overlay(path)
    }

    /// Checks that every entry matches something, and something of the right kind.
    pub(crate) fn check(&self, revisions: &[Revision]) -> Result<(), Error> {
        let mut check = Check { file: &self.file, problems: Problems::default() };
        for (name, settings) in &self.revision {
            let pointer = format!("/revision/{name}");
            match revisions.iter().find(|revision| revision.name == *name) {
                Some(revision) => check.settings(settings, revision, &pointer),
                None => check.report(&pointer, format!("there is no revision `{name}`")),
            }
        }
        if let Some(newest) = &self.newest
            && !revisions.iter().any(|revision| revision.name == *newest)
        {
            check.report("/newest", format!("there is no revision `{newest}`"));
        }
        check.problems.finish(())
    }

    /// What published schemas need that no overlay came with: the definitions that shadow the prelude get other names.
    pub(crate) fn for_published() -> Settings {
        let rename = [("Result", "ResultObject"), ("Error", "ErrorObject")];
        Settings {
            rename: rename.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect(),
            ..Settings::default()
        }
    }
}

impl Settings {
    /// How a constant member is read, if not strictly.
    pub(crate) fn lenient_for(&self, definition: &str, wire: &str) -> Option<&Lenient> {
        let member = format!("{definition}.{wire}");
        self.lenient.iter().find(|lenient| lenient.members.contains(&member))
    }

    /// Whether a member is an opaque payload.
    pub(crate) fn is_payload(&self, field: &crate::ir::Field) -> bool {
        self.payloads.contains(&format!("{}.{}", field.origin, field.wire))
    }
}

struct Check<'a> {
    file: &'a str,
    problems: Problems,
}

impl Check<'_> {
    fn report(&mut self, pointer: &str, message: String) {
        let help = "take the entry out, or give it the name that the schema uses now";
        self.problems.push(Problem::new(self.file, pointer, message).help(help));
    }

    fn settings(&mut self, settings: &Settings, revision: &Revision, pointer: &str) {
        let place = |entry: &str| format!("{pointer}/{entry}");
        let mut all = |entry: &str, names: Vec<&String>, expected: &str, fits: fn(&Shape) -> bool| {
            for name in names {
                if !revision.get(name).is_some_and(|found| fits(&found.shape)) {
                    let message = format!("`{name}` is not {expected} of revision `{}`", revision.name);
                    self.report(&place(entry), message);
                }
            }
        };
        let is_object = |shape: &Shape| matches!(shape, Shape::Object(_));
        let is_map = |shape: &Shape| matches!(shape, Shape::Map(_));
        let is_scalar = |shape: &Shape| matches!(shape, Shape::Scalar(_));
        all("rename", settings.rename.keys().collect(), "a definition", |_| true);
        all("open-enums", settings.open_enums.iter().collect(), "a string enum", |s| matches!(s, Shape::Enum(_)));
        all("known-values", settings.known_values.keys().collect(), "a string", is_scalar);
        all("open-unions", settings.open_unions.iter().collect(), "a tagged union", |s| matches!(s, Shape::Tagged(_)));
        all("opaque-maps", settings.opaque_maps.iter().collect(), "a map", is_map);
        all("lenient-maps", settings.lenient_maps.iter().collect(), "a map", is_map);
        all("keys", settings.keys.keys().collect(), "a map", is_map);
        all("keys", settings.keys.values().collect(), "a string", is_scalar);
        all("results", settings.results.keys().collect(), "a request", is_object);
        all("results", settings.results.values().collect(), "a definition", |_| true);
        all("bases", settings.bases.iter().collect(), "an object", is_object);
        for member in settings.payloads.iter().filter(|member| !has_member(revision, member, false)) {
            self.report(&place("payloads"), format!("`{member}` is not a member of an object"));
        }
        for member in settings.lenient.iter().flat_map(|lenient| &lenient.members) {
            if !has_member(revision, member, true) {
                self.report(&place("lenient"), format!("`{member}` is not a constant member of an object"));
            }
        }
    }
}

fn has_member(revision: &Revision, member: &str, constant: bool) -> bool {
    let Some((definition, wire)) = member.split_once('.') else { return false };
    let field = revision.object(definition).and_then(|object| object.field(wire));
    field.is_some_and(|field| matches!(field.content, Content::Constant(_)) == constant)
}
