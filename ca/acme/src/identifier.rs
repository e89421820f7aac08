//! What a certificate is for: DNS names (RFC 8555, section 7.1.4) and addresses (RFC 8738).
//!
//! This room uses nothing.

use alloc::borrow::Cow;
use core::fmt;
use core::net::IpAddr;

use pq_keys::pki_types::DnsName;
use pq_x509::certificate::AlternativeName;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A DNS name or an address. DNS names are in lower case.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Identifier {
    /// A DNS name, in an order also with `*.` before it.
    Dns(String),
    /// An address.
    Ip(IpAddr),
}

impl Identifier {
    /// Reads an identifier of an order or an authorization.
    ///
    /// # Errors
    ///
    /// An [`IdentifierError`] if it is of another type, or malformed.
    pub fn read(kind: &str, value: &str) -> Result<Self, IdentifierError> {
        match kind {
            "dns" => Self::dns(value),
            "ip" => {
                // RFC 8738 section 3: the text of RFC 5952, and no other
                let address = value.parse::<IpAddr>().ok();
                address
                    .filter(|address| address.to_string() == value)
                    .map(Self::Ip)
                    .ok_or(IdentifierError::Ip)
            }
            _ => Err(IdentifierError::Type),
        }
    }

    /// A DNS name, with `*.` before it or not. It is put into lower case.
    ///
    /// # Errors
    ///
    /// [`IdentifierError::Dns`].
    pub fn dns(name: &str) -> Result<Self, IdentifierError> {
        let base = name.strip_prefix("*.").unwrap_or(name);
        let is_name = !base.ends_with('.') && DnsName::try_from(base).is_ok();
        // `1.2.3.4` is an address, and URLs read `1.2.0x304` as the same one
        let last = base.rsplit('.').next().unwrap_or_default();
        let digits = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let is_number = match digits {
            Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => last.bytes().all(|byte| byte.is_ascii_digit()),
        };
        match is_name && !is_number {
            true => Ok(Self::Dns(name.to_ascii_lowercase())),
            false => Err(IdentifierError::Dns),
        }
    }

    /// The type, as ACME names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Dns(_) => "dns",
            Self::Ip(_) => "ip",
        }
    }

    /// The value, as ACME has it.
    pub fn value(&self) -> Cow<'_, str> {
        match self {
            Self::Dns(name) => Cow::Borrowed(name),
            Self::Ip(address) => Cow::Owned(address.to_string()),
        }
    }

    /// Whether it is a name with `*.` before it.
    pub fn is_wildcard(&self) -> bool {
        matches!(self, Self::Dns(name) if name.starts_with("*."))
    }

    /// The identifier without `*.`: that of its authorization.
    pub fn base(&self) -> Cow<'_, Self> {
        match self {
            Self::Dns(name) if name.starts_with("*.") => Cow::Owned(Self::Dns(name[2..].into())),
            other => Cow::Borrowed(other),
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.value())
    }
}

impl From<Identifier> for AlternativeName {
    fn from(identifier: Identifier) -> Self {
        match identifier {
            Identifier::Dns(name) => Self::Dns(name),
            Identifier::Ip(address) => Self::Ip(address),
        }
    }
}

/// Why an identifier is refused.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum IdentifierError {
    /// It is of another type.
    #[error("identifiers are of the types \"dns\" and \"ip\" here")]
    Type,
    /// It is no DNS name.
    #[error(
        "not a DNS name of letters, digits and hyphens, with \"*.\" before it or not, and without a dot at its end; write \
         other letters as in \"xn--bcher-kva\""
    )]
    Dns,
    /// It is no address.
    #[error("not an address as RFC 5952 writes it, such as 192.0.2.1 or 2001:db8::1")]
    Ip,
}

impl Serialize for Identifier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Identifier", 2)?;
        members.serialize_field("type", self.kind())?;
        members.serialize_field("value", &self.value())?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawIdentifier::deserialize(deserializer)?;
        Self::read(&raw.kind, &raw.value).map_err(de::Error::custom)
    }
}

/// An identifier that was not looked at: a request with one that is not supported gets an answer that says which.
#[derive(Clone, Debug, Deserialize)]
pub struct RawIdentifier {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_have_one_text() {
        for (kind, good) in [
            ("dns", "example.org"),
            ("dns", "*.example.org"),
            ("dns", "localhost"),
            ("dns", "0x7f.example"),
            ("dns", "example.0xyz"),
            ("ip", "192.0.2.1"),
            ("ip", "2001:db8::1"),
        ] {
            let read = Identifier::read(kind, good).unwrap();
            assert_eq!((read.kind(), &*read.value()), (kind, good));
            let json = serde_json::to_string(&read).unwrap();
            assert_eq!(json, format!(r#"{{"type":"{kind}","value":"{good}"}}"#));
            assert_eq!(serde_json::from_str::<Identifier>(&json).unwrap(), read);
        }
        assert_eq!(
            Identifier::dns("WWW.Example.org").unwrap().to_string(),
            "www.example.org"
        );
        for (kind, bad) in [
            ("dns", ""),
            ("dns", "example.org."),
            ("dns", "*"),
            ("dns", "*.*.example.org"),
            ("dns", "a.*.example.org"),
            ("dns", "192.0.2.1"),
            ("dns", "0xc0000201"),
            ("dns", "192.0.0X201"),
            ("dns", "example.0x"),
            ("dns", "ex ample.org"),
            ("dns", "bücher.example"),
            ("dns", "a..b"),
            ("ip", "192.0.2.01"),
            ("ip", "2001:DB8::1"),
            ("ip", "2001:db8:0::1"),
            ("ip", "192.0.2.1/32"),
            ("ip", "example.org"),
            ("email", "a@example.org"),
        ] {
            assert!(Identifier::read(kind, bad).is_err(), "{bad}");
        }
    }
}
