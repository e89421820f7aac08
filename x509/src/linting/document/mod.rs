//! Takes documents apart leniently: finds what is in its place, whatever is wrong with the rest.
//!
//! These files use the rest of the [parent module](super) except the rules, and what that may use.

mod algorithm;
mod element;
mod encoding;
mod extension;
mod names;
mod time;

use der::flagset::FlagSet;
use pq_keys::encoding::syntax::MAX_VALUES;
use x509_cert::ext::pkix::KeyUsages;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::{
    ID_CE_BASIC_CONSTRAINTS, ID_CE_EXT_KEY_USAGE, ID_CE_ISSUER_ALT_NAME, ID_CE_KEY_USAGE,
    ID_CE_SUBJECT_ALT_NAME,
};

use self::encoding::Flaws;
use self::extension::EXTENSION_REQUEST;

pub(crate) use algorithm::{AlgorithmIdentifier, PublicKey};
pub(crate) use element::{Element, Elements, tag};
pub(crate) use encoding::Flaw;
pub(crate) use extension::{Extension, extension_name, known};
pub(crate) use names::{Attribute, GeneralName, attributes, general_names};
pub(crate) use time::{Moment, moment};

/// The kind of a document.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A certificate (RFC 5280 section 4).
    Certificate,
    /// A certificate revocation list (RFC 5280 section 5).
    RevocationList,
    /// A certification request (RFC 2986).
    Request,
}

/// The parts of a document of any kind. A part that it lacks, or that can't be found, is `None` or empty.
pub(crate) struct Document<'a> {
    pub(crate) kind: Kind,
    pub(crate) der: &'a [u8],
    /// Whether all fields are in their places and all extensions are here, so that what was not found is not there.
    pub(crate) is_whole: bool,
    pub(crate) version: Option<Element<'a>>,
    pub(crate) serial_number: Option<Element<'a>>,
    /// The algorithm in the signed part.
    pub(crate) inner_algorithm: Option<AlgorithmIdentifier<'a>>,
    /// The algorithm beside the signature.
    pub(crate) outer_algorithm: Option<AlgorithmIdentifier<'a>>,
    pub(crate) signature: Option<Element<'a>>,
    pub(crate) issuer: Option<Element<'a>>,
    pub(crate) subject: Option<Element<'a>>,
    /// The times at the start of the document, with their names.
    pub(crate) times: Vec<(&'static str, Element<'a>)>,
    pub(crate) key: Option<PublicKey<'a>>,
    pub(crate) unique_identifiers: Vec<Element<'a>>,
    /// The list of extensions; in a request, of those that it asks for.
    pub(crate) extension_list: Option<Element<'a>>,
    /// Those in the list; of more than any document may have, the first ones.
    pub(crate) extensions: Vec<Extension<'a>>,
    /// How often a request asks for extensions.
    pub(crate) extension_requests: usize,
    /// The revoked certificates of a list.
    pub(crate) revoked: Option<Element<'a>>,
    pub(crate) flaws: Flaws,
}

/// A revoked certificate of a list.
pub(crate) struct Revoked<'a> {
    pub(crate) serial_number: Element<'a>,
    pub(crate) date: Option<Element<'a>>,
    extensions: Option<Element<'a>>,
}

impl<'a> Document<'a> {
    pub(crate) fn read(kind: Kind, der: &'a [u8]) -> Self {
        let mut document = Self::empty(kind, der);
        let mut fields = Elements::of(der, 0).next().map(|all| all.elements());
        let mut next = || fields.as_mut()?.next();
        let body = next();
        document.outer_algorithm = next().and_then(AlgorithmIdentifier::read);
        document.signature = next().filter(|field| field.tag == tag::BIT_STRING);
        let read = body.and_then(|body| match kind {
            Kind::Certificate => document.read_certificate(body.elements()),
            Kind::RevocationList => document.read_list(body.elements()),
            Kind::Request => document.read_request(body.elements()),
        });
        let list = document.extension_list.iter();
        let mut extensions = list.flat_map(Extension::all_of);
        document.extensions = extensions.by_ref().take(MAX_VALUES).collect();
        document.is_whole = read.is_some() && extensions.next().is_none();
        document.flaws = Flaws::of(der, &document.extensions);
        document
    }

    fn empty(kind: Kind, der: &'a [u8]) -> Self {
        Self {
            kind,
            der,
            is_whole: false,
            version: None,
            serial_number: None,
            inner_algorithm: None,
            outer_algorithm: None,
            signature: None,
            issuer: None,
            subject: None,
            times: Vec::new(),
            key: None,
            unique_identifiers: Vec::new(),
            extension_list: None,
            extensions: Vec::new(),
            extension_requests: 0,
            revoked: None,
            flaws: Flaws::default(),
        }
    }

    /// TBSCertificate (RFC 5280 section 4.1), as far as its fields are in their places.
    fn read_certificate(&mut self, mut fields: Elements<'a>) -> Option<()> {
        self.version = inside(fields.next_if(tag::around(0)));
        self.serial_number = Some(fields.next_if(tag::INTEGER)?);
        self.inner_algorithm = AlgorithmIdentifier::read(fields.next_if(tag::SEQUENCE)?);
        self.issuer = Some(fields.next_if(tag::SEQUENCE)?);
        let validity = fields.next_if(tag::SEQUENCE)?;
        self.times = ["notBefore", "notAfter"]
            .into_iter()
            .zip(validity.elements())
            .collect();
        self.subject = Some(fields.next_if(tag::SEQUENCE)?);
        self.key = PublicKey::read(fields.next_if(tag::SEQUENCE)?);
        for number in [1, 2] {
            self.unique_identifiers
                .extend(fields.next_if(tag::context(number)));
        }
        self.extension_list = inside(fields.next_if(tag::around(3)));
        Some(())
    }

