//! What the generated types are made with: readers and writers of JSON objects that lose nothing, and the few value
//! types that JSON Schema has and Rust has not.
//!
//! Reading is one flat pass over the members of an object. Nothing is buffered but what cannot be placed yet: a member
//! whose type hangs on a tag that has not been read, and members that the schema does not name, which are kept in
//! [`Extra`] and written again. A member given twice is an error. Errors name the type and the member.

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

pub use indexmap::IndexMap;
#[doc(hidden)]
pub use serde::de::MapAccess;
#[doc(hidden)]
pub use serde::ser::SerializeMap;

/// A JSON object of any content, in the order of its text.
pub type JsonObject = Map<String, Value>;

/// A request message: what it is called, what it carries and what answers it.
pub trait Request {
    /// The JSON-RPC method.
    const METHOD: &'static str;
    /// The type of `params`.
    type Params;
    /// The type of `result` in the response.
    type Result;
}

/// A notification message: what it is called and what it carries.
pub trait Notification {
    /// The JSON-RPC method.
    const METHOD: &'static str;
    /// The type of `params`.
    type Params;
}

/// The members an object has beside those that its schema names.
///
/// They survive a read and a write again. A member with the name of one that the type writes itself is not written.
#[derive(Clone, Default)]
pub struct Extra(Option<Box<JsonObject>>);

impl Extra {
    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Sets a member and returns the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.get_or_insert_default().insert(name.into(), value.into())
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.as_mut()?.remove(name)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|members| members.iter())
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |members| members.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All members as one object.
    pub fn into_object(self) -> JsonObject {
        self.0.map(|members| *members).unwrap_or_default()
    }
}

impl From<JsonObject> for Extra {
    fn from(members: JsonObject) -> Self {
        Self(if members.is_empty() { None } else { Some(Box::new(members)) })
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A value that may be kept in a form of its own, such as its JSON text, instead of being taken apart.
///
/// It stands for a JSON object that this crate does not look into.
pub trait Payload: DeserializeOwned + Serialize + Clone + fmt::Debug + PartialEq {
    /// What the reader holds while it is not known yet whether the member belongs to the type.
    type Held: DeserializeOwned;

    /// The payload, or what is wrong with it.
    fn from_held(held: Self::Held) -> Result<Self, String>;

    /// The same member as an ordinary value.
    fn held_value(held: Self::Held) -> Result<Value, String>;
}

impl Payload for JsonObject {
    type Held = Value;

    fn from_held(held: Value) -> Result<Self, String> {
        match held {
            Value::Object(members) => Ok(members),
            other => Err(format!("invalid type: {}, expected an object", kind(&other))),
        }
    }

    fn held_value(held: Value) -> Result<Value, String> {
        Ok(held)
    }
}

/// What a JSON value is, in a word.
#[doc(hidden)]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A type that is read member by member.
#[doc(hidden)]
pub trait Record: Sized {
    /// The name that errors use.
    const NAME: &'static str;
    /// The members that the schema names; an index into this list stands for its member everywhere.
    const KEYS: &'static [&'static str];

    fn read<'de, A: MapAccess<'de>>(members: Members<A>) -> Result<Self, A::Error>;
}

/// Reads an object.
#[doc(hidden)]
pub fn read<'de, T: Record, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    // The record goes to its place at once: it is large, and handed up by value it is copied at every level.
    struct RecordVisitor<'a, T>(&'a mut Option<T>);

    impl<'de, T: Record> Visitor<'de> for RecordVisitor<'_, T> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an object ({})", T::NAME)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
            let record = T::read(Members {
                map,
                owner: T::NAME,
                known: Names { names: T::KEYS, expected: 0 },
                current: T::KEYS.len(),
                other: String::new(),
                held: Vec::new(),
                extra: Extra::default(),
            })?;
            *self.0 = Some(record);
            Ok(())
        }
    }

    let mut record = None;
    deserializer.deserialize_map(RecordVisitor(&mut record))?;
    record.ok_or_else(|| D::Error::custom(format_args!("{}: nothing was read", T::NAME)))
}

