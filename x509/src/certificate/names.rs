//! Names of subjects: common names, alternative names and their subtrees; and URLs of revocation lists.

use alloc::collections::BTreeSet;
use core::convert::Infallible;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::num::NonZeroU16;
use core::str::FromStr;

use const_oid::db::rfc4519::COMMON_NAME;
use der::asn1::{Any, Ia5String, OctetString, SetOfVec, Utf8StringRef};
use der::{Decode, Encode, Tagged};
use pki_types::DnsName;
use pq_keys::errors::{describe, from_causes};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};

use super::dns_name::is_dns_name;
use super::email_address::{EmailAddress, InvalidEmailAddress};
use super::general_names;
use super::spiffe_id::{SpiffeId, SpiffeIdError};
use super::unseen;
use super::uri::{InvalidUri, Uri};

/// Why a name cannot be in a certificate or request.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Not a DNS name.
    #[error(
        "{0:?} is not a DNS name: labels of letters, digits, underscores and inner hyphens, no final \
         dot, at most a leading \"*.\"; write names in other scripts as \"xn--...\", and \
         give an IP address as such"
    )]
    InvalidDnsName(String),
    /// A wildcard with a single label after the `*`, which clients match to no name.
    #[error(
        "{0:?} has a single label after the \"*\", and clients match such wildcards to no name; ask for the \
         names that it is to stand for, or for a wildcard below a name of two labels"
    )]
    WideWildcard(String),
    /// A subject's name has too many attributes.
    #[error(
        "a subject's name has at most {MAX_ATTRIBUTES} attributes here, not {0}; leave out those that nobody \
         needs"
    )]
    TooManyAttributes(usize),
    /// A subject's name is too long.
    #[error(
        "a subject's name has at most {MAX_SUBJECT} bytes here, not {0}; shorten its attributes, or give \
         alternative names instead"
    )]
    SubjectLength(usize),
    /// A text of a subject's name has a character that readers don't see, or that changes what they see.
    #[error(
        "the subject's name has the character U+{:04X}, which isn't shown, or changes how others are shown; \
         leave it out",
        u32::from(*.0)
    )]
    UnseenCharacter(char),
    /// A common name is empty or longer than 64 characters (RFC 5280, ub-common-name).
    #[error(
        "a common name has 1 to 64 characters, not {0}; leave it out and give alternative \
         names, such as a DNS name, or give a full name"
    )]
    CommonNameLength(usize),
    /// A prefix is longer than the address, or the address has nonzero bits after the prefix.
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
    /// Not an e-mail address as certificates have it.
    #[error("{0}; give a DNS name, an IP address or a URI as such")]
    EmailAddress(InvalidEmailAddress),
    /// Not a URI as certificates have it.
    #[error(transparent)]
    Uri(#[from] InvalidUri),
    /// A URI that has the scheme of SPIFFE IDs but is none.
    #[error(transparent)]
    SpiffeId(#[from] SpiffeIdError),
    /// A SPIFFE ID without a path, which names a trust domain but no workload.
    #[error("{0} names a trust domain, but no workload; add a path, such as {0}/workload")]
    SpiffeIdWithoutPath(SpiffeId),
    /// A SPIFFE ID beside another URI.
    #[error(
        "{0} must be the only URI in its certificate (X.509-SVID section 2); have one certificate \
         issued for each"
    )]
    UriBesideSpiffeId(SpiffeId),
    /// A text that is no host of e-mail addresses or of URIs.
    #[error(
        "\"{0}\" is no name constraint: write a host such as \"example.org\", the hosts below a domain \
         as \".example.org\", or for e-mail a whole address"
    )]
    InvalidConstraint(String),
    /// A subject alternative name of a kind that is not supported.
    #[error(
        "a subject alternative name is not a DNS name, an IP address, an e-mail address or a URI, and \
         only those are supported"
    )]
    UnsupportedKind,
    /// Not a URL of a revocation list or of an OCSP responder.
    #[error(
        "{0:?} is not the URL of a revocation list or an OCSP responder: write \"http://\", a DNS name or an \
         address, and perhaps a port, a path and a query, but no user and no fragment; lists and responses \
         need no https, because they are signed"
    )]
    InvalidListUrl(String),
    /// A name could not be encoded or decoded.
    #[error("malformed name: {0}")]
    Der(der::Error),
}

from_causes!(NameError: Der(der::Error), EmailAddress(InvalidEmailAddress));

