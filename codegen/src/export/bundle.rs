//! Documents that stand alone: which definitions are in them, and what stands at their head.

use super::COMMAND;
use super::dialect::Dialect;
use super::flat::Definitions;
use super::flavour::Flavour;
use super::walk;
use crate::emit::OutputFile;
use crate::ir::{Choice, Part, Revision, Shape, Type};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What the documents of one flavour in one dialect are made from.
#[derive(Clone, Copy)]
pub(super) struct Bundle<'a> {
    pub(super) revision: &'a Revision,
    pub(super) definitions: &'a Definitions,
    pub(super) flavour: Flavour,
    pub(super) dialect: Dialect,
}

impl Bundle<'_> {
    /// Every definition of the revision.
    pub(super) fn whole(&self) -> OutputFile {
        let description = "The Tasks extension with every core shape it leans on.";
        self.document("bundle", "bundle", "MCP Tasks", description, self.definitions.clone(), None)
    }

    /// The definitions of one part; objects of other parts are left open.
    pub(super) fn part(&self, part: &Part) -> OutputFile {
        let own = |name: &str| part.definitions.iter().any(|definition| definition.name == name);
        let mut chosen: Definitions = Definitions::new();
        for (name, schema) in self.reached(part.definitions.iter().map(|definition| definition.name.clone()), &own) {
            chosen.insert(name.clone(), if own(&name) { schema } else { self.opened(&name, schema) });
        }
        let description = "The Tasks extension alone; of the core shapes it leans on only the outline is here.";
        self.document(&part.name, &part.name, "MCP Tasks", description, chosen, None)
    }

    /// One message with all it needs.
    pub(super) fn message(&self, name: &str) -> OutputFile {
        let chosen = self.reached([name.to_owned()], &|_| true).into_iter().collect();
        let docs = &self.definitions[name];
        let word = |member: &str| docs[member].as_str().unwrap_or_default().to_owned();
        self.document(&format!("messages/{name}"), name, &word("title"), &word("description"), chosen, Some(name))
    }

    /// Whether a part refers to definitions of another.
    pub(super) fn leans_on_others(&self, part: &Part) -> bool {
        let own = |name: &String| part.definitions.iter().any(|definition| definition.name == *name);
        let names = part.definitions.iter().flat_map(|definition| walk::references(&definition.schema));
        names.into_iter().any(|name| !own(&name))
    }

    /// The definitions that can be reached, in the order of the schemas. What `follow` says no to is itself in, unless it
    /// is a scalar or the like, what it refers to is not.
    fn reached(&self, from: impl IntoIterator<Item = String>, follow: &dyn Fn(&str) -> bool) -> Vec<(String, Value)> {
        let mut found = BTreeSet::new();
        let mut waiting: Vec<String> = from.into_iter().collect();
        while let Some(name) = waiting.pop() {
            if let Some(schema) = self.definitions.get(&name)
                && found.insert(name.clone())
                && follow(&name)
            {
                waiting.extend(walk::references(schema));
            }
        }
        let chosen = self.definitions.iter().filter(|(name, _)| found.contains(*name));
        chosen.map(|(name, schema)| (name.clone(), schema.clone())).collect()
    }

    /// The outline of a definition: scalars as they are, of everything else that it is an object, and its tags.
    fn opened(&self, name: &str, schema: Value) -> Value {
        match self.revision.get(name).map(|definition| &definition.shape) {
            Some(Shape::Scalar(_) | Shape::Enum(_)) | None => return schema,
            Some(Shape::Choice(Choice { arms })) if arms.iter().all(is_plain) => return schema,
            Some(_) => (),
        }
        let mut outline = Map::new();
        for word in ["title", "description"] {
            outline.extend(schema.get(word).map(|text| (word.to_owned(), text.clone())));
        }
        outline.insert("type".to_owned(), json!("object"));
        let tags: Map<String, Value> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, member)| member.get("const").is_some())
            .map(|(name, member)| (name.clone(), member.clone()))
            .collect();
        let is_tag = |name: &&Value| name.as_str().is_some_and(|name| tags.contains_key(name));
        let required: Vec<Value> =
            schema["required"].as_array().into_iter().flatten().filter(is_tag).cloned().collect();
        outline.insert("properties".to_owned(), Value::Object(tags));
        outline.insert("required".to_owned(), Value::Array(required));
        outline.insert("additionalProperties".to_owned(), json!(true));
        outline.extend(schema.get("minProperties").map(|least| ("minProperties".to_owned(), least.clone())));
        Value::Object(outline)
    }

    fn document(
        &self,
        path: &str,
        id: &str,
        title: &str,
        description: &str,
        definitions: Definitions,
        root: Option<&str>,
    ) -> OutputFile {
        let Self { revision, flavour, dialect, .. } = self;
        let (flavour, draft) = (flavour.name(), dialect.name());
        let mut document = Map::new();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("$schema", json!(dialect.uri()));
        put("$id", json!(format!("urn:mcp-tasks:{}:{flavour}:{draft}:{id}", revision.name)));
        put("$comment", json!(origin(&revision.name)));
        put("title", json!(title));
        put("description", json!(description));
        if let Some(name) = root {
            // Beside a bare `$ref` draft-07 reads nothing.
            put("allOf", json!([dialect.reference(name)]));
        }
        let definitions = definitions.into_iter().map(|(name, schema)| (name, dialect.written(schema))).collect();
        put(dialect.definitions(), Value::Object(definitions));
        let text = format!("{:#}\n", Value::Object(document));
        OutputFile::new(format!("schema/{}/{draft}/{flavour}/{path}.schema.json", revision.name), text)
    }
}

/// How a file came to be, which version it is, and under which licence.
pub(super) fn origin(revision: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "@generated by mcp-tasks-codegen {version} from schema/{revision}. Do not edit. Made with: {COMMAND}. Version \
         {version}. Licence: MIT OR Apache-2.0."
    )
}

fn is_plain(arm: &Type) -> bool {
    matches!(arm, Type::String | Type::Integer { .. } | Type::Number | Type::Boolean)
}
