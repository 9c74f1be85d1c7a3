//! The strict schemas, which say what may be written.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, LazyLock, Mutex},
};

use jsonschema::Validator;
use serde_json::Value;

use super::generated;

type Validators = HashMap<(String, String), Arc<Validator>>;

static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

/// What is wrong with a value that is meant to be of this definition.
pub fn judge(revision: &str, definition: &str, value: &Value) -> Result<(), String> {
    match validator(revision, definition).validate(value) {
        Ok(()) => Ok(()),
        Err(error) => Err(format!("no {definition}: {error} at `{}`: {value}", error.instance_path())),
    }
}

fn validator(revision: &str, definition: &str) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let key = (revision.to_owned(), definition.to_owned());
    Arc::clone(validators.entry(key).or_insert_with(|| Arc::new(build(revision, definition))))
}

fn build(revision: &str, definition: &str) -> Validator {
    let file = generated().join("schema").join(revision).join("2020-12/strict/bundle.schema.json");
    let mut bundle: Value = serde_json::from_slice(&fs::read(file).expect("a bundle")).expect("JSON");
    bundle["$ref"] = format!("#/$defs/{definition}").into();
    jsonschema::draft202012::options().should_validate_formats(true).build(&bundle).expect("a schema")
}
