//! The tree the passes rewrite.
//!
//! A published file says one thing in many ways. The reader turns each way into one of the shapes below, so that no pass
//! ever looks at JSON again, and each node remembers its place, so that any pass can name it in a problem.

use super::naming::Context;
use crate::document::escape;
use crate::error::Problem;
use indexmap::IndexMap;
use serde_json::{Number, Value};
use std::rc::Rc;

/// Named schemas in the order of their documents.
pub(super) type Definitions = IndexMap<String, Schema>;

/// A schema, what it says about itself, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    pub(super) place: Place,
    pub(super) notes: Notes,
    pub(super) shape: Shape,
}

/// A place in an input file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: Rc<str>,
    pub(super) pointer: String,
}

/// What is said to people. Two schemas that differ in nothing else are the same shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

/// What a schema allows.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Any JSON.
    Any,
    /// Only `null`; stands in unions.
    Null,
    /// Another definition, by name.
    Reference(String),
    /// One string or one integer.
    Const(Value),
    /// One of some strings.
    Enum(Vec<String>),
    /// A string, a number or a boolean.
    Scalar(Scalar),
    /// An array.
    List(List),
    /// An object whose keys are data; of any JSON and without bounds it is a free object.
    Map(Map),
    /// An object whose keys are fields.
    Object(Object),
    /// One of some schemas.
    Union(Union),
    /// All of some schemas at once.
    All(Vec<Schema>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    String,
    Integer,
    Number,
    Boolean,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scalar {
    pub(super) kind: ScalarKind,
    pub(super) format: Option<String>,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) length: Bounds,
}

/// How few and how many: characters, items or keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) item: Box<Schema>,
    pub(super) bounds: Bounds,
}

#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) value: Box<Schema>,
    pub(super) bounds: Bounds,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) properties: IndexMap<String, Schema>,
    pub(super) required: Vec<String>,
    /// Whether keys beyond the properties are allowed.
    pub(super) open: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Union {
    pub(super) keyword: UnionKeyword,
    pub(super) arms: Vec<Schema>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnionKeyword {
    AnyOf,
    OneOf,
}

impl Place {
    /// The root of a file.
    pub(super) fn root(file: &str) -> Self {
        Self { file: file.into(), pointer: String::new() }
    }

    /// One step further in.
    pub(super) fn step(&self, step: &str) -> Self {
        Self { file: Rc::clone(&self.file), pointer: format!("{}/{}", self.pointer, escape(step)) }
    }

    /// A problem here.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(&*self.file, &self.pointer, message)
    }
}

impl Notes {
    /// These notes, and where they are silent the other ones.
    pub(super) fn or(self, other: Self) -> Self {
        Self { title: self.title.or(other.title), description: self.description.or(other.description) }
    }
}

impl Schema {
    /// A schema nobody has described.
    pub(super) fn new(place: Place, shape: Shape) -> Self {
        Self { place, notes: Notes::default(), shape }
    }

    /// A reference at the place of what it stands for.
    pub(super) fn reference(place: Place, name: impl Into<String>) -> Self {
        Self::new(place, Shape::Reference(name.into()))
    }

