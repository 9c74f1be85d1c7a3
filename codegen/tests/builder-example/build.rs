//! Makes the types of `schema/garden.schema.json`.

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    mcp_tasks_codegen::Builder::new().schema("schema/garden.schema.json").generate()
}
