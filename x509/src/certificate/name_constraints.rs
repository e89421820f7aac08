//! Which names a CA's certificate permits in the certificates below it (RFC 5280 section 4.2.1.10), for the
//! kinds that webpki knows and for those that it doesn't: e-mail addresses, URIs and directory names.
//!
//! In doubt, a name is refused: a subtree permits only names that are certainly within it, and
//! excludes names that are not certainly outside.

use core::cell::OnceCell;
use core::net::IpAddr;

use const_oid::db::rfc3280;
use der::asn1::{Any, AnyRef};
use der::{Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::name::{Name, RelativeDistinguishedName};

use super::canonical_name::ignores_case;
use super::dns_name::is_dns_name;
use super::email_address::EmailAddress;
use super::general_names::{DIRECTORY, DNS, EMAIL, GeneralName, IP, URI};
use super::names::ip_address;
use super::universal_string::name_from_der;
use super::uri::Uri;

/// A name that constraints may apply to.
#[derive(Debug)]
pub(crate) enum Presented<'a> {
    Dns(&'a str),
    Ip(IpAddr),
    /// `None` for an address that is not understood.
    Email(Option<EmailAddress>),
    /// `None` for a URI that is not understood.
    Uri(Option<Uri>),
    Directory(&'a Name),
    /// A name of the kind with this tag number, which is not understood.
    Unknown(TagNumber),
}

impl<'a> Presented<'a> {
    /// The names of a certificate that webpki doesn't check against constraints.
    ///
    /// They include the e-mail addresses in the subject, with or without alternative names, and those
    /// that are not in ASCII (RFC 9598 section 6), which are not understood.
    pub(crate) fn left_by_webpki(subject: &'a Name, names: &'a [GeneralName<'a>]) -> Vec<Self> {
        let all = Self::all(subject, names).into_iter();
        all.filter(|name| {
            matches!(
                name,
                Self::Email(_) | Self::Uri(_) | Self::Directory(_) | Self::Unknown(DIRECTORY)
            )
        })
        .collect()
    }

    /// All names of a certificate to which constraints may apply.
    pub(crate) fn all(subject: &'a Name, names: &'a [GeneralName<'a>]) -> Vec<Self> {
        let directory = (!subject.is_empty()).then_some(Self::Directory(subject));
        let in_subject = subject
            .iter()
            .filter(|attribute| attribute.oid == rfc3280::EMAIL_ADDRESS)
            .map(|attribute| {
                Self::Email(text(&attribute.value).and_then(|text| text.parse().ok()))
            });
        let alternative = names.iter().map(|name| match name {
            GeneralName::Email(address) => Self::Email(address.parse().ok()),
            GeneralName::Utf8Email => Self::Email(None),
            GeneralName::Uri(uri) => Self::Uri(uri.parse().ok()),
            GeneralName::Directory(name) => Self::Directory(name),
            GeneralName::Dns(name) if is_dns_name(name.strip_prefix("*.").unwrap_or(name)) => {
                Self::Dns(name)
            }
            GeneralName::Dns(_) => Self::Unknown(DNS),
            GeneralName::Ip(octets) => ip_address(octets).map_or(Self::Unknown(IP), Self::Ip),
            GeneralName::Other(kind) => Self::Unknown(*kind),
        });
        directory
            .into_iter()
            .chain(in_subject)
            .chain(alternative)
            .collect()
    }

    /// The tag number that names of this kind have in a GeneralName.
    fn kind(&self) -> TagNumber {
        match self {
            Self::Email(_) => EMAIL,
            Self::Dns(_) => DNS,
            Self::Directory(_) => DIRECTORY,
            Self::Uri(_) => URI,
            Self::Ip(_) => IP,
            Self::Unknown(kind) => *kind,
        }
    }

    /// How many attributes a directory name has.
    fn attributes(&self) -> usize {
        match self {
            Self::Directory(name) => name.iter().count(),
            _ => 0,
        }
    }

    /// Where the name is, relative to a subtree of its kind.
    fn place(&self, tree: &Subtree<'_>) -> Place {
        let base = tree.base;
        let text = || core::str::from_utf8(base.value()).ok();
        match self {
            Self::Dns(name) => text().map_or(Place::Unknown, |base| of_dns(name, base)),
            Self::Ip(address) => of_address(*address, base.value()),
            Self::Email(Some(address)) => {
                text().map_or(Place::Unknown, |base| of_email(address, base))
            }
            Self::Uri(Some(uri)) => text().map_or(Place::Unknown, |base| of_uri(uri, base)),
            Self::Directory(name) => match tree.directory() {
                Some(base) => of_directory(name, base),
                None => Place::Unknown,
            },
            Self::Email(None) | Self::Uri(None) | Self::Unknown(_) => Place::Unknown,
        }
    }
}

/// The subtrees of a nameConstraints extension.
#[derive(Debug)]
pub(crate) struct NameConstraints<'a> {
    permitted: Vec<Subtree<'a>>,
    excluded: Vec<Subtree<'a>>,
}

/// A GeneralSubtree.
#[derive(Debug)]
struct Subtree<'a> {
    whole: AnyRef<'a>,
    base: AnyRef<'a>,
    /// The base as a directory name. It is read once, and not for each name that it is compared with.
    directory: OnceCell<Option<Name>>,
    /// Whether it has a minimum or a maximum, which RFC 5280 forbids.
    has_distance: bool,
}

impl<'a> NameConstraints<'a> {
    /// Reads the extension's value.
    pub(crate) fn from_der(der: &'a [u8]) -> der::Result<Self> {
        let sequence = AnyRef::from_der(der)?;
        sequence.tag().assert_eq(Tag::Sequence)?;
        Self::from_contents(sequence.value())
    }

    /// Reads the contents of the extension's SEQUENCE.
    fn from_contents(contents: &'a [u8]) -> der::Result<Self> {
        let mut lists = elements(contents)?.into_iter().peekable();
        let permitted = lists.next_if(|list| list.tag() == list_tag(0));
        let excluded = lists.next_if(|list| list.tag() == list_tag(1));
        match lists.next() {
            None => Ok(Self {
                permitted: subtrees(permitted)?,
                excluded: subtrees(excluded)?,
            }),
            Some(other) => Err(other.tag().unexpected_error(None).into()),
        }
    }

    /// Whether a name may be in a certificate below.
    pub(crate) fn permits(&self, name: &Presented<'_>) -> bool {
        let of_kind = |tree: &&Subtree<'_>| tree.kind() == Some(name.kind());
        let permitted: Vec<_> = self.permitted.iter().filter(of_kind).collect();
        let excluded: Vec<_> = self.excluded.iter().filter(of_kind).collect();
        let place = |tree: &&Subtree<'_>| name.place(tree);
        // A verifier that doesn't process distances must refuse the name; and nobody can tell what is no network.
        !permitted
            .iter()
            .chain(&excluded)
            .any(|tree| tree.has_distance || tree.is_no_network())
            && (permitted.is_empty() || permitted.iter().any(|tree| place(tree) == Place::Inside))
            && excluded.iter().all(|tree| place(tree) == Place::Outside)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.subtrees().next().is_none()
    }

    /// Whether all subtrees of addresses are networks.
    pub(crate) fn has_only_networks(&self) -> bool {
        !self.subtrees().any(Subtree::is_no_network)
    }

    /// How many comparisons it takes to find out whether these names are permitted, at most: of each name with each
    /// subtree, and of each attribute with each.
    pub(crate) fn comparisons(&self, names: &[Presented<'_>]) -> usize {
        let of_names = names.len().saturating_mul(self.subtrees().count());
        let attributes: usize = names.iter().map(Presented::attributes).sum();
        let directories = self.subtrees().filter_map(Subtree::directory);
        let in_trees: usize = directories.map(|name| name.iter().count()).sum();
        of_names.saturating_add(attributes.saturating_mul(in_trees))
    }

    fn subtrees(&self) -> impl Iterator<Item = &Subtree<'a>> {
        self.permitted.iter().chain(&self.excluded)
    }

    /// Whether webpki can process all subtrees.
    fn is_for_webpki(&self) -> bool {
        self.subtrees().all(Subtree::is_for_webpki)
    }
}

impl Subtree<'_> {
    fn kind(&self) -> Option<TagNumber> {
        match self.base.tag() {
            Tag::ContextSpecific { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Whether it is one of addresses, and has something else than a network.
    fn is_no_network(&self) -> bool {
        self.kind() == Some(IP) && !is_network(self.base.value())
    }

    /// The base, if it is a directory name that can be read.
    fn directory(&self) -> Option<&Name> {
        let is_directory = self.kind() == Some(DIRECTORY);
        let read = || is_directory.then(|| name_from_der(self.base.value()).ok());
        self.directory.get_or_init(|| read().flatten()).as_ref()
    }

    /// Whether webpki gets the subtree: those of other kinds than ours, and those with distances.
    fn is_for_webpki(&self) -> bool {
        let ours = [
            EMAIL.context_specific(false),
            URI.context_specific(false),
            DIRECTORY.context_specific(true),
        ];
        self.has_distance || !ours.contains(&self.base.tag())
    }
}

/// The contents of a nameConstraints SEQUENCE without the subtrees that webpki considers violated by
/// every name of their kinds; `None` if there are no such subtrees. The caller has to check
/// [`NameConstraints::permits`] instead.
pub(crate) fn for_webpki(contents: &[u8]) -> Option<Vec<u8>> {
    let constraints = NameConstraints::from_contents(contents).ok()?;
    if constraints.is_for_webpki() {
        return None;
    }
    let mut left = Vec::new();
    for (number, subtrees) in [(0, &constraints.permitted), (1, &constraints.excluded)] {
        let mut list = Vec::new();
        for subtree in subtrees.iter().filter(|tree| tree.is_for_webpki()) {
            subtree.whole.encode_to_vec(&mut list).ok()?;
        }
        if !list.is_empty() {
            AnyRef::new(list_tag(number), &list)
                .ok()?
                .encode_to_vec(&mut left)
                .ok()?;
        }
    }
    Some(left)
}

/// The tag of the list of subtrees with this number.
fn list_tag(number: u32) -> Tag {
    TagNumber(number).context_specific(true)
}

/// The elements of an ASN.1 type, one after another.
fn elements(contents: &[u8]) -> der::Result<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(contents)?;
    let mut elements = Vec::new();
    while !reader.is_finished() {
        elements.push(AnyRef::decode(&mut reader)?);
    }
    Ok(elements)
}

fn subtrees(list: Option<AnyRef<'_>>) -> der::Result<Vec<Subtree<'_>>> {
    let trees = list.map_or_else(|| Ok(Vec::new()), |list| elements(list.value()))?;
    trees.into_iter().map(subtree).collect()
}

fn subtree(whole: AnyRef<'_>) -> der::Result<Subtree<'_>> {
    whole.tag().assert_eq(Tag::Sequence)?;
    match &*elements(whole.value())? {
        [base, distance @ ..] => Ok(Subtree {
            whole,
            base: *base,
            directory: OnceCell::new(),
            has_distance: !distance.is_empty(),
        }),
        [] => Err(Tag::Sequence.length_error().into()),
    }
}

/// Where a name is, relative to a subtree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    Inside,
    Outside,
    /// The name or the subtree is not understood, or the comparison is not.
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

/// A name is inside of its own domain and of those above. All names are inside of the empty domain. What is no domain is
/// not understood, as in webpki.
fn of_dns(name: &str, base: &str) -> Place {
    // Some CAs write a leading dot, which means nothing in these constraints.
    let domain = base.strip_prefix('.').unwrap_or(base);
    let is_understood = domain.is_empty() || is_dns_name(domain);
    if !is_understood || is_among(domain, name) {
        return Place::Unknown;
    }
    Place::inside_if(
        domain.is_empty() || name.eq_ignore_ascii_case(domain) || is_below(name, domain),
    )
}

/// Whether a domain is among the names that a wildcard stands for. Some of these are inside, others outside.
fn is_among(domain: &str, name: &str) -> bool {
    let parent = domain.find('.').map(|dot| &domain[dot..]);
    name.strip_prefix('*')
        .zip(parent)
        .is_some_and(|(rest, parent)| rest.eq_ignore_ascii_case(parent))
}

/// Whether a name is a domain with more labels in front, in letters of any case.
fn is_below(name: &str, domain: &str) -> bool {
    let rest = name.len().checked_sub(domain.len());
    rest.and_then(|rest| name.split_at_checked(rest))
        .is_some_and(|(rest, end)| rest.ends_with('.') && end.eq_ignore_ascii_case(domain))
}

/// Whether this is a network: an address and a mask of equal length, of which the mask has no ones after a zero. RFC 5280
/// section 4.2.1.10 has it in the style of RFC 4632. Other programs read masks with gaps bit by bit (OpenSSL), or refuse
/// the certificate (Go, and webpki where it comes to the gap).
fn is_network(octets: &[u8]) -> bool {
    let (_, mask) = octets.split_at(octets.len() / 2);
    let mut rest = mask.iter().skip_while(|octet| **octet == u8::MAX);
    let is_prefix = |octet: &u8| octet.leading_ones() + octet.trailing_zeros() == u8::BITS;
    matches!(octets.len(), 8 | 32)
        && rest.next().is_none_or(is_prefix)
        && rest.all(|octet| *octet == 0)
}

/// An address is inside of a network, which is an address and a mask of equal length.
fn of_address(address: IpAddr, network: &[u8]) -> Place {
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    if !is_network(network) {
        return Place::Unknown;
    }
    let (base, mask) = network.split_at(network.len() / 2);
    let mut bits = base.iter().zip(&octets).zip(mask);
    // With another length it is of the other version of IP.
    let is_inside =
        base.len() == octets.len() && bits.all(|((base, octet), mask)| (base ^ octet) & mask == 0);
    Place::inside_if(is_inside)
}

/// A base with an `@` is one address; any other is about hosts.
fn of_email(address: &EmailAddress, base: &str) -> Place {
    if !base.contains('@') {
        return of_host(address.host(), base);
    }
    match base.parse::<EmailAddress>() {
        Ok(base) => Place::inside_if(*address == base),
        Err(_) => Place::Unknown,
    }
}

/// Only the host counts, which must be a DNS name.
fn of_uri(uri: &Uri, base: &str) -> Place {
    match uri.host() {
        Some(host) if is_dns_name(host) => of_host(host, base),
        _ => Place::Unknown,
    }
}

/// A host is inside of itself, and of each domain above it that has a leading dot.
fn of_host(host: &str, base: &str) -> Place {
    match base.strip_prefix('.') {
        Some(domain) if is_dns_name(domain) => Place::inside_if(is_below(host, domain)),
        None if is_dns_name(base) => Place::inside_if(host.eq_ignore_ascii_case(base)),
        _ => Place::Unknown,
    }
}

/// A directory name is inside of each name that it begins with.
fn of_directory(name: &Name, base: &Name) -> Place {
    if name.iter_rdn().count() < base.iter_rdn().count() {
        return Place::Outside;
    }
    let pairs = name.iter_rdn().zip(base.iter_rdn());
    all_inside(pairs.map(|(name, base)| of_relative_name(name, base)))
}

/// Inside if all are inside; outside if one is outside.
fn all_inside(places: impl IntoIterator<Item = Place>) -> Place {
    places
        .into_iter()
        .fold(Place::Inside, |all, one| match (all, one) {
            (Place::Outside, _) | (_, Place::Outside) => Place::Outside,
            (Place::Unknown, _) | (_, Place::Unknown) => Place::Unknown,
            (Place::Inside, Place::Inside) => Place::Inside,
        })
}

/// Equal names are inside.
fn of_relative_name(name: &RelativeDistinguishedName, base: &RelativeDistinguishedName) -> Place {
    if name == base {
        return Place::Inside;
    }
    if name.len() != base.len() {
        return Place::Outside;
    }
    // Check both directions: two attributes of the name may have the same counterpart in the base.
    let of_base = name.iter().map(|attribute| of_counterpart(attribute, base));
    let of_name = base.iter().map(|attribute| of_counterpart(attribute, name));
    all_inside(of_base.chain(of_name))
}

/// Inside if the name has an equal attribute.
fn of_counterpart(attribute: &AttributeTypeAndValue, name: &RelativeDistinguishedName) -> Place {
    let mut same_type = name.iter().filter(|other| other.oid == attribute.oid);
    match (same_type.next(), same_type.next()) {
        (None, _) => Place::Outside,
        (Some(only), None) => of_attribute(attribute, only),
        // With several candidates, finding the counterpart is not worth the effort.
        (Some(_), Some(_)) => Place::Unknown,
    }
}

/// Inside if the values are equal by RFC 5280 section 7.1, applied to ASCII only.
fn of_attribute(one: &AttributeTypeAndValue, other: &AttributeTypeAndValue) -> Place {
    if one.value == other.value {
        return Place::Inside;
    }
    let (Some(a), Some(b)) = (text(&one.value), text(&other.value)) else {
        return Place::Unknown;
    };
    if !(is_prepared_alike(&a) && is_prepared_alike(&b)) {
        return Place::Unknown;
    }
    let mut words = a.split_whitespace().zip(b.split_whitespace());
    let is_equal = a.split_whitespace().count() == b.split_whitespace().count()
        && words.all(|(a, b)| a.eq_ignore_ascii_case(b));
    match (is_equal, ignores_case(one.oid)) {
        (true, false) => Place::Unknown,
        (is_equal, _) => Place::inside_if(is_equal),
    }
}

/// Characters that RFC 4518 leaves unchanged, except for letters' cases and runs of spaces.
fn is_prepared_alike(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The text of a string type that encodes it in ASCII or UTF-8.
fn text(value: &Any) -> Option<String> {
    match value.tag() {
        Tag::PrintableString | Tag::Utf8String | Tag::Ia5String => {
            String::from_utf8(value.value().to_vec()).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use x509_cert::name::RdnSequence;

    use super::*;
    use Place::{Inside, Outside, Unknown};

    fn email(address: &str, base: &str) -> Place {
        of_email(&address.parse().unwrap(), base)
    }

    fn uri(uri: &str, base: &str) -> Place {
        of_uri(&uri.parse().unwrap(), base)
    }

    fn directory(name: &str, base: &str) -> Place {
        let read = |text: &str| match text {
            "" => Name::default(),
            _ => text.parse().unwrap_or_else(|_| panic!("{text}")),
        };
        of_directory(&read(name), &read(base))
    }

    /// A UniversalString in a constraint is the text that it is in a subject.
    #[test]
    fn texts_of_four_octets_a_character() {
        let name = |letter: u8| {
            let attribute = [6, 3, 0x55, 4, 10, 28, 4, 0, 0, 0, letter];
            [&[0x30, 15, 0x31, 13, 0x30, 11], &attribute[..]].concat()
        };
        let lists = lists(&[subtree_of(0xa4, &name(b'a'))], &[]);
        let constraints = NameConstraints::from_contents(&lists).unwrap();
        for (der, is_permitted) in [(name(b'a'), true), (name(b'b'), false)] {
            let name = name_from_der(&der).unwrap();
            assert_eq!(
                constraints.permits(&Presented::Directory(&name)),
                is_permitted
            );
        }
    }

    /// A GeneralSubtree with a base of this tag.
    fn subtree_of(tag: u8, base: &[u8]) -> Vec<u8> {
        let length = u8::try_from(base.len()).unwrap();
        [&[0x30, length + 2, tag, length], base].concat()
    }

    /// The contents of the extension's SEQUENCE.
    fn lists(permitted: &[Vec<u8>], excluded: &[Vec<u8>]) -> Vec<u8> {
        let list = |tag, trees: &[Vec<u8>]| {
            let trees = trees.concat();
            match trees.is_empty() {
                true => Vec::new(),
                false => [&[tag, u8::try_from(trees.len()).unwrap()], &*trees].concat(),
            }
        };
        [list(0xa0, permitted), list(0xa1, excluded)].concat()
    }

    #[test]
    fn places_of_email_addresses() {
        for (address, base, expected) in [
            // RFC 5280 section 4.2.1.10
            ("root@example.com", "root@example.com", Inside),
            ("other@example.com", "root@example.com", Outside),
            ("other@example.com", "example.com", Inside),
            ("root@my.example.com", "example.com", Outside),
            ("root@my.example.com", ".example.com", Inside),
            ("root@example.com", ".example.com", Outside),
            // the local part as it is, hosts in letters of any case
            ("Root@example.com", "root@example.com", Outside),
            ("root@EXAMPLE.com", "root@example.COM", Inside),
            ("root@Example.Com", "eXAMPLE.cOM", Inside),
            ("root@a.Example.Com", ".eXAMPLE.cOM", Inside),
            // labels are whole
            ("root@badexample.com", "example.com", Outside),
            ("root@badexample.com", ".example.com", Outside),
            ("root@com", ".example.com", Outside),
            ("root@a.b.c.example.com", ".example.com", Inside),
            ("root@example.com.evil.org", "example.com", Outside),
            // not understood
            ("root@example.com", "", Unknown),
            ("root@example.com", ".", Unknown),
            ("root@example.com", "..example.com", Unknown),
            ("root@example.com", "example.com.", Unknown),
            ("root@example.com", "@example.com", Unknown),
            ("root@example.com", "\"root\"@example.com", Unknown),
            ("root@example.com", "root@[192.0.2.1]", Unknown),
            ("root@example.com", "*.example.com", Unknown),
            ("root@example.com", "exämple.com", Unknown),
            ("root@example.com", "192.0.2.1", Unknown),
        ] {
            assert_eq!(email(address, base), expected, "{address} in {base:?}");
        }
    }

    #[test]
    fn places_of_uris() {
        for (name, base, expected) in [
            // RFC 5280 section 4.2.1.10
            ("https://host.example.com/", "host.example.com", Inside),
            ("https://my.host.example.com/", "host.example.com", Outside),
            ("https://host.example.com/", ".example.com", Inside),
            ("https://my.host.example.com/", ".example.com", Inside),
            ("https://example.com/", ".example.com", Outside),
            // any case, and any scheme
            ("HTTPS://HOST.example.com", "host.EXAMPLE.com", Inside),
            ("spiffe://example.com/a/b", "example.com", Inside),
            // the other parts beside the host
            ("https://example.com@evil.org/", "example.com", Outside),
            ("https://a:b@example.com/", "example.com", Inside),
            ("https://example.com:8443/", "example.com", Inside),
            ("https://example.com:/", "example.com", Inside),
            ("https://evil.org/example.com", "example.com", Outside),
            ("https://evil.org?@example.com", "example.com", Outside),
            ("https://evil.org#@example.com", "example.com", Outside),
            ("https://evil.org/.example.com", ".example.com", Outside),
            // no host that is a DNS name
            ("https://192.0.2.1/", "192.0.2.1", Unknown),
            ("https://192.0.2.1/", "example.com", Unknown),
            ("https://[2001:db8::1]/", "example.com", Unknown),
            ("urn:uuid:f81d4fae", "example.com", Unknown),
            ("mailto:root@example.com", "example.com", Unknown),
            ("ldap:///o=example.com", "example.com", Unknown),
            // constraints that are not understood
            ("https://example.com/", "", Unknown),
            ("https://example.com/", ".", Unknown),
            ("https://example.com/", "https://example.com", Unknown),
            ("https://example.com/", "example.com:443", Unknown),
            ("https://example.com/", "example.com/", Unknown),
            ("https://example.com/", "*.example.com", Unknown),
        ] {
            assert_eq!(uri(name, base), expected, "{name} in {base:?}");
        }
    }

    #[test]
    fn places_of_directory_names() {
        for (name, base, expected) in [
            ("CN=a,O=Example,C=SE", "O=Example,C=SE", Inside),
            ("O=Example,C=SE", "O=Example,C=SE", Inside),
            ("C=SE", "O=Example,C=SE", Outside),
            ("CN=a,O=Other,C=SE", "O=Example,C=SE", Outside),
            ("CN=a,OU=Example,C=SE", "O=Example,C=SE", Outside),
            ("O=Example,C=SE,CN=a", "O=Example,C=SE", Outside),
            ("CN=a,O=EXAMPLE,C=SE", "O=Example,C=SE", Inside),
            ("CN=a,O= the   Example ,C=SE", "O=The Example,C=SE", Inside),
            ("CN=a,O=theExample,C=SE", "O=The Example,C=SE", Outside),
            ("CN=a,O=Exämple,C=SE", "O=Exämple,C=SE", Inside),
            ("CN=a,O=Exämple,C=SE", "O=EXÄMPLE,C=SE", Unknown),
            ("CN=a,O=Exämple,C=SE", "O=Example,C=SE", Unknown),
            ("CN=a,O=Exämple,C=DE", "O=Example,C=SE", Outside),
            ("CN=a,O=x+OU=y", "OU=Y+O=X", Inside),
            ("CN=a,O=x+OU=y", "OU=y", Outside),
            ("CN=a,O=x+OU=y", "OU=y+L=x", Outside),
            ("CN=a,OU=x+OU=y", "OU=x+OU=Y", Unknown),
            ("CN=a,OU=x+OU=X", "O=y+OU=x", Outside),
            ("CN=a,O=y+OU=x", "OU=x+OU=X", Outside),
            ("CN=a", "", Inside),
        ] {
            assert_eq!(directory(name, base), expected, "{name} in {base:?}");
        }
        // Strings of different types can be equal; values of other types are not understood.
        let with = |tag, text: &str| {
            let oid = const_oid::db::rfc4519::ORGANIZATION_NAME;
            let value = Any::new(tag, text.as_bytes()).unwrap();
            let attributes = vec![AttributeTypeAndValue { oid, value }];
            let names: RdnSequence = vec![attributes.try_into().unwrap()].into();
            Name::from_der(&names.to_der().unwrap()).unwrap()
        };
        let printable = with(Tag::PrintableString, "b");
        let utf8 = with(Tag::Utf8String, "B");
        let teletex = with(Tag::TeletexString, "b");
        assert_eq!(of_directory(&printable, &utf8), Inside);
        assert_eq!(of_directory(&printable, &teletex), Unknown);
        assert_eq!(of_directory(&teletex, &teletex), Inside);
        let control = with(Tag::Utf8String, "b\u{7}");
        assert_eq!(of_directory(&printable, &control), Unknown);
    }

    #[test]
    fn places_of_dns_names_and_addresses() {
        for (name, domain, expected) in [
            ("example.org", "example.org", Inside),
            ("www.example.org", "example.org", Inside),
            ("WWW.Example.ORG", "example.org", Inside),
            ("*.example.org", "example.org", Inside),
            ("*.example.org", "WWW.example.org", Unknown),
            ("*.example.org", ".www.example.org", Unknown),
            ("*.example.org", "a.www.example.org", Outside),
            ("*.example.org", "www.example.com", Outside),
            ("www.example.org", ".example.org", Inside),
            ("www.example.org", "", Inside),
            ("badexample.org", "example.org", Outside),
            ("org", "example.org", Outside),
            ("example.org.net", "example.org", Outside),
            ("ü.example.org", "¼.example.org", Unknown),
            // Other readers could take these for what they resemble.
            ("www.example.org", "example.org.", Unknown),
            ("www.example.org", "*.example.org", Unknown),
            ("www.example.org", "https://example.org", Unknown),
            ("www.example.org", "..example.org", Unknown),
        ] {
            assert_eq!(of_dns(name, domain), expected, "{name} in {domain:?}");
        }
        let v4 = [10, 1, 0, 0, 255, 255, 0, 0];
        for (address, expected) in [
            ("10.1.2.3", Inside),
            ("10.2.2.3", Outside),
            ("::ffff:10.1.2.3", Outside),
        ] {
            assert_eq!(
                of_address(address.parse().unwrap(), &v4),
                expected,
                "{address}"
            );
        }
        assert_eq!(of_address("10.1.2.3".parse().unwrap(), &v4[1..]), Unknown);
    }

    /// A mask with a gap is none, wherever the address would be, of either version.
    #[test]
    fn networks() {
        for (mask, expected) in [
            ([255, 255, 0, 0], true),
            ([0, 0, 0, 0], true),
            ([255, 255, 255, 255], true),
            ([255, 255, 254, 0], true),
            ([128, 0, 0, 0], true),
            ([255, 0, 255, 0], false),
            ([0, 255, 255, 255], false),
            ([255, 255, 253, 0], false),
            ([254, 128, 0, 0], false),
            ([255, 255, 255, 1], false),
        ] {
            let v4 = [&[10, 1, 0, 0][..], &mask].concat();
            let v6 = [&[0; 28][..], &mask].concat();
            assert_eq!([is_network(&v4), expected], [expected; 2], "{mask:?}");
            let v6_expected = mask == [0; 4];
            assert_eq!(is_network(&v6), v6_expected, "{mask:?}");
            for address in ["10.1.0.0", "192.0.2.1", "::1"] {
                let place = of_address(address.parse().unwrap(), &v4);
                assert_eq!(place == Unknown, !expected, "{address} {mask:?}");
            }
        }
        for length in [0, 4, 7, 9, 16, 31, 33] {
            assert!(!is_network(&vec![0; length]));
        }
    }

    /// An excluded name is refused whatever is permitted, and so is a doubtful one.
    #[test]
    fn doubts_help_no_name() {
        let address = |text: &str| Presented::Email(text.parse().ok());
        for (permitted, excluded, name, expected) in [
            (&[][..], &[][..], "a@example.org", true),
            (&["example.org"], &[], "a@example.org", true),
            (&["example.org"], &[], "a@example.com", false),
            (&["example.com", "example.org"], &[], "a@example.org", true),
            (&["example.com", ""], &[], "a@example.org", false),
            (&["example.org", ""], &[], "a@example.org", true),
            (&[], &["example.com"], "a@example.org", true),
            (&[], &["example.org"], "a@example.org", false),
            (&[], &[""], "a@example.org", false),
            (&["example.org"], &["a@example.org"], "a@example.org", false),
            (&["example.org"], &["a@example.org"], "b@example.org", true),
            // not understood
            (&["example.org"], &[], "\"a\"@example.org", false),
            (&[], &["example.com"], "\"a\"@example.org", false),
            (&[], &[], "\"a\"@example.org", true),
        ] {
            let trees = |bases: &[&str]| -> Vec<Vec<u8>> {
                (bases.iter().map(|base| subtree_of(0x81, base.as_bytes()))).collect()
            };
            let contents = lists(&trees(permitted), &trees(excluded));
            let constraints = NameConstraints::from_contents(&contents).unwrap();
            assert_eq!(
                constraints.permits(&address(name)),
                expected,
                "{permitted:?} {excluded:?} {name}"
            );
            // Other kinds are not constrained.
            assert!(constraints.permits(&Presented::Dns("example.net")));
            assert!(constraints.permits(&Presented::Uri(None)));
        }
        // If a subtree has a distance, all names of its kind are refused.
        let distant = [&[0x30, 0x10, 0x81, 11], &b"example.org"[..], &[0x80, 1, 1]].concat();
        let contents = lists(&[distant, subtree_of(0x81, b"example.org")], &[]);
        let constraints = NameConstraints::from_contents(&contents).unwrap();
        assert!(!constraints.permits(&address("a@example.org")));
        // The subtree itself is left to webpki, which refuses it.
        let left = lists(&[contents[2..2 + 18].to_vec()], &[]);
        assert_eq!(for_webpki(&contents), Some(left));
    }

    #[test]
    fn webpki_is_left_what_it_processes() {
        let dns = subtree_of(0x82, b"example.org");
        let ip = subtree_of(0x87, &[0; 8]);
        let other = subtree_of(0xa0, &[6, 1, 42, 0xa0, 0]);
        let ours = [
            subtree_of(0x81, b"example.org"),
            subtree_of(0x86, b"example.org"),
            subtree_of(0xa4, &[0x30, 0]),
        ];
        let theirs = [dns, ip, other];
        let mixed = [&ours[..1], &theirs[..], &ours[1..]].concat();
        assert_eq!(for_webpki(&lists(&theirs, &theirs)), None);
        assert_eq!(for_webpki(&[]), None);
        assert_eq!(for_webpki(&lists(&ours, &ours)), Some(Vec::new()));
        assert_eq!(
            for_webpki(&lists(&ours, &theirs)),
            Some(lists(&[], &theirs))
        );
        assert_eq!(
            for_webpki(&lists(&mixed, &mixed)),
            Some(lists(&theirs, &theirs))
        );
        // webpki gets unreadable constraints, and those with the tag of another form, unchanged.
        let constructed = lists(&[subtree_of(0xa1, b"example.org")], &[]);
        assert_eq!(for_webpki(&constructed), None);
        let whole = lists(&mixed, &mixed);
        for end in 1..whole.len() {
            if end != 2 + usize::from(whole[1]) {
                assert_eq!(for_webpki(&whole[..end]), None, "{end}");
            }
        }
        for trailing in [&[0xa1, 0][..], &[5, 0]] {
            assert_eq!(for_webpki(&[&whole, trailing].concat()), None);
        }
        let swapped = [lists(&[], &ours), lists(&ours, &[])].concat();
        assert_eq!(for_webpki(&swapped), None);
    }
}
