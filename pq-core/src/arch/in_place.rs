//! Returned values that are made in the place where the caller wants them.
//!
//! A function that makes a large value, works on it through references and returns it takes twice
//! its size of stack, and leaves a copy of it there: rustc copies a value that was borrowed when it
//! returns it. LLVM does better, and passes on the place that the caller provides, if only a single
//! call writes the value between its declaration and its return. The functions here have this form.
//! Only stack use, time, and the copies that functions returning a key by value leave on the stack
//! depend on it; `tests/evidence/machine-code` measures the stack use. Secrets that must not be left on the
//! stack are written through a reference, which does not depend on the compiler: see
//! [`place`](crate::place).

use core::mem::MaybeUninit;

/// Makes a value with `start`, and lets `fill` do the rest.
///
/// If `fill` panics, the value is not dropped.
#[inline(always)]
pub(crate) fn in_place<T>(start: impl FnOnce() -> T, fill: impl FnOnce(&mut T)) -> T {
    let mut place = MaybeUninit::uninit();
    write(&mut place, start, fill);
    // SAFETY: `write` returned, so it has written to `place`.
    unsafe { place.assume_init() }
}

/// [`in_place`], for a `fill` that can fail: then the value is dropped.
#[inline(always)]
pub(crate) fn try_in_place<T, E>(
    start: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T) -> Result<(), E>,
) -> Result<T, E> {
    in_place(
        || Ok(start()),
        |result| {
            if let Ok(value) = result
                && let Err(error) = fill(value)
            {
                *result = Err(error);
            }
        },
    )
}

/// The single call that writes the value.
#[inline(never)]
fn write<T>(place: &mut MaybeUninit<T>, start: impl FnOnce() -> T, fill: impl FnOnce(&mut T)) {
    fill(place.write(start()));
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::rc::Rc;

    use super::{in_place, try_in_place};

    /// A refused value is dropped once, and a made value is not dropped.
    #[test]
    fn values_are_made_and_dropped() {
        let shared = Rc::new(());
        let made = in_place(|| (shared.clone(), 1), |(_, n)| *n += 1);
        assert_eq!((made.1, Rc::strong_count(&shared)), (2, 2));
        drop(made);
        let start = || (shared.clone(), 1);
        let made = try_in_place(start, |(_, n)| {
            *n += 1;
            Ok::<_, u8>(())
        });
        assert_eq!(made.map(|(_, n)| n), Ok(2));
        assert_eq!(try_in_place(start, |_| Err(7)), Err(7));
        assert_eq!(Rc::strong_count(&shared), 1);
    }
}
