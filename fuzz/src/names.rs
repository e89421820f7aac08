//! Names of all kinds, the name constraints of a CA, and a model of which names they permit.

use std::net::IpAddr;

use arbitrary::Arbitrary;
use pq_x509::certificate::{AlternativeName, EmailAddress, Uri};
use pq_x509::issuing::{Ca, CertificateBuilder};
use pq_x509::pki_types::DnsName;
use pq_x509::x509_cert::name::Name as DirectoryName;

/// A name of any kind, made of parts that go together.
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
    Ip(Address),
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

    /// Whether this is a DNS name without a wildcard; `None` for a text from the fuzzer.
    fn is_dns_name(&self) -> Option<bool> {
        match self {
            Self::Example | Self::Below | Self::Upper | Self::Localhost => Some(true),
            Self::Subdomains | Self::Wildcard | Self::Address | Self::Address6 => Some(false),
            Self::Other(_) => None,
        }
    }
}

/// An address; some of them are in the same networks.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Address {
    Loopback,
    Private,
    OtherPrivate,
    Loopback6,
    Documentation6,
    Any(IpAddr),
}

impl Address {
    fn address(self) -> IpAddr {
        match self {
            Self::Loopback => [127, 0, 0, 1].into(),
            Self::Private => [10, 1, 2, 3].into(),
            Self::OtherPrivate => [10, 1, 200, 3].into(),
            Self::Loopback6 => [0, 0, 0, 0, 0, 0, 0, 1].into(),
            Self::Documentation6 => [0x2001, 0xdb8, 0, 1, 0, 0, 0, 1].into(),
            Self::Any(address) => address,
        }
    }

