//! Stand-ins for certificates and requests with values that X.509 allows but neither `x509-cert` nor webpki reads (dates
//! before 1970, path lengths above 255, texts of UniversalString, extensions that are not critical and whose
//! identifiers have numbers above 32 bits, unique identifiers), or with name constraints that webpki considers violated
//! by every name, or with critical extensions of certificate policies, which webpki does not process.
//!
//! Both libraries get the stand-in: the certificate with the nearest values that they know, and without what says
//! nothing that is used. Nobody can ask about a time before 1970, and no path has so many CAs, so the stand-in
//! is valid when and where the certificate is, except if the certificate ended before 1970
//! ([`Readable::ends_before_1970`]). For webpki, the stand-in has no constraints of e-mail addresses, URIs
//! and directory names, and its policies are not critical: the caller has to check these. Signatures are verified over the
//! certificate itself.

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{AnyRef, BitStringRef, GeneralizedTime, OctetString, UintRef};
use der::{Decode, Encode, Sequence, Tag, Tagged};
use pq_keys::encoding::syntax::{self, Element, whole_octets};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, NameConstraints};
use x509_cert::request::CertReq;

use super::canonical_name::CanonicalName;
use super::policies::{OF_POLICIES, are_interpreted};
use super::universal_string::{constructed, read_name};
use super::{name_constraints, signed};

/// The stand-in for a certificate that can't be read as it is.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) der: Vec<u8>,
    /// Whether the certificate ended before 1970, where `UnixTime` begins.
    pub(crate) ends_before_1970: bool,
    /// Whether its names have other bytes than the certificate's.
    pub(crate) has_other_names: bool,
    /// The signed parts of the stand-in and of the certificate.
    bodies: [Vec<u8>; 2],
    /// The signature, which both have.
    signature: Vec<u8>,
}

impl Readable {
    /// The signed part of the certificate, if this is the stand-in with this signed part and signature.
    ///
    /// The signature is compared, too: if somebody sends the stand-in's signed part with another signature,
    /// it is a certificate of its own, which nobody signed.
    pub(crate) fn original_body(&self, body: &[u8], signature: &[u8]) -> Option<&[u8]> {
        let [stand_in, original] = &self.bodies;
        (stand_in == body && self.signature == signature).then_some(original)
    }
}

/// The stand-in for a certificate that `x509-cert` can't read, if it has such values and is otherwise
/// of the right form.
pub(crate) fn readable(der: &[u8]) -> Option<Readable> {
    stand_in(der, |body| {
        Some(Edits {
            issuer: read_name(body.issuer),
            subject: read_name(body.subject),
            extensions: edited_extensions(body, &[stand_in_for_limit], Long::LeftOut)?,
            without_unique_ids: false,
        })
    })
}

/// The stand-in for webpki, which doesn't process all name constraints either.
pub(crate) fn readable_by_webpki(der: &[u8]) -> Option<Readable> {
    stand_in(der, |body| {
        let edits = [
            stand_in_for_limit,
            stand_in_for_constraints,
            stand_in_for_policies,
        ];
        Some(Edits {
            extensions: edited_extensions(body, &edits, Long::Kept)?,
            without_unique_ids: body.has_unique_ids(),
            ..Edits::default()
        })
    })
}

/// The stand-in for a search in which the caller checks path lengths and name constraints of all kinds: it has none.
/// Its names are these, of which equal ones are equal bytes.
pub(crate) fn loosened(
    der: &[u8],
    issuer: &CanonicalName,
    subject: &CanonicalName,
) -> Option<Readable> {
    stand_in(der, |body| {
        let edits = [without_limit, without_constraints, stand_in_for_policies];
        let sequence = |name: &CanonicalName| constructed(Tag::Sequence, name.as_bytes());
        Some(Edits {
            issuer: Some(sequence(issuer)?),
            subject: Some(sequence(subject)?),
            extensions: edited_extensions(body, &edits, Long::Kept)?,
            without_unique_ids: true,
        })
    })
}

/// A request, also one with texts that `x509-cert` can't read.
pub(crate) fn request_from_der(der: &[u8]) -> der::Result<CertReq> {
    CertReq::from_der(der).or_else(|error| CertReq::from_der(&readable_request(der).ok_or(error)?))
}

