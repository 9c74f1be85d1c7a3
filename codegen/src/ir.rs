//! What the schemas mean: the value between reading them and writing Rust.
//!
//! Names are those of the schemas; what is said in Rust only (identifiers, boxes, type parameters) is decided when the
//! code is written, so that another reader of this value, such as a comparison of two revisions, is not in the way of
//! it and it is not in theirs.

use serde_json::Value;

/// The definitions of one revision, by document.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// The name of the revision.
    pub name: String,
    /// The documents in order.
    pub parts: Vec<Part>,
    /// Where a definition stands: its name to the index of its part and its place in it.
    pub(crate) index: std::collections::BTreeMap<String, (usize, usize)>,
}

/// The definitions of one document.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the part, such as `tasks`.
    pub name: String,
    /// The title and description of the document.
    pub docs: Docs,
    /// The definitions in the order of the document.
    pub definitions: Vec<Definition>,
}

/// One named shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name in the schema.
    pub name: String,
    /// Title and description.
    pub docs: Docs,
    /// The file it stands in.
    pub file: String,
    /// The JSON pointer to it.
    pub pointer: String,
    /// What it is.
    pub shape: Shape,
    /// The schema it was read from.
    pub schema: Value,
}

/// Words for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Docs {
    /// A short phrase.
    pub title: Option<String>,
    /// Sentences.
    pub description: Option<String>,
}

/// What a definition is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// An object with named members.
    Object(Object),
    /// Objects that a tag tells apart.
    Tagged(Tagged),
    /// Values that their shape tells apart.
    Choice(Choice),
    /// A string of a list of values.
    Enum(Enum),
    /// A string, number or boolean of its own meaning.
    Scalar(Scalar),
    /// An object whose members all have one type.
    Map(Map),
    /// A list with a bound on its length.
    List(List),
    /// Another name for a type.
    Alias(Type),
}

/// An object with named members.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// All members, also those of the bases, in the order in which they are written.
    pub fields: Vec<Field>,
    /// The definitions it is composed of, directly.
    pub bases: Vec<String>,
    /// Whether it may have members that are not named.
    pub open: bool,
}

impl Object {
    /// The member of that name.
    pub fn field(&self, wire: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.wire == wire)
    }
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name on the wire.
    pub wire: String,
    /// Its description.
    pub docs: Option<String>,
    /// Whether it may be missing or null.
    pub presence: Presence,
    /// What it holds.
    pub content: Content,
    /// The definition that brought it in.
    pub origin: String,
}

/// Whether a member may be missing, or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always there, never null.
    Required,
    /// May be missing.
    Optional,
    /// Always there, may be null.
    RequiredNullable,
    /// May be missing, may be null.
    OptionalNullable,
}

impl Presence {
    /// Whether the member is always there.
    pub fn is_required(self) -> bool {
        matches!(self, Self::Required | Self::RequiredNullable)
    }

    /// Whether the member may be null.
    pub fn is_nullable(self) -> bool {
        matches!(self, Self::RequiredNullable | Self::OptionalNullable)
    }
}

/// What a member holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A value of a type.
    Typed(Type),
    /// Always this text.
    Constant(String),
    /// Always this integer.
    ConstantInteger(i64),
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A definition.
    Named(String),
    /// Any string.
    String,
    /// Any integer, or one within bounds.
    Integer {
        /// The least value.
        min: Option<i64>,
        /// The greatest value.
        max: Option<i64>,
    },
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Any JSON.
    Any,
    /// An object of any content.
    Free,
    /// A list.
    List(Box<Type>),
    /// A value or null, where it is not a member's own presence.
    Nullable(Box<Type>),
}

/// A union of objects that the value of one member tells apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// The member.
    pub tag: String,
    /// The arms.
    pub arms: Vec<TaggedArm>,
    /// The arm that is meant when the tag is missing.
    pub absent: Option<String>,
}

/// One arm of a tagged union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedArm {
    /// The tag's value.
    pub value: String,
    /// The definition of the object.
    pub target: String,
}

/// A union whose arms differ in shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The arms.
    pub arms: Vec<Type>,
}

/// A string of a list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// The values.
    pub values: Vec<String>,
}

/// A scalar of its own meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A string.
    String {
        /// The least number of characters.
        min: Option<u32>,
        /// The greatest number of characters.
        max: Option<u32>,
    },
    /// An integer.
    Integer {
        /// The least value.
        min: Option<i64>,
        /// The greatest value.
        max: Option<i64>,
    },
    /// A number.
    Number {
        /// The least value.
        min: Option<f64>,
        /// The greatest value.
        max: Option<f64>,
    },
    /// A boolean.
    Boolean,
}

/// An object whose members all have one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The type of the members.
    pub value: Type,
    /// The least number of members.
    pub min: Option<u64>,
    /// The greatest number of members.
    pub max: Option<u64>,
}

/// A list with a bound on its length.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The type of the items.
    pub item: Type,
    /// The least number of items.
    pub min: Option<u64>,
    /// The greatest number of items.
    pub max: Option<u64>,
}

impl Revision {
    /// The definition of that name.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        let (part, place) = self.index.get(name)?;
        self.parts.get(*part)?.definitions.get(*place)
    }

    /// All definitions, part by part.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.parts.iter().flat_map(|part| &part.definitions)
    }

    /// The object of that name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match &self.get(name)?.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }
}
