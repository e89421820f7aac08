//! The checks of a path: what lists and responses say about each of its certificates, and what comes of it.

use alloc::sync::Arc;
use core::cell::Cell;

use pki_types::{SignatureVerificationAlgorithm, UnixTime};
use pq_keys::SubjectKey;
use pq_keys::errors::describe;

use super::evidence::{Outcome, Says, Standing, Statement, weigh};
use super::lists::List;
use super::policy::RevocationPolicy;
use super::verdicts::Verdicts;
use crate::certificate::{
    CertStatus, Certificate, OcspDelegateError, OcspNonce, OcspResponse, RevokedCertificate, Role,
    SignatureError, SingleResponse, key_usage,
};
use crate::validation::error::{OcspError, ValidationError};
use crate::validation::ocsp::{OcspVerifier, Signers};

/// A policy in use by one validator, with the validator's OCSP responses.
#[derive(Clone, Debug)]
pub(crate) struct Revocation {
    in_use: InUse,
    responses: Arc<Vec<OcspResponse>>,
    /// The nonce of the request that the responses answer.
    nonce: Option<OcspNonce>,
}

/// A policy with what is known about the signatures of its lists. They are made together, so that no verdict about a
/// list outlives the list.
#[derive(Clone, Debug)]
struct InUse {
    policy: RevocationPolicy,
    /// They belong to this validator, not to the policy: another validator may have other algorithms.
    verdicts: Arc<Verdicts>,
}

impl InUse {
    fn new(policy: RevocationPolicy) -> Self {
        Self {
            policy,
            verdicts: Arc::default(),
        }
    }
}

/// By default no status has to be known.
impl Default for Revocation {
    fn default() -> Self {
        Self {
            in_use: InUse::new(RevocationPolicy::without_lists().allow_unknown_status()),
            responses: Arc::default(),
            nonce: None,
        }
    }
}

impl Revocation {
    pub(crate) fn with_policy(self, policy: RevocationPolicy) -> Self {
        Self {
            in_use: InUse::new(policy),
            ..self
        }
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
            in_use: InUse::new(self.in_use.policy),
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
            policy: &self.in_use.policy,
            time,
            algorithms,
            failed: Cell::new(0),
        }
    }
}

/// The checks of one validation, which may look at many paths.
pub(crate) struct RevocationChecks<'a> {
    revocation: &'a Revocation,
    policy: &'a RevocationPolicy,
    time: UnixTime,
    algorithms: &'a [&'static dyn SignatureVerificationAlgorithm],
    /// How many signatures of responses were found invalid, and of lists for keys that have none.
    failed: Cell<usize>,
}

/// The peer chose the chain. It may have many paths, each with another key that a list is verified
/// with.
const MAX_FAILED: usize = 4;

/// What was found out about one certificate.
#[derive(Debug, Default)]
struct Heard<'a> {
    statements: Vec<Statement<'a>>,
    /// Why the first list or response that says nothing good doesn't.
    error: Option<ValidationError>,
}

impl Heard<'_> {
    fn refuse(&mut self, error: ValidationError) {
        self.error.get_or_insert(error);
    }
}

/// A response about a certificate by an issuer.
struct OneResponse<'r> {
    certificate: &'r Certificate,
    issuer: &'r Certificate,
    response: &'r OcspResponse,
    signers: Signers<'r, 'r>,
}

impl<'a> RevocationChecks<'a> {
    /// Checks a path with verified signatures, from the end entity to the root, by RFC 5280
    /// section 6.3 for complete lists by the certificates' own issuers, and by RFC 6960 section 3.2
    /// for responses.
    pub(crate) fn check(&self, path: &[Certificate]) -> Result<(), ValidationError> {
        let knows_nothing = self.policy.lists.is_empty() && self.revocation.responses.is_empty();
        if knows_nothing && self.policy.allow_unknown_status {
            return Ok(());
        }
        // From the root down, because what an issuer says counts only if the issuer is not revoked.
        for (index, pair) in path.windows(2).enumerate().rev() {
            let [certificate, issuer] = pair else {
                continue;
            };
            let heard = match index {
                0 => self.by_lists(certificate, Role::EndEntity, issuer)?,
                _ if self.policy.end_entity_only => {
                    let mut heard = Heard::default();
                    self.add_responses(&mut heard, certificate, issuer)?;
                    self.decide(heard, certificate, true)?;
                    continue;
                }
                _ => self.by_lists(certificate, Role::Ca, issuer)?,
            };
            self.check_certificate(heard, certificate, issuer)?;
        }
        Ok(())
    }

