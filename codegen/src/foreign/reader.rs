//! Reads JSON Schema into the tree, or says what it does not understand.
//!
//! A schema may make several kinds of statement at once: refer to another, describe its own values, join or choose others.
//! Each is a facet, and several facets are an `allOf`, so that the passes meet every combination in one form.

use super::keywords::{
    ARRAY, DEFINITIONS, INTEGER_FORMATS, Kind, NUMBER_FORMATS, OBJECT, ROOT, STRING_FORMATS, is_nothing, is_understood,
    typed, unknown,
};
use super::references::Targets;
use super::schema::{
    Bounds, Definitions, List, Map, Notes, Object, Place, Scalar, ScalarKind, Schema, Shape, Union, UnionKeyword,
    one_or,
};
use crate::document::Document;
use crate::error::{Error, Problem, Problems};
use serde_json::{Map as JsonMap, Number, Value};

type Json = JsonMap<String, Value>;

/// How deep schemas may stand in each other: far deeper than any that is published, and harmless to a small stack.
const MAX_DEPTH: usize = 64;

/// The definitions of one document.
pub(super) fn read(document: &Document, targets: &Targets) -> Result<Definitions, Error> {
    let place = Place::root(&document.file);
    let Value::Object(root) = &document.root else {
        return Err(place.problem("a schema document is a JSON object").into());
    };
    let mut reader = Reader { targets, problems: Problems::default(), depth: 0 };
    reader.refuse_at_root(root, &place);
    let mut definitions = Definitions::new();
    for keyword in DEFINITIONS {
        for (name, schema) in reader.entries(root, keyword, &place) {
            if definitions.insert(name.clone(), schema).is_some() {
                let message = format!("`{name}` is defined under `$defs` and under `definitions`");
                reader.problems.push(place.step(keyword).step(&name).problem(message));
            }
        }
    }
    if definitions.is_empty() {
        reader.problems.push(place.problem("the document defines nothing").help("put named schemas under `$defs`"));
    }
    reader.problems.finish(definitions)
}

/// Reads on after a problem, so that all of them are found; what could not be read counts as any JSON until then.
struct Reader<'a> {
    targets: &'a Targets,
    problems: Problems,
    depth: usize,
}

