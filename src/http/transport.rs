//! Whether a request is admitted by its transport: host, origin and media types, as rmcp checks them. Pure.
//!
//! Hosts and media types are read as rmcp reads them. With origins this is stricter: an entry of the configuration without
//! a port is one with the port of its scheme, where rmcp takes any port. What is not admitted is handed to rmcp, which
//! refuses it in its own words, or, for such an origin, answers it. It is never the other way round.

use ::http::{HeaderMap, Uri, header, request::Parts, uri::Authority};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;

/// What the checks find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Admitted,
    /// There is an `Origin`, and no list to hold it against: only rmcp knows whether that is enforced.
    AskAboutOrigin,
    /// Not by what is known here.
    LeftToRmcp,
}

/// Hosts and origins that may be named by a request.
#[derive(Debug)]
pub(super) struct Transport {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    any_host: bool,
    any_origin: bool,
}

impl Transport {
    pub fn new(config: &StreamableHttpServerConfig) -> Self {
        Self {
            hosts: config.allowed_hosts.iter().filter_map(|text| Host::allowed(text)).collect(),
            origins: config.allowed_origins.iter().filter_map(|text| Origin::read(text)).collect(),
            any_host: config.allowed_hosts.is_empty(),
            any_origin: config.allowed_origins.is_empty(),
        }
    }

    pub fn verdict(&self, parts: &Parts) -> Verdict {
        if !self.admits_host(&parts.uri, &parts.headers) || !takes_and_sends_json(&parts.headers) {
            return Verdict::LeftToRmcp;
        }
        match parts.headers.get(header::ORIGIN) {
            None => Verdict::Admitted,
            Some(_) if self.any_origin => Verdict::AskAboutOrigin,
            Some(origin) if origin.to_str().is_ok_and(|origin| self.admits_origin(origin)) => Verdict::Admitted,
            Some(_) => Verdict::LeftToRmcp,
        }
    }

    fn admits_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let named = match headers.get(header::HOST) {
            Some(host) => host.to_str().ok().and_then(|host| host.parse().ok()),
            None => uri.authority().cloned(),
        };
        named.is_some_and(|named| self.any_host || self.hosts.iter().any(|host| host.admits(&Host::of(&named))))
    }

    fn admits_origin(&self, origin: &str) -> bool {
        Origin::read(origin).is_some_and(|origin| self.origins.iter().any(|allowed| allowed.admits(&origin)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    fn of(authority: &Authority) -> Self {
        Self { name: name(authority.host()), port: authority.port_u16() }
    }

    /// An entry of the configuration: a name, an address, or one of them with a port.
    fn allowed(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = || Self { name: name(text), port: None };
        (!text.is_empty()).then(|| text.parse().map_or_else(|_| plain(), |authority| Self::of(&authority)))
    }

    fn admits(&self, named: &Self) -> bool {
        self.name == named.name && (self.port.is_none() || self.port == named.port)
    }
}

fn name(host: &str) -> String {
    host.trim_matches(['[', ']']).to_ascii_lowercase()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    Null,
    Named { scheme: String, host: String, port: Option<u16>, any_port: bool },
}

impl Origin {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("null") {
            return Some(Self::Null);
        }
        let (text, any_port) = text.strip_suffix(":*").map_or((text, false), |text| (text, true));
        let uri: Uri = text.parse().ok()?;
        let (scheme, authority) = (uri.scheme_str()?.to_ascii_lowercase(), uri.authority()?);
        if any_port && authority.port().is_some() {
            return None;
        }
        let port = authority.port_u16().or(match &*scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self::Named { host: name(authority.host()), scheme, port, any_port })
    }

    fn admits(&self, origin: &Self) -> bool {
        match (self, origin) {
            (Self::Null, Self::Null) => true,
            (
                Self::Named { scheme, host, port, any_port },
                Self::Named { scheme: other_scheme, host: other_host, port: other_port, any_port: false },
            ) => scheme == other_scheme && host == other_host && (*any_port || port == other_port),
            _ => false,
        }
    }
}

/// A client of this transport takes both media types, whichever a response has.
fn takes_and_sends_json(headers: &HeaderMap) -> bool {
    let sends = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON)));
    sends && accepts(headers, JSON) && accepts(headers, EVENT_STREAM)
}

