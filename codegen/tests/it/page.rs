//! The reference page: all of it is there, it loads nothing, its links lead somewhere, and what it is made from is checked.

use crate::support::{codegen, copy, folder, get, put, repository};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const REVISION: &str = "2026-07-28";

fn page(extension: &str) -> String {
    get(&repository().join(format!("generated/reference.{extension}")))
}

fn source(file: &str) -> String {
    get(&repository().join("schema").join(REVISION).join(file))
}

/// The names of all messages: each has a schema of its own.
fn messages() -> Vec<String> {
    let folder = repository().join(format!("generated/schema/{REVISION}/2020-12/strict/messages"));
    let entries = std::fs::read_dir(folder).expect("messages are exported");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("folders can be read").file_name().to_string_lossy().into_owned();
        name.strip_suffix(".schema.json").expect("a schema").to_owned()
    };
    entries.map(name).collect()
}

/// What stands between each `open` and the next `close`.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    text.split(open).skip(1).filter_map(|rest| rest.split_once(close)).map(|(inner, _)| inner).collect()
}

#[test]
fn every_message_has_a_section_with_an_example() {
    let (markdown, html) = (page("md"), page("html"));
    let names = messages();
    assert!(names.iter().any(|name| name == "GetTaskResult"), "{names:?}");
    for name in names.iter().map(String::as_str).chain(["CreateTaskResult", "InputRequiredResult", "CallToolResult"]) {
        let sections = between(&markdown, &format!("\n### `{name}`\n"), "\n### ");
        assert_eq!(sections.len(), 1, "{name}");
        assert!(sections[0].contains("```json\n{\n"), "{name} has no example in Markdown");
        let example = format!("<h4 id=\"{0}-examples\">", name.to_lowercase());
        let sections = between(&html, &example, "</section>");
        assert_eq!(sections.len(), 1, "{name}");
        assert!(sections[0].contains("<pre "), "{name} has no example in HTML");
    }
}

#[test]
fn every_rule_has_its_place() {
    let rules: toml::Table = source("rules.toml").parse().expect("rules are TOML");
    let rules = rules["rule"].as_table().expect("rules by ID");
    assert!(rules.len() > 70, "{} rules", rules.len());
    let (markdown, html) = (page("md"), page("html"));
    for id in rules.keys() {
        let anchor = id.to_lowercase();
        assert_eq!(markdown.matches(&format!("| <a id=\"{anchor}\"></a>{id} |")).count(), 1, "{id}");
        assert_eq!(html.matches(&format!("<th scope=\"row\" id=\"{anchor}\">{id}</th>")).count(), 1, "{id}");
    }
}

#[test]
fn the_html_loads_nothing() {
    let html = page("html");
    for word in [" src=", "<link", "<script", "<img", "<iframe", "@import", "@font-face", "http:", "https:", "srcset"] {
        assert!(!html.contains(word), "{word}");
    }
    assert_eq!(html.matches("url(").count(), html.matches("url(#").count());
}

/// The ids that GitHub gives to the headings of a Markdown file, and those that stand in it.
fn ids_of_markdown(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut ids = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let Some(title) = line.strip_prefix('#').filter(|_| !is_code) {
            let title = title.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            ids.push(title.chars().filter(|char| char.is_alphanumeric() || matches!(char, '-' | '_')).collect());
        }
        ids.extend(between(line, "<a id=\"", "\"").into_iter().map(str::to_owned));
    }
    ids
}