/// The members of an object while it is read.
#[doc(hidden)]
pub struct Members<A> {
    map: A,
    owner: &'static str,
    known: Names,
    /// The index of the member whose value comes next; the number of known names for any other.
    current: usize,
    /// The name of that other member.
    other: String,
    /// Named members whose type was not known when they came.
    held: Vec<(usize, Value)>,
    extra: Extra,
}

impl<'de, A: MapAccess<'de>> Members<A> {
    /// The index of the next member, or the number of known names for one that the schema does not name.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<usize>, A::Error> {
        let Some(name) = self.map.next_key_seed(&mut self.known)? else { return Ok(None) };
        self.current = match name {
            Name::Known(index) => index,
            Name::Other(text) => {
                self.other = text;
                self.known.names.len()
            }
        };
        Ok(Some(self.current))
    }

    /// Reads the member's value.
    #[inline]
    pub fn put<T: Deserialize<'de>>(&mut self, slot: &mut Option<T>) -> Result<(), A::Error> {
        if slot.is_some() {
            return Err(self.twice());
        }
        match self.map.next_value() {
            Ok(value) => {
                *slot = Some(value);
                Ok(())
            }
            Err(error) => Err(self.misfit(error)),
        }
    }

    /// Reads a tag; one that is among `tags` costs no allocation.
    pub fn tag(&mut self, tags: &'static [&'static str], slot: &mut Option<Tag>) -> Result<(), A::Error> {
        if slot.is_some() {
            return Err(self.twice());
        }
        let mut names = Names { names: tags, expected: 0 };
        let name = self.map.next_value_seed(&mut names).map_err(|error| self.misfit(error))?;
        *slot = Some(match name {
            Name::Known(index) => Cow::Borrowed(tags[index]),
            Name::Other(text) => Cow::Owned(text),
        });
        Ok(())
    }

    /// Keeps a member that has no place of its own, or none yet.
    pub fn keep(&mut self) -> Result<(), A::Error> {
        let named = self.current < self.known.names.len();
        if !named {
            return self.keep_other();
        }
        let Unique(value) = self.map.next_value().map_err(|error| self.at(self.current, error))?;
        if self.held.iter().any(|(index, _)| *index == self.current) {
            return Err(self.at(self.current, "is given twice"));
        }
        self.held.push((self.current, value));
        Ok(())
    }

    fn keep_other(&mut self) -> Result<(), A::Error> {
        let name = std::mem::take(&mut self.other);
        let at = |what: &dyn fmt::Display| A::Error::custom(format_args!("{}.{name}: {what}", self.owner));
        let value: Value = self.map.next_value().map_err(|error| at(&error))?;
        match self.extra.insert(name.as_str(), value) {
            None => Ok(()),
            Some(_) => Err(at(&"is given twice")),
        }
    }

    /// Refuses a member that the schema does not name.
    pub fn refuse(&mut self) -> Result<(), A::Error> {
        self.map.next_value::<IgnoredAny>()?;
        Err(A::Error::custom(format_args!("{}.{}: is not a member of this object", self.owner, self.other)))
    }

    /// The value of an optional member.
    #[inline]
    pub fn take<T: DeserializeOwned>(&mut self, index: usize, slot: Option<T>) -> Result<Option<T>, A::Error> {
        match self.held.is_empty() {
            true => Ok(slot),
            false => self.take_held(index, slot),
        }
    }

    #[cold]
    fn take_held<T: DeserializeOwned>(&mut self, index: usize, slot: Option<T>) -> Result<Option<T>, A::Error> {
        let Some(place) = self.held.iter().position(|(held, _)| *held == index) else { return Ok(slot) };
        if slot.is_some() {
            return Err(self.at(index, "is given twice"));
        }
        let (_, value) = self.held.swap_remove(place);
        serde_json::from_value(value).map(Some).map_err(|error| self.at(index, error))
    }

    /// The value of a required member.
    #[inline]
    pub fn require<T: DeserializeOwned>(&mut self, index: usize, slot: Option<T>) -> Result<T, A::Error> {
        match self.take(index, slot)? {
            Some(value) => Ok(value),
            None => Err(self.missing(index)),
        }
    }

    /// The value of a required opaque member.
    pub fn payload<P: Payload>(&mut self, index: usize, slot: Option<P::Held>) -> Result<P, A::Error> {
        let held = slot.ok_or_else(|| self.at(index, "is missing"))?;
        P::from_held(held).map_err(|error| self.at(index, error))
    }

    /// Keeps an opaque member that does not belong to the type.
    pub fn stray<P: Payload>(&mut self, index: usize, slot: Option<P::Held>) -> Result<(), A::Error> {
        let Some(held) = slot else { return Ok(()) };
        let value = P::held_value(held).map_err(|error| self.at(index, error))?;
        self.held.push((index, value));
        Ok(())
    }

    /// Keeps a member that was read as the wrong type for a tag that is not known.
    pub fn untype<T: Serialize>(&mut self, index: usize, slot: Option<T>) -> Result<(), A::Error> {
        let Some(typed) = slot else { return Ok(()) };
        let value = serde_json::to_value(typed).map_err(|error| self.at(index, error))?;
        self.held.push((index, value));
        Ok(())
    }

    /// Checks a member that has one value only; `also` lists what is read for it besides.
    pub fn constant(&self, index: usize, slot: Option<Tag>, value: &str, also: &[&str]) -> Result<(), A::Error> {
        match slot.as_deref() {
            Some(found) if found == value || also.contains(&found) => Ok(()),
            Some(found) => Err(self.at(index, format_args!("unknown value {found:?}, expected {value:?}"))),
            None => Err(self.at(index, "is missing")),
        }
    }

    /// The same for a member that may be absent.
    pub fn assumed(&self, index: usize, slot: Option<Tag>, value: &str, also: &[&str]) -> Result<(), A::Error> {
        match slot {
            Some(_) => self.constant(index, slot, value, also),
            None => Ok(()),
        }
    }

    /// Whether a member is there that has one value only.
    pub fn flag(&self, index: usize, slot: Option<Tag>, value: &str) -> Result<bool, A::Error> {
        let given = slot.is_some();
        self.assumed(index, slot, value, &[])?;
        Ok(given)
    }

    /// Checks an integer that has one value only.
    pub fn constant_integer(&self, index: usize, slot: Option<Int>, value: i64) -> Result<(), A::Error> {
        match slot.map(Int::get) {
            Some(found) if found == value => Ok(()),
            Some(found) => Err(self.at(index, format_args!("unknown value {found}, expected {value}"))),
            None => Err(self.at(index, "is missing")),
        }
    }

    /// The tag of a union, which must be there.
    pub fn require_tag(&self, index: usize, slot: Option<Tag>) -> Result<Tag, A::Error> {
        slot.ok_or_else(|| self.at(index, "is missing"))
    }

    /// The error for a tag that is not among `tags`.
    pub fn unknown_tag(&self, index: usize, found: &str, tags: &[&str]) -> A::Error {
        self.at(index, format_args!("unknown value {found:?}, expected one of {}", tags.join(", ")))
    }

    /// What is left over.
    pub fn extra(&mut self) -> Extra {
        for (index, value) in self.held.drain(..) {
            self.extra.insert(self.known.names[index], value);
        }
        std::mem::take(&mut self.extra)
    }

    #[cold]
    fn twice(&self) -> A::Error {
        self.at(self.current, "is given twice")
    }

    #[cold]
    fn missing(&self, index: usize) -> A::Error {
        self.at(index, "is missing")
    }

    #[cold]
    fn misfit(&self, error: A::Error) -> A::Error {
        self.at(self.current, error)
    }

    #[cold]
    fn at(&self, index: usize, what: impl fmt::Display) -> A::Error {
        let member = self.known.names.get(index).copied().unwrap_or_default();
        A::Error::custom(format_args!("{}.{member}: {what}", self.owner))
    }
}

