//! Recognises what a PEM block or a DER file is, by its label or by the ASN.1 types of its first fields, before
//! anything parses it.

use core::fmt;

use pq_keys::encoding::pem;
use pq_x509::x509_cert::der::asn1::AnyRef;
use pq_x509::x509_cert::der::{Decode, Reader, SliceReader, Tag, Tagged};

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
    /// A PEM block with another label.
    Other(String),
}

/// The labels of RFC 7468, those of older private keys, and GnuTLS's for PKCS#12.
const LABELS: [(&str, Kind); 9] = [
    ("PRIVATE KEY", Kind::PrivateKey),
    ("EC PRIVATE KEY", Kind::PrivateKey),
    ("RSA PRIVATE KEY", Kind::PrivateKey),
    ("ENCRYPTED PRIVATE KEY", Kind::EncryptedPrivateKey),
    ("PUBLIC KEY", Kind::PublicKey),
    ("CERTIFICATE", Kind::Certificate),
    ("CERTIFICATE REQUEST", Kind::Request),
    ("X509 CRL", Kind::RevocationList),
    ("PKCS12", Kind::Pkcs12),
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
        let [0x30, len, rest @ ..] = bytes else {
            return false;
        };
        let octets = match len {
            0x81..=0xfe => usize::from(len & 0x7f),
            _ => 0,
        };
        let contents = rest.get(octets..).unwrap_or_default();
        contents.starts_with(&[2, 1, 3, 0x30])
    }

    /// For sentences, such as `a private key`.
    pub(crate) fn with_article(&self) -> String {
        match self {
            Self::EncryptedPrivateKey => format!("an {self}"),
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
            // Anybody may have written the file.
            Self::Other(label) => write!(f, "block \"{}\"", label.escape_default()),
        }
    }
}

fn fields(der: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    let outer = AnyRef::from_der(der).ok()?;
    (outer.tag() == Tag::Sequence).then(|| elements(outer.value()))?
}

fn elements(contents: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(contents).ok()?;
    let mut elements = Vec::new();
    while !reader.is_finished() {
        elements.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(elements)
}