/// The stand-in for a request with texts of UniversalString, if it is otherwise of the right form.
fn readable_request(der: &[u8]) -> Option<Vec<u8>> {
    let parts = Parts::from_der(der).ok()?;
    let mut body = RequestBody::from_der(signed::body(der).ok()?).ok()?;
    let subject = read_name(body.subject)?;
    body.subject = AnyRef::from_der(&subject).ok()?;
    let body = body.to_der().ok()?;
    let stand_in = Parts {
        body: AnyRef::from_der(&body).ok()?,
        ..parts
    };
    stand_in.to_der().ok()
}

/// What a stand-in has in place of what the certificate has.
#[derive(Default)]
struct Edits {
    issuer: Option<Vec<u8>>,
    subject: Option<Vec<u8>>,
    extensions: Option<Vec<u8>>,
    without_unique_ids: bool,
}

/// Changes an extension if necessary. Returns whether it did.
type Edit = fn(&mut Extension) -> bool;

/// Whether extensions are left out that are not critical, and whose identifiers are too long for `const-oid`.
#[derive(Clone, Copy, PartialEq)]
enum Long {
    Kept,
    LeftOut,
}

/// The stand-in, if a time or `edits` make one necessary.
fn stand_in(der: &[u8], edits: impl FnOnce(&Body<'_>) -> Option<Edits>) -> Option<Readable> {
    let parts = Parts::from_der(der).ok()?;
    // Otherwise somebody could send the certificate with a signature of the same bytes but another number of
    // bits, and the stand-in would look as if it had not been sent.
    let signature = whole_octets(parts.signature).ok()?;
    let original = signed::body(der).ok()?;
    let mut body: Body<'_> = Body::from_der(original).ok()?;
    let validity = &mut body.validity;
    let starts = stand_in_for_time(&mut validity.not_before);
    let ends = stand_in_for_time(&mut validity.not_after);
    let edits = edits(&body)?;
    let parts_edited = [&edits.issuer, &edits.subject, &edits.extensions];
    let is_edited = parts_edited.iter().any(|part| part.is_some());
    if !(starts || ends || is_edited || edits.without_unique_ids) {
        return None;
    }
    for (part, edited) in [
        (&mut body.issuer, &edits.issuer),
        (&mut body.subject, &edits.subject),
    ] {
        if let Some(edited) = edited {
            *part = AnyRef::from_der(edited).ok()?;
        }
    }
    if let Some(extensions) = &edits.extensions {
        body.extensions = Some(AnyRef::from_der(extensions).ok()?);
    }
    if edits.without_unique_ids {
        (body.issuer_unique_id, body.subject_unique_id) = (None, None);
    }
    let body = body.to_der().ok()?;
    let stand_in = Parts {
        body: AnyRef::from_der(&body).ok()?,
        ..parts
    };
    Some(Readable {
        der: stand_in.to_der().ok()?,
        ends_before_1970: ends,
        has_other_names: edits.issuer.is_some() || edits.subject.is_some(),
        signature: signature.to_vec(),
        bodies: [body.clone(), original.to_vec()],
    })
}

/// A Certificate (RFC 5280 section 4.1), or a request in the same envelope.
#[derive(Sequence)]
struct Parts<'a> {
    body: AnyRef<'a>,
    algorithm: AnyRef<'a>,
    signature: BitStringRef<'a>,
}

/// A TBSCertificate, as far as needed here.
#[derive(Sequence)]
struct Body<'a> {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    version: Option<u8>,
    serial_number: AnyRef<'a>,
    signature: AnyRef<'a>,
    issuer: AnyRef<'a>,
    validity: Validity<'a>,
    subject: AnyRef<'a>,
    subject_public_key_info: AnyRef<'a>,
    #[asn1(context_specific = "1", tag_mode = "IMPLICIT", optional = "true")]
    issuer_unique_id: Option<BitStringRef<'a>>,
    #[asn1(context_specific = "2", tag_mode = "IMPLICIT", optional = "true")]
    subject_unique_id: Option<BitStringRef<'a>>,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT", optional = "true")]
    extensions: Option<AnyRef<'a>>,
}

impl Body<'_> {
    fn has_unique_ids(&self) -> bool {
        self.issuer_unique_id.is_some() || self.subject_unique_id.is_some()
    }
}

