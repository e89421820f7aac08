//! Secrets are wiped after use.

use core::ops::{Deref, DerefMut};

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::dimension::{Array, Dimension, Element};

/// Overwrites `secret` with zeros, in a way the compiler does not remove.
///
/// Does what `zeroize` does on slices, but with plain stores, which the compiler may merge into
/// wide ones: that crate's volatile stores take one instruction per element.
pub(crate) fn wipe<T: Copy + Default>(secret: &mut [T]) {
    secret.fill(T::default());
    zeroize::optimization_barrier(secret);
}

/// Copies a secret byte by byte, for functions that go on afterwards.
///
/// A whole copy leaves half of the secret in a vector register. Code that follows stores such registers where it moves
/// an `Option` that is `None`: to the compiler, its content is nobody's.
pub(crate) fn copy<const N: usize>(to: &mut [u8; N], from: &[u8; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
        zeroize::optimization_barrier(to);
    }
}

/// Overwrites what earlier calls of the caller left on the stack: words of a hash's state that did
/// not fit in general registers.
///
/// It reaches 1 KiB below its caller; with this, `tests/evidence/stack-secrets` finds nothing on x86-64. A
/// compiler that makes larger frames may need more, and only that test shows it.
#[inline(never)]
pub(crate) fn wipe_stack() {
    wipe(&mut [0_u64; 128]);
}

/// Calls `run`, then overwrites what it and the functions it called left on the stack.
///
/// Such remains are, for example, round keys of other crates, and values that were moved. The value
/// that `run` returns should own its secrets through pointers, or `run` should write them to their
/// final place.
///
/// It overwrites 32 KiB below its caller. Whether this is enough depends on the compiler and on the
/// called functions, and only a test can tell: this workspace has `tests/evidence/stack-secrets`. If `run`
/// panics, nothing is overwritten.
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

/// [`wipe`] of values, all at once.
fn wipe_all<T: Zero>(secrets: &mut [T]) {
    for secret in &mut *secrets {
        *secret = T::ZERO;
    }
    zeroize::optimization_barrier(secrets);
}

/// A type whose values can be made in place: first zeros, then written over.
pub(crate) trait Zero: Element + Zeroize {
    const ZERO: Self;
}

/// Copies `source` over `seed`; if `source` is `None`, wipes `seed` and sets it to `None`.
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
