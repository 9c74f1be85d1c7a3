//! Shows a form at the terminal and waits for the answers: the only place that prompts for a field.

use inquire::{
    Confirm, InquireError, MultiSelect, Select, Text,
    list_option::ListOption,
    validator::{ErrorMessage, Validation},
};
use serde_json::{Map, Value};

use super::field::{Choice, Field, Kind, fields};

/// What the user did with a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Filled in the form.
    Accept(Map<String, Value>),
    /// Said no.
    Decline,
    /// Would not say.
    Cancel,
    /// Pressed Ctrl-C: means the task, not the question.
    Interrupted,
}

/// Why a field has no value yet.
enum Stop {
    /// Escape.
    Back,
    Interrupted,
}

type Asked<T> = Result<T, Stop>;

const WAYS: &str = "Esc to decline or cancel";

/// Asks for every field of `schema`; where there is none, whether the user agrees.
///
/// Blocks the thread.
///
/// # Errors
/// If the terminal cannot be used.
pub fn ask(schema: &Value) -> Result<Answer, InquireError> {
    let fields = fields(schema);
    if fields.is_empty() {
        return agree();
    }
    'form: loop {
        let mut content = Map::new();
        for field in &fields {
            match stopped(ask_field(field))? {
                Ok(Some(value)) => {
                    content.insert(field.name.clone(), value);
                }
                Ok(None) => {}
                Err(Stop::Interrupted) => return Ok(Answer::Interrupted),
                Err(Stop::Back) => match leave()? {
                    Some(answer) => return Ok(answer),
                    None => continue 'form,
                },
            }
        }
        return Ok(Answer::Accept(content));
    }
}

/// A question without a form: yes or no.
fn agree() -> Result<Answer, InquireError> {
    match stopped(Confirm::new("Do you agree?").with_help_message("y, n, or Esc to cancel").prompt())? {
        Ok(true) => Ok(Answer::Accept(Map::new())),
        Ok(false) => Ok(Answer::Decline),
        Err(Stop::Back) => Ok(Answer::Cancel),
        Err(Stop::Interrupted) => Ok(Answer::Interrupted),
    }
}

/// Whoever leaves a form means one of two things, and the server is told which. `None`: back to the form.
fn leave() -> Result<Option<Answer>, InquireError> {
    const BACK: &str = "Back to the form";
    const DECLINE: &str = "Decline: say no to the server";
    const CANCEL: &str = "Cancel: close the form without saying either";
    let choice = Select::new("Leave the form?", vec![BACK, DECLINE, CANCEL]).without_filtering().prompt();
    Ok(match stopped(choice)? {
        Ok(DECLINE) => Some(Answer::Decline),
        Ok(CANCEL) => Some(Answer::Cancel),
        Err(Stop::Interrupted) => Some(Answer::Interrupted),
        Ok(_) | Err(Stop::Back) => None,
    })
}

/// Tells what the user did from what is wrong with the terminal.
fn stopped<T>(prompted: Result<T, InquireError>) -> Result<Asked<T>, InquireError> {
    match prompted {
        Ok(value) => Ok(Ok(value)),
        Err(InquireError::OperationCanceled) => Ok(Err(Stop::Back)),
        Err(InquireError::OperationInterrupted) => Ok(Err(Stop::Interrupted)),
        Err(error) => Err(error),
    }
}

fn ask_field(field: &Field) -> Result<Option<Value>, InquireError> {
    match &field.kind {
        Kind::One(choices) => ask_one(field, choices),
        Kind::Several { choices, .. } => ask_several(field, choices),
        Kind::Boolean if field.required || field.default.is_some() => ask_whether(field),
        Kind::Boolean => ask_one(field, &yes_or_no()).map(|value| value.map(|value| Value::Bool(value == "true"))),
        Kind::Text { .. } | Kind::Integer { .. } | Kind::Number { .. } | Kind::Json => ask_text(field),
    }
}

fn yes_or_no() -> [Choice; 2] {
    [("true", "yes"), ("false", "no")].map(|(value, title)| Choice { value: value.to_owned(), title: title.to_owned() })
}

fn help(field: &Field) -> String {
    field.hint().map_or_else(|| WAYS.to_owned(), |hint| format!("{hint} ({WAYS})"))
}

fn ask_text(field: &Field) -> Result<Option<Value>, InquireError> {
    let (help, label, default) = (help(field), format!("{}:", field.label), field.default_text());
    let checked = field.clone();
    let mut prompt = Text::new(&label).with_help_message(&help).with_validator(move |written: &str| {
        Ok(match checked.parse(written) {
            Ok(_) => Validation::Valid,
            Err(why) => Validation::Invalid(ErrorMessage::Custom(why)),
        })
    });
    if let Some(default) = &default {
        prompt = prompt.with_default(default);
    }
    let written = prompt.prompt()?;
    // It was valid when the prompt let it through.
    Ok(field.parse(&written).ok().flatten())
}

fn ask_whether(field: &Field) -> Result<Option<Value>, InquireError> {
    let (help, label) = (help(field), format!("{}?", field.label.trim_end_matches('?')));
    let mut prompt = Confirm::new(&label).with_help_message(&help);
    if let Some(default) = field.default.as_ref().and_then(Value::as_bool) {
        prompt = prompt.with_default(default);
    }
    prompt.prompt().map(|yes| Some(Value::Bool(yes)))
}

fn ask_one(field: &Field, choices: &[Choice]) -> Result<Option<Value>, InquireError> {
    const NOTHING: &str = "(no answer)";
    let (help, label) = (help(field), format!("{}:", field.label));
    let mut titles: Vec<&str> = choices.iter().map(|choice| choice.title.as_str()).collect();
    if !field.required {
        titles.push(NOTHING);
    }
    let preset = choices.iter().position(|choice| field.default.as_ref().is_some_and(|value| *value == choice.value));
    let start = preset.unwrap_or(if field.required { 0 } else { choices.len() });
    let prompt = Select::new(&label, titles).with_help_message(&help).with_starting_cursor(start);
    let chosen = prompt.raw_prompt()?;
    Ok(choices.get(chosen.index).map(|choice| Value::String(choice.value.clone())))
}

fn ask_several(field: &Field, choices: &[Choice]) -> Result<Option<Value>, InquireError> {
    let (help, label) = (format!("space to choose; {}", help(field)), format!("{}:", field.label));
    let presets: Vec<_> = field.default.iter().filter_map(Value::as_array).flatten().collect();
    let preset: Vec<usize> = (0..choices.len()).filter(|n| presets.iter().any(|v| **v == choices[*n].value)).collect();
    let kind = field.kind.clone();
    let required = field.required;
    let prompt = MultiSelect::new(&label, choices.iter().collect())
        .with_help_message(&help)
        .with_default(&preset)
        .with_validator(move |chosen: &[ListOption<&&Choice>]| {
            let skipped = chosen.is_empty() && !required;
            Ok(match if skipped { Ok(()) } else { kind.enough(chosen.len()) } {
                Ok(()) => Validation::Valid,
                Err(why) => Validation::Invalid(ErrorMessage::Custom(why)),
            })
        });
    let chosen = prompt.raw_prompt()?;
    if chosen.is_empty() && !field.required {
        return Ok(None);
    }
    Ok(Some(chosen.into_iter().map(|option| Value::String(option.value.value.clone())).collect()))
}
