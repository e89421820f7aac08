//! Many signatures at once, with the same results as one by one.

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use super::Store;
use super::error::StoreError;
use super::using::Signed;
use crate::audit::Event;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Input, Principal};

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    /// By which key.
    pub key: &'a KeyName,
    /// What.
    pub input: Input<'a>,
}

/// What is to be verified.
#[derive(Clone, Copy, Debug)]
pub struct VerifyRequest<'a> {
    /// With which key.
    pub key: &'a KeyName,
    /// By which version, or by any.
    pub version: Option<Version>,
    /// What was signed.
    pub input: Input<'a>,
    /// The signature.
    pub signature: &'a [u8],
}

/// How many requests one core takes at a time: enough for the widest lanes, few enough to divide among cores.
const PIECE: usize = 16;

impl Store {
    /// Signs several messages, by several keys. The result of each is that of [`sign`](Self::sign); those whose uses are
    /// audited one by one wait for the storage once together. With the feature `rayon`, on all cores.
    pub fn sign_batch(
        &self,
        principal: &Principal,
        requests: &[SignRequest<'_>],
    ) -> Vec<Result<Signed, StoreError>> {
        self.sign_batch_unless(principal, requests, &|| false)
    }

    /// Signs several messages, but begins with none any more once nobody waits for them.
    pub(crate) fn sign_batch_unless(
        &self,
        principal: &Principal,
        requests: &[SignRequest<'_>],
        is_abandoned: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Result<Signed, StoreError>> {
        let inner = self.inner();
        let sign = |request: &SignRequest<'_>| match is_abandoned() {
            true => Err(StoreError::Abandoned),
            false => inner.sign(principal, request.key, request.input),
        };
        #[cfg(feature = "rayon")]
        let signed: Vec<_> = requests.par_iter().map(sign).collect();
        #[cfg(not(feature = "rayon"))]
        let signed: Vec<_> = requests.iter().map(sign).collect();
        self.together(signed)
    }

    /// Verifies several signatures, with several keys. The result of each is that of [`verify`](Self::verify). Signatures
    /// of ML-DSA that name their versions share the lanes of the CPU, and with the feature `rayon`, all take all cores.
    pub fn verify_batch(
        &self,
        principal: &Principal,
        requests: &[VerifyRequest<'_>],
    ) -> Vec<Result<KeyId, StoreError>> {
        self.verify_batch_unless(principal, requests, &|| false)
    }

    /// Verifies several signatures, but soon no more once nobody waits for that.
    pub(crate) fn verify_batch_unless(
        &self,
        principal: &Principal,
        requests: &[VerifyRequest<'_>],
        is_abandoned: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Result<KeyId, StoreError>> {
        let inner = self.inner();
        let verify = |requests: &[VerifyRequest<'_>]| match is_abandoned() {
            true => requests
                .iter()
                .map(|_| Err(StoreError::Abandoned))
                .collect(),
            false => inner.verify_all(principal, requests),
        };
        #[cfg(feature = "rayon")]
        let verified: Vec<_> = requests.par_chunks(PIECE).flat_map_iter(verify).collect();
        #[cfg(not(feature = "rayon"))]
        let verified: Vec<_> = requests.chunks(PIECE).flat_map(verify).collect();
        let verified = self.together(verified);
        verified.into_iter().map(Result::flatten).collect()
    }

    /// Writes the entries of all, and gives out the results if they were written.
    fn together<T>(
        &self,
        done: Vec<Result<(T, Option<Event>), StoreError>>,
    ) -> Vec<Result<T, StoreError>> {
        let mut events = Vec::new();
        let mut results = Vec::new();
        for result in done {
            results.push(result.map(|(value, event)| {
                let is_audited = event.is_some();
                events.extend(event);
                (value, is_audited)
            }));
        }
        let written = self.inner().log(&events);
        let give_out = |(value, is_audited)| match &written {
            Err(error) if is_audited => Err(same(error)),
            _ => Ok(value),
        };
        results
            .into_iter()
            .map(|result| result.and_then(give_out))
            .collect()
    }
}

/// The same error for each of several that wait for one write.
fn same(error: &StoreError) -> StoreError {
    match error {
        StoreError::Storage(error) => StoreError::Storage(error.clone()),
        StoreError::Randomness(error) => StoreError::Randomness(error.clone()),
        StoreError::Contended => StoreError::Contended,
        error => StoreError::OutcomeUnknown(error.to_string()),
    }
}
