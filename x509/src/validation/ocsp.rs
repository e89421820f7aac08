//! Verifies one OCSP response: that it is about the certificate, of the time, and signed by the issuer or its delegate.
//! How several of them are weighed is in `revocation`.

use core::cell::OnceCell;
use core::time::Duration;

use const_oid::db::rfc6960::ID_PKIX_OCSP_NOCHECK;
use pki_types::{SignatureVerificationAlgorithm, UnixTime};

use super::critical::unprocessed_critical_extension;
use super::error::OcspError;
use crate::certificate::{
    CertStatus, Certificate, OcspDelegateError, OcspNonce, OcspResponse, SingleResponse,
    check_delegate,
};

/// Checks OCSP responses of one issuer (RFC 6960 section 3.2).
///
/// A response must be about a certificate, apply to the time given, and be signed by the issuer or by a
/// delegate that the issuer certified. A [`ChainValidator`](crate::validation::ChainValidator) does the same for all
/// certificates of a path; use this type if you ask a responder yourself, with a nonce. It does not check
/// whether to trust the issuer.
///
/// A response may be dated up to five minutes ahead ([`CLOCK_TOLERANCE`](Self::CLOCK_TOLERANCE)): responders
/// sign when they are asked, and their clocks may be a little ahead. For nextUpdate there is no such tolerance.
///
/// A response without nextUpdate is accepted only if it has the requested nonce, because nobody could tell
/// how old it is. The key usage of a CA that answers itself is not checked, because in practice it is for
/// certificates and lists. A delegate's key usage, if there is one, must have digitalSignature or
/// nonRepudiation.
#[derive(Clone, Debug)]
pub struct OcspVerifier<'a> {
    issuer: &'a Certificate,
    time: UnixTime,
    algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    nonce: Option<&'a OcspNonce>,
    /// Whether an answer that says revoked needs no nonce.
    revokes_without_nonce: bool,
    takes_endless: bool,
}

impl<'a> OcspVerifier<'a> {
    /// How much later thisUpdate may be than the time validated for. OpenSSL's command `ocsp` allows the
    /// same.
    pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(5 * 60);

    /// Checks responses about this issuer's certificates at this time.
    pub fn new(issuer: &'a Certificate, time: UnixTime) -> Self {
        Self {
            issuer,
            time,
            algorithms: &[],
            nonce: None,
            revokes_without_nonce: false,
            takes_endless: false,
        }
    }

    /// Accepts signatures by these algorithms beside those of this crate.
    #[must_use]
    pub fn with_algorithms(
        mut self,
        algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    ) -> Self {
        self.algorithms = algorithms;
        self
    }

    /// Accepts only responses that were made for the request with this nonce.
    #[must_use]
    pub fn with_nonce(mut self, nonce: &'a OcspNonce) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// Accepts answers that say revoked without the nonce, too.
    pub(super) fn with_revocations_without_nonce(mut self) -> Self {
        self.revokes_without_nonce = true;
        self
    }

    /// Accepts responses without nextUpdate. Of these, only a revocation may be believed.
    pub(super) fn with_endless(mut self) -> Self {
        self.takes_endless = true;
        self
    }

    /// Returns what a response says about a certificate, even if it is revoked, or the responder doesn't know
    /// it. Of several answers that apply to the time, one that says that the certificate is revoked comes first, then
    /// one that says that it is unknown.
    ///
    /// # Errors
    ///
    /// An [`OcspError`] that says why the response is unusable.
    pub fn verify<'r>(
        &self,
        response: &'r OcspResponse,
        certificate: &Certificate,
    ) -> Result<VerifiedAnswer<'r>, OcspError> {
        let answers = response.answers_for(certificate, self.issuer);
        let timely = answers.iter().find(|answer| self.is_timely(answer));
        let answer = timely.or_else(|| answers.first());
        self.verify_answer(
            answer.ok_or(OcspError::NotAbout)?,
            &self.signers_of(response),
        )
    }

    /// Checks one answer of a response.
    pub(super) fn verify_answer<'r>(
        &self,
        answer: &'r SingleResponse,
        signers: &Signers<'_, 'r>,
    ) -> Result<VerifiedAnswer<'r>, OcspError> {
        let is_revoked = matches!(answer.status(), CertStatus::Revoked { .. });
        if !(is_revoked && self.revokes_without_nonce) {
            self.check_nonce(signers.response)?;
        }
        self.check_times(answer)?;
        // If the responder's clock is ahead, its certificate may be valid only by that clock.
        let delegate = signers.find(self.time.max(answer.this_update()))?;
        Ok(VerifiedAnswer { answer, delegate })
    }

    /// Whether an answer is of the time.
    pub(super) fn is_timely(&self, answer: &SingleResponse) -> bool {
        self.check_times(answer).is_ok()
    }

    fn check_nonce(&self, response: &OcspResponse) -> Result<(), OcspError> {
        match (self.nonce, response.nonce()) {
            (None, _) => Ok(()),
            (Some(_), None) => Err(OcspError::NonceMissing),
            (Some(expected), Some(nonce)) if expected == nonce => Ok(()),
            (Some(_), Some(_)) => Err(OcspError::NonceDiffers),
        }
    }

    fn check_times(&self, answer: &SingleResponse) -> Result<(), OcspError> {
        let time = self.time;
        let this_update = answer.this_update();
        let ahead = this_update.as_secs().saturating_sub(time.as_secs());
        if ahead > Self::CLOCK_TOLERANCE.as_secs() {
            return Err(OcspError::NotYetCurrent { this_update, time });
        }
        match answer.next_update() {
            Some(next_update) if time > next_update => Err(OcspError::Stale { next_update, time }),
            None if self.nonce.is_none() && !self.takes_endless => Err(OcspError::NoNextUpdate),
            _ => Ok(()),
        }
    }

    /// Those who may have signed a response.
    pub(super) fn signers_of<'v, 'r>(&'v self, response: &'r OcspResponse) -> Signers<'v, 'r> {
        let id = response.responder();
        let issuer = id.is(self.issuer).then(|| Signer::new(None, Ok(())));
        let named = response.certificates().iter().filter(|one| id.is(one));
        let delegates = named
            .take(MAX_DELEGATES)
            .map(|delegate| Signer::new(Some(delegate), self.check_delegate(delegate)));
        Signers {
            verifier: self,
            response,
            all: issuer.into_iter().chain(delegates).collect(),
        }
    }

    /// Checks a delegate's certificate but for its time and its signature.
    fn check_delegate(&self, delegate: &Certificate) -> Result<(), OcspDelegateError> {
        check_delegate(delegate, self.issuer)?;
        match unprocessed_critical_extension(delegate, &[ID_PKIX_OCSP_NOCHECK]) {
            Some(oid) => Err(OcspDelegateError::CriticalExtension(oid)),
            None => Ok(()),
        }
    }
}

