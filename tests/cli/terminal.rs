//! At a terminal: the live line, questions, Ctrl-C.

use std::process::Command;

use rexpect::session::{PtySession, spawn_command};
use serde_json::json;

use crate::{
    stranger::{EVIL, Stranger, asking},
    support::{Server, User, exit, workshop},
};

/// How long to wait for what has to appear, in milliseconds: a machine may be busy.
const PATIENCE: u64 = 30_000;

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";
const ESCAPE: &str = "\u{1b}";
const CTRL_C: &str = "\u{3}";

/// The program at a terminal.
struct Terminal(PtySession);

impl Terminal {
    fn run(user: &User, arguments: &[&str]) -> Self {
        Self(spawn_command(user.command(arguments), Some(PATIENCE)).expect("it starts"))
    }

    /// The program as a shell runs it, which then says whether its terminal is as it was. The second value is the process.
    fn in_a_shell(user: &User, arguments: &[&str]) -> (Self, String) {
        const SHELL: &str = r#"
            before=$(stty -g)
            sh -c 'echo "process $$."; exec "$@"' sh "$@"
            code=$?
            test "$(stty -g)" = "$before" && echo "the terminal is as it was"
            exit $code"#;
        let program = user.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", SHELL, "sh"]).arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let mut terminal = Self(spawn_command(shell, Some(PATIENCE)).expect("it starts"));
        terminal.shows("process ");
        let process = terminal.shows(".");
        (terminal, process)
    }

    /// Checks the exit code, that `said` is the last word, and that the shell's terminal is as it was.
    #[track_caller]
    fn ends_as_it_was(self, said: &str, code: i32) {
        let rest = self.ends(code);
        assert!(rest.contains(said) && rest.contains("the terminal is as it was"), "{rest:?}");
        assert!(rest.rfind("\u{1b}[?25h") > rest.rfind("\u{1b}[?25l"), "the cursor is hidden: {rest:?}");
    }

    /// Waits until the terminal shows `text`; what it showed before that.
    #[track_caller]
    fn shows(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap_or_else(|error| panic!("not shown: {text}: {error}"))
    }

    /// Types.
    fn types(&mut self, keys: &str) {
        self.0.send(keys).expect("it reads");
        self.0.flush().expect("it reads");
    }

    /// The rest of what is shown, and the exit code.
    #[track_caller]
    fn ends(mut self, code: i32) -> String {
        let rest = self.0.exp_eof().expect("it ends");
        let status = self.0.process().wait().expect("it has ended");
        let status = format!("{status:?}");
        assert!(status.starts_with("Exited(") && status.ends_with(&format!(", {code})")), "{status}: {rest}");
        rest
    }
}

/// NOT-04: a line shows status, message, percent, time taken and time left while the task goes on.
#[test]
fn a_live_line_shows_how_the_task_stands() {
    let mut terminal = Terminal::run(&User::new(), &["call", "count", "to=4", "--stdio", &workshop()]);
    terminal.shows("working");
    terminal.shows("[##########----------]  50%  2/4");
    terminal.shows("(9m 5");
    let rest = terminal.ends(exit::DONE);
    assert!(rest.contains("square"), "{rest}");
}

/// CLI-04, CLI-05, CLI-08: a question is a form: types, choices, bounds, what may be left out.
#[test]
fn a_question_is_a_form() {
    let mut terminal = Terminal::run(&User::new(), &["call", "greet", "--stdio", &workshop()]);
    terminal.shows("The server asks: Whom shall I greet?");
    terminal.shows("2 to 20 characters");
    terminal.types("A\r");
    terminal.shows("2 to 20 characters");
    terminal.types("da\r");
    terminal.shows("a whole number, 1 to 3; may be left empty");
    terminal.types("7\r");
    terminal.shows("a whole number, 1 to 3");
    terminal.types("\u{7f}2\r");
    terminal.shows("In which language?");
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.shows("Shall it be loud?");
    terminal.types("y\r");
    terminal.shows("HALLO ADA, HALLO ADA");
    terminal.ends(exit::DONE);
}

/// Case 18: a form is left in one of two ways, and the server is told which; or one goes back to it.
#[test]
fn declining_and_cancelling_a_question_are_told_apart() {
    for (downs, told) in [(1, "you would not say"), (2, "you closed the form")] {
        let mut terminal = Terminal::run(&User::new(), &["call", "greet", "--stdio", &workshop()]);
        terminal.shows("2 to 20 characters");
        terminal.types(ESCAPE);
        terminal.shows("Back to the form");
        terminal.types(ENTER);
        terminal.shows("2 to 20 characters");
        terminal.types(ESCAPE);
        terminal.shows("Back to the form");
        terminal.types(&DOWN.repeat(downs));
        terminal.types(ENTER);
        terminal.shows(told);
        terminal.ends(exit::DONE);
    }
}

/// Ctrl-C asks; to cancel is one of the answers (CAN-01), and the server on stdio does not hear the Ctrl-C itself.
#[test]
fn ctrl_c_may_cancel_the_task() {
    let mut terminal = Terminal::run(&User::new(), &["call", "sand", "--stdio", &workshop()]);
    terminal.shows("sanding");
    terminal.types(CTRL_C);
    terminal.shows("Cancel the task");
    terminal.types(ENTER);
    terminal.shows("The task was cancelled.");
    terminal.ends(exit::CANCELLED);
}

