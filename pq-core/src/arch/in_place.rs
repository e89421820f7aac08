//! Values that are returned, and made where their caller wants them.
//!
//! A function that makes a large value, works on it through references and returns it takes
//! twice its size of stack, and leaves a copy of it there: rustc returns by copying whatever was
//! borrowed. LLVM does better, and passes on the place that the caller provides, if
//! nothing but a single call writes the value between its declaration and its return. That
//! is what there is here. Nothing depends on it but stack, time, and what the forms that return a
//! key by value leave on the stack; `tests/machine-code` measures the first. What is not to be
//! left there is written through a reference, which depends on nothing: see [`place`](crate::place).

use core::mem::MaybeUninit;

/// Makes a value of what `start` gives, and has `fill` do the rest.
///
/// If `fill` panics, the value is not dropped.
#[inline(always)]
pub(crate) fn in_place<T>(start: impl FnOnce() -> T, fill: impl FnOnce(&mut T)) -> T {
    let mut place = MaybeUninit::uninit();
    write(&mut place, start, fill);
    // SAFETY: `write` returned, so it has written to `place`.
    unsafe { place.assume_init() }
}

/// [`in_place`], for what can fail: then what `start` gave is dropped.
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

/// The single call.
#[inline(never)]
fn write<T>(place: &mut MaybeUninit<T>, start: impl FnOnce() -> T, fill: impl FnOnce(&mut T)) {
    fill(place.write(start()));
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::rc::Rc;

    use super::{in_place, try_in_place};

    /// What is refused is dropped, once, and what is made is not.
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