/// How a certificate or request names its subject.
#[derive(Clone, Debug, Default)]
pub(crate) enum Subject {
    /// An empty name: the alternative names identify the subject.
    #[default]
    Empty,
    CommonName(String),
    Full(Name),
}

impl Subject {
    pub(crate) fn to_name(&self) -> Result<Name, NameError> {
        let name = match self {
            Self::Empty => Name::default(),
            Self::CommonName(name) => common_name(name)?,
            Self::Full(name) => name.clone(),
        };
        check_subject(&name)?;
        Ok(name)
    }
}

/// How many attributes a subject's name may have. No standard has a limit, so whoever asks for a name would
/// choose what it costs to keep, to send and to compare.
const MAX_ATTRIBUTES: usize = 32;

/// How long a subject's name may be, in bytes of DER.
const MAX_SUBJECT: usize = 4096;

/// Checks what no rule of a standard says about a name: its size, and that people see all of it.
fn check_subject(name: &Name) -> Result<(), NameError> {
    let length = usize::try_from(name.encoded_len()?).unwrap_or(usize::MAX);
    if length > MAX_SUBJECT {
        return Err(NameError::SubjectLength(length));
    }
    let count = name.iter().count();
    if count > MAX_ATTRIBUTES {
        return Err(NameError::TooManyAttributes(count));
    }
    let mut characters = name
        .iter()
        .flat_map(|attribute| unseen::characters(attribute.value.tag(), attribute.value.value()));
    match characters.find(|one| unseen::is_unseen(*one)) {
        None => Ok(()),
        Some(found) => Err(NameError::UnseenCharacter(found)),
    }
}

/// How the builders of certificates and of requests set the subject.
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

/// How they set the subject alternative names of end entities.
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

        /// Adds an e-mail address to the subject alternative names, such as `someone@example.org`.
        pub fn email_address(mut self, address: impl Into<String>) -> Self {
            self.names.email.push(address.into());
            self
        }

        /// Adds a URI to the subject alternative names, such as a [`SpiffeId`](crate::certificate::SpiffeId). A URI with
        /// the scheme `spiffe` must be such an ID, have a path and be the only URI.
        pub fn uri(mut self, uri: impl Into<String>) -> Self {
            self.names.uri.push(uri.into());
            self
        }

        /// Adds a name of any of these kinds to the subject alternative names.
        pub fn alternative_name(mut self, name: $crate::certificate::AlternativeName) -> Self {
            self.names.push(name);
            self
        }
    };
}
pub(crate) use alternative_name_methods;

/// A subject alternative name of a kind that this crate writes and reads.
///
/// A text that parses as an IP address is read as one; else a text with a `:` as a URI, one with an `@` as an
/// e-mail address, and any other as a DNS name. Nothing else is checked until a certificate is made of it.
///
/// ```
/// use pq_x509::certificate::AlternativeName;
///
/// let name: AlternativeName = "spiffe://example.org/billing".parse()?;
/// assert_eq!(name, AlternativeName::Uri("spiffe://example.org/billing".into()));
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum AlternativeName {
    /// A DNS name, whose first label may be `*`.
    Dns(String),
    /// An address.
    Ip(IpAddr),
    /// An e-mail address.
    Email(String),
    /// A URI.
    Uri(String),
}

impl FromStr for AlternativeName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(address) => Self::Ip(address),
            Err(_) if text.contains(':') => Self::Uri(text.into()),
            Err(_) if text.contains('@') => Self::Email(text.into()),
            Err(_) => Self::Dns(text.into()),
        })
    }
}

impl fmt::Display for AlternativeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) | Self::Email(name) | Self::Uri(name) => f.write_str(name),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

impl AlternativeName {
    /// Checks that the name can be in a certificate of this crate, as issuing does.
    ///
    /// # Errors
    ///
    /// A [`NameError`] that says why it can't.
    pub fn check(&self) -> Result<(), NameError> {
        let mut names = AlternativeNames::default();
        names.push(self.clone());
        names.to_general_names().map(drop)
    }
}

/// The subject alternative names that this crate writes and reads.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct AlternativeNames {
    pub(crate) dns: Vec<String>,
    pub(crate) ip: Vec<IpAddr>,
    pub(crate) email: Vec<String>,
    pub(crate) uri: Vec<String>,
}

impl AlternativeNames {
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The names, kind by kind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = AlternativeName> {
        let dns = self.dns.iter().cloned().map(AlternativeName::Dns);
        let ip = self.ip.iter().copied().map(AlternativeName::Ip);
        let email = self.email.iter().cloned().map(AlternativeName::Email);
        let uri = self.uri.iter().cloned().map(AlternativeName::Uri);
        dns.chain(ip).chain(email).chain(uri)
    }

