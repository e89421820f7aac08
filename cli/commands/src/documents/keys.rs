//! Reads private and public keys from files, as each command needs them: to sign, to decrypt, to encapsulate, for
//! tokens, or any. It asks for a passphrase only if the key is encrypted.

use pq_hpke::RecipientKey;
use pq_jose::jwk::{Jwk, JwkSet};
use pq_keys::any::{ReadError, ReadKey, Readable};
use pq_keys::protection::Protection;
use pq_keys::{DecapsulationKey, EncapsulationKey, PrivateKeyForm, SubjectKey, VerifyingKey};
use pq_x509::certificate::Certificate;

use super::certificates::{certificate_of, first_of, is_one_chain};
use super::contents::{Block, Contents, Encoding};
use super::error::DocumentError;
use super::jose;
use crate::files::Source;
use crate::keys::{
    DecryptionKey, EncryptionKey, KeyError, Narrow, PrivateKey, PublicKey, SigningKey,
};
use crate::kind::Kind;
use crate::passphrases::{
    CaPassphraseOptions, OldPassphraseOptions, Passphrase, PassphraseError, PassphraseOptions,
};
use crate::report;

/// More than the longest key has, with a chain of certificates around it.
const LIMIT: usize = 4 * 1024 * 1024;

/// A private key, and how it stands in its file.
pub(crate) struct PrivateKeyFile {
    pub(crate) key: PrivateKey,
    /// Only for post-quantum keys.
    pub(crate) form: Option<PrivateKeyForm>,
    pub(crate) encoding: Encoding,
    /// Only for keys that were encrypted.
    pub(crate) protection: Option<Protection>,
}

/// A key of either kind.
pub(crate) enum Key {
    Private(PrivateKeyFile),
    Public(PublicKey, Encoding),
}

/// Private keys, encrypted or not.
const PRIVATE: [Kind; 2] = [Kind::PrivateKey, Kind::EncryptedPrivateKey];

/// The one private key of a file, which may have certificates beside it.
pub(crate) fn private_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<PrivateKeyFile, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    private(&contents, contents.only(&PRIVATE)?, |file| {
        passphrase.of(file)
    })
}

/// The same for a file that gets a new passphrase.
pub(crate) fn private_key_to_encrypt(
    source: &Source,
    passphrase: &OldPassphraseOptions,
) -> Result<PrivateKeyFile, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    private(&contents, contents.only(&PRIVATE)?, |file| {
        passphrase.of(file)
    })
}

/// The one private key of a file, which must be one that signs.
pub(crate) fn signing_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<SigningKey, DocumentError> {
    narrow(source, private_key(source, passphrase)?.key)
}

/// The key of a CA, which the CA's folder read from this file.
pub(crate) fn ca_key(
    file: &str,
    text: &[u8],
    passphrase: &CaPassphraseOptions,
) -> Result<SigningKey, DocumentError> {
    let contents = Contents::of(text, file)?;
    let key = private(&contents, contents.only(&PRIVATE)?, |file| {
        passphrase.of(file)
    })?;
    SigningKey::narrow(key.key).map_err(|error| key_error(&contents, error))
}

/// Whether the key of a CA in a file with this text is under a passphrase.
pub(crate) fn is_ca_key_encrypted(file: &str, text: &[u8]) -> Result<bool, DocumentError> {
    let contents = Contents::of(text, file)?;
    Ok(contents.only(&PRIVATE)?.kind == Kind::EncryptedPrivateKey)
}

/// The one private key of a file, which must be a post-quantum one that signs.
pub(crate) fn post_quantum_signing_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<pq_keys::SigningKey, DocumentError> {
    narrow(source, private_key(source, passphrase)?.key)
}

/// The one private key of a file, which must be one that decrypts messages.
pub(crate) fn decryption_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<DecryptionKey, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    decryption_key_of(&contents, contents.only(&PRIVATE)?, passphrase)
}

fn decryption_key_of(
    contents: &Contents,
    block: &Block,
    passphrase: &PassphraseOptions,
) -> Result<DecryptionKey, DocumentError> {
    Ok(read(contents, block, |file| passphrase.of(file))?.key)
}

/// The one private key of a file, which must be one that decapsulates.
pub(crate) fn decapsulation_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<DecapsulationKey, DocumentError> {
    narrow(source, private_key(source, passphrase)?.key)
}

/// The one private key of a file, which must be one that files are encrypted to.
pub(crate) fn recipient_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<RecipientKey, DocumentError> {
    narrow(source, private_key(source, passphrase)?.key)
}

