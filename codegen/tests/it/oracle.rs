//! Another reader of the same schemas, to compare with: `typify`.
//!
//! It gets compositions, tags and openness wrong, and bounds (that is why we do not use it for them); the members of
//! plain objects, which of them may be missing, and the values of enums it gets right.

use crate::support::repository;
use heck::ToUpperCamelCase;
use mcp_tasks_codegen::ir::{Content, Definition, Object, Presence, Revision, Shape};
use mcp_tasks_codegen::{Schemas, load_folder, read_house};
use schemars08::schema::Schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use syn::{Expr, ExprLit, Item, Lit};
use typify::{TypeSpace, TypeSpaceSettings};

/// A member's name on the wire, and whether it may be missing.
type Members = BTreeMap<String, bool>;

fn revisions() -> Vec<Revision> {
    let (schemas, _) = load_folder(&repository().join("schema")).expect("our schemas have no faults");
    let Schemas::House(folders) = schemas else { panic!("our schemas are in house style") };
    read_house(&folders).expect("our schemas have no faults")
}

/// What typify makes of a revision, compositions and tags taken out.
fn oracle(revision: &Revision) -> syn::File {
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    let types = revision.definitions().map(|definition| {
        let schema =
            serde_json::from_value::<Schema>(simplified(&definition.schema, &revision.name)).expect("a schema");
        (definition.name.clone(), schema)
    });
    space.add_ref_types(types.collect::<Vec<_>>()).expect("typify takes what is left");
    syn::parse2(space.to_stream()).expect("typify writes Rust")
}

/// Typify follows references within a document only.
fn simplified(schema: &Value, revision: &str) -> Value {
    match schema.get("allOf").or(schema.get("oneOf")).or(schema.get("anyOf")) {
        Some(_) => json!({ "type": "object", "additionalProperties": true }),
        None => {
            let core = format!("urn:mcp-tasks:{revision}:core#");
            serde_json::from_str(&schema.to_string().replace(&core, "#")).expect("still JSON")
        }
    }
}

/// The name in a `#[serde(rename = "...")]`, and whether the other words say that the member may be missing.
fn serde_words(attributes: &[syn::Attribute]) -> (Option<String>, bool) {
    let (mut name, mut missing) = (None, false);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let read = attribute.parse_nested_meta(|meta| {
            missing |= meta.path.is_ident("default") || meta.path.is_ident("skip_serializing_if");
            if let Ok(value) = meta.value()
                && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value.parse()?
                && meta.path.is_ident("rename")
            {
                name = Some(text.value());
            }
            Ok(())
        });
        read.expect("typify's attributes are lists of words and texts");
    }
    (name, missing)
}

fn members_of(item: &syn::ItemStruct) -> Members {
    let field = |field: &syn::Field| {
        let ident = field.ident.as_ref()?.to_string();
        let (name, missing) = serde_words(&field.attrs);
        Some((name.unwrap_or_else(|| ident.trim_start_matches("r#").to_owned()), missing))
    };
    item.fields.iter().filter_map(field).collect()
}

fn our_members(object: &Object) -> Members {
    let may_be_missing = |presence: Presence| !presence.is_required();
    object.fields.iter().map(|field| (field.wire.clone(), may_be_missing(field.presence))).collect()
}

/// Plain objects: the same members, and the same of them may be missing.
#[test]
fn plain_objects_have_the_members_that_typify_sees() {
    let mut compared = 0;
    for revision in revisions() {
        let theirs: BTreeMap<String, Members> = oracle(&revision)
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Struct(item) => Some((item.ident.to_string(), members_of(item))),
                _ => None,
            })
            .collect();
        for (definition, object) in plain_objects(&revision) {
            let name = definition.name.to_upper_camel_case();
            let members = theirs.get(&name).unwrap_or_else(|| panic!("typify has no {name}"));
            assert_eq!(&our_members(object), members, "{} of {}", definition.name, revision.name);
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} objects were compared");
}

fn plain_objects(revision: &Revision) -> impl Iterator<Item = (&Definition, &Object)> {
    revision.definitions().filter_map(|definition| match &definition.shape {
        Shape::Object(object) if definition.schema.get("allOf").is_none() => Some((definition, object)),
        _ => None,
    })
}

/// Enums: the same values in the same order.
#[test]
fn enums_have_the_values_that_typify_sees() {
    let mut compared = 0;
    for revision in revisions() {
        let file = oracle(&revision);
        let theirs: BTreeMap<_, Vec<_>> = file
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Enum(item) => Some((item.ident.to_string(), item.variants.iter().filter_map(value).collect())),
                _ => None,
            })
            .collect();
        for definition in revision.definitions() {
            if let Shape::Enum(values) = &definition.shape {
                assert_eq!(
                    theirs.get(&definition.name.to_upper_camel_case()),
                    Some(&values.values),
                    "{}",
                    definition.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 10, "only {compared} enums were compared");
}

fn value(variant: &syn::Variant) -> Option<String> {
    serde_words(&variant.attrs).0.or_else(|| Some(variant.ident.to_string()))
}

/// Compositions and tags, which typify gets wrong: a constant has our attention, there it is any text.
#[test]
fn constants_are_what_typify_loses() {
    let revisions = revisions();
    let newest = revisions.iter().find(|revision| revision.name == "2026-07-28").expect("the newest revision");
    let request = newest.object("GetTaskRequest").expect("a request");
    let method = request.field("method").expect("a request has a method");
    assert_eq!(method.content, Content::Constant("tasks/get".to_owned()));
    let theirs = oracle(newest);
    let lost = theirs.items.iter().any(|item| {
        matches!(item, Item::Struct(item) if item.ident == "GetTaskRequest"
            && item.fields.iter().any(|field| field.ident.as_ref().is_some_and(|ident| ident == "method")))
    });
    assert!(lost, "typify drops the constant now; render requests with it");
}
