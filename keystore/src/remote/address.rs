//! Where a Transit engine is, and a key of one.

use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;

/// The address of a Transit engine, as Vault's API has it: `https://HOST[:PORT][/v1/MOUNT]`. The mount is `transit` if none is
/// named. Before it may stand a namespace, as part of the path.
///
/// ```
/// use pq_keystore::remote::EngineAddress;
///
/// let address: EngineAddress = "https://keys.example:8200/v1/pki".parse()?;
/// assert_eq!((address.host(), address.port(), address.mount()), ("keys.example", 8200, "pki"));
/// let address: EngineAddress = "https://keys.example".parse()?;
/// assert_eq!((address.port(), address.mount()), (443, "transit"));
/// # Ok::<_, pq_keystore::remote::InvalidAddress>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EngineAddress {
    /// The host, and the port if one is named.
    authority: String,
    port: u16,
    mount: String,
}

/// The address of a key of a Transit engine, as Vault's API has it: `https://HOST[:PORT]/v1/MOUNT/keys/NAME`. Before the mount
/// may stand a namespace, as part of the path.
///
/// ```
/// use pq_keystore::remote::TransitAddress;
///
/// let address: TransitAddress = "https://vault.example:8200/v1/transit/keys/store".parse()?;
/// assert_eq!((address.engine().host(), address.engine().port()), ("vault.example", 8200));
/// assert_eq!((address.engine().mount(), address.key()), ("transit", "store"));
/// assert!("http://vault.example:8200/v1/transit/keys/store".parse::<TransitAddress>().is_err());
/// # Ok::<_, pq_keystore::remote::InvalidAddress>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransitAddress {
    engine: EngineAddress,
    key: String,
    namespace: Option<String>,
}

/// Why a text is no address. It has nothing of the text, in which there may be a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAddress {
    /// It would be asked without TLS.
    #[error("it begins with https://, since what is sent there is secret")]
    NotHttps,
    /// It has not the form of an engine's.
    #[error(
        "it has the form https://HOST:PORT/v1/MOUNT, such as https://keys.example:8200/v1/transit"
    )]
    EngineForm,
    /// It has not the form of a key's.
    #[error("it has the form https://HOST:PORT/v1/MOUNT/keys/NAME")]
    KeyForm,
    /// It has the name of a user, a password or a token in it.
    #[error(
        "no user, no password and no token stand in it, since others may read it; a token is given apart, in a file"
    )]
    User,
    /// It is longer than 1,024 bytes.
    #[error("it has at most 1024 bytes")]
    TooLong,
    /// A namespace has characters that none has.
    #[error("a namespace has letters, digits, \"-\", \"_\", \".\" and \"/\"")]
    Namespace,
}

/// The most bytes of an address and of a namespace.
const MAX_LEN: usize = 1024;

impl EngineAddress {
    /// The name or address of the server, without brackets.
    pub fn host(&self) -> &str {
        split_authority(&self.authority).0
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path of the engine, such as `transit`.
    pub fn mount(&self) -> &str {
        &self.mount
    }

    /// Whether both are on one server.
    pub fn is_on_server_of(&self, other: &Self) -> bool {
        self.host().eq_ignore_ascii_case(other.host()) && self.port == other.port
    }

    /// The engine on this server, by its path.
    fn at(authority: &str, mount: &str) -> Option<Self> {
        let (host, port) = split_authority(authority);
        let is_host = match authority.starts_with('[') {
            true => host.parse::<Ipv6Addr>().is_ok(),
            false => is_segment(host),
        };
        let port = match port {
            None => Some(443),
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
            Some(_) => None,
        };
        Some(Self {
            authority: authority.into(),
            port: port.filter(|port| *port > 0)?,
            mount: (is_host && is_path(mount)).then(|| mount.into())?,
        })
    }
}

impl FromStr for EngineAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let (authority, path) = split(text)?;
        let mount = match path.strip_suffix('/').unwrap_or(path) {
            "" => Some("transit"),
            path => path.strip_prefix("v1/"),
        };
        mount
            .and_then(|mount| Self::at(authority, mount))
            .ok_or(InvalidAddress::EngineForm)
    }
}

impl fmt::Display for EngineAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}/v1/{}", self.authority, self.mount)
    }
}

impl TransitAddress {
    /// The key in a namespace, which goes into `X-Vault-Namespace`.
    ///
    /// # Errors
    ///
    /// [`InvalidAddress::Namespace`] if it can't be one.
    pub fn namespace(self, namespace: &str) -> Result<Self, InvalidAddress> {
        match namespace.len() <= MAX_LEN
            && is_path(namespace.strip_suffix('/').unwrap_or(namespace))
        {
            true => Ok(Self {
                namespace: Some(namespace.into()),
                ..self
            }),
            false => Err(InvalidAddress::Namespace),
        }
    }

    /// The engine that has the key.
    pub fn engine(&self) -> &EngineAddress {
        &self.engine
    }

    /// The name of the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn namespace_field(&self) -> Option<&str> {
        self.namespace.as_deref()
    }
}

impl FromStr for TransitAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let (authority, path) = split(text)?;
        let path = path.strip_prefix("v1/");
        let parts = path.and_then(|path| path.rsplit_once("/keys/"));
        let (mount, key) = parts.ok_or(InvalidAddress::KeyForm)?;
        match EngineAddress::at(authority, mount) {
            Some(engine) if is_segment(key) => Ok(Self {
                engine,
                key: key.into(),
                namespace: None,
            }),
            _ => Err(InvalidAddress::KeyForm),
        }
    }
}

impl fmt::Display for TransitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/keys/{}", self.engine, self.key)?;
        match &self.namespace {
            Some(namespace) => write!(f, "?namespace={namespace}"),
            None => Ok(()),
        }
    }
}

/// The authority of an address, and its path without the first slash.
fn split(text: &str) -> Result<(&str, &str), InvalidAddress> {
    if text.len() > MAX_LEN {
        return Err(InvalidAddress::TooLong);
    }
    let rest = text.strip_prefix("https://");
    let rest = rest.ok_or(InvalidAddress::NotHttps)?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    match authority.contains('@') {
        true => Err(InvalidAddress::User),
        false => Ok((authority, path)),
    }
}

/// The host without its brackets, and what follows the colon after it.
fn split_authority(authority: &str) -> (&str, Option<&str>) {
    if let Some(rest) = authority.strip_prefix('[')
        && let Some((host, after)) = rest.split_once(']')
    {
        return match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => (host, Some(after)),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    }
}

fn is_path(text: &str) -> bool {
    text.split('/').all(is_segment)
}

/// Whether a path can have this between two slashes, as it is.
fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain) && !text.bytes().all(|byte| byte == b'.')
}
