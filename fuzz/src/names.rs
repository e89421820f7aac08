//! Names of all kinds, the constraints that a CA has for them, and a model of what these permit.

use std::net::IpAddr;

use arbitrary::Arbitrary;
use pq_x509::x509_cert::name::Name as DirectoryName;
use pq_x509::{AlternativeName, Ca, CertificateBuilder, EmailAddress, Uri};

/// A name of any kind, made of parts that fit.
#[derive(Arbitrary, Debug)]
pub enum Name<'a> {
    Dns(Host<'a>),
    Email(Part<'a>, Host<'a>),
    Uri {
        is_http: bool,
        user: Option<Part<'a>>,
        host: Host<'a>,
        port: Option<u16>,
        path: Part<'a>,
    },
    SpiffeId(Host<'a>, Part<'a>),
    Ip(IpAddr),
    Text(&'a str),
}

#[derive(Arbitrary, Debug)]
pub enum Host<'a> {
    Example,
    Below,
    Subdomains,
    Wildcard,
    Upper,
    Localhost,
    Address,
    Address6,
    Other(&'a str),
}

impl Host<'_> {
    pub fn text(&self) -> &str {
        match self {
            Self::Example => "example.org",
            Self::Below => "a.example.org",
            Self::Subdomains => ".example.org",
            Self::Wildcard => "*.example.org",
            Self::Upper => "EXAMPLE.org",
            Self::Localhost => "localhost",
            Self::Address => "127.0.0.1",
            Self::Address6 => "[::1]",
            Self::Other(text) => text,
        }
    }
}

#[derive(Arbitrary, Debug)]
pub enum Part<'a> {
    Empty,
    Word,
    Words,
    Escaped,
    Dots,
    Other(&'a str),
}

impl Part<'_> {
    pub fn text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Word => "a",
            Self::Words => "a.b-c_d",
            Self::Escaped => "%41",
            Self::Dots => "../b",
            Self::Other(text) => text,
        }
    }
}

impl Name<'_> {
    /// As it stands in a certificate.
    pub fn name(&self) -> AlternativeName {
        let text = match self {
            Self::Dns(host) => return AlternativeName::Dns(host.text().into()),
            Self::Ip(address) => return AlternativeName::Ip(*address),
            Self::Email(part, host) => {
                return AlternativeName::Email([part.text(), host.text()].join("@"));
            }
            Self::Uri {
                is_http,
                user,
                host,
                port,
                path,
            } => {
                let scheme = if *is_http { "http" } else { "urn+x" };
                let user = user
                    .as_ref()
                    .map_or(String::new(), |it| it.text().to_owned() + "@");
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                format!("{scheme}://{user}{}{port}/{}", host.text(), path.text())
            }
            Self::SpiffeId(host, path) => format!("spiffe://{}/{}", host.text(), path.text()),
            Self::Text(text) => text.to_string(),
        };
        let Ok(name) = text.parse();
        name
    }
}

/// What a CA may issue for, or may not.
#[derive(Arbitrary, Debug)]
pub enum Subtree<'a> {
    Dns(Host<'a>),
    Email(Option<Part<'a>>, Host<'a>),
    Uri(Host<'a>),
    Ip(IpAddr, u8),
    Directory(Vec<RelativeName>),
}

/// The subject of a certificate.
#[derive(Arbitrary, Debug)]
pub struct Subject<'a> {
    relative_names: Vec<RelativeName>,
    /// An e-mail address among them.
    email: Option<(Part<'a>, Host<'a>)>,
}

/// An organization, perhaps with its unit, or a common name, perhaps with a user's identifier.
#[derive(Arbitrary, Debug)]
pub struct RelativeName {
    is_organization: bool,
    value: Value,
    second: Option<Value>,
}

/// Some are the same to RFC 5280.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Value {
    Words,
    Upper,
    Spaces,
    Other,
}

impl Value {
    fn text(self) -> &'static str {
        match self {
            Self::Words => "two words",
            Self::Upper => "TWO words",
            Self::Spaces => "two   words",
            Self::Other => "others",
        }
    }

    fn is_same(self, other: Self) -> bool {
        matches!(self, Self::Other) == matches!(other, Self::Other)
    }
}

