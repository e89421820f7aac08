use der::asn1::OctetString;
use der::{Decode, Encode};
use sha2::{Digest, Sha256};
use spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::certificate::Version;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, KeyUsage, SubjectKeyIdentifier};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;

use super::builder::{Ca, CertificateBuilder};
use super::revocation_list_builder::CertificateRevocationListBuilder;
use super::tbs::TbsCertificate;
use crate::certificate::{
    Certificate, CertificateError, CertificateRevocationList, KeyUsageError, NameError,
    RevocationListError, Role, SealError, Validity, ValidityError, encode_extension, key_usage,
    signed,
};
use crate::errors::from_causes;
use crate::keys::{
    Algorithm, KeyError, PublicKey, RandomnessError, SignError, Signer, SubjectKey, random,
};

/// A CA: a certificate and the key that belongs to it.
///
/// The key may be owned, borrowed, boxed or shared, and of any algorithm for which there
/// is a [`Signer`].
#[derive(Clone, Debug)]
pub struct Issuer<S> {
    certificate: Certificate,
    signer: S,
}

impl<S: Signer> Issuer<S> {
    /// Makes a root: a CA whose certificate its own key signs.
    ///
    /// # Errors
    ///
    /// An [`IssueError`] that says what the builder or the key lacks.
    pub fn self_signed(builder: CertificateBuilder<Ca>, signer: S) -> Result<Self, IssueError> {
        let key = SubjectInfo::read(&signer)?;
        let name = builder.subject.to_name()?;
        let certificate = prepare(&builder, &key, name, None)?.sign(&signer)?;
        Ok(Self {
            certificate,
            signer,
        })
    }

    /// Takes up a CA whose certificate exists, such as one read from a file.
    ///
    /// # Errors
    ///
    /// [`IssueError::NotACa`], [`IssueError::CaWithoutName`], [`IssueError::KeyUsage`] or
    /// [`IssueError::WrongKey`] for what its certificate alone tells. Whether it has expired
    /// or leads to a trusted root is not checked; see
    /// [`ChainValidator`](crate::ChainValidator).
    pub fn new(certificate: Certificate, signer: S) -> Result<Self, IssueError> {
        if !certificate.is_ca() {
            return Err(IssueError::NotACa(certificate.describe_subject()));
        }
        if certificate.subject().is_empty() {
            return Err(IssueError::CaWithoutName);
        }
        if let Some(usages) = certificate.key_usage() {
            key_usage::check_role(Role::Ca, usages)?;
        }
        if certificate.spki() != signer.spki() {
            return Err(IssueError::WrongKey(certificate.describe_subject()));
        }
        Ok(Self {
            certificate,
            signer,
        })
    }

    /// The CA's own certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Issues a certificate for a key: any key of this crate, a request, or the
    /// SubjectPublicKeyInfo of a classical key.
    ///
    /// # Errors
    ///
    /// An [`IssueError`] that says what the builder, the key or this CA lacks.
    pub fn issue<K>(
        &self,
        builder: CertificateBuilder<K>,
        subject: &(impl SubjectKey + ?Sized),
    ) -> Result<Certificate, IssueError> {
        self.prepare(builder, subject)?.sign(&self.signer)
    }

    /// Issues a certificate for another CA and returns that CA.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Self::issue).
    pub fn issue_ca<T: Signer>(
        &self,
        builder: CertificateBuilder<Ca>,
        signer: T,
    ) -> Result<Issuer<T>, IssueError> {
        Ok(Issuer {
            certificate: self.issue(builder, &signer)?,
            signer,
        })
    }

