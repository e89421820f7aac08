use core::fmt;
use core::marker::PhantomData;

use pq_core::ml_kem::{
    Ciphertext, DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet,
    SEED_LEN,
};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, SecureRandom, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};
use zeroize::Zeroizing;

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
        // d ‖ z (FIPS 203, algorithm 19)
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        self.random.fill(&mut *seed)?;

        Ok(Box::new(ActiveMlKem::<P> {
            decapsulation_key: DecapsulationKey::from_seed(&seed),
        }))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        // The length and modulus checks of FIPS 203, section 7.2, before any
        // randomness is spent.
        let encapsulation_key =
            EncapsulationKey::<P>::from_bytes(client_share).map_err(|_| INVALID_KEY_SHARE)?;

        let mut m = Zeroizing::new([0; 32]);
        self.random.fill(&mut *m)?;
        let (ciphertext, secret) = encapsulation_key.encapsulate(&m);

        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: ciphertext.as_bytes().to_vec(),
            secret: SharedSecret::from(secret.as_bytes().as_slice()),
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

/// The client between its ClientHello and the ServerHello.
struct ActiveMlKem<P: ParameterSet> {
    decapsulation_key: DecapsulationKey<P>,
}

impl<P: MlKemGroup> ActiveKeyExchange for ActiveMlKem<P> {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        // The length is all that can be wrong with a ciphertext; any other damage
        // ends in implicit rejection, thus in secrets that differ.
        let ciphertext = Ciphertext::from_bytes(server_share).map_err(|_| INVALID_KEY_SHARE)?;
        let secret = self.decapsulation_key.decapsulate(&ciphertext);
        Ok(SharedSecret::from(secret.as_bytes().as_slice()))
    }

    fn pub_key(&self) -> &[u8] {
        self.decapsulation_key.encapsulation_key().as_bytes()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        P::GROUP.into()
    }
}

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
