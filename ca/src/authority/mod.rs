//! The CA: it issues what the policy permits, and hands out a certificate only after the ledger has recorded it.
//! Also the responder that answers OCSP requests in its place.

// This room uses policy, ledger and time.

mod adopted;
mod batch;
mod certified;
mod error;
mod once;
mod order;
mod prepared;
mod reason;
mod responder;
mod succession;

use core::ops::ControlFlow;
use core::time::Duration;
use core::{fmt, slice};

use pq_x509::certificate::{Certificate, Name, Validity};
use pq_x509::issuing::{Ca, CertificateBuilder, IssueError, Issuer, TbsCertificate};
use pq_x509::keys::{KeyError, Signer, SubjectKey};
use pq_x509::ocsp::{OcspResponder, OcspResponse};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};
use pq_x509::validation::Purpose;
use pq_x509::x509_cert::der::Encode;

pub(crate) use self::adopted::{NotAdopted, adopted, is_adopted};
pub use self::batch::Batch;
pub(crate) use self::certified::{CertifiedCas, DIGITS, common_name, numbered_stem};
pub use self::error::AuthorityError;
pub use self::once::Once;
pub use self::order::Order;
pub use self::prepared::Prepared;
pub use self::reason::{UnknownReason, reason_from_name, reason_names};
use self::responder::OfIssuer;
pub use self::responder::{Responder, ResponderError};
/// The name of a reason in RFC 5280 section 5.3.1, such as `keyCompromise`.
pub use pq_x509::revocation::reason_name;

use crate::ledger::{
    Condition, Entry, Filter, Issued, KeyHash, Ledger, LedgerError, NewEntry, PolicyId, RequestId,
    Revocation, Revoked, SerialNumber,
};
use crate::policy::{KeyAlgorithm, Policy, Profile, Wanted};
use crate::time::system_time;

/// A CA: a certificate with its key, a policy, and a ledger.
///
/// ```
/// use pq_ca::authority::{Authority, Order};
/// use pq_ca::ledger::{LocalLedger, SerialNumber};
/// use pq_ca::policy::Policy;
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use pq_x509::revocation::CrlReason;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key)?;
/// let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
/// let policy = Policy::parse(&policy, "policy.toml")?;
/// let ledger = LocalLedger::create(folder.path())?;
/// let ca = Authority::new("issuing", issuer, policy, ledger);
///
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let order = Order::for_key(&key)?.with(|wanted| wanted.dns_name("www.example.org"));
/// let certificate = ca.issue(&order, "alice", UnixTime::now())?;
///
/// let number = SerialNumber::of(&certificate)?;
/// ca.revoke(&number, CrlReason::Superseded, "bob", UnixTime::now())?;
/// let list = ca.revocation_list(UnixTime::now(), None)?;
/// assert!(list.entry_for(&certificate).is_some());
/// # Ok(())
/// # }
/// ```
pub struct Authority<S, L> {
    name: String,
    issuer: Issuer<S>,
    policy: Policy,
    ledger: L,
    /// The names of the CA's other keys whose certificates have the same issuer.
    of_same_name: Vec<String>,
    /// Whether it also certifies CAs again that it revoked or has on hold.
    despite_revocations: bool,
}

impl<S: Signer, L: Ledger> Authority<S, L> {
    /// A CA whose key has this name in the ledger, such as `issuing`. No other key that uses the
    /// ledger may have the same name.
    pub fn new(name: impl Into<String>, issuer: Issuer<S>, policy: Policy, ledger: L) -> Self {
        Self {
            name: name.into(),
            issuer,
            policy,
            ledger,
            of_same_name: Vec::new(),
            despite_revocations: false,
        }
    }

    /// The same CA, which has other keys under the same issuer name, with these names in the ledger. What is on a
    /// revocation list is known by the issuer's name (RFC 5280 section 5), so the lists of all of these keys have the
    /// revoked certificates of all of them, and share one sequence of numbers.
    #[must_use]
    pub fn beside(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.of_same_name = names.into_iter().collect();
        self
    }

    /// The same CA, which also certifies other CAs again whose certificates it revoked or has on hold.
    #[must_use]
    pub fn despite_revocations(mut self) -> Self {
        self.despite_revocations = true;
        self
    }