    fn check_certificate(
        &self,
        mut heard: Heard<'a>,
        certificate: &Certificate,
        issuer: &Certificate,
    ) -> Result<(), ValidationError> {
        match weigh(&heard.statements, self.time) {
            // No response can take this back.
            Outcome::Revoked(entry, standing) if *standing != Standing::Expired => {
                return Err(revoked(certificate, entry.clone()));
            }
            _ => {}
        }
        self.add_responses(&mut heard, certificate, issuer)?;
        self.decide(heard, certificate, self.policy.allow_unknown_status)
    }

    /// What comes of all that was found out about a certificate.
    fn decide(
        &self,
        heard: Heard<'_>,
        certificate: &Certificate,
        may_be_unknown: bool,
    ) -> Result<(), ValidationError> {
        match (weigh(&heard.statements, self.time), heard.error) {
            (Outcome::Revoked(entry, _), _) => Err(revoked(certificate, entry.clone())),
            (Outcome::Unverified(error), _) => Err(error.clone()),
            (Outcome::Unknown, _) => Err(unusable(certificate, OcspError::UnknownCertificate)),
            (Outcome::Good, _) => Ok(()),
            (Outcome::Nothing, Some(error)) => Err(error),
            (Outcome::Nothing, None) if may_be_unknown => Ok(()),
            (Outcome::Nothing, None) => Err(ValidationError::UnknownRevocationStatus {
                subject: Some(certificate.describe_subject()),
            }),
        }
    }

