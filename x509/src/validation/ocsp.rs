//! Verifies one OCSP response: that it is about the certificate, of the time, and signed by the issuer or its delegate.
//! How several of them are weighed is in `revocation`.

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
/// delegate that the issuer certified. A [`ChainValidator`](crate::ChainValidator) does the same for all
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
    /// it. Of several answers that apply to the time, one that says that the certificate is revoked comes first.
    ///
    /// # Errors
    ///
    /// An [`OcspError`] that says why the response is unusable.
    pub fn verify<'r>(
        &self,
        response: &'r OcspResponse,
        certificate: &Certificate,
    ) -> Result<VerifiedAnswer<'r>, OcspError> {
        let answer = self.choose(response, certificate);
        self.verify_answer(response, answer.ok_or(OcspError::NotAbout)?, &mut 0)
    }

    /// The answer about a certificate that counts at the time, if there is one; else one that doesn't.
    pub(super) fn choose<'r>(
        &self,
        response: &'r OcspResponse,
        certificate: &Certificate,
    ) -> Option<&'r SingleResponse> {
        let answers = response.answers_for(certificate, self.issuer);
        let mut timely = answers.iter();
        let timely = timely.find(|answer| self.check_times(answer).is_ok());
        timely.or_else(|| answers.first()).copied()
    }

    /// Checks one answer of a response. If the response is unusable, adds how many signatures were
    /// found invalid.
    pub(super) fn verify_answer<'r>(
        &self,
        response: &'r OcspResponse,
        answer: &'r SingleResponse,
        invalid: &mut usize,
    ) -> Result<VerifiedAnswer<'r>, OcspError> {
        let is_revoked = matches!(answer.status(), CertStatus::Revoked { .. });
        if !(is_revoked && self.revokes_without_nonce) {
            self.check_nonce(response)?;
        }
        self.check_times(answer)?;
        // If the responder's clock is ahead, its certificate may be valid only by that clock.
        let time = self.time.max(answer.this_update());
        let delegate = self.check_responder(response, time, invalid)?;
        Ok(VerifiedAnswer { answer, delegate })
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

    /// The delegate that signed, or `None` for the issuer itself.
    fn check_responder<'r>(
        &self,
        response: &'r OcspResponse,
        time: UnixTime,
        invalid: &mut usize,
    ) -> Result<Option<&'r Certificate>, OcspError> {
        let id = response.responder();
        let mut refused = None;
        let mut in_vain = 0;
        if id.is(self.issuer) {
            match response.verify_signature(self.issuer, self.algorithms) {
                Ok(()) => return Ok(None),
                Err(error) => {
                    let error = OcspError::Signature(error);
                    in_vain += usize::from(error.is_forgery());
                    refused = Some(error);
                }
            }
        }
        let named = response.certificates().iter().filter(|one| id.is(one));
        for delegate in named.take(MAX_DELEGATES) {
            let result = self
                .check_delegate(delegate, time)
                .map_err(|error| OcspError::Delegate {
                    subject: delegate.describe_subject(),
                    error: error.into(),
                });
            let result = result.and_then(|()| {
                let result = response.verify_signature(delegate, self.algorithms);
                result.map_err(OcspError::Signature)
            });
            match result {
                Ok(()) => return Ok(Some(delegate)),
                Err(error) => {
                    in_vain += usize::from(error.is_forgery());
                    refused = refused.or(Some(error));
                }
            }
        }
        *invalid += in_vain;
        Err(refused.unwrap_or_else(|| OcspError::UnknownResponder(id.to_string())))
    }

    fn check_delegate(
        &self,
        delegate: &Certificate,
        time: UnixTime,
    ) -> Result<(), OcspDelegateError> {
        check_delegate(delegate, self.issuer)?;
        if let Some(oid) = unprocessed_critical_extension(delegate, &[ID_PKIX_OCSP_NOCHECK]) {
            return Err(OcspDelegateError::CriticalExtension(oid));
        }
        if !(delegate.not_before()..=delegate.not_after()).contains(&time) {
            return Err(OcspDelegateError::Validity);
        }
        Ok(delegate.verify_signature(self.issuer, self.algorithms)?)
    }
}

/// How many certificates with the responder's name or key are tried: whoever sent the response chose how
/// many there are.
const MAX_DELEGATES: usize = 4;

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