impl Reader<'_> {
    fn refuse_at_root(&mut self, root: &Json, place: &Place) {
        for keyword in root.keys().map(String::as_str) {
            if !ROOT.contains(&keyword) && !DEFINITIONS.contains(&keyword) {
                let message = format!("the keyword `{keyword}` is not understood at the root of a document");
                let help = "give the root's schema a name under `$defs`";
                self.problems.push(place.step(keyword).problem(message).help(help));
            }
        }
    }

    /// A schema: each kind of statement in it is one facet, and a value has to agree with all facets.
    fn schema(&mut self, value: &Value, place: &Place) -> Schema {
        let any = Schema::new(place.clone(), Shape::Any);
        let Value::Object(json) = value else {
            self.problems.push(not_an_object(value, place));
            return any;
        };
        if self.depth == MAX_DEPTH {
            self.problems.push(place.problem(format!("schemas stand more than {MAX_DEPTH} deep in each other")));
            return any;
        }
        self.depth += 1;
        self.refuse_unknown(json, place);
        let notes =
            Notes { title: self.text(json, "title", place), description: self.text(json, "description", place) };
        let facets = self.facets(json, place);
        self.depth -= 1;
        let whole = one_or(facets, |facets| Schema::new(place.clone(), Shape::All(facets))).unwrap_or(any);
        Schema { notes: notes.or(whole.notes), ..whole }
    }

    fn refuse_unknown(&mut self, json: &Json, place: &Place) {
        for keyword in json.keys().filter(|keyword| !is_understood(keyword)) {
            self.problems.push(unknown(keyword, &place.step(keyword)));
        }
    }

    fn facets(&mut self, json: &Json, place: &Place) -> Vec<Schema> {
        let mut facets = Vec::new();
        facets.extend(self.reference(json, place));
        facets.extend(self.own(json, place).map(|shape| Schema::new(place.clone(), shape)));
        facets.extend(self.schemas(json, "allOf", place));
        for (name, keyword) in [("anyOf", UnionKeyword::AnyOf), ("oneOf", UnionKeyword::OneOf)] {
            let arms = self.schemas(json, name, place);
            if !arms.is_empty() {
                facets.push(Schema::new(place.clone(), Shape::Union(Union { keyword, arms })));
            }
        }
        facets
    }

    fn reference(&mut self, json: &Json, place: &Place) -> Option<Schema> {
        let text = self.text(json, "$ref", place)?;
        match self.targets.name(&text, &place.step("$ref")) {
            Ok(name) => Some(Schema::reference(place.clone(), name)),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// What the schema itself says about values: `type`, the keywords of types, `const` and `enum`.
    fn own(&mut self, json: &Json, place: &Place) -> Option<Shape> {
        let kinds = self.kinds(json, place);
        self.refuse_idle(json, &kinds, place);
        if let Some(values) = self.values(json, &kinds, place) {
            return Some(values);
        }
        let shapes = kinds.iter().map(|kind| self.of_kind(*kind, json, place)).collect();
        one_or(shapes, |shapes| any_of(shapes, place))
    }

    /// The types a value may have. Where `type` is missing the keywords tell: every published file that leaves it out
    /// beside `properties` means objects.
    fn kinds(&mut self, json: &Json, place: &Place) -> Vec<Kind> {
        let mention = |keywords: &[&str]| keywords.iter().any(|keyword| json.contains_key(*keyword));
        match json.get("type") {
            Some(Value::String(name)) => self.kind(name, place).into_iter().collect(),
            Some(Value::Array(names)) if !names.is_empty() => {
                let names = self.names(json, "type", place);
                names.iter().filter_map(|name| self.kind(name, place)).collect()
            }
            Some(other) => {
                self.expect("type", "a type or a list of types", other, place);
                Vec::new()
            }
            None if mention(&OBJECT) => vec![Kind::Object],
            None if mention(&ARRAY) => vec![Kind::Array],
            None => Vec::new(),
        }
    }

    fn kind(&mut self, name: &str, place: &Place) -> Option<Kind> {
        let kind = Kind::named(name);
        if kind.is_none() {
            self.problems.push(place.step("type").problem(format!("there is no type `{name}` in JSON Schema")));
        }
        kind
    }

    /// A keyword for a type that no value here can have is a slip of the pen, if not a loss of meaning.
    fn refuse_idle(&mut self, json: &Json, kinds: &[Kind], place: &Place) {
        let fixed = json.contains_key("const") || json.contains_key("enum");
        if kinds.is_empty() && json.contains_key("type") {
            return;
        }
        for keyword in typed().filter(|keyword| json.contains_key(*keyword)) {
            if fixed || !kinds.iter().any(|kind| kind.keywords().contains(&keyword)) {
                let problem = place.step(keyword).problem(format!("`{keyword}` adds nothing to what is allowed here"));
                self.problems.push(problem.help("leave it out, or write the `type` it is for"));
            }
        }
    }

    /// `const`, or `enum` as far as it lists strings, `null`, or one integer.
    fn values(&mut self, json: &Json, kinds: &[Kind], place: &Place) -> Option<Shape> {
        let (keyword, values) = match (json.get("const"), json.get("enum")) {
            (Some(value), None) => ("const", std::slice::from_ref(value)),
            (None, Some(Value::Array(values))) => ("enum", values.as_slice()),
            (None, Some(other)) => {
                self.expect("enum", "a list of values", other, place);
                return None;
            }
            (Some(_), Some(_)) => {
                self.problems
                    .push(place.problem("`const` and `enum` stand beside each other").help("keep the `const`"));
                return None;
            }
            (None, None) => return None,
        };
        let place = place.step(keyword);
        if let Some(value) = values.iter().find(|value| !kinds.is_empty() && !includes(kinds, value)) {
            self.problems.push(place.problem(format!("{value} is not of the `type` beside it")));
        }
        let shape = fixed(values, &place);
        if shape.is_none() {
            let message = format!("only strings, `null` and a single integer are understood in `{keyword}`");
            self.problems.push(place.problem(message));
        }
        self.refuse_duplicates(values, &place);
        shape
    }

    fn refuse_duplicates(&mut self, values: &[Value], place: &Place) {
        for (index, value) in values.iter().enumerate() {
            if values.iter().take(index).any(|earlier| earlier == value) {
                self.problems.push(place.step(&index.to_string()).problem(format!("{value} is listed twice")));
            }
        }
    }

    fn of_kind(&mut self, kind: Kind, json: &Json, place: &Place) -> Shape {
        match kind {
            Kind::Null => Shape::Null,
            Kind::Boolean => Shape::Scalar(Scalar::plain(ScalarKind::Boolean)),
            Kind::Integer => self.number(ScalarKind::Integer, json, place),
            Kind::Number => self.number(ScalarKind::Number, json, place),
            Kind::String => self.string(json, place),
            Kind::Array => self.list(json, place),
            Kind::Object => self.object(json, place),
        }
    }

    fn number(&mut self, kind: ScalarKind, json: &Json, place: &Place) -> Shape {
        let formats = if kind == ScalarKind::Integer { &INTEGER_FORMATS[..] } else { &NUMBER_FORMATS };
        Shape::Scalar(Scalar {
            format: self.format(json, formats, place),
            minimum: self.limit(json, "minimum", place),
            maximum: self.limit(json, "maximum", place),
            ..Scalar::plain(kind)
        })
    }

    fn string(&mut self, json: &Json, place: &Place) -> Shape {
        Shape::Scalar(Scalar {
            format: self.format(json, &STRING_FORMATS, place),
            length: self.bounds(json, ["minLength", "maxLength"], place),
            ..Scalar::plain(ScalarKind::String)
        })
    }

    fn format(&mut self, json: &Json, known: &[&str], place: &Place) -> Option<String> {
        let format = self.text(json, "format", place)?;
        if !known.contains(&format.as_str()) {
            let message = format!("the format `{format}` is not understood for this type");
            let help = format!("understood here: {}", known.join(", "));
            self.problems.push(place.step("format").problem(message).help(help));
        }
        Some(format)
    }

    fn list(&mut self, json: &Json, place: &Place) -> Shape {
        let place_of_items = place.step("items");
        let item = match json.get("items") {
            None | Some(Value::Bool(true)) => Schema::new(place_of_items, Shape::Any),
            Some(items) => self.schema(items, &place_of_items),
        };
        Shape::List(List { item: Box::new(item), bounds: self.bounds(json, ["minItems", "maxItems"], place) })
    }

    /// With properties or requirements it is an object whose keys are fields, and otherwise a map.
    fn object(&mut self, json: &Json, place: &Place) -> Shape {
        self.check_property_names(json, place);
        let properties: indexmap::IndexMap<_, _> = self.entries(json, "properties", place).into_iter().collect();
        let required = self.names(json, "required", place);
        let bounds = self.bounds(json, ["minProperties", "maxProperties"], place);
        let rest = self.additional(json, place);
        match rest {
            Some(value) if properties.is_empty() && required.is_empty() => {
                Shape::Map(Map { value: Box::new(value), bounds })
            }
            Some(value) if !matches!(value.shape, Shape::Any) => {
                let message = "`properties` or `required` beside a schema for all other properties is not supported";
                self.problems.push(value.place.problem(message).help("write `additionalProperties: true` here"));
                Shape::Any
            }
            rest => {
                self.refuse_bounded_fields(json, bounds, place);
                Shape::Object(Object { properties, required, open: rest.is_some() })
            }
        }
    }

    fn refuse_bounded_fields(&mut self, json: &Json, bounds: Bounds, place: &Place) {
        for keyword in ["minProperties", "maxProperties"] {
            if !bounds.is_empty() && json.contains_key(keyword) {
                let message = format!("`{keyword}` is understood for maps only, and this object has fields");
                self.problems.push(place.step(keyword).problem(message));
            }
        }
    }

    /// The schema of further properties, or `None` where none are allowed.
    fn additional(&mut self, json: &Json, place: &Place) -> Option<Schema> {
        let place = place.step("additionalProperties");
        match json.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Some(Schema::new(place, Shape::Any)),
            Some(Value::Bool(false)) => None,
            Some(value) if is_nothing(value) => None,
            Some(value) => Some(self.schema(value, &place)),
        }
    }

    /// The keys of JSON are strings, so to say so says nothing; anything more would be lost.
    fn check_property_names(&mut self, json: &Json, place: &Place) {
        let Some(names) = json.get("propertyNames") else { return };
        let harmless = names.as_object().is_some_and(|names| {
            names.iter().all(|(keyword, value)| keyword == "$schema" || (keyword == "type" && value == "string"))
        });
        if !harmless {
            let message = "`propertyNames` is understood as `{\"type\": \"string\"}` only";
            self.problems.push(place.step("propertyNames").problem(message));
        }
    }

    fn entries(&mut self, json: &Json, keyword: &str, place: &Place) -> Vec<(String, Schema)> {
        let place_of = place.step(keyword);
        match json.get(keyword) {
            None => Vec::new(),
            Some(Value::Object(entries)) => {
                entries.iter().map(|(name, value)| (name.clone(), self.schema(value, &place_of.step(name)))).collect()
            }
            Some(other) => {
                self.expect(keyword, "an object of schemas", other, place);
                Vec::new()
            }
        }
    }

    fn schemas(&mut self, json: &Json, keyword: &str, place: &Place) -> Vec<Schema> {
        let place_of = place.step(keyword);
        match json.get(keyword) {
            None => Vec::new(),
            Some(Value::Array(values)) if !values.is_empty() => {
                let numbered = values.iter().enumerate();
                numbered.map(|(index, value)| self.schema(value, &place_of.step(&index.to_string()))).collect()
            }
            Some(other) => {
                self.expect(keyword, "a list of at least one schema", other, place);
                Vec::new()
            }
        }
    }

    fn names(&mut self, json: &Json, keyword: &str, place: &Place) -> Vec<String> {
        let names = match json.get(keyword) {
            None => return Vec::new(),
            Some(Value::Array(values)) => values.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
            Some(_) => None,
        };
        let names: Vec<String> = names.unwrap_or_else(|| {
            self.problems.push(place.step(keyword).problem(format!("`{keyword}` is a list of strings")));
            Vec::new()
        });
        self.refuse_duplicates(
            &names.iter().map(|name| name.as_str().into()).collect::<Vec<_>>(),
            &place.step(keyword),
        );
        names
    }

    fn text(&mut self, json: &Json, keyword: &str, place: &Place) -> Option<String> {
        let value = json.get(keyword)?;
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.expect(keyword, "a string", value, place);
        }
        text
    }

    fn limit(&mut self, json: &Json, keyword: &str, place: &Place) -> Option<Number> {
        let value = json.get(keyword)?;
        let number = value.as_number().cloned();
        if number.is_none() {
            self.expect(keyword, "a number", value, place);
        }
        number
    }

    fn bounds(&mut self, json: &Json, [min, max]: [&str; 2], place: &Place) -> Bounds {
        Bounds { min: self.count(json, min, place), max: self.count(json, max, place) }
    }

    fn count(&mut self, json: &Json, keyword: &str, place: &Place) -> Option<u64> {
        let value = json.get(keyword)?;
        let count = value.as_u64();
        if count.is_none() {
            self.expect(keyword, "a whole number that is not negative", value, place);
        }
        count
    }

    fn expect(&mut self, keyword: &str, expected: &str, found: &Value, place: &Place) {
        let message = format!("`{keyword}` is {expected}, not {}", describe(found));
        self.problems.push(place.step(keyword).problem(message));
    }
}

