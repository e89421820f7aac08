//! One digest for all forms of a public key: for ledgers, so that a key which others may know is not certified again, and
//! for whoever counts keys.

use core::fmt;

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5912::{ID_EC_PUBLIC_KEY, ID_RSASSA_PSS, RSA_ENCRYPTION};
use const_oid::db::rfc8410::{ID_ED_448, ID_ED_25519, ID_X_25519};
use der::asn1::{AnyRef, UintRef};
use der::{Decode, ErrorKind, Tag};
use sha2::{Digest, Sha256};
use spki::SubjectPublicKeyInfoRef;

use super::{CompositeIdentifier, KeyError, SubjectKey};

/// The SHA-256 digest of a public key.
///
/// Keys whose private keys are the same, for whoever knows one of them, have one digest, however they are written. So
/// it doesn't cover the algorithm's identifier and its parameters. Of RSA it covers the modulus alone, since who knows
/// its factors has the private key for every exponent; and of curves not the sign that tells a point from its negative,
/// nor whether the point is compressed.
///
/// The halves of a composite key have digests of their own: [`halves_of`](Self::halves_of).
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The digest of this key. If it is a composite one, it is that of both halves together.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key is malformed.
    pub fn of(key: &(impl SubjectKey + ?Sized)) -> Result<Self, KeyError> {
        read(key, |form, bytes, _| form.digest(bytes))
    }

    /// The digests of the halves of a composite key, each as if the half were a key of its own. Other keys have none.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key is malformed.
    pub fn halves_of(key: &(impl SubjectKey + ?Sized)) -> Result<Vec<Self>, KeyError> {
        read(key, |_, bytes, composite| {
            let Some(composite) = composite else {
                return Ok(Vec::new());
            };
            let (ml_dsa, other) = bytes
                .split_at_checked(composite.ml_dsa().public_key_len())
                .ok_or(ErrorKind::Length {
                    tag: Tag::BitString,
                })?;
            Ok(vec![
                Form::Other.digest(ml_dsa)?,
                Form::of_half(composite).digest(other)?,
            ])
        })
    }

    /// The digests of this key and of its halves.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key is malformed.
    pub fn all_of(key: &(impl SubjectKey + ?Sized)) -> Result<Vec<Self>, KeyError> {
        let mut all = vec![Self::of(key)?];
        all.extend(Self::halves_of(key)?);
        Ok(all)
    }

    /// A digest that was computed before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Reads a key's form and bytes, and which composite algorithm it is of.
fn read<T>(
    key: &(impl SubjectKey + ?Sized),
    act: impl FnOnce(Form, &[u8], Option<CompositeIdentifier>) -> der::Result<T>,
) -> Result<T, KeyError> {
    let spki = key.spki();
    let spki = SubjectPublicKeyInfoRef::from_der(&spki).map_err(KeyError::Der)?;
    let oid = spki.algorithm.oid;
    let bytes = spki.subject_public_key.raw_bytes();
    act(Form::of(oid), bytes, CompositeIdentifier::from_oid(oid)).map_err(KeyError::Der)
}

/// What of a key's bytes determines the private key.
#[derive(Clone, Copy)]
enum Form {
    /// The modulus of an RSAPublicKey (RFC 8017 appendix A.1.1).
    Rsa,
    /// The x of a point (SEC 1 section 2.3.3).
    Point,
    /// All but the highest bit: the sign of a point (RFC 8032 sections 5.1.2 and 5.2.2), or a bit that is ignored
    /// (RFC 7748 section 5).
    BelowHighestBit,
    /// All bytes.
    Other,
}

impl Form {
    fn of(oid: ObjectIdentifier) -> Self {
        match oid {
            RSA_ENCRYPTION | ID_RSASSA_PSS => Self::Rsa,
            ID_EC_PUBLIC_KEY => Self::Point,
            ID_ED_25519 | ID_ED_448 | ID_X_25519 => Self::BelowHighestBit,
            _ => Self::Other,
        }
    }

    /// The form of the half of a composite key that is not of ML-DSA.
    fn of_half(composite: CompositeIdentifier) -> Self {
        let forms = [
            ("RSA", Self::Rsa),
            ("ECDSA", Self::Point),
            ("Ed", Self::BelowHighestBit),
        ];
        let mut forms = forms.into_iter();
        let form = forms.find(|(name, _)| composite.name().contains(name));
        form.map_or(Self::Other, |(_, form)| form)
    }

    fn digest(self, key: &[u8]) -> der::Result<KeyHash> {
        // A prefix keeps forms apart: nobody makes a modulus that is another's point.
        let digest = match self {
            Self::Rsa => Sha256::new_with_prefix(b"RSA modulus").chain_update(modulus(key)?),
            Self::Point => Sha256::new_with_prefix(b"EC point").chain_update(match key {
                [2 | 3, x @ ..] => x,
                [4 | 6 | 7, both @ ..] => &both[..both.len() / 2],
                other => other,
            }),
            Self::BelowHighestBit => {
                let (last, rest) = key.split_last().unwrap_or((&0, &[]));
                Sha256::new_with_prefix(b"point of RFC 7748 or 8032")
                    .chain_update(rest)
                    .chain_update([last & 0x7f])
            }
            Self::Other => Sha256::new_with_prefix(key),
        };
        Ok(KeyHash(digest.finalize().into()))
    }
}

