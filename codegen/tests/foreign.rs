//! Published schemas as input, from the outside: invented files in the manner of published ones, read whole.

use mcp_tasks_codegen::ir::{Content, Presence, Revision, Shape, Type};
use mcp_tasks_codegen::{Document, Overlay, Schemas, generate, read_published};

const TASKS_LIKE: &str = include_str!("fixtures/published/tasks-like.schema.json");
const CLOSED_MEMBERS: &str = include_str!("fixtures/published/closed-members.schema.json");

fn document(file: &str, text: &str) -> Document {
    Document::new(file, serde_json::from_str(text).expect("the fixture is JSON"))
}

fn parcels() -> Revision {
    read_published(&[document("parcels.json", TASKS_LIKE)]).expect("the fixture is understood")
}

/// The fields of an object with their presence, in the order they are written.
fn fields(revision: &Revision, name: &str) -> Vec<(String, Presence)> {
    match &revision.get(name).expect(name).shape {
        Shape::Object(object) => object.fields.iter().map(|field| (field.wire.clone(), field.presence)).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The arms of a union that a tag tells apart: the tag's values and the types.
fn arms(revision: &Revision, name: &str) -> Vec<(String, String)> {
    match &revision.get(name).expect(name).shape {
        Shape::Tagged(tagged) => tagged.arms.iter().map(|arm| (arm.value.clone(), arm.target.clone())).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn an_inlined_variant_has_the_fields_of_its_base_and_its_own() {
    let revision = parcels();
    let own = ("route".to_owned(), Presence::Required);
    let base = fields(&revision, "Parcel");
    assert_eq!(
        base,
        [
            ("parcelId".to_owned(), Presence::Required),
            ("state".to_owned(), Presence::Required),
            ("note".to_owned(), Presence::Optional),
            ("keepForMs".to_owned(), Presence::RequiredNullable),
            ("askAgainMs".to_owned(), Presence::Optional),
        ]
    );
    assert_eq!(fields(&revision, "SentParcel"), base.into_iter().chain([own]).collect::<Vec<_>>());
}

#[test]
fn a_result_over_a_union_is_told_apart_by_the_tag_of_the_union() {
    let arm = |value: &str, target: &str| (value.to_owned(), target.to_owned());
    let results = arms(&parcels(), "FetchParcelResult");
    assert_eq!(
        results,
        [arm("packed", "PackedParcelReply"), arm("sent", "SentParcelReply"), arm("lost", "LostParcelReply"),]
    );
}

#[test]
fn a_base_is_narrowed_by_what_is_made_of_it() {
    let revision = parcels();
    let Shape::Object(request) = &revision.get("FetchParcelRequest").expect("a request").shape else {
        panic!("a request is an object");
    };
    let content = |wire: &str| request.field(wire).map(|field| field.content.clone());
    assert_eq!(content("method"), Some(Content::Constant("parcels/fetch".into())));
    assert_eq!(content("params"), Some(Content::Typed(Type::Named("FetchParcelRequestParams".into()))));
    assert_eq!(content("id"), Some(Content::Typed(Type::Named("CallId".into()))));
}

#[test]
fn the_same_file_gives_the_same_types() {
    let once = || generate(&Schemas::Published(vec![document("parcels.json", TASKS_LIKE)]), &Overlay::default());
    assert_eq!(once().expect("files"), once().expect("files"));
}

#[test]
fn compositions_that_nothing_satisfies_are_refused_with_their_places() {
    let error = read_published(&[document("closed.json", CLOSED_MEMBERS)]).expect_err("nothing satisfies the results");
    let places: Vec<String> =
        error.problems().iter().map(|problem| format!("{}#{}", problem.file, problem.pointer)).collect();
    assert_eq!(places, ["closed.json#/$defs/FetchParcelResult/allOf", "closed.json#/$defs/NewParcelResult/allOf"]);
}