    /// The name of the key in the ledger.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The CA's certificate with its key.
    pub fn issuer(&self) -> &Issuer<S> {
        &self.issuer
    }

    /// The policy, which says what may be issued.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The ledger: what all keys that use it issued and revoked.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    /// Issues a certificate, after recording it in the ledger. `by` says who ordered it.
    ///
    /// # Errors
    ///
    /// [`AuthorityError::Forbidden`] if the policy forbids the certificate,
    /// [`LedgerError::KeyCompromised`] if a certificate for the same key was revoked because others may know the key,
    /// [`LedgerError::IssuerRevoked`] if the ledger has this CA's own certificate, and it is revoked or on hold,
    /// and other errors if it can't be made or recorded.
    pub fn issue(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError> {
        self.prepare(order, by, now)?.record()
    }

    /// Issues a certificate for a [request](Order::as_request) that has none yet, or returns the one that it has: of those
    /// who ask at once, or again after a crash, on whatever machine, all get the same one. What the order says counts
    /// only for the first, and whether its certificate was revoked since, only [`Ledger::entry`] says.
    ///
    /// ```
    /// use pq_ca::authority::{Authority, Once, Order};
    /// use pq_ca::ledger::{Evidence, LocalLedger, RequestId};
    /// # use pq_ca::policy::Policy;
    /// # use pq_x509::pki_types::UnixTime;
    /// # use pq_x509::issuing::{CertificateBuilder, Issuer};
    /// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// # let issuer = Issuer::self_signed(CertificateBuilder::ca("Example CA"), key)?;
    /// # let policy = Policy::default_text(&[".example.org".parse()?], &[], &[]);
    /// # let policy = Policy::parse(&policy, "policy.toml")?;
    /// # let ca = Authority::new("issuing", issuer, policy, LocalLedger::create(folder.path())?);
    /// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    /// let order = Order::for_key(&key)?
    ///     .with(|wanted| wanted.dns_name("www.example.org"))
    ///     .as_request(RequestId::from_bytes([7; 32]))
    ///     .on_evidence(Evidence::new("http-01 www.example.org from 192.0.2.7")?);
    /// let Once::Issued(first) = ca.issue_once(&order, "account 1", UnixTime::now())? else {
    ///     panic!("nobody asked before");
    /// };
    /// let again = ca.issue_once(&order, "account 1", UnixTime::now())?;
    /// assert!(matches!(&again, Once::Before(_)));
    /// assert_eq!(again.certificate().der(), first.der());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Self::issue). An order that is no request is issued each time.
    pub fn issue_once(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Once, AuthorityError> {
        let Some(request) = &order.request else {
            return self.issue(order, by, now).map(Once::Issued);
        };
        // Signing takes longer than asking.
        if let Some(certificate) = self.of_request(request)? {
            return Ok(Once::Before(certificate));
        }
        match self.issue(order, by, now) {
            Err(AuthorityError::Ledger(LedgerError::RequestTaken { number, .. })) => {
                let certificate = self.kept(&number)?;
                let certificate = certificate.ok_or(LedgerError::Unknown(number))?;
                Ok(Once::Before(certificate))
            }
            issued => issued.map(Once::Issued),
        }
    }

    /// The certificate that was issued for a request, by this key or another that uses the ledger, or `None` if none was.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    pub fn of_request(&self, request: &RequestId) -> Result<Option<Certificate>, AuthorityError> {
        match self.ledger.of_request(request)? {
            Some(entry) => self.kept(&entry.issued.serial_number),
            None => Ok(None),
        }
    }

    /// The certificate that the ledger has.
    fn kept(&self, number: &SerialNumber) -> Result<Option<Certificate>, AuthorityError> {
        let der = self.ledger.certificate(number)?;
        let certificate = der.map(|der| Certificate::from_der(&der)).transpose();
        Ok(certificate.map_err(IssueError::from)?)
    }

    /// Signs a certificate as [`issue`](Self::issue) does, and leaves recording it to [`Prepared::record`]: between the
    /// two, a program can do what must not be undone once the ledger may have the certificate.
    ///
    /// # Errors
    ///
    /// [`AuthorityError::Forbidden`] if the policy forbids the certificate, and other errors if it can't be made.
    pub fn prepare(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Prepared<'_, S, L>, AuthorityError> {
        Ok(self.prepared(self.make(order, by, now)?, Vec::new()))
    }

    fn prepared<'a>(
        &'a self,
        made: NewEntry<'static>,
        conditions: Vec<Condition<'a>>,
    ) -> Prepared<'a, S, L> {
        Prepared {
            authority: self,
            made,
            conditions,
        }
    }

    /// Begins a batch of certificates, which the ledger records at once. `by` says who ordered them.
    pub fn batch<'a>(&'a self, by: &'a str, now: UnixTime) -> Batch<'a, S, L> {
        Batch::new(self, by, now)
    }

    /// Renews a certificate that this CA issued, with this key or an earlier one: the new one has the same names, key and profile, and the
    /// policy's default validity. `key`, if given, replaces the old key. The old certificate stays valid. The certificate of
    /// an OCSP responder is renewed by the key that issued it alone, for which it answers.
    ///
    /// # Errors
    ///
    /// The errors of [`issue`](Self::issue), and others if the certificate was revoked, belongs to a CA, or was
    /// not issued by this CA.
    pub fn renew(
        &self,
        number: &SerialNumber,
        key: Option<&dyn SubjectKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError> {
        self.prepare_renewal(number, key, by, now)?.record()
    }

    /// Signs a certificate as [`renew`](Self::renew) does, and leaves recording it to [`Prepared::record`].
    ///
    /// # Errors
    ///
    /// Those of [`renew`](Self::renew), except of what only the ledger finds when it records it.
    pub fn prepare_renewal<'a>(
        &'a self,
        number: &'a SerialNumber,
        key: Option<&dyn SubjectKey>,
        by: &str,
        now: UnixTime,
    ) -> Result<Prepared<'a, S, L>, AuthorityError> {
        let entry = self.ledger.entry(number)?;
        // Another process may revoke it after this, so the ledger checks the same when it records the new one.
        let entry = entry.ok_or(LedgerError::Unknown(*number))?;
        self.check_own(&entry)?;
        let conditions = vec![Condition::NotRevoked(number)];
        for condition in &conditions {
            condition.check(
                |_| Ok(Some(entry.clone())),
                |key| self.ledger.compromised(key),
                || self.ledger.generations(),
                |filter| matching(&self.ledger, filter),
            )?;
        }
        let Ok(profile) = entry.issued.profile.parse::<Profile>() else {
            return Err(AuthorityError::OfACa(*number));
        };
        if profile == Profile::OcspResponder && entry.issued.issuer != self.name {
            // It answers for the key that certified it, and for no other (RFC 6960 section 4.2.2.2).
            return Err(AuthorityError::Ledger(LedgerError::AnotherIssuers {
                number: *number,
                issuer: entry.issued.issuer,
                asked: self.name.clone(),
            }));
        }
        let der = self.ledger.certificate(number)?;
        let der = der.ok_or(LedgerError::Unknown(*number))?;
        let old = Certificate::from_der(&der).map_err(IssueError::from)?;
        let old_key = public_key(&old)?;
        let subject = old.subject_to_write().map_err(IssueError::from)?;
        let order = Order::for_key(key.unwrap_or(&old_key))?
            .with(|wanted| same_names(wanted, &old, subject).profile(profile));
        Ok(self.prepared(self.make(&order, by, now)?, conditions))
    }

    /// Issues a certificate for another CA, as the root does for the issuing CA. The policy is only for end
    /// entities, so it is not checked. Pass the certificate to that CA's [`Issuer::new`].
    ///
    /// # Errors
    ///
    /// If the certificate can't be made or recorded.
    pub fn issue_ca(
        &self,
        builder: CertificateBuilder<Ca>,
        key: &dyn SubjectKey,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError> {
        let number = SerialNumber::random()?;
        let builder = builder.serial_number(number.as_bytes());
        let algorithm = KeyAlgorithm::of(key)?;
        let tbs = self.issuer.prepare(builder, key)?;
        let made = self.sign(tbs, key, algorithm, number, CA_PROFILE, by, now)?;
        self.prepared(made, Vec::new()).record()
    }

    /// Revokes a certificate that this CA issued, with this key or with another of its
    /// [generations](Ledger::generations). This is final unless the reason is a hold. `by` says who
    /// revokes it. If it was revoked before, the result says whether the new reason took the place of the old one,
    /// as a compromise of the key does. From then on, no certificate is issued for a compromised key. Other
    /// certificates for that key stay as they are: find them with [`Filter::keys`](crate::ledger::Filter::keys), and revoke
    /// them, too. Clients learn of it from the next [`revocation_list`](Self::revocation_list) and from OCSP
    /// [responses](Self::respond).
    ///
    /// # Errors
    ///
    /// If the ledger has no such certificate, if this CA did not issue it, or if the ledger can't be written.
    pub fn revoke(
        &self,
        number: &SerialNumber,
        reason: CrlReason,
        by: &str,
        at: UnixTime,
    ) -> Result<Revoked, AuthorityError> {
        let revocation = Revocation {
            at,
            reason,
            by: by.into(),
        };
        self.check_owns(number)?;
        let mut revoked = self
            .ledger
            .revoke_if(slice::from_ref(number), &revocation, &[])?;
        Ok(revoked.pop().ok_or(LedgerError::Unknown(*number))?)
    }

    /// Releases a certificate of this CA that is on hold.
    ///
    /// # Errors
    ///
    /// If the certificate is not on hold, if others may know its key, if this CA did not issue it, or if the ledger
    /// can't be written.
    pub fn reinstate(
        &self,
        number: &SerialNumber,
        by: &str,
        at: UnixTime,
    ) -> Result<Entry, AuthorityError> {
        self.check_owns(number)?;
        Ok(self.ledger.reinstate(number, at, by)?)
    }

    /// Makes the next list of the certificates that this CA revoked. It is valid from now on, by default for as long
    /// as the policy says. Before it takes the place of the last one, call [`check_list`](Self::check_list), and when
    /// it is where clients get it, say so with [`confirm_list`](Self::confirm_list).
    ///
    /// # Errors
    ///
    /// If the ledger can't be read or written, or the list can't be made. If signing it fails, its number is used up,
    /// and the next list has the next one.
    pub fn revocation_list(
        &self,
        now: UnixTime,
        validity: Option<Duration>,
    ) -> Result<CertificateRevocationList, AuthorityError> {
        self.numbered_revocation_list(None, now, validity)
    }

    /// The same with a number, which has to be above those of all lists before: for a ledger from an older backup,
    /// which lacks the numbers of lists that are in use.
    ///
    /// # Errors
    ///
    /// Those of [`revocation_list`](Self::revocation_list), and [`LedgerError::NotAboveLists`].
    pub fn numbered_revocation_list(
        &self,
        number: Option<u64>,
        now: UnixTime,
        validity: Option<Duration>,
    ) -> Result<CertificateRevocationList, AuthorityError> {
        let validity = validity.unwrap_or_else(|| self.policy.revocation_list_validity());
        let validity = Validity::starting(system_time(now), validity);
        let list_with = |number: u64| {
            CertificateRevocationListBuilder::new(&number.to_be_bytes()).validity(validity)
        };
        // Before a number is used up
        self.issuer.check_revocation_list(&list_with(1))?;
        let (number, revoked) = self.number_list(number, now)?;
        let mut list = list_with(number);
        for (number, at, reason) in revoked {
            list = list.revoke(number.as_bytes(), at, reason);
        }
        Ok(self.issuer.issue_revocation_list(list)?)
    }

    /// Checks that no later list of this CA was begun, as another process may have done while this one was signed.
    /// Call this just before a list of [`revocation_list`](Self::revocation_list) takes the place of the one that
    /// clients get.
    ///
    /// # Errors
    ///
    /// [`LedgerError::LaterList`], if there is one, and others if the ledger has no list of this number, or can't be
    /// read.
    pub fn check_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        Ok(self.ledger.check_list(&self.name, number_of(list))?)
    }

    /// Notes in the ledger that a list of [`revocation_list`](Self::revocation_list) was written where clients get it.
    /// Expired certificates stay on the lists until one that had them after their expiry was written: see
    /// [`Ledger::next_list`].
    ///
    /// # Errors
    ///
    /// [`LedgerError::LaterList`] if a later list was written before, whose place this one may have taken: make a list
    /// again then, and write that. Others if the ledger has no list of this number, or can't be written.
    pub fn confirm_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        let (number, at) = (number_of(list), list.this_update());
        Ok(self.ledger.confirm_list(&self.name, number, at)?)
    }

    /// Answers an OCSP request with the CA's own key. The request is DER from any sender.
    ///
    /// The response is valid from an hour before now, for clients whose clocks are slow, and by default for as
    /// long as the policy says, but no longer than this CA's own certificate. A [`Responder`] answers in place of the
    /// CA.
    ///
    /// Certificates that the ledger doesn't have, or that another issuer issued, are unknown. An expired
    /// certificate keeps its last status.
    ///
    /// # Errors
    ///
    /// If there is no answer: also if this CA's own certificate was revoked for a compromise or is not valid now, or
    /// the ledger finds that the clock jumped. Then respond with [`ResponderError::failure`].
    pub fn respond(
        &self,
        request: &[u8],
        now: UnixTime,
        validity: Option<Duration>,
    ) -> Result<OcspResponse, ResponderError> {
        let ledger = OfIssuer {
            name: &self.name,
            ledger: &self.ledger,
        };
        let validity = validity.unwrap_or_else(|| self.policy.ocsp_validity());
        ledger.respond(request, &OcspResponder::ca(&self.issuer), now, validity)
    }

    /// Whether a response of [`respond`](Self::respond) may be given again: it has not ended, and one that is made now would
    /// say the same of each certificate. This signs nothing.
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
        ledger.still_says(response, &OcspResponder::ca(&self.issuer), now)
    }

    /// Makes a certificate, without recording it or handing it out.
    fn make(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<NewEntry<'static>, AuthorityError> {
        let ca = self.issuer.certificate();
        let permitted = self.policy.check(&order.wanted, ca, now)?;
        let mut names = order.wanted.names.iter();
        let outside = names.find(|name| !ca.permits_name(name));
        if let Some(name) = outside {
            let name = name.to_string();
            return Err(AuthorityError::OutsideConstraints { name });
        }
        let profile = permitted.profile();
        let purposes = [
            (profile.is_for_servers(), Purpose::ServerAuth),
            (profile.is_for_clients(), Purpose::ClientAuth),
        ];
        if purposes
            .into_iter()
            .any(|(is_asked, purpose)| is_asked && !purpose.is_permitted_by(ca))
        {
            return Err(AuthorityError::OutsidePurposes {
                profile: profile.name(),
            });
        }
        let number = SerialNumber::random()?;
        let profile = profile.name();
        let builder = permitted.into_certificate();
        let builder = builder.serial_number(number.as_bytes());
        let algorithm = KeyAlgorithm::among(order.wanted.key);
        let tbs = self.issuer.prepare(builder, order.key)?;
        let mut made = self.sign(tbs, order.key, algorithm, number, profile, by, now)?;
        made.issued.request = order.request;
        made.issued.policy = Some(PolicyId {
            digest: self.policy.digest(),
            reader: READER.into(),
        });
        made.issued.evidence = order.evidence.clone();
        Ok(made)
    }

    fn sign(
        &self,
        tbs: TbsCertificate,
        key: &dyn SubjectKey,
        key_algorithm: Option<KeyAlgorithm>,
        serial_number: SerialNumber,
        profile: &str,
        by: &str,
        at: UnixTime,
    ) -> Result<NewEntry<'static>, AuthorityError> {
        let names = tbs.alternative_names();
        let issued = Issued {
            serial_number,
            issuer: self.name.clone(),
            subject: tbs.describe_subject(),
            names: names.iter().map(ToString::to_string).collect(),
            not_before: tbs.not_before(),
            not_after: tbs.not_after(),
            profile: profile.into(),
            key_algorithm: key_algorithm.map_or("unknown", KeyAlgorithm::name).into(),
            key: KeyHash::of(key)?,
            halves: KeyHash::halves_of(key)?,
            by: by.into(),
            at,
            request: None,
            policy: None,
            evidence: None,
        };
        Ok(NewEntry {
            issued,
            certificate: tbs.sign_to_der(self.issuer.signer())?,
        })
    }

    /// Records certificates, unless this CA's own certificate is revoked, or another key issues.
    fn record(
        &self,
        made: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), AuthorityError> {
        let issues = self.has_to_issue(made);
        let conditions: Vec<_> = conditions.iter().copied().chain(issues).collect();
        self.with_own(&conditions, |conditions| {
            self.ledger.record_if(made, conditions)
        })
    }

    /// That this CA's key issues, unless all are for those who answer for it: for them it certifies on (RFC 6960 section
    /// 4.2.2.2).
    fn has_to_issue(&self, made: &[NewEntry<'_>]) -> Option<Condition<'_>> {
        let responder = Profile::OcspResponder.name();
        let is_for_responders = made.iter().all(|one| one.issued.profile == responder);
        (!is_for_responders).then_some(Condition::Issues(&self.name))
    }

    /// Does something under these conditions and those about this CA itself.
    fn with_own<T>(
        &self,
        conditions: &[Condition<'_>],
        act: impl FnOnce(&[Condition<'_>]) -> Result<T, LedgerError>,
    ) -> Result<T, AuthorityError> {
        let own = self.issuer.certificate();
        let keys = keys_of(own).map_err(IssueError::SubjectKey)?;
        // If the ledger can't have such a number, another CA made the certificate.
        let number = SerialNumber::of(own).ok();
        let not_revoked = number.as_ref().map(Condition::IssuerNotRevoked);
        let conditions: Vec<_> = conditions
            .iter()
            .copied()
            .chain(not_revoked)
            .chain(keys.iter().map(Condition::IssuerKeyNotCompromised))
            .collect();
        Ok(act(&conditions)?)
    }
}

impl<S, L> fmt::Debug for Authority<S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What reads policies, with its version.
const READER: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

/// The profile of the certificates of the CA's own keys in the ledger. Policies have no profile of this name.
pub const CA_PROFILE: &str = "ca";
/// The profile of certificates of other CAs, whose keys are not this one's.
pub(crate) const SUBORDINATE_PROFILE: &str = "other-ca";

/// Adds the names of a certificate to what is wanted.
fn same_names(mut wanted: Wanted, certificate: &Certificate, subject: &Name) -> Wanted {
    for name in certificate.alternative_names() {
        wanted = wanted.alternative_name(name);
    }
    wanted.subject(subject.clone())
}

/// The number of a list, or 0, the number of none, if no ledger can have given it.
fn number_of(list: &CertificateRevocationList) -> u64 {
    let number = list.number().filter(|number| number.len() <= 8);
    let number = number.unwrap_or_default().iter();
    number.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// That nobody else may know the key of a CA, as far as its ledger knows.
fn check_key_of<E>(ca: &Certificate, ledger: &impl Ledger) -> Result<(), E>
where
    E: From<LedgerError> + From<IssueError>,
{
    for key in keys_of(ca).map_err(IssueError::SubjectKey)? {
        let condition = Condition::IssuerKeyNotCompromised(&key);
        condition.check(
            |number| ledger.entry(number),
            |key| ledger.compromised(key),
            || ledger.generations(),
            |filter| matching(ledger, filter),
        )?;
    }
    Ok(())
}

/// The numbers of all certificates that match a filter.
fn matching(ledger: &impl Ledger, filter: &Filter) -> Result<Vec<SerialNumber>, LedgerError> {
    let mut numbers = Vec::new();
    ledger.find(filter, &mut |entry| {
        numbers.push(entry.issued.serial_number);
        ControlFlow::Continue(())
    })?;
    Ok(numbers)
}

/// The digests of a certificate's key and of its halves.
fn keys_of(certificate: &Certificate) -> Result<Vec<KeyHash>, KeyError> {
    KeyHash::all_of(&public_key(certificate)?)
}

pub(crate) fn public_key(
    certificate: &Certificate,
) -> Result<SubjectPublicKeyInfoDer<'static>, KeyError> {
    let key = certificate
        .parsed()
        .tbs_certificate()
        .subject_public_key_info();
    Ok(key.to_der()?.into())
}
