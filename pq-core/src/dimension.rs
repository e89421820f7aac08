//! Arrays whose length a parameter set chooses.

use crate::Error;
use crate::sealed::Sealed;

/// A number of elements, as a type: the k and ℓ of a parameter set, or the
/// length of a key in bytes.
///
/// Sealed: parameter sets name the dimensions, and nobody else needs to make one.
pub trait Dimension: Copy + Send + Sync + Sealed + 'static {
    /// `[T; N]`
    type Of<T: Element>: AsMut<[T]> + AsRef<[T]> + Element;

    /// How many elements there are.
    const N: usize;

    /// An array whose element `i` is `f(i)`.
    fn from_fn<T: Element>(f: impl FnMut(usize) -> T) -> Self::Of<T>;
}

/// `[T; N]` for the dimension `D` with `N` elements.
pub type Array<D, T> = <D as Dimension>::Of<T>;

/// `bytes` as an array, if its length is that of the dimension `D`.
pub(crate) fn array<D: Dimension>(bytes: &[u8]) -> Result<Array<D, u8>, Error> {
    Error::check_length(D::N, bytes)?;
    Ok(D::from_fn(|i| bytes[i]))
}

/// A type that an [`Array`] may hold.
pub trait Element: Clone + Send + Sync + 'static {}

impl<T: Clone + Send + Sync + 'static> Element for T {}

/// The dimension with `N` elements.
#[derive(Clone, Copy, Debug)]
pub struct Dim<const N: usize>;

impl<const N: usize> Sealed for Dim<N> {}

impl<const N: usize> Dimension for Dim<N> {
    type Of<T: Element> = [T; N];

    const N: usize = N;

    #[inline(always)]
    fn from_fn<T: Element>(f: impl FnMut(usize) -> T) -> [T; N] {
        core::array::from_fn(f)
    }
}
