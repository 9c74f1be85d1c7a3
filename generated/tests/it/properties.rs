//! Properties of all types: valid messages survive, and types and schemas agree on all others, save where we say so.

use crate::budget;
use crate::messages::{Definitions, Source, mutate};
use crate::revisions::{self, Revision};
use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How many messages of a definition are made in a round.
const CASES: u32 = 48;

/// Runs a property over messages made from bytes.
fn for_all(what: &str, property: impl Fn(&[u8]) -> Result<(), TestCaseError>) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    match TestRunner::new(config).run(&vec(any::<u8>(), 0..300), |bytes| property(&bytes)) {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{what}: {reason}"),
        Err(TestError::Abort(reason)) => panic!("{what}: given up: {reason}"),
    }
}

/// TSK-06: whatever the schema allows is read, and written again it is the same JSON, unknown members included; so any
/// value of any type survives being written and read.
#[test]
fn valid_messages_survive() {
    for () in budget::rounds() {
        for revision in &revisions::ALL {
            let definitions = Definitions::parse(revision.schema);
            for name in revision.names {
                for_all(&format!("{} {name}", revision.name), |bytes| {
                    let message = definitions.message(name, &mut Source::new(bytes));
                    survives(revision, name, &message)
                });
            }
        }
    }
}

fn survives(revision: &Revision, name: &str, message: &Value) -> Result<(), TestCaseError> {
    let fail = |what: String| TestCaseError::fail(format!("{what}\nof {message}"));
    let once = revision.recode(name, &message.to_string()).map_err(|error| fail(format!("refused: {error}")))?;
    let twice = revision.recode(name, &once).map_err(|error| fail(format!("{once} refused: {error}")))?;
    if once != twice {
        return Err(fail(format!("written {once} and then {twice}")));
    }
    match serde_json::from_str::<Value>(&once) {
        Ok(written) if written == *message => Ok(()),
        _ => Err(fail(format!("written {once}"))),
    }
}

/// Our types and our schema accept and refuse the same messages, save for the deviations below.
#[test]
fn types_and_schema_agree_on_changed_messages() {
    let agreements: Vec<_> = revisions::ALL.iter().map(|revision| (revision, Agreement::of(revision, None))).collect();
    for () in budget::rounds() {
        for (revision, agreement) in &agreements {
            let definitions = Definitions::parse(revision.schema);
            for name in revision.names {
                for_all(&format!("{} {name}", revision.name), |bytes| {
                    let mut source = Source::new(bytes);
                    let count = bytes.len() % 3 + 1;
                    let mut message = definitions.message(name, &mut source);
                    (0..count).for_each(|_| mutate(&mut message, &mut source));
                    agreement.check(name, &message).map_err(TestCaseError::fail)
                });
            }
        }
    }
}

/// Each deviation is one still: without it, types and schema disagree on its witness.
#[test]
fn each_deviation_is_needed() {
    for revision in &revisions::ALL {
        let all = Agreement::of(revision, None);
        for (index, deviation) in DEVIATIONS.iter().enumerate().filter(|(_, one)| one.revision == revision.name) {
            let witness = serde_json::from_str(deviation.witness).expect("a witness is JSON");
            let (what, name) = (deviation.what, deviation.definition);
            assert_eq!(all.check(name, &witness), Ok(()), "{what}");
            let without = Agreement::of(revision, Some(index));
            assert!(without.check(name, &witness).is_err(), "{}: {what}: is no deviation any more", revision.name);
        }
    }
}