    /// What lists say about a certificate.
    ///
    /// # Errors
    ///
    /// If too many signatures are invalid.
    fn by_lists(
        &self,
        certificate: &Certificate,
        role: Role,
        issuer: &Certificate,
    ) -> Result<Heard<'a>, ValidationError> {
        let mut heard = Heard::default();
        let lists = self.policy.lists.named_by(certificate);
        if lists.is_empty() {
            return Ok(heard);
        }
        let (others, ours): (Vec<_>, Vec<_>) = lists
            .into_iter()
            .map(|(place, list)| (place, list, list.standing(role, self.time)))
            .filter(|(.., standing)| *standing != Standing::ForAnotherScope)
            .partition(|(_, list, _)| list.names_another_key(issuer));
        let is_by_others = ours.is_empty();
        let (revoking, rest): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|(_, list, _)| list.list.entry_for(certificate).is_some());
        let key = issuer.spki();
        let mut in_vain = 0;
        let mut refused = None;
        let mut unverified = Vec::new();
        // Which key a list names is a hint: a CA may have given its key two identifiers. So whatever names another key
        // and says revoked is verified, too, and the rest if without it the certificate isn't good.
        for (group, is_rest) in [(ours, false), (revoking, false), (rest, true)] {
            if is_rest
                && (matches!(weigh(&heard.statements, self.time), Outcome::Good)
                    || heard
                        .statements
                        .iter()
                        .any(Statement::is_revocation_of_its_key))
            {
                break;
            }
            for (place, list, standing) in group {
                let by_key =
                    self.by_key(place, list, standing.clone(), (issuer, &key), &mut in_vain)?;
                match by_key {
                    Standing::ForAnotherKey(error) => {
                        let doubt = Self::doubt(list, &error, (certificate, issuer));
                        let doubt = doubt.map(|says| self.of_list(list, standing, says, issuer));
                        unverified.extend(doubt);
                        refused.get_or_insert(error);
                    }
                    standing => self.add_list(&mut heard, list, standing, (certificate, issuer)),
                }
            }
        }
        match heard.statements.is_empty() {
            false => Self::check_list_issuer(&mut heard, issuer),
            true => {
                // Lists are here by our own choice, and only keys are the peer's: one that has a list costs nothing.
                self.failed.set(self.failed.get() + in_vain);
                // A list that says itself that it is by another key is no reason to refuse what may be unknown.
                if let Some(error) = refused
                    && !(is_by_others && self.policy.allow_unknown_status)
                {
                    heard.refuse(ValidationError::RevocationListSignature(error));
                }
            }
        }
        heard.statements.append(&mut unverified);
        Ok(heard)
    }

    /// What a list says that can't be verified with the issuer's key: nothing, if the signature is invalid or the list
    /// names another key. If there is no algorithm for the signature, nobody here knows that it is by another key.
    fn doubt(
        list: &List,
        error: &SignatureError,
        (certificate, issuer): (&Certificate, &Certificate),
    ) -> Option<Says> {
        if *error == SignatureError::Invalid || list.names_another_key(issuer) {
            return None;
        }
        let entry = list.list.entry_for(certificate)?.clone();
        let error = ValidationError::RevocationListSignature(error.clone());
        Some(Says::Unverified(entry, error.into()))
    }

    fn add_list(
        &self,
        heard: &mut Heard<'a>,
        list: &'a List,
        standing: Standing,
        (certificate, issuer): (&Certificate, &Certificate),
    ) {
        let entry = list.list.entry_for(certificate);
        let says = entry.cloned().map_or(Says::Good, Says::Revoked);
        let statement = self.of_list(list, standing, says, issuer);
        match &statement.standing {
            Standing::NotYetValid => heard.refuse(ValidationError::RevocationListNotYetValid {
                issuer: Some(describe(list.list.issuer())),
                this_update: list.list.this_update(),
                time: self.time,
            }),
            Standing::Expired => heard.refuse(ValidationError::RevocationListExpired {
                issuer: Some(describe(list.list.issuer())),
                next_update: list.next_update,
                time: self.time,
            }),
            _ => {}
        }
        heard.statements.push(statement);
    }

    fn of_list(
        &self,
        list: &'a List,
        standing: Standing,
        says: Says,
        issuer: &Certificate,
    ) -> Statement<'a> {
        Statement {
            says,
            standing: match standing {
                Standing::Expired if self.policy.allow_expired_lists => Standing::Current,
                standing => standing,
            },
            this_update: list.list.this_update(),
            series: Some(list.series(issuer)),
        }
    }

    /// Discards what is good by lists if their CA, which signed them, may not sign lists. What they revoke is revoked:
    /// the CA says so, and the peer may have chosen which of the CA's certificates is on the path.
    fn check_list_issuer(heard: &mut Heard<'_>, issuer: &Certificate) {
        let checked = issuer.key_usage().map(key_usage::check_list_issuer);
        if let Some(Err(error)) = checked {
            (heard.statements).retain(|statement| matches!(statement.says, Says::Revoked(_)));
            heard.error = Some(ValidationError::KeyUsage {
                subject: issuer.describe_subject(),
                error,
            });
        }
    }

    /// Adds what the responses about a certificate say.
    ///
    /// # Errors
    ///
    /// If too many signatures are invalid.
    fn add_responses(
        &self,
        heard: &mut Heard<'a>,
        certificate: &Certificate,
        issuer: &Certificate,
    ) -> Result<(), ValidationError> {
        let verifier = self.ocsp_verifier(issuer, self.time);
        for response in self.revocation.responses.iter() {
            let answers = response.answers_for(certificate, issuer);
            if answers.is_empty() {
                continue;
            }
            self.check_budget()?;
            let one = OneResponse {
                certificate,
                issuer,
                response,
                signers: verifier.signers_of(response),
            };
            self.add_answers(heard, &answers, &one, &verifier)?;
            (self.failed).set(self.failed.get() + one.signers.forgeries());
        }
        Ok(())
    }

    /// Adds what the answers of one response say. Those of one kind that are alike in time come to what the latest of
    /// them says, so that one of each is enough: whoever sent the response chose how many there are.
    fn add_answers(
        &self,
        heard: &mut Heard<'a>,
        answers: &[&SingleResponse],
        response: &OneResponse<'_>,
        verifier: &OcspVerifier<'_>,
    ) -> Result<(), ValidationError> {
        let standing = |answer: &SingleResponse| match verifier.is_timely(answer) {
            true => Standing::Current,
            false if self.time < answer.this_update() => Standing::NotYetValid,
            // A response without nextUpdate may have expired as well.
            false => Standing::Expired,
        };
        let latest = |kind: fn(&CertStatus) -> bool, stands: &Standing| {
            let alike = (answers.iter().copied())
                .filter(|answer| kind(&answer.status()) && standing(answer) == *stands);
            alike.max_by_key(|answer| (self.has_come(answer), answer.this_update()))
        };
        let is_revoked: fn(&CertStatus) -> bool = |it| matches!(it, CertStatus::Revoked { .. });
        let timely: Vec<_> = [
            is_revoked,
            |it| *it == CertStatus::Unknown,
            |it| *it == CertStatus::Good,
        ]
        .into_iter()
        .filter_map(|kind| latest(kind, &Standing::Current))
        .collect();
        // If there is none, the error says why.
        let now = match timely.is_empty() {
            true => &answers[..answers.len().min(1)],
            false => &timely,
        };
        for answer in now {
            match self.by_answer(answer, response, verifier) {
                Ok(says) => heard.statements.extend(says),
                Err(error) if is_fatal(&error) => return Err(error),
                Err(error) => heard.refuse(error),
            }
        }
        for stands in [Standing::Current, Standing::NotYetValid, Standing::Expired] {
            if let Some(answer) = latest(is_revoked, &stands) {
                let says = self.by_answer_when_made(answer, response, stands)?;
                heard.statements.extend(says);
            }
        }
        Ok(())
    }

    /// Whether an answer says that the certificate was revoked at a time that has come.
    fn has_come(&self, answer: &SingleResponse) -> bool {
        matches!(answer.status(), CertStatus::Revoked { date, .. } if date <= self.time)
    }

    /// What an answer says that may be unusable now, if it says revoked. The response and its signer are checked at the
    /// time when the response was made: the signer's certificate may have expired since. If it is unusable
    /// then, too, it counts for nothing, unless there is no algorithm for its signature.
    fn by_answer_when_made(
        &self,
        answer: &SingleResponse,
        response: &OneResponse<'_>,
        standing: Standing,
    ) -> Result<Option<Statement<'a>>, ValidationError> {
        // thisUpdate may be earlier than the delegate's certificate.
        let made = response.response.produced_at().max(answer.this_update());
        let made = answer.next_update().map_or(made, |end| made.min(end));
        let verifier = self.ocsp_verifier(response.issuer, made).with_endless();
        let statement = match self.by_answer(answer, response, &verifier) {
            Ok(statement) => statement,
            Err(error) if is_fatal(&error) => return Err(error),
            Err(_) => self.doubt_of_answer(answer, response)?,
        };
        Ok(statement.map(|statement| Statement {
            standing,
            ..statement
        }))
    }

    /// What an answer says that nobody here can verify.
    fn doubt_of_answer(
        &self,
        answer: &SingleResponse,
        response: &OneResponse<'_>,
    ) -> Result<Option<Statement<'a>>, ValidationError> {
        let Some((delegate, error)) = response.signers.unverified() else {
            return Ok(None);
        };
        let OneResponse {
            certificate,
            issuer,
            ..
        } = response;
        if let Some(delegate) = delegate
            && let Err(error) = self.check_delegate(delegate, true, (certificate, issuer))
        {
            return match is_fatal(&error) {
                true => Err(error),
                false => Ok(None),
            };
        }
        let says = match says(answer, certificate) {
            Says::Revoked(entry) => {
                let error = unusable(certificate, error.clone());
                Says::Unverified(entry, error.into())
            }
            _ => return Ok(None),
        };
        Ok(Some(of_answer(answer, says)))
    }

    /// Checks responses. A nonce keeps anybody from sending again that a certificate was good once. So an answer
    /// that says revoked needs none.
    fn ocsp_verifier<'v>(&'v self, issuer: &'v Certificate, time: UnixTime) -> OcspVerifier<'v> {
        let verifier = OcspVerifier::new(issuer, time).with_algorithms(self.algorithms);
        match &self.revocation.nonce {
            Some(nonce) => verifier.with_nonce(nonce).with_revocations_without_nonce(),
            None => verifier,
        }
    }

    /// What an answer of a response says about a certificate.
    fn by_answer(
        &self,
        answer: &SingleResponse,
        response: &OneResponse<'_>,
        verifier: &OcspVerifier<'_>,
    ) -> Result<Option<Statement<'a>>, ValidationError> {
        let OneResponse {
            certificate,
            issuer,
            ..
        } = response;
        let verified = verifier.verify_answer(answer, &response.signers);
        let verified = verified.map_err(|error| unusable(certificate, error))?;
        let says = says(answer, certificate);
        if let Some(delegate) = verified.delegate() {
            let is_revocation = matches!(says, Says::Revoked(_));
            self.check_delegate(delegate, is_revocation, (certificate, issuer))?;
        }
        Ok(match says {
            Says::Unknown if self.policy.allow_unknown_status => None,
            says => Some(of_answer(answer, says)),
        })
    }

    /// Checks that a responder was not itself revoked. Only lists can say so. With id-pkix-ocsp-nocheck, nothing has to
    /// say that it was not (RFC 6960 section 4.2.2.2.1), and a list that is at hand still counts. Nor has anything for
    /// a revocation: of that, only a responder that was itself revoked is not believed.
    fn check_delegate(
        &self,
        delegate: &Certificate,
        is_revocation: bool,
        (certificate, issuer): (&Certificate, &Certificate),
    ) -> Result<(), ValidationError> {
        let heard = self.by_lists(delegate, Role::EndEntity, issuer)?;
        let error = match (weigh(&heard.statements, self.time), heard.error) {
            (Outcome::Revoked(..), _) => OcspDelegateError::Revoked,
            (Outcome::Good, _) => return Ok(()),
            _ if is_revocation => return Ok(()),
            (Outcome::Unverified(_), _) => OcspDelegateError::UnknownStatus,
            (Outcome::Nothing, None) if self.policy.allow_unknown_status => return Ok(()),
            _ if delegate.has_ocsp_nocheck() => return Ok(()),
            (Outcome::Nothing | Outcome::Unknown, _) => OcspDelegateError::UnknownStatus,
        };
        let error = OcspError::Delegate {
            subject: delegate.describe_subject(),
            error: error.into(),
        };
        Err(unusable(certificate, error))
    }

    /// How a list stands once its signature was verified, or the remembered result was taken. Adds to `in_vain` if it
    /// was verified, and is by another key.
    fn by_key(
        &self,
        place: usize,
        list: &List,
        standing: Standing,
        (issuer, key): (&Certificate, &[u8]),
        in_vain: &mut usize,
    ) -> Result<Standing, ValidationError> {
        let verdicts = &self.revocation.in_use.verdicts;
        let result = match verdicts.verdict(place, key) {
            Some(true) => Ok(()),
            Some(false) => Err(SignatureError::Invalid),
            None => {
                self.check_budget()?;
                let result = list.list.verify_signature(issuer, self.algorithms);
                // Other errors take no time to find, so they are not remembered.
                if matches!(result, Ok(()) | Err(SignatureError::Invalid)) {
                    verdicts.remember(place, key, result.is_ok());
                    *in_vain += usize::from(result.is_err());
                }
                result
            }
        };
        Ok(match result {
            Ok(()) => standing,
            Err(error) => Standing::ForAnotherKey(error),
        })
    }

    fn check_budget(&self) -> Result<(), ValidationError> {
        match self.failed.get() < MAX_FAILED {
            true => Ok(()),
            false => Err(webpki::Error::MaximumSignatureChecksExceeded.into()),
        }
    }
}

