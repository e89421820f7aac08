//! `Issuer`, the CA. It puts together a certificate from a builder and a public key, checks it by the rules of
//! `linting`, and signs it; it signs revocation lists, too.

use der::asn1::OctetString;
use der::referenced::RefToOwned;
use pq_keys::encoding::to_der;
use pq_keys::errors::describe;
use pq_keys::identifiers::{algorithm_of_spki, check_classical, read_spki};
use pq_keys::{Algorithm, KeyError, Signer, SubjectKey};
use sha2::{Digest, Sha256};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::certificate::Version;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, KeyUsage, KeyUsages, SubjectKeyIdentifier};
use x509_cert::name::Name;

use super::builder::{Ca, CertificateBuilder};
use super::error::IssueError;
use super::revocation_list_builder::CertificateRevocationListBuilder;
use super::serial_number::{random_serial_number, serial_number};
use super::tbs::TbsCertificate;
use crate::certificate::{
    Certificate, CertificateRevocationList, KeyUsageError, Role, Validity, check_delegate_usage,
    encode_extension, is_same_name, key_usage, signed,
};

/// A CA: a certificate and the key that belongs to it.
///
/// The key may be owned, borrowed, boxed or shared, and of any algorithm for which there
/// is a [`Signer`]; the example there is one of another crate, for ECDSA.
///
/// ```
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
///
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
/// // A leaf needs nothing but the public key.
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// let server = CertificateBuilder::server().dns_name("example.org");
/// let leaf = root.issue(server, key.verifying_key())?;
/// # assert_eq!(leaf.issuer(), root.certificate().subject());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
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
        let tbs = prepare(&builder, key, name, None, signer.signature_algorithm())?;
        let certificate = tbs.sign(&signer)?;
        Ok(Self {
            certificate,
            signer,
        })
    }

    /// Continues a CA whose certificate exists, such as one read from a file.
    ///
    /// # Errors
    ///
    /// [`IssueError::NotACa`], [`IssueError::CaWithoutName`], [`IssueError::KeyUsage`] or
    /// [`IssueError::WrongKey`], from what the certificate itself tells, and [`IssueError::Certificate`] if its subject
    /// can't be written as the issuer of others with the same bytes: if it has a UniversalString, or attributes in
    /// another order than DER's. It is not checked whether it
    /// has expired or leads to a trusted root; see [`ChainValidator`](crate::validation::ChainValidator).
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
        certificate.subject_to_write()?;
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

    /// Does everything that [`issue`](Self::issue) does except signing, for changes that this
    /// crate does not check. Sign with [`TbsCertificate::sign`] (or, without changes,
    /// [`TbsCertificate::sign_to_der`]) and [`signer`](Self::signer).
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Self::issue).
    pub fn prepare<K>(
        &self,
        builder: CertificateBuilder<K>,
        subject: &(impl SubjectKey + ?Sized),
    ) -> Result<TbsCertificate, IssueError> {
        // What a CA issues to its own name doesn't count for path lengths (RFC 5280 section 4.2.1.9).
        if builder.role == Role::Ca
            && self.certificate.path_len() == Some(0)
            && !is_same_name(&builder.subject.to_name()?, self.certificate.subject())
        {
            return Err(IssueError::PathLength(self.certificate.describe_subject()));
        }
        let key = SubjectInfo::read(subject)?;
        let issuer = self.certificate.subject().clone();
        let algorithm = self.signer.signature_algorithm();
        prepare(&builder, key, issuer, Some(&self.key_id()?), algorithm)
    }

    /// Issues a revocation list. Certificates give its URL if they are made with
    /// [`CertificateBuilder::revocation_list_url`].
    ///
    /// # Errors
    ///
    /// An [`IssueError`] that says what the builder or this CA lacks:
    /// it contains [`KeyUsageError::CaWithoutCrlSign`] if the CA's certificate has a key usage
    /// without cRLSign.
    pub fn issue_revocation_list(
        &self,
        builder: CertificateRevocationListBuilder,
    ) -> Result<CertificateRevocationList, IssueError> {
        let algorithm = self.signer.signature_algorithm();
        let tbs = self.list_to_sign(&builder)?;
        let der = signed::seal(&tbs, &algorithm, &self.signer)?;
        Ok(CertificateRevocationList::from_der(&der)?)
    }

    /// Checks whether a revocation list can be issued, without signing it.
    ///
    /// # Errors
    ///
    /// The errors of [`issue_revocation_list`](Self::issue_revocation_list), but for those of the signature.
    pub fn check_revocation_list(
        &self,
        builder: &CertificateRevocationListBuilder,
    ) -> Result<(), IssueError> {
        self.list_to_sign(builder).map(drop)
    }

    fn list_to_sign(
        &self,
        builder: &CertificateRevocationListBuilder,
    ) -> Result<Vec<u8>, IssueError> {
        if let Some(usages) = self.certificate.key_usage() {
            key_usage::check_list_issuer(usages)?;
        }
        let algorithm = self.signer.signature_algorithm();
        let issuer = self.certificate.subject().clone();
        Ok(to_der(&builder.to_tbs(
            issuer,
            &self.key_id()?,
            algorithm,
        )?)?)
    }

    /// The identifier of this CA's key in certificates and lists.
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