    /// The address's network, and the length of that network's prefix.
    fn network(self, len: u8) -> (IpAddr, u8) {
        match self.address() {
            IpAddr::V4(address) => {
                let len = len % 33;
                let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                (IpAddr::V4((address.to_bits() & mask).into()), len)
            }
            IpAddr::V6(address) => {
                let len = len % 129;
                let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
                (IpAddr::V6((address.to_bits() & mask).into()), len)
            }
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

    /// Whether this can be in front of an `@`; `None` for a text from the fuzzer.
    fn is_local_part(&self) -> Option<bool> {
        match self {
            Self::Word | Self::Words | Self::Escaped => Some(true),
            Self::Empty | Self::Dots => Some(false),
            Self::Other(_) => None,
        }
    }
}

/// Whether both are true; `None` if neither is false and at least one is unknown.
fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

impl Name<'_> {
    /// The name as a certificate has it.
    pub fn name(&self) -> AlternativeName {
        let text = match self {
            Self::Dns(host) => return AlternativeName::Dns(host.text().into()),
            Self::Ip(address) => return AlternativeName::Ip(address.address()),
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

    /// Whether a certificate can certainly have a name of these parts.
    pub fn is_well_formed(&self) -> bool {
        let is_well_formed = match self {
            Self::Dns(Host::Wildcard) | Self::Ip(_) => Some(true),
            Self::Dns(host) => host.is_dns_name(),
            Self::Email(part, host) => both(part.is_local_part(), host.is_dns_name()),
            Self::Uri {
                user, host, path, ..
            } => {
                let is_word = |part: &Part<'_>| matches!(part, Part::Word | Part::Words);
                let are_words = is_word(path) && user.as_ref().is_none_or(is_word);
                both(host.is_dns_name(), Some(are_words))
            }
            Self::SpiffeId(..) | Self::Text(_) => None,
        };
        is_well_formed == Some(true)
    }

    /// Checks that the host of a well-formed e-mail address or URI is read as it was written.
    pub fn check_host(&self) {
        if !self.is_well_formed() {
            return;
        }
        match (self, self.name()) {
            (Self::Email(part, host), AlternativeName::Email(address)) => {
                let address: EmailAddress = address.parse().expect("an address");
                let read = (address.local_part(), address.host());
                assert_eq!(read, (part.text(), host.text()));
            }
            (Self::Uri { host, .. }, AlternativeName::Uri(uri)) => {
                let uri: Uri = uri.parse().expect("a URI");
                assert_eq!(uri.host(), Some(host.text()));
            }
            _ => {}
        }
    }
}

/// Names that a CA may or may not issue for.
#[derive(Arbitrary, Debug)]
pub enum Subtree<'a> {
    Dns(Host<'a>),
    Email(Option<Part<'a>>, Host<'a>),
    Uri(Host<'a>),
    Ip(Address, u8),
    Directory(Vec<RelativeName>),
}

/// The subject of a certificate.
#[derive(Arbitrary, Debug)]
pub struct Subject<'a> {
    relative_names: Vec<RelativeName>,
    /// An e-mail address that is one of its attributes.
    email: Option<(Part<'a>, Host<'a>)>,
}

/// An organization, perhaps with its unit, or a common name, perhaps with a user's identifier.
#[derive(Arbitrary, Debug)]
pub struct RelativeName {
    is_organization: bool,
    value: Value,
    second: Option<Value>,
}

/// A value of an attribute. All but the last are equal by RFC 5280, section 7.1.
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

/// A name from its parts; the first one comes last in the text (RFC 4514).
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
        let email = self.email_address();
        let is_short = |address: &str| address.is_ascii() && address.len() < 0x80;
        if email.as_deref().is_some_and(|address| !is_short(address)) {
            return None;
        }
        // An IA5String in hexadecimal.
        let email = email.map(|address| {
            let hex = address.bytes().map(|byte| format!("{byte:02x}"));
            let hex: String = hex.collect();
            format!("1.2.840.113549.1.9.1=#16{:02x}{hex}", address.len())
        });
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
    fn permit(&self, builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Dns(host) => builder.permit_dns(host.text()),
            Self::Email(part, host) => builder.permit_email(mailboxes(part.as_ref(), host)),
            Self::Uri(host) => builder.permit_uri(host.text()),
            Self::Ip(address, len) => {
                let (network, len) = address.network(*len);
                builder.permit_ip(network, len)
            }
            Self::Directory(name) => {
                builder.permit_directory(directory_name(name.iter().map(RelativeName::text)))
            }
        }
    }

    fn exclude(&self, builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        match self {
            Self::Dns(host) => builder.exclude_dns(host.text()),
            Self::Email(part, host) => builder.exclude_email(mailboxes(part.as_ref(), host)),
            Self::Uri(host) => builder.exclude_uri(host.text()),
            Self::Ip(address, len) => {
                let (network, len) = address.network(*len);
                builder.exclude_ip(network, len)
            }
            Self::Directory(name) => {
                builder.exclude_directory(directory_name(name.iter().map(RelativeName::text)))
            }
        }
    }

    /// Whether a certificate can have this subtree; `None` if that depends on a text from the fuzzer.
    fn is_well_formed(&self) -> Option<bool> {
        match self {
            Self::Dns(host) => host.is_dns_name(),
            Self::Email(None, Host::Subdomains) | Self::Uri(Host::Subdomains) => Some(true),
            Self::Email(None, host) | Self::Uri(host) => host.is_dns_name(),
            Self::Email(Some(part), host) => both(part.is_local_part(), host.is_dns_name()),
            Self::Ip(..) | Self::Directory(_) => Some(true),
        }
    }

    /// Whether a name is inside this subtree.
    fn place(&self, name: &AlternativeName) -> Place {
        match (self, name) {
            (Self::Dns(base), AlternativeName::Dns(name)) => place_of_dns_name(base.text(), name),
            (Self::Ip(base, len), AlternativeName::Ip(address)) => {
                let (network, len) = base.network(*len);
                Place::inside_if(first_bits(network, len) == first_bits(*address, len))
            }
            (Self::Email(part, host), AlternativeName::Email(address)) => {
                let Ok(address) = address.parse::<EmailAddress>() else {
                    return Place::Unknown;
                };
                Place::inside_if(match part {
                    Some(part) => {
                        address.local_part() == part.text()
                            && address.host().eq_ignore_ascii_case(host.text())
                    }
                    None => has_host(host.text(), address.host()),
                })
            }
            (Self::Uri(host), AlternativeName::Uri(uri)) => {
                let uri: Option<Uri> = uri.parse().ok();
                match uri.as_ref().and_then(Uri::host) {
                    Some(name) if DnsName::try_from(name).is_ok() && !name.ends_with('.') => {
                        Place::inside_if(has_host(host.text(), name))
                    }
                    _ => Place::Unknown,
                }
            }
            _ => Place::OfAnotherKind,
        }
    }

    fn place_of_subject(&self, subject: &Subject<'_>) -> Place {
        let Self::Directory(base) = self else {
            return Place::OfAnotherKind;
        };
        let mut pairs = subject.relative_names.iter().zip(base);
        let is_long_enough = subject.relative_names.len() >= base.len();
        Place::inside_if(is_long_enough && pairs.all(|(one, base)| one.is_same(base)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    OfAnotherKind,
    Inside,
    Outside,
    /// Partly inside, or unknown.
    Unknown,
}

impl Place {
    fn inside_if(is_inside: bool) -> Self {
        match is_inside {
            true => Self::Inside,
            false => Self::Outside,
        }
    }
}

/// The constraints of a CA.
#[derive(Debug)]
pub struct Constraints<'a> {
    permitted: Vec<&'a Subtree<'a>>,
    excluded: Vec<&'a Subtree<'a>>,
}

impl<'a> Constraints<'a> {
    /// Constraints of these subtrees, without those that no certificate can have.
    pub fn new(permitted: &'a [Subtree<'a>], excluded: &'a [Subtree<'a>]) -> Self {
        let usable = |subtrees: &'a [Subtree<'a>]| {
            let usable = |it: &&Subtree<'_>| it.is_well_formed() != Some(false);
            subtrees.iter().filter(usable).collect()
        };
        Self {
            permitted: usable(permitted),
            excluded: usable(excluded),
        }
    }