    pub(crate) fn push(&mut self, name: AlternativeName) {
        match name {
            AlternativeName::Dns(name) => self.dns.push(name),
            AlternativeName::Ip(address) => self.ip.push(address),
            AlternativeName::Email(address) => self.email.push(address),
            AlternativeName::Uri(uri) => self.uri.push(uri),
        }
    }

    /// The SPIFFE ID, if one of the URIs has that scheme. It must have a path, and be the only URI.
    pub(crate) fn spiffe_id(&self) -> Result<Option<SpiffeId>, NameError> {
        let Some(meant) = self.uri.iter().find(|uri| SpiffeId::is_meant(uri)) else {
            return Ok(None);
        };
        let id: SpiffeId = meant.parse()?;
        if id.path().is_empty() {
            return Err(NameError::SpiffeIdWithoutPath(id));
        }
        if self.uri.len() > 1 {
            return Err(NameError::UriBesideSpiffeId(id));
        }
        Ok(Some(id))
    }

    /// Checks the names and gives them their ASN.1 type. One that is there again says nothing, and is left out.
    pub(crate) fn to_general_names(&self) -> Result<Vec<GeneralName>, NameError> {
        self.spiffe_id()?;
        let mut seen = BTreeSet::new();
        self.iter()
            .filter(|name| {
                seen.insert(match name {
                    AlternativeName::Dns(name) => AlternativeName::Dns(name.to_ascii_lowercase()),
                    other => other.clone(),
                })
            })
            .map(|name| match name {
                AlternativeName::Dns(name) => dns_name(&name, Wildcard::Allowed),
                AlternativeName::Ip(address) => Ok(GeneralName::from(address)),
                AlternativeName::Email(address) => {
                    let address: EmailAddress = address.parse()?;
                    Ok(GeneralName::Rfc822Name(Ia5String::new(address.as_str())?))
                }
                AlternativeName::Uri(uri) => {
                    let uri: Uri = uri.parse()?;
                    let uri = Ia5String::new(uri.as_str())?;
                    Ok(GeneralName::UniformResourceIdentifier(uri))
                }
            })
            .collect()
    }

    /// The names of these kinds, and whether there were others.
    pub(crate) fn from_general_names(names: &[general_names::GeneralName<'_>]) -> (Self, bool) {
        use general_names::GeneralName;

        let mut read = Self::default();
        let mut others = false;
        for name in names {
            match name {
                GeneralName::Dns(name) => read.dns.push((*name).into()),
                GeneralName::Email(address) => read.email.push((*address).into()),
                GeneralName::Uri(uri) => read.uri.push((*uri).into()),
                GeneralName::Ip(octets) => match ip_address(octets) {
                    Some(ip) => read.ip.push(ip),
                    None => others = true,
                },
                _ => others = true,
            }
        }
        (read, others)
    }
}

/// What a CA's certificate permits or excludes (RFC 5280 section 4.2.1.10).
#[derive(Clone, Debug)]
pub(crate) enum Subtree {
    /// A DNS name and all names below it.
    Dns(String),
    Ip {
        address: IpAddr,
        prefix_len: u8,
    },
    /// A mailbox, a host, or with a leading dot the hosts below a domain.
    Email(String),
    /// A host, or with a leading dot the hosts below a domain.
    Uri(String),
    /// All names that begin with this name.
    Directory(Name),
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
                Self::Email(base) if base.contains('@') => {
                    let address: EmailAddress = base.parse()?;
                    GeneralName::Rfc822Name(Ia5String::new(address.as_str())?)
                }
                Self::Email(base) => GeneralName::Rfc822Name(hosts(base)?),
                Self::Uri(base) => GeneralName::UniformResourceIdentifier(hosts(base)?),
                Self::Directory(base) => GeneralName::DirectoryName(base.clone()),
            },
            minimum: 0,
            maximum: None,
        })
    }
}

/// A host, or with a leading dot the hosts below a domain, as constraints write it.
fn hosts(base: &str) -> Result<Ia5String, NameError> {
    match is_dns_name(base.strip_prefix('.').unwrap_or(base)) {
        true => Ok(Ia5String::new(base)?),
        false => Err(NameError::InvalidConstraint(describe(base))),
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
        // webpki takes such a wildcard for a malformed name, and then accepts no name of the certificate.
        true if bare.len() < name.len() && !bare.contains('.') => {
            Err(NameError::WideWildcard(name.into()))
        }
        true => Ok(GeneralName::DnsName(Ia5String::new(name)?)),
        false => Err(NameError::InvalidDnsName(name.into())),
    }
}

