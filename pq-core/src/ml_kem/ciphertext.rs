//! The type of ciphertexts. Decapsulation accepts every one of the right length (FIPS 203, section 7.3).

use super::params::ParameterSet;
use crate::Error;
use crate::dimension::{Array, Dimension, array};
use crate::hex::public_bytes;

/// A ciphertext: any bytes of the right length.
#[derive(Clone)]
pub struct Ciphertext<P: ParameterSet>(pub(super) Array<P::CiphertextLen, u8>);

impl<P: ParameterSet> Ciphertext<P> {
    /// Reads a ciphertext of [`P::CIPHERTEXT_LEN`](ParameterSet::CIPHERTEXT_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] (the check of FIPS 203, section 7.3).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::CiphertextLen>(bytes).map(Self)
    }

    /// A ciphertext of zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(P::CiphertextLen::from_fn(|_| 0))
    }

    /// The ciphertext as the standard encodes it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

public_bytes!(Ciphertext);
