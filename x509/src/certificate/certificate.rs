//! `Certificate`, read strictly from DER or PEM: what its fields and extensions say, and a check of its signature
//! alone. Whether a chain may be trusted is decided in `validation`.

use alloc::sync::Arc;
use core::fmt;
use core::net::IpAddr;

use const_oid::db::rfc5280::ID_AD_OCSP;
use const_oid::db::rfc6960::ID_PKIX_OCSP_NOCHECK;
use const_oid::{AssociatedOid, ObjectIdentifier};
use der::asn1::{AnyRef, OctetStringRef};
use der::flagset::FlagSet;
use der::referenced::OwnedToRef;
use der::{Decode, Tag, Tagged};
use pki_types::{
    CertificateDer, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer, UnixTime,
};
use pq_keys::encoding::pem::{self, PemError};
use pq_keys::encoding::syntax::{self, SyntaxError};
use pq_keys::encoding::to_der;
use pq_keys::errors::{describe, from_causes};
use pq_keys::{Algorithm, KeyError, PublicKey, SubjectKey};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::name;
use x509_cert::ext::pkix::{
    AuthorityInfoAccessSyntax, AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage,
    KeyUsage, KeyUsages, SubjectAltName, SubjectKeyIdentifier,
};
use x509_cert::name::Name;

use super::canonical_name::CanonicalName;
use super::extensions::repeated;
use super::general_names::{self, GeneralName};
use super::name_constraints::{NameConstraints, Presented};
use super::names::{AlternativeName, AlternativeNames, describe_subject};
use super::readable::{Readable, readable};
use super::signed::{self, SignatureError};
use super::syntax::check_extensions;
use super::universal_string::check_rewritten;
use super::validity::unix_time;
use super::{form, key_usage};

/// An X.509 certificate (RFC 5280), of any algorithm.
///
/// A value of this type is well-formed DER, which does not mean that anyone should trust
/// it: see [`ChainValidator`](crate::validation::ChainValidator).
#[derive(Clone)]
pub struct Certificate {
    der: CertificateDer<'static>,
    /// The stand-in that `parsed` was read from, if that is not the certificate itself.
    readable: Option<Arc<Readable>>,
    parsed: x509_cert::Certificate,
    facts: Facts,
}

