//! Instructions that take the same time for all operands, on CPUs that need a mode for this.
//!
//! 64-bit Arm promises this for the instructions used here while the bit DIT of the thread's state
//! (PSTATE) is set, and for none while it is not (Arm Architecture Reference Manual, "PSTATE.DIT").
//! So `dispatch!` sets it around everything that runs on a backend, and restores it afterwards.
//! Code that handles secrets elsewhere does the same.
//!
//! On other CPUs nothing is done. 32-bit Arm has such a bit, which a process could set (CPSR.DIT of
//! ARMv8.4); SECURITY.md names it as out of scope. Other CPUs have none.

use core::marker::PhantomData;

/// The bit belongs to the thread, so no guard may move to another thread.
type OfThread = PhantomData<*mut ()>;

#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "these read and write a register of the CPU")]
mod dit {
    use super::OfThread;

    // On Arm, only the operating system can ask the CPU for its features. Apple's reports DIT in
    // later versions only, and cpufeatures panics on earlier ones: so on Apple's systems the
    // features of the target decide, which include DIT on macOS.
    #[cfg(not(all(target_vendor = "apple", not(target_feature = "dit"))))]
    cpufeatures::new!(detection, "dit");
    #[cfg(all(target_vendor = "apple", not(target_feature = "dit")))]
    mod detection {
        pub(super) fn get() -> bool {
            false
        }
    }

    /// Keeps this thread's bit set until it is dropped, then restores it.
    ///
    /// Guards can be nested. They are also dropped by an early return, and while a panic unwinds.
    #[must_use = "dropping it ends its effect"]
    pub(crate) struct DataIndependentTiming {
        /// Whether this guard set the bit.
        set: bool,
        of_thread: OfThread,
    }

    impl DataIndependentTiming {
        /// Sets the bit, if the CPU has one.
        #[inline]
        pub(crate) fn begin() -> Self {
            let set = is_set() == Some(false);
            if set {
                // SAFETY: the CPU has the bit, since `is_set` has read it.
                unsafe { write::<1>() };
            }
            Self {
                set,
                of_thread: OfThread::default(),
            }
        }
    }

    impl Drop for DataIndependentTiming {
        #[inline]
        fn drop(&mut self) {
            if self.set {
                // SAFETY: `begin` wrote to it.
                unsafe { write::<0>() };
            }
        }
    }

    /// Whether the bit is set, on CPUs that have it.
    #[inline]
    pub(super) fn is_set() -> Option<bool> {
        detection::get().then(|| {
            // SAFETY: the CPU has the bit.
            unsafe { read() }
        })
    }

    #[target_feature(enable = "dit")]
    fn read() -> bool {
        let state: u64;
        // SAFETY: the CPU has the register, as the feature says. Reading it changes nothing, but
        // must not be moved out of a loop, nor two reads be merged into one.
        unsafe {
            core::arch::asm!("mrs {}, dit", out(reg) state, options(nomem, nostack, preserves_flags));
        }
        state >> 24 & 1 == 1
    }