    /// Does everything that [`issue`](Self::issue) does but sign, for changes that this
    /// crate does not check. Sign with [`TbsCertificate::sign`] and
    /// [`signer`](Self::signer).
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Self::issue).
    pub fn prepare<K>(
        &self,
        builder: CertificateBuilder<K>,
        subject: &(impl SubjectKey + ?Sized),
    ) -> Result<TbsCertificate, IssueError> {
        if builder.role == Role::Ca && self.certificate.path_len() == Some(0) {
            return Err(IssueError::PathLength(self.certificate.describe_subject()));
        }
        let key = SubjectInfo::read(subject)?;
        let issuer = self.certificate.subject().clone();
        prepare(&builder, &key, issuer, Some(&self.key_id()?))
    }

    /// Issues a revocation list. Certificates say where to find it by
    /// [`CertificateBuilder::revocation_list_url`].
    ///
    /// # Errors
    ///
    /// An [`IssueError`] that says what the builder or this CA lacks:
    /// [`KeyUsageError::CaWithoutCrlSign`] in it if the CA's certificate has a key usage that
    /// does not include cRLSign.
    pub fn issue_revocation_list(
        &self,
        builder: CertificateRevocationListBuilder,
    ) -> Result<CertificateRevocationList, IssueError> {
        if let Some(usages) = self.certificate.key_usage() {
            key_usage::check_list_issuer(usages)?;
        }
        let tbs = builder.to_tbs(
            self.certificate.subject().clone(),
            &self.key_id()?,
            self.signer.signature_algorithm(),
        )?;
        let der = signed::seal(&tbs.to_der()?, &self.signer)?;
        Ok(CertificateRevocationList::from_der(&der)?)
    }

    /// What certificates and lists name this CA's key by.
    fn key_id(&self) -> Result<Vec<u8>, IssueError> {
        match self.certificate.subject_key_id() {
            Some(id) => Ok(id.to_vec()),
            None => Ok(SubjectInfo::read(&self.signer)?.key_id),
        }
    }

    /// The CA's key.
    pub fn signer(&self) -> &S {
        &self.signer
    }
}

/// Why a certificate or a revocation list was not issued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The subject's public key is malformed.
    #[error("the subject's key: {0}")]
    SubjectKey(KeyError),
    /// The subject's public key is one of HashML-DSA.
    #[error(
        "keys of HashML-DSA must not be in certificates (RFC 9881 section 8.3); have the key's \
         owner name it one of ML-DSA"
    )]
    HashMlDsa,
    /// The key usage does not suit the key or the role.
    #[error(transparent)]
    KeyUsage(#[from] KeyUsageError),
    /// A name cannot stand in a certificate.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The validity cannot stand in a certificate.
    #[error(transparent)]
    Validity(#[from] ValidityError),
    /// The serial number is zero or too long.
    #[error(
        "a serial number is positive and takes at most 20 bytes, so of 20 the first is below 0x80"
    )]
    SerialNumber,
    /// An end entity has neither a subject nor an alternative name.
    #[error(
        "the certificate names nobody; add dns_name(), ip_address(), common_name() or subject()"
    )]
    Nameless,
    /// A CA has an empty subject.
    #[error(
        "a CA needs a name (RFC 5280 section 4.1.2.6); issue its certificate with \
         common_name() or subject()"
    )]
    CaWithoutName,
    /// The certificate given for a CA is not a CA's.
    #[error("the certificate of \"{0}\" is not a CA's, so nothing issued with it would be valid")]
    NotACa(String),
    /// The key given for a CA is not the one in its certificate.
    #[error(
        "the key is not the one in the CA certificate of \"{0}\"; load the key that belongs to it"
    )]
    WrongKey(String),
    /// The CA may not issue CA certificates.
    #[error(
        "path length 0 forbids \"{0}\" to issue CA certificates; issue from a CA above it, or \
         issue that CA again with a larger path_len()"
    )]
    PathLength(String),
    /// The number of a revocation list is too long, or there is none.
    #[error(
        "the number of a revocation list takes at most 20 bytes, so of 20 the first is below 0x80"
    )]
    ListNumber,
    /// A revocation list names one certificate twice.
    #[error("the certificate with serial number {0} is revoked twice in one list; revoke it once")]
    RevokedTwice(String),
    /// A revocation has the reason that is for taking back others in a delta list.
    #[error(
        "removeFromCRL is for delta lists (RFC 5280 section 5.3.1); to take a revocation back, \
         leave the certificate out of the next list"
    )]
    RemoveFromCompleteList,
    /// The key did not sign.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A field could not be encoded.
    #[error("encoding the certificate or revocation list: {0}")]
    Der(der::Error),
    /// The fields do not make a certificate.
    #[error("the certificate issued cannot be read back: {0}")]
    Certificate(CertificateError),
    /// The fields do not make a revocation list.
    #[error("the revocation list issued cannot be read back: {0}")]
    List(RevocationListError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness for the serial number: {0}")]
    Randomness(RandomnessError),
}