impl Certificate {
    /// Reads a certificate from DER. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Der`] if it is no DER, [`CertificateError::Syntax`] if the certificate or one of the
    /// extensions that this type gives access to is malformed, or has a value that is not read here,
    /// [`CertificateError::AlgorithmsDiffer`] if the
    /// two places that name the signature algorithm do not agree,
    /// [`CertificateError::RepeatedExtension`] if there are two extensions of a kind. A certificate with more
    /// than 10,000 values, and an extension with more than 10,000 names, is refused with
    /// [`SyntaxError::TooMany`].
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let explain = |der, error| match error {
            CertificateError::Der(error) => form::explain(der, form::CERTIFICATE, error),
            other => other,
        };
        match Self::read(der) {
            Err(
                error @ (CertificateError::Der(_)
                | CertificateError::Syntax(SyntaxError::Form { .. })),
            ) => {
                // Perhaps only because of a sound value that `x509-cert` does not read.
                let readable = readable(der).ok_or_else(|| explain(der, error))?;
                let mut certificate =
                    Self::read(&readable.der).map_err(|error| explain(&readable.der, error))?;
                certificate.der = CertificateDer::from(der).into_owned();
                certificate.readable = Some(Arc::new(readable));
                Ok(certificate)
            }
            result => result,
        }
    }

    fn read(der: &[u8]) -> Result<Self, CertificateError> {
        syntax::check_number(der)?;
        let parsed = x509_cert::Certificate::from_der(der)?;
        // RFC 5280 section 4.1.1.2. Only the inner one is signed.
        let (inner, outer) = (
            parsed.tbs_certificate().signature(),
            parsed.signature_algorithm(),
        );
        if inner != outer {
            return Err(CertificateError::AlgorithmsDiffer {
                inner: inner.oid,
                outer: outer.oid,
            });
        }
        let extensions = parsed.tbs_certificate().extensions();
        let extensions = extensions.map(Vec::as_slice).unwrap_or_default();
        check_values(der, extensions)?;
        Ok(Self {
            facts: Facts::read(&parsed)?,
            der: CertificateDer::from(der).into_owned(),
            readable: None,
            parsed,
        })
    }

    /// Reads the first `CERTIFICATE` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Pem`] if there is none, and those of [`from_der`](Self::from_der).
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, CertificateError> {
        Self::from_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// Reads all `CERTIFICATE` blocks of a PEM text, in order. There is at least one.
    /// Other blocks, such as a private key, are skipped.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Pem`] if there is none, and those of [`from_der`](Self::from_der).
    pub fn chain_from_pem(
        text: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<Vec<Self>, CertificateError> {
        pem::decode_all(text, PEM_LABEL)?
            .iter()
            .map(|der| Self::from_der(der))
            .collect()
    }

    /// Reads the certificates of a file: those of a PEM text, as [`chain_from_pem`](Self::chain_from_pem) does, or one
    /// in DER.
    ///
    /// # Errors
    ///
    /// Those of [`chain_from_pem`](Self::chain_from_pem).
    pub fn chain_in(file: &[u8]) -> Result<Vec<Self>, CertificateError> {
        match pem::is_der(file) {
            true => Ok(vec![Self::from_der(file)?]),
            false => Self::chain_from_pem(file),
        }
    }

    /// The certificates as one PEM text, in order.
    pub fn chain_to_pem(chain: &[Self]) -> String {
        chain.iter().map(Self::to_pem).collect()
    }

    /// The certificate as PEM.
    pub fn to_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.der)
    }

    /// The certificate's DER.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// Returns the certificate's DER, without copying it.
    pub fn into_der(self) -> CertificateDer<'static> {
        self.der
    }

    /// All fields, as `x509-cert` represents them. It knows no dates before 1970 and no path lengths
    /// above 255: 1970 and 255 stand for these. A UTF8String stands for a UniversalString in a name, and the attributes of
    /// a part are in the order of DER: [`subject_der`](Self::subject_der) and [`issuer_der`](Self::issuer_der) are the
    /// names' own bytes. Extensions that
    /// are not critical are missing if their identifiers have numbers above 32 bits, such as UUIDs.
    pub fn parsed(&self) -> &x509_cert::Certificate {
        &self.parsed
    }

    /// The name of the key's owner. It may be empty if there are alternative names.
    pub fn subject(&self) -> &Name {
        self.parsed.tbs_certificate().subject()
    }

    /// The name of the CA that signed.
    pub fn issuer(&self) -> &Name {
        self.parsed.tbs_certificate().issuer()
    }

    /// The subject's name in DER, with the certificate's own bytes. Whoever writes the name into another document
    /// needs these: [`subject`](Self::subject) has other ones if there is a UniversalString, or if the attributes of a
    /// part are not in the order of DER.
    pub fn subject_der(&self) -> &[u8] {
        let [_, subject] = signed::names(&self.der).unwrap_or_default();
        subject
    }

    /// The subject's name for another document that [`issuing`](crate::issuing) writes, such as a further certificate
    /// for the same owner.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Syntax`] if it would have other bytes there, since many programs compare the bytes of names.
    pub fn subject_to_write(&self) -> Result<&Name, CertificateError> {
        check_rewritten(self.subject_der(), self.subject(), "its subject")?;
        Ok(self.subject())
    }

    /// The issuer's name in DER, with the certificate's own bytes, as [`subject_der`](Self::subject_der) has the
    /// subject's.
    pub fn issuer_der(&self) -> &[u8] {
        let [issuer, _] = signed::names(&self.der).unwrap_or_default();
        issuer
    }

    /// The serial number: the contents of a DER INTEGER, big-endian. It begins with a zero byte
    /// if the first byte would otherwise be 0x80 or more.
    pub fn serial_number(&self) -> &[u8] {
        self.parsed.tbs_certificate().serial_number().as_bytes()
    }

    /// The first second in which the certificate is valid. A time before 1970, which `UnixTime`
    /// cannot express, is given as 1970.
    pub fn not_before(&self) -> UnixTime {
        unix_time(self.parsed.tbs_certificate().validity().not_before)
    }

    /// The last second in which the certificate is valid. A time before 1970 is given as 1970. No
    /// [`ChainValidator`](crate::validation::ChainValidator) accepts such a certificate at any time.
    pub fn not_after(&self) -> UnixTime {
        unix_time(self.parsed.tbs_certificate().validity().not_after)
    }

    /// The public key, if it is of an algorithm of this crate.
    ///
    /// # Errors
    ///
    /// [`KeyError::UnsupportedAlgorithm`] for a classical key (see
    /// [`spki`](SubjectKey::spki) for its encoding), others for a malformed one.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        PublicKey::from_spki_der(&self.facts.spki)
    }

    /// Whether the certificate is a CA's, by its basic constraints.
    pub fn is_ca(&self) -> bool {
        self.facts.constraints.as_ref().is_some_and(|bc| bc.ca)
    }

    /// How many further CAs may stand between this one and an end entity; `None` if
    /// there is no limit, or if this is not a CA. A limit above 255, which no real chain reaches, is
    /// given as 255.
    pub fn path_len(&self) -> Option<u8> {
        self.facts
            .constraints
            .as_ref()
            .filter(|bc| bc.ca)
            .and_then(|bc| bc.path_len_constraint)
    }

    /// The KeyUsage extension, if there is one.
    pub fn key_usage(&self) -> Option<FlagSet<KeyUsages>> {
        self.facts.key_usage
    }

    /// The DNS names among the subject alternative names.
    pub fn dns_names(&self) -> &[String] {
        &self.facts.names.dns
    }

    /// The IP addresses among the subject alternative names.
    pub fn ip_addresses(&self) -> &[IpAddr] {
        &self.facts.names.ip
    }

    /// The e-mail addresses among the subject alternative names, unchanged: they need not be valid for
    /// [`EmailAddress`](crate::certificate::EmailAddress). Those in the subject's name and those that are not in ASCII
    /// (RFC 9598) are not included.
    pub fn email_addresses(&self) -> &[String] {
        &self.facts.names.email
    }

    /// The URIs among the subject alternative names, unchanged: they need not be valid for
    /// [`Uri`](crate::certificate::Uri).
    pub fn uris(&self) -> &[String] {
        &self.facts.names.uri
    }

    /// The DNS names, addresses, e-mail addresses and URIs among the subject alternative names, kind by
    /// kind.
    pub fn alternative_names(&self) -> impl Iterator<Item = AlternativeName> {
        self.facts.names.iter()
    }

    /// Whether the name constraints of this CA certificate permit a name in the certificates below it
    /// (RFC 5280 section 4.2.1.10). Without constraints, all names are permitted.
    ///
    /// Names are compared with constraints of their own kind. A name is not permitted in case of doubt: if
    /// it or a constraint of its kind is malformed, or if it is a URI whose host is no DNS name and
    /// there are constraints of URIs. The constraints of CAs above this one count, too: for a whole
    /// path use a [`ChainValidator`](crate::validation::ChainValidator).
    pub fn permits_name(&self, name: &AlternativeName) -> bool {
        let name = match name {
            AlternativeName::Dns(name) => Presented::Dns(name),
            AlternativeName::Ip(address) => Presented::Ip(*address),
            AlternativeName::Email(address) => Presented::Email(address.parse().ok()),
            AlternativeName::Uri(uri) => Presented::Uri(uri.parse().ok()),
        };
        match self.name_constraints() {
            Ok(constraints) => constraints.is_none_or(|constraints| constraints.permits(&name)),
            Err(_) => false,
        }
    }

    /// Whether the CA with this certificate may issue one for this subject, by its own name constraints of directory
    /// names. The e-mail addresses and hosts in a subject are not looked for.
    pub fn permits_subject(&self, subject: &Name) -> bool {
        match self.name_constraints() {
            Ok(constraints) => constraints.is_none_or(|constraints| {
                subject.is_empty() || constraints.permits(&Presented::Directory(subject))
            }),
            Err(_) => false,
        }
    }

    /// The subject key identifier, if there is one.
    pub fn subject_key_id(&self) -> Option<&[u8]> {
        self.facts.subject_key_id.as_deref()
    }

    /// The URLs of the OCSP responders to ask about this certificate, from the authorityInfoAccess
    /// extension (RFC 5280 section 4.2.2.1). Empty if the extension can't be read.
    pub fn ocsp_urls(&self) -> Vec<String> {
        let access = self.parsed.tbs_certificate().get_extension();
        let access: Option<(bool, AuthorityInfoAccessSyntax)> = access.ok().flatten();
        let access = access.into_iter().flat_map(|(_critical, access)| access.0);
        access
            .filter(|access| access.access_method == ID_AD_OCSP)
            .filter_map(|access| match access.access_location {
                name::GeneralName::UniformResourceIdentifier(url) => Some(url.to_string()),
                _ => None,
            })
            .collect()
    }

    /// Whether to believe an OCSP responder with this certificate without asking whether the certificate
    /// was revoked: id-pkix-ocsp-nocheck (RFC 6960 section 4.2.2.2.1).
    pub fn has_ocsp_nocheck(&self) -> bool {
        let extensions = self.parsed.tbs_certificate().extensions();
        let mut extensions = extensions.into_iter().flatten();
        extensions.any(|extension| extension.extn_id == ID_PKIX_OCSP_NOCHECK)
    }

    /// The subject for messages: its name, or the alternative names if that is empty.
    ///
    /// Messages end up in logs, and whoever made the certificate chose the names: they are cut off,
    /// and escaped so that nothing starts a line or moves a cursor.
    pub fn describe_subject(&self) -> String {
        describe_subject(self.subject(), || self.alternative_names())
    }

    /// The issuer's name for messages, cut off and escaped as in
    /// [`describe_subject`](Self::describe_subject).
    pub fn describe_issuer(&self) -> String {
        describe(self.issuer())
    }

    /// Checks only that the key of `issuer` made this certificate's signature. For
    /// everything else that makes a chain valid, use a
    /// [`ChainValidator`](crate::validation::ChainValidator).
    ///
    /// The algorithms are those of this crate ([`verification::ALL`](crate::verification::ALL)),
    /// and those given, such as a classical provider's: `&[]` adds none.
    ///
    /// The algorithms of this crate cannot be left out. To accept fewer, check
    /// `parsed().signature_algorithm()` first.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what failed.
    pub fn verify_signature(
        &self,
        issuer: &Self,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), SignatureError> {
        signed::verify(&self.der, &issuer.spki_ref(), algorithms)
    }

    /// Whether the certificate's own key signed it, as that of a root does (RFC 5280 section 3.2). That issuer and subject
    /// have the same name is not enough: a CA that changes its key signs a certificate of its own name for the new key with
    /// the old one.
    ///
    /// The algorithms are those of [`verify_signature`](Self::verify_signature). A signature that none of them verifies is
    /// judged by the identifiers of the keys: it is not of another key if the authorityKeyIdentifier names the certificate's
    /// own, or is missing.
    pub fn is_self_signed(&self, algorithms: &[&dyn SignatureVerificationAlgorithm]) -> bool {
        if !self.is_self_issued() {
            return false;
        }
        match self.verify_signature(self, algorithms) {
            Ok(()) => true,
            Err(
                SignatureError::UnsupportedAlgorithm(_)
                | SignatureError::UnsupportedParameters { .. },
            ) => {
                let id = self.authority_key_id();
                id.is_ok_and(|id| id.is_none() || id == self.subject_key_id())
            }
            Err(_) => false,
        }
    }

    /// The identifier of the issuer's key, if the certificate names it (RFC 5280 section 4.2.1.1).
    pub(crate) fn authority_key_id(&self) -> der::Result<Option<&[u8]>> {
        let value = value_of(&self.parsed, AuthorityKeyIdentifier::OID);
        value.map_or(Ok(None), form::authority_key_id)
    }

    /// Checks a signature of a message, such as a document, under this certificate's key, by the
    /// algorithms of [`verify_signature`](Self::verify_signature). A
    /// [`ChainValidator`](crate::validation::ChainValidator) decides whether to trust the certificate.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what failed.
    pub fn verify_message(
        &self,
        message: &[u8],
        signature_algorithm: &AlgorithmIdentifierRef<'_>,
        signature: &[u8],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), SignatureError> {
        let key = self.spki_ref();
        signed::verify_message(message, signature_algorithm, signature, &key, algorithms)
    }

    /// The stand-in that webpki gets for the certificate.
    pub(crate) fn readable(&self) -> Option<&Readable> {
        self.readable.as_deref()
    }

    /// The public key, for [`signed::verify`].
    pub(crate) fn spki_ref(&self) -> SubjectPublicKeyInfoRef<'_> {
        self.parsed
            .tbs_certificate()
            .subject_public_key_info()
            .owned_to_ref()
    }

    /// The ExtendedKeyUsage extension's purposes, if there is one.
    pub(crate) fn extended_key_usage(&self) -> Option<&[ObjectIdentifier]> {
        self.facts.extended_key_usage.as_deref()
    }

    /// The name constraints, if there are some.
    pub(crate) fn name_constraints(&self) -> der::Result<Option<NameConstraints<'_>>> {
        let extensions = self.parsed.tbs_certificate().extensions();
        let mut extensions = extensions.into_iter().flatten();
        extensions
            .find(|extension| extension.extn_id == NAME_CONSTRAINTS)
            .map(|extension| NameConstraints::from_der(extension.extn_value.as_bytes()))
            .transpose()
    }

    /// All alternative names.
    pub(crate) fn general_names(&self) -> Result<Vec<GeneralName<'_>>, SyntaxError> {
        value_of(&self.parsed, SubjectAltName::OID).map_or(Ok(Vec::new()), general_names::read)
    }

    /// Whether issuer and subject are the same name (RFC 5280 section 6.1).
    pub(crate) fn is_self_issued(&self) -> bool {
        let (issuer, subject) = (self.issuer(), self.subject());
        issuer == subject || CanonicalName::in_paths(issuer) == CanonicalName::in_paths(subject)
    }

    /// Whether the KeyUsage extension is critical.
    pub(crate) fn has_critical_key_usage(&self) -> bool {
        let extensions = self.parsed.tbs_certificate().extensions();
        let mut extensions = extensions.into_iter().flatten();
        extensions.any(|extension| extension.extn_id == KeyUsage::OID && extension.critical)
    }

    /// The key's algorithm, if this crate has it, and for HashSLH-DSA the parameter set.
    pub(crate) fn key_algorithm(&self) -> Option<Algorithm> {
        let spki = self.parsed.tbs_certificate().subject_public_key_info();
        Algorithm::of_oid(spki.algorithm.oid)
    }
}

