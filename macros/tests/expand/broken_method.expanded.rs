::core::compile_error! {
    "`tool` takes `&mut self`, but the handler is shared by all calls: write `&self`"
}
::core::compile_error! {
    "not for a method under `#[tool]`; rmcp takes arguments as `Parameters<T>`: put defaults and names on the fields of `T`"
}
#[tool]
async fn tool(&mut self, a: Parameters<A>) {}
