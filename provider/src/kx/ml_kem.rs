//! ML-KEM as a group, with types that rustls 0.23 and 0.24 share.

use core::fmt;
use core::marker::PhantomData;

use pq_core::ml_kem::{MlKem512, MlKem768, MlKem1024, ParameterSet};

use super::encapsulation::{self, Encapsulation};
use crate::algorithms::Group;
use crate::tls::{Error, SecureRandom, SharedSecret};

/// ML-KEM alone as a key exchange group (draft-ietf-tls-mlkem), and the
/// post-quantum half of a [`Hybrid`](super::Hybrid).
///
/// The client's share is an encapsulation key, the server's a ciphertext, and the
/// secret is the 32 bytes of ML-KEM's shared secret.
pub struct MlKem<P> {
    random: &'static dyn SecureRandom,
    parameter_set: PhantomData<fn() -> P>,
}

impl<P: MlKemGroup> MlKem<P> {
    /// A group that draws its seeds and its encapsulation randomness from
    /// `random`.
    pub const fn new(random: &'static dyn SecureRandom) -> Self {
        Self {
            random,
            parameter_set: PhantomData,
        }
    }

    /// The client's side.
    pub(super) fn encapsulation(&self) -> Result<Box<Encapsulation<P>>, Error> {
        Encapsulation::start(self.random)
    }

    /// The server's share and its secret.
    pub(super) fn answer(&self, client_share: &[u8]) -> Result<(Vec<u8>, SharedSecret), Error> {
        encapsulation::answer::<P>(self.random, client_share)
    }
}

impl<P: MlKemGroup> fmt::Debug for MlKem<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&P::GROUP, f)
    }
}

/// The ML-KEM parameter sets that have a TLS code point.
///
/// The three sets of FIPS 203 implement it. Other types can't: [`ParameterSet`] is sealed.
pub trait MlKemGroup: ParameterSet {
    /// The code point of the set on its own.
    const GROUP: Group;
}

impl MlKemGroup for MlKem512 {
    const GROUP: Group = Group::MLKEM512;
}

impl MlKemGroup for MlKem768 {
    const GROUP: Group = Group::MLKEM768;
}

impl MlKemGroup for MlKem1024 {
    const GROUP: Group = Group::MLKEM1024;
}