    pub fn of(&self, builder: CertificateBuilder<Ca>) -> CertificateBuilder<Ca> {
        let permitted = self.permitted.iter();
        let builder = permitted.fold(builder, |builder, subtree| subtree.permit(builder));
        let excluded = self.excluded.iter();
        excluded.fold(builder, |builder, subtree| subtree.exclude(builder))
    }

    /// Whether a certificate can have all of them; if false, that depends on texts from the fuzzer.
    pub fn are_well_formed(&self) -> bool {
        let mut all = self.permitted.iter().chain(&self.excluded);
        all.all(|subtree| subtree.is_well_formed() == Some(true))
    }

    /// Whether the CA may issue for a name.
    pub fn permit(&self, name: &AlternativeName) -> bool {
        self.have_room(|subtree| subtree.place(name))
    }

    /// Whether the CA may issue for a subject: for its name, and for the address in it.
    pub fn permit_subject(&self, subject: &Subject<'_>) -> bool {
        let address = subject.email_address().map(AlternativeName::Email);
        (subject.is_empty() || self.have_room(|subtree| subtree.place_of_subject(subject)))
            && address.is_none_or(|address| self.permit(&address))
    }

    fn have_room(&self, place: impl Fn(&Subtree<'_>) -> Place) -> bool {
        let places = |subtrees: &[&Subtree<'_>]| -> Vec<Place> {
            let places = subtrees.iter().map(|subtree| place(subtree));
            places.filter(|it| *it != Place::OfAnotherKind).collect()
        };
        let (permitted, excluded) = (places(&self.permitted), places(&self.excluded));
        (permitted.is_empty() || permitted.contains(&Place::Inside))
            && excluded.iter().all(|place| *place == Place::Outside)
    }
}

fn mailboxes(part: Option<&Part<'_>>, host: &Host<'_>) -> String {
    match part {
        Some(part) => [part.text(), host.text()].join("@"),
        None => host.text().into(),
    }
}

/// Labels in lower case, the top-level one first.
fn labels(name: &str) -> Vec<String> {
    let labels = name.rsplit('.');
    labels.map(str::to_ascii_lowercase).collect()
}

fn place_of_dns_name(base: &str, name: &str) -> Place {
    let (base, name) = (labels(base), labels(name));
    let is_sibling = base.len() == name.len() && base[..base.len() - 1] == name[..base.len() - 1];
    // A wildcard stands for names inside and outside.
    let is_wildcard = name.last().is_some_and(|label| label == "*") && base.len() > 1;
    match is_sibling && is_wildcard {
        true => Place::Unknown,
        false => Place::inside_if(name.starts_with(&base)),
    }
}

/// Whether a constraint permits a host: with a dot in front, it is for the hosts below it.
fn has_host(base: &str, host: &str) -> bool {
    match base.strip_prefix('.') {
        Some(domain) => {
            let (domain, host) = (labels(domain), labels(host));
            host.len() > domain.len() && host.starts_with(&domain)
        }
        None => base.eq_ignore_ascii_case(host),
    }
}

/// Whether it is IPv4, and the first bits of the address.
fn first_bits(address: IpAddr, len: u8) -> (bool, u128) {
    let (bits, width) = match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128_u32),
    };
    let rest = width.saturating_sub(len.into());
    (address.is_ipv4(), bits.checked_shr(rest).unwrap_or(0))
}
