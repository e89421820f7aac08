//! Recognises what a PEM block or a DER file is, by its label or by the ASN.1 types of its first fields, before
//! anything parses it; and whether a file has a private key in any form that commands read.
//!
//! It uses nothing.

mod json;
mod private;
mod raw;

use core::fmt;

use pq_keys::encoding::pem;
use pq_keystore::Attestation;
use pq_keystore::audit::SignedHead;
use pq_keystore::storage::RedbStorage;
use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Decode, Reader, SliceReader, Tag, Tagged};

pub(crate) use json::{is_map, is_object, is_set, text};
pub(crate) use private::{
    LONGEST, blocks_alone, has_private_key, is_one_private_key, is_raw_secret,
};
pub(crate) use raw::readings;

/// The kind of a PEM block or of a file's DER, as far as its label or its outline tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    PrivateKey,
    PublicKey,
    Certificate,
    Request,
    RevocationList,
    EncryptedPrivateKey,
    /// A PFX.
    Pkcs12,
    OcspRequest,
    OcspResponse,
    /// A ContentInfo of CMS, which was PKCS#7.
    Message,
    /// A PEM block with another label.
    Other(String),
}

/// The labels of RFC 7468, those of older private keys, GnuTLS's for PKCS#12, and OpenSSL's for OCSP.
const LABELS: [(&str, Kind); 12] = [
    ("PRIVATE KEY", Kind::PrivateKey),
    ("EC PRIVATE KEY", Kind::PrivateKey),
    ("RSA PRIVATE KEY", Kind::PrivateKey),
    ("ENCRYPTED PRIVATE KEY", Kind::EncryptedPrivateKey),
    ("PUBLIC KEY", Kind::PublicKey),
    ("CERTIFICATE", Kind::Certificate),
    ("CERTIFICATE REQUEST", Kind::Request),
    ("X509 CRL", Kind::RevocationList),
    ("PKCS12", Kind::Pkcs12),
    ("OCSP REQUEST", Kind::OcspRequest),
    ("OCSP RESPONSE", Kind::OcspResponse),
    ("CMS", Kind::Message),
];

impl Kind {
    /// By the label of a PEM block. A damaged one may have two, of which nobody knows which is right.
    pub(crate) fn of_block(block: &pem::Block<'_>) -> Vec<Self> {
        let named = LABELS.into_iter().filter(|(label, _)| block.is_of(label));
        let kinds: Vec<Self> = named.map(|(_, kind)| kind).collect();
        match kinds.is_empty() {
            true => vec![Self::Other(block.label())],
            false => kinds,
        }
    }

    /// By the types of the fields.
    pub(crate) fn of_der(der: &[u8]) -> Option<Self> {
        let fields = fields(der)?;
        let tags: Vec<Tag> = fields.iter().map(Tagged::tag).collect();
        match &*tags {
            // OneAsymmetricKey (RFC 5958)
            [Tag::Integer, Tag::Sequence, Tag::OctetString, ..] => Some(Self::PrivateKey),
            // PFX (RFC 7292), with or without a MAC
            [Tag::Integer, Tag::Sequence] | [Tag::Integer, Tag::Sequence, Tag::Sequence] => {
                Some(Self::Pkcs12)
            }
            // ECPrivateKey (RFC 5915)
            [Tag::Integer, Tag::OctetString, ..] => Some(Self::PrivateKey),
            // RSAPrivateKey (RFC 8017), which has nine numbers
            [Tag::Integer, Tag::Integer, Tag::Integer, Tag::Integer, ..] => Some(Self::PrivateKey),
            // EncryptedPrivateKeyInfo (RFC 5958)
            [Tag::Sequence, Tag::OctetString] => Some(Self::EncryptedPrivateKey),
            // SubjectPublicKeyInfo (RFC 5280)
            [Tag::Sequence, Tag::BitString] => Some(Self::PublicKey),
            // ContentInfo (RFC 5652)
            [Tag::ObjectIdentifier, Tag::ContextSpecific { .. }] => Some(Self::Message),
            // SIGNED{}
            [Tag::Sequence, Tag::Sequence, Tag::BitString] => {
                Self::of_body(fields.first()?.value())
            }
            _ => None,
        }
    }

    /// Whether bytes begin as a PFX does, in DER or BER (RFC 7292): a SEQUENCE of any length, the version 3, and another
    /// SEQUENCE.
    pub(crate) fn is_begun_pkcs12(bytes: &[u8]) -> bool {
        begun_sequence(bytes).is_some_and(|contents| contents.starts_with(&[2, 1, 3, 0x30]))
    }