    /// The schemas one step inside.
    pub(super) fn inner(&self) -> Vec<&Schema> {
        match &self.shape {
            Shape::List(list) => vec![&*list.item],
            Shape::Map(map) => vec![&*map.value],
            Shape::Object(object) => object.properties.values().collect(),
            Shape::Union(union) => union.arms.iter().collect(),
            Shape::All(members) => members.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The schemas one step inside, to be changed.
    pub(super) fn inner_mut(&mut self) -> Vec<&mut Schema> {
        match &mut self.shape {
            Shape::List(list) => vec![&mut *list.item],
            Shape::Map(map) => vec![&mut *map.value],
            Shape::Object(object) => object.properties.values_mut().collect(),
            Shape::Union(union) => union.arms.iter_mut().collect(),
            Shape::All(members) => members.iter_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// The schemas one step inside, each with the context that would name it.
    pub(super) fn children_mut(&mut self, context: &Context) -> Vec<(Context, &mut Schema)> {
        let contexts: Vec<Context> = match &self.shape {
            Shape::List(_) => vec![context.step("Item")],
            Shape::Map(_) => vec![context.step("Value")],
            Shape::Object(object) => object.properties.keys().map(|name| context.field(name)).collect(),
            Shape::Union(union) => context.arms(&union.arms),
            Shape::All(members) => vec![context.clone(); members.len()],
            _ => Vec::new(),
        };
        contexts.into_iter().zip(self.inner_mut()).collect()
    }
}

impl Shape {
    /// An object with any keys and any values.
    pub(super) fn free_object(place: &Place) -> Self {
        let value = Box::new(Schema::new(place.clone(), Self::Any));
        Self::Map(Map { value, bounds: Bounds::default() })
    }

    /// Whether this is an object with any keys and any values.
    pub(super) fn is_free_object(&self) -> bool {
        matches!(self, Self::Map(map) if matches!(map.value.shape, Self::Any) && map.bounds.is_empty())
    }

    /// A text that is equal for schemas that allow the same: notes, places and order aside.
    pub(super) fn fingerprint(&self) -> String {
        match self {
            Self::Any => "any".into(),
            Self::Null => "null".into(),
            Self::Reference(name) => format!("ref {name:?}"),
            Self::Const(value) => format!("const {value}"),
            Self::Enum(values) => format!("enum {:?}", sorted(values.clone())),
            Self::Scalar(scalar) => format!("{scalar:?}"),
            Self::List(list) => format!("list {:?} {{{}}}", list.bounds, list.item.shape.fingerprint()),
            Self::Map(map) => format!("map {:?} {{{}}}", map.bounds, map.value.shape.fingerprint()),
            Self::Object(object) => object.fingerprint(),
            Self::Union(union) => format!("{:?} [{}]", union.keyword, fingerprints(&union.arms)),
            Self::All(members) => format!("all [{}]", fingerprints(members)),
        }
    }
}

impl Object {
    fn fingerprint(&self) -> String {
        let property = |(name, schema): (&String, &Schema)| format!("{name:?}: {}", schema.shape.fingerprint());
        let properties = sorted(self.properties.iter().map(property).collect()).join(", ");
        format!("object {{{properties}}} {:?} {}", sorted(self.required.clone()), self.open)
    }

    /// Whether a value must have the property.
    pub(super) fn requires(&self, property: &str) -> bool {
        self.required.iter().any(|name| name == property)
    }
}

impl Scalar {
    /// A scalar of a kind with nothing further said.
    pub(super) fn plain(kind: ScalarKind) -> Self {
        Self { kind, format: None, minimum: None, maximum: None, length: Bounds::default() }
    }

    /// Whether values are limited beyond kind and format.
    pub(super) fn is_bounded(&self) -> bool {
        self.minimum.is_some() || self.maximum.is_some() || !self.length.is_empty()
    }
}

impl Bounds {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Union {
    /// Whether one of the arms is `null`.
    pub(super) fn allows_null(&self) -> bool {
        self.arms.iter().any(|arm| matches!(arm.shape, Shape::Null))
    }

    /// The arms that are not `null`.
    pub(super) fn others(&self) -> impl Iterator<Item = &Schema> {
        self.arms.iter().filter(|arm| !matches!(arm.shape, Shape::Null))
    }
}

/// Follows aliases to the schema behind a name; `None` where there is none, or where the aliases go in a circle.
pub(super) fn resolve<'a>(definitions: &'a Definitions, mut name: &'a str) -> Option<(&'a str, &'a Schema)> {
    for _ in 0..=definitions.len() {
        let schema = definitions.get(name)?;
        match &schema.shape {
            Shape::Reference(next) => name = next,
            _ => return Some((name, schema)),
        }
    }
    None
}

/// The only item, or what several make together.
pub(super) fn one_or<T>(mut items: Vec<T>, together: impl FnOnce(Vec<T>) -> T) -> Option<T> {
    if items.len() > 1 { Some(together(items)) } else { items.pop() }
}

/// Joined as they are: quoting them would double its length with each level.
fn fingerprints(schemas: &[Schema]) -> String {
    sorted(schemas.iter().map(|schema| schema.shape.fingerprint()).collect()).join(", ")
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}
