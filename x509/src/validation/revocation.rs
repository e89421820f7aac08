use alloc::sync::Arc;
use core::cell::Cell;
use core::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use pki_types::{SignatureVerificationAlgorithm, UnixTime};
use x509_cert::name::Name;

use super::error::{OcspError, ValidationError};
use super::ocsp::OcspVerifier;
use crate::certificate::{
    CertStatus, Certificate, CertificateRevocationList, OcspDelegateError, OcspNonce, OcspResponse,
    RevokedCertificate, Role, Scope, SignatureError, key_usage, list_scope,
};
use crate::errors::describe;
use crate::keys::SubjectKey;

/// Revocation lists, and how a [`ChainValidator`](crate::ChainValidator) uses them together with OCSP
/// responses.
///
/// The status of every certificate on a path below the root must be known. It is known if a list covers the
/// certificate: the list must be by the CA that issued the certificate, be signed by that CA's key, and not
/// have reached its nextUpdate. It is also known if a usable OCSP response says that the certificate is good: see
/// [`ChainValidator::with_ocsp_responses`](crate::ChainValidator::with_ocsp_responses). The methods relax
/// this, one rule each.
///
/// If a list or a response says that a certificate is revoked, the certificate is refused. This holds even after the
/// nextUpdate, unless something newer that has not expired then says good: the certificate may have been
/// on hold, and nobody must get a revoked one accepted by keeping newer responses away. Otherwise one valid
/// list or response is enough, even if the other is missing or has expired. If neither is valid, the chain
/// is refused for what is wrong with one of them.
///
/// Lists are found by the name of their issuer. Of several lists of one issuer, the newest that covers the
/// certificate counts. A list that has URLs in its issuingDistributionPoint is only about certificates
/// with one of these URLs in their cRLDistributionPoints (RFC 5280 section 6.3.3): a CA that
/// has several such lists must put the URLs into its certificates. Lists may be of version 1 or 2.
/// They must be complete: delta lists, indirect lists, lists for some reasons only, lists without
/// nextUpdate, and lists of version 2 without extensions (RFC 5280 section 5 demands both) are
/// refused at once.
///
/// # Cost
///
/// The cost of a validation does not depend on the number of revoked certificates, nor on the number of
/// lists, of one CA or of many: a list is found by the hash of its issuer and of one of its URLs, and an
/// entry by binary search. Only the check of a list's signature takes longer for a longer list, because the
/// signature is over all of it. A validator verifies it when it first uses
/// the list, and keeps the result; threads that come to it at the same time each verify it. A peer
/// can't cause many verifications by sending CAs of one name with different keys: for each list a validator
/// keeps the results for four keys, always including the right one, and after four invalid signatures of
/// lists a validation verifies no further one and fails.
///
/// Responses are searched one by one. If a response is about a certificate of the path, its signature is
/// verified each time, and so is that of a delegate's certificate in it. Invalid signatures count among those
/// four.
///
/// In memory a list takes about 120 bytes for each certificate on it, including its DER: some 12 MB for
/// 100,000 certificates. Copies of a policy share the lists.
#[derive(Clone, Debug)]
pub struct RevocationPolicy {
    lists: Arc<Lists>,
    end_entity_only: bool,
    allow_unknown_status: bool,
    allow_expired_lists: bool,
}

impl RevocationPolicy {
    /// Checks certificates against these lists.
    ///
    /// # Errors
    ///
    /// [`ValidationError::NoRevocationLists`] if there are none,
    /// [`ValidationError::UnusableRevocationList`] if one is of an unsupported kind.
    pub fn new(
        lists: impl IntoIterator<Item = CertificateRevocationList>,
    ) -> Result<Self, ValidationError> {
        Ok(Self {
            lists: Arc::new(Lists::new(lists.into_iter().collect())?),
            ..Self::without_lists()
        })
    }

    /// Checks certificates by OCSP responses only.
    ///
    /// For CAs on the path there are often no responses: see
    /// [`end_entity_only`](Self::end_entity_only).
    pub fn without_lists() -> Self {
        Self {
            lists: Arc::default(),
            end_entity_only: false,
            allow_unknown_status: false,
            allow_expired_lists: false,
        }
    }

