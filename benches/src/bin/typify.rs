//! Prints what typify writes for the definitions of a schema file: `typify FILE`. `build-cost` compiles it.

use mcp_tasks_benches::typify_rust;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("typify FILE");
        return ExitCode::from(2);
    };
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let root = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    println!("{}", typify_rust(root));
    ExitCode::SUCCESS
}