/// A value on which the union of shapes is stricter than `anyOf`: the arm that is recognised has to hold.
#[test]
fn a_recognised_arm_has_to_hold() {
    let revision = &revisions::ALL[1];
    for (name, message) in [
        ("PrimitiveSchemaDefinition", r#"{"type":"string","enum":5}"#),
        ("EmbeddedResourceResource", r#"{"uri":"a:b","text":5,"blob":""}"#),
        ("InputResponse", r#"{"action":"accept","content":5,"roots":[]}"#),
    ] {
        assert!(
            validator(&Definitions::parse(revision.schema).0, name).is_valid(&serde_json::from_str(message).unwrap())
        );
        let error = revision.recode(name, message).expect_err(message).to_string();
        assert!(is_recognised_arm(&error), "{name} {message}: {error}");
    }
}

/// Whether an error is about an arm of a union that only its shape tells apart.
fn is_recognised_arm(error: &str) -> bool {
    ["PrimitiveSchemaDefinition: ", "EmbeddedResourceResource: ", "InputResponse: "]
        .iter()
        .any(|arm| error.contains(arm))
}

/// Where the types are meant to differ from the schema.
struct Deviation {
    revision: &'static str,
    what: &'static str,
    /// What the schema would have to say to agree with the types.
    apply: fn(&mut Definitions),
    /// A message on which they differ.
    definition: &'static str,
    witness: &'static str,
}

const NEWEST: &str = "2026-07-28";

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        revision: NEWEST,
        what: "an absent `resultType` reads as `complete` (RES-04)",
        apply: |definitions| {
            for name in ORDINARY_RESULTS.iter().chain(&POLL_RESULTS) {
                definitions.relax(name, "resultType", |member| member.absent());
            }
        },
        definition: "CancelTaskResult",
        witness: "{}",
    },
    Deviation {
        revision: NEWEST,
        what: "`resultType` `task` is read on the answer to a poll (RES-02)",
        apply: |definitions| {
            for name in &POLL_RESULTS {
                definitions.relax(name, "resultType", |member| member.also("task"));
            }
        },
        definition: "CancelledTaskResult",
        witness: r#"{"resultType":"task","taskId":"t","status":"cancelled","createdAt":"","lastUpdatedAt":"","ttlMs":1}"#,
    },
    Deviation {
        revision: NEWEST,
        what: "a status that is not known is kept",
        apply: |definitions| definitions.set("TaskStatus", json!({ "type": "string" })),
        definition: "TaskStatus",
        witness: r#""paused""#,
    },
    Deviation {
        revision: NEWEST,
        what: "a message whose tag is not known is kept, its common members typed",
        apply: |definitions| {
            for (name, tag) in OPEN_UNIONS {
                definitions.open(name, tag);
            }
        },
        definition: "ContentBlock",
        witness: r#"{"type":"hologram"}"#,
    },
    Deviation {
        revision: NEWEST,
        what: "input responses are not looked into (UPD-02)",
        apply: |definitions| definitions.set("InputResponses", json!({ "type": "object" })),
        definition: "InputResponses",
        witness: r#"{"nobody asked":5}"#,
    },
    Deviation {
        revision: NEWEST,
        what: "no input request at all is read",
        apply: |definitions| drop(definitions.0["InputRequests"].as_object_mut().unwrap().remove("minProperties")),
        definition: "InputRequests",
        witness: "{}",
    },
    Deviation {
        revision: NEWEST,
        what: "integers have 64 bits",
        apply: |definitions| definitions.0.values_mut().for_each(bound),
        definition: "ErrorCode",
        witness: "9223372036854775808",
    },
    Deviation {
        revision: "2025-11-25",
        what: "a status that is not known is kept",
        apply: |definitions| definitions.set("TaskStatus", json!({ "type": "string" })),
        definition: "TaskStatus",
        witness: r#""paused""#,
    },
    Deviation {
        revision: "2025-11-25",
        what: "integers have 64 bits",
        apply: |definitions| definitions.0.values_mut().for_each(bound),
        definition: "ErrorCode",
        witness: "9223372036854775808",
    },
];

const ORDINARY_RESULTS: [&str; 5] =
    ["CallToolResult", "UpdateTaskResult", "CancelTaskResult", "SubscriptionsListenResult", "DiscoverResult"];

const POLL_RESULTS: [&str; 5] =
    ["WorkingTaskResult", "InputRequiredTaskResult", "CompletedTaskResult", "FailedTaskResult", "CancelledTaskResult"];

const OPEN_UNIONS: [(&str, &str); 6] = [
    ("DetailedTask", "status"),
    ("GetTaskResult", "status"),
    ("TaskStatusNotificationParams", "status"),
    ("InputRequest", "method"),
    ("ContentBlock", "type"),
    ("SamplingMessageContentBlock", "type"),
];

/// A member of an object, to be read more leniently.
struct Member<'a> {
    schema: &'a mut Value,
    required: &'a mut Vec<String>,
    name: &'a str,
}

