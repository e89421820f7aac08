//! What a path asks for.

use super::body::truth;

/// What is asked for under a mount. Names are as the client wrote them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Resource<'p> {
    WrappingKey,
    Keys,
    Key(&'p str),
    Config(&'p str),
    Rotate(&'p str),
    Trim(&'p str),
    Import(&'p str),
    ImportVersion(&'p str),
    Export {
        kind: &'p str,
        name: &'p str,
        version: Option<&'p str>,
    },
    Sign {
        name: &'p str,
        hash: Option<&'p str>,
    },
    Verify {
        name: &'p str,
        hash: Option<&'p str>,
    },
    Encrypt(&'p str),
    Decrypt(&'p str),
    Rewrap(&'p str),
    DataKey {
        kind: &'p str,
        name: &'p str,
    },
}

impl<'p> Resource<'p> {
    /// What the rest of a path after the mount asks for.
    pub(super) fn at(rest: &'p str) -> Option<Self> {
        // One more part than any path has, so that longer ones are none.
        let mut parts = rest.splitn(5, '/');
        let mut part = || parts.next();
        Some(match (part(), part(), part(), part(), part()) {
            (Some("wrapping_key"), None, None, None, None) => Self::WrappingKey,
            (Some("keys"), None | Some(""), None, None, None) => Self::Keys,
            (Some("keys"), Some(name), None, None, None) => Self::Key(name),
            (Some("keys"), Some(name), Some(verb), None, None) => match verb {
                "config" => Self::Config(name),
                "rotate" => Self::Rotate(name),
                "trim" => Self::Trim(name),
                "import" => Self::Import(name),
                "import_version" => Self::ImportVersion(name),
                _ => return None,
            },
            (Some("export"), Some(kind), Some(name), version, None) => Self::Export {
                kind,
                name,
                version,
            },
            (Some("sign"), Some(name), hash, None, None) => Self::Sign { name, hash },
            (Some("verify"), Some(name), hash, None, None) => Self::Verify { name, hash },
            (Some("encrypt"), Some(name), None, None, None) => Self::Encrypt(name),
            (Some("decrypt"), Some(name), None, None, None) => Self::Decrypt(name),
            (Some("rewrap"), Some(name), None, None, None) => Self::Rewrap(name),
            (Some("datakey"), Some(kind), Some(name), None, None) => Self::DataKey { kind, name },
            _ => return None,
        })
    }
}

/// What is to be done with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    Read,
    List,
    Write,
    Delete,
}

impl Operation {
    /// By the method, and by `list=true` in the query as Go's client asks for lists, or another word for it.
    pub(super) fn of(method: &str, query: Option<&str>) -> Option<Self> {
        match method {
            "GET" if parameter(query, "list").and_then(truth) == Some(true) => Some(Self::List),
            "GET" => Some(Self::Read),
            "LIST" => Some(Self::List),
            "POST" | "PUT" => Some(Self::Write),
            "DELETE" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The first value of a name in a query.
pub(super) fn parameter<'q>(query: Option<&'q str>, name: &str) -> Option<&'q str> {
    let pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| *key == name);
    values.next().map(|(_, value)| value)
}
