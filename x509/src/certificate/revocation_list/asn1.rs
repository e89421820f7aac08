//! The ASN.1 of revocation lists (RFC 5280 section 5.1), including version 1 and dates before 1970,
//! which `x509-cert` does not read.

use der::asn1::{Any, AnyRef, BitStringRef, GeneralizedTime, UtcTime};
use der::{Choice, Decode, DecodeValue, FixedTag, Header, Reader, Sequence, Tag, Tagged};
use pki_types::UnixTime;
use spki::AlgorithmIdentifierOwned;
use x509_cert::certificate::Version;
use x509_cert::ext::pkix::CrlReason;
use x509_cert::serial_number::SerialNumber;

use super::extension;
use super::reason::Reason;
use super::scope::{UnusableList, check_entry};
use crate::certificate::extensions::Extensions;
use crate::certificate::readable::stand_in_for_time;

#[derive(DecodeValue)]
pub(crate) struct CertificateList<'a> {
    pub(crate) body: TbsCertList,
    pub(crate) signature_algorithm: AlgorithmIdentifierOwned,
    pub(crate) signature: BitStringRef<'a>,
}

impl Sequence<'_> for CertificateList<'_> {}

#[derive(DecodeValue)]
pub(crate) struct TbsCertList {
    pub(crate) version: Option<Version>,
    pub(crate) signature: AlgorithmIdentifierOwned,
    /// A Name, which is read apart.
    pub(crate) issuer: Any,
    pub(crate) this_update: ListTime,
    pub(crate) next_update: Option<ListTime>,
    pub(crate) revoked_certificates: Option<Vec<RevokedCert>>,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    pub(crate) extensions: Option<Extensions>,
}

impl Sequence<'_> for TbsCertList {}

#[derive(DecodeValue)]
pub(crate) struct RevokedCert {
    pub(crate) serial_number: SerialNumber,
    pub(crate) date: ListTime,
    pub(crate) extensions: Option<EntryExtensions>,
}

impl Sequence<'_> for RevokedCert {}

/// What the extensions of an entry say. They are read at once: those of all entries take many times the list's length.
pub(crate) struct EntryExtensions {
    pub(crate) is_empty: bool,
    pub(crate) reason: CrlReason,
    /// Whether a list with such an entry can be used.
    pub(crate) usable: Result<(), UnusableList>,
}

impl FixedTag for EntryExtensions {
    const TAG: Tag = Tag::Sequence;
}

impl<'a> DecodeValue<'a> for EntryExtensions {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        let extensions = Extensions::decode_value(reader, header)?.0;
        Ok(Self {
            is_empty: extensions.is_empty(),
            reason: extension(&extensions)?.map_or(CrlReason::Unspecified, Reason::known),
            usable: check_entry(&extensions),
        })
    }
}

/// A Time. A time before 1970, which `UnixTime` cannot express, is read as 1970.
#[derive(Clone, Copy)]
pub(crate) struct ListTime(pub(crate) UnixTime);

impl<'a> Decode<'a> for ListTime {
    type Error = der::Error;

    fn decode<R: Reader<'a>>(reader: &mut R) -> der::Result<Self> {
        let mut time = AnyRef::decode(reader)?;
        stand_in_for_time(&mut time);
        let since_1970 = match time.tag() {
            Tag::UtcTime => UtcTime::try_from(time)?.to_unix_duration(),
            _ => GeneralizedTime::try_from(time)?.to_unix_duration(),
        };
        Ok(Self(UnixTime::since_unix_epoch(since_1970)))
    }
}

impl Tagged for ListTime {
    fn tag(&self) -> Tag {
        Tag::GeneralizedTime
    }
}

impl Choice<'_> for ListTime {
    fn can_decode(tag: Tag) -> bool {
        matches!(tag, Tag::UtcTime | Tag::GeneralizedTime)
    }
}
