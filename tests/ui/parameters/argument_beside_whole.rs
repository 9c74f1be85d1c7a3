use mcp_tasks::task_tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    a: i64,
}

#[task_tool]
async fn and_an_argument(#[args] input: Input, b: i64) -> i64 {
    input.a + b
}

#[task_tool]
async fn and_another(#[args] one: Input, #[args] two: Input) -> i64 {
    one.a + two.a
}

fn main() {}