impl SubjectKey for Certificate {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.facts.spki.as_slice().into()
    }
}

impl AsRef<[u8]> for Certificate {
    fn as_ref(&self) -> &[u8] {
        &self.der
    }
}

impl From<Certificate> for CertificateDer<'static> {
    fn from(certificate: Certificate) -> Self {
        certificate.der
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let serial_number = self.parsed.tbs_certificate().serial_number();
        f.debug_struct("Certificate")
            .field("subject", &format_args!("{}", self.describe_subject()))
            .field("issuer", &format_args!("{}", self.describe_issuer()))
            .field("serial_number", &format_args!("{serial_number}"))
            .finish_non_exhaustive()
    }
}

/// Checks what `x509-cert` does not: that no extension is repeated, and the values in the certificate and in
/// its extensions.
pub(crate) fn check_values(der: &[u8], extensions: &[Extension]) -> Result<(), CertificateError> {
    if let Some(oid) = repeated(extensions) {
        return Err(CertificateError::RepeatedExtension(oid));
    }
    syntax::check(der)?;
    Ok(check_extensions(extensions)?)
}

/// Why something is not a certificate.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The bytes are not the DER of a certificate.
    #[error("the certificate is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the certificate {0}")]
    Syntax(SyntaxError),
    /// The signature algorithm in the signed part differs from the one beside the signature.
    #[error(
        "the signed part names signature algorithm {inner} and the signature is of {outer}, \
         or their parameters differ (RFC 5280 section 4.1.1.2); the certificate was altered, \
         or its issuer is faulty"
    )]
    AlgorithmsDiffer {
        /// The algorithm in the signed part.
        inner: ObjectIdentifier,
        /// The algorithm beside the signature.
        outer: ObjectIdentifier,
    },
    /// There are two extensions of a kind, and readers could disagree on which one counts.
    #[error(
        "the certificate has the extension {0} more than once (RFC 5280 section 4.2); have it \
         issued again"
    )]
    RepeatedExtension(ObjectIdentifier),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
}