/// The text of a tag: borrowed if the schema names it.
#[doc(hidden)]
pub type Tag = Cow<'static, str>;

/// One of a list of names, or another text.
enum Name {
    Known(usize),
    Other(String),
}

/// Recognises names. Members mostly come in the order of the schema, so the search starts behind the last hit.
struct Names {
    names: &'static [&'static str],
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for &mut Names {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for &mut Names {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    #[inline]
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
        let names = || self.names.iter().enumerate();
        let is_text = |(_, name): &(usize, &&str)| **name == text;
        let hit = names().skip(self.expected).find(is_text).or_else(|| names().find(is_text)).map(|(index, _)| index);
        Ok(match hit {
            Some(index) => {
                self.expected = index + 1;
                Name::Known(index)
            }
            None => Name::Other(text.to_owned()),
        })
    }
}

/// Writes an object.
#[doc(hidden)]
pub fn write<T: Record, S: Serializer>(
    _record: &T,
    serializer: S,
    write: impl FnOnce(&mut Writer<S::SerializeMap>),
) -> Result<S::Ok, S::Error> {
    let map = serializer.serialize_map(None)?;
    let mut members = Writer { map, outcome: Ok(()), names: T::KEYS, written: 0 };
    write(&mut members);
    members.outcome?;
    members.map.end()
}