    /// Demands the status of the end entity's certificate only, not of the CAs above it: no
    /// list is used for these. A response about one of them still counts.
    #[must_use]
    pub fn end_entity_only(mut self) -> Self {
        self.end_entity_only = true;
        self
    }

    /// Accepts certificates that no list covers and no response is about, and certificates that the
    /// responder says it does not know.
    #[must_use]
    pub fn allow_unknown_status(mut self) -> Self {
        self.allow_unknown_status = true;
        self
    }

    /// Uses lists after their nextUpdate, too. Then whoever can keep newer lists away can hide
    /// revocations since.
    #[must_use]
    pub fn allow_expired_lists(mut self) -> Self {
        self.allow_expired_lists = true;
        self
    }
}

/// A policy in use by one validator, with the validator's OCSP responses.
#[derive(Clone, Debug)]
pub(crate) struct Revocation {
    policy: RevocationPolicy,
    responses: Arc<Vec<OcspResponse>>,
    /// The nonce of the request that the responses answer.
    nonce: Option<OcspNonce>,
    /// They belong to this validator, not to the policy: another validator may have other algorithms.
    signatures: Arc<Signatures>,
}

/// By default no status has to be known.
impl Default for Revocation {
    fn default() -> Self {
        Self {
            policy: RevocationPolicy::without_lists().allow_unknown_status(),
            responses: Arc::default(),
            nonce: None,
            signatures: Arc::default(),
        }
    }
}

impl Revocation {
    pub(crate) fn with_policy(self, policy: RevocationPolicy) -> Self {
        Self { policy, ..self }.afresh()
    }

    pub(crate) fn with_responses(
        mut self,
        responses: impl IntoIterator<Item = OcspResponse>,
    ) -> Self {
        Arc::make_mut(&mut self.responses).extend(responses);
        self
    }

    pub(crate) fn with_nonce(self, nonce: OcspNonce) -> Self {
        Self {
            nonce: Some(nonce),
            ..self
        }
    }

    /// The same policy with nothing known about signatures, because other algorithms are to verify
    /// them.
    pub(crate) fn afresh(self) -> Self {
        Self {
            signatures: Arc::default(),
            ..self
        }
    }

    /// Begins the checks of one validation.
    pub(crate) fn begin<'a>(
        &'a self,
        time: UnixTime,
        algorithms: &'a [&'static dyn SignatureVerificationAlgorithm],
    ) -> RevocationChecks<'a> {
        RevocationChecks {
            revocation: self,
            time,
            algorithms,
            failed: Cell::new(0),
        }
    }
}

/// The checks of one validation, which may look at many paths.
pub(crate) struct RevocationChecks<'a> {
    revocation: &'a Revocation,
    time: UnixTime,
    algorithms: &'a [&'static dyn SignatureVerificationAlgorithm],
    /// How many signatures of lists and responses were found invalid.
    failed: Cell<usize>,
}

/// The peer chose the chain. It may have many paths, each with another key that a list is verified
/// with.
const MAX_FAILED: usize = 4;

/// What is known about a certificate that is not known to be revoked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Known {
    /// It was not revoked, at the time of thisUpdate.
    Good(UnixTime),
    /// Nothing.
    Nothing,
}

impl Known {
    fn good_at(&self) -> Option<UnixTime> {
        match self {
            Self::Good(at) => Some(*at),
            Self::Nothing => None,
        }
    }
}

