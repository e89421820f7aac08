//! Reads the URL to fetch. It takes only `https`, and refuses URLs with credentials.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use hyper::http::uri::Scheme;
use rustls::pki_types::ServerName;

/// What to fetch: an `https` URL, taken apart.
#[derive(Clone, Debug)]
pub struct Target {
    /// As the URL has it, an IPv6 address in brackets.
    host: String,
    /// Where to connect.
    pub port: u16,
    /// What the certificate has to be for, and what is looked up.
    pub server_name: ServerName<'static>,
    /// The path and the query.
    pub path: String,
}

impl Target {
    /// The value of the `Host` header.
    pub fn authority(&self) -> String {
        match self.port {
            HTTPS => self.host.clone(),
            port => format!("{}:{port}", self.host),
        }
    }
}

impl FromStr for Target {
    type Err = NotATarget;

    fn from_str(text: &str) -> Result<Self, NotATarget> {
        let url: Uri = text.parse().map_err(|_| NotATarget::Malformed)?;
        match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => {}
            Some(_) => return Err(NotATarget::Scheme),
            None => return Err(NotATarget::Malformed),
        }
        let authority = url.authority().ok_or(NotATarget::Malformed)?;
        if authority.as_str().contains('@') {
            return Err(NotATarget::Credentials);
        }
        let host = authority.host();
        let port = match authority.as_str()[host.len()..].strip_prefix(':') {
            Some(port) => port.parse().map_err(|_| NotATarget::Malformed)?,
            None => HTTPS,
        };
        Ok(Self {
            server_name: server_name(host.trim_start_matches('[').trim_end_matches(']'))?,
            host: host.to_owned(),
            port,
            path: url
                .path_and_query()
                .map_or_else(|| "/".into(), ToString::to_string),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}{}", self.authority(), self.path)
    }
}

/// Reads a DNS name or an IP address, without brackets.
///
/// # Errors
///
/// [`NotATarget::Host`] if it is neither.
pub fn server_name(text: &str) -> Result<ServerName<'static>, NotATarget> {
    ServerName::try_from(text.to_owned()).map_err(|_| NotATarget::Host(text.to_owned()))
}

/// Why a text is not something to connect to.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATarget {
    /// It is no URL.
    #[error("write it like https://localhost:8443/")]
    Malformed,
    /// It is a URL of another kind.
    #[error("only https:// can be fetched")]
    Scheme,
    /// It has a user's name or password.
    #[error("this client doesn't send user names or passwords; leave out what is before the @")]
    Credentials,
    /// Its host is neither a DNS name nor an address.
    #[error("{0:?} is neither a DNS name nor an IP address")]
    Host(String),
}

const HTTPS: u16 = 443;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        for (text, server_name, port, path, authority) in [
            ("https://localhost", "localhost", 443, "/", "localhost"),
            ("https://a.example:443", "a.example", 443, "/", "a.example"),
            (
                "HTTPS://a.example:8443/",
                "a.example",
                8443,
                "/",
                "a.example:8443",
            ),
            (
                "https://127.0.0.1:1/a?b=c",
                "127.0.0.1",
                1,
                "/a?b=c",
                "127.0.0.1:1",
            ),
            ("https://[::1]:65535?x", "::1", 65535, "/?x", "[::1]:65535"),
            ("https://[::1]/", "::1", 443, "/", "[::1]"),
        ] {
            let target: Target = text.parse().expect(text);
            assert_eq!(target.server_name.to_str(), server_name, "{text}");
            assert_eq!(target.port, port, "{text}");
            assert_eq!(target.path, path, "{text}");
            assert_eq!(target.authority(), authority, "{text}");
        }
    }

    #[test]
    fn refusals() {
        for (text, expected) in [
            ("", NotATarget::Malformed),
            ("localhost:8443", NotATarget::Malformed),
            ("/", NotATarget::Malformed),
            ("https://", NotATarget::Malformed),
            ("https://localhost:99999/", NotATarget::Malformed),
            ("https://localhost:/", NotATarget::Malformed),
            ("http://localhost/", NotATarget::Scheme),
            ("ftp://localhost/", NotATarget::Scheme),
            ("https://user:secret@localhost/", NotATarget::Credentials),
            ("https://-/", NotATarget::Host("-".into())),
        ] {
            assert_eq!(text.parse::<Target>().unwrap_err(), expected, "{text}");
        }
    }
}