/// The members of an object while it is written. After an error nothing more is.
#[doc(hidden)]
pub struct Writer<M: SerializeMap> {
    map: M,
    outcome: Result<(), M::Error>,
    names: &'static [&'static str],
    /// One bit a named member that has been written.
    written: u128,
}

impl<M: SerializeMap> Writer<M> {
    /// Writes a member.
    #[inline]
    pub fn put<T: Serialize + ?Sized>(&mut self, index: usize, value: &T) {
        self.written |= 1 << index;
        self.entry(self.names[index], value);
    }

    /// Writes a member that may be left out.
    #[inline]
    pub fn optional<T: Serialize>(&mut self, index: usize, value: &Option<T>) {
        if let Some(value) = value {
            self.put(index, value);
        }
    }

    /// Writes the members that the schema does not name.
    pub fn keep(&mut self, extra: &Extra) {
        for (name, value) in extra.iter() {
            if !self.has_written(name) {
                self.entry(name, value);
            }
        }
    }

    /// Writes nothing more: the schema names all members there may be.
    #[inline]
    pub fn refuse(&mut self) {}

    #[inline]
    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if self.outcome.is_ok() {
            self.outcome = self.map.serialize_entry(name, value);
        }
    }

    fn has_written(&self, name: &str) -> bool {
        self.names.iter().position(|known| *known == name).is_some_and(|index| self.written & (1 << index) != 0)
    }
}

/// `Deserialize` for a [`Record`].
#[doc(hidden)]
macro_rules! deserialize {
    ($name:ident $(<$parameter:ident>)?) => {
        impl<'de $(, $parameter: support::Payload)?> ::serde::Deserialize<'de> for $name $(<$parameter>)? {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                support::read(deserializer)
            }
        }
    };
}

