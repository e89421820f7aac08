//! Reads private keys of these algorithms from files, under a passphrase or not. If the cipher authenticates nothing, an
//! unsound key counts as a wrong passphrase or a changed file.

use const_oid::db::rfc8410::ID_X_25519;
use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Header, Reader, SliceReader, Tag, Tagged};
use pki_types::PrivateKeyDer;
use thiserror::Error;

use super::error::AnyKeyError;
use crate::encoding::pem::{self, PemError};
use crate::keys::{CompositeIdentifier, KeyError, PrivateKey, PrivateKeyForm};
use crate::protection::{EncryptedPrivateKey, Protection, ProtectionError};
use crate::x_wing;

/// What a key is that is not post-quantum alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A key of X-Wing.
    XWing,
    /// A key of Composite ML-DSA.
    Composite,
    /// A key of X25519.
    X25519,
    /// A classical key that signs, or one of an algorithm that is not known.
    Classical,
}

impl Kind {
    /// What a key is that is of no post-quantum algorithm, as the error of reading it as such says; `None` if it says
    /// something else.
    pub fn of_unknown(error: &KeyError) -> Option<Self> {
        match error {
            KeyError::UnsupportedAlgorithm(oid) if *oid == x_wing::OID => Some(Self::XWing),
            KeyError::UnsupportedAlgorithm(ID_X_25519) => Some(Self::X25519),
            KeyError::UnsupportedAlgorithm(oid) => {
                Some(match CompositeIdentifier::from_oid(*oid).is_some() {
                    true => Self::Composite,
                    false => Self::Classical,
                })
            }
            _ => None,
        }
    }
}

/// The types that a private key can be read as, depending on its use.
pub trait Readable: Sized {
    /// Why a key can't be read as this type.
    type Error: From<AnyKeyError>;

    /// Takes a post-quantum key.
    ///
    /// # Errors
    ///
    /// If this type has no such keys.
    fn from_post_quantum(key: PrivateKey) -> Result<Self, Self::Error>;

    /// Reads another key: PKCS#8, or a classical key in an older format.
    ///
    /// # Errors
    ///
    /// If this type has no such keys, or if something is wrong with the key.
    fn from_other(der: &[u8], kind: Kind) -> Result<Self, Self::Error>;

    /// Checks what reading did not: that the key's parts belong together. It is for keys under a cipher that authenticates
    /// nothing, whose parts may have been changed.
    ///
    /// # Errors
    ///
    /// One that is a [refusal](Self::is_refusal) if they don't belong together.
    fn check(&self) -> Result<(), Self::Error>;

    /// Whether an error says that there is a key, but its parts do not belong together.
    fn is_refusal(error: &Self::Error) -> bool;

    /// Reads PKCS#8, or a classical key in an older format.
    ///
    /// # Errors
    ///
    /// Those of [`from_post_quantum`](Self::from_post_quantum) and [`from_other`](Self::from_other).
    fn from_der(der: &[u8]) -> Result<Self, Self::Error> {
        match post_quantum(der)? {
            Ok(key) => Self::from_post_quantum(key),
            Err(kind) => Self::from_other(der, kind),
        }
    }
}

/// The post-quantum key in a DER, or what the key is instead.
fn post_quantum(der: &[u8]) -> Result<Result<PrivateKey, Kind>, AnyKeyError> {
    let error = match PrivateKey::from_pkcs8_der(der) {
        Ok(key) => return Ok(Ok(key)),
        Err(error) => error,
    };
    let is_older = matches!(
        PrivateKeyDer::try_from(der),
        Ok(PrivateKeyDer::Sec1(_) | PrivateKeyDer::Pkcs1(_))
    );
    match Kind::of_unknown(&error) {
        Some(kind) => Ok(Err(kind)),
        None if is_older => Ok(Err(Kind::Classical)),
        None => Err(error.into()),
    }
}

/// A private key, and how it stood in its file.
#[derive(Debug)]
pub struct ReadKey<K> {
    /// The key.
    pub key: K,
    /// Which parts of a post-quantum key are there; none for other keys.
    pub form: Option<PrivateKeyForm>,
    /// How it was encrypted, if it was.
    pub protection: Option<Protection>,
}

/// Why no private key was read from a file: `E` is about keys, `P` about passphrases.
#[derive(Debug, Error)]
pub enum ReadError<E, P> {
    /// There is no key, it is not sound, or it is none that is wanted.
    #[error("{0}")]
    Key(E),
    /// It can't be decrypted.
    #[error("{0}")]
    Protection(ProtectionError),
    /// There is no passphrase.
    #[error("{0}")]
    Passphrase(P),
}

/// Reads the private key of a file: the first one in a PEM text, whatever its label, or DER. Only for a key under a
/// passphrase, `passphrase` is asked for it. What it gives is dropped, and wiped if its type does that, as
/// [`Zeroizing`](zeroize::Zeroizing) does.
///
/// # Errors
///
/// A [`ReadError`].
pub fn read_private_key<K: Readable, S: AsRef<[u8]>, P>(
    file: &[u8],
    passphrase: impl FnOnce() -> Result<S, P>,
) -> Result<ReadKey<K>, ReadError<K::Error, P>> {
    if !pem::is_in(file) {
        check_start(file).map_err(|error| ReadError::Key(error.into()))?;
        let is_encrypted = is_encrypted(file).map_err(|error| ReadError::Key(error.into()))?;
        return match is_encrypted {
            true => ReadKey::from_encrypted_der(file, passphrase),
            false => ReadKey::from_der(file).map_err(ReadError::Key),
        };
    }
    match pem::decode_first_of(file, &LABELS).map_err(of_pem)? {
        (ENCRYPTED, block) => ReadKey::from_encrypted_der(&block, passphrase),
        (_, block) => ReadKey::from_der(&block).map_err(ReadError::Key),
    }
}

