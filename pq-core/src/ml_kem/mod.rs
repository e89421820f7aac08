//! ML-KEM, the module-lattice-based key-encapsulation mechanism of FIPS 203.
//!
//! The owner of a [`DecapsulationKey`] publishes its [`EncapsulationKey`]. A peer encapsulates to
//! it, which gives a [`Ciphertext`] to send back and a [`SharedSecret`]; decapsulating the
//! ciphertext gives the owner the same secret.
//!
//! ```
//! use pq_core::ml_kem::{DecapsulationKey, EncapsulationKey, MlKem768, ParameterSet};
//!
//! # fn random<const N: usize>() -> [u8; N] { [7; N] }
//! let mut place = None;
//! let decapsulation_key = DecapsulationKey::<MlKem768>::from_seed_into(&random(), &mut place);
//! let published = decapsulation_key.encapsulation_key().as_bytes();
//!
//! // the peer, with what it received
//! let encapsulation_key = EncapsulationKey::<MlKem768>::from_bytes(published)?;
//! let (mut sent, mut theirs) = ([0; MlKem768::CIPHERTEXT_LEN], [0; 32]);
//! encapsulation_key.encapsulate_into(&random(), &mut sent, &mut theirs)?;
//!
//! let mut ours = [0; 32];
//! decapsulation_key.decapsulate_into(&sent, &mut ours)?;
//! assert_eq!(ours, theirs);
//! # Ok::<(), pq_core::Error>(())
//! ```
//!
//! Many operations at once take less time in a [`batch`], and so does a key
//! [for one exchange](DecapsulationKey::for_one_exchange_into).
//!
//! | | encapsulation key | decapsulation key, expanded | ciphertext |
//! |---|---|---|---|
//! | [`MlKem512`] | 800 bytes | 1632 bytes | 768 bytes |
//! | [`MlKem768`] | 1184 bytes | 2400 bytes | 1088 bytes |
//! | [`MlKem1024`] | 1568 bytes | 3168 bytes | 1568 bytes |

// The algorithms of the standard stand where they are implemented. Two are none: algorithm 1 is an
// example of a loop in pseudocode, and algorithm 2 one of SHAKE128 absorbing and squeezing piece by
// piece, as the sponges of `sampling` do.

pub mod batch;
mod ciphertext;
mod decapsulation;
mod encapsulation;
mod expansion;
mod generation;
mod instances;
#[cfg(any(test, feature = "hazmat-internal"))]
pub mod internal;
mod k_pke;
mod keys;
mod params;
mod ring;
mod sampling;
mod shared_secret;

pub use ciphertext::Ciphertext;
pub use keys::{DecapsulationKey, EncapsulationKey};
pub use params::{MlKem512, MlKem768, MlKem1024, ParameterSet};
pub use shared_secret::SharedSecret;

/// Length of a seed d ‖ z in bytes.
pub const SEED_LEN: usize = 64;

/// Length of a shared secret in bytes.
pub const SHARED_SECRET_LEN: usize = 32;
