//! ML-KEM as a key exchange, in terms that rustls 0.23 and 0.24 have alike.

use pq_core::ml_kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ParameterSet, SEED_LEN};
use zeroize::Zeroizing;

use crate::tls::{Error, PeerMisbehaved, SecureRandom, SharedSecret};

/// The client between its ClientHello and the ServerHello.
pub(crate) struct Encapsulation<P: ParameterSet> {
    decapsulation_key: DecapsulationKey<P>,
}

impl<P: ParameterSet> Encapsulation<P> {
    /// Makes a key.
    ///
    /// It has some kilobytes, which each move would leave behind: so it is boxed, and the box
    /// is there before it.
    pub(crate) fn start(random: &dyn SecureRandom) -> Result<Box<Self>, Error> {
        // d ‖ z (FIPS 203, algorithm 19)
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        random.fill(&mut *seed)?;

        Ok(Box::write(
            Box::new_uninit(),
            Self {
                decapsulation_key: DecapsulationKey::from_seed(&seed),
            },
        ))
    }

    /// What the client sends.
    pub(crate) fn client_share(&self) -> &[u8] {
        self.decapsulation_key.encapsulation_key().as_bytes()
    }

    /// The client's secret.
    pub(crate) fn complete(&self, server_share: &[u8]) -> Result<SharedSecret, Error> {
        // The length is all that can be wrong with a ciphertext; any other damage
        // ends in implicit rejection, thus in secrets that differ.
        let ciphertext = Ciphertext::from_bytes(server_share).map_err(|_| INVALID_KEY_SHARE)?;
        let secret = self.decapsulation_key.decapsulate(&ciphertext);
        Ok(SharedSecret::from(secret.as_bytes().as_slice()))
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
    let (ciphertext, secret) = encapsulation_key.encapsulate(&m);
    Ok((
        ciphertext.as_bytes().to_vec(),
        SharedSecret::from(secret.as_bytes().as_slice()),
    ))
}

const INVALID_KEY_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
