//! Reads private key documents: PKCS#8 (RFC 5958), ECPrivateKey (RFC 5915) and RSAPrivateKey
//! (RFC 8017, appendix A.1.2).

use der::asn1::{AnyRef, ContextSpecific, OctetStringRef, UintRef};
use der::oid::ObjectIdentifier;
use der::{self, Decode, Header, SliceReader, Tag, TagNumber};
use pkcs8::PrivateKeyInfoRef;
use pki_types::PrivateKeyDer;

use super::error::ClassicalKeyError;
use super::family::{Family, rsa_of_length};
use crate::encoding::bit_len;

/// The fields of a private key, borrowed from its DER.
pub(super) struct Document<'a> {
    pub(super) family: Family,
    /// ECPrivateKey, CurvePrivateKey (RFC 8410) or RSAPrivateKey.
    pub(super) key: &'a [u8],
    /// The public key that PKCS#8 of version 2 adds.
    pub(super) public_key: Option<&'a [u8]>,
}

impl<'a> Document<'a> {
    /// Reads any of the three formats without copying secrets.
    pub(super) fn read(der: &'a [u8]) -> Result<Self, ClassicalKeyError> {
        let document = match PrivateKeyDer::try_from(der) {
            Ok(PrivateKeyDer::Sec1(_)) => Self::bare(curve(der)?, der),
            Ok(PrivateKeyDer::Pkcs1(_)) => Self::bare(Family::Rsa, der),
            _ => Self::pkcs8(der)?,
        };
        if document.family == Family::Rsa {
            check_lengths(document.key)?;
        }
        Ok(document)
    }

    fn bare(family: Family, key: &'a [u8]) -> Self {
        Self {
            family,
            key,
            public_key: None,
        }
    }

    fn pkcs8(der: &'a [u8]) -> Result<Self, ClassicalKeyError> {
        let info = PrivateKeyInfoRef::from_der(der)?;
        let family = Family::of(&info.algorithm)?;
        let public_key = match info.public_key {
            None => None,
            Some(bits) => match bits.as_bytes() {
                Some(bytes) => Some(bytes),
                None => return Err(ClassicalKeyError::PublicKeyMismatch(family.name())),
            },
        };
        Ok(Self {
            family,
            key: info.private_key.as_bytes(),
            public_key,
        })
    }
}

/// The curve of a bare ECPrivateKey, from its parameters.
fn curve(ec_private_key: &[u8]) -> Result<Family, ClassicalKeyError> {
    let mut reader = SliceReader::new(ec_private_key)?;
    Header::decode(&mut reader)?;
    u8::decode(&mut reader)?;
    <&OctetStringRef>::decode(&mut reader)?;
    let parameters = TagNumber(0);
    match ContextSpecific::<ObjectIdentifier>::decode_explicit(&mut reader, parameters)? {
        Some(curve) => Family::on_curve(curve.value),
        None => Err(der::Error::from(Tag::ObjectIdentifier.value_error()).into()),
    }
}

/// Refuses an RSAPrivateKey of an unsupported length, and one whose numbers have wrong lengths, which
/// graviola doesn't check. Signing detects numbers that don't belong together.
fn check_lengths(rsa_private_key: &[u8]) -> Result<(), ClassicalKeyError> {
    AnyRef::from_der(rsa_private_key)?.sequence(|reader| {
        let _version = u8::decode(reader)?;
        let modulus = bit_len(UintRef::decode(reader)?);
        rsa_of_length(modulus)?;
        let _exponent = UintRef::decode(reader)?;
        let private_exponent = bit_len(UintRef::decode(reader)?);
        let mut halves = [0; 5];
        for half in &mut halves {
            *half = bit_len(UintRef::decode(reader)?);
        }
        let [primes @ .., _, _, _] = halves;
        let is_sound = private_exponent <= modulus
            && primes == [modulus / 2; 2]
            && halves.into_iter().all(|half| half <= modulus / 2);
        match is_sound {
            true => Ok(()),
            false => Err(ClassicalKeyError::Malformed {
                algorithm: Family::Rsa.name(),
                reason:
                    "its primes are not half as long as the modulus, or other numbers are too long"
                        .into(),
            }),
        }
    })
}
