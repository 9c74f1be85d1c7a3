//! The checks of `tests/published` that need types: one for each run, named by the first argument.
//!
//! What the published files say and what this project says are two [`source::Source`]s each of shapes, schema and types;
//! every check compares sources, and `deviations.toml` lists where they differ on purpose.

mod deviations;
mod examples;
mod exported;
mod messages;
mod mutation;
mod sep;
mod shapes;
mod source;
mod verdicts;
mod walk;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str =
    "arguments: examples (published|ours) DIR | sep FILE | exported DIR [FILE] | shapes DIR | verdicts DIR [FILE]";

/// One line about what held, or a line for each fault.
type Outcome = Result<String, Vec<String>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(faults) => {
            faults.iter().for_each(|fault| println!("{fault}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        ["examples", "published", folder] => {
            let folder = Path::new(folder);
            examples::check_all(&source::core(folder)?, &messages::examples(folder)?)
        }
        ["examples", "ours", folder] => examples::check(&source::ours()?, &messages::examples(Path::new(folder))?),
        ["sep", file] => sep::check(&source::ours()?, Path::new(file)),
        ["shapes", folder] => shapes::check(Path::new(folder)),
        ["exported", folder, sep @ ..] => exported::check(Path::new(folder), sep.first().map(Path::new)),
        ["verdicts", folder, sep @ ..] => verdicts::check(Path::new(folder), sep.first().map(Path::new)),
        _ => Err(vec![USAGE.into()]),
    }
}
