//! Key exchange: ML-KEM, and its hybrids with a classical group of the base.
//!
//! [`Builder`](crate::Builder) puts these together; they are public so that you can compose a
//! [`CryptoProvider`] by hand.
//!
//! | group | client's share | server's share | secret |
//! |---|---|---|---|
//! | X25519MLKEM768 | ek 1184 ‖ X25519 32 | ct 1088 ‖ X25519 32 | ML-KEM 32 ‖ X25519 32 |
//! | SecP256r1MLKEM768 | P-256 65 ‖ ek 1184 | P-256 65 ‖ ct 1088 | P-256 32 ‖ ML-KEM 32 |
//! | SecP384r1MLKEM1024 | P-384 97 ‖ ek 1568 | P-384 97 ‖ ct 1568 | P-384 48 ‖ ML-KEM 32 |
//! | MLKEM512 | ek 800 | ct 768 | ML-KEM 32 |
//! | MLKEM768 | ek 1184 | ct 1088 | ML-KEM 32 |
//! | MLKEM1024 | ek 1568 | ct 1568 | ML-KEM 32 |
//!
//! Lengths are in bytes; ek is an encapsulation key, ct a ciphertext. A share of any other length, an
//! encapsulation key with an unreduced coefficient, and a classical half that the base refuses end the
//! handshake with `illegal_parameter`.

// This room uses `algorithms`, `interned` and `tls`.

mod encapsulation;
mod glue;
mod hybrid;
pub mod layout;
mod ml_kem;

pub use hybrid::{Hybrid, HybridLayout};
pub use ml_kem::{MlKem, MlKemGroup};

use pq_core::ml_kem::{MlKem512, MlKem768, MlKem1024};
use rustls::crypto::{CryptoProvider, SecureRandom, SupportedKxGroup};

use crate::algorithms::Group;
use crate::interned::{Interned, Same};

/// This crate's implementation of `group`, with its classical half and its randomness from `base`.
///
/// `None` if this crate has no such group, or if `base` lacks its classical half.
pub(crate) fn group_over(
    base: &CryptoProvider,
    group: Group,
) -> Option<&'static dyn SupportedKxGroup> {
    OFFERED
        .iter()
        .find(|offered| offered.group == group)?
        .over(base)
}

/// The classical group that `group` is a hybrid with, if it is a hybrid.
pub(crate) fn classical_half(group: Group) -> Option<Group> {
    let offered = OFFERED.iter().find(|offered| offered.group == group)?;
    Some(offered.hybrid?.classical)
}

/// A group of this crate, without a base yet.
struct Offered {
    group: Group,
    hybrid: Option<HybridWith>,
    ml_kem: fn(&'static dyn SecureRandom) -> &'static dyn SupportedKxGroup,
}

/// The classical half of a hybrid, and the hybrid's layout.
#[derive(Clone, Copy)]
struct HybridWith {
    classical: Group,
    layout: HybridLayout,
}

impl Offered {
    const fn alone<P: MlKemGroup>() -> Self {
        Self {
            group: P::GROUP,
            hybrid: None,
            ml_kem: ml_kem::<P>,
        }
    }

    const fn hybrid<P: MlKemGroup>(group: Group, classical: Group, layout: HybridLayout) -> Self {
        Self {
            group,
            hybrid: Some(HybridWith { classical, layout }),
            ml_kem: ml_kem::<P>,
        }
    }

    fn over(&self, base: &CryptoProvider) -> Option<&'static dyn SupportedKxGroup> {
        let post_quantum = (self.ml_kem)(base.secure_random);
        let Some(HybridWith { classical, layout }) = self.hybrid else {
            return Some(post_quantum);
        };
        let classical = base
            .kx_groups
            .iter()
            .copied()
            .find(|group| Group::from(group.name()) == classical)?;

        type Key = (Group, Same<dyn SupportedKxGroup>, Same<dyn SecureRandom>);
        static HYBRIDS: Interned<Key, dyn SupportedKxGroup> = Interned::new();
        Some(HYBRIDS.find_or_insert(
            (self.group, Same(classical), Same(base.secure_random)),
            || {
                Box::new(Hybrid {
                    classical,
                    post_quantum,
                    name: self.group.into(),
                    layout,
                })
            },
        ))
    }
}

static OFFERED: &[Offered] = &[
    Offered::hybrid::<MlKem768>(Group::X25519MLKEM768, Group::X25519, layout::X25519MLKEM768),
    Offered::hybrid::<MlKem768>(
        Group::SECP256R1MLKEM768,
        Group::SECP256R1,
        layout::SECP256R1MLKEM768,
    ),
    Offered::hybrid::<MlKem1024>(
        Group::SECP384R1MLKEM1024,
        Group::SECP384R1,
        layout::SECP384R1MLKEM1024,
    ),
    Offered::alone::<MlKem512>(),
    Offered::alone::<MlKem768>(),
    Offered::alone::<MlKem1024>(),
];

fn ml_kem<P: MlKemGroup>(random: &'static dyn SecureRandom) -> &'static dyn SupportedKxGroup {
    type Key = (Group, Same<dyn SecureRandom>);
    static ALONE: Interned<Key, dyn SupportedKxGroup> = Interned::new();
    ALONE.find_or_insert((P::GROUP, Same(random)), || {
        Box::new(MlKem::<P>::new(random))
    })
}
