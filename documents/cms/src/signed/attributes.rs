//! Encodes the signed attributes of a new signature, and reads those of others strictly: sorted as DER, each type once,
//! with one value.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{
    ID_CONTENT_TYPE, ID_COUNTERSIGNATURE, ID_MESSAGE_DIGEST, ID_SIGNING_TIME,
};
use const_oid::db::rfc6211::ID_AA_CMS_ALGORITHM_PROTECTION;
use der::asn1::OctetStringRef;
use der::{Decode, Encode};
use pq_keys::signing::PreHash;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::time::Time;
use sha1::{Digest, Sha1};
use spki::{AlgorithmIdentifierOwned, AlgorithmIdentifierRef};

use super::error::SignatureRefusal;
use crate::algorithms::digest_named;
use crate::encoding::{Fields, contents, object_identifier, tag, tlv};

/// The attributes that are signed (RFC 5652, section 11).
#[derive(Debug)]
pub(super) struct SignedAttributes {
    pub(super) content_type: ObjectIdentifier,
    pub(super) message_digest: Vec<u8>,
    pub(super) signing_time: Option<UnixTime>,
    /// The algorithms of digest and signature (RFC 6211), as the attribute names them.
    pub(super) protection: Option<Protection>,
    /// The certificates that the signer says are its own (RFC 5035); each has to be the one.
    own: Vec<OwnCertificate>,
    /// The types of all attributes.
    pub(super) types: Vec<ObjectIdentifier>,
}

/// CMSAlgorithmProtection (RFC 6211): the contents of both AlgorithmIdentifiers.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Protection {
    digest: Vec<u8>,
    signature: Vec<u8>,
}

impl Protection {
    pub(super) fn of(
        digest: &AlgorithmIdentifierOwned,
        signature: &AlgorithmIdentifierOwned,
    ) -> der::Result<Self> {
        let contents_of = |identifier: &AlgorithmIdentifierOwned| -> der::Result<Vec<u8>> {
            Ok(contents(&identifier.to_der()?)?.to_vec())
        };
        Ok(Self {
            digest: contents_of(digest)?,
            signature: contents_of(signature)?,
        })
    }

    fn from_der(der: &[u8]) -> der::Result<Self> {
        let mut fields = Fields::of(tag::SEQUENCE, der)?;
        let digest = contents(fields.element()?)?.to_vec();
        let signature = fields.element_if(tag::context_constructed(1))?;
        let signature = signature.ok_or_else(|| der::Tag::Sequence.value_error())?;
        fields.end()?;
        Ok(Self {
            digest,
            signature: contents(signature)?.to_vec(),
        })
    }

    fn to_der(&self) -> Vec<u8> {
        tlv(
            tag::SEQUENCE,
            &[
                &tlv(tag::SEQUENCE, &[&self.digest]),
                &tlv(tag::context_constructed(1), &[&self.signature]),
            ],
        )
    }
}

/// The hash of the signer's certificate, of the first that such an attribute names: the others are those of CAs (RFC 5035
/// section 5.1).
#[derive(Debug)]
struct OwnCertificate {
    /// SHA-1 otherwise.
    digest: Option<PreHash>,
    hash: Vec<u8>,
}

/// SigningCertificate, by SHA-1 alone, and SigningCertificateV2 (RFC 5035 sections 5.4.1 and 3).
const ID_AA_SIGNING_CERTIFICATE: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.12");
const ID_AA_SIGNING_CERTIFICATE_V2: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");

impl OwnCertificate {
    fn from_der(oid: ObjectIdentifier, der: &[u8]) -> Result<Self, SignatureRefusal> {
        let mut value = Fields::of(tag::SEQUENCE, der)?;
        let first = Fields::of(tag::SEQUENCE, value.element()?)?.element()?;
        let mut first = Fields::of(tag::SEQUENCE, first)?;
        let digest = match oid {
            ID_AA_SIGNING_CERTIFICATE => None,
            _ => Some(match first.element_if(tag::SEQUENCE)? {
                None => PreHash::Sha256,
                Some(identifier) => {
                    let identifier = AlgorithmIdentifierRef::from_der(identifier)?;
                    let unknown = SignatureRefusal::UnknownCertificateDigest(identifier.oid);
                    digest_named(&identifier).ok_or(unknown)?
                }
            }),
        };
        let hash = <&OctetStringRef>::from_der(first.element()?)?;
        Ok(Self {
            digest,
            hash: hash.as_bytes().to_vec(),
        })
    }

    fn is(&self, certificate: &Certificate) -> bool {
        match self.digest {
            None => self.hash == Sha1::digest(certificate.der()).as_slice(),
            Some(digest) => {
                let mut hasher = digest.hasher();
                hasher.update(certificate.der());
                self.hash == hasher.finish().as_bytes()
            }
        }
    }
}

impl SignedAttributes {
    /// Makes sure that the signer doesn't name another certificate than this one as its own: a certificate for the same key
    /// may be of another owner, or for another purpose.
    pub(super) fn check_certificate(
        &self,
        certificate: &Certificate,
    ) -> Result<(), SignatureRefusal> {
        match self.own.iter().all(|own| own.is(certificate)) {
            true => Ok(()),
            false => Err(SignatureRefusal::OtherCertificate(
                certificate.describe_subject(),
            )),
        }
    }