/// The modulus of an RSAPublicKey, without leading zeros.
fn modulus(key: &[u8]) -> der::Result<&[u8]> {
    AnyRef::from_der(key)?.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        UintRef::decode(reader)?;
        Ok(modulus.as_bytes())
    })
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use der::Encode;
    use der::asn1::{Any, BitString, Null, Uint};
    use pki_types::SubjectPublicKeyInfoDer;
    use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

    use super::*;

    fn spki(oid: ObjectIdentifier, parameters: Option<Any>, key: &[u8]) -> Spki {
        let spki = SubjectPublicKeyInfoOwned {
            algorithm: AlgorithmIdentifierOwned { oid, parameters },
            subject_public_key: BitString::from_bytes(key).unwrap(),
        };
        spki.to_der().unwrap().into()
    }

    type Spki = SubjectPublicKeyInfoDer<'static>;

    fn rsa(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
        let numbers = [modulus, exponent].map(|number| Uint::new(number).unwrap());
        numbers.to_vec().to_der().unwrap()
    }

    fn of(key: &Spki) -> KeyHash {
        KeyHash::of(key).unwrap()
    }

    #[test]
    fn one_modulus_is_one_key() {
        let (modulus, other) = ([0xc5; 256], [0xc7; 256]);
        let key = of(&spki(RSA_ENCRYPTION, None, &rsa(&modulus, &[1, 0, 1])));
        let null = Any::encode_from(&Null).unwrap();
        for same in [
            spki(RSA_ENCRYPTION, Some(null), &rsa(&modulus, &[1, 0, 1])),
            spki(RSA_ENCRYPTION, None, &rsa(&modulus, &[3])),
            spki(ID_RSASSA_PSS, None, &rsa(&modulus, &[17])),
        ] {
            assert_eq!(of(&same), key);
        }
        let other = spki(RSA_ENCRYPTION, None, &rsa(&other, &[1, 0, 1]));
        assert_ne!(of(&other), key);
        let error = KeyHash::of(&spki(RSA_ENCRYPTION, None, &modulus)).unwrap_err();
        assert!(matches!(error, KeyError::Der(_)), "{error}");
    }

    #[test]
    fn one_point_is_one_key_however_it_is_written() {
        let (x, y) = ([7; 32], [9; 32]);
        let point = |first: u8, rest: &[&[u8]]| {
            of(&spki(
                ID_EC_PUBLIC_KEY,
                None,
                &[&[first], rest.concat().as_slice()].concat(),
            ))
        };
        let key = point(4, &[&x, &y]);
        for same in [point(2, &[&x]), point(3, &[&x]), point(6, &[&x, &y])] {
            assert_eq!(same, key);
        }
        // Its negative, whose private key is the negative one
        assert_eq!(point(4, &[&x, &[8; 32]]), key);
        assert_ne!(point(4, &[&y, &x]), key);
        let negative = |oid, bytes: [u8; 32], last: u8| {
            let mut bytes = bytes;
            bytes[31] ^= last;
            of(&spki(oid, None, &bytes))
        };
        for oid in [ID_ED_25519, ID_X_25519] {
            assert_eq!(negative(oid, x, 0), negative(oid, x, 0x80));
            assert_ne!(negative(oid, x, 0), negative(oid, x, 0x40));
        }
    }

    #[test]
    fn halves_of_composite_keys_are_keys_of_their_own() {
        for composite in CompositeIdentifier::ALL {
            let length = composite.ml_dsa().public_key_len();
            let ml_dsa: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let name = composite.name();
            let (oid, half) = match name {
                _ if name.contains("RSA") && !name.contains("ECDSA") => {
                    (RSA_ENCRYPTION, rsa(&[0xc5; 256], &[1, 0, 1]))
                }
                _ if name.contains("ECDSA") => {
                    (ID_EC_PUBLIC_KEY, [&[4][..], &[7; 32], &[9; 32]].concat())
                }
                _ => (ID_ED_25519, vec![7; 32]),
            };
            let key = spki(composite.oid(), None, &[&ml_dsa[..], &half].concat());
            let halves = [
                of(&spki(composite.ml_dsa().oid(), None, &ml_dsa)),
                of(&spki(oid, None, &half)),
            ];
            assert_eq!(KeyHash::halves_of(&key).unwrap(), halves, "{name}");
            let all = KeyHash::all_of(&key).unwrap();
            assert_eq!(all, [of(&key), halves[0], halves[1]], "{name}");
            let short = spki(composite.oid(), None, &ml_dsa[1..]);
            assert!(KeyHash::halves_of(&short).is_err(), "{name}");
        }
        let single = spki(ID_ED_25519, None, &[7; 32]);
        assert_eq!(KeyHash::halves_of(&single).unwrap(), []);
    }
}
