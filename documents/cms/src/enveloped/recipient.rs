//! Both sides of a recipient: to encrypt the content's key for somebody, and to find and decrypt it with one's own key.
//! It limits for how many recipients a key is tried.

use alloc::sync::Arc;
use core::fmt;

use der::{Decode, Encode};
use pq_keys::agreement::{AgreementKey, AgreementPublicKey};
use pq_keys::{DecapsulationKey, EncapsulationKey, KemAlgorithm, SubjectKey};
use pq_x509::certificate::{Certificate, KeyUsages};
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use super::error::{EnvelopingError, OpeningError};
use super::key_encryption::{Kdf, Scheme, Wrap};
use super::recipient_info::{
    AGREEMENT, KEK, KekRecipientInfo, KemRecipientInfo, KeyAgreeRecipientInfo, OTHER,
    encode_agreement, encode_kek, encode_kem,
};
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
    Agreement {
        identifier: KeyIdentifier,
        key: Arc<dyn AgreementPublicKey>,
    },
    SharedKey {
        id: Vec<u8>,
        key: Zeroizing<Vec<u8>>,
        wrap: Wrap,
    },
}

impl Recipient {
    /// The owner of this certificate's ML-KEM key.
    ///
    /// The certificate is not validated: use a [`ChainValidator`](pq_x509::validation::ChainValidator) first. The message
    /// names it by issuer and serial number.
    ///
    /// # Errors
    ///
    /// [`EnvelopingError::Certificate`] if its key is not an ML-KEM key, [`EnvelopingError::KeyUsage`] if its
    /// key usage doesn't allow this.
    pub fn certificate(certificate: &Certificate) -> Result<Self, EnvelopingError> {
        let key = certificate
            .public_key()
            .and_then(EncapsulationKey::try_from);
        let key = key.map_err(|error| EnvelopingError::Certificate {
            subject: certificate.describe_subject(),
            error,
        })?;
        check_usage(certificate, KeyUsages::KeyEncipherment, "keyEncipherment")?;
        Ok(Self(Kind::Kem {
            identifier: KeyIdentifier::issuer_and_serial(certificate),
            key,
            kdf: Kdf::default(),
        }))
    }

    /// The owner of this certificate's key agreement key, of ECDH (RFC 5753) or X25519 (RFC 8418).
    ///
    /// **None of these withstands a quantum computer**: through such a recipient, an attacker with one can read
    /// the message, whatever keys the other recipients have.
    ///
    /// Give the certificate's key as an object of another crate, such as `rustls_pq::classical`. The message
    /// names the certificate by issuer and serial number.
    ///
    /// # Errors
    ///
    /// [`EnvelopingError::OtherKey`] if the certificate belongs to another key, [`EnvelopingError::KeyUsage`] if
    /// its key usage doesn't allow this.
    pub fn agreement_certificate(
        certificate: &Certificate,
        key: impl AgreementPublicKey + 'static,
    ) -> Result<Self, EnvelopingError> {
        if certificate.spki().as_ref() != key.spki().as_ref() {
            return Err(EnvelopingError::OtherKey(certificate.describe_subject()));
        }
        check_usage(certificate, KeyUsages::KeyAgreement, "keyAgreement")?;
        Ok(Self(Kind::Agreement {
            identifier: KeyIdentifier::issuer_and_serial(certificate),
            key: Arc::new(key),
        }))
    }

    /// The owner of this key agreement key, which the message names by an identifier, as for [`key`](Self::key).
    pub fn agreement_key(key: impl AgreementPublicKey + 'static, identifier: &[u8]) -> Self {
        Self(Kind::Agreement {
            identifier: KeyIdentifier::SubjectKeyId(identifier.to_vec()),
            key: Arc::new(key),
        })
    }

    /// The owner of this ML-KEM key, which the message names by an identifier.
    ///
    /// The owner must know the identifier: the subject key identifier if the key has a certificate, or else
    /// [`key_identifier`](crate::key_identifier).
    pub fn key(key: EncapsulationKey, identifier: &[u8]) -> Self {
        Self(Kind::Kem {
            identifier: KeyIdentifier::SubjectKeyId(identifier.to_vec()),
            key,
            kdf: Kdf::default(),
        })
    }

