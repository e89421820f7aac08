use core::fmt;
use core::marker::PhantomData;

use pq_core::ml_kem::{MlKem512, MlKem768, MlKem1024, ParameterSet};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, SecureRandom, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, ProtocolVersion};

use super::encapsulation::{Encapsulation, answer};
use crate::Group;

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
}

impl<P: MlKemGroup> SupportedKxGroup for MlKem<P> {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Encapsulation::<P>::start(self.random)?)
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (pub_key, secret) = answer::<P>(self.random, client_share)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key,
            secret,
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        P::GROUP.into()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl<P: MlKemGroup> fmt::Debug for MlKem<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&P::GROUP, f)
    }
}

/// The ML-KEM parameter sets that have a TLS code point.
///
/// Implemented for the three sets of FIPS 203, and not to be implemented for
/// anything else: [`ParameterSet`] is closed.
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

impl<P: MlKemGroup> ActiveKeyExchange for Encapsulation<P> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        Self::complete(&self, server_share)
    }

    fn pub_key(&self) -> &[u8] {
        self.client_share()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        P::GROUP.into()
    }
}
