//! How sessions remember how a side proved who it is.

use pq_x509::keys::{Algorithm, SignatureAlgorithm};
use pq_x509::x509_cert::spki::ObjectIdentifier;
use rustls::HandshakeKind;
use rustls::server::ServerConnection;

use crate::algorithms::{Authentication, KeyAlgorithm};

impl Authentication {
    /// Has the session remember this. A session that is resumed keeps what it remembers; one that may
    /// still turn out to be resumed remembers nothing.
    pub(super) fn remember(self, connection: &mut ServerConnection) {
        if let Some(remembered) = connection.received_resumption_data() {
            let remembered = remembered.to_vec();
            connection.set_resumption_data(&remembered);
        } else if connection.handshake_kind() != Some(HandshakeKind::FullWithHelloRetryRequest) {
            connection.set_resumption_data(&self.to_bytes());
        }
    }

    /// The bytes that a session stores: [`FORMAT`], whether it is post-quantum, the scheme or 0, the
    /// kind of key, and details of that kind.
    fn to_bytes(self) -> Vec<u8> {
        let (kind, detail) = match self.key {
            KeyAlgorithm::PostQuantum(algorithm) => (0, algorithm.oid().as_bytes().to_vec()),
            KeyAlgorithm::EcdsaP256 => (1, Vec::new()),
            KeyAlgorithm::EcdsaP384 => (2, Vec::new()),
            KeyAlgorithm::EcdsaP521 => (3, Vec::new()),
            KeyAlgorithm::Ed25519 => (4, Vec::new()),
            KeyAlgorithm::Ed448 => (5, Vec::new()),
            KeyAlgorithm::Rsa { bits } => (6, bits.to_string().into_bytes()),
            KeyAlgorithm::Other(oid) => (7, oid.as_bytes().to_vec()),
            KeyAlgorithm::HashSlhDsa(algorithm) => (8, algorithm.oid().as_bytes().to_vec()),
        };
        let [high, low] = self.scheme.map_or(0, u16::from).to_be_bytes();
        let head = [FORMAT, self.is_post_quantum.into(), high, low, kind];
        [&head, detail.as_slice()].concat()
    }

    /// What [`to_bytes`](Self::to_bytes) wrote; `None` for anything else.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([FORMAT, is_post_quantum, high, low, kind], detail) = bytes.split_first_chunk()?
        else {
            return None;
        };
        let scheme = u16::from_be_bytes([*high, *low]);
        Some(Self {
            key: match (kind, detail) {
                (0, oid) => KeyAlgorithm::PostQuantum(signature_algorithm(oid)?),
                (1, []) => KeyAlgorithm::EcdsaP256,
                (2, []) => KeyAlgorithm::EcdsaP384,
                (3, []) => KeyAlgorithm::EcdsaP521,
                (4, []) => KeyAlgorithm::Ed25519,
                (5, []) => KeyAlgorithm::Ed448,
                (6, bits) => KeyAlgorithm::Rsa {
                    bits: core::str::from_utf8(bits).ok()?.parse().ok()?,
                },
                (7, oid) => KeyAlgorithm::Other(ObjectIdentifier::from_bytes(oid).ok()?),
                (8, oid) => KeyAlgorithm::HashSlhDsa(signature_algorithm(oid)?),
                _ => return None,
            },
            scheme: (scheme != 0).then(|| scheme.into()),
            is_post_quantum: match is_post_quantum {
                0 => false,
                1 => true,
                _ => return None,
            },
        })
    }
}

/// The first byte of what a session remembers, and the version of the rest.
const FORMAT: u8 = 1;

fn signature_algorithm(oid: &[u8]) -> Option<SignatureAlgorithm> {
    match Algorithm::from_oid(ObjectIdentifier::from_bytes(oid).ok()?)? {
        Algorithm::Signature(algorithm) => Some(algorithm),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rustls::SignatureScheme;

    use super::*;

    #[test]
    fn sessions_remember_every_kind_of_key() {
        let other = ObjectIdentifier::new_unwrap("1.2.840.10040.4.1");
        let keys = SignatureAlgorithm::ALL
            .iter()
            .copied()
            .map(KeyAlgorithm::PostQuantum)
            .chain([
                #[cfg(feature = "slh-dsa")]
                KeyAlgorithm::HashSlhDsa(SignatureAlgorithm::SlhDsaShake192f),
                KeyAlgorithm::EcdsaP256,
                KeyAlgorithm::EcdsaP384,
                KeyAlgorithm::EcdsaP521,
                KeyAlgorithm::Ed25519,
                KeyAlgorithm::Ed448,
                KeyAlgorithm::Rsa { bits: 3072 },
                KeyAlgorithm::Other(other),
            ]);
        for key in keys {
            for (scheme, is_post_quantum) in [
                (key.only_scheme(), key.is_post_quantum()),
                (Some(SignatureScheme::RSA_PSS_SHA256), false),
            ] {
                let authentication = Authentication {
                    key,
                    scheme,
                    is_post_quantum,
                };
                let bytes = authentication.to_bytes();
                assert_eq!(Authentication::from_bytes(&bytes), Some(authentication));
                assert_eq!(Authentication::from_bytes(&bytes[..4]), None);
                let of_another_format = [&[FORMAT + 1], &bytes[1..]].concat();
                assert_eq!(Authentication::from_bytes(&of_another_format), None);
            }
        }
        for bytes in [
            &[][..],
            b"the application's own",
            &[1, 0, 0, 0, 9],
            &[1, 2, 0, 0, 1],
        ] {
            assert_eq!(Authentication::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
