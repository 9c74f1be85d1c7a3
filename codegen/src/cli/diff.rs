//! `diff OLD NEW`: reads both, prints the report, and fails if the caller said so.

use super::Failure;
use clap::{Args, ValueEnum};
use mcp_tasks_codegen::diff::{self, Impact, Report, Verdict};
use mcp_tasks_codegen::{Error, Problem, load_revision};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What to compare, and how to say it.
#[derive(Args)]
pub(super) struct Arguments {
    /// A schema file, or a folder of `*.schema.json` that belong together. Ours or a published one.
    old: PathBuf,
    /// The same, of the newer revision.
    new: PathBuf,
    /// How to print the report.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Exit with 4 if there is a change of this kind.
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    /// Only what stands in this part, such as `tasks` or `core`, with the effects that other parts have on it.
    #[arg(long, value_name = "PART")]
    part: Option<String>,
    /// Print the draft of an entry for a changelog instead of the report.
    #[arg(long, conflicts_with = "format")]
    changelog: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
}

/// What makes the command fail.
#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    /// A change that breaks readers, writers or Rust.
    Breaking,
    /// A change that breaks readers.
    Readers,
    /// A change that breaks writers.
    Writers,
    /// A change that breaks Rust.
    Rust,
    /// A change that breaks somebody, or of which that is unknown.
    Unknown,
    /// Any change, of words too, and any effect of one that stands in another part.
    Any,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let report = report(arguments).map_err(Failure::Input)?;
    print!("{}", shown(arguments, &report));
    match arguments.fail_on {
        Some(what) if fails(what, &report) => Err(Failure::Changed),
        _ => Ok(()),
    }
}

fn report(arguments: &Arguments) -> Result<Report, Error> {
    let (old, settings) = load_revision(&arguments.old)?;
    let (new, _) = load_revision(&arguments.new)?;
    let report = diff::diff(&old, &new, &settings);
    let Some(part) = &arguments.part else { return Ok(report) };
    let parts: BTreeSet<_> = old.parts.iter().chain(&new.parts).map(|part| part.name.as_str()).collect();
    if !parts.contains(part.as_str()) {
        let help = format!("the parts here are {}", Vec::from_iter(parts).join(", "));
        let problem =
            Problem::new(arguments.new.to_string_lossy(), "", format!("neither revision has a part `{part}`"));
        return Err(problem.help(help).into());
    }
    Ok(report.only(part))
}

fn shown(arguments: &Arguments, report: &Report) -> String {
    if arguments.changelog {
        return diff::changelog(report);
    }
    match arguments.format {
        Format::Text => diff::text(report),
        Format::Markdown => diff::markdown(report),
        Format::Json => diff::json(report),
    }
}

fn fails(what: FailOn, report: &Report) -> bool {
    let Impact { readers, writers, rust, .. } = report.impact;
    match what {
        FailOn::Breaking => report.impact.worst() == Verdict::Breaks,
        FailOn::Readers => readers == Verdict::Breaks,
        FailOn::Writers => writers == Verdict::Breaks,
        FailOn::Rust => rust == Verdict::Breaks,
        FailOn::Unknown => report.impact.worst() >= Verdict::Unknown,
        FailOn::Any => !report.changes.is_empty() || !report.affected.is_empty(),
    }
}
