//! Encodes and reads the RecipientInfos that name a KEM (`ori`, RFC 9629), a key agreement (`kari`) or a shared key
//! (`kekri`; RFC 5652, section 6.2).

use const_oid::ObjectIdentifier;
use der::asn1::{BitStringRef, OctetStringRef};
use der::{Decode, Encode};
use spki::AlgorithmIdentifierRef;

use crate::encoding::{Fields, contents, tag, tlv};
use crate::identifier::{KeyIdentifier, MAX_KEY_IDENTIFIER};

/// ori of a RecipientInfo.
pub(super) const OTHER: u8 = tag::context_constructed(4);

/// ktri of a RecipientInfo.
pub(super) const TRANSPORT: u8 = tag::SEQUENCE;

/// pwri of a RecipientInfo.
pub(super) const PASSWORD: u8 = tag::context_constructed(3);

/// kari of a RecipientInfo.
pub(super) const AGREEMENT: u8 = tag::context_constructed(1);

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
        if fields.read::<ObjectIdentifier>()? != ID_ORI_KEM {
            return Ok(None);
        }
        let value = fields.element()?;
        fields.end()?;
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

/// The type of an `ori`.
pub(super) fn other_kind(der: &[u8]) -> der::Result<ObjectIdentifier> {
    Fields::of(OTHER, der)?.read()
}

/// Encodes an `ori`, without ukm. The algorithms are identifiers in DER.
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

/// Encodes a `kekri`.
pub(super) fn encode_kek(id: &[u8], wrap: &[u8], encrypted_key: &[u8]) -> der::Result<Vec<u8>> {
    let id = tlv(tag::SEQUENCE, &[&tlv(tag::OCTET_STRING, &[id])]);
    let encrypted_key = tlv(tag::OCTET_STRING, &[encrypted_key]);
    Ok(tlv(KEK, &[&4_u8.to_der()?, &id, wrap, &encrypted_key]))
}

/// KeyAgreeRecipientInfo (RFC 5652, section 6.2.2), whose originator's key has no certificate.
pub(super) struct KeyAgreeRecipientInfo<'a> {
    /// The key's algorithm. EC keys need not name their curve (RFC 5753, section 3.1.1).
    pub(super) originator: AlgorithmIdentifierRef<'a>,
    pub(super) public_key: &'a [u8],
    pub(super) ukm: Option<&'a [u8]>,
    pub(super) scheme: ObjectIdentifier,
    /// The scheme's parameters.
    pub(super) wrap: AlgorithmIdentifierRef<'a>,
    pub(super) recipients: AgreementRecipients<'a>,
}

/// The recipients, each with its encrypted key. There may be many, so each is read when it is asked for.
pub(super) struct AgreementRecipients<'a>(Fields<'a>);

impl<'a> Iterator for AgreementRecipients<'a> {
    type Item = der::Result<(KeyIdentifier, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| {
            let mut key = Fields::of(tag::SEQUENCE, self.0.element()?)?;
            let recipient = agreement_identifier(key.element()?)?;
            let encrypted_key = key.read::<&OctetStringRef>()?.as_bytes();
            key.end()?;
            Ok((recipient, encrypted_key))
        })
    }
}

impl<'a> KeyAgreeRecipientInfo<'a> {
    /// `None` if the originator's key has a certificate.
    pub(super) fn from_der(der: &'a [u8]) -> der::Result<Option<Self>> {
        let mut fields = Fields::of(AGREEMENT, der)?;
        if fields.read::<u8>()? != 3 {
            return Err(der::Tag::Integer.value_error().into());
        }
        let mut originator = Fields::of(tag::context_constructed(0), fields.element()?)?;
        let Some(key) = originator.element_if(tag::context_constructed(1))? else {
            return Ok(None);
        };
        originator.end()?;
        let mut key = Fields::of(tag::context_constructed(1), key)?;
        let originator = key.read()?;
        let public_key: BitStringRef<'a> = key.read()?;
        let public_key = public_key.as_bytes();
        key.end()?;
        let ukm = match fields.element_if(tag::context_constructed(1))? {
            Some(ukm) => Some(<&OctetStringRef>::from_der(contents(ukm)?)?.as_bytes()),
            None => None,
        };
        let mut algorithm = Fields::of(tag::SEQUENCE, fields.element()?)?;
        let scheme = algorithm.read()?;
        let wrap = algorithm.read()?;
        algorithm.end()?;
        let recipients = AgreementRecipients(Fields::of(tag::SEQUENCE, fields.element()?)?);
        fields.end()?;
        Ok(Some(Self {
            originator,
            public_key: public_key.ok_or_else(|| der::Tag::BitString.value_error())?,
            ukm,
            scheme,
            wrap,
            recipients,
        }))
    }
}

/// KeyAgreeRecipientIdentifier, which may include a date and other attributes.
fn agreement_identifier(der: &[u8]) -> der::Result<KeyIdentifier> {
    match der.first() {
        _ if der.len() > MAX_KEY_IDENTIFIER => Err(der::Tag::Sequence.length_error().into()),
        Some(&RECIPIENT_KEY) => {
            let mut fields = Fields::of(RECIPIENT_KEY, der)?;
            let id = fields.read::<&OctetStringRef>()?.as_bytes();
            Ok(KeyIdentifier::SubjectKeyId(id.to_vec()))
        }
        Some(&tag::SEQUENCE) => KeyIdentifier::from_der(der),
        _ => Err(der::Tag::Sequence.value_error().into()),
    }
}

/// rKeyId of a KeyAgreeRecipientIdentifier.
const RECIPIENT_KEY: u8 = tag::context_constructed(0);

/// Encodes a `kari` for one recipient, without ukm. The algorithm of the originator's key has no parameters:
/// the recipient's key has them.
pub(super) fn encode_agreement(
    recipient: &KeyIdentifier,
    originator: ObjectIdentifier,
    public_key: &[u8],
    scheme: &[u8],
    encrypted_key: &[u8],
) -> der::Result<Vec<u8>> {
    let algorithm = tlv(tag::SEQUENCE, &[&originator.to_der()?]);
    let key = tlv(
        tag::context_constructed(1),
        &[&algorithm, &BitStringRef::from_bytes(public_key)?.to_der()?],
    );
    let identifier = match recipient {
        KeyIdentifier::SubjectKeyId(id) => tlv(RECIPIENT_KEY, &[&tlv(tag::OCTET_STRING, &[id])]),
        KeyIdentifier::IssuerAndSerial(..) => recipient.to_der(),
    };
    let encrypted_key = tlv(tag::OCTET_STRING, &[encrypted_key]);
    let encrypted_key = tlv(tag::SEQUENCE, &[&identifier, &encrypted_key]);
    Ok(tlv(
        AGREEMENT,
        &[
            &3_u8.to_der()?,
            &tlv(tag::context_constructed(0), &[&key]),
            scheme,
            &tlv(tag::SEQUENCE, &[&encrypted_key]),
        ],
    ))
}
