//! Numbers in the memory of a proof: the inputs before it, and the results that it expects.

extern crate alloc;

use alloc::format;
use core::array;
use core::fmt::Debug;

use zeroize::Zeroize;

use super::bounds::Bounds;
use super::forms::Form;
use super::values::{self, Id};
use crate::kernel::ntt::{Q3329, Q8380417, Ring};

/// The type of a coefficient in a lane.
pub(super) trait Number:
    Copy + Into<i64> + TryFrom<i64, Error: Debug> + Zeroize + 'static
{
    /// An [`Id`] in a lane. Kernels may depend on the size of a vector, but only on one size: 16 lanes of
    /// 32 bits.
    type Handle: Copy + From<Id> + TryInto<Id>;

    const BITS: u32;
    /// The modulus of the ring with these coefficients.
    const Q: i64;

    /// The value that a number in memory stands for.
    fn value(self) -> Id {
        values::named(self.into(), Self::BITS, Self::Q)
    }

    /// The number that stands for a value in memory.
    fn name(id: Id) -> Self {
        let name = values::name(id, Self::BITS, Self::Q);
        Self::try_from(name).expect("names are less than q by magnitude")
    }
}

impl Number for i16 {
    type Handle = u64;

    const BITS: u32 = Self::BITS;
    const Q: i64 = Q3329::Q as i64;
}

impl Number for i32 {
    type Handle = Id;

    const BITS: u32 = Self::BITS;
    const Q: i64 = Q8380417::Q as i64;
}

/// A polynomial of inputs with these bounds, numbered from `first`.
pub(super) fn polynomial<E: Number>(first: u16, bounds: Bounds) -> [E; 256] {
    array::from_fn(|i| E::name(values::input(first + i as u16, bounds)))
}

/// Checks that each coefficient is within `bounds`, and is `form` of its index as a function of the inputs.
pub(super) fn expect<E: Number>(f: &[E; 256], bounds: Bounds, form: impl Fn(usize) -> Form) {
    for (i, x) in f.iter().enumerate() {
        values::expect(&format!("coefficient {i}"), x.value(), bounds, &form(i));
    }
}
