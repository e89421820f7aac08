//! Stand-ins for certificates with values that X.509 allows but neither `x509-cert` nor webpki reads (dates
//! before 1970, and path lengths above 255), or with name constraints that webpki considers violated by
//! every name.
//!
//! Both libraries get the stand-in: the certificate with the nearest values that they know.
//! Nobody can ask about a time before 1970, and no path has so many CAs, so the stand-in
//! is valid when and where the certificate is, except if the certificate ended before 1970
//! ([`Readable::ends_before_1970`]). For webpki, the stand-in has no constraints of e-mail addresses, URIs
//! and directory names: the caller has to check these. Signatures are verified over the
//! certificate itself.

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{AnyRef, BitStringRef, GeneralizedTime, OctetString, UintRef};
use der::{Decode, Encode, Reader, Sequence, SliceReader, Tag, Tagged};
use pq_keys::encoding::syntax::whole_octets;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, NameConstraints};

use super::{name_constraints, signed};

/// The stand-in for a certificate that can't be read as it is.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) der: Vec<u8>,
    /// Whether the certificate ended before 1970, where `UnixTime` begins.
    pub(crate) ends_before_1970: bool,
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
    stand_in(der, &[stand_in_for_limit])
}

/// The stand-in for webpki, which doesn't process all name constraints either.
pub(crate) fn readable_by_webpki(der: &[u8]) -> Option<Readable> {
    stand_in(der, &[stand_in_for_limit, stand_in_for_constraints])
}

/// Replaces the value of an extension if necessary. Returns whether it did.
type Edit = fn(&mut Extension) -> bool;

fn stand_in(der: &[u8], edits: &[Edit]) -> Option<Readable> {
    let parts = Parts::from_der(der).ok()?;
    // Otherwise somebody could send the certificate with a signature of the same bytes but another number of
    // bits, and the stand-in would look as if it had not been sent.
    let signature = whole_octets(parts.signature).ok()?;
    let original = signed::body(der).ok()?;
    let mut body: Body<'_> = Body::from_der(original).ok()?;
    let validity = &mut body.validity;
    let starts = stand_in_for_time(&mut validity.not_before);
    let ends = stand_in_for_time(&mut validity.not_after);
    let edited = match body.extensions {
        Some(extensions) => stand_in_for_extensions(extensions, edits).ok()?,
        None => None,
    };
    if !(starts || ends || edited.is_some()) {
        return None;
    }
    if let Some(extensions) = &edited {
        body.extensions = Some(AnyRef::from_der(extensions).ok()?);
    }
    let body = body.to_der().ok()?;
    let stand_in = Parts {
        body: AnyRef::from_der(&body).ok()?,
        ..parts
    };
    Some(Readable {
        der: stand_in.to_der().ok()?,
        ends_before_1970: ends,
        signature: signature.to_vec(),
        bodies: [body.clone(), original.to_vec()],
    })
}

/// A Certificate (RFC 5280 section 4.1).
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

/// The extensions with the edits, if any edit is necessary.
fn stand_in_for_extensions(extensions: AnyRef<'_>, edits: &[Edit]) -> der::Result<Option<Vec<u8>>> {
    // Few certificates need it, and to decode all extensions takes longer than to find that out.
    let mut reader = SliceReader::new(extensions.value())?;
    let mut is_needed = false;
    while !reader.is_finished() {
        let extension = AnyRef::decode(&mut reader)?;
        let kind = ObjectIdentifier::decode(&mut SliceReader::new(extension.value())?)?;
        if [BasicConstraints::OID, NameConstraints::OID].contains(&kind) {
            let mut extension: Extension = extension.decode_as()?;
            is_needed |= edits.iter().any(|edit| edit(&mut extension));
        }
    }
    if !is_needed {
        return Ok(None);
    }
    let mut extensions: Vec<Extension> = extensions.decode_as()?;
    for extension in &mut extensions {
        for edit in edits {
            edit(extension);
        }
    }
    extensions.to_der().map(Some)
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