impl Member<'_> {
    fn absent(self) {
        self.required.retain(|name| name != self.name);
    }

    fn also(self, text: &str) {
        *self.schema = json!({ "enum": [self.schema.get("const"), text] });
    }
}

impl Definitions {
    fn set(&mut self, name: &str, schema: Value) {
        assert!(self.0.insert(name.to_owned(), schema).is_some(), "{name} is defined");
    }

    /// Writes an object out as one and changes a member.
    fn relax(&mut self, name: &str, member: &str, how: fn(Member<'_>)) {
        let (mut properties, mut required) = self.members(&self.0[name]);
        how(Member { schema: &mut properties[member], required: &mut required, name: member });
        self.set(name, json!({ "type": "object", "properties": properties, "required": required }));
    }

    /// Adds an arm for tags that are not known; members that are the same in all arms keep their type in it.
    fn open(&mut self, name: &str, tag: &str) {
        let arms = self.0[name]["oneOf"].as_array().expect("an open union is a `oneOf`").clone();
        let members: Vec<_> = arms.iter().map(|arm| self.members(arm).0).collect();
        let tags: Vec<_> = members.iter().map(|arm| arm[tag]["const"].clone()).collect();
        let mut common = members[0].clone();
        common.retain(|key, schema| members.iter().all(|arm| arm.get(key) == Some(schema)));
        if let Some(result_type) = common.get_mut("resultType") {
            *result_type = json!({ "type": "string" });
        }
        common.insert(tag.to_owned(), json!({ "type": "string", "not": { "enum": tags } }));
        let other = json!({ "type": "object", "properties": common, "required": [tag] });
        self.set(name, json!({ "oneOf": arms.into_iter().chain([other]).collect::<Vec<_>>() }));
    }
}

/// Gives integers without bounds those of 64 bits.
fn bound(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type") == Some(&json!("integer")) && !members.contains_key("const") {
                members.entry("minimum").or_insert(i64::MIN.into());
                members.entry("maximum").or_insert(i64::MAX.into());
            }
            members.values_mut().for_each(bound);
        }
        Value::Array(items) => items.iter_mut().for_each(bound),
        _ => {}
    }
}

/// The types of a revision, and a validator for each that says what they should accept.
struct Agreement<'a> {
    revision: &'a Revision,
    validators: BTreeMap<&'a str, Validator>,
}

impl<'a> Agreement<'a> {
    fn of(revision: &'a Revision, without: Option<usize>) -> Self {
        let mut definitions = Definitions::parse(revision.schema);
        let deviations = DEVIATIONS.iter().enumerate().filter(|(index, _)| Some(*index) != without);
        for (_, deviation) in deviations.filter(|(_, deviation)| deviation.revision == revision.name) {
            (deviation.apply)(&mut definitions);
        }
        let validators = revision.names.iter().map(|name| (*name, validator(&definitions.0, name))).collect();
        Self { revision, validators }
    }

    fn check(&self, name: &str, message: &Value) -> Result<(), String> {
        let read = self.revision.recode(name, &message.to_string());
        match (read, self.validators[name].validate(message)) {
            (Ok(_), Ok(())) | (Err(_), Err(_)) => Ok(()),
            (Ok(written), Err(error)) => {
                Err(format!("read {message}\nas {written}\nwhich the schema refuses: {error}"))
            }
            (Err(error), Ok(())) if is_recognised_arm(&error.to_string()) => Ok(()),
            (Err(error), Ok(())) => Err(format!("refused {message}\nwhich the schema allows: {error}")),
        }
    }
}

/// A validator for one definition; it carries no more than that one needs.
fn validator(definitions: &Map<String, Value>, name: &str) -> Validator {
    let (mut needed, mut wanted) = (Map::new(), vec![name.to_owned()]);
    while let Some(name) = wanted.pop() {
        if !needed.contains_key(&name) {
            let schema = definitions[&name].clone();
            references(&schema, &mut wanted);
            needed.insert(name, schema);
        }
    }
    let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": needed });
    jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => members.iter().for_each(|(key, value)| match (key.as_str(), value.as_str()) {
            ("$ref", Some(text)) => found.extend(text.strip_prefix("#/$defs/").map(str::to_owned)),
            _ => references(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