from_causes!(CertificateError: Der(der::Error), Syntax(SyntaxError));

const NAME_CONSTRAINTS: ObjectIdentifier = x509_cert::ext::pkix::NameConstraints::OID;

const PEM_LABEL: &str = "CERTIFICATE";

/// What is read from the extensions once, so that nothing fails later.
#[derive(Clone)]
struct Facts {
    spki: Vec<u8>,
    constraints: Option<BasicConstraints>,
    key_usage: Option<FlagSet<KeyUsages>>,
    extended_key_usage: Option<Vec<ObjectIdentifier>>,
    names: AlternativeNames,
    subject_key_id: Option<Vec<u8>>,
}

impl Facts {
    fn read(certificate: &x509_cert::Certificate) -> Result<Self, CertificateError> {
        fn extension<T>(
            certificate: &x509_cert::Certificate,
            kind: ObjectIdentifier,
            read: fn(&[u8]) -> der::Result<T>,
        ) -> Result<Option<T>, SyntaxError> {
            value_of(certificate, kind)
                .map(|value| read(value).map_err(|error| form::of_extension(kind, value, error)))
                .transpose()
        }

        // Nothing here uses it, but other readers of the certificate may.
        extension(certificate, AuthorityKeyIdentifier::OID, |value| {
            form::authority_key_id(value).map(drop)
        })?;
        let names = value_of(certificate, SubjectAltName::OID).map(general_names::read);
        let names = names.transpose()?.unwrap_or_default();
        let constraints = BasicConstraints::OID;
        Ok(Self {
            spki: to_der(certificate.tbs_certificate().subject_public_key_info())?,
            constraints: extension(certificate, constraints, |value| {
                BasicConstraints::from_der(value)
            })?,
            key_usage: extension(certificate, KeyUsage::OID, key_usage::from_der)?,
            extended_key_usage: extension(certificate, ExtendedKeyUsage::OID, purposes)?,
            names: AlternativeNames::from_general_names(&names).0,
            subject_key_id: extension(certificate, SubjectKeyIdentifier::OID, |value| {
                Ok(<&OctetStringRef>::from_der(value)?.as_bytes().to_vec())
            })?,
        })
    }
}

/// The contents of the extension of a kind, if it is there.
fn value_of(certificate: &x509_cert::Certificate, kind: ObjectIdentifier) -> Option<&[u8]> {
    let extensions = certificate.tbs_certificate().extensions();
    let mut extensions = extensions.into_iter().flatten();
    let found = extensions.find(|extension| extension.extn_id == kind)?;
    Some(found.extn_value.as_bytes())
}

/// The purposes of an extKeyUsage extension. Those with identifiers that are too long for `const-oid` are left out:
/// nothing here is for them.
fn purposes(der: &[u8]) -> der::Result<Vec<ObjectIdentifier>> {
    let list = AnyRef::from_der(der)?;
    list.tag().assert_eq(Tag::Sequence)?;
    let mut purposes = Vec::new();
    for purpose in syntax::elements(list.value()) {
        let purpose = AnyRef::from_der(purpose.whole)?;
        purpose.tag().assert_eq(Tag::ObjectIdentifier)?;
        purposes.extend(ObjectIdentifier::from_bytes(purpose.value()));
    }
    Ok(purposes)
}