/// The public key in a key or certificate, which must be a post-quantum one that verifies signatures.
pub(crate) fn verifying_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<VerifyingKey, DocumentError> {
    narrow(source, any_public_key(source, passphrase)?)
}

/// The public key in a key or certificate, which must be one that others encapsulate to.
pub(crate) fn encapsulation_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<EncapsulationKey, DocumentError> {
    narrow(source, any_public_key(source, passphrase)?)
}

/// The keys to verify tokens with: a set of JSON Web Keys, or anything else that has a public key.
pub(crate) fn token_keys(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<JwkSet, DocumentError> {
    let jwk_error = |error| DocumentError::Jwk {
        file: source.to_string(),
        error,
    };
    let bytes = source.read(LIMIT)?;
    if let Some(text) = jose::text(&bytes)
        && jose::is_set(text)
    {
        return JwkSet::from_json(text).map_err(jwk_error);
    }
    let contents = Contents::of(&bytes, &source.to_string())?;
    let block = key_or_first_certificate(source, &contents)?;
    let key = narrow(source, public_key_of(&contents, block, passphrase)?)?;
    let key = Jwk::new(key).map_err(jwk_error)?;
    Ok(JwkSet::from_iter([key]))
}

/// Converts a file's key to the kind that is needed.
pub(crate) fn narrow<K, N: Narrow<K>>(source: &Source, key: K) -> Result<N, DocumentError> {
    N::narrow(key).map_err(|error| DocumentError::Key {
        file: source.to_string(),
        error,
    })
}

/// The one key of a file.
pub(crate) fn any_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<Key, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    key_of(&contents, contents.only(&KEYS)?, passphrase)
}

/// The key in a block of such a kind.
pub(super) fn key_of(
    contents: &Contents,
    block: &Block,
    passphrase: &PassphraseOptions,
) -> Result<Key, DocumentError> {
    match block.kind {
        Kind::PublicKey => Ok(Key::Public(public(contents, block)?, contents.encoding)),
        _ => private(contents, block, |file| passphrase.of(file)).map(Key::Private),
    }
}

const KEYS: [Kind; 3] = [Kind::PrivateKey, Kind::EncryptedPrivateKey, Kind::PublicKey];

const KEYS_AND_CERTIFICATES: [Kind; 4] = [
    Kind::PrivateKey,
    Kind::EncryptedPrivateKey,
    Kind::PublicKey,
    Kind::Certificate,
];

/// The public key of the file's one key, or else of its first certificate, to which in a chain the key belongs. The others
/// have to be of its chain.
pub(crate) fn any_public_key(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<PublicKey, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let block = key_or_first_certificate(source, &contents)?;
    public_key_of(&contents, block, passphrase)
}

/// The one key, or else the first of the certificates of a chain.
fn key_or_first_certificate<'c>(
    source: &Source,
    contents: &'c Contents,
) -> Result<&'c Block, DocumentError> {
    if contents.has(&KEYS) {
        return contents.only(&KEYS);
    }
    contents.first(&KEYS_AND_CERTIFICATES)?;
    let blocks = contents.all(&[Kind::Certificate])?.into_iter();
    let read = blocks.map(|block| certificate_of(contents, block));
    first_of(source, &read.collect::<Result<Vec<_>, _>>()?)?;
    contents.first(&[Kind::Certificate])
}

/// A public key, with or without its certificate.
pub(crate) enum KeyOrCertificate<K> {
    Key(K),
    Certificate(Box<Certificate>, K),
}