/// A CertificationRequestInfo (RFC 2986 section 4.1), as far as needed here.
#[derive(Sequence)]
struct RequestBody<'a> {
    version: AnyRef<'a>,
    subject: AnyRef<'a>,
    public_key: AnyRef<'a>,
    attributes: AnyRef<'a>,
}

#[derive(Sequence)]
struct Validity<'a> {
    not_before: AnyRef<'a>,
    not_after: AnyRef<'a>,
}

/// BasicConstraints with a limit of any size.
#[derive(Sequence)]
struct Constraints<'a> {
    #[asn1(default = "Default::default")]
    ca: bool,
    path_len: Option<UintRef<'a>>,
}

/// Replaces a time before 1970 by 1970 (RFC 5280 section 4.1.2.5). Returns whether it did.
pub(crate) fn stand_in_for_time(time: &mut AnyRef<'_>) -> bool {
    let (tag, stand_in) = match time.tag() {
        Tag::UtcTime => (Tag::UtcTime, &b"700101000000Z"[..]),
        Tag::GeneralizedTime => (Tag::GeneralizedTime, &b"19700101000000Z"[..]),
        _ => return false,
    };
    if !is_before_1970(tag, time.value()) {
        return false;
    }
    *time = AnyRef::new(tag, stand_in).expect("a short value");
    true
}

fn is_before_1970(tag: Tag, value: &[u8]) -> bool {
    let (year, rest) = match (tag, value) {
        // Two digits from 50 on mean 19xx.
        (Tag::UtcTime, [b'5'..=b'6', b'0'..=b'9', rest @ ..]) => {
            (1900 + decimal(&value[..2]), rest)
        }
        (Tag::GeneralizedTime, [year @ .., _, _, _, _, _, _, _, _, _, _, b'Z'])
            if year.len() == 4 && year.iter().all(u8::is_ascii_digit) =>
        {
            (decimal(year), &value[4..])
        }
        _ => return false,
    };
    // The calendar repeats every 400 years, so `der` can check whether the day exists.
    let later = [format!("{:04}", year + 2000).as_bytes(), rest].concat();
    let later = AnyRef::new(Tag::GeneralizedTime, &later).and_then(GeneralizedTime::try_from);
    year < 1970 && later.is_ok()
}

fn decimal(digits: &[u8]) -> u16 {
    (digits.iter()).fold(0, |value, digit| 10 * value + u16::from(digit - b'0'))
}

/// The list of extensions with the edits, if any is necessary. Nothing if it is not of the right form.
fn edited_extensions(body: &Body<'_>, edits: &[Edit], long: Long) -> Option<Option<Vec<u8>>> {
    let Some(extensions) = body.extensions else {
        return Some(None);
    };
    // Few certificates need it, and to decode all extensions takes longer than to find that out.
    let mut edited = None;
    let mut left_out = Vec::new();
    let mut position = 0;
    for element in syntax::elements(extensions.value()) {
        let kind = syntax::elements(element.value).next()?.value;
        let is_limit = [BasicConstraints::OID, NameConstraints::OID]
            .iter()
            .any(|one| one.as_bytes() == kind);
        let is_of_policies = OF_POLICIES.iter().any(|one| one.as_bytes() == kind);
        let change = if is_limit || is_of_policies && is_critical(element) {
            let mut extension = Extension::from_der(element.whole).ok()?;
            let is_needed = edits
                .iter()
                .fold(false, |any, edit| edit(&mut extension) | any);
            is_needed.then(|| extension.to_der().ok())
        } else if long == Long::LeftOut && is_long(kind) && !is_critical(element) {
            if left_out.contains(&kind) || !is_extension(element) {
                return None;
            }
            left_out.push(kind);
            Some(Some(Vec::new()))
        } else {
            None
        };
        if edited.is_none() && change.is_some() {
            edited = Some(extensions.value()[..position].to_vec());
        }
        if let Some(edited) = &mut edited {
            match change {
                Some(extension) => edited.extend(extension?),
                None => edited.extend(element.whole),
            }
        }
        position += element.whole.len();
    }
    if position != extensions.value().len() {
        return None;
    }
    match edited {
        Some(edited) => Some(Some(constructed(Tag::Sequence, &edited)?)),
        None => Some(None),
    }
}

