//! The functions of the library: what is in `include/pqtls.h`.
//!
//! [`memory`] makes references of pointers once they have been checked; what calls it does so for all
//! arguments before it touches one of them. It uses `algorithms`, `error` and `sizes`.
#![expect(
    clippy::missing_safety_doc,
    reason = "what all functions ask for stands once, at the head of the header: see cbindgen.toml"
)]

/// What is done with a type that goes by the parameter set's number.
macro_rules! for_set_of {
    ($algorithm:expr, $set:ident => $do:expr, { $($number:ident: $type:ty,)+ }) => {
        match $algorithm {
            $($number => {
                type $set = $type;
                $do
            })+
            _ => Err($crate::error::PQTLS_ERROR_ALGORITHM),
        }
    };
}

#[cfg(feature = "bench")]
pub mod bench;
pub mod key_files;
mod memory;
pub mod ml_dsa;
pub mod ml_kem;
pub mod random;
pub mod slh_dsa;
pub mod storage;
pub mod text;
