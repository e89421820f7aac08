//! The names of a certificate or request, as the command line has them: its subject, a common name alone or a full
//! distinguished name, and its alternative names.

use core::net::{IpAddr, Ipv6Addr};
use core::str::FromStr;

use pq_x509::certificate::{AlternativeName, Name};

/// Reads a name that a certificate is for. One with a port is refused, although it could be a URI.
pub(crate) fn alternative_name(text: &str) -> Result<AlternativeName, String> {
    let Ok(name) = without_port(text)?.parse();
    Ok(name)
}

/// Takes a name that certificates are looked for by, unless it has a port.
pub(crate) fn without_port(text: &str) -> Result<String, String> {
    match split_port(text) {
        Some((name, port)) => Err(format!(
            "certificates are for names without ports; leave \":{port}\" out, and write {name}"
        )),
        None => Ok(text.into()),
    }
}

/// The host and the port, if the text is both.
fn split_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.rsplit_once(':')?;
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    if port.is_empty() || !is_port || text.parse::<IpAddr>().is_ok() {
        return None;
    }
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_name =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.' || byte == b'*';
    match address {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(|_| (address, port)),
        None => (!host.is_empty() && host.bytes().all(is_name)).then_some((host, port)),
    }
}

/// How a subject is named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Subject {
    CommonName(String),
    Full(Name),
}

impl FromStr for Subject {
    type Err = String;

    /// Reads a full name, `CN=Example Root,O=Example`, or a text without `=` as a common name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.contains('=') {
            return Ok(Self::CommonName(text.into()));
        }
        let text = match text.strip_prefix('/') {
            Some(parts) => of_openssl(parts)?,
            None => text.to_owned(),
        };
        if let Some(part) = pieces(&text, ',').find(|part| !part.contains('=')) {
            return Err(format!(
                "\"{part}\" stands after a comma, and is no attribute such as O=Organisation; in front of a comma within \
                 a value, write a backslash: O=Example\\, Inc."
            ));
        }
        let name = text.parse().map(Self::Full);
        name.map_err(|_| {
            "it is no distinguished name; write a common name, or a full one such as CN=Example,O=Organisation, with the \
             attributes of RFC 4514: CN, O, OU, C, ST, L, STREET, DC and UID, or object identifiers"
                .into()
        })
    }
}

/// The pieces of a text between separators that have no backslash in front.
fn pieces(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |character| {
        let separates = character == separator && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        separates
    })
}

/// The name of RFC 4514 for one in OpenSSL's form, `C=DE/O=Example, Inc./CN=Example`, whose order is the reverse.
fn of_openssl(text: &str) -> Result<String, String> {
    let mut name = Vec::new();
    for part in pieces(text, '/') {
        let (kind, value) = part.split_once('=').ok_or_else(|| {
            format!(
                "\"{part}\" stands after a slash, and is no attribute such as O=Organisation; in front of a slash within a \
                 value, write a backslash"
            )
        })?;
        let mut escaped = String::new();
        let mut characters = value.chars();
        while let Some(character) = characters.next() {
            let character = match character {
                '\\' => characters.next().unwrap_or('\\'),
                other => other,
            };
            if ",+\"\\<>;=#".contains(character) {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        name.push(format!("{kind}={escaped}"));
    }
    name.reverse();
    Ok(name.join(","))
}
