use core::fmt;

use const_oid::{AssociatedOid, ObjectIdentifier};
use der::{Decode, ErrorKind};
use pki_types::{CertificateRevocationListDer, SignatureVerificationAlgorithm, UnixTime};
use webpki::{BorrowedRevokedCert, RevocationReason};
use x509_cert::crl::{CertificateList, RevokedCert};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, CrlReason};
use x509_cert::name::Name;

use crate::certificate::Certificate;
use crate::error::PemError;
use crate::names;
use crate::pem;
use crate::signed::{self, SignatureError};
use crate::syntax::{self, SyntaxError};
use crate::tbs::repeated;
use crate::validity::unix_time;

/// A certificate revocation list (RFC 5280 section 5), version 2, of any algorithm.
///
/// That a value exists says that the DER is well-formed, not that anyone should believe
/// it. A [`RevocationPolicy`](crate::RevocationPolicy) has a
/// [`ChainValidator`](crate::ChainValidator) check chains against lists, and
/// [`verify_signature`](Self::verify_signature) checks one list's signature.
/// [`Issuer::issue_revocation_list`](crate::Issuer::issue_revocation_list) makes one.
#[derive(Clone)]
pub struct CertificateRevocationList {
    der: CertificateRevocationListDer<'static>,
    issuer: Name,
    this_update: UnixTime,
    next_update: Option<UnixTime>,
    number: Option<Vec<u8>>,
    authority_key_id: Option<Vec<u8>>,
    entries: Vec<RevokedCertificate>,
}

impl CertificateRevocationList {
    /// Reads a list from DER. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Der`] if the list, or one of the extensions that this type
    /// gives access to, is malformed, or the list is of version 1;
    /// [`RevocationListError::AlgorithmsDiffer`] if the two places that name the signature
    /// algorithm do not agree; [`RevocationListError::RepeatedExtension`] if the list has two
    /// extensions of a kind.
    pub fn from_der(der: &[u8]) -> Result<Self, RevocationListError> {
        let parsed: CertificateList = CertificateList::from_der(der)?;
        let tbs = parsed.tbs_cert_list;
        // RFC 5280 section 5.1.1.2. Only the inner one is signed.
        if tbs.signature != parsed.signature_algorithm {
            return Err(RevocationListError::AlgorithmsDiffer {
                inner: tbs.signature.oid,
                outer: parsed.signature_algorithm.oid,
            });
        }
        let extensions = tbs.crl_extensions.unwrap_or_default();
        if let Some(oid) = repeated(&extensions) {
            return Err(RevocationListError::RepeatedExtension(oid));
        }
        syntax::check(der)?;
        syntax::check_extensions(&extensions)?;
        let number: Option<CrlNumber> = extension(&extensions)?;
        let authority: Option<AuthorityKeyIdentifier> = extension(&extensions)?;
        Ok(Self {
            der: CertificateRevocationListDer::from(der.to_vec()),
            issuer: tbs.issuer,
            this_update: unix_time(tbs.this_update),
            next_update: tbs.next_update.map(unix_time),
            number: number.map(|number| number.0.as_bytes().to_vec()),
            authority_key_id: authority
                .and_then(|id| id.key_identifier)
                .map(|id| id.into_bytes().into()),
            entries: tbs
                .revoked_certificates
                .unwrap_or_default()
                .into_iter()
                .map(RevokedCertificate::read)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Reads the first `X509 CRL` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Pem`] if there is none, and those of DER.
    pub fn from_pem(text: &str) -> Result<Self, RevocationListError> {
        Self::from_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// Reads all `X509 CRL` blocks of a PEM text, in order. There is at least one. Other
    /// blocks are skipped.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Pem`] if there is none, and those of DER.
    pub fn all_from_pem(text: &str) -> Result<Vec<Self>, RevocationListError> {
        pem::decode_all(text, PEM_LABEL)?
            .iter()
            .map(|der| Self::from_der(der))
            .collect()
    }

    /// The list as PEM.
    pub fn to_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.der)
    }

    /// The list's DER, as rustls takes it. Fields without an accessor are read from it by
    /// [`x509_cert::crl::CertificateList`].
    pub fn der(&self) -> &CertificateRevocationListDer<'static> {
        &self.der
    }

    /// The list's DER, taken out.
    pub fn into_der(self) -> CertificateRevocationListDer<'static> {
        self.der
    }

    /// The name of the CA that signed, and whose certificates are listed.
    pub fn issuer(&self) -> &Name {
        &self.issuer
    }

    /// When the list was issued.
    pub fn this_update(&self) -> UnixTime {
        self.this_update
    }

    /// When a newer list will have been issued, if the list says so, as RFC 5280 demands.
    pub fn next_update(&self) -> Option<UnixTime> {
        self.next_update
    }

    /// The list's number, big-endian, without leading zeros, if there is one. A CA's
    /// numbers increase from list to list.
    pub fn number(&self) -> Option<&[u8]> {
        self.number.as_deref()
    }

    /// The identifier of the key that signed, if there is one.
    pub fn authority_key_id(&self) -> Option<&[u8]> {
        self.authority_key_id.as_deref()
    }

    /// The revoked certificates, in the list's order.
    pub fn entries(&self) -> &[RevokedCertificate] {
        &self.entries
    }

    /// The entry for a certificate: the first with its serial number, if the list is by its
    /// issuer's name. This looks at each entry in turn; who made the list, and when, is not
    /// checked.
    pub fn entry_for(&self, certificate: &Certificate) -> Option<&RevokedCertificate> {
        if self.issuer != *certificate.issuer() {
            return None;
        }
        self.entries
            .iter()
            .find(|entry| entry.serial_number() == certificate.serial_number())
    }

    /// Checks only that the key of `issuer` made this list's signature: not that it is the
    /// CA that the list names, that it may sign lists, or what time it is.
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what failed.
    pub fn verify_signature(
        &self,
        issuer: &Certificate,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), SignatureError> {
        signed::verify(&self.der, &issuer.spki_ref(), algorithms)
    }
}

