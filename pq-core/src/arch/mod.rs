//! The abilities of CPUs: the vector traits that the kernels use, and a file or a folder for each
//! CPU that implements them.
//!
//! A backend is a zero-sized capability token. Having one is the proof that its instructions exist
//! on this machine, so everything it does is safe to call. The token is chosen once per public
//! operation (`dispatch!`) and passed on by value.
//!
//! Nothing here depends on its users: the inner loops are in `kernel`.

#[cfg(target_arch = "x86_64")]
mod asked_once;
mod backend;
mod choice;
#[expect(unsafe_code, reason = "a place is uninitialised until it is written")]
mod in_place;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod instructions;
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "an instruction that the compiler leaves where it is"
)]
mod late;
#[cfg(feature = "memcheck")]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a request to valgrind is a few instructions")
)]
pub mod memcheck;
mod packing;
mod pairs;
mod portable;
#[cfg(any(test, feature = "limit"))]
mod required;
mod timing;
mod vectors;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod avx512;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod neon;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod neon_sha2;
#[cfg(test)]
#[expect(unsafe_code, reason = "tests look where a value was")]
mod remains;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod sha_ni;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[expect(unsafe_code, reason = "vectors come from memory and go to it")]
#[expect(
    unused_unsafe,
    reason = "the intrinsics of other CPUs are unsafe to call, and these are not"
)]
mod simd128;
#[cfg(all(feature = "aes-ctr", target_arch = "x86_64"))]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod vaes;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod vendor;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use backend::{Backend, FromNumber, Kernel, Sha256Instructions};
#[cfg(any(test, feature = "hazmat-internal"))]
pub(crate) use choice::InCrate;
#[cfg(all(test, not(without_proofs)))]
pub(crate) use choice::IntoChoice;
#[cfg(test)]
pub(crate) use choice::on_each_backend;
pub(crate) use choice::{Choice, choose, dispatch};
#[cfg(feature = "limit")]
pub use choice::{chosen, lift_limit, limit};
pub(crate) use in_place::{in_place, try_in_place};
#[cfg(feature = "memcheck")]
pub(crate) use memcheck::declassify;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
pub use neon::{Neon, NeonSha3};
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
pub use neon_sha2::NeonSha2;
pub use portable::{NoSha256, Portable};
#[cfg(test)]
pub(crate) use remains::{check_wiped, part};
#[cfg(any(test, feature = "limit"))]
#[doc(hidden)]
pub use required::require;
#[cfg(target_arch = "x86_64")]
pub use sha_ni::ShaNi;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use simd128::Simd128;
pub(crate) use timing::DataIndependentTiming;
#[cfg(test)]
pub(crate) use timing::{is_data_independent, with_and_without};
#[cfg(all(feature = "aes-ctr", target_arch = "x86_64"))]
pub(crate) use vaes::{BLOCKS, RoundKey, Vaes};
pub use vectors::{Coefficients, I16s, I32s, U32s, U64s, Vector, Words};

/// Marks a value as public, whatever it was computed from.
///
/// Has an effect only in tests with valgrind (`memcheck::declassify`). Each use explains why the
/// value may be known.
#[cfg(not(feature = "memcheck"))]
#[inline(always)]
pub(crate) fn declassify<T: ?Sized>(_: &mut T) {}

/// Does nothing. With the feature `limit`, it checks that the machine has each backend that the
/// environment variable `PQ_CORE_REQUIRE` names.
#[cfg(not(any(test, feature = "limit")))]
#[doc(hidden)]
#[inline(always)]
pub fn require() {}
