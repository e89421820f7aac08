use core::fmt;

use der::Encode;
use pq_x509::{
    Certificate, DecapsulationKey, EncapsulationKey, KemAlgorithm, KeyUsages, PublicKey, SubjectKey,
};
use zeroize::Zeroizing;

use super::error::{EnvelopingError, OpeningError};
use super::key_encryption::{Kdf, Wrap};
use super::recipient_info::{KekRecipientInfo, KemRecipientInfo, encode_kek, encode_kem};
use crate::identifier::{KeyIdentifier, NamedCertificate, key_identifier};

/// Somebody to encrypt for.
#[derive(Clone)]
pub struct Recipient(Kind);

#[derive(Clone)]
enum Kind {
    Kem {
        identifier: KeyIdentifier,
        key: EncapsulationKey,
        kdf: Kdf,
    },
    SharedKey {
        id: Vec<u8>,
        key: Zeroizing<Vec<u8>>,
        wrap: Wrap,
    },
}

impl Recipient {
    /// Who has the ML-KEM key of this certificate. Whether to trust the certificate is the caller's to find
    /// out, by a [`ChainValidator`](pq_x509::ChainValidator).
    ///
    /// The message names it by issuer and serial number.
    ///
    /// # Errors
    ///
    /// [`EnvelopingError::Certificate`] if its key is none of ML-KEM, [`EnvelopingError::KeyUsage`] if it
    /// may not be used so.
    pub fn certificate(certificate: &Certificate) -> Result<Self, EnvelopingError> {
        let subject = || certificate.describe_subject();
        let key = certificate
            .public_key()
            .and_then(EncapsulationKey::try_from);
        let key = key.map_err(|error| EnvelopingError::Certificate {
            subject: subject(),
            error,
        })?;
        match certificate.key_usage() {
            Some(usages) if !usages.contains(KeyUsages::KeyEncipherment) => {
                Err(EnvelopingError::KeyUsage(subject()))
            }
            _ => Ok(Self(Kind::Kem {
                identifier: KeyIdentifier::issuer_and_serial(certificate)?,
                key,
                kdf: Kdf::default(),
            })),
        }
    }

    /// Who has this key, which the message names by an identifier that its owner knows: the subject key
    /// identifier, if the key has a certificate, or else [`key_identifier`](crate::key_identifier).
    pub fn key(key: EncapsulationKey, identifier: &[u8]) -> Self {
        Self(Kind::Kem {
            identifier: KeyIdentifier::SubjectKeyId(identifier.to_vec()),
            key,
            kdf: Kdf::default(),
        })
    }

    /// Who shares a key with the sender, of AES-128 or AES-256, by a name that both gave it.
    ///
    /// # Errors
    ///
    /// [`EnvelopingError::SharedKeyLength`] if it has neither 16 nor 32 bytes.
    pub fn shared_key(id: &[u8], key: &[u8]) -> Result<Self, EnvelopingError> {
        let wrap = Wrap::of_key_len(key.len());
        Ok(Self(Kind::SharedKey {
            id: id.to_vec(),
            key: Zeroizing::new(key.to_vec()),
            wrap: wrap.ok_or(EnvelopingError::SharedKeyLength(key.len()))?,
        }))
    }

    /// Makes the key that encrypts the content's key by this function, where there is a choice.
    #[must_use]
    pub fn kdf(mut self, chosen: Kdf) -> Self {
        if let Kind::Kem { kdf, .. } = &mut self.0 {
            *kdf = chosen;
        }
        self
    }

    /// Whether RFC 5652 gives its kind to newer versions.
    pub(super) fn is_other(&self) -> bool {
        matches!(self.0, Kind::Kem { .. })
    }

    /// The content's key for this recipient, as a RecipientInfo.
    pub(super) fn encrypt(&self, content_key: &[u8]) -> Result<Vec<u8>, EnvelopingError> {
        let short = || EnvelopingError::SharedKeyLength(content_key.len());
        match &self.0 {
            Kind::Kem {
                identifier,
                key,
                kdf,
            } => {
                let wrap = wrap_for(key.algorithm(), content_key.len());
                let (ciphertext, secret) = key.encapsulate()?;
                let encryption = kdf.derive(secret.as_bytes(), wrap, None)?;
                let encrypted_key =
                    encryption.and_then(|encryption| wrap.wrap(&encryption, content_key));
                Ok(encode_kem(
                    identifier,
                    &key.algorithm().identifier().to_der()?,
                    &ciphertext,
                    &kdf.identifier()?,
                    wrap.key_len(),
                    &wrap.identifier()?,
                    &encrypted_key.ok_or_else(short)?,
                )?)
            }
            Kind::SharedKey { id, key, wrap } => {
                let encrypted_key = wrap.wrap(key, content_key).ok_or_else(short)?;
                Ok(encode_kek(id, &wrap.identifier()?, &encrypted_key)?)
            }
        }
    }
}

/// RFC 9936, section 2.2, asks for AES-128 beside ML-KEM-512 and for AES-256 beside the others; and what
/// encrypts a key is to be no weaker than that.
fn wrap_for(algorithm: KemAlgorithm, content_key_len: usize) -> Wrap {
    match algorithm {
        KemAlgorithm::MlKem512 if content_key_len == Wrap::Aes128.key_len() => Wrap::Aes128,
        _ => Wrap::Aes256,
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Kem {
                identifier, key, ..
            } => f
                .debug_struct("Recipient")
                .field("identifier", &identifier.describe())
                .field("algorithm", &key.algorithm())
                .finish_non_exhaustive(),
            Kind::SharedKey { .. } => f.write_str("Recipient(shared key)"),
        }
    }
}

