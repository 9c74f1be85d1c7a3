//! Schemas as others publish them, rewritten into the form that ours are written in.
//!
//! Published files are not written for generators: shapes stand inline and in copies, `allOf` splits an object and closes
//! over unions, enums are unions of constants. Each of these habits has one small pass here, and after the last one a
//! published file looks like one of ours, so that nothing behind this module knows the difference. What no pass
//! understands is refused by name and place.
//!
//! The passes run in this order:
//!
//! 1. [`reader`], by the lists in [`keywords`]: JSON becomes a tree, or a problem;
//! 2. [`join`]: several files become one set of definitions;
//! 3. [`references`]: each leads somewhere, and no circle is without an end;
//! 4. [`unions`], [`any_json`]: plain forms;
//! 5. [`folding`], [`unions`] again, [`inheritance`]: copies become references, and copied bases become bases;
//! 6. [`all_of`], [`distribution`]: compositions of objects, unions of compositions;
//! 7. [`hoisting`]: what needs a type gets a name;
//! 8. [`print`](mod@print): the tree becomes JSON.

mod all_of;
mod any_json;
mod distribution;
mod folding;
mod hoisting;
mod inheritance;
mod intersection;
mod join;
pub(crate) mod keywords;
mod naming;
mod print;
mod reader;
mod references;
mod schema;
mod unions;

use crate::document::Document;
use crate::error::{Error, Problems};
use references::Targets;
use schema::Definitions;
use serde_json::json;

/// Rewrites published documents into one document in canonical form.
///
/// The same input always gives the same output: definitions keep their order, and what was made up follows what it was
/// made from.
pub(crate) fn canonicalise(documents: &[Document]) -> Result<Document, Error> {
    let mut definitions = read(documents)?;
    references::check(&definitions)?;
    unions::simplify(&mut definitions)?;
    any_json::recognise(&mut definitions);
    folding::fold(&mut definitions);
    unions::drop_equal_arms(&mut definitions);
    inheritance::recover(&mut definitions);
    all_of::compose(&mut definitions)?;
    Ok(document(documents, &hoisting::hoist(definitions)?))
}

fn read(documents: &[Document]) -> Result<Definitions, Error> {
    let targets = Targets::new(documents);
    let mut problems = Problems::default();
    let read = documents.iter().filter_map(|document| problems.take(reader::read(document, &targets))).collect();
    problems.finish(())?;
    join::join(read)
}

fn document(documents: &[Document], definitions: &Definitions) -> Document {
    let files: Vec<&str> = documents.iter().map(|document| document.file.as_str()).collect();
    let defs: serde_json::Map<_, _> =
        definitions.iter().map(|(name, schema)| (name.clone(), print::print(schema))).collect();
    let root = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs});
    let mut document = Document::new(files.join(", "), root);
    for (name, schema) in definitions {
        if document.pointer_of(name) != schema.place.pointer {
            document.origins.insert(name.clone(), schema.place.pointer.clone());
        }
    }
    document
}

#[cfg(test)]
mod testing {
    //! What the tests of the passes share: small documents in, definitions or problems out.

    use super::canonicalise;
    use crate::document::Document;
    use crate::error::Error;
    use serde_json::{Map, Value, json};

    fn run(roots: &[Value]) -> Result<Document, Error> {
        let named = |(index, root): (usize, &Value)| Document::new(format!("{index}.json"), root.clone());
        canonicalise(&roots.iter().enumerate().map(named).collect::<Vec<_>>())
    }

    /// The canonical definitions of `0.json`, `1.json`, and so on.
    pub(super) fn canonical(roots: &[Value]) -> Map<String, Value> {
        let document = run(roots).unwrap_or_else(|error| panic!("{error}"));
        document.root["$defs"].as_object().expect("an object").clone()
    }

    /// The canonical form of a lone definition.
    pub(super) fn definition(schema: Value) -> Value {
        canonical(&[json!({"$defs": {"X": schema}})])["X"].clone()
    }

    /// The problems of some documents, without the help.
    pub(super) fn problems_of(roots: &[Value]) -> Vec<String> {
        let problem =
            |problem: &crate::error::Problem| format!("{}#{}: {}", problem.file, problem.pointer, problem.message);
        run(roots).err().map_or_else(Vec::new, |error| error.problems().iter().map(problem).collect())
    }

    /// The problems of one document.
    pub(super) fn problems(root: Value) -> Vec<String> {
        problems_of(&[root])
    }
}

