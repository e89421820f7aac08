//! The type of shared secrets, the result of both encapsulation and decapsulation. `Debug` does not show them.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::fmt;
use core::hint::black_box;

use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use super::SHARED_SECRET_LEN;
use crate::arch::{DataIndependentTiming, in_place};
#[cfg(feature = "alloc")]
use crate::place;
use crate::secret::wipe;

/// A shared secret of 32 bytes. Compared in constant time, wiped when dropped.
///
/// [`from_bytes`](Self::from_bytes) and `clone` return a secret by value, which can leave a copy of
/// it on the stack.
#[derive(Clone)]
pub struct SharedSecret(pub(super) [u8; SHARED_SECRET_LEN]);

impl SharedSecret {
    /// Zeros, to be written over.
    pub(super) fn zero() -> Self {
        Self([0; SHARED_SECRET_LEN])
    }

    /// A copy of a secret, as written by
    /// [`EncapsulationKey::encapsulate_into`](super::EncapsulationKey::encapsulate_into) or
    /// [`DecapsulationKey::decapsulate_into`](super::DecapsulationKey::decapsulate_into).
    pub fn from_bytes(bytes: &[u8; SHARED_SECRET_LEN]) -> Self {
        in_place(Self::zero, |secret| secret.0.copy_from_slice(bytes))
    }

    /// [`from_bytes`](Self::from_bytes) into a box, which is allocated before the secret is copied.
    #[cfg(feature = "alloc")]
    pub fn boxed_from_bytes(bytes: &[u8; SHARED_SECRET_LEN]) -> Box<Self> {
        place::boxed(Self::zero, |secret| secret.0.copy_from_slice(bytes))
    }

    /// The secret.
    pub fn as_bytes(&self) -> &[u8; SHARED_SECRET_LEN] {
        &self.0
    }
}

impl Drop for SharedSecret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl ZeroizeOnDrop for SharedSecret {}

impl ConstantTimeEq for SharedSecret {
    fn ct_eq(&self, other: &Self) -> subtle::Choice {
        let _timing = DataIndependentTiming::begin();
        // hidden from the compiler, which could otherwise compare before that
        black_box(&self.0).ct_eq(&other.0)
    }
}

impl Eq for SharedSecret {}

impl PartialEq for SharedSecret {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::SharedSecret;
    use crate::arch::{check_wiped, part};

    #[test]
    fn secrets_are_wiped() {
        check_wiped(SharedSecret([7; 32]), |secret| {
            vec![part(secret, "the secret", &secret.0)]
        });
    }
}
