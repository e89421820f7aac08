//! Revocation lists: how to read them (`asn1`), why a certificate is on one (`reason`), and which certificates each is
//! about (`scope`).
//!
//! These files use the rest of the [parent module](super), and what that may use.

mod asn1;
mod reason;
pub(crate) mod scope;

use core::fmt;

use const_oid::db::rfc5280::ID_CE_ISSUING_DISTRIBUTION_POINT;
use const_oid::{AssociatedOid, ObjectIdentifier};
use der::{Decode, Encode, ErrorKind, Tag, Tagged};
use pki_types::{CertificateRevocationListDer, SignatureVerificationAlgorithm, UnixTime};
use pq_keys::encoding::pem::{self, PemError};
use pq_keys::encoding::syntax::{self, SyntaxError, whole_octets};
use pq_keys::errors::{describe, from_causes};
use spki::AlgorithmIdentifierOwned;
use x509_cert::certificate::Version;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, CrlReason};
use x509_cert::name::Name;

use self::asn1::{CertificateList, RevokedCert};
pub(crate) use self::reason::Reason;
pub use self::reason::reason_name;
use self::scope::{Scope, UnusableList};
use super::canonical_name::CanonicalName;
use super::certificate::Certificate;
use super::extensions::repeated;
use super::form;
use super::signed::{self, SignatureError};
use super::syntax::check_extensions;
use super::universal_string::name_from_der;
use super::validity::date;

/// A certificate revocation list (RFC 5280 section 5), of version 1 or 2 and any algorithm.
///
/// A value of this type is well-formed DER, which does not mean that anyone should believe
/// it. A [`RevocationPolicy`](crate::revocation::RevocationPolicy) makes a
/// [`ChainValidator`](crate::validation::ChainValidator) check chains against lists, and
/// [`verify_signature`](Self::verify_signature) checks one list's signature.
/// [`Issuer::issue_revocation_list`](crate::issuing::Issuer::issue_revocation_list) makes one.
#[derive(Clone)]
pub struct CertificateRevocationList {
    der: CertificateRevocationListDer<'static>,
    issuer: Name,
    this_update: UnixTime,
    next_update: Option<UnixTime>,
    number: Option<Vec<u8>>,
    authority_key_id: Option<Vec<u8>>,
    signature_algorithm: AlgorithmIdentifierOwned,
    entries: Vec<RevokedCertificate>,
    /// The places of the entries, in the order of their serial numbers.
    by_serial_number: Vec<u32>,
    /// What the list is about, if it can be used.
    scope: Result<Scope, UnusableList>,
}