#[cfg(test)]
mod tests {
    use super::testing::canonical;
    use super::*;
    use serde_json::{Map, Value};

    const PUBLISHED: &str = include_str!("../tests/fixtures/published/tasks-like.schema.json");

    fn published() -> Value {
        serde_json::from_str(PUBLISHED).expect("valid JSON")
    }

    fn rest(properties: Value, required: Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": true})
    }

    fn tag(value: &str) -> Value {
        json!({"type": "string", "const": value})
    }

    fn references(keyword: &str, names: &[&str]) -> Value {
        json!({keyword: names.iter().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect::<Vec<_>>()})
    }

    fn names(definitions: &Map<String, Value>) -> Vec<&str> {
        definitions.keys().map(String::as_str).collect()
    }

    #[test]
    fn a_published_file_gets_the_names_its_author_had_in_mind() {
        let new = [
            "FetchParcelRequestParams",
            "PackedParcelReply",
            "SentParcelReply",
            "LostParcelReply",
            "PackedParcelNoticeParams",
            "SentParcelNoticeParams",
            "LostParcelNoticeParams",
            "RouteStopsItem",
            "RouteSpeed",
            "RouteVehicle",
        ];
        let defs = canonical(&[published()]);
        let root = published();
        let (known, made): (Vec<&str>, _) =
            names(&defs).into_iter().partition(|name| root["$defs"].get(*name).is_some());
        assert_eq!(known, names(root["$defs"].as_object().expect("an object")));
        assert_eq!(made, new);
    }

    #[test]
    fn copies_of_a_base_and_its_variants_are_folded_back() {
        let defs = canonical(&[published()]);
        let packed = rest(json!({"state": tag("packed")}), json!(["state"]));
        assert_eq!(defs["PackedParcel"], json!({"allOf": [{"$ref": "#/$defs/Parcel"}, packed]}));
        assert_eq!(defs["Parcel"]["properties"]["state"], json!({"$ref": "#/$defs/ParcelState"}));
        assert_eq!(defs["ParcelState"], json!({"type": "string", "enum": ["packed", "sent", "lost"]}));
        assert_eq!(defs["AnyParcel"], references("anyOf", &["PackedParcel", "SentParcel", "LostParcel"]));
        let kind = rest(json!({"kind": tag("parcel")}), json!(["kind"]));
        let new = json!({"allOf": [{"$ref": "#/$defs/Reply"}, {"$ref": "#/$defs/Parcel"}, kind]});
        assert_eq!(defs["NewParcelResult"], new);
    }

    #[test]
    fn compositions_over_a_union_are_unions_of_compositions() {
        let defs = canonical(&[published()]);
        let results = references("anyOf", &["PackedParcelReply", "SentParcelReply", "LostParcelReply"]);
        assert_eq!(defs["FetchParcelResult"], results);
        let kind = rest(json!({"kind": tag("final")}), json!(["kind"]));
        let sent = json!({"allOf": [{"$ref": "#/$defs/Reply"}, {"$ref": "#/$defs/SentParcel"}, kind]});
        assert_eq!(defs["SentParcelReply"], sent);
        assert_eq!(defs["LostParcelNoticeParams"], references("allOf", &["NoticeParams", "LostParcel"]));
        let notice = &defs["ParcelNotice"]["allOf"][1]["properties"]["params"];
        assert_eq!(*notice, json!({"$ref": "#/$defs/ParcelNoticeParams"}));
    }

    #[test]
    fn made_up_definitions_know_where_they_come_from() {
        let document = canonicalise(&[Document::new("parcels.json", published())]).expect("canonical");
        for (name, pointer) in [
            ("Parcel", "/$defs/Parcel"),
            ("FetchParcelRequestParams", "/$defs/FetchParcelRequest/allOf/1/properties/params"),
            ("SentParcelReply", "/$defs/FetchParcelResult/allOf/1"),
            ("RouteStopsItem", "/$defs/Route/properties/stops/items"),
        ] {
            assert_eq!(document.pointer_of(name), pointer);
            assert!(published().pointer(pointer).is_some(), "{pointer}");
        }
    }

    #[test]
    fn the_canonical_form_is_its_own_canonical_form() {
        let once = canonical(&[published()]);
        let again = canonical(&[json!({ "$defs": once })]);
        assert_eq!(serde_json::to_string(&once).expect("JSON"), serde_json::to_string(&again).expect("JSON"));
    }
}
