//! The functions of the library, as in `include/pqtls.h`.
//!
//! [`memory`] turns pointers into references after checking them. Each function has all its arguments checked
//! before it uses one of them. This module uses `algorithms`, `error` and `sizes`.
#![expect(
    clippy::missing_safety_doc,
    reason = "the head of the header says once what all functions require: see cbindgen.toml"
)]

/// Does something with the type for the parameter set's number.
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
