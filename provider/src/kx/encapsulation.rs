//! ML-KEM as a key exchange, with types that rustls 0.23 and 0.24 share.

use pq_core::ml_kem::{
    DecapsulationKey, EncapsulationKey, ParameterSet, SEED_LEN, SHARED_SECRET_LEN,
};
use zeroize::Zeroizing;

use crate::tls::{Error, PeerMisbehaved, SecureRandom, SharedSecret};

/// The client's state between its ClientHello and the ServerHello.
pub(crate) struct Encapsulation<P: ParameterSet> {
    /// Boxed: each move would leave a copy of some kilobytes behind.
    decapsulation_key: Box<DecapsulationKey<P>>,
}

impl<P: ParameterSet> Encapsulation<P> {
    /// Makes a key.
    pub(crate) fn start(random: &dyn SecureRandom) -> Result<Box<Self>, Error> {
        // d ‖ z (FIPS 203, algorithm 19)
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        random.fill(&mut *seed)?;

        Ok(Box::new(Self {
            decapsulation_key: DecapsulationKey::boxed_for_one_exchange(&seed),
        }))
    }

    /// The client's share.
    pub(crate) fn client_share(&self) -> &[u8] {
        self.decapsulation_key.encapsulation_key().as_bytes()
    }

    /// The client's secret.
    pub(crate) fn complete(&self, server_share: &[u8]) -> Result<SharedSecret, Error> {
        // Only a wrong length is an error; any other damage to a ciphertext leads to implicit
        // rejection, so that the secrets differ.
        let mut secret = zeros();
        self.decapsulation_key
            .decapsulate_into(server_share, place(&mut secret))
            .map_err(|_| INVALID_KEY_SHARE)?;
        Ok(SharedSecret::from(secret))
    }
}

/// The server's share and its secret.
pub(crate) fn answer<P: ParameterSet>(
    random: &dyn SecureRandom,
    client_share: &[u8],
) -> Result<(Vec<u8>, SharedSecret), Error> {
    // The length and modulus checks of FIPS 203, section 7.2, come before any use of randomness.
    let encapsulation_key =
        EncapsulationKey::<P>::from_bytes(client_share).map_err(|_| INVALID_KEY_SHARE)?;

    let mut m = Zeroizing::new([0; 32]);
    random.fill(&mut *m)?;
    let mut ciphertext = vec![0; P::CIPHERTEXT_LEN];
    let mut secret = zeros();
    encapsulation_key
        .encapsulate_into(&m, &mut ciphertext, place(&mut secret))
        .expect("the buffer has the length of the parameter set");
    Ok((ciphertext, SharedSecret::from(secret)))
}

/// The allocation for a secret: it is written there, and rustls keeps it there and wipes it.
fn zeros() -> Vec<u8> {
    vec![0; SHARED_SECRET_LEN]
}

fn place(secret: &mut [u8]) -> &mut [u8; SHARED_SECRET_LEN] {
    secret.try_into().expect("of this length")
}

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
