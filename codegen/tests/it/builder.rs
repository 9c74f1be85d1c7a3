//! The generator in a build script: a crate of a user's, built and run.

use crate::support::{cargo, codegen, copy, folder, get, put, repository, tree};
use mcp_tasks_codegen::Builder;
use std::path::Path;

/// The example as a user has it: it makes its types when it is built, and runs.
#[test]
fn the_example_makes_its_types_when_it_is_built() {
    let place = folder("builder/example");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builder-example"), &place);
    let path = place.join("Cargo.toml");
    let generator = format!("path = {:?}", env!("CARGO_MANIFEST_DIR"));
    put(&path, &get(&path).replace("path = \"../..\"", &generator));
    let said = cargo(&place, &["run", "--quiet"]);
    let place_of = "at line 1 column";
    assert_eq!(
        said.split(place_of).next(),
        Some(
            "plants/water: a tree of 250 cm\nWaterRequest.params: WaterRequestParams.plant: Plant.heightCm: -1 is less than 0 "
        )
    );
}

/// A folder in the house style gives a file for each revision, named like its module.
#[test]
fn a_folder_gives_a_file_for_each_revision() {
    let place = folder("builder/folder");
    let schemas = repository().join("schema");
    Builder::new().folder(&schemas).out_dir(&place).generate().expect("our schemas have no faults");
    assert_eq!(tree(&place).keys().collect::<Vec<_>>(), ["v2025_11_25.rs", "v2026_07_28.rs"]);
}

/// A build script that fails says why: the same words as the command line.
#[test]
fn a_build_script_gets_the_same_errors() {
    let place = folder("builder/faults");
    put(&place.join("x.json"), "{");
    let file = place.join("x.json");
    let error = Builder::new().schema(&file).out_dir(place.join("out")).generate().expect_err("it is no JSON");
    let run = codegen(&place, &["generate", "--schema", &file.display().to_string(), "--out", "out"]);
    assert_eq!(run.err, format!("{error}\n1 fault; nothing was written\n"));
    assert!(!place.join("out").exists());
    let error = Builder::new().out_dir(place.join("out")).generate().expect_err("there is nothing to read");
    assert_eq!(error.to_string(), "build.rs#: nothing to generate from\n  help: name a schema file or a folder");
}
