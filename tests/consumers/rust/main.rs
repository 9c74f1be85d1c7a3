//! Decodes every vector of a file with what quicktype made for Rust, and prints which it took.

mod decode;
#[allow(dead_code)]
mod types {
    // It is made when the tests run, and is not for rustfmt.
    include!("types.rs");
}

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::error::Error;

#[derive(Deserialize)]
struct Replay {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    id: String,
    definition: String,
    /// As it is written: a number keeps its form.
    message: Box<RawValue>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which vectors?")?;
    let replay: Replay = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let verdict = |vector: &Vector| Some((vector.id.clone(), decode::takes(&vector.definition, vector.message.get())?));
    let verdicts: BTreeMap<String, bool> = replay.vectors.iter().filter_map(verdict).collect();
    println!("{}", serde_json::to_string(&verdicts)?);
    Ok(())
}
