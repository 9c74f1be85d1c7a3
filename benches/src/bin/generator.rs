//! Schemas to formatted files in memory, beside what typify and prettyplease take for the same definitions.
//!
//! `generator [--published FILE] [--large] [--strict]`: the file is the published core schema, which is not part of this
//! project; large measures longer; strict fails if a goal is short. Reading the files is left out on both sides.

use mcp_tasks_benches::{Contender, Goals, Race, Size, typify_rust};
use mcp_tasks_codegen::{Document, OutputFile, Overlay, Schemas, generate, load_files, load_folder};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let published = arguments.iter().position(|argument| argument == "--published");
    let size = Size { rounds: if given("--large") { 60 } else { 8 }, slice: Duration::ZERO };
    let mut goals = Goals::default();
    own(size, &mut goals);
    if let Some(file) = published.map(|place| arguments.get(place + 1).expect("a file after --published")) {
        core(PathBuf::from(file), size, &mut goals);
    }
    goals.exit_code(given("--strict"))
}

/// The project's own schemas. typify takes one document only, so it gets the bundle of each revision.
fn own(size: Size, goals: &mut Goals) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("benches is a folder of the project");
    let (schemas, overlay) = load_folder(&project.join("schema")).unwrap_or_else(|error| panic!("{error}"));
    let bundles = ["v2026_07_28", "v2025_11_25"].map(|revision| project.join("generated/src").join(revision));
    let bundles: Vec<PathBuf> = bundles.into_iter().map(|folder| folder.join("schema.json")).collect();
    let bundles = load_files(&bundles).unwrap_or_else(|error| panic!("{error}"));
    let race = Race::run(
        "generate from the project's own schemas",
        size,
        vec![
            Contender::new("ours", || ours(&schemas, &overlay)),
            Contender::new("typify", || bundles.iter().map(typify).sum()),
        ],
    );
    goals.at_most("generator_own_vs_typify", race.ratio("ours", "typify"), 3.0);
}

/// A published schema of the core.
fn core(file: PathBuf, size: Size, goals: &mut Goals) {
    let documents = load_files(&[file]).unwrap_or_else(|error| panic!("{error}"));
    let schemas = Schemas::Published(documents.clone());
    let overlay = Overlay::default();
    let race = Race::run(
        "generate from the published core",
        size,
        vec![
            Contender::new("ours", || ours(&schemas, &overlay)),
            Contender::new("typify", || documents.iter().map(typify).sum()),
        ],
    );
    goals.at_most("generator_core_vs_typify", race.ratio("ours", "typify"), 3.0);
}

/// The bytes of Rust that came out.
fn ours(schemas: &Schemas, overlay: &Overlay) -> u64 {
    let files: Vec<OutputFile> = generate(schemas, overlay).unwrap_or_else(|error| panic!("{error}"));
    files.iter().map(|file| file.text.len() as u64).sum()
}

/// The bytes of Rust that came out.
fn typify(document: &Document) -> u64 {
    typify_rust(document.root.clone()).len() as u64
}
