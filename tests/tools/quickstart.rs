//! The program that the README names first.

#[path = "../../examples/quickstart.rs"]
#[expect(dead_code, reason = "`main` is for the program")]
mod program;

/// It shows the life of a task, a question in it, and its end, in under ten seconds.
#[tokio::test]
async fn the_quickstart_shows_the_life_of_a_task() {
    let told = tokio::time::timeout(std::time::Duration::from_secs(10), program::run()).await;
    let told = told.expect("it takes less than ten seconds").expect("the tasks complete");
    // Ids differ each time, and the statuses in between hang on when it polled.
    let lines: Vec<&str> =
        told.iter().map(String::as_str).filter(|line| !line.starts_with("task") && !line.starts_with("form")).collect();
    assert_eq!(
        lines,
        [
            "call slow_sum {\"numbers\":[3,4,5,6]}",
            "status completed",
            "result 18",
            "call bake {\"layers\":2}",
            "status input_required",
            "asks topping: The cake is done. What goes on top?",
            "answer {\"icing\":\"lemon\",\"candles\":7}",
            "status working",
            "status completed",
            "result a cake of 2 layers with Lemon icing and 7 candles",
        ]
    );
}
