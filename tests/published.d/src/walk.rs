//! Which place in a message is which member of which definition.

use crate::source::Source;
use mcp_tasks_codegen::ir::{Choice, Content, Object, Shape, Tagged, Type};
use serde_json::Value;

/// A place in a message.
#[derive(Clone, Debug)]
pub struct Place {
    /// The JSON pointer to it.
    pub pointer: String,
    /// What it is: `Task.ttlMs`; `TaskIds[]` for an item, `InputRequests.{key}` for the value of a map, `Tool.{more}` for a
    /// member that has no name there, `CompletedTask.result.{any}` for whatever stands within free JSON.
    pub at: String,
    /// The definitions it stands within, outermost first.
    pub within: Vec<String>,
    /// The definitions its value is of: several for an arm of a union.
    pub definitions: Vec<String>,
    /// The members that have a name, for which order is that of the schema. All others keep the order they came in.
    pub named: Vec<String>,
}

/// All places of a message of a definition, the message itself first.
pub fn places(source: &Source, definition: &str, message: &Value) -> Vec<Place> {
    let root = Place {
        pointer: String::new(),
        at: definition.to_owned(),
        within: Vec::new(),
        definitions: Vec::new(),
        named: Vec::new(),
    };
    let mut walk = Walk { source, places: vec![root] };
    walk.definition(definition, message, 0);
    walk.places
}

struct Walk<'a> {
    source: &'a Source,
    places: Vec<Place>,
}

impl Walk<'_> {
    /// Goes into the value at the place of that index, which is of a type.
    fn value(&mut self, ty: &Type, value: &Value, place: usize) {
        match ty {
            Type::Named(name) => self.definition(name, value, place),
            Type::List(item) => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    let at = format!("{}[]", self.places[place].at);
                    let inner = self.enter(place, &index.to_string(), at);
                    self.value(item, value, inner);
                }
            }
            Type::Nullable(inner) if !value.is_null() => self.value(inner, value, place),
            Type::Any | Type::Free => self.free(value, place),
            _ => {}
        }
    }

    fn definition(&mut self, name: &str, value: &Value, place: usize) {
        let Some(definition) = self.source.revision.get(name) else { return };
        self.places[place].definitions.push(name.to_owned());
        match &definition.shape {
            Shape::Object(object) => self.object(name, object, value, place),
            Shape::Tagged(tagged) => {
                if let Some(target) = arm_by_tag(tagged, value) {
                    self.definition(target, value, place);
                }
            }
            Shape::Choice(choice) => {
                if let Some(arm) = self.arm_by_shape(choice, value) {
                    self.value(arm, value, place);
                }
            }
            Shape::Map(map) => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    let inner = self.enter(place, key, format!("{name}.{{key}}"));
                    self.value(&map.value, value, inner);
                }
            }
            Shape::List(list) => self.value(&Type::List(Box::new(list.item.clone())), value, place),
            Shape::Alias(ty) => self.value(ty, value, place),
            Shape::Enum(_) | Shape::Scalar(_) => {}
        }
    }

    fn object(&mut self, name: &str, object: &Object, value: &Value, place: usize) {
        self.places[place].named = object.fields.iter().map(|field| field.wire.clone()).collect();
        for (key, value) in value.as_object().into_iter().flatten() {
            match object.field(key) {
                Some(field) => {
                    let inner = self.enter(place, key, format!("{name}.{key}"));
                    if let Content::Typed(ty) = &field.content {
                        self.value(ty, value, inner);
                    }
                }
                None => {
                    let inner = self.enter(place, key, format!("{name}.{{more}}"));
                    self.free(value, inner);
                }
            }
        }
    }

    fn free(&mut self, value: &Value, place: usize) {
        let outer = &self.places[place].at;
        let at = if outer.ends_with(".{any}") { outer.clone() } else { format!("{outer}.{{any}}") };
        for (key, value) in members(value) {
            let inner = self.enter(place, &key, at.clone());
            self.free(value, inner);
        }
    }

    /// The index of a new place within another.
    fn enter(&mut self, outer: usize, step: &str, at: String) -> usize {
        let outer = &self.places[outer];
        let step = step.replace('~', "~0").replace('/', "~1");
        let pointer = format!("{}/{step}", outer.pointer);
        let within = outer.within.iter().chain(&outer.definitions).cloned().collect();
        self.places.push(Place { pointer, at, within, definitions: Vec::new(), named: Vec::new() });
        self.places.len() - 1
    }

    /// The arm that takes the value and names most of its members; the first of equals.
    fn arm_by_shape<'t>(&self, choice: &'t Choice, value: &Value) -> Option<&'t Type> {
        let fitting = choice.arms.iter().rev().filter(|arm| match arm {
            Type::Named(name) => self.source.fits(name, value),
            Type::List(_) => value.is_array(),
            // Plain values have nothing within, so which one it is does not matter.
            _ => !value.is_array() && !value.is_object(),
        });
        fitting.max_by_key(|arm| self.named_members(arm, value))
    }

    fn named_members(&self, arm: &Type, value: &Value) -> usize {
        let Type::Named(name) = arm else { return 0 };
        let Some(object) = self.source.revision.object(name) else { return 0 };
        object.fields.iter().filter(|field| value.get(&field.wire).is_some()).count()
    }
}

fn arm_by_tag<'t>(tagged: &'t Tagged, value: &Value) -> Option<&'t str> {
    let tag = value.get(&tagged.tag).and_then(Value::as_str).or(tagged.absent.as_deref())?;
    tagged.arms.iter().find(|arm| arm.value == tag).map(|arm| arm.target.as_str())
}

/// The members of an object or the items of a list, with the step that leads there.
fn members(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}