    /// Writes the bit. The compiler keeps the order of this write and of accesses to memory that
    /// others can reach, as `nomem` is not among the options. It may move computations in registers;
    /// but the work of an operation is in separate functions, which take references to it.
    #[target_feature(enable = "dit")]
    fn write<const BIT: u8>() {
        // SAFETY: the CPU has the register, as the feature says, and the bit changes no result.
        unsafe {
            core::arch::asm!("msr dit, #{}", const BIT, options(nostack, preserves_flags));
        }
        // By Arm's manual, the instructions that follow see the new state without a barrier; Apple
        // requires one after setting the bit ("Writing ARM64 code for Apple platforms").
        #[cfg(target_vendor = "apple")]
        if BIT == 1 {
            // SAFETY: barriers only.
            unsafe {
                core::arch::asm!("dsb nsh", "isb sy", options(nostack, preserves_flags));
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) use dit::DataIndependentTiming;

/// There is no bit to set. Like the guard of aarch64, it can't leave its thread, so that code that
/// compiles here also compiles there.
#[cfg(not(target_arch = "aarch64"))]
#[must_use = "dropping it ends its effect"]
pub(crate) struct DataIndependentTiming(OfThread);

#[cfg(not(target_arch = "aarch64"))]
impl DataIndependentTiming {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        Self(OfThread::default())
    }
}

/// Whether this thread's instructions take data-independent time, if the CPU has a bit for it: for
/// tests.
#[cfg(test)]
pub(crate) fn is_data_independent() -> Option<bool> {
    #[cfg(target_arch = "aarch64")]
    return dit::is_set();
    #[cfg(not(target_arch = "aarch64"))]
    None
}

/// Runs a test with the bit in its default state and with the bit set, and checks that it is
/// restored. The test gets the value that it has to find inside operations: `None` if there is no
/// bit.
#[cfg(test)]
pub(crate) fn with_and_without(test: impl Fn(Option<bool>)) {
    let before = is_data_independent();
    assert_ne!(before, Some(true), "something left it set");
    let inside = before.map(|_| true);
    test(inside);
    assert_eq!(is_data_independent(), before);
    let timing = DataIndependentTiming::begin();
    test(inside);
    assert_eq!(is_data_independent(), inside);
    drop(timing);
    assert_eq!(is_data_independent(), before);
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::eprintln;
    use std::panic::catch_unwind;

    use super::{is_data_independent, with_and_without};
    use crate::arch::{Backend, InCrate, Kernel, choose, dispatch, on_each_backend};

    /// Reads the bit where kernels run.
    struct Probe;

    impl<T> Kernel<T> for Probe {
        type Output = Option<bool>;

        fn run(self, _: T) -> Self::Output {
            is_data_independent()
        }
    }

    /// The bit is found if the operating system reports it to other code than ours.
    #[test]
    fn bit_is_detected() {
        #[cfg(target_arch = "aarch64")]
        let expected = std::arch::is_aarch64_feature_detected!("dit");
        #[cfg(not(target_arch = "aarch64"))]
        let expected = false;
        assert_eq!(is_data_independent(), expected.then_some(false));
        // CI looks for it
        eprintln!("DIT: {}", if expected { "there" } else { "not there" });
    }

    #[test]
    fn set_in_kernels_and_restored() {
        with_and_without(|inside| {
            let seen =
                dispatch!(choose(), b => (b.run(Probe), b.run_scalar(Probe), b.run_few(Probe)));
            assert_eq!(seen, (inside, inside, inside));
        });
        on_each_backend!(b => check(b));

        fn check<B: Backend>(b: B) {
            let choice = b.choice(InCrate);
            with_and_without(|inside| {
                assert_eq!(dispatch!(choice, b => b.run(Probe)), inside);
            });
        }
    }

    /// The inner one restores what the outer one set, and the outer one what was before.
    #[test]
    fn nested() {
        with_and_without(|inside| {
            dispatch!(choose(), b => {
                assert_eq!(dispatch!(choose(), b => b.run(Probe)), inside);
                assert_eq!(b.run(Probe), inside);
            });
        });
    }

    #[test]
    fn restored_on_early_return() {
        fn fails(inside: Option<bool>) -> Result<(), u8> {
            dispatch!(choose(), b => {
                assert_eq!(b.run(Probe), inside);
                Err(7)?;
            });
            Ok(())
        }

        with_and_without(|inside| assert_eq!(fails(inside), Err(7)));
    }

    #[test]
    fn restored_while_unwinding() {
        with_and_without(|inside| {
            let unwound = catch_unwind(|| {
                dispatch!(choose(), b => assert_eq!(b.run(Probe), inside.map(|_| false), "planned"));
            });
            // without such a bit the assertion holds
            assert_eq!(unwound.is_err(), inside.is_some());
        });
    }
}
