//! The published files and our schema give the same definitions: names, members, presence, arms, tags and values.

use crate::Outcome;
use crate::deviations::Deviations;
use crate::source;
use mcp_tasks_codegen::ir::{Content, Definition, Field, Presence, Revision, Scalar, Shape, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;

/// Stands for a definition or member that is not there.
const ABSENT: &str = "absent";

/// Compares all of the ext-tasks file, and of the core file what we have of it.
pub fn check(folder: &Path) -> Outcome {
    let (ours, extension, core) =
        (source::ours()?.revision, source::extension(folder)?.revision, source::core(folder)?.revision);
    let names: BTreeSet<&String> =
        ours.definitions().chain(extension.definitions()).map(|definition| &definition.name).collect();
    let deviations = Deviations::load()?;
    let mut faults = Vec::new();
    for name in &names {
        let published = match extension.get(name) {
            Some(definition) => facts(&extension, Some(definition)),
            None => facts(&core, core.get(name)),
        };
        faults.extend(differences(name, &facts(&ours, ours.get(name)), &published, &deviations));
    }
    faults.extend(deviations.stale_shapes());
    let summary = format!("{} definitions, {} deviations listed", names.len(), deviations.shape.len());
    if faults.is_empty() { Ok(summary) } else { Err(faults) }
}

type Facts = BTreeMap<String, String>;

fn differences(name: &str, ours: &Facts, published: &Facts, deviations: &Deviations) -> Vec<String> {
    let keys: BTreeSet<_> = ours.keys().chain(published.keys()).collect();
    let mut differences = Vec::new();
    let one_sided = [ours, published].iter().any(|facts| facts.get("").is_some_and(|kind| kind == ABSENT));
    for key in keys {
        let fact = |facts: &Facts| facts.get(key).cloned().unwrap_or_else(|| ABSENT.to_owned());
        let (ours, published) = (fact(ours), fact(published));
        // The members of a definition that only one side has go without saying.
        if ours == published || (one_sided && !key.is_empty()) {
            continue;
        }
        let at = format!("{name}{key}");
        if !deviations.lists_shape(&at, &ours, &published) {
            differences.push(format!("{at}: ours {ours:?}, published {published:?}"));
        }
    }
    differences
}

/// What is known of a definition: its kind under no name, each member, arm or value under its own.
fn facts(revision: &Revision, definition: Option<&Definition>) -> Facts {
    let Some(definition) = definition else { return Facts::from([(String::new(), ABSENT.to_owned())]) };
    let kind = |text: &str| (String::new(), text.to_owned());
    match &definition.shape {
        Shape::Object(object) => {
            let members = object.fields.iter().map(|field| (format!(".{}", field.wire), member(revision, field)));
            let openness = kind(if object.open { "object" } else { "closed object" });
            members.chain([openness]).collect()
        }
        Shape::Tagged(tagged) => {
            let arms = tagged.arms.iter().map(|arm| (format!(".{}={}", tagged.tag, arm.value), arm.target.clone()));
            let absent = tagged.absent.iter().map(|value| (format!(".{} absent", tagged.tag), value.clone()));
            arms.chain(absent).chain([kind("tagged")]).collect()
        }
        Shape::Choice(choice) => {
            let arms = choice.arms.iter().map(|arm| (format!(" or {}", shown(revision, arm)), "arm".to_owned()));
            arms.chain([kind("choice")]).collect()
        }
        Shape::Enum(values) => {
            let values = values.values.iter().map(|value| (format!("={value}"), "value".to_owned()));
            values.chain([kind("enum")]).collect()
        }
        Shape::Map(map) => Facts::from([
            kind(&format!("map, at least {}", map.min.unwrap_or(0))),
            (".{key}".to_owned(), shown(revision, &map.value)),
        ]),
        Shape::List(list) => Facts::from([kind("list"), ("[]".to_owned(), shown(revision, &list.item))]),
        Shape::Scalar(scalar) => Facts::from([kind(&shown_scalar(scalar))]),
        Shape::Alias(ty) => Facts::from([kind(&shown(revision, ty))]),
    }
}

fn member(revision: &Revision, field: &Field) -> String {
    let presence = match field.presence {
        Presence::Required => "required",
        Presence::Optional => "optional",
        Presence::RequiredNullable => "required or null",
        Presence::OptionalNullable => "optional or null",
    };
    let content = match &field.content {
        Content::Typed(ty) => shown(revision, ty),
        Content::Constant(text) => format!("{text:?}"),
        Content::ConstantInteger(number) => number.to_string(),
    };
    format!("{presence} {content}")
}

/// A type. A name for a scalar or for any JSON is seen through: published files write those inline.
fn shown(revision: &Revision, ty: &Type) -> String {
    match ty {
        Type::Named(name) => match revision.get(name).map(|definition| &definition.shape) {
            Some(Shape::Scalar(scalar)) => shown_scalar(scalar),
            Some(Shape::Alias(ty)) => shown(revision, ty),
            _ => name.clone(),
        },
        Type::String => "string".to_owned(),
        Type::Integer { min, max } => bounded("integer", min.as_ref(), max.as_ref()),
        Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Any => "any".to_owned(),
        Type::Free => "any object".to_owned(),
        Type::List(item) => format!("list of {}", shown(revision, item)),
        Type::Nullable(inner) => format!("{} or null", shown(revision, inner)),
    }
}

fn shown_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::String { min, max } => bounded("string", min.as_ref(), max.as_ref()),
        Scalar::Integer { min, max } => bounded("integer", min.as_ref(), max.as_ref()),
        Scalar::Number { min, max } => bounded("number", min.as_ref(), max.as_ref()),
        Scalar::Boolean => "boolean".to_owned(),
    }
}

fn bounded<T: Debug>(kind: &str, min: Option<&T>, max: Option<&T>) -> String {
    let bound = |bound: Option<&T>| bound.map(|bound| format!("{bound:?}")).unwrap_or_default();
    if min.is_none() && max.is_none() { kind.to_owned() } else { format!("{kind} {}..{}", bound(min), bound(max)) }
}
