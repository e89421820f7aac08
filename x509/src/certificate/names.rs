//! Names of subjects: common names, DNS names, addresses and their subtrees; and where revocation
//! lists are.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::num::NonZeroU16;

use const_oid::db::rfc4519::COMMON_NAME;
use der::asn1::{Any, Ia5String, OctetString, SetOfVec, Utf8StringRef};
use der::{Decode, Encode};
use pki_types::DnsName;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};

use crate::errors::from_causes;

/// Why a name cannot stand in a certificate or request.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Not a DNS name.
    #[error(
        "{0:?} is not a DNS name: labels of letters, digits, underscores and inner hyphens, no final \
         dot, at most a leading \"*.\"; write names in other scripts as \"xn--...\", and \
         give addresses to ip_address()"
    )]
    InvalidDnsName(String),
    /// A common name is empty or longer than 64 characters (RFC 5280, ub-common-name).
    #[error(
        "a common name has 1 to 64 characters, not {0}; leave it out and name the subject \
         by dns_name() or ip_address(), or pass a full name to subject()"
    )]
    CommonNameLength(usize),
    /// A prefix is longer than the address, or leaves bits of the address outside.
    #[error(
        "{address}/{prefix_len} is not a subnet: the prefix must fit the address and every \
         bit after it must be zero"
    )]
    InvalidSubnet {
        /// The address given.
        address: IpAddr,
        /// The length of the prefix, in bits.
        prefix_len: u8,
    },
    /// A subject alternative name that is neither a DNS name nor an address.
    #[error(
        "a subject alternative name is neither a DNS name nor an IP address, and only those \
         are supported"
    )]
    UnsupportedKind,
    /// Not a URL that a revocation list can be had from.
    #[error(
        "{0:?} is not the URL of a revocation list: \"http://\", a DNS name or an address, and what \
         else a URL has but a user and a fragment; lists need no https, being signed"
    )]
    InvalidListUrl(String),
    /// A name could not be encoded or decoded.
    #[error("malformed name: {0}")]
    Der(der::Error),
}

from_causes!(NameError: Der(der::Error));

/// How a certificate or request names its subject.
#[derive(Clone, Debug, Default)]
pub(crate) enum Subject {
    /// An empty name: the alternative names say who it is.
    #[default]
    Empty,
    CommonName(String),
    Full(Name),
}

impl Subject {
    pub(crate) fn to_name(&self) -> Result<Name, NameError> {
        match self {
            Self::Empty => Ok(Name::default()),
            Self::CommonName(name) => common_name(name),
            Self::Full(name) => Ok(name.clone()),
        }
    }
}

/// How the builders of certificates and of requests are told whose they are.
macro_rules! subject_methods {
    () => {
        /// The subject's common name, of 1 to 64 characters, in place of any other name.
        pub fn common_name(mut self, name: impl Into<String>) -> Self {
            self.subject = $crate::certificate::Subject::CommonName(name.into());
            self
        }

        /// The subject's full name, in place of any other. It is read from text such as
        /// `"CN=Example Root,O=Example,C=SE".parse()?`.
        pub fn subject(mut self, name: x509_cert::name::Name) -> Self {
            self.subject = $crate::certificate::Subject::Full(name);
            self
        }
    };
}
pub(crate) use subject_methods;

/// The same for the subject alternative names of end entities.
macro_rules! alternative_name_methods {
    () => {
        /// Adds a DNS name to the subject alternative names. The first label may be `*`.
        pub fn dns_name(mut self, name: impl Into<String>) -> Self {
            self.names.dns.push(name.into());
            self
        }

        /// Adds an address to the subject alternative names.
        pub fn ip_address(mut self, address: core::net::IpAddr) -> Self {
            self.names.ip.push(address);
            self
        }
    };
}
pub(crate) use alternative_name_methods;

/// The subject alternative names that this crate writes and reads.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct AlternativeNames {
    pub(crate) dns: Vec<String>,
    pub(crate) ip: Vec<IpAddr>,
}

impl AlternativeNames {
    pub(crate) fn is_empty(&self) -> bool {
        self.dns.is_empty() && self.ip.is_empty()
    }

