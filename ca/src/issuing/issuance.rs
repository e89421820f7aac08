//! One certificate.

use pq_x509::keys::{KeyError, Signer, SubjectKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::VerifiedRequest;

use super::companion::Companion;
use super::error::{IssuanceError, Unsettled};
use super::issued_certificate::IssuedCertificate;
use super::terms::Terms;
use crate::authority::{Authority, Order};
use crate::ledger::{Evidence, Ledger, RequestId, SerialNumber};

/// A certificate that is asked for: a new one, or one in place of another.
///
/// ```
/// use pq_ca::authority::Authority;
/// use pq_ca::issuing::{Issuance, IssuanceError, Terms};
/// use pq_ca::ledger::LocalLedger;
/// use pq_ca::policy::Policy;
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key)?;
/// # let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
/// # let policy = Policy::parse(&policy, "policy.toml")?;
/// # let ledger = LocalLedger::create(folder.path())?;
/// # let ca = Authority::new("issuing", issuer, policy, ledger);
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// let terms = Terms {
///     names: vec!["www.example.org".parse()?],
///     ..Terms::default()
/// };
/// let issuance = Issuance::for_key(&key, &terms)?;
/// match issuance.carry_out(&ca, "alice", UnixTime::now(), ()) {
///     Ok(issued) => println!("{}", issued.certificate.to_pem()),
///     Err(IssuanceError::NotIssued(cause)) => eprintln!("{cause}"),
///     Err(IssuanceError::Unsettled(unsettled)) => match unsettled.settle(ca.ledger())? {
///         Some(issued) => println!("{}", issued.certificate.to_pem()),
///         None => eprintln!("{unsettled}; it does not, so ask again"),
///     },
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "this only says what is asked for"]
pub struct Issuance<'a> {
    asked: Asked<'a>,
    request: Option<RequestId>,
    evidence: Option<Evidence>,
}

enum Asked<'a> {
    New(Order<'a>),
    Renewal {
        number: SerialNumber,
        key: Option<&'a dyn SubjectKey>,
    },
}

impl<'a> Issuance<'a> {
    /// A certificate for a key. That it is the asker's is the caller's word.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the key's SubjectPublicKeyInfo is malformed.
    pub fn for_key(key: &'a dyn SubjectKey, terms: &Terms) -> Result<Self, KeyError> {
        let order = Order::for_key(key)?;
        Ok(Self::of(Asked::New(
            order.with(|wanted| terms.apply(wanted)),
        )))
    }

    /// A certificate for the key and the names of a request.
    ///
    /// # Errors
    ///
    /// [`KeyError::Der`] if the request's key is malformed.
    pub fn for_request(request: &'a VerifiedRequest, terms: &Terms) -> Result<Self, KeyError> {
        let order = Order::for_request(request)?;
        Ok(Self::of(Asked::New(
            order.with(|wanted| terms.apply(wanted)),
        )))
    }

    /// A certificate with the names and the profile of one that the CA issued, for its key or another. The old one
    /// stays valid.
    pub fn renewal(number: SerialNumber, key: Option<&'a dyn SubjectKey>) -> Self {
        Self::of(Asked::Renewal { number, key })
    }

    fn of(asked: Asked<'a>) -> Self {
        Self {
            asked,
            request: None,
            evidence: None,
        }
    }

    /// The same, for a request that gets one certificate, however often and from how many machines it is asked. The
    /// ledger refuses a second one with [`LedgerError::RequestTaken`](crate::ledger::LedgerError::RequestTaken): hand out
    /// that of [`IssuedCertificate::of_request`] then. To ask for that first saves signing.
    pub fn as_request(self, request: RequestId) -> Self {
        Self {
            request: Some(request),
            ..self
        }
    }

    /// The same, on this evidence that whoever asks may have the names. The ledger keeps it.
    pub fn on_evidence(self, evidence: Evidence) -> Self {
        Self {
            evidence: Some(evidence),
            ..self
        }
    }

    /// Has the CA issue it. `by` says who asked for it. `companion` is what has to be there before, or `()`.
    ///
    /// # Errors
    ///
    /// Those of [`Authority::issue`] and [`Authority::renew`], as a [cause](IssuanceError::into_cause).
    pub fn carry_out<S: Signer, L: Ledger, C: Companion>(
        &self,
        authority: &Authority<S, L>,
        by: &str,
        now: UnixTime,
        companion: C,
    ) -> Result<IssuedCertificate, IssuanceError> {
        let prepared = match &self.asked {
            Asked::New(order) => authority.prepare(order, by, now),
            Asked::Renewal { number, key } => authority.prepare_renewal(number, *key, by, now),
        };
        let prepared = prepared.map_err(IssuanceError::NotIssued)?;
        let prepared = prepared.with_origin(self.request, self.evidence.clone());
        let issued = IssuedCertificate {
            entry: prepared.entry().issued.clone(),
            certificate: prepared.certificate().map_err(IssuanceError::NotIssued)?,
        };
        // From here on the ledger may have the certificate.
        let kept = companion.keep();
        match prepared.record() {
            Ok(_) => Ok(issued),
            Err(cause) if cause.changed_nothing() => {
                C::withdraw(kept);
                Err(IssuanceError::NotIssued(cause))
            }
            Err(cause) => Err(IssuanceError::Unsettled(Unsettled { cause, issued }.into())),
        }
    }
}