/// Whether this ends a validation: a revocation may be among the signatures that are no longer verified.
fn is_fatal(error: &ValidationError) -> bool {
    let too_many = webpki::Error::MaximumSignatureChecksExceeded;
    *error == ValidationError::Other(too_many)
}

/// What an answer says about the certificate.
fn says(answer: &SingleResponse, certificate: &Certificate) -> Says {
    match answer.status() {
        CertStatus::Good => Says::Good,
        CertStatus::Revoked { date, reason } => {
            let number = certificate.serial_number();
            Says::Revoked(RevokedCertificate::new(number, date, reason))
        }
        CertStatus::Unknown => Says::Unknown,
    }
}

/// The statement of an answer that is current.
fn of_answer(answer: &SingleResponse, says: Says) -> Statement<'static> {
    Statement {
        says,
        standing: Standing::Current,
        this_update: answer.this_update(),
        series: None,
    }
}

fn unusable(certificate: &Certificate, error: OcspError) -> ValidationError {
    ValidationError::OcspResponse {
        subject: certificate.describe_subject(),
        error,
    }
}

fn revoked(certificate: &Certificate, entry: RevokedCertificate) -> ValidationError {
    ValidationError::Revoked {
        subject: Some(certificate.describe_subject()),
        entry: Some(entry),
    }
}