/// CLI-10, CLI-03: to detach is another: the task goes on, and its id is printed.
#[test]
fn ctrl_c_may_detach_from_the_task() {
    let (server, user) = (Server::workshop(), User::new());
    let mut terminal = Terminal::run(&user, &["call", "sand", "--url", &server.url]);
    terminal.shows("sanding");
    terminal.types(CTRL_C);
    terminal.shows("Go on waiting");
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.shows("mcp-tasks watch ");
    terminal.ends(exit::WORKING);
    let tasks = user.run(&["list", "--json"]).ends(exit::DONE).json();
    user.run(&["get", tasks[0][0]["taskId"].as_str().expect("an id")]).ends(exit::WORKING);
}

/// Ctrl-C inside a question means the task, too; whoever goes on is asked again.
#[test]
fn ctrl_c_in_a_question_asks_about_the_task() {
    let mut terminal = Terminal::run(&User::new(), &["call", "greet", "--stdio", &workshop()]);
    terminal.shows("2 to 20 characters");
    terminal.types(CTRL_C);
    terminal.shows("Go on waiting");
    terminal.types(DOWN);
    terminal.types(DOWN);
    terminal.types(ENTER);
    terminal.shows("Whom shall I greet?");
    terminal.shows("2 to 20 characters");
    terminal.types(CTRL_C);
    terminal.shows("Cancel the task");
    terminal.types(ENTER);
    terminal.ends(exit::CANCELLED);
}

/// CLI-03, CLI-09: a task of another process is watched, its question answered, its end seen.
#[test]
fn another_process_watches_and_answers() {
    let (server, user) = (Server::workshop(), User::new());
    let id = user.run(&["call", "greet", "--detach", "--url", &server.url]).ends(exit::DONE).stdout();
    let mut terminal = Terminal::run(&User::new(), &["watch", id.trim(), "--url", &server.url]);
    terminal.shows("2 to 20 characters");
    terminal.types("Bo\r");
    terminal.shows("may be left empty");
    terminal.types(ENTER);
    terminal.shows("In which language?");
    terminal.types(ENTER);
    terminal.shows("Shall it be loud?");
    terminal.types("n\r");
    terminal.shows("hello Bo");
    terminal.ends(exit::DONE);
}

/// Sends a signal.
fn kill(signal: &str, process: &str) {
    let sent = Command::new("kill").args([signal, process.trim()]).status().expect("kill runs");
    assert!(sent.success());
}

/// A task that ends elsewhere while its question is open ends the program, and leaves the terminal as it was.
#[test]
fn a_question_that_is_over_does_not_hold_the_program() {
    let (server, user) = (Server::workshop(), User::new());
    let (mut terminal, _) = Terminal::in_a_shell(&user, &["call", "greet", "--url", &server.url]);
    terminal.shows("2 to 20 characters");
    let tasks = user.run(&["list", "--json"]).ends(exit::DONE).json();
    user.run(&["cancel", tasks[0][0]["taskId"].as_str().expect("an id")]).ends(exit::DONE);
    terminal.ends_as_it_was("The task was cancelled.", exit::CANCELLED);
}

/// A server that dies while its question is open is a problem, and not one of the terminal.
#[test]
fn a_server_that_dies_in_a_question_leaves_the_terminal() {
    let user = User::new();
    let process = user.data.path().join("process");
    let server = format!("sh -c 'echo $$ > \"{}\"; exec \"$0\"' {}", process.display(), workshop());
    let (mut terminal, _) = Terminal::in_a_shell(&user, &["call", "greet", "--stdio", &server]);
    terminal.shows("2 to 20 characters");
    kill("-KILL", &std::fs::read_to_string(process).expect("a number"));
    terminal.ends_as_it_was("error: ", exit::TROUBLE);
}

/// Neither does a program that is interrupted from outside, whatever it shows.
#[test]
fn an_interrupted_answer_leaves_the_terminal() {
    let server =
        Stranger::new(|_, _| Ok(asking("asks", "key", "Who?", json!({"properties": {"name": {"type": "string"}}}))));
    let (mut terminal, process) = Terminal::in_a_shell(&User::new(), &["answer", "asks", "--url", &server.url]);
    terminal.shows("may be left empty");
    kill("-INT", &process);
    terminal.ends_as_it_was("interrupted; nothing was answered", exit::TROUBLE);
}

/// Nothing in a form of a server is a command to the terminal: not its default, its format, nor a choice.
#[test]
fn a_form_commands_no_terminal() {
    let server = Stranger::new(|_, _| {
        let text = json!({"type": "string", "title": EVIL, "default": EVIL, "format": EVIL});
        let choice = json!({"type": "string", "enum": [EVIL]});
        Ok(asking("asks", "key", EVIL, json!({"properties": {"text": text, "choice": choice}})))
    });
    let mut terminal = Terminal::run(&User::new(), &["answer", "asks", "--url", &server.url]);
    let mut shown = terminal.shows("Esc to decline or cancel");
    terminal.types("x\r");
    shown += &terminal.shows("(no answer)");
    terminal.types(CTRL_C);
    shown += &terminal.ends(exit::TROUBLE);
    // What is shown comes byte by byte: U+009B is two of them, U+202E three.
    let evil = ["\u{1b}[2J", "\u{c2}\u{9b}", "\u{e2}\u{80}\u{ae}"];
    assert!(!evil.iter().any(|evil| shown.contains(evil)), "{shown:?}");
}
