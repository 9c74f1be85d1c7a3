//! `mcp-tasks answer`: answers a question of a task, at the terminal or from the command line.

use serde_json::{Map, Value, json};

use super::{AnswerArgs, Named, named};
use crate::{
    arguments,
    exit::{Exit, Problem},
    outcome::Outcome,
    output::Output,
    person::Question,
    result::Saver,
    tickets::Tickets,
};

/// Answers a question of a task.
pub async fn run(args: AnswerArgs, tickets: &Tickets, output: &Output) -> Result<Exit, Problem> {
    let named = named(&args.task.id, &args.task.server, tickets, output).await?;
    let answered = answer(&named, &args).await;
    let id = named.id.clone();
    named.client.close().await;
    let Some(key) = answered? else { return Outcome::expired(&id).write(output, &mut Saver::new(None)) };
    let said = json!({"event": "answered", "taskId": id, "key": key});
    output.value(&said, |_| format!("answered; follow the task with: mcp-tasks watch {id}"))?;
    Ok(Exit::Done)
}

/// The key that was answered; `None` if the task is gone.
async fn answer(named: &Named, args: &AnswerArgs) -> Result<Option<String>, Problem> {
    let Some(task) = named.get().await? else { return Ok(None) };
    let (key, request) = pick(&task, args.key.as_deref())?;
    let response = response(named, args, request).await?;
    let ticket = named.client.session.answer(named.ticket(), key, response).await?;
    named.keep(ticket)?;
    Ok(Some(key.to_owned()))
}

/// The question that is meant.
fn pick<'a>(task: &'a Value, key: Option<&str>) -> Result<(&'a str, &'a Value), Problem> {
    let requests: Vec<_> = task["inputRequests"].as_object().into_iter().flat_map(Map::iter).collect();
    let names = || requests.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(", ");
    let found = match (key, &requests[..]) {
        (_, []) => return Err(Problem::new("the task asks nothing now")),
        (Some(key), _) => requests.iter().find(|(name, _)| *name == key),
        (None, [one]) => Some(one),
        (None, _) => return Err(Problem::usage(format!("it asks several things: {}", names())).hint("say --key KEY")),
    };
    let (key, request) = found.ok_or_else(|| Problem::usage(format!("it does not ask that, but: {}", names())))?;
    Ok((key, request))
}

async fn response(named: &Named, args: &AnswerArgs, request: &Value) -> Result<Value, Problem> {
    let question = Question::of(&request["params"]).filter(|_| request["method"] == "elicitation/create");
    let question = question.ok_or_else(|| {
        Problem::new(format!("the server asks for {}, which cannot be answered from here", request["method"]))
    })?;
    if args.decline {
        return Ok(json!({"action": "decline"}));
    }
    if args.dismiss {
        return Ok(json!({"action": "cancel"}));
    }
    if args.arguments.is_empty() {
        let person = named.client.answerer().ok_or_else(|| {
            Problem::usage("there is no terminal to ask at").hint("give the answer as NAME=VALUE, or --decline")
        })?;
        let answer = tokio::select! {
            answer = person.answer(question) => answer?,
            () = person.interrupted() => return Err(Problem::new("interrupted; nothing was answered")),
        };
        return serde_json::to_value(answer)
            .map_err(|error| Problem::new("the answer cannot be written").because(error));
    }
    let content = arguments::parse(&args.arguments, question.schema()).map_err(Problem::usage)?;
    Ok(json!({"action": "accept", "content": content}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_named_if_there_are_several() {
        let task = json!({"inputRequests": {"a": 1, "b": 2}});
        assert_eq!(pick(&task, Some("b")).ok(), Some(("b", &json!(2))));
        assert!(pick(&task, None).is_err());
        assert!(pick(&task, Some("c")).is_err());
        assert_eq!(pick(&json!({"inputRequests": {"a": 1}}), None).ok(), Some(("a", &json!(1))));
        assert!(pick(&json!({"status": "working"}), None).is_err());
    }
}