    /// Whether bytes begin as a message does, in DER or BER (RFC 5652 section 3), or a text with one in PEM.
    pub(crate) fn is_begun_message(bytes: &[u8]) -> bool {
        // 1.2.840.113549.1.7 and 1.2.840.113549.1.9.16.1, and one number more
        const TYPES: [&[u8]; 2] = [
            &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7],
            &[6, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 16, 1],
        ];
        match begun_sequence(bytes) {
            Some(contents) => TYPES.iter().any(|one| contents.starts_with(one)),
            None => pem::Mark::first_in(bytes).is_some_and(|mark| mark.is_of("CMS")),
        }
    }

    /// Whether bytes begin as the DER of a revocation list does, whose third or fourth field is a time (RFC 5280 section
    /// 5.1).
    pub(crate) fn is_begun_list(bytes: &[u8]) -> bool {
        let body = begun_sequence(bytes).and_then(begun_sequence);
        let reader = body.and_then(|body| SliceReader::new(body).ok());
        let Some(mut reader) = reader else {
            return false;
        };
        for _ in 0..3 {
            let is_field = AnyRef::decode(&mut reader)
                .is_ok_and(|field| matches!(field.tag(), Tag::Integer | Tag::Sequence));
            let next = reader.peek_byte();
            match next {
                Some(0x17 | 0x18) if is_field => return true,
                Some(_) if is_field => {}
                _ => return false,
            }
        }
        false
    }

    /// For sentences, such as `a private key`.
    pub(crate) fn with_article(&self) -> String {
        match self {
            Self::EncryptedPrivateKey | Self::OcspRequest | Self::OcspResponse => {
                format!("an {self}")
            }
            _ => format!("a {self}"),
        }
    }

    /// By the fields of the signed part: of the three documents, only a revocation list has times there, and
    /// a request has at most four fields.
    fn of_body(body: &[u8]) -> Option<Self> {
        let fields = elements(body)?;
        let is_time =
            |field: &AnyRef<'_>| matches!(field.tag(), Tag::UtcTime | Tag::GeneralizedTime);
        if fields.iter().any(is_time) {
            Some(Self::RevocationList)
        } else if fields.len() <= 4 {
            Some(Self::Request)
        } else {
            Some(Self::Certificate)
        }
    }
}

/// What the text begins with that stands for a key in a store, in a CA's folder.
pub(crate) const REFERENCE: &str = "pqtls key in a store 1\n";

/// What the text of a signature by a key in a store begins with.
pub(crate) const SIGNATURE: &str = "pqtls store signature 1\n";

/// A file that a key store has, or that is about one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OfStore {
    Store,
    Reference,
    Head,
    Attestation,
    Signature,
}

impl OfStore {
    /// By how it begins; of an attestation, by all of it.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        if RedbStorage::is_begun(bytes) {
            Some(Self::Store)
        } else if bytes.starts_with(REFERENCE.as_bytes()) {
            Some(Self::Reference)
        } else if SignedHead::is_begun(bytes) {
            Some(Self::Head)
        } else if bytes.starts_with(SIGNATURE.as_bytes()) {
            Some(Self::Signature)
        } else {
            Attestation::decode(bytes).ok().map(|_| Self::Attestation)
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrivateKey => f.write_str("private key"),
            Self::PublicKey => f.write_str("public key"),
            Self::Certificate => f.write_str("certificate"),
            Self::Request => f.write_str("certificate request"),
            Self::RevocationList => f.write_str("revocation list"),
            Self::EncryptedPrivateKey => f.write_str("encrypted private key"),
            Self::Pkcs12 => f.write_str("PKCS#12 file"),
            Self::OcspRequest => f.write_str("OCSP request"),
            Self::OcspResponse => f.write_str("OCSP response"),
            Self::Message => f.write_str("message (CMS)"),
            // Anybody may have written the file.
            Self::Other(label) => write!(f, "block \"{}\"", label.escape_default()),
        }
    }
}

fn fields(der: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    let outer = AnyRef::from_der(der).ok()?;
    (outer.tag() == Tag::Sequence).then(|| elements(outer.value()))?
}

/// What follows the header of a SEQUENCE, as much as there is.
fn begun_sequence(bytes: &[u8]) -> Option<&[u8]> {
    let [0x30, len, rest @ ..] = bytes else {
        return None;
    };
    let octets = match len {
        0x81..=0xfe => usize::from(len & 0x7f),
        _ => 0,
    };
    rest.get(octets..)
}

/// The first elements, as many as are looked at: an RSA key has nine, and a file may have millions.
fn elements(contents: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    const MOST: usize = 16;
    let mut reader = SliceReader::new(contents).ok()?;
    let mut elements = Vec::new();
    while !reader.is_finished() && elements.len() < MOST {
        elements.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(elements)
}