from_causes!(
    IssueError: SubjectKey(KeyError),
    Der(der::Error),
    Certificate(CertificateError),
    List(RevocationListError),
    Randomness(RandomnessError)
);

impl From<SealError> for IssueError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Der(error) => error.into(),
            SealError::Sign(error) => error.into(),
        }
    }
}

/// What issuing needs to know of a public key.
struct SubjectInfo {
    spki: SubjectPublicKeyInfoOwned,
    /// For HashSLH-DSA the parameter set; `None` for the keys of others.
    algorithm: Option<Algorithm>,
    key_id: Vec<u8>,
}

impl SubjectInfo {
    fn read(key: &(impl SubjectKey + ?Sized)) -> Result<Self, IssueError> {
        let der = key.spki();
        let spki = SubjectPublicKeyInfoRef::from_der(&der).map_err(KeyError::from)?;
        // Never certify a key that its standard refuses.
        let algorithm = match PublicKey::from_spki_der(&der) {
            Ok(key) => Some(key.algorithm()),
            Err(KeyError::UnsupportedAlgorithm(_)) => None,
            Err(KeyError::HashMlDsa(_)) => return Err(IssueError::HashMlDsa),
            Err(error) => return Err(error.into()),
        };
        // RFC 7093 section 2, method 1: the left 160 bits of the SHA-256 of the key's bits.
        let hash = Sha256::digest(spki.subject_public_key.raw_bytes());
        Ok(Self {
            algorithm,
            key_id: hash[..20].to_vec(),
            spki: SubjectPublicKeyInfoOwned::from_der(&der)?,
        })
    }
}

/// Fills in a certificate. Without `issuer_key_id` it is for its own issuer to sign.
fn prepare<K>(
    builder: &CertificateBuilder<K>,
    key: &SubjectInfo,
    issuer: Name,
    issuer_key_id: Option<&[u8]>,
) -> Result<TbsCertificate, IssueError> {
    if let (Role::Ca, Some(Algorithm::Kem(algorithm))) = (builder.role, key.algorithm) {
        return Err(KeyUsageError::KemKeyAsCa(algorithm).into());
    }
    let usages = builder
        .key_usage
        .unwrap_or_else(|| key_usage::default_for(builder.role, key.algorithm));
    key_usage::check_algorithm(key.algorithm, usages)?;
    key_usage::check_role(builder.role, usages)?;

    let subject = builder.subject.to_name()?;
    let mut extensions = builder.extensions(&subject)?;
    extensions.push(encode_extension(true, &KeyUsage(usages))?);
    let key_id = SubjectKeyIdentifier(OctetString::new(key.key_id.as_slice())?);
    extensions.push(encode_extension(false, &key_id)?);
    if let Some(id) = issuer_key_id {
        let id = AuthorityKeyIdentifier {
            key_identifier: Some(OctetString::new(id)?),
            ..Default::default()
        };
        extensions.push(encode_extension(false, &id)?);
    }

    let validity = builder
        .validity
        .unwrap_or_else(|| Validity::days(default_days(builder.role)))
        .to_x509()?;
    Ok(TbsCertificate {
        version: Version::V3,
        serial_number: match &builder.serial_number {
            Some(number) => serial_number(number)?,
            None => random_serial_number()?,
        },
        // The signer's own, once there is one.
        signature: key.spki.algorithm.clone(),
        issuer,
        validity,
        subject,
        subject_public_key_info: key.spki.clone(),
        extensions,
    })
}

fn default_days(role: Role) -> u32 {
    match role {
        Role::Ca => 3650,
        Role::EndEntity => 90,
    }
}

pub(crate) fn serial_number(bytes: &[u8]) -> Result<SerialNumber, IssueError> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Err(IssueError::SerialNumber);
    }
    SerialNumber::new(bytes).map_err(|_| IssueError::SerialNumber)
}

/// 158 random bits under a first byte of 0x40 to 0x7f: positive, and always 20 bytes, the
/// most that RFC 5280 section 4.1.2.2 allows.
fn random_serial_number() -> Result<SerialNumber, IssueError> {
    let mut bytes = [0; 20];
    random::fill(&mut bytes)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    serial_number(&bytes)
}