impl CertificateRevocationList {
    /// Reads a list from DER. Nothing may follow it. It may have any number of entries, but at most 10,000 values in
    /// its issuer's name, in its extensions and in each entry.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Der`] or [`RevocationListError::Syntax`] if the list, or one of the
    /// extensions that this type gives access to, is malformed or has too many values; [`RevocationListError::Version`] or
    /// [`RevocationListError::ExtensionsInVersion1`] if the version does not exist, or does not
    /// allow the contents; [`RevocationListError::AlgorithmsDiffer`] if the two places that name
    /// the signature algorithm do not agree; [`RevocationListError::RepeatedExtension`] if the list
    /// has two extensions of a kind.
    pub fn from_der(der: &[u8]) -> Result<Self, RevocationListError> {
        check_numbers(der)?;
        let explain =
            |error| form::explain::<RevocationListError>(der, form::REVOCATION_LIST, error);
        let parsed = CertificateList::from_der(der).map_err(explain)?;
        whole_octets(parsed.signature)?;
        let tbs = parsed.body;
        let issuer = name_from_der(&tbs.issuer.to_der()?).map_err(explain)?;
        // RFC 5280 section 5.1.1.2. Only the inner one is signed.
        if tbs.signature != parsed.signature_algorithm {
            return Err(RevocationListError::AlgorithmsDiffer {
                inner: tbs.signature.oid,
                outer: parsed.signature_algorithm.oid,
            });
        }
        let is_version_1 = match tbs.version {
            None if tbs.extensions.is_some() => {
                return Err(RevocationListError::ExtensionsInVersion1);
            }
            None => true,
            Some(Version::V2) => false,
            Some(other) => return Err(RevocationListError::Version(other as u8 + 1)),
        };
        let extensions = tbs.extensions.unwrap_or_default().0;
        if let Some(oid) = repeated(&extensions) {
            return Err(RevocationListError::RepeatedExtension(oid));
        }
        syntax::check(der)?;
        check_extensions(&extensions)?;
        let of = |kind, error| form::of_extension(kind, contents_of(&extensions, kind), error);
        let number: Option<CrlNumber> =
            extension(&extensions).map_err(|error| of(CrlNumber::OID, error))?;
        let authority = AuthorityKeyIdentifier::OID;
        let authority_key_id = match extensions.iter().any(|one| one.extn_id == authority) {
            true => form::authority_key_id(contents_of(&extensions, authority))
                .map_err(|error| of(authority, error))?,
            false => None,
        };
        let revoked = tbs.revoked_certificates.unwrap_or_default();
        let mut scope = Scope::read(&extensions)
            .map_err(|error| of(ID_CE_ISSUING_DISTRIBUTION_POINT, error))?;
        for extensions in revoked.iter().filter_map(|entry| entry.extensions.as_ref()) {
            if is_version_1 && !extensions.is_empty {
                return Err(RevocationListError::ExtensionsInVersion1);
            }
            scope = scope.and_then(|scope| extensions.usable.map(|()| scope));
        }
        let entries: Vec<_> = revoked.into_iter().map(RevokedCertificate::read).collect();
        Ok(Self {
            der: CertificateRevocationListDer::from(der.to_vec()),
            issuer,
            this_update: tbs.this_update.0,
            next_update: tbs.next_update.map(|time| time.0),
            number: number.map(|number| number.0.as_bytes().to_vec()),
            authority_key_id: authority_key_id.map(<[u8]>::to_vec),
            signature_algorithm: parsed.signature_algorithm,
            by_serial_number: by_serial_number(&entries),
            entries,
            scope,
        })
    }

    /// Reads the first `X509 CRL` block of a PEM text.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Pem`] if there is none, and those of [`from_der`](Self::from_der).
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, RevocationListError> {
        Self::from_der(&pem::decode_first(text, PEM_LABEL)?)
    }

    /// Reads all `X509 CRL` blocks of a PEM text, in order. There is at least one. Other
    /// blocks are skipped.
    ///
    /// # Errors
    ///
    /// [`RevocationListError::Pem`] if there is none, and those of [`from_der`](Self::from_der).
    pub fn all_from_pem(
        text: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<Vec<Self>, RevocationListError> {
        pem::decode_all(text, PEM_LABEL)?
            .iter()
            .map(|der| Self::from_der(der))
            .collect()
    }

    /// Reads the lists of a file: those of a PEM text, as [`all_from_pem`](Self::all_from_pem) does, or one in DER.
    ///
    /// # Errors
    ///
    /// Those of [`all_from_pem`](Self::all_from_pem).
    pub fn all_in(file: &[u8]) -> Result<Vec<Self>, RevocationListError> {
        match pem::is_der(file) {
            true => Ok(vec![Self::from_der(file)?]),
            false => Self::all_from_pem(file),
        }
    }

    /// The list as PEM.
    pub fn to_pem(&self) -> String {
        pem::encode(PEM_LABEL, &self.der)
    }

    /// The list's DER.
    ///
    /// rustls's verifiers read it only if the list is of version 2 and has no date before 1970. A
    /// [`ChainValidator`](crate::validation::ChainValidator) reads other lists, too. For fields without an accessor,
    /// read the DER with [`x509_cert::crl::CertificateList`], which has the same limits as rustls.
    pub fn der(&self) -> &CertificateRevocationListDer<'static> {
        &self.der
    }