/// A recipient's own key.
#[derive(Clone)]
pub struct RecipientKey<'k>(OwnKey<'k>);

#[derive(Clone)]
enum OwnKey<'k> {
    Kem(&'k DecapsulationKey, Option<Box<NamedCertificate>>),
    SharedKey(&'k [u8], &'k [u8]),
}

impl<'k> RecipientKey<'k> {
    /// An ML-KEM key, whose certificate is not at hand: it is tried for the recipients that are named by its
    /// [`key_identifier`], and for every other with a key of its algorithm; for the first 16 of each.
    pub fn new(key: &'k DecapsulationKey) -> Self {
        Self(OwnKey::Kem(key, None))
    }

    /// An ML-KEM key with its certificate, which messages name, if they don't name it by its
    /// [`key_identifier`].
    ///
    /// # Errors
    ///
    /// [`OpeningError::OtherKey`] if the certificate is another key's.
    pub fn with_certificate(
        key: &'k DecapsulationKey,
        certificate: &Certificate,
    ) -> Result<Self, OpeningError> {
        match certificate.public_key() {
            Ok(PublicKey::Encapsulation(of_certificate))
                if of_certificate.spki().as_ref() == key.spki().as_ref() =>
            {
                let certificate = NamedCertificate::new(certificate.clone())?;
                Ok(Self(OwnKey::Kem(key, Some(Box::new(certificate)))))
            }
            _ => Err(OpeningError::OtherKey(certificate.describe_subject())),
        }
    }

    /// A key of AES that the sender has too, by the name that both gave it.
    pub fn shared_key(id: &'k [u8], key: &'k [u8]) -> Self {
        Self(OwnKey::SharedKey(id, key))
    }

    /// The content's key, if this `ori` is for this one; `None` if it is not.
    pub(super) fn open_other(&self, der: &[u8], tries: &mut Tries) -> der::Result<Option<Outcome>> {
        let OwnKey::Kem(key, certificate) = &self.0 else {
            return Ok(None);
        };
        let Some(info) = KemRecipientInfo::from_der(der)? else {
            return Ok(None);
        };
        if info.kem != key.algorithm().identifier() {
            return Ok(None);
        }
        let identifier = key_identifier(key.encapsulation_key()).to_vec();
        let left = match certificate {
            _ if info.recipient == KeyIdentifier::SubjectKeyId(identifier) => &mut tries.named,
            Some(certificate) if certificate.is_named_by(&info.recipient) => &mut tries.named,
            Some(_) => return Ok(None),
            None => &mut tries.others,
        };
        match left.checked_sub(1) {
            Some(less) => *left = less,
            None => return Ok(None),
        }
        let Some(kdf) = Kdf::named(&info.kdf) else {
            return Ok(Some(Err(OpeningError::UnknownAlgorithm(info.kdf.oid))));
        };
        let Some(wrap) = Wrap::named(&info.wrap) else {
            return Ok(Some(Err(OpeningError::UnknownAlgorithm(info.wrap.oid))));
        };
        if usize::from(info.key_len) != wrap.key_len() {
            return Ok(Some(Err(OpeningError::WrongKey)));
        }
        let Ok(secret) = key.decapsulate(info.ciphertext) else {
            return Ok(Some(Err(OpeningError::WrongKey)));
        };
        let content_key = kdf
            .derive(secret.as_bytes(), wrap, info.ukm)?
            .and_then(|encryption| wrap.unwrap(&encryption, info.encrypted_key));
        Ok(Some(content_key.ok_or(OpeningError::WrongKey)))
    }

    /// The content's key, if this `kekri` is for this one; `None` if it is not.
    pub(super) fn open_kek(&self, der: &[u8], tries: &mut Tries) -> der::Result<Option<Outcome>> {
        let OwnKey::SharedKey(id, key) = self.0 else {
            return Ok(None);
        };
        let info = KekRecipientInfo::from_der(der)?;
        let Some(left) = tries.named.checked_sub(1).filter(|_| info.id == id) else {
            return Ok(None);
        };
        tries.named = left;
        Ok(Some(match Wrap::named(&info.wrap) {
            None => Err(OpeningError::UnknownAlgorithm(info.wrap.oid)),
            Some(wrap) => {
                let content_key = wrap.unwrap(key, info.encrypted_key);
                content_key.ok_or(OpeningError::WrongKey)
            }
        }))
    }
}

/// For how many recipients more a key is tried. Each costs a decapsulation.
pub(super) struct Tries {
    /// Who are named as the key is.
    named: u8,
    /// Who may be meant.
    others: u8,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self {
            named: MAX_TRIED,
            others: MAX_TRIED,
        }
    }
}

const MAX_TRIED: u8 = 16;

/// The content's key, or why a recipient who is meant does not get it.
pub(super) type Outcome = Result<Zeroizing<Vec<u8>>, OpeningError>;

impl fmt::Debug for RecipientKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            OwnKey::Kem(key, _) => write!(f, "RecipientKey({})", key.algorithm()),
            OwnKey::SharedKey(..) => f.write_str("RecipientKey(shared key)"),
        }
    }
}
