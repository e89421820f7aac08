//! Which backend a public operation runs on.

#[cfg(feature = "limit")]
use core::sync::atomic::{AtomicU8, Ordering};

use super::Portable;
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
/// `$d` is a dollar sign, which a macro that defines macros can't write.
macro_rules! backends {
    ($d:tt $($(#[$cfg:meta])* $name:ident,)*) => {
        /// The token of a backend that the machine has.
        pub(crate) enum Choice {
            $($(#[$cfg])* $name($name),)*
            Portable(Portable),
        }

        /// The best backend of this machine.
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

        /// Runs `$body` with `$b` bound to the best backend of this machine.
        ///
        /// The only place where a backend is chosen: each public operation passes
        /// through here once, and what it calls is compiled anew for every backend.
        macro_rules! dispatch {
            ($d b:ident => $d body:expr) => {
                match $crate::arch::choose() {
                    $($(#[$cfg])* $crate::arch::Choice::$name($d b) => $d body,)*
                    $crate::arch::Choice::Portable($d b) => $d body,
                }
            };
        }
        pub(crate) use dispatch;

        /// Evaluates `$body` once for each backend that the machine has, and for one
        /// of several lanes in plain Rust, with `$b` bound to its token.
        #[cfg(test)]
        macro_rules! on_each_backend {
            ($d b:ident => $d body:expr) => {{
                { let $d b = $crate::arch::Portable; $d body }
                { let $d b = $crate::arch::wide::Wide; $d body }
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
}

/// The greatest rank that public operations may use.
#[cfg(feature = "limit")]
static LIMIT: AtomicU8 = AtomicU8::new(u8::MAX);

/// Hides the backends that are better than the given one from all public operations of
/// this process, from now on.
///
/// For tests and benchmarks of the backends of lesser machines. Operations that are
/// running go on as they are, and whoever names a backend explicitly still gets it.
#[cfg(feature = "limit")]
pub fn limit<B: super::Backend>(_: B) {
    LIMIT.store(B::RANK, Ordering::Relaxed);
}

/// Takes back what [`limit`] did.
#[cfg(feature = "limit")]
pub fn lift_limit() {
    LIMIT.store(u8::MAX, Ordering::Relaxed);
}

/// Each operation reads this once, and nothing else hangs on it.
#[cfg(feature = "limit")]
#[inline]
fn greatest_rank() -> u8 {
    LIMIT.load(Ordering::Relaxed)
}

#[cfg(all(
    not(feature = "limit"),
    any(
        target_arch = "x86_64",
        all(
            target_arch = "aarch64",
            target_feature = "neon",
            target_endian = "little"
        )
    )
))]
#[inline]
fn greatest_rank() -> u8 {
    u8::MAX
}

#[cfg(all(test, feature = "limit"))]
mod tests {
    use super::{Choice, choose, lift_limit, limit};
    use crate::arch::Portable;

    #[test]
    fn better_backends_hide() {
        limit(Portable);
        assert!(matches!(choose(), Choice::Portable(_)));
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = crate::arch::Avx2::detect() {
            limit(avx2);
            assert!(matches!(choose(), Choice::Avx2(_)));
        }
        lift_limit();
        #[cfg(target_arch = "x86_64")]
        if crate::arch::Avx512::detect().is_some() {
            assert!(matches!(choose(), Choice::Avx512(_)));
        }
    }
}
