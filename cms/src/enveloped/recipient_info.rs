use const_oid::ObjectIdentifier;
use der::asn1::OctetStringRef;
use der::{Decode, Encode};
use spki::AlgorithmIdentifierRef;

use crate::encoding::{Fields, contents, tag, tlv};
use crate::identifier::KeyIdentifier;

/// ori of a RecipientInfo.
pub(super) const OTHER: u8 = tag::context_constructed(4);

/// kekri of a RecipientInfo.
pub(super) const KEK: u8 = tag::context_constructed(2);

/// id-ori-kem (RFC 9629, section 3).
const ID_ORI_KEM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.13.3");

/// KEMRecipientInfo (RFC 9629, section 3).
pub(super) struct KemRecipientInfo<'a> {
    pub(super) recipient: KeyIdentifier,
    pub(super) kem: AlgorithmIdentifierRef<'a>,
    pub(super) ciphertext: &'a [u8],
    pub(super) kdf: AlgorithmIdentifierRef<'a>,
    pub(super) key_len: u16,
    pub(super) ukm: Option<&'a [u8]>,
    pub(super) wrap: AlgorithmIdentifierRef<'a>,
    pub(super) encrypted_key: &'a [u8],
}

impl<'a> KemRecipientInfo<'a> {
    /// Reads an `ori`; `None` if it is of another kind.
    pub(super) fn from_der(der: &'a [u8]) -> der::Result<Option<Self>> {
        let mut fields = Fields::of(OTHER, der)?;
        let kind: ObjectIdentifier = fields.read()?;
        let value = fields.element()?;
        fields.end()?;
        if kind != ID_ORI_KEM {
            return Ok(None);
        }
        let mut fields = Fields::of(tag::SEQUENCE, value)?;
        if fields.read::<u8>()? != 0 {
            return Err(der::Tag::Integer.value_error().into());
        }
        let recipient = KeyIdentifier::from_der(fields.element()?)?;
        let kem = fields.read()?;
        let ciphertext = fields.read::<&OctetStringRef>()?.as_bytes();
        let kdf = fields.read()?;
        let key_len = fields.read()?;
        let ukm = match fields.element_if(tag::context_constructed(0))? {
            Some(ukm) => Some(<&OctetStringRef>::from_der(contents(ukm)?)?.as_bytes()),
            None => None,
        };
        let wrap = fields.read()?;
        let encrypted_key = fields.read::<&OctetStringRef>()?.as_bytes();
        fields.end()?;
        Ok(Some(Self {
            recipient,
            kem,
            ciphertext,
            kdf,
            key_len,
            ukm,
            wrap,
            encrypted_key,
        }))
    }
}

/// The `ori` of a message that is made, without ukm. The algorithms are identifiers in DER.
pub(super) fn encode_kem(
    recipient: &KeyIdentifier,
    kem: &[u8],
    ciphertext: &[u8],
    kdf: &[u8],
    key_len: usize,
    wrap: &[u8],
    encrypted_key: &[u8],
) -> der::Result<Vec<u8>> {
    let info = tlv(
        tag::SEQUENCE,
        &[
            &0_u8.to_der()?,
            &recipient.to_der(),
            kem,
            &tlv(tag::OCTET_STRING, &[ciphertext]),
            kdf,
            &(key_len as u16).to_der()?,
            wrap,
            &tlv(tag::OCTET_STRING, &[encrypted_key]),
        ],
    );
    Ok(tlv(OTHER, &[&ID_ORI_KEM.to_der()?, &info]))
}

/// KEKRecipientInfo (RFC 5652, section 6.2.3).
pub(super) struct KekRecipientInfo<'a> {
    pub(super) id: &'a [u8],
    pub(super) wrap: AlgorithmIdentifierRef<'a>,
    pub(super) encrypted_key: &'a [u8],
}

impl<'a> KekRecipientInfo<'a> {
    pub(super) fn from_der(der: &'a [u8]) -> der::Result<Self> {
        let mut fields = Fields::of(KEK, der)?;
        if fields.read::<u8>()? != 4 {
            return Err(der::Tag::Integer.value_error().into());
        }
        // A date and other attributes may follow the identifier.
        let mut id = Fields::of(tag::SEQUENCE, fields.element()?)?;
        let id = id.read::<&OctetStringRef>()?.as_bytes();
        let wrap = fields.read()?;
        let encrypted_key = fields.read::<&OctetStringRef>()?.as_bytes();
        fields.end()?;
        Ok(Self {
            id,
            wrap,
            encrypted_key,
        })
    }
}

/// The `kekri` of a message that is made.
pub(super) fn encode_kek(id: &[u8], wrap: &[u8], encrypted_key: &[u8]) -> der::Result<Vec<u8>> {
    let id = tlv(tag::SEQUENCE, &[&tlv(tag::OCTET_STRING, &[id])]);
    let encrypted_key = tlv(tag::OCTET_STRING, &[encrypted_key]);
    Ok(tlv(KEK, &[&4_u8.to_der()?, &id, wrap, &encrypted_key]))
}
