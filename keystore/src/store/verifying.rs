//! Signatures are verified: one by one, or many in lanes.

use alloc::sync::Arc;

use pq_keys::PublicKey;
use pq_keys::any::AnyPublicKey;
use pq_keys::signing::{Unverified, verify_batch};

use super::Store;
use super::batch::VerifyRequest;
use super::cache::CachedKey;
use super::error::StoreError;
use super::inner::Inner;
use super::measuring::code;
use super::signatures::{verdict, verify_by};
use super::using::{check_input, check_minimum, no_version};
use crate::audit::Event;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Input, Principal, Verb};

/// How many versions are tried if a signature names none.
const TRIED: usize = 16;

/// Under which version a signature is valid, or why it isn't; and what is to be written to the log before anybody is told.
pub(super) type Verified = Result<(Result<KeyId, StoreError>, Option<Event>), StoreError>;

/// A version that may verify what a request asks.
struct Verifier {
    key: Arc<CachedKey>,
    version: Version,
    public: Arc<AnyPublicKey>,
}

impl Store {
    /// Verifies a signature by the version that it names, or by the newest 16 of those that are permitted. Returns the
    /// version under which it is valid.
    ///
    /// Versions verify from the policy's minimum on, unless they are disabled; also those whose private key was destroyed.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidSignature`]; [`StoreError::VersionNeeded`] if there are more versions to try;
    /// [`StoreError::BelowMinimum`] and [`StoreError::State`] if the version may not verify; and those of
    /// [`sign`](Self::sign).
    pub fn verify(
        &self,
        principal: &Principal,
        name: &KeyName,
        version: Option<Version>,
        input: Input<'_>,
        signature: &[u8],
    ) -> Result<KeyId, StoreError> {
        let inner = self.inner();
        let request = VerifyRequest {
            key: name,
            version,
            input,
            signature,
        };
        let (verified, event) = inner.verify(principal, &request)?;
        inner.log_use(event)?;
        verified
    }
}

fn verified_code(verified: &Verified) -> Option<&'static str> {
    match verified {
        Ok((verified, _)) => code(verified),
        Err(error) => Some(error.code()),
    }
}

impl Verifier {
    /// The request as lanes take it, if they take this.
    fn unverified<'a>(&'a self, request: &VerifyRequest<'a>) -> Option<Unverified<'a>> {
        match (&*self.public, request.input) {
            (
                AnyPublicKey::PostQuantum(PublicKey::Verifying(key)),
                Input::Message { message, context },
            ) => Some(Unverified {
                key,
                message,
                context,
                signature: request.signature,
            }),
            _ => None,
        }
    }
}

impl Inner {
    /// Verifies, and says what is to be written to the log before the result is given out.
    pub(super) fn verify(&self, principal: &Principal, request: &VerifyRequest<'_>) -> Verified {
        self.measured_with(Verb::Verify, request.key, verified_code, || {
            match request.version {
                Some(version) => {
                    let verifier = self.verifier(principal, request, version)?;
                    let (input, signature) = (request.input, request.signature);
                    let is_valid = verify_by(&verifier.public, input, signature)?;
                    self.verified(principal, &verifier, is_valid)
                }
                None => self.verify_by_any(principal, request),
            }
        })
    }