    /// Reads a SET OF attributes, which must be in DER (RFC 5652, section 5.3): otherwise readers could take
    /// different bytes for what was signed.
    pub(super) fn from_der(set: &[u8]) -> Result<Self, SignatureRefusal> {
        let (mut content_type, mut message_digest) = (None, None);
        let (mut signing_time, mut protection) = (None, None);
        let (mut types, mut own) = (Vec::new(), Vec::new());
        let mut attributes = Sorted::of(set)?;
        while let Some(attribute) = attributes.next()? {
            let mut fields = Fields::of(tag::SEQUENCE, attribute)?;
            let oid = fields.object_identifier()?;
            let values = fields.element()?;
            fields.end()?;
            if types.contains(&oid) {
                return Err(SignatureRefusal::AttributeTwice(oid));
            }
            if types.len() == MAX_ATTRIBUTES {
                return Err(SignatureRefusal::TooManyAttributes(MAX_ATTRIBUTES));
            }
            types.push(oid);
            match oid {
                ID_COUNTERSIGNATURE => return Err(SignatureRefusal::AttributeSigned(oid)),
                ID_CONTENT_TYPE => {
                    content_type = Some(object_identifier(only_value(oid, values)?)?);
                }
                ID_MESSAGE_DIGEST => {
                    let value = <&OctetStringRef>::from_der(only_value(oid, values)?)?;
                    message_digest = Some(value.as_bytes().to_vec());
                }
                ID_SIGNING_TIME => {
                    let value = Time::from_der(only_value(oid, values)?)?;
                    let time = UnixTime::since_unix_epoch(value.to_unix_duration());
                    signing_time = Some(time);
                }
                ID_AA_CMS_ALGORITHM_PROTECTION => {
                    protection = Some(Protection::from_der(only_value(oid, values)?)?);
                }
                ID_AA_SIGNING_CERTIFICATE | ID_AA_SIGNING_CERTIFICATE_V2 => {
                    own.push(OwnCertificate::from_der(oid, only_value(oid, values)?)?);
                }
                _ => {
                    let mut values = Sorted::of(values)?;
                    while values.next()?.is_some() {}
                }
            }
        }
        let missing = |oid| move || SignatureRefusal::AttributeMissing(oid);
        Ok(Self {
            content_type: content_type.ok_or_else(missing(ID_CONTENT_TYPE))?,
            message_digest: message_digest.ok_or_else(missing(ID_MESSAGE_DIGEST))?,
            signing_time,
            protection,
            own,
            types,
        })
    }
}

/// The first of the attributes that are not signed which has to be (RFC 5652, sections 11.1 to 11.3, and RFC 6211, section
/// 2): other readers may take it for what was signed. All others are ignored. `set` is what holds them, under its own
/// tag.
pub(super) fn misplaced(set: &[u8]) -> der::Result<Option<ObjectIdentifier>> {
    let mut attributes = Fields::of(UNSIGNED, set)?;
    while !attributes.is_empty() {
        let mut attribute = Fields::of(tag::SEQUENCE, attributes.element()?)?;
        let oid = attribute.object_identifier()?;
        if let ID_CONTENT_TYPE
        | ID_MESSAGE_DIGEST
        | ID_SIGNING_TIME
        | ID_AA_CMS_ALGORITHM_PROTECTION = oid
        {
            return Ok(Some(oid));
        }
    }
    Ok(None)
}

/// The tag of unsigned attributes in a SignerInfo.
pub(super) const UNSIGNED: u8 = tag::context_constructed(1);

/// Other programs write some six. Each type is compared with those before it.
const MAX_ATTRIBUTES: usize = 64;

/// Encodes the attributes of a new signature, as the SET OF that is signed.
pub(super) fn encode(
    content_type: ObjectIdentifier,
    message_digest: &[u8],
    signing_time: Time,
    protection: &Protection,
) -> der::Result<Vec<u8>> {
    let attribute = |oid: ObjectIdentifier, value: &[u8]| -> der::Result<Vec<u8>> {
        let values = tlv(tag::SET, &[value]);
        Ok(tlv(tag::SEQUENCE, &[&oid.to_der()?, &values]))
    };
    let mut attributes = [
        attribute(ID_CONTENT_TYPE, &content_type.to_der()?)?,
        attribute(
            ID_MESSAGE_DIGEST,
            &tlv(tag::OCTET_STRING, &[message_digest]),
        )?,
        attribute(ID_SIGNING_TIME, &signing_time.to_der()?)?,
        attribute(ID_AA_CMS_ALGORITHM_PROTECTION, &protection.to_der())?,
    ];
    attributes.sort_unstable();
    Ok(tlv(tag::SET, &attributes.each_ref().map(Vec::as_slice)))
}

/// Reads the elements of a SET OF in DER, which are in order.
struct Sorted<'a> {
    elements: Fields<'a>,
    before: &'a [u8],
}

impl<'a> Sorted<'a> {
    fn of(set: &'a [u8]) -> Result<Self, SignatureRefusal> {
        Ok(Self {
            elements: Fields::of(tag::SET, set)?,
            before: &[],
        })
    }

    fn next(&mut self) -> Result<Option<&'a [u8]>, SignatureRefusal> {
        if self.elements.is_empty() {
            return Ok(None);
        }
        let element = self.elements.element()?;
        if element < self.before {
            return Err(SignatureRefusal::AttributesNotSorted);
        }
        self.before = element;
        Ok(Some(element))
    }
}

/// The one value of an attribute.
fn only_value(oid: ObjectIdentifier, values: &[u8]) -> Result<&[u8], SignatureRefusal> {
    let mut values = Fields::of(tag::SET, values)?;
    let value = values.element()?;
    match values.is_empty() {
        true => Ok(value),
        false => Err(SignatureRefusal::AttributeTwice(oid)),
    }
}
