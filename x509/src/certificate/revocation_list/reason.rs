//! The reason of a revocation, whatever its code: who was revoked for a reason that is not known here was revoked.

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::{DecodeValue, EncodeValue, FixedTag, Header, Length, Reader, Tag, Writer};
use x509_cert::ext::pkix::CrlReason;

/// A CRLReason (RFC 5280 section 5.3.1) of any code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Reason(Option<CrlReason>);

impl Reason {
    /// The reason; unspecified if its code is not defined.
    pub(crate) fn known(self) -> CrlReason {
        self.0.unwrap_or(CrlReason::Unspecified)
    }
}

impl AssociatedOid for Reason {
    const OID: ObjectIdentifier = CrlReason::OID;
}

impl From<CrlReason> for Reason {
    fn from(reason: CrlReason) -> Self {
        Self(Some(reason))
    }
}

impl FixedTag for Reason {
    const TAG: Tag = Tag::Enumerated;
}

impl<'a> DecodeValue<'a> for Reason {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        // An ENUMERATED is encoded like an INTEGER: not empty, and as short as can be.
        match reader.read_slice(header.length())? {
            [] | [0, 0..=0x7f, ..] | [0xff, 0x80..=0xff, ..] => Err(Self::TAG.value_error().into()),
            [code] => Ok(Self(reason_of(*code))),
            _ => Ok(Self(None)),
        }
    }
}

/// Only a reason that is known is ever written.
impl EncodeValue for Reason {
    fn value_len(&self) -> der::Result<Length> {
        self.known().value_len()
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.known().encode_value(writer)
    }
}

/// The name of a reason in RFC 5280 section 5.3.1, such as `keyCompromise`.
pub fn reason_name(reason: CrlReason) -> &'static str {
    match reason {
        CrlReason::Unspecified => "unspecified",
        CrlReason::KeyCompromise => "keyCompromise",
        CrlReason::CaCompromise => "cACompromise",
        CrlReason::AffiliationChanged => "affiliationChanged",
        CrlReason::Superseded => "superseded",
        CrlReason::CessationOfOperation => "cessationOfOperation",
        CrlReason::CertificateHold => "certificateHold",
        CrlReason::RemoveFromCRL => "removeFromCRL",
        CrlReason::PrivilegeWithdrawn => "privilegeWithdrawn",
        CrlReason::AaCompromise => "aACompromise",
    }
}

/// The reasons of RFC 5280 section 5.3.1. There is no 7.
fn reason_of(code: u8) -> Option<CrlReason> {
    Some(match code {
        0 => CrlReason::Unspecified,
        1 => CrlReason::KeyCompromise,
        2 => CrlReason::CaCompromise,
        3 => CrlReason::AffiliationChanged,
        4 => CrlReason::Superseded,
        5 => CrlReason::CessationOfOperation,
        6 => CrlReason::CertificateHold,
        8 => CrlReason::RemoveFromCRL,
        9 => CrlReason::PrivilegeWithdrawn,
        10 => CrlReason::AaCompromise,
        _ => return None,
    })
}