/// A subject for messages: its name, or the alternative names if that is empty.
pub(crate) fn describe_subject<N: IntoIterator<Item = AlternativeName>>(
    subject: &Name,
    alternative_names: impl FnOnce() -> N,
) -> String {
    if !subject.is_empty() {
        return describe(subject);
    }
    let names = alternative_names().into_iter();
    let names: Vec<String> = names.map(|name| name.to_string()).collect();
    describe(names.join(", "))
}

/// The URL of a revocation list or an OCSP responder (RFC 5280 sections 4.2.1.13 and 4.2.2.1, RFC
/// 3986).
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

pub(crate) fn ip_address(octets: &[u8]) -> Option<IpAddr> {
    match octets.len() {
        4 => <[u8; 4]>::try_from(octets).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(octets).ok().map(IpAddr::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use der::Tag;

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
        for wide in [
            "*.localhost",
            "*.test",
            "*.internal",
            "*.org",
            "*.LOCAL",
            "*.a",
        ] {
            assert_eq!(
                dns_name(wide, Wildcard::Allowed),
                Err(NameError::WideWildcard(wide.into())),
            );
        }
    }

    fn subject(attributes: Vec<AttributeTypeAndValue>) -> Result<Name, NameError> {
        let parts = attributes.into_iter().map(|attribute| {
            RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute]).unwrap())
        });
        let name = RdnSequence::from(parts.collect::<Vec<_>>());
        let name = Name::from_der(&name.to_der().unwrap()).unwrap();
        Subject::Full(name).to_name()
    }

    fn attribute(tag: Tag, value: &[u8]) -> AttributeTypeAndValue {
        AttributeTypeAndValue {
            oid: COMMON_NAME,
            value: Any::new(tag, value).unwrap(),
        }
    }

    /// Each bound, and one beyond it.
    #[test]
    fn subjects_are_bounded() {
        let with = |count: usize| subject(vec![attribute(Tag::Utf8String, b"a b"); count]);
        assert!(with(32).is_ok());
        assert_eq!(with(33), Err(NameError::TooManyAttributes(33)));
        // Around the text are 21 bytes: four headers and the attribute's type.
        let long = |length: usize| subject(vec![attribute(Tag::Utf8String, &vec![b'x'; length])]);
        assert_eq!(long(4096 - 21).unwrap().to_der().unwrap().len(), 4096);
        assert_eq!(long(4096 - 20), Err(NameError::SubjectLength(4097)));
        assert!(matches!(
            long(8_000_000),
            Err(NameError::SubjectLength(8_000_000..))
        ));
        assert!(matches!(
            with(100_000),
            Err(NameError::SubjectLength(1_000_000..))
        ));
    }

    #[test]
    fn people_see_all_of_a_subject() {
        for (tag, value) in [
            (Tag::Utf8String, "abc\u{202e}gnp".as_bytes()),
            (Tag::Utf8String, "a\u{200b}b".as_bytes()),
            (Tag::Utf8String, "a\0b".as_bytes()),
            (Tag::PrintableString, b"a\0"),
            (Tag::TeletexString, b"a\x9b31m"),
            (Tag::BmpString, &[0, b'a', 0x20, 0x2e]),
            (Tag::BmpString, &[0, 0, 0, b'a']),
            // A tag as a pair of surrogates.
            (Tag::BmpString, &[0, b'a', 0xdb, 0x40, 0xdc, 0x41]),
            (Tag::Utf8String, "a\u{fe0f}".as_bytes()),
            (Tag::Utf8String, "a\u{2800}".as_bytes()),
        ] {
            let refused = subject(vec![
                attribute(Tag::Utf8String, b"a"),
                attribute(tag, value),
            ]);
            assert!(
                matches!(refused, Err(NameError::UnseenCharacter(_))),
                "{tag} {value:x?}: {refused:?}"
            );
        }
        assert_eq!(
            Subject::CommonName("abc\u{202e}".into()).to_name(),
            Err(NameError::UnseenCharacter('\u{202e}'))
        );
        assert!(
            Subject::CommonName("Älice \u{6771}\u{4eac}".into())
                .to_name()
                .is_ok()
        );
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
