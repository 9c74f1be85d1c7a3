//! Reads a message with types that were made by `build.rs`, and writes it again.

mod types {
    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

use types::support::Request;
use types::{Plant, WaterRequest};

fn main() -> Result<(), serde_json::Error> {
    let text = r#"{"method":"plants/water","params":{"plant":{"kind":"tree","heightCm":250,"leaves":"green"}}}"#;
    let request: WaterRequest = serde_json::from_str(text)?;
    match &request.params.plant {
        Plant::Tree(tree) => println!("{}: a tree of {} cm", <WaterRequest as Request>::METHOD, tree.height_cm.get()),
        Plant::Herb(_) => println!("a herb"),
    }
    assert_eq!(serde_json::to_string(&request)?, text);
    if let Err(error) = serde_json::from_str::<WaterRequest>(&text.replace("250", "-1")) {
        println!("{error}");
    }
    Ok(())
}
