//! The types of RFC 7292, and those of CMS (RFC 5652) that are in them.

use const_oid::ObjectIdentifier;
use der::asn1::AnyRef;
use der::{Sequence, Tag, TagNumber};
use pq_keys::pkcs12::for_pkcs12::MacData;
use spki::AlgorithmIdentifierRef;
use x509_cert::attr::Attributes;

pub(super) use const_oid::db::rfc6268::{ID_DATA, ID_ENCRYPTED_DATA};

pub(super) const KEY_BAG: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.1");
pub(super) const SHROUDED_KEY_BAG: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.2");
pub(super) const CERT_BAG: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.3");
pub(super) const SAFE_CONTENTS_BAG: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.6");
pub(super) const X509_CERTIFICATE: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.22.1");

/// ```text
/// PFX ::= SEQUENCE {
///   version     INTEGER {v3(3)}(v3,...),
///   authSafe    ContentInfo,
///   macData     MacData OPTIONAL }
/// ```
#[derive(Sequence)]
pub(super) struct Pfx<'a> {
    pub(super) version: u8,
    pub(super) auth_safe: ContentInfo<'a>,
    pub(super) mac_data: Option<MacData<'a>>,
}

pub(super) const PFX_VERSION: u8 = 3;

/// ```text
/// ContentInfo ::= SEQUENCE {
///   contentType ContentType,
///   content [0] EXPLICIT ANY DEFINED BY contentType }
/// ```
#[derive(Sequence)]
pub(super) struct ContentInfo<'a> {
    pub(super) content_type: ObjectIdentifier,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    pub(super) content: AnyRef<'a>,
}

/// ```text
/// EncryptedData ::= SEQUENCE {
///   version CMSVersion,
///   encryptedContentInfo EncryptedContentInfo,
///   unprotectedAttrs [1] IMPLICIT UnprotectedAttributes OPTIONAL }
/// ```
///
/// With attributes it would be of another version, which RFC 7292 does not know.
#[derive(Sequence)]
pub(super) struct EncryptedData<'a> {
    pub(super) version: u8,
    pub(super) content: EncryptedContentInfo<'a>,
}

/// ```text
/// EncryptedContentInfo ::= SEQUENCE {
///   contentType ContentType,
///   contentEncryptionAlgorithm ContentEncryptionAlgorithmIdentifier,
///   encryptedContent [0] IMPLICIT EncryptedContent OPTIONAL }
/// EncryptedContent ::= OCTET STRING
/// ```
#[derive(Sequence)]
pub(super) struct EncryptedContentInfo<'a> {
    pub(super) content_type: ObjectIdentifier,
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    /// In BER, the string may be in pieces: then it is constructed.
    pub(super) content: AnyRef<'a>,
}

/// The tag of a string in one piece that is the content.
pub(super) const ENCRYPTED_CONTENT: Tag = encrypted_content(false);

/// That of a string in pieces.
pub(super) const ENCRYPTED_PIECES: Tag = encrypted_content(true);

const fn encrypted_content(constructed: bool) -> Tag {
    Tag::ContextSpecific {
        constructed,
        number: TagNumber(0),
    }
}

/// ```text
/// SafeBag ::= SEQUENCE {
///   bagId          BAG-TYPE.&id ({PKCS12BagSet})
///   bagValue       [0] EXPLICIT BAG-TYPE.&Type({PKCS12BagSet}{@bagId}),
///   bagAttributes  SET OF PKCS12Attribute OPTIONAL }
/// ```
#[derive(Sequence)]
pub(super) struct SafeBag<'a> {
    pub(super) id: ObjectIdentifier,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    pub(super) value: AnyRef<'a>,
    pub(super) attributes: Option<Attributes>,
}

/// ```text
/// CertBag ::= SEQUENCE {
///   certId      BAG-TYPE.&id   ({CertTypes}),
///   certValue   [0] EXPLICIT BAG-TYPE.&Type ({CertTypes}{@certId}) }
/// ```
#[derive(Sequence)]
pub(super) struct CertBag<'a> {
    pub(super) id: ObjectIdentifier,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    pub(super) value: AnyRef<'a>,
}