/// Reading and writing for a struct. A row for each member says, in the order in which they are written: its index, its
/// name on the wire, what it is, and the struct's member. A constant is written always and stored never; `assumed` is one
/// that may be absent when it is read, and `or` lists what is read for it besides. Of a `flag` it is stored whether it
/// was there. The last row says what becomes of members that the schema does not name.
#[doc(hidden)]
macro_rules! record {
    (
        $name:ident $(<$parameter:ident>)? = $label:literal;
        $(
            $index:literal $wire:literal
            $(required $required:ident)?
            $(optional $optional:ident)?
            $(constant $constant:ident = $value:literal $(or $also:literal)*)?
            $(assumed $assumed:ident = $assumed_value:literal $(or $assumed_also:literal)*)?
            $(flag $flag:ident = $flag_value:literal)?
            $(integer $integer:ident = $integer_value:literal)?
            ;
        )*
        .. $others:ident $($extra:ident)?;
    ) => {
        impl $(<$parameter: support::Payload>)? support::Record for $name $(<$parameter>)? {
            const NAME: &'static str = $label;
            const KEYS: &'static [&'static str] = &[$($wire),*];

            fn read<'de, A: support::MapAccess<'de>>(mut members: support::Members<A>) -> Result<Self, A::Error> {
                $(
                    $(let mut $required = None;)?
                    $(let mut $optional = None;)?
                    $(let mut $constant = None;)?
                    $(let mut $assumed = None;)?
                    $(let mut $flag = None;)?
                    $(let mut $integer = None;)?
                )*
                while let Some(index) = members.advance()? {
                    match index {
                        $(
                            $($index => members.put(&mut $required),)?
                            $($index => members.put(&mut $optional),)?
                            $($index => members.tag(&[$value, $($also),*], &mut $constant),)?
                            $($index => members.tag(&[$assumed_value, $($assumed_also),*], &mut $assumed),)?
                            $($index => members.tag(&[$flag_value], &mut $flag),)?
                            $($index => members.put(&mut $integer),)?
                        )*
                        _ => members.$others(),
                    }?
                }
                $(
                    $(members.constant($index, $constant, $value, &[$($also),*])?;)?
                    $(members.assumed($index, $assumed, $assumed_value, &[$($assumed_also),*])?;)?
                    $(let $flag = members.flag($index, $flag, $flag_value)?;)?
                    $(members.constant_integer($index, $integer, $integer_value)?;)?
                )*
                Ok(Self {
                    $(
                        $($required: members.require($index, $required)?,)?
                        $($optional: members.take($index, $optional)?,)?
                        $($flag,)?
                    )*
                    $($extra: members.extra(),)?
                })
            }
        }

        support::deserialize!($name $(<$parameter>)?);

        impl $(<$parameter: support::Payload>)? ::serde::Serialize for $name $(<$parameter>)? {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                support::write(self, serializer, |members| {
                    $(
                        $(members.put($index, &self.$required);)?
                        $(members.optional($index, &self.$optional);)?
                        $(members.put($index, $value);)?
                        $(members.put($index, $assumed_value);)?
                        $(if self.$flag { members.put($index, $flag_value); })?
                        $(members.put::<i64>($index, &$integer_value);)?
                    )*
                    members.$others($(&self.$extra)?);
                })
            }
        }
    };
}

pub(crate) use {deserialize, record};

/// Writes an object with a tag that is not known.
#[doc(hidden)]
pub fn write_other<S: Serializer>(
    serializer: S,
    tag: &'static str,
    value: &str,
    fields: &JsonObject,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(tag, value)?;
    for (name, value) in fields.iter().filter(|(name, _)| *name != tag) {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// Reads a value whole, for a union that only its shape tells apart.
#[doc(hidden)]
pub fn read_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Unique::deserialize(deserializer).map(|Unique(value)| value)
}

/// A value that waits for its type. Unlike a plain [`Value`] it does not let an object give a member twice, for once it
/// is a value nobody could tell.
struct Unique(Value);

/// How `serde_json` gives a number if some crate of the build asks it for arbitrary precision.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Unique, E> {
        Ok(Unique(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Unique(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == NUMBER {
                let digits = map.next_value::<String>()?;
                return digits.parse::<Number>().map(|number| Unique(Value::Number(number))).map_err(A::Error::custom);
            }
            let Unique(value) = map.next_value()?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!("{name}: is given twice")));
            }
            members.insert(name, value);
        }
        Ok(Unique(Value::Object(members)))
    }
}

