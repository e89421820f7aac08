//! Where a key of a Transit engine is.

use core::fmt;
use core::str::FromStr;

/// The address of a key of a Transit engine, as Vault's API has it: `https://HOST[:PORT]/v1/MOUNT/keys/NAME`. Before the mount may
/// stand a namespace, as part of the path.
///
/// ```
/// use pq_keystore::remote::TransitAddress;
///
/// let address: TransitAddress = "https://vault.example:8200/v1/transit/keys/store".parse()?;
/// assert_eq!((address.host(), address.port()), ("vault.example", 8200));
/// assert_eq!((address.mount(), address.key()), ("transit", "store"));
/// assert!("http://vault.example:8200/v1/transit/keys/store".parse::<TransitAddress>().is_err());
/// # Ok::<_, pq_keystore::remote::InvalidTransitAddress>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransitAddress {
    /// The host, and the port if one is named.
    authority: String,
    port: u16,
    mount: String,
    key: String,
    namespace: Option<String>,
}

/// Why a text is no address of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTransitAddress {
    /// It would be asked without TLS.
    #[error("it begins with https://, since what is sent there is secret")]
    NotHttps,
    /// It has not the form of one.
    #[error("it has the form https://HOST:PORT/v1/MOUNT/keys/NAME")]
    Form,
    /// It has the name of a user or a password in it.
    #[error("it has no user and no password: the token is given apart")]
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

impl TransitAddress {
    /// The key in a namespace, which goes into `X-Vault-Namespace`.
    ///
    /// # Errors
    ///
    /// [`InvalidTransitAddress::Namespace`] if it can't be one.
    pub fn namespace(self, namespace: &str) -> Result<Self, InvalidTransitAddress> {
        match namespace.len() <= MAX_LEN
            && is_path(namespace.strip_suffix('/').unwrap_or(namespace))
        {
            true => Ok(Self {
                namespace: Some(namespace.into()),
                ..self
            }),
            false => Err(InvalidTransitAddress::Namespace),
        }
    }

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

    /// The name of the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn namespace_field(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Whether both are on one server.
    pub fn is_on_server_of(&self, other: &Self) -> bool {
        self.host().eq_ignore_ascii_case(other.host()) && self.port == other.port
    }
}

impl FromStr for TransitAddress {
    type Err = InvalidTransitAddress;

    fn from_str(text: &str) -> Result<Self, InvalidTransitAddress> {
        use InvalidTransitAddress::{Form, NotHttps, TooLong, User};

        if text.len() > MAX_LEN {
            return Err(TooLong);
        }
        let rest = text.strip_prefix("https://").ok_or(NotHttps)?;
        let (authority, path) = rest.split_once('/').ok_or(Form)?;
        if authority.contains('@') {
            return Err(User);
        }
        let (host, port) = split_authority(authority);
        let is_host = match authority.starts_with('[') {
            true => host.parse::<core::net::Ipv6Addr>().is_ok(),
            false => is_segment(host) && !host.contains('_'),
        };
        let port = match port {
            None => 443,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|port| *port > 0).ok_or(Form)?
            }
            Some(_) => return Err(Form),
        };
        let path = path.strip_prefix("v1/").ok_or(Form)?;
        let (mount, key) = path.rsplit_once("/keys/").ok_or(Form)?;
        match is_host && is_path(mount) && is_segment(key) {
            true => Ok(Self {
                authority: authority.into(),
                port,
                mount: mount.into(),
                key: key.into(),
                namespace: None,
            }),
            false => Err(Form),
        }
    }
}

impl fmt::Display for TransitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            authority,
            mount,
            key,
            ..
        } = self;
        write!(f, "https://{authority}/v1/{mount}/keys/{key}")?;
        match &self.namespace {
            Some(namespace) => write!(f, "?namespace={namespace}"),
            None => Ok(()),
        }
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