    /// Returns the list's DER, without copying it.
    pub fn into_der(self) -> CertificateRevocationListDer<'static> {
        self.der
    }

    /// The name of the CA that signed, and whose certificates are listed.
    pub fn issuer(&self) -> &Name {
        &self.issuer
    }

    /// The issuer's name in DER, with the list's own bytes: see [`Certificate::subject_der`].
    pub fn issuer_der(&self) -> &[u8] {
        signed::issuer_of_list(&self.der).unwrap_or_default()
    }

    /// When the list was issued. A time before 1970, which `UnixTime` cannot express, is given as 1970.
    pub fn this_update(&self) -> UnixTime {
        self.this_update
    }

    /// When the CA will have issued a newer list, if the list says so, as RFC 5280 demands.
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

    /// The algorithm of the signature, as the list names it.
    pub fn signature_algorithm(&self) -> &AlgorithmIdentifierOwned {
        &self.signature_algorithm
    }

    /// The revoked certificates, in the list's order.
    pub fn entries(&self) -> &[RevokedCertificate] {
        &self.entries
    }

    /// The entry for a certificate: the first with its serial number, if the list names the same
    /// issuer, in whatever encoding (RFC 5280 section 7.1). This is a binary search; it does not check who made the
    /// list, and when.
    pub fn entry_for(&self, certificate: &Certificate) -> Option<&RevokedCertificate> {
        let issuer = certificate.issuer();
        if self.issuer != *issuer && CanonicalName::of(&self.issuer) != CanonicalName::of(issuer) {
            return None;
        }
        let serial_number = certificate.serial_number();
        let entry = |place: u32| self.entries.get(place as usize);
        let is_before =
            |place: &u32| entry(*place).is_some_and(|e| e.serial_number() < serial_number);
        let first = self.by_serial_number.partition_point(is_before);
        entry(*self.by_serial_number.get(first)?).filter(|e| e.serial_number() == serial_number)
    }

    /// The certificates that the list is about and when it is to be replaced, if it can be used.
    pub(crate) fn to_use(&self) -> Result<(Scope, UnixTime), UnusableList> {
        let scope = self.scope.clone()?;
        let next_update = self.next_update.ok_or(UnusableList::NoNextUpdate)?;
        Ok((scope, next_update))
    }

    /// Checks only that the key of `issuer` made this list's signature. It does not check that this is
    /// the CA that the list names, that the CA may sign lists, or the time.
    ///
    /// The algorithms are those of this crate ([`verification::ALL`](crate::verification::ALL)),
    /// and those given, such as a classical provider's: `&[]` adds none.
    ///
    /// The algorithms of this crate cannot be left out. To accept fewer, first check
    /// [`signature_algorithm`](Self::signature_algorithm).
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

impl CertificateRevocationList {
    /// Whether it is about all certificates of its issuer, so that those which are not on it were not revoked when it was made.
    /// A list with a distribution point may be one of several.
    ///
    /// # Errors
    ///
    /// Why it can't be used at all.
    pub fn is_complete(&self) -> Result<bool, UnusableList> {
        Ok(self.scope.clone()? == Scope::default())
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
        let issuer = describe(&self.issuer);
        f.debug_struct("CertificateRevocationList")
            .field("issuer", &format_args!("{issuer}"))
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// A certificate that is not to be relied on: an entry of a [`CertificateRevocationList`], or the same
/// statement in an [`OcspResponse`](crate::ocsp::OcspResponse).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevokedCertificate {
    serial_number: Box<[u8]>,
    date: UnixTime,
    reason: CrlReason,
}

impl RevokedCertificate {
    /// The certificate's serial number, in the form of [`Certificate::serial_number`].
    pub fn serial_number(&self) -> &[u8] {
        &self.serial_number
    }

    /// When the certificate was revoked. A time before 1970 is given as 1970.
    pub fn date(&self) -> UnixTime {
        self.date
    }

    /// Why it was revoked. An entry without a reason, or with a code that RFC 5280 doesn't define, has
    /// [`CrlReason::Unspecified`].
    pub fn reason(&self) -> CrlReason {
        self.reason
    }

    pub(crate) fn new(serial_number: &[u8], date: UnixTime, reason: CrlReason) -> Self {
        Self {
            serial_number: serial_number.into(),
            date,
            reason,
        }
    }

