//! A token whose calls pass through something else first: where it can be away, is interrupted, or does one thing at a time.

use alloc::sync::Arc;

use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey};
use pq_keystore::custody::{ObjectId, Token, TokenError, TokenInput, TokenSerial};
use zeroize::Zeroizing;

/// What a call does with the keys of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Call {
    /// It makes one.
    Make,
    /// It uses or looks for some.
    Use,
    /// It removes one.
    Remove,
}

/// What calls of a token pass through.
pub(super) trait Passage: Send + Sync {
    fn pass<T>(
        &self,
        call: Call,
        act: impl FnOnce() -> Result<T, TokenError>,
    ) -> Result<T, TokenError>;
}

/// A token behind a passage.
pub(super) struct Passing<P> {
    pub(super) token: Arc<dyn Token>,
    pub(super) passage: P,
}

impl<P: Passage> Token for Passing<P> {
    fn generate(
        &self,
        algorithm: AnyAlgorithm,
        object: &ObjectId,
        label: &str,
    ) -> Result<AnyPublicKey, TokenError> {
        let act = || self.token.generate(algorithm, object, label);
        self.passage.pass(Call::Make, act)
    }

    fn import(
        &self,
        key: &AnyPrivateKey,
        object: &ObjectId,
        label: &str,
    ) -> Result<(), TokenError> {
        let act = || self.token.import(key, object, label);
        self.passage.pass(Call::Make, act)
    }

    fn sign(&self, request: &TokenInput<'_>) -> Result<Vec<u8>, TokenError> {
        self.passage.pass(Call::Use, || self.token.sign(request))
    }

    fn decapsulate(
        &self,
        object: &ObjectId,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, TokenError> {
        let act = || self.token.decapsulate(object, ciphertext);
        self.passage.pass(Call::Use, act)
    }

    fn destroy(&self, object: &ObjectId) -> Result<(), TokenError> {
        let act = || self.token.destroy(object);
        self.passage.pass(Call::Remove, act)
    }

    fn objects(&self, store: [u8; 16]) -> Result<Vec<ObjectId>, TokenError> {
        self.passage.pass(Call::Use, || self.token.objects(store))
    }

    fn private_keys(&self, object: &ObjectId) -> Result<usize, TokenError> {
        let act = || self.token.private_keys(object);
        self.passage.pass(Call::Use, act)
    }

    fn serial(&self) -> Result<Option<TokenSerial>, TokenError> {
        self.passage.pass(Call::Use, || self.token.serial())
    }

    fn description(&self) -> String {
        self.token.description()
    }
}
