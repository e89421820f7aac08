//! How the shares of each hybrid are put together (RFC 10024).

use pq_core::ml_kem::{MlKem768, MlKem1024, ParameterSet};

// rustls 0.24 has a type of the same shape.
use super::HybridLayout;

/// X25519MLKEM768.
pub const X25519MLKEM768: HybridLayout = of::<MlKem768>(32, true);
/// SecP256r1MLKEM768, with an uncompressed point.
pub const SECP256R1MLKEM768: HybridLayout = of::<MlKem768>(65, false);
/// SecP384r1MLKEM1024, with an uncompressed point.
pub const SECP384R1MLKEM1024: HybridLayout = of::<MlKem1024>(97, false);

const fn of<P: ParameterSet>(classical_share_len: usize, post_quantum_first: bool) -> HybridLayout {
    HybridLayout {
        classical_share_len,
        post_quantum_client_share_len: P::ENCAPSULATION_KEY_LEN,
        post_quantum_server_share_len: P::CIPHERTEXT_LEN,
        post_quantum_first,
    }
}
