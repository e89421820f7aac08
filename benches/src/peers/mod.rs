//! The implementations, one file each, and the lists of them.
//!
//! To add one: implement [`Kem`](crate::ml_kem::Kem), [`Dsa`](crate::ml_dsa::Dsa) or
//! [`Slh`](crate::slh_dsa::Slh) for a unit type for each parameter set, and name it in the
//! list below. RustCrypto comes right after pq-core, since the two are held against each
//! other and neighbours are measured closest in time.

mod aws_lc_rs;
mod fips205;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod graviola;
mod libcrux;
mod pq_core;
mod pqclean;
mod rustcrypto;

use crate::set::Rows;
use crate::{ml_dsa, ml_kem, slh_dsa};

/// The rows that every parameter set has.
macro_rules! common {
    ($module:ident::$set:ident) => {{
        let mut rows: Rows<$module::Operation> = Vec::new();
        ::pq_core::on_each_backend!(backend => {
            let row = pq_core::OnBackend::<::pq_core::$module::$set, _>::new(backend);
            rows.push(Box::new(row));
        });
        rows.push(Box::new(rustcrypto::$set));
        rows.push(Box::new(libcrux::$set));
        rows.push(Box::new(pqclean::$set));
        rows.push(Box::new(aws_lc_rs::$set));
        rows
    }};
}

macro_rules! lists {
    ($($name:ident: $module:ident::$set:ident $(, $(#[$cfg:meta])? $maybe:path)*;)+) => {$(
        pub(crate) fn $name() -> Rows<$module::Operation> {
            #[allow(unused_mut, reason = "not every set and CPU has more rows")]
            let mut rows = common!($module::$set);
            $($(#[$cfg])? {
                if let Some(row) = $maybe() {
                    rows.push(Box::new(row));
                }
            })*
            rows
        }
    )+};
}

// A set, and the constructors of rows that not every set or machine has.
lists! {
    ml_kem_512: ml_kem::MlKem512,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem512::detect;
    ml_kem_768: ml_kem::MlKem768,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem768::detect,
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))] graviola::MlKem768::detect;
    ml_kem_1024: ml_kem::MlKem1024,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem1024::detect;
    ml_dsa_44: ml_dsa::MlDsa44;
    ml_dsa_65: ml_dsa::MlDsa65;
    ml_dsa_87: ml_dsa::MlDsa87;
}

macro_rules! slh_lists {
    ($($name:ident: $set:ident;)+) => {$(
        pub(crate) fn $name() -> Rows<slh_dsa::Operation> {
            let mut rows: Rows<slh_dsa::Operation> = Vec::new();
            ::pq_core::on_each_backend!(backend => {
                let row = pq_core::OnBackend::<::pq_core::slh_dsa::$set, _>::new(backend);
                rows.push(Box::new(row));
            });
            rows.push(Box::new(rustcrypto::$set));
            rows.push(Box::new(fips205::$set));
            rows.push(Box::new(pqclean::$set));
            rows
        }
    )+};
}

slh_lists! {
    slh_dsa_shake_128f: SlhDsaShake128f;
    slh_dsa_shake_192f: SlhDsaShake192f;
    slh_dsa_shake_256f: SlhDsaShake256f;
    slh_dsa_shake_128s: SlhDsaShake128s;
    slh_dsa_shake_192s: SlhDsaShake192s;
    slh_dsa_shake_256s: SlhDsaShake256s;
    slh_dsa_sha2_128f: SlhDsaSha2_128f;
    slh_dsa_sha2_192f: SlhDsaSha2_192f;
    slh_dsa_sha2_256f: SlhDsaSha2_256f;
    slh_dsa_sha2_128s: SlhDsaSha2_128s;
    slh_dsa_sha2_192s: SlhDsaSha2_192s;
    slh_dsa_sha2_256s: SlhDsaSha2_256s;
}