    /// Checks the names and gives them their ASN.1 type.
    pub(crate) fn to_general_names(&self) -> Result<Vec<GeneralName>, NameError> {
        let dns = self
            .dns
            .iter()
            .map(|name| dns_name(name, Wildcard::Allowed));
        let ip = self.ip.iter().copied().map(|ip| Ok(GeneralName::from(ip)));
        dns.chain(ip).collect()
    }

    /// The names of the two kinds, and whether there were others.
    pub(crate) fn from_general_names(names: &[GeneralName]) -> (Self, bool) {
        let mut read = Self::default();
        let mut others = false;
        for name in names {
            match name {
                GeneralName::DnsName(name) => read.dns.push(name.to_string()),
                GeneralName::IpAddress(octets) => match ip_address(octets.as_bytes()) {
                    Some(ip) => read.ip.push(ip),
                    None => others = true,
                },
                _ => others = true,
            }
        }
        (read, others)
    }
}

/// A DNS name with all below it, or a range of addresses.
#[derive(Clone, Debug)]
pub(crate) enum Subtree {
    Dns(String),
    Ip { address: IpAddr, prefix_len: u8 },
}

impl Subtree {
    pub(crate) fn to_general_subtree(&self) -> Result<GeneralSubtree, NameError> {
        Ok(GeneralSubtree {
            base: match self {
                Self::Dns(name) => dns_name(name, Wildcard::Refused)?,
                Self::Ip {
                    address,
                    prefix_len,
                } => subnet(*address, *prefix_len)?,
            },
            minimum: 0,
            maximum: None,
        })
    }
}

#[derive(Eq, PartialEq)]
enum Wildcard {
    Allowed,
    Refused,
}

fn common_name(value: &str) -> Result<Name, NameError> {
    let length = value.chars().count();
    if !(1..=64).contains(&length) {
        return Err(NameError::CommonNameLength(length));
    }
    // A Name cannot be built from its parts, but it can be decoded from their encoding.
    let attribute = AttributeTypeAndValue {
        oid: COMMON_NAME,
        value: Any::encode_from(&Utf8StringRef::new(value)?)?,
    };
    let rdn = RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute])?);
    Ok(Name::from_der(&RdnSequence::from(vec![rdn]).to_der()?)?)
}

fn dns_name(name: &str, wildcard: Wildcard) -> Result<GeneralName, NameError> {
    let bare = match name.strip_prefix("*.") {
        Some(bare) if wildcard == Wildcard::Allowed => bare,
        _ => name,
    };
    match is_dns_name(bare) {
        true => Ok(GeneralName::DnsName(Ia5String::new(name)?)),
        false => Err(NameError::InvalidDnsName(name.into())),
    }
}

/// Whether this is a DNS name as certificates have it, and no wildcard: RFC 1034 section 3.5 and
/// RFC 1123 section 2.1, with underscores beside letters.
pub(crate) fn is_dns_name(name: &str) -> bool {
    !name.ends_with('.') && DnsName::try_from(name).is_ok()
}

/// Where a revocation list is to be had (RFC 5280 section 4.2.1.13, RFC 3986).
pub(crate) fn list_url(url: &str) -> Result<GeneralName, NameError> {
    if !is_list_url(url) {
        return Err(NameError::InvalidListUrl(url.into()));
    }
    Ok(GeneralName::UniformResourceIdentifier(Ia5String::new(url)?))
}

fn is_list_url(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.starts_with('+') && port.parse::<NonZeroU16>().is_ok() => host,
        _ => authority,
    };
    let is_host = match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(host) => host.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok() || DnsName::try_from(host).is_ok(),
    };
    let mut escapes = rest.split('%').skip(1);
    is_host
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte))
        && escapes.all(|escape| {
            let digits = escape.as_bytes().first_chunk::<2>();
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        })
}

