//! The implementations, one file each, and the parameter sets with their implementations.
//!
//! Uses [`schemes`](crate::schemes) and [`timing`](crate::timing). OpenSSL measures itself
//! ([`openssl`]). Libraries in C without a safe interface in Rust are in programs of their own ([`program`]).
//!
//! To add one: implement [`Kem`](crate::schemes::ml_kem::Kem), [`Dsa`](crate::schemes::ml_dsa::Dsa) or
//! [`Slh`](crate::schemes::slh_dsa::Slh) for a unit type for each parameter set, and name it in the
//! list of its scheme. RustCrypto comes right after pq-core, since the report compares the two, and
//! neighbours are measured closest in time.

mod aws_lc_rs;
mod fips205;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod graviola;
mod libcrux;
pub mod openssl;
mod pq_core;
#[cfg(feature = "pqclean")]
mod pqclean;
pub mod program;
mod rustcrypto;

use crate::schemes::set::Rows;
use crate::schemes::{ml_dsa, ml_kem, slh_dsa};

/// The rows of a parameter set: pq-core on each backend, the implementations of all sets of its scheme,
/// and those that not every set or machine has.
macro_rules! rows {
    (
        $scheme:ident::$set:ident, [$($(#[$built:meta])? $peer:ident),+],
        [$($(#[$cfg:meta])? $maybe:path,)*]
    ) => {{
        let mut rows: Rows<$scheme::Operation> = Vec::new();
        ::pq_core::on_each_backend!(backend => {
            let row = pq_core::OnBackend::<::pq_core::$scheme::$set, _>::new(backend);
            rows.push(Box::new(row));
        });
        $($(#[$built])? rows.push(Box::new($peer::$set));)+
        $($(#[$cfg])? {
            if let Some(row) = $maybe() {
                rows.push(Box::new(row));
            }
        })*
        for row in program::peers(<::pq_core::$scheme::$set as ::pq_core::$scheme::ParameterSet>::NAME) {
            rows.push(Box::new(row));
        }
        rows
    }};
}

/// How to make a set: the arguments come first, then the rows.
macro_rules! make {
    ($scheme:ident::$set:ident, ($($argument:ident)?), $rows:expr) => {
        |$($argument)?| $scheme::Set::of::<::pq_core::$scheme::$set>($($argument,)? $rows)
    };
}

/// A scheme, the implementations that have all its sets, and the sets, each with the constructors of
/// rows that not every set or machine has.
macro_rules! sets {
    (
        $(#[$doc:meta])+
        $list:ident = $scheme:ident $arguments:tt by $peers:tt;
        $($set:ident $(, $(#[$cfg:meta])? $maybe:path)*;)+
    ) => {
        $(#[$doc])+
        pub const $list: &[(&str, $scheme::Make)] = &[$((
            <::pq_core::$scheme::$set as ::pq_core::$scheme::ParameterSet>::NAME,
            make!($scheme::$set, $arguments, rows!($scheme::$set, $peers, [$($(#[$cfg])? $maybe,)*])),
        )),+];
    };
}

sets! {
    /// The three sets of FIPS 203 by their names, and how to make them.
    ML_KEM = ml_kem() by [rustcrypto, libcrux, #[cfg(feature = "pqclean")] pqclean, aws_lc_rs];
    MlKem512,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem512::detect;
    MlKem768,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem768::detect,
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))] graviola::MlKem768::detect;
    MlKem1024,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem1024::detect;
}

sets! {
    /// The three sets of FIPS 204 by their names, and how to make them with a number of messages to
    /// sign.
    ML_DSA = ml_dsa(messages) by [rustcrypto, libcrux, #[cfg(feature = "pqclean")] pqclean, aws_lc_rs];
    MlDsa44;
    MlDsa65;
    MlDsa87;
}

sets! {
    /// The twelve sets of FIPS 205 by their names, and how to make them.
    SLH_DSA = slh_dsa() by [rustcrypto, fips205, #[cfg(feature = "pqclean")] pqclean];
    SlhDsaShake128f;
    SlhDsaShake192f;
    SlhDsaShake256f;
    SlhDsaShake128s;
    SlhDsaShake192s;
    SlhDsaShake256s;
    SlhDsaSha2_128f;
    SlhDsaSha2_192f;
    SlhDsaSha2_256f;
    SlhDsaSha2_128s;
    SlhDsaSha2_192s;
    SlhDsaSha2_256s;
}
