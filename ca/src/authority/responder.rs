//! OCSP responses (RFC 6960) from the ledger: by a responder with a key of its own, and the part that the CA shares
//! when it answers with its own key.

use core::time::Duration;
use std::time::SystemTime;

use pq_keys::encoding::rfc3339;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::IssueError;
use pq_x509::keys::Signer;
use pq_x509::ocsp::{
    CertStatus, OcspFailure, OcspRequest, OcspRequestError, OcspResponder, OcspResponse,
};
use pq_x509::pki_types::UnixTime;

use super::{check_key_of, keys_of};
use crate::ledger::{Ledger, LedgerError, SerialNumber};
use crate::time::system_time;

/// Answers OCSP requests in place of a CA.
///
/// It uses the CA's ledger, and a key that the CA certified for this purpose (RFC 6960 section 4.2.2.2). So
/// the CA's own key need not be on the machine that receives the requests. The CA itself answers with
/// [`Authority::respond`](crate::authority::Authority::respond).
///
/// ```
/// # use pq_ca::authority::{Authority, Order};
/// # use pq_ca::ledger::LocalLedger;
/// # use pq_ca::policy::Policy;
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::SignatureAlgorithm;
/// use pq_ca::authority::Responder;
/// use pq_ca::ledger::Ledger;
/// use pq_ca::policy::Profile;
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::keys::SigningKey;
/// use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder, OcspVerifier};
/// # use core::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa44);
/// # let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), new_key()?)?;
/// # let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
/// # let policy = policy.replace("\"server+client\"]", "\"ocsp-responder\"]");
/// # let policy = Policy::parse(&policy, "policy.toml")?;
/// # let ca = Authority::new("issuing", issuer, policy, LocalLedger::create(folder.path())?);
/// # let key = new_key()?;
/// # let order = Order::for_key(&key)?.with(|wanted| wanted.dns_name("www.example.org"));
/// # let certificate = ca.issue(&order, "alice", UnixTime::now())?;
/// # let ca_certificate = ca.issuer().certificate().clone();
/// # let key = new_key()?;
/// // policy.toml has to have this profile among usages.profiles.
/// let order = Order::for_key(&key)?
///     .with(|wanted| wanted.common_name("Example OCSP").profile(Profile::OcspResponder));
/// let delegate = ca.issue(&order, "alice", UnixTime::now())?;
///
/// let signer = OcspResponder::delegate(ca_certificate.clone(), delegate, key)?;
/// let day = Duration::from_secs(24 * 60 * 60);
/// let ledger = LocalLedger::open(folder.path())?;
/// let responder = Responder::new("issuing", signer, day, ledger);
/// # let request = OcspRequest::builder().certificate(&certificate, &ca_certificate).build()?;
/// # let request = request.der();
/// let body = match responder.respond(request, UnixTime::now()) {
///     Ok(response) => response.into_der(),
///     Err(error) => {
///         eprintln!("{error}");
///         error.failure().to_der().to_vec()
///     }
/// };
/// # let response = pq_x509::ocsp::OcspResponse::from_der(&body)?;
/// # let answer = OcspVerifier::new(&ca_certificate, UnixTime::now()).verify(&response, &certificate)?;
/// # assert_eq!(answer.status(), CertStatus::Good);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Responder<S, L> {
    name: String,
    signer: OcspResponder<S>,
    validity: Duration,
    ledger: L,
}

impl<S: Signer, L: Ledger> Responder<S, L> {
    /// A responder for the CA whose key has this name in the ledger, the name that
    /// [`Authority::new`](crate::authority::Authority::new) got. Its responses are valid for this long.
    pub fn new(
        name: impl Into<String>,
        signer: OcspResponder<S>,
        validity: Duration,
        ledger: L,
    ) -> Self {
        Self {
            name: name.into(),
            signer,
            validity,
            ledger,
        }
    }

    /// The same responder, with responses that are valid for this long.
    #[must_use]
    pub fn with_validity(self, validity: Duration) -> Self {
        Self { validity, ..self }
    }

    /// Answers a request, as [`Authority::respond`](crate::authority::Authority::respond) does. The response ends with the
    /// responder's certificate at the latest.
    ///
    /// # Errors
    ///
    /// If there is no answer: also if a certificate for the responder's key was revoked for a compromise. Then respond
    /// with [`ResponderError::failure`].
    pub fn respond(&self, request: &[u8], now: UnixTime) -> Result<OcspResponse, ResponderError> {
        let ledger = OfIssuer {
            name: &self.name,
            ledger: &self.ledger,
        };
        ledger.respond(request, &self.signer, now, self.validity)
    }

    /// Whether a response of [`respond`](Self::respond) may be given again, as
    /// [`Authority::still_says`](crate::authority::Authority::still_says) finds out.
    ///
    /// # Errors
    ///
    /// Those of [`respond`](Self::respond), for which nothing is to be given again.
    pub fn still_says(
        &self,
        response: &OcspResponse,
        now: UnixTime,
    ) -> Result<bool, ResponderError> {
        let ledger = OfIssuer {
            name: &self.name,
            ledger: &self.ledger,
        };
        ledger.still_says(response, &self.signer, now)
    }

    /// The certificate of the CA that it answers for.
    pub fn issuer(&self) -> &Certificate {
        self.signer.issuer()
    }

    /// The certificate of the key that signs.
    pub fn certificate(&self) -> &Certificate {
        self.signer.certificate()
    }
}

/// A ledger's view of one issuer's certificates.
pub(super) struct OfIssuer<'a, L> {
    /// The name of the issuer's key.
    pub(super) name: &'a str,
    pub(super) ledger: &'a L,
}

