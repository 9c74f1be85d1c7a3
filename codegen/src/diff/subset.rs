//! Is every value of this type, in this revision, also one of that type in that revision?
//!
//! `No` may be too pessimistic where two types overlap in an odd way (lists that must be empty, say); `Yes` never is too
//! optimistic. A pair of definitions that correspond counts as `Yes`: what differs between them is reported at them, and
//! [`reach`](super::reach) carries it to whatever refers to them.

use super::Verdict;
use super::names::Names;
use super::residue::{Said, agree, residue};
use crate::ir::{Content, Field, Object, Revision, Scalar, Shape, Type};

/// How deep differently named definitions are followed before giving up.
const DEPTH: usize = 12;

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    Yes,
    Unknown,
    No,
}

impl Answer {
    fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }

    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Yes => Verdict::Ok,
            Self::Unknown => Verdict::Unknown,
            Self::No => Verdict::Breaks,
        }
    }
}

/// The question in one direction.
#[derive(Clone, Copy)]
pub(super) struct Subset<'a> {
    pub(super) from: &'a Revision,
    pub(super) to: &'a Revision,
    pub(super) names: &'a Names,
    /// Whether `from` is the old revision.
    pub(super) forward: bool,
}

/// A type with names and aliases resolved.
enum View<'a> {
    Any,
    Boolean,
    Number(Option<f64>, Option<f64>),
    Integer(Option<i64>, Option<i64>),
    Text(Option<u32>, Option<u32>),
    Words(Vec<&'a str>),
    Free,
    Object(&'a Object),
    Map(&'a Type, Option<u64>, Option<u64>),
    List(&'a Type, Option<u64>, Option<u64>),
    Union(Vec<Type>),
    Nullable(&'a Type),
    /// A definition that says more than its shape does, such as a `format`.
    Marked(Vec<Said>, Box<View<'a>>),
    /// A name that leads nowhere, or in a circle.
    Lost,
}

impl<'a> Subset<'a> {
    pub(super) fn types(&self, a: &Type, b: &Type) -> Answer {
        self.typed(a, b, DEPTH)
    }

    pub(super) fn shapes(&self, a: &Shape, b: &Shape) -> Answer {
        self.views(&shape_view(self.from, a, DEPTH), &shape_view(self.to, b, DEPTH), DEPTH)
    }

    pub(super) fn contents(&self, a: &Content, b: &Content) -> Answer {
        self.contained(a, b, DEPTH)
    }

    /// A type that stands in a union of the other side.
    pub(super) fn in_union(&self, a: &Type, arms: &[Type]) -> Answer {
        self.views(&view(self.from, a, DEPTH), &View::Union(arms.to_vec()), DEPTH)
    }

    fn corresponds(&self, a: &str, b: &str) -> bool {
        match self.forward {
            true => self.names.new_of(a) == Some(b),
            false => self.names.new_of(b) == Some(a),
        }
    }

    fn typed(&self, a: &Type, b: &Type, depth: usize) -> Answer {
        match (a, b) {
            (Type::Named(a), Type::Named(b)) if self.corresponds(a, b) => Answer::Yes,
            _ if depth == 0 => Answer::Unknown,
            _ => self.views(&view(self.from, a, DEPTH), &view(self.to, b, DEPTH), depth - 1),
        }
    }

    fn contained(&self, a: &Content, b: &Content, depth: usize) -> Answer {
        match (a, b) {
            (Content::Typed(a), Content::Typed(b)) => self.typed(a, b, depth),
            _ => self.views(&content_view(self.from, a), &content_view(self.to, b), depth),
        }
    }

    fn views(&self, a: &View<'_>, b: &View<'_>, depth: usize) -> Answer {
        use View::{
            Any, Boolean, Free, Integer, List, Lost, Map, Marked, Nullable, Number, Object, Text, Union, Words,
        };
        match (a, b) {
            (_, Any) => Answer::Yes,
            (Marked(said, a), Marked(asked, b)) if agree(said, asked) => self.views(a, b, depth),
            (Marked(_, a), b) if a.is_split() || !b.is_split() => {
                self.views(a, b.unmarked(), depth).max(Answer::Unknown)
            }
            (a, Marked(_, b)) => self.views(a, b, depth).max(Answer::Unknown),
            (Lost, _) | (_, Lost) => Answer::Unknown,
            (Any, Union(_)) => Answer::Unknown,
            (Any, _) => Answer::No,
            (Nullable(a), Nullable(b)) => self.typed(a, b, depth),
            (Nullable(_), Union(_)) => Answer::Unknown,
            (Nullable(_), _) => Answer::No,
            (_, Nullable(b)) => self.views(a, &view(self.to, b, DEPTH), depth),
            (Union(arms), _) => self.every_arm(arms, b, depth),
            (_, Union(arms)) => self.some_arm(a, arms, depth),
            (Boolean, Boolean) | (Object(_) | Map(..) | Free, Free) => Answer::Yes,
            (Integer(low, high), Integer(least, most)) => Answer::of(above(*low, *least) && below(*high, *most)),
            (Integer(low, high), Number(least, most)) => {
                Answer::of(above(low.map(as_number), *least) && below(high.map(as_number), *most))
            }
            (Number(low, high), Number(least, most)) => Answer::of(above(*low, *least) && below(*high, *most)),
            (Text(low, high), Text(least, most)) => {
                Answer::of(above(*low, least.filter(|n| *n > 0)) && below(*high, *most))
            }
            (Words(a), Words(b)) => Answer::of(a.iter().all(|word| b.contains(word))),
            (Words(words), Text(least, most)) => Answer::of(words.iter().all(|word| fits(word, *least, *most))),
            (Object(a), Object(b)) => self.objects(a, b, depth),
            (Free, Map(value, least, most)) => Answer::of(**value == Type::Any && zero(*least) && most.is_none()),
            (Map(a, low, high), Map(b, least, most)) => {
                self.typed(a, b, depth).max(Answer::of(from(*low, *least) && below(*high, *most)))
            }
            (List(a, low, high), List(b, least, most)) => {
                self.typed(a, b, depth).max(Answer::of(from(*low, *least) && below(*high, *most)))
            }
            (Free | Map(..), Object(_)) | (Object(_), Map(..)) => Answer::Unknown,
            _ => Answer::No,
        }
    }

    fn every_arm(&self, arms: &[Type], b: &View<'_>, depth: usize) -> Answer {
        if depth == 0 {
            return Answer::Unknown;
        }
        let answer = |arm: &Type| match (arm, b) {
            (Type::Named(name), View::Union(others)) if others.iter().any(|other| self.same_name(name, other)) => {
                Answer::Yes
            }
            _ => self.views(&view(self.from, arm, DEPTH), b, depth - 1),
        };
        arms.iter().map(answer).max().unwrap_or(Answer::Yes)
    }

    fn same_name(&self, a: &str, b: &Type) -> bool {
        matches!(b, Type::Named(b) if self.corresponds(a, b))
    }

    /// If no arm takes all of it, the arms may still do so together.
    fn some_arm(&self, a: &View<'_>, arms: &[Type], depth: usize) -> Answer {
        if depth == 0 {
            return Answer::Unknown;
        }
        let best = arms.iter().map(|arm| self.views(a, &view(self.to, arm, DEPTH), depth - 1)).min();
        match best {
            Some(Answer::Yes) => Answer::Yes,
            _ if arms.iter().all(|arm| a.is_apart(&view(self.to, arm, DEPTH))) => Answer::No,
            _ => Answer::Unknown,
        }
    }

    fn objects(&self, a: &Object, b: &Object, depth: usize) -> Answer {
        if depth == 0 {
            return Answer::Unknown;
        }
        let named = b.fields.iter().map(|field| self.member(a.field(&field.wire), field, depth - 1));
        let unnamed = a.fields.iter().map(|field| Answer::of(b.open || b.field(&field.wire).is_some()));
        named.chain(unnamed).max().unwrap_or(Answer::Yes).max(Answer::of(b.open || !a.open))
    }

    fn member(&self, a: Option<&Field>, b: &Field, depth: usize) -> Answer {
        let Some(a) = a else { return Answer::of(!b.presence.is_required()) };
        let there = Answer::of(a.presence.is_required() || !b.presence.is_required());
        let takes_null = b.presence.is_nullable() || b.content == Content::Typed(Type::Any);
        let null = Answer::of(takes_null || !a.presence.is_nullable());
        there.max(null).max(self.contained(&a.content, &b.content, depth))
    }
}

impl View<'_> {
    /// Whether it leads to several others, one of which may be marked alike.
    fn is_split(&self) -> bool {
        matches!(self, Self::Union(_) | Self::Nullable(_))
    }

    fn unmarked(&self) -> &Self {
        match self {
            Self::Marked(_, inner) => inner.unmarked(),
            _ => self,
        }
    }

    /// Whether nothing of the first is one of the second: they differ in the type of JSON, or the second asks for a member
    /// that the first does not know.
    fn is_apart(&self, other: &Self) -> bool {
        let lacks = |a: &Object, b: &Object| {
            b.fields.iter().any(|field| field.presence.is_required() && a.field(&field.wire).is_none())
        };
        match (self.unmarked(), other.unmarked()) {
            (Self::Object(a), Self::Object(b)) => lacks(a, b),
            (one, other) => matches!((one.json(), other.json()), (Some(a), Some(b)) if a != b),
        }
    }

    fn json(&self) -> Option<&'static str> {
        Some(match self {
            Self::Boolean => "boolean",
            Self::Number(..) | Self::Integer(..) => "number",
            Self::Text(..) | Self::Words(_) => "string",
            Self::Free | Self::Object(_) | Self::Map(..) => "object",
            Self::List(..) => "array",
            Self::Any | Self::Union(_) | Self::Nullable(_) | Self::Marked(..) | Self::Lost => return None,
        })
    }
}

fn view<'a>(revision: &'a Revision, of: &'a Type, depth: usize) -> View<'a> {
    match of {
        Type::Named(name) => match revision.get(name) {
            Some(definition) if depth > 0 => {
                let shape = shape_view(revision, &definition.shape, depth - 1);
                let said = residue(revision, definition);
                if said.is_empty() { shape } else { View::Marked(said, Box::new(shape)) }
            }
            _ => View::Lost,
        },
        Type::String => View::Text(None, None),
        Type::Integer { min, max } => View::Integer(*min, *max),
        Type::Number => View::Number(None, None),
        Type::Boolean => View::Boolean,
        Type::Any => View::Any,
        Type::Free => View::Free,
        Type::List(item) => View::List(item, None, None),
        Type::Nullable(inner) => View::Nullable(inner),
    }
}

fn shape_view<'a>(revision: &'a Revision, shape: &'a Shape, depth: usize) -> View<'a> {
    match shape {
        Shape::Object(object) => View::Object(object),
        Shape::Tagged(tagged) => View::Union(tagged.arms.iter().map(|arm| Type::Named(arm.target.clone())).collect()),
        Shape::Choice(choice) => View::Union(choice.arms.clone()),
        Shape::Enum(words) => View::Words(words.values.iter().map(String::as_str).collect()),
        Shape::Scalar(Scalar::String { min, max }) => View::Text(*min, *max),
        Shape::Scalar(Scalar::Integer { min, max }) => View::Integer(*min, *max),
        Shape::Scalar(Scalar::Number { min, max }) => View::Number(*min, *max),
        Shape::Scalar(Scalar::Boolean) => View::Boolean,
        Shape::Map(map) => View::Map(&map.value, map.min, map.max),
        Shape::List(list) => View::List(&list.item, list.min, list.max),
        Shape::Alias(other) => view(revision, other, depth),
    }
}

fn content_view<'a>(revision: &'a Revision, content: &'a Content) -> View<'a> {
    match content {
        Content::Typed(of) => view(revision, of, DEPTH),
        Content::Constant(word) => View::Words(vec![word]),
        Content::ConstantInteger(value) => View::Integer(Some(*value), Some(*value)),
    }
}

/// Whether a lower bound is at least as high as the one that is asked for.
fn above<T: PartialOrd>(bound: Option<T>, least: Option<T>) -> bool {
    match (bound, least) {
        (_, None) => true,
        (Some(bound), Some(least)) => bound >= least,
        (None, Some(_)) => false,
    }
}

/// Whether an upper bound is at most as high as the one that is asked for.
fn below<T: PartialOrd>(bound: Option<T>, most: Option<T>) -> bool {
    match (bound, most) {
        (_, None) => true,
        (Some(bound), Some(most)) => bound <= most,
        (None, Some(_)) => false,
    }
}

/// As [`above`], for counts, where no bound is zero.
fn from(bound: Option<u64>, least: Option<u64>) -> bool {
    bound.unwrap_or(0) >= least.unwrap_or(0)
}

fn zero(least: Option<u64>) -> bool {
    from(None, least)
}

#[expect(clippy::cast_precision_loss, reason = "bounds are small; a rounded one is off by less than it can matter")]
fn as_number(value: i64) -> f64 {
    value as f64
}

fn fits(word: &str, least: Option<u32>, most: Option<u32>) -> bool {
    let length = u32::try_from(word.chars().count()).unwrap_or(u32::MAX);
    length >= least.unwrap_or(0) && most.is_none_or(|most| length <= most)
}