/// Whether an object identifier, which is sound DER, is too long for `const-oid`, or has a number above 32 bits.
pub(crate) fn is_long(identifier: &[u8]) -> bool {
    let is_whole = identifier.last().is_some_and(|last| *last < 0x80);
    let is_sound = || syntax::check_primitive(Tag::ObjectIdentifier, identifier).is_ok();
    ObjectIdentifier::from_bytes(identifier).is_err() && is_whole && is_sound()
}

/// Whether an Extension says that it is critical.
pub(crate) fn is_critical(extension: Element<'_>) -> bool {
    let critical = syntax::elements(extension.value).nth(1);
    critical.is_some_and(|critical| critical.whole[0] == 1 && critical.value != [0])
}

/// Whether an element has the form of an Extension that is not critical, whatever its identifier.
fn is_extension(element: Element<'_>) -> bool {
    const OCTET_STRING: u8 = 4;
    let mut fields = syntax::elements(element.value).skip(1).peekable();
    let critical = fields.next_if(|field| field.whole[0] == 1);
    let is_sound = critical.is_none_or(|critical| critical.value == [0]);
    let contents = fields.next();
    let read = element.value.len();
    let length = |element: Element<'_>| element.whole.len();
    let all: usize = syntax::elements(element.value).map(length).sum();
    is_sound
        && contents.is_some_and(|contents| contents.tag == OCTET_STRING)
        && fields.next().is_none()
        && all == read
}

/// Removes name constraints that webpki doesn't process. Returns whether there were any.
fn stand_in_for_constraints(extension: &mut Extension) -> bool {
    if extension.extn_id != NameConstraints::OID {
        return false;
    }
    let stand_in = AnyRef::from_der(extension.extn_value.as_bytes())
        .ok()
        .filter(|constraints| constraints.tag() == Tag::Sequence)
        .and_then(|constraints| {
            let left = name_constraints::for_webpki(constraints.value())?;
            let constraints = AnyRef::new(Tag::Sequence, &left).ok()?.to_der().ok()?;
            OctetString::new(constraints).ok()
        });
    replace(extension, stand_in)
}

/// Shows policies that this crate interprets as if they were not critical: webpki does not process any. Returns whether they
/// were.
fn stand_in_for_policies(extension: &mut Extension) -> bool {
    let is_needed = extension.critical && are_interpreted(extension);
    extension.critical = extension.critical && !is_needed;
    is_needed
}

/// Replaces the value of an extension, if there is a new one. Returns whether there is.
fn replace(extension: &mut Extension, value: Option<OctetString>) -> bool {
    match value {
        Some(value) => {
            extension.extn_value = value;
            true
        }
        None => false,
    }
}

/// Replaces a path length above 255 by 255. Returns whether it did.
fn stand_in_for_limit(extension: &mut Extension) -> bool {
    if extension.extn_id != BasicConstraints::OID {
        return false;
    }
    let stand_in = Constraints::from_der(extension.extn_value.as_bytes())
        .ok()
        .filter(|constraints| {
            constraints
                .path_len
                .is_some_and(|len| len.as_bytes().len() > 1)
        })
        .and_then(|constraints| {
            let constraints = BasicConstraints {
                ca: constraints.ca,
                path_len_constraint: Some(u8::MAX),
            };
            OctetString::new(constraints.to_der().ok()?).ok()
        });
    replace(extension, stand_in)
}

/// Removes a path length.
fn without_limit(extension: &mut Extension) -> bool {
    if extension.extn_id != BasicConstraints::OID {
        return false;
    }
    let constraints = Constraints::from_der(extension.extn_value.as_bytes()).ok();
    let stand_in = constraints.and_then(|constraints| {
        let constraints = BasicConstraints {
            ca: constraints.ca,
            path_len_constraint: None,
        };
        OctetString::new(constraints.to_der().ok()?).ok()
    });
    replace(extension, stand_in)
}

/// Removes all name constraints.
fn without_constraints(extension: &mut Extension) -> bool {
    let is_there = extension.extn_id == NameConstraints::OID;
    replace(
        extension,
        OctetString::new([0x30, 0]).ok().filter(|_| is_there),
    )
}