impl RevocationChecks<'_> {
    /// Checks a path with verified signatures, from the end entity to the root, by RFC 5280
    /// section 6.3 for complete lists by the certificates' own issuers, and by RFC 6960 section 3.2
    /// for responses.
    pub(crate) fn check(&self, path: &[Certificate]) -> Result<(), ValidationError> {
        let revocation = self.revocation;
        let knows_nothing = revocation.policy.lists.is_empty() && revocation.responses.is_empty();
        if knows_nothing && revocation.policy.allow_unknown_status {
            return Ok(());
        }
        // From the root down, because what an issuer says counts only if the issuer is not revoked.
        for (index, pair) in path.windows(2).enumerate().rev() {
            let [certificate, issuer] = pair else {
                continue;
            };
            let role = match index {
                0 => Role::EndEntity,
                _ if revocation.policy.end_entity_only => {
                    self.by_responses(certificate, issuer, None)?;
                    continue;
                }
                _ => Role::Ca,
            };
            self.check_certificate(certificate, role, issuer)?;
        }
        Ok(())
    }

    fn check_certificate(
        &self,
        certificate: &Certificate,
        role: Role,
        issuer: &Certificate,
    ) -> Result<(), ValidationError> {
        let by_list = self.by_list(certificate, role, issuer);
        // No response could change this.
        if by_list.as_ref().is_err_and(is_final) {
            return by_list.map(drop);
        }
        let good_list = by_list.as_ref().map_or(None, Known::good_at);
        let by_response = self.by_responses(certificate, issuer, good_list);
        match (by_list, by_response) {
            (_, Err(error)) if is_final(&error) => Err(error),
            (Ok(Known::Good(_)), _) => Ok(()),
            (Err(ValidationError::RevocationListExpired { .. }), Ok(Known::Good(at))) => {
                self.by_newer_list(certificate, role, at)
            }
            (_, Ok(Known::Good(_))) => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(error),
            (Ok(Known::Nothing), Ok(Known::Nothing)) => {
                match self.revocation.policy.allow_unknown_status {
                    true => Ok(()),
                    false => Err(ValidationError::UnknownRevocationStatus {
                        subject: Some(certificate.describe_subject()),
                    }),
                }
            }
        }
    }

    /// What the newest list that covers a certificate says about it.
    fn by_list(
        &self,
        certificate: &Certificate,
        role: Role,
        issuer: &Certificate,
    ) -> Result<Known, ValidationError> {
        let policy = &self.revocation.policy;
        let Some((index, list)) = policy.lists.covering(certificate, role) else {
            return Ok(Known::Nothing);
        };
        self.check_signature(index, &list.list, issuer)?;
        let is_current = self.time < list.next_update;
        if !(is_current || policy.allow_expired_lists) {
            return Err(ValidationError::RevocationListExpired {
                issuer: Some(describe(list.list.issuer())),
                next_update: list.next_update,
                time: self.time,
            });
        }
        if let Some(usages) = issuer.key_usage() {
            key_usage::check_list_issuer(usages).map_err(|error| ValidationError::KeyUsage {
                subject: issuer.describe_subject(),
                error,
            })?;
        }
        match list.list.entry_for(certificate) {
            None => Ok(Known::Good(list.list.this_update())),
            Some(entry) => Err(revoked(certificate, entry.clone())),
        }
    }

    /// Refuses a certificate if an expired list says that it was revoked, and the list is as new as the
    /// response that says good.
    fn by_newer_list(
        &self,
        certificate: &Certificate,
        role: Role,
        at: UnixTime,
    ) -> Result<(), ValidationError> {
        let covering = self.revocation.policy.lists.covering(certificate, role);
        let newer = covering.filter(|(_, list)| list.list.this_update() >= at);
        match newer.and_then(|(_, list)| list.list.entry_for(certificate)) {
            None => Ok(()),
            Some(entry) => Err(revoked(certificate, entry.clone())),
        }
    }

    /// What the responses about a certificate say. One valid response is enough, unless another
    /// says that the certificate was revoked. An expired response may say that, too, if no response or
    /// list that says good is newer.
    fn by_responses(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        good_list: Option<UnixTime>,
    ) -> Result<Known, ValidationError> {
        let mut outcome = Ok(Known::Nothing);
        let mut unusable = Vec::new();
        let verifier = self.ocsp_verifier(issuer, self.time);
        for response in self.revocation.responses.iter() {
            let said = self.by_response(response, certificate, issuer, &verifier);
            if said.is_err() {
                unusable.push(response);
            }
            match (said, &outcome) {
                (Err(error), _) if is_final(&error) => return Err(error),
                (Ok(Known::Good(at)), Ok(Known::Good(other))) => {
                    outcome = Ok(Known::Good(at.max(*other)));
                }
                (good @ Ok(Known::Good(_)), _) => outcome = good,
                (error @ Err(_), Ok(Known::Nothing)) => outcome = error,
                _ => {}
            }
        }
        let good_response = outcome.as_ref().map_or(None, Known::good_at);
        let good_at = good_list.max(good_response);
        self.by_expired_responses(&unusable, certificate, issuer, good_at)?;
        outcome
    }

    /// Refuses a certificate if one of these unusable responses has expired or has no nextUpdate, is as new as
    /// everything that says good, and says revoked. The response and its signer are checked at the time when
    /// the response was made.
    fn by_expired_responses(
        &self,
        unusable: &[&OcspResponse],
        certificate: &Certificate,
        issuer: &Certificate,
        good_at: Option<UnixTime>,
    ) -> Result<(), ValidationError> {
        for response in unusable {
            let Some(answer) = response.answer_for(certificate, issuer) else {
                continue;
            };
            let end = answer.next_update();
            // A response without nextUpdate may have expired as well.
            let has_expired = end.is_none_or(|end| self.time > end);
            let is_revoked = matches!(answer.status(), CertStatus::Revoked { .. });
            let at = answer.this_update();
            if !(has_expired && is_revoked && good_at.is_none_or(|good| good <= at)) {
                continue;
            }
            // thisUpdate may be earlier than the delegate's certificate.
            let made = response.produced_at().max(at);
            let made = end.map_or(made, |end| made.min(end));
            let verifier = self.ocsp_verifier(issuer, made).with_endless();
            match self.by_response(response, certificate, issuer, &verifier) {
                Err(error) if is_final(&error) => return Err(error),
                // Otherwise the response counts for nothing.
                _ => {}
            }
        }
        Ok(())
    }

    fn ocsp_verifier<'v>(&'v self, issuer: &'v Certificate, time: UnixTime) -> OcspVerifier<'v> {
        let verifier = OcspVerifier::new(issuer, time).with_algorithms(self.algorithms);
        match &self.revocation.nonce {
            Some(nonce) => verifier.with_nonce(nonce),
            None => verifier,
        }
    }

    fn by_response(
        &self,
        response: &OcspResponse,
        certificate: &Certificate,
        issuer: &Certificate,
        verifier: &OcspVerifier<'_>,
    ) -> Result<Known, ValidationError> {
        let unusable = |error| ValidationError::OcspResponse {
            subject: certificate.describe_subject(),
            error,
        };
        if response.answer_for(certificate, issuer).is_none() {
            return Ok(Known::Nothing);
        }
        if self.failed.get() >= MAX_FAILED {
            return Err(webpki::Error::MaximumSignatureChecksExceeded.into());
        }
        let mut failed = self.failed.get();
        let verified = verifier.verify_counting(response, certificate, &mut failed);
        self.failed.set(failed);
        let verified = verified.map_err(unusable)?;
        if let Some(delegate) = verified.unchecked_delegate() {
            self.check_delegate(delegate, issuer, unusable)?;
        }
        match verified.status() {
            CertStatus::Good => Ok(Known::Good(verified.answer().this_update())),
            CertStatus::Revoked { date, reason } => {
                let number = certificate.serial_number();
                let entry = RevokedCertificate::new(number, date, reason);
                Err(revoked(certificate, entry))
            }
            CertStatus::Unknown => match self.revocation.policy.allow_unknown_status {
                true => Ok(Known::Nothing),
                false => Err(unusable(OcspError::UnknownCertificate)),
            },
        }
    }

    /// Checks that a responder was not itself revoked. Only lists can say so.
    fn check_delegate(
        &self,
        delegate: &Certificate,
        issuer: &Certificate,
        unusable: impl Fn(OcspError) -> ValidationError,
    ) -> Result<(), ValidationError> {
        let error = match self.by_list(delegate, Role::EndEntity, issuer) {
            Ok(Known::Good(_)) => return Ok(()),
            Ok(Known::Nothing) if self.revocation.policy.allow_unknown_status => return Ok(()),
            Err(ValidationError::Revoked { .. }) => OcspDelegateError::Revoked,
            Err(error) if is_final(&error) => return Err(error),
            Ok(Known::Nothing) | Err(_) => OcspDelegateError::UnknownStatus,
        };
        Err(unusable(OcspError::Delegate {
            subject: delegate.describe_subject(),
            error: error.into(),
        }))
    }

    /// Verifies the signature of the list with this index, or takes the remembered result.
    fn check_signature(
        &self,
        index: usize,
        list: &CertificateRevocationList,
        issuer: &Certificate,
    ) -> Result<(), ValidationError> {
        let key = issuer.spki();
        let known = self.revocation.signatures.verdict(index, &key);
        let result = match known {
            Some(true) => Ok(()),
            Some(false) => Err(SignatureError::Invalid),
            None if self.failed.get() >= MAX_FAILED => {
                return Err(webpki::Error::MaximumSignatureChecksExceeded.into());
            }
            None => list.verify_signature(issuer, self.algorithms),
        };
        // Other errors take no time to find, so they are not remembered.
        if known.is_none() && matches!(result, Ok(()) | Err(SignatureError::Invalid)) {
            let is_valid = result.is_ok();
            self.failed.set(self.failed.get() + usize::from(!is_valid));
            self.revocation.signatures.remember(index, &key, is_valid);
        }
        result.map_err(ValidationError::RevocationListSignature)
    }
}