    fn read(entry: RevokedCert) -> Self {
        let extensions = entry.extensions;
        Self {
            serial_number: entry.serial_number.as_bytes().into(),
            date: entry.date.0,
            reason: extensions.map_or(CrlReason::Unspecified, |extensions| extensions.reason),
        }
    }
}

/// What happened to the certificate, as the end of a sentence: "was revoked at 2023-11-14T22:13:20Z (keyCompromise)",
/// or "is on hold since 2023-11-14T22:13:20Z".
impl fmt::Display for RevokedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = date(&self.date);
        match self.reason {
            CrlReason::CertificateHold => write!(f, "is on hold since {date}"),
            reason => write!(f, "was revoked at {date} ({})", reason_name(reason)),
        }
    }
}

/// Why something is not a revocation list.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RevocationListError {
    /// The bytes are not the DER of a revocation list.
    #[error("the revocation list is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the revocation list {0}")]
    Syntax(SyntaxError),
    /// The list names a version that does not exist.
    #[error(
        "the revocation list names version {0}, but a list that names its version must name 2 (RFC 5280 \
         section 5.1.2.1); have it issued again"
    )]
    Version(u8),
    /// The list or an entry has extensions, but the list is of version 1, which has none.
    #[error(
        "the revocation list is of version 1 and has extensions, which only version 2 has (RFC 5280 \
         section 5.1.2.1); have it issued again"
    )]
    ExtensionsInVersion1,
    /// The signature algorithm in the signed part differs from the one beside the signature.
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
    /// There are two extensions of a kind, and readers could disagree on which one counts.
    #[error(
        "the revocation list has the extension {0} more than once (RFC 5280 section 4.2); have it \
         issued again"
    )]
    RepeatedExtension(ObjectIdentifier),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
}

from_causes!(RevocationListError: Der(der::Error), Syntax(SyntaxError));

const PEM_LABEL: &str = "X509 CRL";

/// Refuses a list before it is read, if its issuer's name, its extensions or an entry has more values than
/// [`syntax::MAX_VALUES`]. What isn't DER is for the reader to refuse.
fn check_numbers(der: &[u8]) -> Result<(), SyntaxError> {
    let parts = syntax::values(der).next();
    let body = parts.and_then(|list| syntax::values(list.value()).next());
    let mut is_after_issuer = false;
    for part in body.iter().flat_map(|body| syntax::values(body.value())) {
        match part.tag() {
            // The entries, of which there may be any number.
            Tag::Sequence if is_after_issuer => syntax::values(part.value())
                .try_for_each(|entry| syntax::check_number(entry.value()))?,
            _ => syntax::check_number(part.value())?,
        }
        is_after_issuer |= matches!(part.tag(), Tag::UtcTime | Tag::GeneralizedTime);
    }
    Ok(())
}

/// The positions of entries in the order of their serial numbers; equal numbers keep the list's order.
fn by_serial_number(entries: &[RevokedCertificate]) -> Vec<u32> {
    // A list has less than 2^32 bytes, which is the limit of DER's lengths here.
    let mut places: Vec<u32> = (0..).take(entries.len()).collect();
    places.sort_by_key(|place| entries[*place as usize].serial_number());
    places
}

/// The contents of the extension of a kind: none if it is not there.
fn contents_of(extensions: &[Extension], kind: ObjectIdentifier) -> &[u8] {
    let found = extensions
        .iter()
        .find(|extension| extension.extn_id == kind);
    found.map_or(&[], |extension| extension.extn_value.as_bytes())
}

/// The one extension of a kind, if it is there.
fn extension<'a, E>(extensions: &'a [Extension]) -> der::Result<Option<E>>
where
    E: Decode<'a, Error = der::Error> + AssociatedOid,
{
    let mut found = extensions.iter().filter(|e| e.extn_id == E::OID);
    let first = found.next();
    if found.next().is_some() {
        // `x509-cert` gives the same error for certificates.
        return Err(ErrorKind::Failed.into());
    }
    first
        .map(|extension| E::from_der(extension.extn_value.as_bytes()))
        .transpose()
}