/// The first certificate of a file, in front of its chain, or else its one key; messages can be encrypted to it.
pub(crate) fn encryption_key_or_certificate(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<KeyOrCertificate<EncryptionKey>, DocumentError> {
    key_or_certificate_as(source, EncryptionKey::from_spki_der, |contents, block| {
        Ok(decryption_key_of(contents, block, passphrase)?.public_half())
    })
}

/// The first certificate of a file, in front of its chain, or else its one key; files can be encrypted to it.
pub(crate) fn key_or_certificate(
    source: &Source,
    passphrase: &PassphraseOptions,
) -> Result<KeyOrCertificate<PublicKey>, DocumentError> {
    key_or_certificate_as(source, PublicKey::from_spki_der, |contents, block| {
        public_key_of(contents, block, passphrase)
    })
}

fn key_or_certificate_as<K, E: Into<KeyError>>(
    source: &Source,
    from_spki: fn(&[u8]) -> Result<K, E>,
    of_private_key: impl FnOnce(&Contents, &Block) -> Result<K, DocumentError>,
) -> Result<KeyOrCertificate<K>, DocumentError> {
    let contents = Contents::read(source, LIMIT)?;
    let block = match contents.has(&[Kind::Certificate]) {
        true => {
            check_one_recipient(&contents)?;
            contents.first(&[Kind::Certificate])?
        }
        false => contents.only(&KEYS)?,
    };
    let public = |spki: &[u8]| from_spki(spki).map_err(|error| key_error(&contents, error));
    match block.kind {
        Kind::Certificate => {
            let certificate = certificate_of(&contents, block)?;
            let key = public(&certificate.spki())?;
            Ok(KeyOrCertificate::Certificate(Box::new(certificate), key))
        }
        Kind::PublicKey => public(&block.der).map(KeyOrCertificate::Key),
        _ => of_private_key(&contents, block).map(KeyOrCertificate::Key),
    }
}

/// Refuses a file with certificates that are of several recipients: only the first one would be able to decrypt. One is
/// enough, or its chain. A public key beside them has to be that of the certificate.
fn check_one_recipient(contents: &Contents) -> Result<(), DocumentError> {
    let mut certificates = Vec::new();
    for block in contents.all(&[Kind::Certificate])? {
        certificates.push(certificate_of(contents, block)?);
    }
    let keys = match contents.has(&[Kind::PublicKey]) {
        true => contents.all(&[Kind::PublicKey])?,
        false => Vec::new(),
    };
    let is_key_of = |certificate: &Certificate| {
        let spki = certificate.spki();
        keys.iter().all(|key| *key.der == *spki)
    };
    match is_one_chain(&certificates) && certificates.first().is_some_and(is_key_of) {
        true => Ok(()),
        false => Err(DocumentError::SeveralRecipients {
            file: contents.file().into(),
        }),
    }
}

fn public_key_of(
    contents: &Contents,
    block: &Block,
    passphrase: &PassphraseOptions,
) -> Result<PublicKey, DocumentError> {
    let of_key = |error| key_error(contents, error);
    match block.kind {
        Kind::PublicKey => public(contents, block),
        Kind::Certificate => {
            let certificate = certificate_of(contents, block)?;
            PublicKey::from_spki_der(&certificate.spki()).map_err(of_key)
        }
        _ => {
            let file = private(contents, block, |file| passphrase.of(file))?;
            Ok(file.key.public_half())
        }
    }
}

/// Reads a private key; `passphrase` gives the passphrase of a file if one is needed.
fn private(
    contents: &Contents,
    block: &Block,
    passphrase: impl FnOnce(&str) -> Result<Passphrase, PassphraseError>,
) -> Result<PrivateKeyFile, DocumentError> {
    let read: ReadKey<PrivateKey> = read(contents, block, passphrase)?;
    Ok(PrivateKeyFile {
        key: read.key,
        form: read.form,
        encoding: contents.encoding,
        protection: read.protection,
    })
}

/// The same, as the type that a command needs.
fn read<K: Readable>(
    contents: &Contents,
    block: &Block,
    passphrase: impl FnOnce(&str) -> Result<Passphrase, PassphraseError>,
) -> Result<ReadKey<K>, DocumentError>
where
    KeyError: From<K::Error>,
{
    let file = contents.file();
    if block.kind != Kind::EncryptedPrivateKey {
        let read = ReadKey::from_der(&block.der);
        return read.map_err(|error: K::Error| key_error(contents, error));
    }
    let read = ReadKey::from_encrypted_der(&block.der, || passphrase(file));
    let read = read.map_err(|error: ReadError<K::Error, _>| match error {
        ReadError::Key(error) => key_error(contents, error),
        ReadError::Protection(error) => DocumentError::Encrypted {
            file: file.into(),
            error,
        },
        ReadError::Passphrase(error) => error.into(),
    })?;
    if read
        .protection
        .is_some_and(|protection| protection.is_by_sha1())
    {
        report::warn(format_args!(
            "{file} is encrypted by PBKDF2 with HMAC-SHA-1, which is out of date; encrypt it anew with \"pqtls key \
             encrypt\""
        ));
    }
    Ok(read)
}

fn public(contents: &Contents, block: &Block) -> Result<PublicKey, DocumentError> {
    PublicKey::from_spki_der(&block.der).map_err(|error| key_error(contents, error))
}

fn key_error(contents: &Contents, error: impl Into<KeyError>) -> DocumentError {
    DocumentError::Key {
        file: contents.file().into(),
        error: error.into(),
    }
}