/// What issuing needs to know about a public key.
struct SubjectInfo {
    spki: SubjectPublicKeyInfoOwned,
    /// For HashSLH-DSA the parameter set; `None` for keys of other algorithms.
    algorithm: Option<Algorithm>,
    key_id: Vec<u8>,
}

impl SubjectInfo {
    fn read(key: &(impl SubjectKey + ?Sized)) -> Result<Self, IssueError> {
        let der = key.spki();
        let spki = read_spki(&der)?;
        // Never certify a key that its standard refuses.
        let algorithm = match algorithm_of_spki(&spki) {
            Ok(algorithm) => Some(algorithm),
            Err(KeyError::UnsupportedAlgorithm(_)) => {
                check_classical(&spki)?;
                None
            }
            Err(KeyError::HashMlDsa(_)) => return Err(IssueError::HashMlDsa),
            Err(error) => return Err(error.into()),
        };
        // RFC 7093 section 2, method 1: the left 160 bits of the SHA-256 of the key's bits.
        let hash = Sha256::digest(spki.subject_public_key.raw_bytes());
        Ok(Self {
            algorithm,
            key_id: hash[..20].to_vec(),
            spki: spki.ref_to_owned(),
        })
    }
}

/// Fills in a certificate, and checks all of it. Without `issuer_key_id` the certificate is self-signed.
fn prepare<K>(
    builder: &CertificateBuilder<K>,
    key: SubjectInfo,
    issuer: Name,
    issuer_key_id: Option<&[u8]>,
    signature: AlgorithmIdentifierOwned,
) -> Result<TbsCertificate, IssueError> {
    if let (Role::Ca, Some(Algorithm::Kem(algorithm))) = (builder.role, key.algorithm) {
        return Err(KeyUsageError::KemKeyAsCa(algorithm).into());
    }
    let usages = builder
        .key_usage
        .unwrap_or_else(|| key_usage::default_for(builder.role, key.algorithm));
    key_usage::check_key(key.spki.algorithm.oid, usages)?;
    key_usage::check_role(builder.role, usages)?;
    if let Some(id) = builder.spiffe_id()?
        && (!usages.contains(KeyUsages::DigitalSignature) || usages.contains(KeyUsages::CRLSign))
    {
        return Err(IssueError::SpiffeKeyUsage(id));
    }

    let subject = builder.subject.to_name()?;
    if builder.is_ocsp_responder {
        check_delegate_usage(usages).map_err(|error| IssueError::OcspDelegate {
            subject: describe(&subject),
            error,
        })?;
    }
    let mut extensions = builder.extensions(&subject)?;
    extensions.push(encode_extension(true, &KeyUsage(usages))?);
    let key_id = SubjectKeyIdentifier(OctetString::new(key.key_id)?);
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
    let tbs = TbsCertificate {
        version: Version::V3,
        serial_number: match &builder.serial_number {
            Some(number) => serial_number(number)?,
            None => random_serial_number()?,
        },
        signature,
        issuer,
        validity,
        subject,
        subject_public_key_info: key.spki,
        extensions,
    };
    tbs.check_rules()?;
    Ok(tbs)
}

fn default_days(role: Role) -> u32 {
    match role {
        Role::Ca => 3650,
        Role::EndEntity => 90,
    }
}
