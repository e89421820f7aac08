//! Wiping secrets from memory.

/// Overwrites `secret` with zeros, in a way the compiler does not remove.
///
/// Does what `zeroize` does on slices, with plain stores that the compiler may merge
/// into wide ones: that crate's volatile stores take one instruction an element.
pub(crate) fn wipe<T: Copy + Default>(secret: &mut [T]) {
    secret.fill(T::default());
    zeroize::optimization_barrier(secret);
}
