//! The implementations, one file each, and the lists of them.
//!
//! To add one: implement [`Kem`](crate::schemes::ml_kem::Kem), [`Dsa`](crate::schemes::ml_dsa::Dsa) or
//! [`Slh`](crate::schemes::slh_dsa::Slh) for a unit type for each parameter set, and name it in the
//! list of its scheme. RustCrypto comes right after pq-core, since the two are held against each
//! other and neighbours are measured closest in time.

mod aws_lc_rs;
mod fips205;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod graviola;
mod libcrux;
pub mod openssl;
mod pq_core;
mod pqclean;
mod rustcrypto;

use crate::schemes::set::Rows;
use crate::schemes::{ml_dsa, ml_kem, slh_dsa};

/// The rows of a parameter set: pq-core on each backend, who has all of its scheme, and
/// those that not every set or machine has.
macro_rules! rows {
    (
        $scheme:ident::$set:ident, [$($peer:ident),+],
        [$($(#[$cfg:meta])? $maybe:path,)*]
    ) => {{
        let mut rows: Rows<$scheme::Operation> = Vec::new();
        ::pq_core::on_each_backend!(backend => {
            let row = pq_core::OnBackend::<::pq_core::$scheme::$set, _>::new(backend);
            rows.push(Box::new(row));
        });
        $(rows.push(Box::new($peer::$set));)+
        $($(#[$cfg])? {
            if let Some(row) = $maybe() {
                rows.push(Box::new(row));
            }
        })*
        rows
    }};
}

/// A scheme and who has all of it; its sets, each with the constructors of rows that not every
/// set or machine has.
macro_rules! lists {
    (
        $scheme:ident of $peers:tt;
        $($name:ident: $set:ident $(, $(#[$cfg:meta])? $maybe:path)*;)+
    ) => {$(
        pub(crate) fn $name() -> Rows<$scheme::Operation> {
            rows!($scheme::$set, $peers, [$($(#[$cfg])? $maybe,)*])
        }
    )+};
}

lists! {
    ml_kem of [rustcrypto, libcrux, pqclean, aws_lc_rs];
    ml_kem_512: MlKem512,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem512::detect;
    ml_kem_768: MlKem768,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem768::detect,
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))] graviola::MlKem768::detect;
    ml_kem_1024: MlKem1024,
        #[cfg(target_arch = "x86_64")] libcrux::avx2_unpacked::MlKem1024::detect;
}

lists! {
    ml_dsa of [rustcrypto, libcrux, pqclean, aws_lc_rs];
    ml_dsa_44: MlDsa44;
    ml_dsa_65: MlDsa65;
    ml_dsa_87: MlDsa87;
}

lists! {
    slh_dsa of [rustcrypto, fips205, pqclean];
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