#[derive(Debug, Default)]
struct Lists {
    /// The newest first.
    lists: Vec<List>,
    by_issuer: HashMap<Name, OfIssuer>,
}

#[derive(Debug)]
struct List {
    list: CertificateRevocationList,
    next_update: UnixTime,
}

/// The indices of an issuer's lists.
#[derive(Debug, Default)]
struct OfIssuer {
    of_end_entities: Index,
    of_cas: Index,
}

impl OfIssuer {
    fn of(&self, role: Role) -> &Index {
        match role {
            Role::EndEntity => &self.of_end_entities,
            Role::Ca => &self.of_cas,
        }
    }
}

/// The indices of the lists about certificates in one role.
#[derive(Debug, Default)]
struct Index {
    /// The newest list without URLs.
    without_urls: Option<usize>,
    /// The newest list for each URL.
    by_url: HashMap<String, usize>,
}

impl Index {
    /// Adds a list that is older than those before it.
    fn add(&mut self, index: usize, urls: Option<&[String]>) {
        match urls {
            None => drop(self.without_urls.get_or_insert(index)),
            Some(urls) => {
                for url in urls {
                    self.by_url.entry(url.clone()).or_insert(index);
                }
            }
        }
    }

    /// The newest list about a certificate with these URLs. A certificate without URLs is on no list
    /// that has URLs (RFC 5280 section 6.3.3).
    fn find(&self, urls: Option<&[String]>) -> Option<usize> {
        let by_url = urls.unwrap_or_default().iter();
        let by_url = by_url.filter_map(|url| self.by_url.get(url));
        by_url.chain(&self.without_urls).min().copied()
    }
}