/// Reads one arm of a union from a value.
#[doc(hidden)]
pub fn arm<T: DeserializeOwned, E: serde::de::Error>(union: &str, value: Value) -> Result<T, E> {
    serde_json::from_value(value).map_err(|error| E::custom(format_args!("{union}: {error}")))
}

/// Reads the text of an open enum; a known one costs no allocation.
#[doc(hidden)]
pub fn read_text<'de, D: Deserializer<'de>>(known: &'static [&'static str], deserializer: D) -> Result<Tag, D::Error> {
    let mut names = Names { names: known, expected: 0 };
    Ok(match names.deserialize(deserializer)? {
        Name::Known(index) => Cow::Borrowed(known[index]),
        Name::Other(text) => Cow::Owned(text),
    })
}

/// The error for a value that fits no arm of a union.
#[doc(hidden)]
pub fn no_arm<E: serde::de::Error>(union: &str, value: &Value, arms: &str) -> E {
    E::custom(format_args!("{union}: this {} fits none of {arms}", kind(value)))
}

/// What tells an object arm of a union from its siblings.
#[doc(hidden)]
pub struct Evidence {
    /// Members that must be there, as paths.
    pub required: &'static [&'static [&'static str]],
    /// Members that have one of these values if they are there.
    pub constants: &'static [(&'static str, &'static [&'static str])],
    /// All members that the arm names.
    pub known: &'static [&'static str],
}

impl Evidence {
    fn admits(&self, object: &JsonObject) -> bool {
        self.required.iter().all(|path| has(object, path))
            && self.constants.iter().all(|(name, values)| match object.get(*name) {
                Some(value) => value.as_str().is_some_and(|text| values.contains(&text)),
                None => true,
            })
    }

    fn recognised(&self, object: &JsonObject) -> usize {
        self.known.iter().filter(|name| object.contains_key(**name)).count()
    }
}

fn has(object: &JsonObject, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match object.get(*first) {
        Some(Value::Object(inner)) => has(inner, rest),
        Some(_) => rest.is_empty(),
        None => false,
    }
}

/// The arm that names most of an object's members among those it satisfies; of equals the one with the fewest names.
#[doc(hidden)]
pub fn choose(object: &JsonObject, arms: &[Evidence]) -> Option<usize> {
    let fitting = arms.iter().enumerate().filter(|(_, arm)| arm.admits(object));
    let ranked = fitting.map(|(index, arm)| (arm.recognised(object), std::cmp::Reverse(arm.known.len()), index));
    ranked.max_by_key(|(recognised, names, index)| (*recognised, *names, std::cmp::Reverse(*index))).map(|best| best.2)
}

/// Reads the entries of a map in order; a key given twice is an error.
#[doc(hidden)]
pub fn read_map<'de, K, V, D>(
    owner: &'static str,
    allowed: RangeInclusive<usize>,
    deserializer: D,
) -> Result<IndexMap<K, V>, D::Error>
where
    K: From<String> + std::hash::Hash + Eq,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct MapVisitor<K, V>(&'static str, PhantomData<(K, V)>);

    impl<'de, K: From<String> + std::hash::Hash + Eq, V: Deserialize<'de>> Visitor<'de> for MapVisitor<K, V> {
        type Value = IndexMap<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an object ({})", self.0)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = IndexMap::new();
            while let Some(name) = map.next_key::<String>()? {
                let at = |what: &dyn fmt::Display| A::Error::custom(format_args!("{}[{name:?}]: {what}", self.0));
                let value = map.next_value().map_err(|error| at(&error))?;
                if entries.contains_key::<K>(&K::from(name.clone())) {
                    return Err(at(&"is given twice"));
                }
                entries.insert(K::from(name), value);
            }
            Ok(entries)
        }
    }

    let entries = deserializer.deserialize_map(MapVisitor(owner, PhantomData))?;
    check_count(entries.len(), allowed).map_err(|what| D::Error::custom(format_args!("{owner}: {what}")))?;
    Ok(entries)
}

