//! ML-KEM as a group of rustls 0.24, whose own `Hybrid` combines it with others.

#[path = "../../../provider/src/kx/encapsulation.rs"]
mod encapsulation;

use core::fmt;
use core::marker::PhantomData;

use pq_core::ml_kem::{MlKem512, MlKem768, MlKem1024, ParameterSet};
use rustls::Error;
use rustls::crypto::SecureRandom;
use rustls::crypto::kx::{
    ActiveKeyExchange, CompletedKeyExchange, HybridLayout, NamedGroup, SharedSecret,
    StartedKeyExchange, SupportedKxGroup,
};

use self::encapsulation::{Encapsulation, answer};

/// ML-KEM alone as a group.
pub struct MlKem<P> {
    random: &'static dyn SecureRandom,
    parameter_set: PhantomData<fn() -> P>,
}

impl<P: MlKemGroup> MlKem<P> {
    /// A group that draws from `random`.
    pub const fn new(random: &'static dyn SecureRandom) -> Self {
        Self {
            random,
            parameter_set: PhantomData,
        }
    }
}

/// How the shares of a hybrid of `P` are put together.
pub const fn layout<P: MlKemGroup>(
    classical_share_len: usize,
    post_quantum_first: bool,
) -> HybridLayout {
    HybridLayout {
        classical_share_len,
        post_quantum_client_share_len: P::ENCAPSULATION_KEY_LEN,
        post_quantum_server_share_len: P::CIPHERTEXT_LEN,
        post_quantum_first,
    }
}

impl<P: MlKemGroup> SupportedKxGroup for MlKem<P> {
    fn start(&self) -> Result<StartedKeyExchange, Error> {
        let started = Encapsulation::<P>::start(self.random)?;
        Ok(StartedKeyExchange::Single(started))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (pub_key, secret) = answer::<P>(self.random, client_share)?;
        Ok(CompletedKeyExchange {
            group: P::GROUP,
            pub_key,
            secret,
        })
    }

    fn name(&self) -> NamedGroup {
        P::GROUP
    }
}

impl<P: MlKemGroup> fmt::Debug for MlKem<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&P::GROUP, f)
    }
}

impl<P: MlKemGroup> ActiveKeyExchange for Encapsulation<P> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        Self::complete(&self, server_share)
    }

    fn pub_key(&self) -> &[u8] {
        self.client_share()
    }

    fn group(&self) -> NamedGroup {
        P::GROUP
    }
}

/// The parameter sets, with their code points.
pub trait MlKemGroup: ParameterSet {
    /// The code point of the set on its own.
    const GROUP: NamedGroup;
}

impl MlKemGroup for MlKem512 {
    const GROUP: NamedGroup = NamedGroup::MLKEM512;
}

impl MlKemGroup for MlKem768 {
    const GROUP: NamedGroup = NamedGroup::MLKEM768;
}

impl MlKemGroup for MlKem1024 {
    const GROUP: NamedGroup = NamedGroup::MLKEM1024;
}