impl Lists {
    fn new(mut lists: Vec<CertificateRevocationList>) -> Result<Self, ValidationError> {
        if lists.is_empty() {
            return Err(ValidationError::NoRevocationLists);
        }
        lists.sort_by_key(|list| Reverse(list.this_update()));
        let mut by_issuer: HashMap<Name, OfIssuer> = HashMap::new();
        let mut usable = Vec::with_capacity(lists.len());
        for (index, list) in lists.into_iter().enumerate() {
            let (scope, next_update) = to_use(&list)?;
            // `entry` would need a clone of the name for each list.
            if !by_issuer.contains_key(list.issuer()) {
                by_issuer.insert(list.issuer().clone(), OfIssuer::default());
            }
            if let Some(of_issuer) = by_issuer.get_mut(list.issuer()) {
                let urls = scope.urls.as_deref();
                if !scope.only_cas {
                    of_issuer.of_end_entities.add(index, urls);
                }
                if !scope.only_end_entities {
                    of_issuer.of_cas.add(index, urls);
                }
            }
            usable.push(List { list, next_update });
        }
        Ok(Self {
            lists: usable,
            by_issuer,
        })
    }

    fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The newest list that says whether this certificate is revoked.
    fn covering(&self, certificate: &Certificate, role: Role) -> Option<(usize, &List)> {
        let of_issuer = self.by_issuer.get(certificate.issuer())?.of(role);
        let index = of_issuer.find(list_scope::urls_of(certificate).as_deref())?;
        Some((index, self.lists.get(index)?))
    }
}

