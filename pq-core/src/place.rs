//! Keys that are made where they stay.
//!
//! A move copies a key and leaves its old bytes behind, and a function that returns one may move
//! it. So zeros are moved to the place, and what is secret is written there through a reference.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;

/// Puts zeros in `place` and has `fill` make a key of them. What was there before is dropped, and
/// so is what could not be made.
pub(crate) fn try_insert<T, E>(
    place: &mut Option<T>,
    zero: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T) -> Result<(), E>,
) -> Result<&T, E> {
    // dropped first, so that zeros are written to its place
    *place = None;
    if let Err(error) = fill(place.insert(zero())) {
        *place = None;
        return Err(error);
    }
    Ok(place.as_ref().expect("it was put there"))
}

/// [`try_insert`], for what can't fail.
pub(crate) fn insert<T>(
    place: &mut Option<T>,
    zero: impl FnOnce() -> T,
    fill: impl FnOnce(&mut T),
) -> &T {
    *place = None;
    let value = place.insert(zero());
    fill(value);
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

    use super::{insert, try_insert};

    /// What is in a place before is dropped, and so is what is refused.
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
}