    /// Somebody who shares an AES-128 or AES-256 key with the sender. Both call it by the same name, `id`.
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

    /// Chooses the function that derives the key which encrypts the content's key.
    ///
    /// It has an effect only for ML-KEM keys.
    #[must_use]
    pub fn kdf(mut self, chosen: Kdf) -> Self {
        if let Kind::Kem { kdf, .. } = &mut self.0 {
            *kdf = chosen;
        }
        self
    }

    /// Whether it is an `ori`, which requires a newer version (RFC 5652, section 6.1).
    pub(super) fn is_other(&self) -> bool {
        matches!(self.0, Kind::Kem { .. })
    }

    /// Encrypts the content's key for this recipient, as a RecipientInfo.
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
            Kind::Agreement { identifier, key } => {
                let spki = key.spki();
                let spki = SubjectPublicKeyInfoRef::from_der(&spki)?;
                let wrap = Wrap::Aes256;
                let scheme = Scheme::usual(&spki.algorithm);
                let agreement = key.agree_once()?;
                let encryption = scheme.derive(&agreement.secret, wrap, None)?;
                let encrypted_key =
                    encryption.and_then(|encryption| wrap.wrap(&encryption, content_key));
                Ok(encode_agreement(
                    identifier,
                    spki.algorithm.oid,
                    &agreement.public_key,
                    &scheme.identifier(wrap)?,
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

/// Refuses a certificate that has a key usage without this one.
fn check_usage(
    certificate: &Certificate,
    usage: KeyUsages,
    name: &'static str,
) -> Result<(), EnvelopingError> {
    match certificate.key_usage() {
        Some(usages) if !usages.contains(usage) => Err(EnvelopingError::KeyUsage {
            subject: certificate.describe_subject(),
            usage: name,
        }),
        _ => Ok(()),
    }
}

/// RFC 9936, section 2.2, requires AES-128 with ML-KEM-512 and AES-256 with the others. The wrap must also be
/// no weaker than the content's key.
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
            Kind::Agreement { identifier, .. } => f
                .debug_struct("Recipient")
                .field("identifier", &identifier.describe())
                .finish_non_exhaustive(),
            Kind::SharedKey { .. } => f.write_str("Recipient(shared key)"),
        }
    }
}

/// A recipient's own key.
///
/// It refers to a key of any kind that CMS has; `pq_hpke::RecipientKey` is a key itself, for HPKE.
#[derive(Clone)]
pub struct RecipientKey<'k> {
    key: OwnKey<'k>,
    /// The identifier of the key without a certificate. Computing it for each recipient would take long.
    identifier: [u8; 20],
    certificate: Option<Box<NamedCertificate>>,
}

