//! The provider as users see it: handshakes in memory, over every base that is compiled in.

extern crate alloc;

mod builder;
mod chromium;
#[cfg(feature = "graviola")]
mod classical;
#[cfg(feature = "composite")]
mod composite;
mod default_base;
mod errors;
mod events;
mod first_usable;
mod handshakes;
#[cfg(feature = "hpke")]
mod hpke;
mod identities;
mod key_exchange;
mod key_usage;
mod keys;
mod level_5;
mod like_rustls;
mod manifest;
#[macro_use]
mod named_roots;
mod negotiated;
mod ocsp;
mod offers;
mod peers;
mod profile_table;
mod raw_public_keys;
mod refusals;
mod refused_certificates;
mod refused_shares;
mod revocation;
mod roots;
mod rotation;
mod rotation_of_several;
mod secrets;
mod server_handshake;
mod sessions;
mod signers;
mod slh_dsa;
mod small_hello;
// Needs a default provider, and a /proc.
#[cfg(all(
    target_os = "linux",
    any(feature = "graviola", feature = "aws-lc-rs", feature = "ring")
))]
mod soak;