/// An integer from `MIN` to `MAX`. Reads `60000` and `60000.0` alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int<const MIN: i64 = { i64::MIN }, const MAX: i64 = { i64::MAX }>(i64);

impl<const MIN: i64, const MAX: i64> Int<MIN, MAX> {
    /// The integer, if it is in range.
    pub fn new(value: i64) -> Option<Self> {
        (MIN..=MAX).contains(&value).then_some(Self(value))
    }

    /// The integer.
    pub fn get(self) -> i64 {
        self.0
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Self {
        Self(value)
    }
}

impl<const MIN: i64, const MAX: i64> From<Int<MIN, MAX>> for i64 {
    fn from(value: Int<MIN, MAX>) -> i64 {
        value.0
    }
}

impl<const MIN: i64, const MAX: i64> fmt::Display for Int<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Int<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Int<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_i64(IntegerVisitor { min: MIN.into(), max: MAX.into() })?;
        i64::try_from(value).map(Self).map_err(D::Error::custom)
    }
}

/// Reads an unsigned integer of at most `max`.
#[doc(hidden)]
pub fn read_unsigned<'de, D: Deserializer<'de>>(min: u64, max: u64, deserializer: D) -> Result<u64, D::Error> {
    let value = deserializer.deserialize_u64(IntegerVisitor { min: min.into(), max: max.into() })?;
    u64::try_from(value).map_err(D::Error::custom)
}

/// Takes whatever JSON writes for an integer and says what is wrong with anything else.
struct IntegerVisitor {
    min: i128,
    max: i128,
}

impl IntegerVisitor {
    fn checked<E: serde::de::Error>(&self, value: i128) -> Result<i128, E> {
        match value {
            value if value < self.min => Err(E::custom(format_args!("{value} is less than {}", self.min))),
            value if value > self.max => Err(E::custom(format_args!("{value} is more than {}", self.max))),
            value => Ok(value),
        }
    }
}

impl Visitor<'_> for IntegerVisitor {
    type Value = i128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an integer from {} to {}", self.min, self.max)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<i128, E> {
        self.checked(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<i128, E> {
        self.checked(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<i128, E> {
        if value.fract() != 0.0 {
            return Err(E::custom(format_args!("{value} is not an integer")));
        }
        // Saturates, which leaves an infinite or huge value out of any range.
        self.checked(value as i128)
    }
}

/// Checks a number against its bounds.
#[doc(hidden)]
pub fn check_number(value: &Number, min: Option<f64>, max: Option<f64>) -> Result<(), String> {
    let Some(float) = value.as_f64() else { return Err(format!("{value} is out of range")) };
    match (min, max) {
        (Some(min), _) if float < min => Err(format!("{value} is less than {min}")),
        (_, Some(max)) if float > max => Err(format!("{value} is more than {max}")),
        _ => Ok(()),
    }
}

/// Checks the number of entries of a list or map.
#[doc(hidden)]
pub fn check_count(found: usize, allowed: RangeInclusive<usize>) -> Result<(), String> {
    match found {
        found if found < *allowed.start() => Err(format!("{found} entries are fewer than {}", allowed.start())),
        found if found > *allowed.end() => Err(format!("{found} entries are more than {}", allowed.end())),
        _ => Ok(()),
    }
}

/// Why a text is none of the values of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError(Cow<'static, str>);

impl From<&'static str> for ConversionError {
    fn from(what: &'static str) -> Self {
        Self(what.into())
    }
}

impl From<String> for ConversionError {
    fn from(what: String) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConversionError {}