/// How many certificates with the responder's name or key are tried: whoever sent the response chose how
/// many there are.
const MAX_DELEGATES: usize = 4;

/// Those who may have signed a response: the issuer if the response names it, and the delegates of that name or key.
/// A signature is verified when it is first asked for, and once, however many answers there are.
pub(super) struct Signers<'v, 'r> {
    verifier: &'v OcspVerifier<'v>,
    response: &'r OcspResponse,
    all: Vec<Signer<'r>>,
}

struct Signer<'r> {
    /// `None` for the issuer.
    delegate: Option<&'r Certificate>,
    /// Whether its certificate is a delegate's, at whatever time.
    may_answer: Result<(), OcspDelegateError>,
    /// Whether the issuer signed its certificate, and it the response.
    signatures: OnceCell<Result<(), OcspError>>,
}

impl<'r> Signer<'r> {
    fn new(delegate: Option<&'r Certificate>, may_answer: Result<(), OcspDelegateError>) -> Self {
        Self {
            delegate,
            may_answer,
            signatures: OnceCell::new(),
        }
    }
}

impl<'r> Signers<'_, 'r> {
    /// The delegate that signed and was one at this time, or `None` for the issuer itself.
    fn find(&self, time: UnixTime) -> Result<Option<&'r Certificate>, OcspError> {
        let mut refused = None;
        for signer in &self.all {
            match self.check(signer, time) {
                Ok(()) => return Ok(signer.delegate),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        let unknown = || OcspError::UnknownResponder(self.response.responder().to_string());
        Err(refused.unwrap_or_else(unknown))
    }

    fn check(&self, signer: &Signer<'_>, time: UnixTime) -> Result<(), OcspError> {
        if let Some(delegate) = signer.delegate {
            let is_valid = (delegate.not_before()..=delegate.not_after()).contains(&time);
            let checked = signer.may_answer.clone().and(match is_valid {
                true => Ok(()),
                false => Err(OcspDelegateError::Validity),
            });
            checked.map_err(|error| of_delegate(delegate, error))?;
        }
        let verify = || self.verify_signatures(signer);
        signer.signatures.get_or_init(verify).clone()
    }

    fn verify_signatures(&self, signer: &Signer<'_>) -> Result<(), OcspError> {
        let OcspVerifier {
            issuer, algorithms, ..
        } = self.verifier;
        if let Some(delegate) = signer.delegate {
            let verified = delegate.verify_signature(issuer, algorithms);
            verified.map_err(|error| of_delegate(delegate, error.into()))?;
        }
        let responder = signer.delegate.unwrap_or(issuer);
        let verified = self.response.verify_signature(responder, algorithms);
        verified.map_err(OcspError::Signature)
    }

    /// A signer whose signature nobody here can verify, and why: there is no algorithm for it.
    pub(super) fn unverified(&self) -> Option<(Option<&'r Certificate>, &OcspError)> {
        self.all.iter().find_map(|signer| {
            let error = signer.signatures.get()?.as_ref().err()?;
            (!error.is_forgery()).then_some((signer.delegate, error))
        })
    }

    /// How many signatures were found invalid so far, if none was found valid.
    pub(super) fn forgeries(&self) -> usize {
        let known = || self.all.iter().filter_map(|one| one.signatures.get());
        match known().any(Result::is_ok) {
            true => 0,
            false => known()
                .filter(|result| result.as_ref().is_err_and(OcspError::is_forgery))
                .count(),
        }
    }
}

fn of_delegate(delegate: &Certificate, error: OcspDelegateError) -> OcspError {
    OcspError::Delegate {
        subject: delegate.describe_subject(),
        error: error.into(),
    }
}

/// What an OCSP response says about a certificate, and who signed it.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedAnswer<'r> {
    answer: &'r SingleResponse,
    delegate: Option<&'r Certificate>,
}

impl<'r> VerifiedAnswer<'r> {
    /// The status of the certificate.
    pub fn status(&self) -> CertStatus {
        self.answer.status()
    }

    /// The whole answer.
    pub fn answer(&self) -> &'r SingleResponse {
        self.answer
    }

    /// The delegate that signed; `None` if it was the issuer itself.
    pub fn delegate(&self) -> Option<&'r Certificate> {
        self.delegate
    }

    /// The delegate, if its certificate has no id-pkix-ocsp-nocheck: the caller still has to find out
    /// whether the certificate was revoked.
    pub fn unchecked_delegate(&self) -> Option<&'r Certificate> {
        self.delegate
            .filter(|delegate| !delegate.has_ocsp_nocheck())
    }
}
