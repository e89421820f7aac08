//! Many signatures at once, with the same results as one by one.

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

impl Store {
    /// Signs several messages, by several keys. The result of each is that of [`sign`](Self::sign); those whose uses are
    /// audited one by one wait for the storage once together.
    pub fn sign_batch(
        &self,
        principal: &Principal,
        requests: &[SignRequest<'_>],
    ) -> Vec<Result<Signed, StoreError>> {
        let inner = self.inner();
        let sign = |request: &SignRequest<'_>| inner.sign(principal, request.key, request.input);
        self.together(requests.iter().map(sign))
    }

    /// Verifies several signatures, with several keys. The result of each is that of [`verify`](Self::verify).
    pub fn verify_batch(
        &self,
        principal: &Principal,
        requests: &[VerifyRequest<'_>],
    ) -> Vec<Result<KeyId, StoreError>> {
        let inner = self.inner();
        let verify = |request: &VerifyRequest<'_>| {
            let VerifyRequest {
                key,
                version,
                input,
                signature,
            } = *request;
            inner.verify(principal, key, version, input, signature)
        };
        let verified = self.together(requests.iter().map(verify));
        verified.into_iter().map(Result::flatten).collect()
    }

    /// Writes the entries of all, and gives out the results if they were written.
    fn together<T>(
        &self,
        done: impl Iterator<Item = Result<(T, Option<Event>), StoreError>>,
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