fn includes(kinds: &[Kind], value: &Value) -> bool {
    kinds.iter().any(|kind| kind.includes(Kind::of(value)))
}

/// The shape that allows exactly these values, if there is one.
fn fixed(values: &[Value], place: &Place) -> Option<Shape> {
    let strings: Vec<String> = values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
    let rest: Vec<&Value> = values.iter().filter(|value| !value.is_string()).collect();
    let mut shapes = Vec::new();
    match (strings.as_slice(), rest.as_slice()) {
        ([], [value]) if Kind::of(value) == Kind::Integer => return Some(Shape::Const((*value).clone())),
        ([only], _) => shapes.push(Shape::Const(only.as_str().into())),
        ([], _) => {}
        _ => shapes.push(Shape::Enum(strings)),
    }
    match rest.as_slice() {
        [] => {}
        [Value::Null] => shapes.push(Shape::Null),
        _ => return None,
    }
    one_or(shapes, |shapes| any_of(shapes, place))
}

fn any_of(shapes: Vec<Shape>, place: &Place) -> Shape {
    let arms = shapes.into_iter().map(|shape| Schema::new(place.clone(), shape)).collect();
    Shape::Union(Union { keyword: UnionKeyword::AnyOf, arms })
}

fn not_an_object(value: &Value, place: &Place) -> Problem {
    match value {
        Value::Bool(_) => place
            .problem(format!("the schema `{value}` is understood as `additionalProperties` or `items` only"))
            .help("write `{}` where any value is meant"),
        _ => place.problem(format!("a schema is an object, not {}", describe(value))),
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(values) if values.is_empty() => "an empty list",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, definition, problems};
    use serde_json::{Value, json};

    /// The pointers, within the definition, of what is refused.
    fn refused(schema: Value) -> Vec<String> {
        let found = problems(json!({"$defs": {"X": schema}}));
        let pointer =
            |problem: &String| problem.strip_prefix("0.json#/$defs/X")?.split_once(": ").map(|(at, _)| at.into());
        found.iter().filter_map(pointer).collect()
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name_and_all_at_once() {
        let found = problems(json!({"$defs": {"X": {
            "type": "object",
            "patternProperties": {}, "if": {}, "unevaluatedProperties": false, "dependentRequired": {}, "$anchor": "x",
            "properties": {"a/b": {"type": "string", "pattern": "x"}, "c": {"type": "array", "prefixItems": []}},
        }}}));
        let refused: Vec<&str> =
            found.iter().filter_map(|problem| problem.split_once(": ")?.0.split_once('#')).map(|(_, at)| at).collect();
        assert_eq!(
            refused,
            [
                "/$defs/X/$anchor",
                "/$defs/X/dependentRequired",
                "/$defs/X/if",
                "/$defs/X/patternProperties",
                "/$defs/X/properties/a~1b/pattern",
                "/$defs/X/properties/c/prefixItems",
                "/$defs/X/unevaluatedProperties",
            ]
        );
        assert!(found.contains(&"0.json#/$defs/X/if: the keyword `if` is not understood".to_owned()));
    }

    #[test]
    fn values_of_the_wrong_type_are_refused() {
        for (schema, pointer) in [
            (json!({"properties": []}), "/properties"),
            (json!({"properties": {"a": true}}), "/properties/a"),
            (json!({"properties": {"a": 1}}), "/properties/a"),
            (json!({"properties": {"a": {}}, "required": ["a", 1]}), "/required"),
            (json!({"properties": {"a": {}}, "required": ["a", "a"]}), "/required/1"),
            (json!({"type": "text"}), "/type"),
            (json!({"type": []}), "/type"),
            (json!({"type": "array", "items": [{}]}), "/items"),
            (json!({"type": "array", "minItems": -1}), "/minItems"),
            (json!({"type": "integer", "minimum": "0"}), "/minimum"),
            (json!({"type": "string", "format": "colour"}), "/format"),
            (json!({"type": "integer", "format": "date"}), "/format"),
            (json!({"type": "integer", "minLength": 1}), "/minLength"),
            (json!({"enum": ["a", "a"]}), "/enum/1"),
            (json!({"enum": [1, 2]}), "/enum"),
            (json!({"enum": []}), "/enum"),
            (json!({"const": true}), "/const"),
            (json!({"type": "integer", "const": "a"}), "/const"),
            (json!({"anyOf": []}), "/anyOf"),
            (json!({"title": 1}), "/title"),
            (json!({"type": "object", "propertyNames": {"pattern": "x"}}), "/propertyNames"),
            (json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}), "/additionalProperties"),
            (json!({"properties": {"a": {}}, "minProperties": 1}), "/minProperties"),
            (json!({"$ref": "other.json#/$defs/Y"}), "/$ref"),
            (json!({"$ref": "#/$defs/X/properties/a"}), "/$ref"),
            (json!({"$defs": {}}), "/$defs"),
        ] {
            assert_eq!(refused(schema.clone()), [pointer], "{schema}");
        }
    }

    #[test]
    fn a_document_is_an_object_of_definitions() {
        assert_eq!(problems(json!([])).len(), 1);
        assert_eq!(problems(json!({"$schema": "x"})).len(), 1);
        assert_eq!(problems(json!({"$defs": {"X": {"type": "string"}}, "oneOf": []})).len(), 1);
        assert_eq!(problems(json!({"$defs": {"X": {}}, "definitions": {"X": {}}})).len(), 1);
    }

    #[test]
    fn what_says_nothing_about_values_is_dropped() {
        let schema = json!({"$schema": "x", "$comment": "x", "default": 1, "examples": [2], "deprecated": true,
            "title": "Size", "description": "How big.", "type": "integer", "format": "int", "minimum": 0});
        let kept =
            json!({"title": "Size", "description": "How big.", "type": "integer", "format": "int", "minimum": 0});
        assert_eq!(definition(schema), kept);
    }

    #[test]
    fn closed_open_and_free_objects_are_told_apart() {
        let map = |rest: Value| {
            definition(json!({"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": rest}))
        };
        let free = json!({"type": "object", "additionalProperties": true});
        let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        assert_eq!(map(json!(true)), free);
        assert_eq!(map(json!({})), free);
        assert_eq!(map(json!(false)), closed);
        assert_eq!(map(json!({"not": {}})), closed);
        assert_eq!(definition(json!({"type": "object", "properties": {}})), free);
    }

    #[test]
    fn definitions_under_their_older_name_are_found_and_keep_their_place() {
        let root = json!({"definitions": {"A": {"$ref": "#/definitions/B%20c"}, "B c": {"type": "string"}}});
        let defs = canonical(&[root]);
        assert_eq!(defs["A"], json!({"$ref": "#/$defs/B c"}));
    }

    #[test]
    fn depth_is_limited() {
        let nested =
            |levels| (0..levels).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        assert!(problems(json!({"$defs": {"X": nested(60)}})).is_empty());
        assert_eq!(problems(json!({"$defs": {"X": nested(100)}})).len(), 1);
    }
}