/// The blocks of private keys.
pub(super) const LABELS: [&str; 4] = [PKCS8, ENCRYPTED, "EC PRIVATE KEY", "RSA PRIVATE KEY"];

pub(super) const PKCS8: &str = "PRIVATE KEY";

pub(super) const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";

/// Refuses what does not begin as the DER of a key does.
pub(super) fn check_start(file: &[u8]) -> Result<(), AnyKeyError> {
    match file {
        // a SEQUENCE
        [0x30, ..] => Ok(()),
        _ => Err(AnyKeyError::NeitherPemNorDer),
    }
}

fn of_pem<E: From<AnyKeyError>, P>(error: PemError) -> ReadError<E, P> {
    ReadError::Key(AnyKeyError::from(KeyError::from(error)).into())
}

/// Whether a DER is an EncryptedPrivateKeyInfo or another private key, as its outline says. All others begin with a version
/// (RFC 5958, RFC 5915, RFC 8017), and certificates and public keys do not.
///
/// # Errors
///
/// [`AnyKeyError::NoPrivateKey`] if it is neither.
fn is_encrypted(der: &[u8]) -> Result<bool, AnyKeyError> {
    let outline = || {
        let mut reader = SliceReader::new(AnyRef::from_der(der).ok()?.value()).ok()?;
        let first = AnyRef::decode(&mut reader).ok()?.tag();
        let second = AnyRef::decode(&mut reader).ok().map(|second| second.tag());
        Some((first, second, reader.is_finished()))
    };
    match outline() {
        Some((Tag::Sequence, Some(Tag::OctetString), true)) => Ok(true),
        Some((first, ..)) if first != Tag::Integer => Err(AnyKeyError::NoPrivateKey),
        // Whoever reads it says what is wrong with it.
        _ => Ok(false),
    }
}

impl<K: Readable> ReadKey<K> {
    /// Reads PKCS#8, or a classical key in an older format.
    ///
    /// # Errors
    ///
    /// Those of [`Readable`].
    pub fn from_der(der: &[u8]) -> Result<Self, K::Error> {
        read(der, post_quantum(der)?)
    }

    /// Reads an EncryptedPrivateKeyInfo.
    ///
    /// # Errors
    ///
    /// A [`ReadError`].
    pub fn from_encrypted_der<S: AsRef<[u8]>, P>(
        der: &[u8],
        passphrase: impl FnOnce() -> Result<S, P>,
    ) -> Result<Self, ReadError<K::Error, P>> {
        let encrypted = EncryptedPrivateKey::from_der(der).map_err(ReadError::Protection)?;
        let passphrase = passphrase().map_err(ReadError::Passphrase)?;
        let pkcs8 = encrypted.decrypt(passphrase.as_ref());
        let pkcs8 = pkcs8.map_err(ReadError::Protection)?;
        let found = match encrypted.key_of(&pkcs8) {
            Ok(key) => Ok(key),
            Err(ProtectionError::Key(error)) => match Kind::of_unknown(&error) {
                Some(kind) => Err(kind),
                None => return Err(ReadError::Protection(ProtectionError::Key(error))),
            },
            Err(error) => return Err(ReadError::Protection(error)),
        };
        // Of a post-quantum key, this was found out.
        let may_be_changed = found.is_err() && !encrypted.protection().cipher().is_authenticated();
        let read = read(&pkcs8, found).and_then(|read: Self| {
            if may_be_changed {
                read.key.check()?;
            }
            Ok(read)
        });
        match read {
            Ok(read) => Ok(Self {
                protection: Some(encrypted.protection()),
                ..read
            }),
            Err(error) if may_be_changed && K::is_refusal(&error) => Err(ReadError::Protection(
                ProtectionError::WrongPassphraseOrChanged,
            )),
            Err(error) => Err(ReadError::Key(error)),
        }
    }
}

/// Takes the post-quantum key in a DER, or reads what the key is instead.
fn read<K: Readable>(der: &[u8], found: Result<PrivateKey, Kind>) -> Result<ReadKey<K>, K::Error> {
    let (key, form) = match found {
        Ok(key) => {
            let form = form_of(der, &key).map_err(|error| AnyKeyError::from(KeyError::from(error)));
            let form = form?;
            (K::from_post_quantum(key)?, Some(form))
        }
        Err(kind) => (K::from_other(der, kind)?, None),
    };
    Ok(ReadKey {
        key,
        form,
        protection: None,
    })
}

/// The form of a key in the DER that it was read from. The private key is the third field (RFC 5958). If it is
/// shorter than an expanded key, it can have only the seed in it.
fn form_of(der: &[u8], key: &PrivateKey) -> Result<PrivateKeyForm, der::Error> {
    let mut reader = SliceReader::new(der)?;
    Header::decode(&mut reader)?;
    let _version = AnyRef::decode(&mut reader)?;
    let _algorithm = AnyRef::decode(&mut reader)?;
    let private_key = <&OctetStringRef>::decode(&mut reader)?;
    let algorithm = key.algorithm();
    Ok(match key.seed() {
        _ if algorithm.preferred_form() == PrivateKeyForm::Expanded => PrivateKeyForm::Expanded,
        None => PrivateKeyForm::Expanded,
        Some(_) if private_key.as_bytes().len() < algorithm.expanded_len() => PrivateKeyForm::Seed,
        Some(_) => PrivateKeyForm::Both,
    })
}