pub(super) const JSON: &str = "application/json";
pub(super) const EVENT_STREAM: &str = "text/event-stream";

fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| split_unquoted(value, ',')).any(|range| {
        let mut parts = split_unquoted(range, ';');
        parts.next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
            && !parts.any(is_zero_weight)
    })
}

/// Splits where the delimiter is not inside a quoted string, in which a backslash takes the next character along.
fn split_unquoted(text: &str, delimiter: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |character| {
        if escaped {
            escaped = false;
            return false;
        }
        escaped = quoted && character == '\\';
        quoted ^= character == '"';
        !quoted && character == delimiter
    })
}

fn is_zero_weight(parameter: &str) -> bool {
    parameter
        .split_once('=')
        .is_some_and(|(name, weight)| name.trim().eq_ignore_ascii_case("q") && is_zero(weight.trim()))
}

/// Whether it is a zero of at most three decimals; anything longer is no weight, and takes nothing away.
fn is_zero(weight: &str) -> bool {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    whole == "0" && decimals.len() <= 3 && decimals.bytes().all(|decimal| decimal == b'0')
}

#[cfg(test)]
mod tests {
    use ::http::Request;

    use super::*;

    fn verdict(config: StreamableHttpServerConfig, headers: &[(&str, &str)]) -> Verdict {
        let usual = [("host", "localhost:8000"), ("accept", "application/json, text/event-stream")];
        let mut request = Request::post("/mcp").header("content-type", "application/json; charset=utf-8");
        for (name, value) in usual.iter().filter(|(usual, _)| headers.iter().all(|(name, _)| name != usual)) {
            request = request.header(*name, *value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        Transport::new(&config).verdict(&parts)
    }

    /// HTTP-02: origin and transport come first.
    #[test]
    fn hosts_origins_and_media_types_are_held_against_the_configuration() {
        use Verdict::{Admitted, AskAboutOrigin, LeftToRmcp};
        let default = StreamableHttpServerConfig::default;
        assert_eq!(verdict(default(), &[]), Admitted);
        for host in ["127.0.0.1", "[::1]:80", "LOCALHOST"] {
            assert_eq!(verdict(default(), &[("host", host)]), Admitted, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "", "a b"] {
            assert_eq!(verdict(default(), &[("host", host)]), LeftToRmcp, "{host}");
        }
        assert_eq!(verdict(default().disable_allowed_hosts(), &[("host", "any.example")]), Admitted);
        assert_eq!(verdict(default().with_allowed_hosts([""]), &[]), LeftToRmcp);
        assert_eq!(verdict(default().with_allowed_hosts(["localhost:1"]), &[]), LeftToRmcp);
        assert_eq!(verdict(default(), &[("origin", "http://localhost")]), AskAboutOrigin);
        let origins = || default().with_allowed_origins(["https://a.example", "http://b.example:*", "null"]);
        for origin in ["https://a.example", "https://A.example:443", "http://b.example:81", "null"] {
            assert_eq!(verdict(origins(), &[("origin", origin)]), Admitted, "{origin}");
        }
        for origin in ["http://a.example", "https://a.example:444", "https://b.example", "", "a", "http://b.example:*"]
        {
            assert_eq!(verdict(origins(), &[("origin", origin)]), LeftToRmcp, "{origin}");
        }
        // rmcp ignores such an entry.
        let two_ports = default().with_allowed_origins(["https://a.example:443:*"]);
        assert_eq!(verdict(two_ports, &[("origin", "https://a.example:443")]), LeftToRmcp);
        for accept in ["application/json", "text/event-stream", "*/*", "application/json, text/event-stream;q=0.0"] {
            assert_eq!(verdict(default(), &[("accept", accept)]), LeftToRmcp, "{accept}");
        }
        for accept in ["text/event-stream;q=0.5,Application/JSON", "text/event-stream;q=0.0000, application/json"] {
            assert_eq!(verdict(default(), &[("accept", accept)]), Admitted, "{accept}");
        }
        let spaced = "application/json;q =0, text/event-stream";
        assert_eq!(verdict(default(), &[("accept", spaced)]), LeftToRmcp);
    }
}