impl RelativeName {
    fn text(&self) -> String {
        let [first, second] = match self.is_organization {
            true => ["O", "OU"],
            false => ["CN", "UID"],
        };
        let value = self.value.text();
        match self.second {
            Some(more) => format!("{first}={value}+{second}={}", more.text()),
            None => format!("{first}={value}"),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.is_organization == other.is_organization
            && self.value.is_same(other.value)
            && match (self.second, other.second) {
                (Some(one), Some(other)) => one.is_same(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

/// The first is the last in the text (RFC 4514).
fn directory_name(relative_names: impl DoubleEndedIterator<Item = String>) -> DirectoryName {
    let texts: Vec<_> = relative_names.rev().collect();
    match texts.is_empty() {
        true => DirectoryName::default(),
        false => texts.join(",").parse().expect("a name without escapes"),
    }
}

impl Subject<'_> {
    /// `None` if the address can't be in a name.
    pub fn name(&self) -> Option<DirectoryName> {
        let email = match self.email_address() {
            Some(address) => {
                let len = u8::try_from(address.len()).ok().filter(|len| *len < 0x80)?;
                let hex = address.bytes().map(|byte| format!("{byte:02x}"));
                let value = format!("16{len:02x}{}", hex.collect::<String>());
                let is_ascii = address.is_ascii();
                Some(is_ascii.then(|| format!("1.2.840.113549.1.9.1=#{value}"))?)
            }
            None => None,
        };
        let relative_names = self.relative_names.iter().map(RelativeName::text);
        let all: Vec<_> = relative_names.chain(email).collect();
        Some(directory_name(all.into_iter()))
    }

    fn email_address(&self) -> Option<String> {
        (self.email.as_ref()).map(|(part, host)| [part.text(), host.text()].join("@"))
    }

    fn is_empty(&self) -> bool {
        self.relative_names.is_empty() && self.email.is_none()
    }
}

impl Subtree<'_> {
    pub fn permit(&self, builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Dns(host) => builder.permit_dns(host.text()),
            Self::Email(part, host) => builder.permit_email(mailboxes(part.as_ref(), host)),
            Self::Uri(host) => builder.permit_uri(host.text()),
            Self::Ip(address, len) => builder.permit_ip(*address, *len),
            Self::Directory(name) => {
                builder.permit_directory(directory_name(name.iter().map(RelativeName::text)))
            }
        }
    }

    pub fn exclude(&self, builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Dns(host) => builder.exclude_dns(host.text()),
            Self::Email(part, host) => builder.exclude_email(mailboxes(part.as_ref(), host)),
            Self::Uri(host) => builder.exclude_uri(host.text()),
            Self::Ip(address, len) => builder.exclude_ip(*address, *len),
            Self::Directory(name) => {
                builder.exclude_directory(directory_name(name.iter().map(RelativeName::text)))
            }
        }
    }

    /// Whether the name is inside; `None` if that can't be told, and the outer one if it is of another kind.
    fn has(&self, name: &AlternativeName) -> Option<Option<bool>> {
        Some(match (self, name) {
            (Self::Dns(base), AlternativeName::Dns(name)) => has_dns_name(base.text(), name),
            (Self::Ip(base, len), AlternativeName::Ip(address)) => {
                Some(first_bits(*base, *len) == first_bits(*address, *len))
            }
            (Self::Email(part, host), AlternativeName::Email(address)) => {
                address.parse::<EmailAddress>().ok().map(|address| {
                    let has_part = |part: &Part<'_>| {
                        address.local_part() == part.text() && is_same(address.host(), host.text())
                    };
                    let has_host = || has_host(host.text(), address.host());
                    part.as_ref().map_or_else(has_host, has_part)
                })
            }
            (Self::Uri(host), AlternativeName::Uri(uri)) => {
                let uri: Option<Uri> = uri.parse().ok();
                let has = |uri: &Uri| {
                    let is_dns_name =
                        |host: &&str| pq_x509::pki_types::DnsName::try_from(*host).is_ok();
                    let of_uri = uri.host().filter(is_dns_name)?;
                    (!of_uri.ends_with('.')).then(|| has_host(host.text(), of_uri))
                };
                uri.as_ref().and_then(has)
            }
            _ => return None,
        })
    }

    fn has_subject(&self, subject: &Subject<'_>) -> Option<bool> {
        let Self::Directory(base) = self else {
            return None;
        };
        let mut pairs = subject.relative_names.iter().zip(base);
        let is_long_enough = subject.relative_names.len() >= base.len();
        Some(is_long_enough && pairs.all(|(one, base)| one.is_same(base)))
    }
}

fn mailboxes(part: Option<&Part<'_>>, host: &Host<'_>) -> String {
    match part {
        Some(part) => [part.text(), host.text()].join("@"),
        None => host.text().into(),
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Labels from the top, in lower case.
fn labels(name: &str) -> Vec<String> {
    let labels = name.rsplit('.');
    labels.map(str::to_ascii_lowercase).collect()
}

fn has_dns_name(base: &str, name: &str) -> Option<bool> {
    let (base, name) = (labels(base), labels(name));
    let is_sibling = base.len() == name.len() && base[..base.len() - 1] == name[..base.len() - 1];
    // A wildcard is for names inside and for others.
    let is_wildcard = name.last().is_some_and(|label| label == "*") && base.len() > 1;
    (!(is_sibling && is_wildcard)).then(|| name.starts_with(&base))
}

/// With a dot in front a host is for those below it.
fn has_host(base: &str, host: &str) -> bool {
    match base.strip_prefix('.') {
        Some(domain) => {
            let (domain, host) = (labels(domain), labels(host));
            host.len() > domain.len() && host.starts_with(&domain)
        }
        None => is_same(base, host),
    }
}

/// And whether they are of IPv4.
fn first_bits(address: IpAddr, len: u8) -> (bool, u128) {
    let (bits, width) = match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let rest = 128_u32.min(width).saturating_sub(len.into());
    (address.is_ipv4(), bits.checked_shr(rest).unwrap_or(0))
}

/// Whether a CA for these subtrees may issue for a name.
pub fn permits(
    permitted: &[Subtree<'_>],
    excluded: &[Subtree<'_>],
    name: &AlternativeName,
) -> bool {
    may_be(permitted, excluded, |subtree| subtree.has(name))
}

/// Whether it may issue for a subject: as a name, and for the address in it.
pub fn permits_subject(
    permitted: &[Subtree<'_>],
    excluded: &[Subtree<'_>],
    subject: &Subject<'_>,
) -> bool {
    let address = subject.email_address().map(AlternativeName::Email);
    let has = |subtree: &Subtree<'_>| subtree.has_subject(subject).map(Some);
    (subject.is_empty() || may_be(permitted, excluded, has))
        && address.is_none_or(|address| permits(permitted, excluded, &address))
}

fn may_be(
    permitted: &[Subtree<'_>],
    excluded: &[Subtree<'_>],
    has: impl Fn(&Subtree<'_>) -> Option<Option<bool>>,
) -> bool {
    let permitted: Vec<_> = permitted.iter().filter_map(&has).collect();
    let mut excluded = excluded.iter().filter_map(has);
    (permitted.is_empty() || permitted.contains(&Some(true)))
        && excluded.all(|has| has == Some(false))
}