/// RFC 5280 section 4.2.1.10: the address followed by its mask.
fn subnet(address: IpAddr, prefix_len: u8) -> Result<GeneralName, NameError> {
    let address_octets = octets(address);
    let bits = address_octets.len() * 8;
    let prefix = usize::from(prefix_len);
    let mask: Vec<u8> = (0..bits)
        .step_by(8)
        .map(|at| match prefix.saturating_sub(at) {
            0 => 0,
            kept @ 1..8 => 0xff << (8 - kept),
            _ => 0xff,
        })
        .collect();
    let outside = address_octets
        .iter()
        .zip(&mask)
        .any(|(octet, mask)| octet & !mask != 0);
    if prefix > bits || outside {
        return Err(NameError::InvalidSubnet {
            address,
            prefix_len,
        });
    }
    let value = [address_octets, mask].concat();
    Ok(GeneralName::IpAddress(OctetString::new(value)?))
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn ip_address(octets: &[u8]) -> Option<IpAddr> {
    match octets.len() {
        4 => <[u8; 4]>::try_from(octets).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(octets).ok().map(IpAddr::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names() {
        let name = common_name("a, b=\"c\" + é").unwrap();
        let value = name.common_name().unwrap().unwrap();
        assert_eq!(value.value(), "a, b=\"c\" + é");
        assert!(common_name(&"é".repeat(64)).is_ok());
        assert_eq!(
            common_name(&"x".repeat(65)),
            Err(NameError::CommonNameLength(65))
        );
        assert_eq!(common_name(""), Err(NameError::CommonNameLength(0)));
    }

    #[test]
    fn dns_names() {
        for good in [
            "localhost",
            "a.example",
            "_a.b_c.example",
            "*.example.org",
            "xn--bcher-kva.example",
        ] {
            assert!(dns_name(good, Wildcard::Allowed).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "*",
            "*.",
            "a.*.b",
            "**.a",
            "a..b",
            "example.org.",
            "-a.b",
            "127.0.0.1",
            "::1",
            "bücher.example",
            "a b",
            "a\0b",
            "https://a",
        ] {
            assert_eq!(
                dns_name(bad, Wildcard::Allowed),
                Err(NameError::InvalidDnsName(bad.into())),
            );
        }
        assert!(dns_name("*.example.org", Wildcard::Refused).is_err());
    }

    #[test]
    fn list_urls() {
        for good in [
            "http://example.org",
            "http://ca.example.org/issuing.crl",
            "http://ca.example.org:8080/lists/?number=7&of=a%20b",
            "http://192.0.2.1/a",
            "http://[2001:db8::1]/a",
            "http://[2001:db8::1]:80/a",
        ] {
            let expected = GeneralName::UniformResourceIdentifier(Ia5String::new(good).unwrap());
            assert_eq!(list_url(good), Ok(expected));
        }
        for bad in [
            "",
            "http",
            "http://",
            "http:///a",
            "http://:80/a",
            "http://a:b/c",
            "http://a:0/b",
            "http://a:65536/b",
            "http://a:+80/b",
            "http://someone@example.org/a",
            "http://2001:db8::1/a",
            "http://[192.0.2.1]/a",
            "http://[::1/a",
            "http://[::1]a/b",
            "http://*.example.org/a",
            "http://bücher.example/a",
            "http://example.org/ü",
            "http://example.org/a b",
            "http://example.org/a#b",
            "http://example.org/[a]",
            "http://example.org/100%",
            "http://example.org/%zz",
            "http://example.org/%2",
            "http://example.org\\a",
            "https://example.org/a",
            "ldap://example.org/a",
            "file:///a",
            "example.org/a",
            "/a",
        ] {
            assert_eq!(list_url(bad), Err(NameError::InvalidListUrl(bad.into())));
        }
    }

    #[test]
    fn subnets() {
        let encoded = |text: &str, prefix_len| {
            let name = subnet(text.parse().unwrap(), prefix_len)?;
            match name {
                GeneralName::IpAddress(octets) => Ok(octets.as_bytes().to_vec()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(encoded("10.0.0.0", 8), Ok(vec![10, 0, 0, 0, 255, 0, 0, 0]));
        assert_eq!(
            encoded("192.168.4.0", 22),
            Ok(vec![192, 168, 4, 0, 255, 255, 252, 0])
        );
        assert_eq!(encoded("0.0.0.0", 0), Ok(vec![0; 8]));
        assert_eq!(
            encoded("1.2.3.4", 32),
            Ok(vec![1, 2, 3, 4, 255, 255, 255, 255])
        );
        let v6 = encoded("2001:db8::", 33).unwrap();
        assert_eq!(v6[16..], [vec![255; 4], vec![128], vec![0; 11]].concat());
        for (address, prefix_len) in [("10.0.0.1", 8), ("10.0.0.0", 33), ("::1", 127), ("::", 129)]
        {
            assert!(matches!(
                encoded(address, prefix_len),
                Err(NameError::InvalidSubnet { .. })
            ));
        }
    }
}
