//! Work on one core, or with the feature `rayon` on all of them.

use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "rayon")]
use crate::arch::DataIndependentTiming;

/// Starts the threads that [`join`] uses, if they are not running yet.
///
/// A thread begins with the timing mode of the thread that starts it. So call this before an
/// operation requests data-independent timing: these threads also do work that is not ours.
#[inline]
pub(super) fn start_threads() {
    #[cfg(feature = "rayon")]
    rayon::current_num_threads();
}

/// Runs both, side by side if another core is idle.
#[cfg(feature = "rayon")]
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    // each thread has its own timing mode
    rayon::join(
        || {
            let _timing = DataIndependentTiming::begin();
            a()
        },
        || {
            let _timing = DataIndependentTiming::begin();
            b()
        },
    )
}

/// Runs both, one after the other.
#[cfg(not(feature = "rayon"))]
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    (a(), b())
}

/// The progress of a key generation or a signature.
///
/// It counts calls of hash functions, without the short ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How many calls are done.
    pub done: u32,
    /// How many calls there are in total.
    pub total: u32,
}

/// A function that is called with the [`Progress`] again and again, the last time with all done.
///
/// With the feature `rayon` several threads call it at once, and the values may come out of order.
pub type ProgressHook<'a> = &'a (dyn Fn(Progress) + Sync);

/// Counts the calls that are done.
pub(super) struct Meter<'a> {
    hook: ProgressHook<'a>,
    done: AtomicU32,
    total: u32,
}

impl<'a> Meter<'a> {
    pub(super) fn new(hook: ProgressHook<'a>, total: u32) -> Self {
        Self {
            hook,
            done: AtomicU32::new(0),
            total,
        }
    }

    /// `count` more are done.
    pub(super) fn advance(&self, count: u32) {
        let done = self.add(count);
        (self.hook)(Progress {
            done,
            total: self.total,
        });
    }

    #[cfg(feature = "rayon")]
    fn add(&self, count: u32) -> u32 {
        self.done.fetch_add(count, Ordering::Relaxed) + count
    }

    /// Without `fetch_add`: there is no other thread, and not all CPUs have an atomic addition.
    #[cfg(not(feature = "rayon"))]
    fn add(&self, count: u32) -> u32 {
        let done = self.done.load(Ordering::Relaxed) + count;
        self.done.store(done, Ordering::Relaxed);
        done
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    extern crate std;

    use alloc::vec;
    #[cfg(panic = "unwind")]
    use core::panic::AssertUnwindSafe;
    #[cfg(feature = "rayon")]
    use core::time::Duration;
    #[cfg(panic = "unwind")]
    use std::panic::catch_unwind;
    #[cfg(feature = "rayon")]
    use std::time::Instant;

    use crate::arch::{is_data_independent, with_and_without};
    use crate::slh_dsa::{Message, ParameterSet, SigningKey, SlhDsaShake128f};

    /// On each thread that takes part (each calls the progress hook), and only during the
    /// operation.
    #[test]
    fn timing_is_data_independent() {
        with_and_without(|inside| {
            let check = |_| assert_eq!(is_data_independent(), inside);
            let key = SigningKey::<SlhDsaShake128f>::from_seed_with_progress(&[1; 48], &check);
            let mut signature = vec![0; SlhDsaShake128f::SIGNATURE_LEN];
            let signed = key.sign_into(Message::Pure(b""), b"", None, &check, &mut signature);
            assert_eq!(signed, Ok(()));
        });
        #[cfg(feature = "rayon")]
        no_thread_keeps_the_timing();
    }

    /// The timing mode is restored even if the progress hook panics.
    #[test]
    #[cfg(panic = "unwind")]
    fn timing_is_restored_while_unwinding() {
        with_and_without(|_| {
            let make = || {
                let hook = |_| panic!("planned");
                SigningKey::<SlhDsaShake128f>::from_seed_with_progress(&[1; 48], &hook)
            };
            assert!(catch_unwind(AssertUnwindSafe(make)).is_err());
        });
        #[cfg(feature = "rayon")]
        no_thread_keeps_the_timing();
    }

    /// A thread of rayon that waits within another test's operation has the timing mode on, and may
    /// run this check meanwhile. So each thread has some time to be seen without it.
    #[cfg(feature = "rayon")]
    fn no_thread_keeps_the_timing() {
        let start = Instant::now();
        while rayon::broadcast(|_| is_data_independent() == Some(true)).contains(&true) {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "a thread keeps it"
            );
        }
    }

    /// Threads of rayon do not keep the timing mode, whichever operation starts them. Only the
    /// first operation of a process starts them, so each test is meaningful only in a process of
    /// its own: `.ci/run` starts one for each. (The tests can't do this themselves, as an emulator
    /// may run them.)
    #[cfg(feature = "rayon")]
    mod first_in_a_process {
        use super::{SlhDsaShake128f, no_thread_keeps_the_timing};
        use crate::arch::Portable;
        use crate::slh_dsa::{SigningKey, SlhDsaShake128s, internal};

        /// Its tree is so large that its halves are computed side by side.
        type Key = SigningKey<SlhDsaShake128s>;
        /// Signs in less time, and also side by side.
        type Signing = SigningKey<SlhDsaShake128f>;

        fn check<T>(operation: impl FnOnce() -> T) {
            operation();
            no_thread_keeps_the_timing();
        }

        #[test]
        fn from_seed() {
            check(|| Key::from_seed(&[1; 48]));
        }

        #[test]
        fn from_seed_into() {
            check(|| {
                Key::from_seed_into(&[1; 48], &mut None);
            });
        }

        #[test]
        #[cfg(feature = "alloc")]
        fn boxed_from_seed() {
            check(|| Key::boxed_from_seed(&[1; 48]));
        }

        #[test]
        fn internal_keygen() {
            check(|| internal::keygen::<SlhDsaShake128s, _>(Portable, &[1; 48]));
        }

        #[test]
        fn checked() {
            let key = Key::from_bytes(&[1; 64]).expect("of this length");
            check(|| assert!(key.check().is_err()));
        }

        #[test]
        fn sign() {
            let key = Signing::from_bytes(&[1; 64]).expect("of this length");
            check(|| assert!(key.sign_deterministic(b"", b"").is_err()));
        }

        #[test]
        fn internal_sign() {
            let key = Signing::from_bytes(&[1; 64]).expect("of this length");
            check(|| assert!(internal::sign(Portable, &key, &[b""], None).is_err()));
        }
    }
}
