//! Commands: their arguments, what they print, and their exit codes.

mod diff;

use clap::{Args, Parser, Subcommand};
use mcp_tasks_codegen::{
    Drift, Error, Intent, OutputFile, Overlay, compare, export, generate, load_files, load_folder, published_crate,
    strays,
};
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Generates the Rust types of the MCP Tasks extension from its JSON Schema.
///
/// Exit codes: 0 done; 1 the input has faults, or `check` found drift; 2 the arguments are wrong; 3 a file could not be
/// read back or written; 4 `diff` found what `--fail-on` names.
#[derive(Parser)]
#[command(name = "mcp-tasks-codegen", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the types.
    Generate(Paths),
    /// Compare the types and the exported files on disk with what would be written, and fail if they differ.
    Check(Paths),
    /// Write schemas and test vectors for other languages, and the reference page.
    Export(Place),
    /// Say what changed between two revisions, and whom it breaks.
    Diff(diff::Arguments),
}

#[derive(Args)]
struct Paths {
    /// A published schema file; may be given several times. Without it, the project's own `schema/` is read.
    #[arg(long, value_name = "FILE", requires = "out")]
    schema: Vec<PathBuf>,
    /// The folder to write to. By default `generated` of the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The overlay for published schemas. By default the names that shadow Rust's own are changed.
    #[arg(long, value_name = "FILE", requires = "schema")]
    overlay: Option<PathBuf>,
    /// Also write a module that knows every type by name, for tests and tools.
    #[arg(long, requires = "schema")]
    registry: bool,
    /// The folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    root: PathBuf,
}

/// Where exported files go.
#[derive(Args)]
struct Place {
    /// The folder to write to. By default `generated` of the project.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    root: PathBuf,
}

/// The parts of the output in which nothing stands but what is exported.
const EXPORTED: &[&str] = &["schema", "vectors"];

/// Why a command ended early.
enum Failure {
    Input(Error),
    Output(std::io::Error),
    Drift,
    /// A change that the caller asked to be told of.
    Changed,
}

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    let command = Cli::parse().command;
    let outcome = match &command {
        Command::Generate(paths) => write(paths),
        Command::Check(paths) => check(paths),
        Command::Export(place) => write_exported(place),
        Command::Diff(arguments) => diff::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            eprintln!("{error}");
            let count = error.problems().len();
            eprintln!("{count} {}; nothing was written", if count == 1 { "fault" } else { "faults" });
            ExitCode::from(1)
        }
        Err(Failure::Drift) => ExitCode::from(1),
        Err(Failure::Changed) => ExitCode::from(4),
        Err(Failure::Output(error)) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn write(paths: &Paths) -> Result<(), Failure> {
    let files = files(paths).map_err(Failure::Input)?;
    let out = paths.out();
    mcp_tasks_codegen::write(&out, &files).map_err(Failure::Output)?;
    println!("{} files in {}", files.len(), out.display());
    Ok(())
}

fn write_exported(place: &Place) -> Result<(), Failure> {
    let files = exported(&place.root).map_err(Failure::Input)?;
    let out = place.out.clone().unwrap_or_else(|| place.root.join("generated"));
    mcp_tasks_codegen::write(&out, &files).map_err(Failure::Output)?;
    println!("{} files in {}", files.len(), out.display());
    Ok(())
}

fn check(paths: &Paths) -> Result<(), Failure> {
    let out = paths.out();
    let mut sets = vec![(files(paths).map_err(Failure::Input)?, paths.command())];
    if paths.schema.is_empty() && paths.out.is_none() {
        sets.push((exported(&paths.root).map_err(Failure::Input)?, "cargo run -p mcp-tasks-codegen -- export".into()));
    }
    let strays = match sets.get(1) {
        Some((exported, _)) => strays(&out, EXPORTED, exported).map_err(Failure::Output)?,
        None => Vec::new(),
    };
    let mut outcomes = Vec::new();
    for (files, command) in &sets {
        outcomes.push((files.len(), compare(&out, files).map_err(Failure::Output)?, command));
    }
    let count: usize = outcomes.iter().map(|(count, ..)| count).sum();
    outcomes.retain(|(_, drifted, _)| !drifted.is_empty());
    if outcomes.is_empty() && strays.is_empty() {
        println!("{count} files in {} are up to date", out.display());
        return Ok(());
    }
    let drifted: Vec<&Drift> = outcomes.iter().flat_map(|(_, drifted, _)| drifted).collect();
    for drift in &drifted {
        eprint!("{}", shown(drift, &out));
    }
    if !drifted.is_empty() {
        let commands: Vec<&str> = outcomes.iter().map(|(.., command)| command.as_str()).collect();
        eprintln!("{} of {count} files are not what the schemas say. Run: {}", drifted.len(), commands.join(" && "));
    }
    for stray in &strays {
        eprintln!("{}: is not exported any more. Delete it", out.join(stray).display());
    }
    Err(Failure::Drift)
}

fn exported(root: &Path) -> Result<Vec<OutputFile>, Error> {
    let folder = root.join("schema");
    let (schemas, overlay) = load_folder(&folder)?;
    export(&schemas, &overlay, &Intent::load(&folder)?)
}

fn files(paths: &Paths) -> Result<Vec<OutputFile>, Error> {
    if paths.schema.is_empty() {
        let (schemas, overlay) = load_folder(&paths.root.join("schema"))?;
        return generate(&schemas, &overlay);
    }
    let overlay = paths.overlay.as_deref().map(Overlay::load).transpose()?.unwrap_or_default();
    published_crate(&load_files(&paths.schema)?, &overlay, paths.registry)
}

/// The difference of a file, as `diff -u` shows it.
fn shown(drift: &Drift, out: &Path) -> String {
    let path = out.join(&drift.path);
    match &drift.found {
        None => format!("{}: is missing\n", path.display()),
        Some(found) => {
            let path = path.display().to_string();
            let diff = TextDiff::from_lines(found.as_str(), drift.expected.as_str());
            diff.unified_diff().context_radius(2).header(&path, "generated").to_string()
        }
    }
}

impl Paths {
    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| self.root.join("generated"))
    }

    /// The command that mends drift.
    fn command(&self) -> String {
        let schemas: String = self.schema.iter().map(|path| format!(" --schema {}", path.display())).collect();
        let out = self.out.as_ref().map(|path| format!(" --out {}", path.display())).unwrap_or_default();
        format!("cargo run -p mcp-tasks-codegen -- generate{schemas}{out}")
    }
}
