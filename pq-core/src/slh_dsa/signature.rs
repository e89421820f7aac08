//! The type of signatures, which are large and checked only for their length. Verification takes them apart.

use super::params::ParameterSet;
use crate::Error;
use crate::dimension::{Array, Dimension, array};
use crate::hex::public_bytes;

/// A signature: any bytes of the right length.
///
/// With the sets of FIPS 205 it has 7,856 to 49,856 bytes. If this is too much for the stack, work
/// on slices: [`SigningKey::sign_into`](super::SigningKey::sign_into) and
/// [`VerifyingKey::verify_bytes`](super::VerifyingKey::verify_bytes).
#[derive(Clone)]
pub struct Signature<P: ParameterSet>(Array<P::SignatureLen, u8>);

impl<P: ParameterSet> Signature<P> {
    /// Reads a signature of [`P::SIGNATURE_LEN`](ParameterSet::SIGNATURE_LEN) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        array::<P::SignatureLen>(bytes).map(Self)
    }

    /// The signature as the standard encodes it (FIPS 205, figure 17).
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// A signature of zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self(P::SignatureLen::from_fn(|_| 0))
    }

    pub(super) fn as_mut_bytes(&mut self) -> &mut [u8] {
        self.0.as_mut()
    }
}

public_bytes!(Signature);