impl<L: Ledger> OfIssuer<'_, L> {
    pub(super) fn respond<S: Signer>(
        &self,
        request: &[u8],
        signer: &OcspResponder<S>,
        now: UnixTime,
        validity: Duration,
    ) -> Result<OcspResponse, ResponderError> {
        let request = OcspRequest::from_der(request)?;
        let certificates = request.certificates();
        if !certificates.iter().any(|one| one.is_by(signer.issuer())) {
            return Err(ResponderError::OfOthers);
        }
        self.check(signer, now)?;
        let last = system_time(signer.certificate().not_after());
        let now = system_time(now);
        let from = now.checked_sub(EARLIER).unwrap_or(SystemTime::UNIX_EPOCH);
        let end = now.checked_add(validity).map_or(last, |end| end.min(last));
        let validity = Validity::new(from, end);
        signer.respond(&request, now, validity, |number| self.status(number))
    }

    /// Whether a response says what one would say that is made now, and has not ended.
    pub(super) fn still_says<S: Signer>(
        &self,
        response: &OcspResponse,
        signer: &OcspResponder<S>,
        now: UnixTime,
    ) -> Result<bool, ResponderError> {
        self.check(signer, now)?;
        for answer in response.answers() {
            let certificate = answer.certificate();
            let status = match certificate.is_by(signer.issuer()) {
                true => self.status(certificate.serial_number())?,
                false => CertStatus::Unknown,
            };
            if status != answer.status() || answer.next_update().is_none_or(|next| next <= now) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// That whoever signs may answer now.
    fn check<S: Signer>(
        &self,
        signer: &OcspResponder<S>,
        now: UnixTime,
    ) -> Result<(), ResponderError> {
        // An answer of a key that others may know assures nobody, and one of a clock that jumped misleads for long.
        check_key_of::<ResponderError>(signer.issuer(), self.ledger)?;
        let own = signer.certificate();
        self.check_responder(own)?;
        self.ledger.check_time(now)?;
        if now < own.not_before() || own.not_after() < now {
            return Err(ResponderError::NotValid {
                subject: own.describe_subject(),
                not_before: own.not_before(),
                not_after: own.not_after(),
            });
        }
        Ok(())
    }

    /// The same of the key that signs, which may be a delegate's: clients are often told not to ask whether its
    /// certificate was revoked (RFC 6960 section 4.2.2.2.1).
    fn check_responder(&self, own: &Certificate) -> Result<(), ResponderError> {
        for key in keys_of(own).map_err(IssueError::SubjectKey)? {
            if let Some(number) = self.ledger.compromised(&key)? {
                return Err(ResponderError::KeyCompromised {
                    subject: own.describe_subject(),
                    number,
                });
            }
        }
        Ok(())
    }

    fn status(&self, number: &[u8]) -> Result<CertStatus, ResponderError> {
        // No certificate in a ledger can have this number.
        let Ok(number) = SerialNumber::from_integer(number) else {
            return Ok(CertStatus::Unknown);
        };
        let entry = self.ledger.entry(&number)?;
        let Some(entry) = entry.filter(|entry| entry.issued.issuer == self.name) else {
            return Ok(CertStatus::Unknown);
        };
        Ok(match entry.revocation() {
            None => CertStatus::Good,
            Some(revocation) => CertStatus::Revoked {
                date: revocation.at,
                reason: revocation.reason,
            },
        })
    }
}

/// Responses are valid from this much earlier, for clients whose clocks are slow.
const EARLIER: Duration = Duration::from_secs(60 * 60);

/// Why an OCSP request was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponderError {
    /// The request can't be read.
    #[error(transparent)]
    Request(#[from] OcspRequestError),
    /// The request asks only about certificates of other CAs.
    #[error(
        "the OCSP request asks about no certificate of this CA; ask the responder of the CA that issued the \
         certificates"
    )]
    OfOthers,
    /// The ledger can't be read, or says that nothing is to be answered: [`LedgerError::Clock`] and
    /// [`LedgerError::IssuerRevoked`].
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Others may know the key that is to answer, a responder's.
    #[error(
        "the certificate with serial number {number}, for the key of {subject} that is to answer, was revoked because \
         others may know the key; make a new key, and have a certificate for it issued"
    )]
    KeyCompromised {
        /// The subject of the certificate.
        subject: String,
        /// The serial number of the certificate that was revoked, which may be another one for the same key.
        number: SerialNumber,
    },
    /// The certificate of the key that answers, a responder's or the CA's, is not valid now, so nobody accepts what the
    /// key signs.
    #[error(
        "the certificate of {subject}, whose key is to answer, is valid from {} to {}; have a certificate issued that \
         is valid now, and check the clock",
        rfc3339(*.not_before),
        rfc3339(*.not_after)
    )]
    NotValid {
        /// The subject of the certificate.
        subject: String,
        /// From when it is valid.
        not_before: UnixTime,
        /// Until when it is valid.
        not_after: UnixTime,
    },
    /// The response can't be made.
    #[error(transparent)]
    Issue(#[from] IssueError),
}

impl ResponderError {
    /// The OCSP failure to respond with.
    pub fn failure(&self) -> OcspFailure {
        match self {
            Self::Request(_) => OcspFailure::MalformedRequest,
            // "Not capable of responding authoritatively" (RFC 6960 section 2.3)
            Self::OfOthers
            | Self::KeyCompromised { .. }
            | Self::Ledger(LedgerError::IssuerRevoked { .. }) => OcspFailure::Unauthorized,
            Self::Ledger(_) | Self::Issue(_) | Self::NotValid { .. } => OcspFailure::InternalError,
        }
    }
}