#[track_caller]
fn lead_somewhere(links: &[&str], ids: &[String]) {
    let known: BTreeSet<_> = ids.iter().map(String::as_str).collect();
    assert_eq!(known.len(), ids.len(), "an id stands twice");
    assert!(links.len() > 500, "{} links", links.len());
    for link in links {
        match link.strip_prefix('#') {
            Some(id) => assert!(known.contains(id), "{link} leads nowhere"),
            None => assert!(repository().join("generated").join(link).is_file(), "{link} is no file"),
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let (markdown, html) = (page("md"), page("html"));
    lead_somewhere(&between(&markdown, "](", ")"), &ids_of_markdown(&markdown));
    let ids: Vec<String> = between(&html, " id=\"", "\"").into_iter().map(str::to_owned).collect();
    lead_somewhere(&between(&html, "<a href=\"", "\""), &ids);
}

/// Headings, rules and examples stand in both, in the same order.
#[test]
fn both_forms_say_the_same() {
    let (markdown, html) = (page("md"), page("html"));
    let drawing = ["states-title", "states-desc", "arrow"];
    let ids: Vec<_> = between(&html, " id=\"", "\"").into_iter().filter(|id| !drawing.contains(id)).collect();
    assert_eq!(ids_of_markdown(&markdown), ids);
    let plain =
        |text: &str| text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let examples: Vec<_> = between(&html, "aria-label=\"Example\"><code>", "</code>").into_iter().map(plain).collect();
    assert_eq!(between(&markdown, "```json\n", "\n```"), examples);
    assert_eq!(markdown.matches("\n|---|").count(), html.matches("<table ").count());
}

#[test]
fn headings_go_down_a_level_at_a_time() {
    let html = page("html");
    let levels: Vec<u32> = between(&html, "<h", " id=").iter().filter_map(|level| level.parse().ok()).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    for landmark in ["<html lang=\"en\">", "<nav aria-label=", "<main>", "<footer>"] {
        assert_eq!(html.matches(landmark).count(), 1, "{landmark}");
    }
}

/// TSK-09: each line of the table is an arrow of both drawings.
#[test]
fn the_state_machine_is_drawn() {
    let machine: Value = serde_json::from_str(&source("states.json")).expect("states are JSON");
    let (markdown, html) = (page("md"), page("html"));
    let drawing = between(&html, "<svg ", "</svg>")[0];
    let transitions = machine["transitions"].as_array().expect("a table");
    for transition in transitions {
        let word = |member: &str| transition[member].as_str().expect("a state");
        let by: Vec<_> = transition["by"].as_array().expect("causes").iter().filter_map(Value::as_str).collect();
        let (from, to, by) = (word("from"), word("to"), by.join(", "));
        assert!(markdown.contains(&format!("\n    {from} --> {to}: {by}\n")), "{from} to {to}");
        assert!(drawing.contains(&format!("{from} to {to} by {by}.")), "{from} to {to}");
        assert!(drawing.contains(&format!(">{from}</text>")) && drawing.contains(&format!(">{to}</text>")));
    }
    assert_eq!(drawing.matches("<path class=\"arrow\"").count(), transitions.len() + 1);
}

/// Another validator than the generator's own takes the examples, by the strict schemas.
#[test]
fn the_examples_are_valid() {
    let bundle = get(&repository().join(format!("generated/schema/{REVISION}/2020-12/strict/bundle.schema.json")));
    let bundle: Value = serde_json::from_str(&bundle).expect("a bundle is JSON");
    let mut validators = BTreeMap::new();
    let mut check = |name: &str, part: &Value| {
        let validator = validators.entry(name.to_owned()).or_insert_with(|| {
            let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": bundle["$defs"] });
            jsonschema::validator_for(&schema).expect("a schema")
        });
        let faults: Vec<_> = validator.iter_errors(part).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?} in {part}");
    };
    let examples: Value = serde_json::from_str(&source("examples.json")).expect("examples are JSON");
    for example in examples.as_array().expect("a list") {
        let (of, message) = (example["of"].as_str().expect("a name"), &example["message"]);
        match message.get("result").filter(|_| of != "JSONRPCResultResponse") {
            Some(result) => {
                check("JSONRPCResultResponse", message);
                check(of, result);
            }
            None => check(of, message),
        }
        for (pointer, name) in example["parts"].as_object().into_iter().flatten() {
            check(name.as_str().expect("a name"), message.pointer(pointer).expect("the part is there"));
        }
    }
}

/// Each code that the page names has an example; that of a code of ours is compared with the server's.
#[test]
fn codes_of_ours_have_examples() {
    let order: toml::Table = source("page.toml").parse().expect("the order is TOML");
    let examples: Value = serde_json::from_str(&source("examples.json")).expect("examples are JSON");
    let messages = examples.as_array().expect("a list").iter().map(|example| &example["message"]);
    let codes: Vec<_> = messages.filter_map(|message| message["error"]["code"].as_i64()).collect();
    for error in order["error"].as_array().expect("codes") {
        let code = error["code"].as_integer().expect("a number");
        assert!(codes.contains(&code), "{code}");
        assert!(page("md").contains(&format!("\n| `{code}` | ")), "{code}");
    }
}

/// Changes a file of a copy of `schema/`, exports, and compares what is said with what should be.
#[track_caller]
fn refused(name: &str, file: &str, change: (&str, &str), complaints: &[&str]) {
    let place = folder(&format!("page/{name}"));
    copy(&repository().join("schema"), &place.join("schema"));
    let path = place.join("schema").join(file);
    let text = get(&path);
    assert!(text.contains(change.0), "{file} has no {:?}", change.0);
    put(&path, &text.replacen(change.0, change.1, 1));
    let run = codegen(&place, &["export"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let said: Vec<_> = run.err.lines().filter(|line| line.starts_with("./schema/")).collect();
    let expected: Vec<_> = complaints.iter().map(|complaint| format!("./schema/{complaint}")).collect();
    assert_eq!(said, expected, "{}", run.err);
    assert!(!Path::new(&place).join("generated").exists(), "something was written");
}

#[test]
fn rules_that_lead_nowhere() {
    let file = "2026-07-28/rules.toml";
    let about = "about = [\"InputRequests\"]";
    refused(
        "unknown-definition",
        file,
        (about, "about = [\"InputRequestz\", \"tasks/peek\"]"),
        &[
            "2026-07-28/rules.toml#/rule/CLI-04/about/0: there is no `InputRequestz`",
            "2026-07-28/rules.toml#/rule/CLI-04/about/1: there is no `tasks/peek`",
        ],
    );
    refused("about-nothing", file, (about, ""), &["2026-07-28/rules.toml#/rule/CLI-04: the rule is about nothing"]);
    refused(
        "no-area",
        file,
        (
            about,
            "about = [\"InputRequests\"]\n\
          [rule.ABC-01]\nstrength = \"own\"\nsays = \"x\"\nabout = [\"exchange\"]\nunseen = \"x\"",
        ),
        &["2026-07-28/rules.toml#/rule/ABC-01: there is no area `ABC`"],
    );
    refused(
        "unshown",
        file,
        ("unseen = \"How an id was made shows in no message.\"", ""),
        &["2026-07-28/rules.toml#/rule/SEC-01: no conversation shows it"],
    );
    refused(
        "shown",
        file,
        ("[rule.UPD-01]\n", "[rule.UPD-01]\nunseen = \"x\"\n"),
        &["2026-07-28/rules.toml#/rule/UPD-01/unseen: the conversation `asks` shows it"],
    );
    refused(
        "twice-about",
        file,
        ("[rule.UPD-01]\n", "[rule.UPD-01]\nabout = [\"tasks/get\", \"UpdateTaskResult\"]\n"),
        &["2026-07-28/rules.toml#/rule/UPD-01/about/1: the description of `UpdateTaskResult` cites UPD-01 already"],
    );
}

/// An ID that is cited anywhere is a rule: in a schema of either revision, in the rules for writers, in the vectors, in a
/// conversation.
#[test]
fn citations_of_no_rule() {
    refused(
        "schema-cites",
        "2026-07-28/tasks.schema.json",
        ("SEC-01, GET-03]", "SEC-01, GET-33]"),
        &["2026-07-28/tasks.schema.json#/$defs/TaskId/description: there is no rule GET-33"],
    );
    refused(
        "older-schema-cites",
        "2025-11-25/core.schema.json",
        ("; RES-04]", "; RES-44]"),
        &["2025-11-25/core.schema.json#/$defs/Result/description: there is no rule RES-44"],
    );
    refused(
        "export-cites",
        "export.toml",
        ("status = [\"TSK-05\", \"TSK-09\"]", "status = [\"TSK-05\", \"TSK-99\"]"),
        &["export.toml#/revision/2026-07-28/requirements/status/1: there is no rule TSK-99"],
    );
    refused(
        "vectors-cite",
        "2026-07-28/vectors.json",
        ("[\"TSK-07\", \"ERR-05\"]", "[\"TSK-07\", \"ERR-55\"]"),
        &["2026-07-28/vectors.json#/3/requirements/1: there is no rule ERR-55"],
    );
    refused(
        "conversation-cites",
        "2026-07-28/conversations/declines.json",
        ("\"UPD-01\"]", "\"UPD-11\"]"),
        &["2026-07-28/conversations/declines.json#/requirements/0: there is no rule UPD-11"],
    );
}

/// TSK-09: the states of the table are the statuses of the schema, and its causes those that are named.
#[test]
fn states_that_are_none() {
    let file = "2026-07-28/states.json";
    refused(
        "unknown-state",
        file,
        ("\"from\": \"working\", \"to\": \"cancelled\"", "\"from\": \"working\", \"to\": \"paused\""),
        &["2026-07-28/states.json#/transitions/4/to: `paused` is no TaskStatus"],
    );
    refused(
        "states-of-nothing",
        file,
        ("\"of\": \"TaskStatus\"", "\"of\": \"TaskState\""),
        &["2026-07-28/states.json#/of: there is no list of states `TaskState`"],
    );
    refused(
        "unknown-cause",
        file,
        ("\"by\": [\"ask\"]", "\"by\": [\"beg\"]"),
        &[
            "2026-07-28/states.json#/causes/ask: it causes nothing",
            "2026-07-28/states.json#/transitions/0/by/0: there is no cause `beg`",
        ],
    );
    refused(
        "unsaid-state",
        "2026-07-28/tasks.schema.json",
        ("\"enum\": [\"working\",", "\"enum\": [\"paused\", \"working\","),
        &["2026-07-28/states.json#/transitions: nothing is said of `paused`"],
    );
    refused(
        "more-open-states",
        file,
        ("\"from\": \"working\", \"to\": \"cancelled\"", "\"from\": \"failed\", \"to\": \"cancelled\""),
        &["2026-07-28/states.json#/transitions: the drawing has room for two states that are no end"],
    );
}

#[test]
fn examples_that_are_none() {
    let file = "2026-07-28/examples.json";
    refused(
        "invalid-result",
        file,
        ("\"resultType\": \"task\",", "\"resultType\": \"complete\","),
        &[
            "2026-07-28/examples.json#/6/message/result: this is no valid `CreateTaskResult`, as the strict schema has it",
        ],
    );
    refused(
        "example-of-nothing",
        file,
        ("\"of\": \"GetTaskRequest\"", "\"of\": \"PeekTaskRequest\""),
        &[
            "2026-07-28/examples.json#: there is no example of `GetTaskRequest`",
            "2026-07-28/examples.json#/9/of: there is no message `PeekTaskRequest`",
        ],
    );
}

#[test]
fn an_order_that_is_none() {
    let file = "2026-07-28/page.toml";
    refused(
        "unplaced",
        file,
        ("name = \"GetTaskRequest\"", "name = \"UpdateTaskRequest\""),
        &[
            "2026-07-28/examples.json#/9/of: there is no message `GetTaskRequest`",
            "2026-07-28/page.toml#/chapter: the message `GetTaskRequest` stands in no chapter",
            "2026-07-28/page.toml#/chapter/3/messages/0/name: `UpdateTaskRequest` has its place already",
        ],
    );
    refused(
        "unknown-message",
        file,
        ("name = \"CallToolResult\"", "name = \"ToolResultContent\""),
        &[
            "2026-07-28/examples.json#: there is no example of `ToolResultContent`",
            "2026-07-28/page.toml#/chapter/1/messages/4/name: there is no message `ToolResultContent`",
        ],
    );
    refused(
        "unknown-member",
        file,
        ("\"Task.createdAt\"", "\"Task.madeAt\""),
        &["2026-07-28/page.toml#/member/Task.madeAt: there is no such member, or it has a description in the schema"],
    );
    refused(
        "unknown-rest",
        file,
        ("data = \"RateLimitedErrorData\"", "data = \"SlowDown\""),
        &["2026-07-28/page.toml#/error/0/data: there is no `SlowDown`"],
    );
    refused(
        "two-of-a-name",
        file,
        ("title = \"Refusals\"", "title = \"Task\""),
        &["2026-07-28/page.toml#: two headings of the page would be `#task`"],
    );
}