impl AsRef<[u8]> for CertificateRevocationList {
    fn as_ref(&self) -> &[u8] {
        &self.der
    }
}

impl From<CertificateRevocationList> for CertificateRevocationListDer<'static> {
    fn from(list: CertificateRevocationList) -> Self {
        list.der
    }
}

impl PartialEq for CertificateRevocationList {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for CertificateRevocationList {}

impl fmt::Debug for CertificateRevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let issuer = names::describe(&self.issuer);
        f.debug_struct("CertificateRevocationList")
            .field("issuer", &format_args!("{issuer}"))
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// An entry of a [`CertificateRevocationList`]: a certificate that is not to be relied on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevokedCertificate {
    serial_number: Vec<u8>,
    date: UnixTime,
    reason: CrlReason,
}

impl RevokedCertificate {
    /// The certificate's serial number, as [`Certificate::serial_number`] has it.
    pub fn serial_number(&self) -> &[u8] {
        &self.serial_number
    }

    /// When the certificate was revoked.
    pub fn date(&self) -> UnixTime {
        self.date
    }

    /// Why it was. An entry that does not say is [`CrlReason::Unspecified`].
    pub fn reason(&self) -> CrlReason {
        self.reason
    }

    /// An entry as webpki has it.
    pub(crate) fn from_webpki(entry: &BorrowedRevokedCert<'_>) -> Self {
        let reason = entry.reason_code.map(|reason| match reason {
            RevocationReason::Unspecified => CrlReason::Unspecified,
            RevocationReason::KeyCompromise => CrlReason::KeyCompromise,
            RevocationReason::CaCompromise => CrlReason::CaCompromise,
            RevocationReason::AffiliationChanged => CrlReason::AffiliationChanged,
            RevocationReason::Superseded => CrlReason::Superseded,
            RevocationReason::CessationOfOperation => CrlReason::CessationOfOperation,
            RevocationReason::CertificateHold => CrlReason::CertificateHold,
            RevocationReason::RemoveFromCrl => CrlReason::RemoveFromCRL,
            RevocationReason::PrivilegeWithdrawn => CrlReason::PrivilegeWithdrawn,
            RevocationReason::AaCompromise => CrlReason::AaCompromise,
        });
        Self {
            serial_number: entry.serial_number.to_vec(),
            date: entry.revocation_date,
            reason: reason.unwrap_or(CrlReason::Unspecified),
        }
    }

    fn read(entry: RevokedCert) -> der::Result<Self> {
        let extensions = entry.crl_entry_extensions.unwrap_or_default();
        Ok(Self {
            serial_number: entry.serial_number.as_bytes().to_vec(),
            date: unix_time(entry.revocation_date),
            reason: extension(&extensions)?.unwrap_or(CrlReason::Unspecified),
        })
    }
}

/// Why something is not a revocation list, or not one that can be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RevocationListError {
    /// The bytes are not the DER of a revocation list of version 2.
    #[error("the revocation list is not valid DER: {0}")]
    Der(#[from] der::Error),
    /// A value in the DER is not as its type asks.
    #[error("the revocation list {0}")]
    Syntax(#[from] SyntaxError),
    /// The signature algorithm inside of the signed part is not the one outside of it.
    #[error(
        "the signed part of the revocation list names signature algorithm {inner} and the \
         signature is of {outer}, or their parameters differ (RFC 5280 section 5.1.1.2); the list \
         was altered, or its issuer is faulty"
    )]
    AlgorithmsDiffer {
        /// The algorithm in the signed part.
        inner: ObjectIdentifier,
        /// The algorithm beside the signature.
        outer: ObjectIdentifier,
    },
    /// There are two extensions of a kind, so that it would depend on the reader which counts.
    #[error(
        "the revocation list has the extension {0} more than once (RFC 5280 section 4.2); have it \
         issued again"
    )]
    RepeatedExtension(ObjectIdentifier),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
}

const PEM_LABEL: &str = "X509 CRL";

/// The one extension of a kind, if it is there.
fn extension<'a, E>(extensions: &'a [Extension]) -> der::Result<Option<E>>
where
    E: Decode<'a, Error = der::Error> + AssociatedOid,
{
    let mut found = extensions.iter().filter(|e| e.extn_id == E::OID);
    let first = found.next();
    if found.next().is_some() {
        // As `x509-cert` has it for certificates.
        return Err(ErrorKind::Failed.into());
    }
    first
        .map(|extension| E::from_der(extension.extn_value.as_bytes()))
        .transpose()
}
