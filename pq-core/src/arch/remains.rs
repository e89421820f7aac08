//! What is left of a value in its place after it was dropped: for tests that look for secrets.

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A secret part of a value: its name, and the bytes of the value that hold it.
pub(crate) struct Part {
    name: &'static str,
    bytes: Range<usize>,
}

/// The part of `value` that `part` is.
pub(crate) fn part<T, F: ?Sized>(value: &T, name: &'static str, part: &F) -> Part {
    let start = (&raw const *part).addr() - (&raw const *value).addr();
    let bytes = start..start + size_of_val(part);
    assert!(bytes.end <= size_of::<T>(), "{name} is outside the value");
    Part { name, bytes }
}

/// Drops a value, and checks that each of its secret parts had something in it before and has only zeros afterwards.
pub(crate) fn check_wiped<T>(value: T, parts: impl FnOnce(&T) -> Vec<Part>) {
    let mut place = Box::new(MaybeUninit::new(value));
    // SAFETY: the value was put there.
    let parts = parts(unsafe { place.assume_init_ref() });
    assert!(!parts.is_empty(), "no secrets");
    for Part { name, bytes } in &parts {
        assert!(!is_zero(&place, bytes), "{name} was zero before");
    }
    // SAFETY: the value was put there, and is not used as a value any more.
    unsafe { place.assume_init_drop() };
    for Part { name, bytes } in &parts {
        assert!(is_zero(&place, bytes), "{name} is left");
    }
}

/// Whether these bytes, which are of fields without padding, are all zero.
fn is_zero<T>(place: &MaybeUninit<T>, bytes: &Range<usize>) -> bool {
    let start = place.as_ptr().cast::<u8>();
    bytes.clone().all(|i| {
        // SAFETY: the bytes are in the place, and `part`'s fields are arrays of numbers, all of whose bytes are written.
        // Reading is volatile since the value was dropped, so the compiler could assume that nobody looks.
        unsafe { start.add(i).read_volatile() == 0 }
    })
}

mod tests {
    extern crate alloc;

    use alloc::vec;

    use zeroize::Zeroize;

    use super::{check_wiped, part};

    struct Key {
        wiped: [u8; 4],
        forgotten: [u8; 4],
    }

    impl Drop for Key {
        fn drop(&mut self) {
            self.wiped.zeroize();
        }
    }

    const KEY: Key = Key {
        wiped: [1; 4],
        forgotten: [2; 4],
    };

    #[test]
    fn wiped_secrets_pass() {
        check_wiped(KEY, |key| vec![part(key, "wiped", &key.wiped)]);
    }

    #[test]
    #[should_panic(expected = "forgotten is left")]
    fn forgotten_secrets_are_found() {
        check_wiped(KEY, |key| {
            vec![
                part(key, "wiped", &key.wiped),
                part(key, "forgotten", &key.forgotten),
            ]
        });
    }
}
