//! ML-KEM as a key exchange, in terms that rustls 0.23 and 0.24 have alike.

use pq_core::ml_kem::{
    DecapsulationKey, EncapsulationKey, ParameterSet, SEED_LEN, SHARED_SECRET_LEN,
};
use zeroize::Zeroizing;

use crate::tls::{Error, PeerMisbehaved, SecureRandom, SharedSecret};

/// The client between its ClientHello and the ServerHello.
pub(crate) struct Encapsulation<P: ParameterSet> {
    /// It has some kilobytes, which each move would leave behind.
    decapsulation_key: Box<DecapsulationKey<P>>,
}

impl<P: ParameterSet> Encapsulation<P> {
    /// Makes a key.
    pub(crate) fn start(random: &dyn SecureRandom) -> Result<Box<Self>, Error> {
        // d ‖ z (FIPS 203, algorithm 19)
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        random.fill(&mut *seed)?;

        Ok(Box::new(Self {
            decapsulation_key: DecapsulationKey::boxed_from_seed(&seed),
        }))
    }

    /// What the client sends.
    pub(crate) fn client_share(&self) -> &[u8] {
        self.decapsulation_key.encapsulation_key().as_bytes()
    }

    /// The client's secret.
    pub(crate) fn complete(&self, server_share: &[u8]) -> Result<SharedSecret, Error> {
        // The length is all that can be wrong with a ciphertext; any other damage
        // ends in implicit rejection, thus in secrets that differ.
        let mut secret = zeros();
        self.decapsulation_key
            .decapsulate_into(server_share, place(&mut secret))
            .map_err(|_| INVALID_KEY_SHARE)?;
        Ok(SharedSecret::from(secret))
    }
}

/// What the server sends, and its secret.
pub(crate) fn answer<P: ParameterSet>(
    random: &dyn SecureRandom,
    client_share: &[u8],
) -> Result<(Vec<u8>, SharedSecret), Error> {
    // The length and modulus checks of FIPS 203, section 7.2, before any
    // randomness is spent.
    let encapsulation_key =
        EncapsulationKey::<P>::from_bytes(client_share).map_err(|_| INVALID_KEY_SHARE)?;

    let mut m = Zeroizing::new([0; 32]);
    random.fill(&mut *m)?;
    let mut ciphertext = vec![0; P::CIPHERTEXT_LEN];
    let mut secret = zeros();
    encapsulation_key
        .encapsulate_into(&m, &mut ciphertext, place(&mut secret))
        .expect("of the length of the set's");
    Ok((ciphertext, SharedSecret::from(secret)))
}

/// The allocation in which rustls keeps and wipes a secret, which is written there.
fn zeros() -> Vec<u8> {
    vec![0; SHARED_SECRET_LEN]
}

fn place(secret: &mut [u8]) -> &mut [u8; SHARED_SECRET_LEN] {
    secret.try_into().expect("of this length")
}

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