    /// As [`verify`](Self::verify) for each. Those that name their versions share the lanes.
    pub(super) fn verify_all(
        &self,
        principal: &Principal,
        requests: &[VerifyRequest<'_>],
    ) -> Vec<Verified> {
        let mut named = Vec::with_capacity(requests.len());
        let mut all: Vec<(usize, Verified)> = Vec::with_capacity(requests.len());
        for (at, request) in requests.iter().enumerate() {
            match request.version {
                Some(version) => named.push((at, request, version)),
                None => all.push((at, self.verify(principal, request))),
            }
        }
        let keys = named.iter().map(|(_, request, _)| request.key);
        let verified = self.measured_together(Verb::Verify, keys, verified_code, || {
            self.verify_together(principal, &named)
        });
        all.extend(named.iter().map(|(at, ..)| *at).zip(verified));
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, verified)| verified).collect()
    }

    fn verify_together(
        &self,
        principal: &Principal,
        named: &[(usize, &VerifyRequest<'_>, Version)],
    ) -> Vec<Verified> {
        let verifiers: Vec<_> = named
            .iter()
            .map(|(_, request, version)| self.verifier(principal, request, *version))
            .collect();
        let pairs = named.iter().zip(&verifiers);
        let together: Vec<_> = pairs
            .filter_map(|((_, request, _), verifier)| verifier.as_ref().ok()?.unverified(request))
            .collect();
        let mut results = verify_batch(&together).into_iter();
        let pairs = named.iter().zip(verifiers);
        let verified = pairs.map(|((_, request, _), verifier)| {
            let verifier = verifier?;
            let result = verifier.unverified(request).and_then(|_| results.next());
            let is_valid = match result {
                Some(result) => verdict(verifier.public.algorithm(), result.map_err(Into::into))?,
                None => verify_by(&verifier.public, request.input, request.signature)?,
            };
            self.verified(principal, &verifier, is_valid)
        });
        verified.collect()
    }

    /// The version that a request names, if the principal may verify this with it.
    fn verifier(
        &self,
        principal: &Principal,
        request: &VerifyRequest<'_>,
        version: Version,
    ) -> Result<Verifier, StoreError> {
        let key = self.usable_at(principal, Verb::Verify, &request.key.at(version))?;
        check_input(&key, request.input)?;
        check_verifies(&key, version)?;
        let public = self.public(&key, version)?;
        Ok(Verifier {
            key,
            version,
            public,
        })
    }

    /// The result of a version that was named, and what is to be written.
    fn verified(&self, principal: &Principal, verifier: &Verifier, is_valid: bool) -> Verified {
        let (key, version) = (&verifier.key, verifier.version);
        let (result, code) = match is_valid {
            true => (Ok(key.name.at(version)), None),
            false => invalid(StoreError::InvalidSignature),
        };
        let event = self.used(key, principal, Verb::Verify, Some(version), code)?;
        Ok((result, event))
    }

    fn verify_by_any(&self, principal: &Principal, request: &VerifyRequest<'_>) -> Verified {
        let key = self.usable(principal, Verb::Verify, request.key)?;
        check_input(&key, request.input)?;
        let found = self.version_of(&key, request)?;
        let (version, (result, code)) = match found {
            Ok(version) => (Some(version), (Ok(key.name.at(version)), None)),
            Err(error) => (None, invalid(error)),
        };
        let event = self.used(&key, principal, Verb::Verify, version, code)?;
        Ok((result, event))
    }

    /// The version under which a signature is valid that names none.
    fn version_of(
        &self,
        key: &CachedKey,
        request: &VerifyRequest<'_>,
    ) -> Result<Result<Version, StoreError>, StoreError> {
        let versions = key.record.newest_first();
        let permitted = versions.filter(|(version, state)| {
            state.verifies() && *version >= key.record.policy.min_version
        });
        let mut tried = 0;
        for (version, _) in permitted {
            if tried == TRIED {
                return Ok(Err(StoreError::VersionNeeded { tried }));
            }
            tried += 1;
            let public = self.public(key, version)?;
            if verify_by(&public, request.input, request.signature)? {
                return Ok(Ok(version));
            }
        }
        Ok(Err(match tried {
            0 => no_version(key),
            _ => StoreError::InvalidSignature,
        }))
    }
}

fn invalid(error: StoreError) -> (Result<KeyId, StoreError>, Option<&'static str>) {
    let code = error.code();
    (Err(error), Some(code))
}

fn check_verifies(key: &CachedKey, version: Version) -> Result<(), StoreError> {
    let id = || key.name.at(version);
    let state = key.record.state(version);
    let state = state.ok_or_else(|| StoreError::VersionNotFound(id()))?;
    check_minimum(key, version)?;
    match state.verifies() {
        true => Ok(()),
        false => Err(StoreError::State {
            id: id(),
            state,
            verb: Verb::Verify,
        }),
    }
}
