//! Sums and differences of polynomials.

use crate::arch::{Backend, Coefficients, Kernel, Vector};

/// f ← f + g; the caller's bounds exclude overflow.
pub(crate) struct Add<'a>(pub(crate) &'a mut [i16; 256], pub(crate) &'a [i16; 256]);

impl<B: Backend> Kernel<B> for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        each(b, self.0, self.1, B::I16s::add);
    }
}

/// f ← f − g; the caller's bounds exclude overflow.
pub(crate) struct Subtract<'a>(pub(crate) &'a mut [i16; 256], pub(crate) &'a [i16; 256]);

impl<B: Backend> Kernel<B> for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        each(b, self.0, self.1, B::I16s::sub);
    }
}

/// f ← `operation`(f, g), vector by vector.
#[inline(always)]
fn each<B: Backend>(
    b: B,
    f: &mut [i16; 256],
    g: &[i16; 256],
    operation: impl Fn(B::I16s, B::I16s) -> B::I16s,
) {
    let g = B::I16s::chunks(g);
    for (f, g) in B::I16s::chunks_mut(f).iter_mut().zip(g) {
        operation(B::I16s::load(b, f), B::I16s::load(b, g)).store(f);
    }
}

#[cfg(test)]
mod tests {
    use super::{Add, Subtract};
    use crate::arch::{Backend, on_each_backend};

    #[test]
    fn sums_and_differences() {
        fn check<B: Backend>(b: B) {
            let f: [i16; 256] = core::array::from_fn(|i| 97 * i as i16);
            let g: [i16; 256] = core::array::from_fn(|i| 7000 - 31 * i as i16);
            let mut sum = f;
            b.run(Add(&mut sum, &g));
            assert_eq!(sum, core::array::from_fn(|i| f[i] + g[i]));
            let mut difference = f;
            b.run(Subtract(&mut difference, &g));
            assert_eq!(difference, core::array::from_fn(|i| f[i] - g[i]));
        }

        on_each_backend!(b => check(b));
    }
}
