//! What is secret is wiped when it is done with.

use core::ops::{Deref, DerefMut};

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::dimension::{Array, Dimension, Element};

/// Overwrites `secret` with zeros, in a way the compiler does not remove.
///
/// Does what `zeroize` does on slices, with plain stores that the compiler may merge
/// into wide ones: that crate's volatile stores take one instruction an element.
pub(crate) fn wipe<T: Copy + Default>(secret: &mut [T]) {
    secret.fill(T::default());
    zeroize::optimization_barrier(secret);
}

/// Overwrites what functions that the caller called before left on the stack: words of a hash's state
/// that general registers had no room for.
///
/// It reaches 1 KiB below its caller, with which `tests/stack-secrets` finds nothing on x86-64. With a
/// compiler that makes larger frames it may be too little, and only that test tells.
#[inline(never)]
pub(crate) fn wipe_stack() {
    wipe(&mut [0_u64; 128]);
}

/// Calls what handles secrets, and overwrites what it left on the stack, and what whatever it called left
/// there: round keys of other crates, and values that were moved. Let what it returns own its secrets by
/// pointers, or write them to where they stay.
///
/// It reaches 32 KiB below its caller. Whether that is enough depends on the compiler and on what is called, and
/// only looking tells: this workspace's `tests/stack-secrets` looks. If what it calls panics, nothing is overwritten.
///
/// ```
/// let mut key = Box::new([0; 32]);
/// pq_core::wiping_stack(|| {
///     // code that copies it about
///     *key = [7; 32];
/// });
/// ```
pub fn wiping_stack<T>(run: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn in_its_own_frame<T>(run: impl FnOnce() -> T) -> T {
        run()
    }

    let result = in_its_own_frame(run);
    zeroize::zeroize_stack::<{ 32 * 1024 }>();
    result
}

/// [`wipe`] of values, at once.
fn wipe_all<T: Zero>(secrets: &mut [T]) {
    for secret in &mut *secrets {
        *secret = T::ZERO;
    }
    zeroize::optimization_barrier(secrets);
}

/// What can be made in place: of zeros, to be written over.
pub(crate) trait Zero: Element + Zeroize {
    const ZERO: Self;
}

/// Writes over a seed, and wipes it if there is none in `source`.
pub(crate) fn copy_seed<const N: usize>(seed: &mut Option<[u8; N]>, source: &Option<[u8; N]>) {
    match source {
        Some(source) => seed.get_or_insert([0; N]).copy_from_slice(source),
        None => {
            if let Some(seed) = seed {
                wipe(seed);
            }
            *seed = None;
        }
    }
}

/// An array that is wiped when dropped.
pub(crate) struct Secret<D: Dimension, T: Zero>(Array<D, T>);

impl<D: Dimension, T: Zero> Secret<D, T> {
    /// All elements zero, to be written over.
    pub(crate) fn zero() -> Self {
        Self(D::from_fn(|_| T::ZERO))
    }

    /// Copies `source`, element by element.
    pub(crate) fn copy_from(&mut self, source: &Self) {
        self.clone_from_slice(source);
    }
}

impl<D: Dimension, T: Zero> Deref for Secret<D, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref()
    }
}

impl<D: Dimension, T: Zero> DerefMut for Secret<D, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut()
    }
}

impl<D: Dimension, T: Zero> Drop for Secret<D, T> {
    fn drop(&mut self) {
        wipe_all(self.0.as_mut());
    }
}

impl<D: Dimension, T: Zero> ZeroizeOnDrop for Secret<D, T> {}