#[derive(Clone, Copy)]
enum OwnKey<'k> {
    Kem(&'k DecapsulationKey),
    Agreement(&'k dyn AgreementKey),
    SharedKey(&'k [u8], &'k [u8]),
}

impl<'k> RecipientKey<'k> {
    /// An ML-KEM key without its certificate.
    ///
    /// It is tried for the first 16 recipients that its [`key_identifier`] names, and for the first 1,024 others
    /// with a key of its algorithm: some tenths of a second at most.
    pub fn new(key: &'k DecapsulationKey) -> Self {
        Self::of(OwnKey::Kem(key))
    }

    /// An ML-KEM key with its certificate. Messages name the certificate, or the key by its [`key_identifier`].
    ///
    /// The key is tried for the first 16 recipients that either of these names, and for others as [`new`](Self::new)
    /// says: they may be named by an earlier or a later certificate of the key.
    ///
    /// # Errors
    ///
    /// [`OpeningError::OtherKey`] if the certificate belongs to another key.
    pub fn with_certificate(
        key: &'k DecapsulationKey,
        certificate: &Certificate,
    ) -> Result<Self, OpeningError> {
        Self::new(key).named_by(certificate, key)
    }

    /// A key agreement key of ECDH or X25519, such as one of `rustls_pq::classical`, without its certificate.
    ///
    /// It is tried as [`new`](Self::new) says.
    pub fn agreement(key: &'k dyn AgreementKey) -> Self {
        Self::of(OwnKey::Agreement(key))
    }

    /// The same with its certificate, as for [`with_certificate`](Self::with_certificate).
    ///
    /// # Errors
    ///
    /// [`OpeningError::OtherKey`] if the certificate belongs to another key.
    pub fn agreement_with_certificate(
        key: &'k dyn AgreementKey,
        certificate: &Certificate,
    ) -> Result<Self, OpeningError> {
        Self::agreement(key).named_by(certificate, key)
    }

    /// An AES key that the sender has too, and the name that both call it by.
    pub fn shared_key(id: &'k [u8], key: &'k [u8]) -> Self {
        Self::of(OwnKey::SharedKey(id, key))
    }

    fn of(key: OwnKey<'k>) -> Self {
        Self {
            identifier: match key {
                OwnKey::Kem(key) => key_identifier(key.encapsulation_key()),
                OwnKey::Agreement(key) => key_identifier(key),
                // which has a name instead
                OwnKey::SharedKey(..) => [0; 20],
            },
            key,
            certificate: None,
        }
    }

    fn named_by(
        mut self,
        certificate: &Certificate,
        key: &(impl SubjectKey + ?Sized),
    ) -> Result<Self, OpeningError> {
        if certificate.spki().as_ref() != key.spki().as_ref() {
            return Err(OpeningError::OtherKey(certificate.describe_subject()));
        }
        let certificate = NamedCertificate::new(certificate.clone());
        self.certificate = Some(Box::new(certificate));
        Ok(self)
    }

    /// The tag of the RecipientInfos that may be for such a key.
    pub(super) fn kind(&self) -> u8 {
        match self.key {
            OwnKey::Kem(_) => OTHER,
            OwnKey::Agreement(_) => AGREEMENT,
            OwnKey::SharedKey(..) => KEK,
        }
    }

    /// The content's key, if a RecipientInfo of this kind is for this key; otherwise `None`.
    pub(super) fn open(&self, der: &[u8], tries: &mut Tries) -> Result<Option<Outcome>, Unread> {
        match self.key {
            OwnKey::Kem(key) => Ok(self.open_kem(key, der, tries)?),
            OwnKey::Agreement(key) => self.open_agreement(key, der, tries),
            OwnKey::SharedKey(id, key) => Ok(open_kek(id, key, der, tries)?),
        }
    }

    fn open_kem(
        &self,
        key: &DecapsulationKey,
        der: &[u8],
        tries: &mut Tries,
    ) -> der::Result<Option<Outcome>> {
        let Some(info) = KemRecipientInfo::from_der(der)? else {
            return Ok(None);
        };
        if info.kem != key.algorithm().identifier() || !self.may_be(&info.recipient, tries) {
            return Ok(None);
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

    fn open_agreement(
        &self,
        key: &dyn AgreementKey,
        der: &[u8],
        tries: &mut Tries,
    ) -> Result<Option<Outcome>, Unread> {
        let Some(info) = KeyAgreeRecipientInfo::from_der(der)? else {
            return Err(Unread::CertifiedOriginator);
        };
        let spki = key.spki();
        let spki = SubjectPublicKeyInfoRef::from_der(&spki)?;
        if !is_of_curve(&info, &spki) {
            return Ok(None);
        }
        // All recipients in here share one secret. It is computed only if one of them may be meant.
        let mut encryption = None;
        let mut outcome = None;
        for recipient in info.recipients {
            let (recipient, encrypted_key) = recipient?;
            if !self.may_be(&recipient, tries) {
                continue;
            }
            let Some(scheme) = Scheme::named(info.scheme) else {
                return Ok(Some(Err(OpeningError::UnknownAlgorithm(info.scheme))));
            };
            let Some(wrap) = Wrap::named(&info.wrap) else {
                return Ok(Some(Err(OpeningError::UnknownAlgorithm(info.wrap.oid))));
            };
            if encryption.is_none() {
                let Ok(secret) = key.agree(info.public_key) else {
                    return Ok(Some(Err(OpeningError::WrongKey)));
                };
                encryption = scheme.derive(&secret, wrap, info.ukm)?;
            }
            let content_key = encryption
                .as_ref()
                .and_then(|encryption| wrap.unwrap(encryption, encrypted_key));
            match content_key {
                Some(content_key) => return Ok(Some(Ok(content_key))),
                None => outcome = Some(Err(OpeningError::WrongKey)),
            }
        }
        Ok(outcome)
    }

    /// Whether a recipient may be the owner of this key, so that the key is tried. One that is named otherwise may be: a
    /// key has one certificate more with each renewal.
    fn may_be(&self, recipient: &KeyIdentifier, tries: &mut Tries) -> bool {
        let left = match &self.certificate {
            _ if matches!(recipient, KeyIdentifier::SubjectKeyId(id) if *id == self.identifier) => {
                &mut tries.named
            }
            Some(certificate) if certificate.is_named_by(recipient) => &mut tries.named,
            _ => &mut tries.others,
        };
        tries.passed_over |= *left == 0;
        match left.checked_sub(1) {
            Some(less) => {
                *left = less;
                true
            }
            None => false,
        }
    }
}

/// Whether the originator's key is on the curve of our own key. EC keys may leave out their curve.
fn is_of_curve(info: &KeyAgreeRecipientInfo<'_>, own: &SubjectPublicKeyInfoRef<'_>) -> bool {
    let (originator, own_algorithm) = (&info.originator, &own.algorithm);
    originator.oid == own_algorithm.oid
        && own.subject_public_key.raw_bytes().len() == info.public_key.len()
        && match originator.parameters {
            None => true,
            Some(parameters) => {
                parameters.is_null() || Some(parameters) == own_algorithm.parameters
            }
        }
}

/// The content's key, if this `kekri` is for the key with this name; otherwise `None`.
fn open_kek(id: &[u8], key: &[u8], der: &[u8], tries: &mut Tries) -> der::Result<Option<Outcome>> {
    let info = KekRecipientInfo::from_der(der)?;
    if info.id != id {
        return Ok(None);
    }
    tries.passed_over |= tries.named == 0;
    let Some(left) = tries.named.checked_sub(1) else {
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

/// For how many more recipients a key is tried. Each costs a decapsulation or an agreement.
pub(super) struct Tries {
    /// Recipients that name the key.
    named: u16,
    /// Recipients that may mean the key.
    others: u16,
    /// There was one more.
    passed_over: bool,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self {
            named: MAX_NAMED,
            others: MAX_OTHERS,
            passed_over: false,
        }
    }

    /// Whether the key was tried for a recipient that names it.
    pub(super) fn is_named(&self) -> bool {
        self.named < MAX_NAMED
    }

    /// For how many recipients the key was tried, if there are more that it may belong to.
    pub(super) fn exhausted(&self) -> Option<u16> {
        self.passed_over
            .then(|| MAX_NAMED - self.named + MAX_OTHERS - self.others)
    }
}

const MAX_NAMED: u16 = 16;

/// As many as a mailing list may have.
const MAX_OTHERS: u16 = 1024;

/// Why nobody knows whether a recipient has our key.
pub(super) enum Unread {
    /// It has more than this many bytes.
    TooLarge(usize),
    Malformed(der::Error),
    /// The sender agrees on a secret with the key of a certificate, which is not supported.
    CertifiedOriginator,
}

impl Unread {
    /// The error for a message with this many recipients, if none of the others has our key.
    pub(super) fn of(self, recipients: u64) -> OpeningError {
        match self {
            Self::TooLarge(limit) => OpeningError::LargeRecipient { recipients, limit },
            Self::Malformed(error) => OpeningError::UnreadableRecipient { recipients, error },
            Self::CertifiedOriginator => OpeningError::CertifiedOriginator(recipients),
        }
    }
}

impl From<der::Error> for Unread {
    fn from(error: der::Error) -> Self {
        Self::Malformed(error)
    }
}

/// The content's key, or why a recipient with this key does not get it.
pub(super) type Outcome = Result<Zeroizing<Vec<u8>>, OpeningError>;

impl fmt::Debug for RecipientKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            OwnKey::Kem(key) => write!(f, "RecipientKey({})", key.algorithm()),
            OwnKey::Agreement(_) => f.write_str("RecipientKey(key agreement)"),
            OwnKey::SharedKey(..) => f.write_str("RecipientKey(shared key)"),
        }
    }
}
