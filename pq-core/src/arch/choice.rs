//! The choice of the backend that a public operation runs on.

#[cfg(any(test, feature = "limit"))]
extern crate alloc;
#[cfg(feature = "limit")]
extern crate std;

#[cfg(feature = "limit")]
use core::sync::atomic::{AtomicU8, Ordering};

use super::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::Simd128;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512};
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
use super::{Neon, NeonSha3};

/// Defines [`Choice`], [`choose`] and [`dispatch`] for all backends, the best first.
///
/// `$d` is a dollar sign, which a macro that defines macros can't write itself.
macro_rules! backends {
    ($d:tt $($(#[$cfg:meta])* $name:ident,)*) => {
        /// The token of a backend that the machine has, and the proof that this crate is the
        /// caller.
        ///
        /// The operations of a parameter set are functions of its traits, so everyone who can name
        /// the set can name them too. They take a `Choice`, which only this crate can make, since
        /// they trust their other arguments: public functions have checked these.
        #[derive(Clone, Copy, Debug)]
        pub enum Choice {
            $($(#[$cfg])* $name($name),)*
            Portable(Portable),
        }

        $($(#[$cfg])* impl IntoChoice for $name {
            fn choice(self, _: InCrate) -> Choice {
                Choice::$name(self)
            }
        })*

        /// The best backend of this machine. Each public operation calls this once.
        #[inline]
        pub(crate) fn choose() -> Choice {
            $($(#[$cfg])* {
                if <$name as super::Backend>::RANK <= greatest_rank()
                    && let Some(token) = $name::detect()
                {
                    return Choice::$name(token);
                }
            })*
            Choice::Portable(Portable)
        }

        /// Runs `$body` with `$b` bound to the backend in `$choice`. The functions that it calls
        /// are compiled for each backend.
        ///
        /// This is the only way from a choice to its backend, so everything that runs on a backend
        /// has data-independent timing (`arch::timing`).
        macro_rules! dispatch {
            ($d choice:expr, $d b:ident => $d body:expr) => {{
                let _timing = $crate::arch::DataIndependentTiming::begin();
                match $d choice {
                    $($(#[$cfg])* $crate::arch::Choice::$name($d b) => $d body,)*
                    $crate::arch::Choice::Portable($d b) => $d body,
                }
            }};
        }
        pub(crate) use dispatch;

        /// The backends of this architecture, the best first: their names, and their ranks if the
        /// machine has them.
        #[cfg(any(test, feature = "limit"))]
        pub(super) fn known() -> alloc::vec::Vec<(&'static str, Option<u8>)> {
            alloc::vec![
                $($(#[$cfg])* (<$name as super::Backend>::NAME, rank_if($name::detect())),)*
                (<Portable as super::Backend>::NAME, rank_if(Some(Portable))),
            ]
        }

        /// Evaluates an expression once for each backend that the machine has, with an identifier
        /// bound to its token: for tests and benchmarks of every backend.
        ///
        /// With the feature `limit` it panics if the environment variable `PQ_CORE_REQUIRE` names a
        /// backend that the machine lacks or that does not exist. Names are as in
        /// [`NAME`](crate::arch::Backend::NAME), separated by commas without blanks: `AVX-512,AVX2`
        /// for example. The backend of WebAssembly is called `SIMD128`, and is there if it is
        /// compiled for. The instructions for SHA-256 are called `SHA-NI` on x86-64 and `SHA-256`
        /// on AArch64, those for AES (feature `aes-ctr`) `VAES`.
        ///
        /// It is a macro since backends are types, and a closure can't be generic over them.
        ///
        /// ```
        /// use pq_core::arch::Backend;
        ///
        /// fn name<B: Backend>(_: B) -> &'static str {
        ///     B::NAME
        /// }
        ///
        /// let mut names = Vec::new();
        /// pq_core::on_each_backend!(b => names.push(name(b)));
        /// assert_eq!(names[0], "portable");
        /// ```
        #[macro_export]
        macro_rules! on_each_backend {
            ($d b:ident => $d body:expr) => {{
                $crate::arch::require();
                { let $d b = $crate::arch::Portable; $d body }
                $($(#[$cfg])* {
                    if let Some($d b) = $crate::arch::$name::detect() {
                        $d body
                    }
                })*
            }};
        }

        #[cfg(test)]
        pub(crate) use on_each_backend;
    };
}

backends! { $
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    NeonSha3,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

#[cfg(any(test, feature = "limit"))]
fn rank_if<B: super::Backend>(detected: Option<B>) -> Option<u8> {
    detected.map(|_| B::RANK)
}

/// The rank of the backend of this name, if the machine has it.
#[cfg(feature = "limit")]
fn rank_of(name: &str) -> Option<u8> {
    known().into_iter().find(|(known, _)| *known == name)?.1
}

impl IntoChoice for Portable {
    fn choice(self, _: InCrate) -> Choice {
        Choice::Portable(self)
    }
}

/// A backend, from which this crate can make a [`Choice`].
pub trait IntoChoice {
    /// The backend as a choice.
    fn choice(self, _: InCrate) -> Choice;
}

/// The proof that this crate is the caller: no other crate can name this type.
#[derive(Clone, Copy, Debug)]
pub struct InCrate;

/// The greatest rank that public operations may use, if [`limit`] set one.
#[cfg(feature = "limit")]
static LIMIT: AtomicU8 = AtomicU8::new(NOT_LIMITED);

#[cfg(feature = "limit")]
const NOT_LIMITED: u8 = u8::MAX;

/// The environment variable that names the backend to start with.
#[cfg(feature = "limit")]
const VARIABLE: &str = "PQ_CORE_BACKEND";

/// Hides the backends that are better than the given one from all public operations of this
/// process, from now on.
///
/// For tests and benchmarks of the backends of older machines. Operations that are running continue
/// unchanged, and code that names a backend explicitly still gets it.
///
/// The environment variable `PQ_CORE_BACKEND` does the same from the start; its value is the
/// [name](super::Backend::NAME) of a backend that the machine has.
#[cfg(feature = "limit")]
pub fn limit<B: super::Backend>(_: B) {
    LIMIT.store(B::RANK, Ordering::Relaxed);
}

/// Undoes [`limit`].
#[cfg(feature = "limit")]
pub fn lift_limit() {
    LIMIT.store(NOT_LIMITED, Ordering::Relaxed);
}

/// The name of the backend that public operations run on.
#[cfg(feature = "limit")]
pub fn chosen() -> &'static str {
    fn name<B: super::Backend>(_: B) -> &'static str {
        B::NAME
    }
    dispatch!(choose(), b => name(b))
}

/// Each operation reads this once, and nothing else depends on it.
#[cfg(feature = "limit")]
#[inline]
fn greatest_rank() -> u8 {
    match LIMIT.load(Ordering::Relaxed) {
        NOT_LIMITED => rank_of_environment(),
        rank => rank,
    }
}

/// The rank of the backend that the environment variable names.
///
/// # Panics
///
/// If the machine has no such backend: a test would run on another one.
#[cfg(feature = "limit")]
fn rank_of_environment() -> u8 {
    static RANK: std::sync::OnceLock<u8> = std::sync::OnceLock::new();
    *RANK.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(name) => rank_of(&name)
            .unwrap_or_else(|| panic!("{VARIABLE}: this machine has no backend {name:?}")),
        Err(_) => u8::MAX,
    })
}

#[cfg(all(
    not(feature = "limit"),
    any(
        target_arch = "x86_64",
        all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little"
        ),
        all(target_arch = "wasm32", target_feature = "simd128")
    )
))]
#[inline]
fn greatest_rank() -> u8 {
    u8::MAX
}

#[cfg(all(test, feature = "limit"))]
mod tests {
    use super::{Choice, VARIABLE, choose, chosen, lift_limit, limit, rank_of};
    use crate::arch::{Backend, Portable};

    /// In one test, since it changes state of the whole process.
    #[test]
    fn better_backends_hide() {
        if let Ok(name) = super::std::env::var(VARIABLE) {
            assert_eq!(chosen(), name);
        }
        limit(Portable);
        assert!(matches!(choose(), Choice::Portable(_)));
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = crate::arch::Avx2::detect() {
            limit(avx2);
            assert_eq!(chosen(), "AVX2");
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = crate::arch::Avx512::detect() {
            limit(avx512);
            assert_eq!(chosen(), "AVX-512");
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        if let Some(simd128) = crate::arch::Simd128::detect() {
            limit(simd128);
            assert_eq!(chosen(), "SIMD128");
        }
        lift_limit();
    }

    #[test]
    fn names_are_known() {
        fn check<B: Backend>(_: B) {
            assert_eq!(rank_of(B::NAME), Some(B::RANK));
        }
        on_each_backend!(b => check(b));
        assert_eq!(rank_of("abacus"), None);
    }
}