/// Whether this outweighs everything good that is known about a certificate: it was revoked, or the
/// revocation may be among the signatures that are no longer verified.
fn is_final(error: &ValidationError) -> bool {
    matches!(
        error,
        ValidationError::Revoked { .. }
            | ValidationError::Other(webpki::Error::MaximumSignatureChecksExceeded)
    )
}

fn revoked(certificate: &Certificate, entry: RevokedCertificate) -> ValidationError {
    ValidationError::Revoked {
        subject: Some(certificate.describe_subject()),
        entry: Some(entry),
    }
}

fn to_use(list: &CertificateRevocationList) -> Result<(Scope, UnixTime), ValidationError> {
    list.to_use()
        .map_err(|error| ValidationError::UnusableRevocationList {
            issuer: describe(list.issuer()),
            error,
        })
}

/// Remembers which keys signed a list: for each list, by its index, a few keys with the
/// verdict. The verdicts are those of one set of algorithms.
#[derive(Debug, Default)]
struct Signatures(RwLock<HashMap<usize, Vec<Verdict>>>);

#[derive(Debug)]
struct Verdict {
    /// The SubjectPublicKeyInfo.
    key: Box<[u8]>,
    is_valid: bool,
}

/// There are few CAs of one name with different keys.
const KEYS_PER_LIST: usize = 4;

impl Signatures {
    fn verdict(&self, index: usize, key: &[u8]) -> Option<bool> {
        // The map is whole whenever the lock is free, also after a panic.
        let verdicts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut known = verdicts.get(&index)?.iter();
        let verdict = known.find(|verdict| *verdict.key == *key)?;
        Some(verdict.is_valid)
    }

    fn remember(&self, index: usize, key: &[u8], is_valid: bool) {
        let mut verdicts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let of_list = verdicts.entry(index).or_default();
        // Another thread may have come to the same verdict meanwhile.
        if of_list.iter().any(|verdict| *verdict.key == *key) {
            return;
        }
        let verdict = Verdict {
            key: key.into(),
            is_valid,
        };
        if of_list.len() < KEYS_PER_LIST {
            of_list.push(verdict);
        } else if is_valid && let Some(invalid) = of_list.iter_mut().find(|known| !known.is_valid) {
            // Whoever may issue CA certificates can give a CA the same name, and any keys.
            *invalid = verdict;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_signatures() {
        let signatures = Signatures::default();
        let len = || signatures.0.read().unwrap()[&7].len();
        for _ in 0..2 * KEYS_PER_LIST {
            signatures.remember(7, b"first", false);
        }
        assert_eq!(len(), 1);
        for number in 0..9 {
            signatures.remember(7, &[number], false);
        }
        assert_eq!(len(), KEYS_PER_LIST);
        // The right key replaces an invalid one,
        assert_eq!(signatures.verdict(7, b"key"), None);
        signatures.remember(7, b"key", true);
        assert_eq!(len(), KEYS_PER_LIST);
        // and stays.
        for number in 10..20 {
            signatures.remember(7, &[number], false);
        }
        assert_eq!(signatures.verdict(7, b"key"), Some(true));
        assert_eq!(signatures.verdict(7, &[0]), Some(false));
        assert_eq!(signatures.verdict(8, b"key"), None);
    }
}