    /// TBSCertList (RFC 5280 section 5.1).
    fn read_list(&mut self, mut fields: Elements<'a>) -> Option<()> {
        self.version = fields.next_if(tag::INTEGER);
        self.inner_algorithm = AlgorithmIdentifier::read(fields.next_if(tag::SEQUENCE)?);
        self.issuer = Some(fields.next_if(tag::SEQUENCE)?);
        for name in ["thisUpdate", "nextUpdate"] {
            let time = fields
                .next_if(tag::UTC_TIME)
                .or_else(|| fields.next_if(tag::GENERALIZED_TIME));
            self.times.extend(time.map(|time| (name, time)));
        }
        self.revoked = fields.next_if(tag::SEQUENCE);
        self.extension_list = inside(fields.next_if(tag::around(0)));
        Some(())
    }

    /// CertificationRequestInfo (RFC 2986 section 4.1).
    fn read_request(&mut self, mut fields: Elements<'a>) -> Option<()> {
        self.version = fields.next_if(tag::INTEGER);
        self.subject = Some(fields.next_if(tag::SEQUENCE)?);
        self.key = PublicKey::read(fields.next_if(tag::SEQUENCE)?);
        let attributes = fields.next_if(tag::around(0))?;
        for attribute in attributes.elements() {
            let mut fields = attribute.elements();
            if fields
                .next()
                .is_some_and(|kind| kind.value() == EXTENSION_REQUEST.as_bytes())
            {
                let values = fields.next().into_iter().flat_map(|all| all.elements());
                for extensions in values {
                    self.extension_list.get_or_insert(extensions);
                    self.extension_requests += 1;
                }
            }
        }
        Some(())
    }

    /// The first extension of a kind.
    pub(crate) fn extension(&self, oid: ObjectIdentifier) -> Option<&Extension<'a>> {
        self.extensions.iter().find(|one| one.oid == oid)
    }

    /// Whether it certainly lacks an extension of a kind.
    pub(crate) fn lacks(&self, oid: ObjectIdentifier) -> bool {
        self.is_whole && self.extension(oid).is_none()
    }

    /// The contents of the first extension of a kind.
    pub(crate) fn content(&self, oid: ObjectIdentifier) -> Option<Element<'a>> {
        self.extension(oid)?.content()
    }

    /// Whether the basic constraints say that this is a CA's certificate.
    pub(crate) fn is_ca(&self) -> bool {
        let constraints = self.content(ID_CE_BASIC_CONSTRAINTS);
        let ca = constraints.and_then(|all| all.elements().next_if(tag::BOOLEAN));
        ca.is_some_and(|ca| ca.is_true())
    }

    /// The limit on the path length in the basic constraints.
    pub(crate) fn path_length(&self) -> Option<Element<'a>> {
        let constraints = self.content(ID_CE_BASIC_CONSTRAINTS)?;
        constraints.elements().with_tag(tag::INTEGER)
    }

    pub(crate) fn key_usage(&self) -> Option<FlagSet<KeyUsages>> {
        let bits = self.content(ID_CE_KEY_USAGE)?;
        let octets = bits.value().get(1..)?;
        let is_set = |bit: &u16| {
            let octet = octets.get(usize::from(bit / 8)).copied();
            octet.unwrap_or(0) & (0x80 >> (bit % 8)) != 0
        };
        let set = (0..9).filter(is_set).fold(0, |set, bit| set | 1 << bit);
        Some(FlagSet::new_truncated(set))
    }

    /// Whether the extended key usage has this purpose.
    pub(crate) fn is_for(&self, purpose: ObjectIdentifier) -> bool {
        let purposes = self.content(ID_CE_EXT_KEY_USAGE);
        let mut purposes = purposes.iter().flat_map(Element::elements);
        purposes.any(|one| one.value() == purpose.as_bytes())
    }

    /// The names in the extensions for alternative names.
    pub(crate) fn alternative_names(&self) -> impl Iterator<Item = GeneralName<'a>> {
        [ID_CE_SUBJECT_ALT_NAME, ID_CE_ISSUER_ALT_NAME]
            .into_iter()
            .filter_map(|oid| self.content(oid))
            .flat_map(|names| general_names(&names))
    }

    pub(crate) fn is_self_issued(&self) -> bool {
        let name = |name: Option<Element<'a>>| name.map(|name| name.whole());
        name(self.issuer) == name(self.subject)
    }

    pub(crate) fn revoked(&self) -> impl Iterator<Item = Revoked<'a>> {
        let entries = self.revoked.into_iter().flat_map(|all| all.elements());
        entries.filter_map(|entry| {
            let mut fields = entry.elements();
            Some(Revoked {
                serial_number: fields.next()?,
                date: fields.next(),
                extensions: fields.next(),
            })
        })
    }

    /// All times, with their names.
    pub(crate) fn all_times(&self) -> impl Iterator<Item = (&'static str, Element<'a>)> {
        let dates = self.revoked().filter_map(|entry| entry.date);
        let dates = dates.map(|date| ("revocationDate", date));
        self.times.iter().copied().chain(dates)
    }
}

/// The contents of an explicit tag.
fn inside(tagged: Option<Element<'_>>) -> Option<Element<'_>> {
    tagged?.elements().next()
}

impl<'a> Revoked<'a> {
    pub(crate) fn extensions(&self) -> impl Iterator<Item = Extension<'a>> + use<'a> {
        self.extensions
            .into_iter()
            .flat_map(|all| Extension::all_of(&all))
    }
}
