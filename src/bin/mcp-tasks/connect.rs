//! Reaches a server: one that is started here, or one at an address.

use std::{collections::HashMap, env, process::Stdio, time::Duration};

use clap::Args;
use http::{HeaderName, HeaderValue};
use rmcp::{
    service::ClientInitializeError,
    transport::{
        StreamableHttpClientTransport, TokioChildProcess, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::Command,
    time::timeout,
};

use crate::{
    exit::Problem,
    output,
    person::Person,
    tasks::Session,
    text,
    tickets::{self, Place},
};

/// Names the variable with the bearer token: the command line is for everybody on the machine to read.
const TOKEN_VARIABLE: &str = "MCP_TASKS_TOKEN";

/// How long a server may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which server.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerArgs {
    /// The address of a server; it is shown the bearer token in MCP_TASKS_TOKEN, if there is one.
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    pub url: Option<String>,

    /// The command that starts a server which talks over its standard input and output.
    #[arg(long, value_name = "COMMAND")]
    pub stdio: Option<String>,

    /// A header for every request to the address; may be given several times.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl ServerArgs {
    /// Where the server is, if the user said so.
    pub fn place(&self) -> Option<Place> {
        let url = self.url.clone().map(Place::Url);
        url.or_else(|| self.stdio.clone().map(Place::Stdio))
    }

    /// Where the server is.
    ///
    /// # Errors
    /// If the user did not say.
    pub fn named(&self) -> Result<Place, Problem> {
        self.place().ok_or_else(|| {
            Problem::usage("no server was named")
                .hint("say --url URL, or --stdio 'COMMAND ARGUMENTS' for one that is started here")
        })
    }
}

/// What shows a server who asks. Whoever makes one decides that the server may have it.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    token: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Credentials {
    /// The token of the environment, and the headers of the command line.
    pub fn of(server: &ServerArgs) -> Self {
        let token = env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
        Self { token, headers: server.headers.clone() }
    }

    /// Nothing: the server is one that the user did not name.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.token.is_none() && self.headers.is_empty()
    }
}

fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("a header is `NAME: VALUE`")?;
    let name = name.trim().parse().map_err(|_| format!("`{name}` is no name of a header"))?;
    let mut value: HeaderValue =
        value.trim().parse().map_err(|_| "the value has characters that no header may have")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Opens a session; `person` answers what the server asks.
///
/// # Errors
/// If the server cannot be started, reached or understood.
pub async fn connect(place: &Place, credentials: Credentials, person: Person) -> Result<Session, Problem> {
    let opened = match place {
        Place::Stdio(command) => timeout(PATIENCE, Session::open(place, start(command)?, person)).await,
        Place::Url(url) => {
            let transport = StreamableHttpClientTransport::from_config(http_config(url, credentials)?);
            timeout(PATIENCE, Session::open(place, transport, person)).await
        }
    };
    opened.unwrap_or_else(|elapsed| Err(silent(place).because(elapsed)))
}

fn silent(server: &Place) -> Problem {
    Problem::new(format!("the server `{server}` does not answer as an MCP server"))
}

/// Why no session came about.
pub fn unreachable(server: &Place, error: ClientInitializeError) -> Problem {
    match error {
        // The name of the transport's Rust type tells nobody anything.
        ClientInitializeError::TransportError { error, .. } => silent(server).because(error.error),
        other => silent(server).because(other),
    }
}

fn http_config(url: &str, credentials: Credentials) -> Result<StreamableHttpClientTransportConfig, Problem> {
    let shown = tickets::without_user(url);
    let parsed: http::Uri =
        url.parse().map_err(|error| Problem::usage(format!("`{shown}` is no address")).because(error))?;
    if !matches!(parsed.scheme_str(), Some("http" | "https")) {
        return Err(Problem::usage(format!("`{shown}` is no address: it begins with http:// or https://")));
    }
    // Another provider may be there already; either will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    if let Some(token) = credentials.token {
        config = config.auth_header(token);
    }
    Ok(config.custom_headers(credentials.headers.into_iter().collect::<HashMap<_, _>>()))
}

/// Starts a server, out of reach of the Ctrl-C that is meant for this program.
fn start(command: &str) -> Result<TokioChildProcess, Problem> {
    let words = shell_words::split(command)
        .map_err(|error| Problem::usage(format!("`{command}` is no command")).because(error))?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(Problem::usage("--stdio names no command"));
    };
    let mut child = Command::new(program);
    child.args(arguments).env_remove(TOKEN_VARIABLE);
    #[cfg(unix)]
    child.process_group(0);
    let started = TokioChildProcess::builder(child).stderr(Stdio::piped()).spawn();
    let (process, errors) =
        started.map_err(|error| Problem::new(format!("cannot start `{program}`")).because(error))?;
    if let Some(errors) = errors {
        tokio::spawn(async move {
            pass_on(errors).await;
        });
    }
    Ok(process)
}

/// Passes on what a server says on standard error, to its end: a server whose pipe nobody reads would be stopped by it.
async fn pass_on(errors: impl AsyncRead + Unpin) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while errors.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
        let said = text::printable(String::from_utf8_lossy(&line).trim_end());
        output::raw(&format!("\rserver: {said}\n"));
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_name_and_a_value() {
        let (name, value) = parse_header("X-Trace: a: b").expect("a header");
        assert_eq!((name.as_str(), value.to_str().ok()), ("x-trace", Some("a: b")));
        assert!(value.is_sensitive());
        assert!(parse_header("X-Trace").is_err());
        assert!(parse_header("a b: c").is_err());
    }

    #[test]
    fn an_address_has_a_scheme() {
        assert!(http_config("http://localhost/mcp", Credentials::none()).is_ok());
        assert!(http_config("localhost/mcp", Credentials::none()).is_err());
        assert!(http_config("ftp://localhost", Credentials::none()).is_err());
    }
}
