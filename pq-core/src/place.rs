//! Keys that are made in their final place.
//!
//! A move copies a key and leaves its old bytes behind, and a function that returns a key may move
//! it. So only zeros are moved to the place, and the secret is written there through a reference.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::convert::Infallible;
use core::mem;

/// Puts zeros in `place`, from which `fill` makes a key.
///
/// Drops the previous value first, and the new one if `fill` fails or panics.
pub(crate) fn try_insert<T, E>(
    place: &mut Option<T>,
    zero: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T) -> Result<(), E>,
) -> Result<&T, E> {
    let unfinished = Unfinished::new(place);
    fill(unfinished.0.insert(zero()))?;
    unfinished.finish();
    Ok(place.as_ref().expect("it was put there"))
}

/// A place whose value is being made. Dropping it empties the place: a caller that catches a panic
/// finds no zeros that look like a key or a secret, nor what was there before.
pub(crate) struct Unfinished<'p, T>(&'p mut Option<T>);

impl<'p, T> Unfinished<'p, T> {
    /// Drops the previous value, so that zeros can be written to its place.
    pub(crate) fn new(place: &'p mut Option<T>) -> Self {
        *place = None;
        Self(place)
    }

    /// The place, where the value is to be made.
    pub(crate) fn place(&mut self) -> &mut Option<T> {
        self.0
    }

    /// The value is made: it stays.
    pub(crate) fn finish(self) {
        mem::forget(self);
    }
}

impl<T> Drop for Unfinished<'_, T> {
    fn drop(&mut self) {
        *self.0 = None;
    }
}

/// [`try_insert`], for a `fill` that can't fail.
pub(crate) fn insert<T>(
    place: &mut Option<T>,
    zero: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T),
) -> &T {
    let Ok(value) = try_insert(place, zero, |value| {
        fill(value);
        Ok::<_, Infallible>(())
    });
    value
}

/// [`try_insert`], into a box.
#[cfg(feature = "alloc")]
pub(crate) fn try_boxed<T, E>(
    zero: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T) -> Result<(), E>,
) -> Result<Box<T>, E> {
    let mut value = Box::write(Box::new_uninit(), zero());
    fill(&mut value)?;
    Ok(value)
}

/// [`insert`], into a box.
#[cfg(feature = "alloc")]
pub(crate) fn boxed<T>(zero: impl FnOnce() -> T, fill: impl FnOnce(&mut T)) -> Box<T> {
    let mut value = Box::write(Box::new_uninit(), zero());
    fill(&mut value);
    value
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::rc::Rc;
    #[cfg(panic = "unwind")]
    use core::panic::AssertUnwindSafe;

    use super::{insert, try_insert};

    /// The previous value is dropped, and so is a refused one.
    #[test]
    fn places_are_written_over() {
        let shared = Rc::new(());
        let zero = || (shared.clone(), 0);
        let mut place = Some((shared.clone(), 7));
        assert_eq!(insert(&mut place, zero, |(_, n)| *n += 1).1, 1);
        assert_eq!(Rc::strong_count(&shared), 2);
        let made = try_insert(&mut place, zero, |(_, n)| {
            *n += 2;
            Ok::<_, u8>(())
        });
        assert_eq!(made.map(|(_, n)| *n), Ok(2));
        assert_eq!(Rc::strong_count(&shared), 2);
        assert_eq!(try_insert(&mut place, zero, |_| Err(3)), Err(3));
        assert!(place.is_none());
        assert_eq!(Rc::strong_count(&shared), 1);
    }

    /// A caller that catches the panic finds no zeros that look like a key.
    #[test]
    #[cfg(panic = "unwind")]
    fn what_panics_leaves_nothing() {
        extern crate std;

        let mut place = Some(7);
        let made = AssertUnwindSafe(|| {
            insert(&mut place, || 0, |_| panic!("planned"));
        });
        assert!(std::panic::catch_unwind(made).is_err());
        assert_eq!(place, None);
    }
}
