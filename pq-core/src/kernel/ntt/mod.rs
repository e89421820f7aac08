//! The number-theoretic transforms of both standards (FIPS 203, algorithms 9 and
//! 10; FIPS 204, algorithms 41 and 42), written once.
//!
//! A layer of length `LEN` pairs coefficients `LEN` apart. The layers of 128, 64 and 32 are
//! applied together to eight vectors that are 32 coefficients apart, and all others to
//! eight neighbouring vectors, so that each coefficient is read and written twice. Sixteen
//! vectors of 512 bits fit in registers, and all layers are applied to them. Where a
//! vector is no longer than `LEN` a layer pairs whole vectors, and one twiddle factor serves
//! all lanes. Below that, the lanes of two neighbouring vectors are sorted into first and
//! second halves of the pairs, from layer to layer, and the factors come from a table with
//! one for each pair.
//!
//! With one lane it goes layer by layer, which compilers make vectors of.
//!
//! Coefficients stay in the standards' order throughout.

mod butterflies;
mod layers;
mod ml_dsa;
mod ml_kem;
mod ring;
mod twiddles;

use self::butterflies::{Forward, Inverse};
use self::layers::Layers;
pub(crate) use self::ml_dsa::Q8380417;
pub(crate) use self::ml_kem::Q3329;
pub(crate) use self::ring::{Ring, within};
use crate::arch::{Backend, Kernel, Vector};

/// The forward transform, in place.
///
/// Takes |x| ≤ q. Gives 0 ≤ x ≤ q for ML-KEM, |x| < 10q for ML-DSA.
pub(crate) struct Ntt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for Ntt<'_, R> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        forward::<B, R>(b, None, self.0);
    }
}

/// The forward transform of `f`, written to `output`.
///
/// Takes and gives what [`Ntt`] does.
pub(crate) struct NttOf<'a, R: Ring> {
    pub(crate) f: &'a [R::Element; 256],
    pub(crate) output: &'a mut [R::Element; 256],
}

impl<B: Backend, R: Ring> Kernel<B> for NttOf<'_, R> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        forward::<B, R>(b, Some(self.f), self.output);
    }
}

/// The forward transform of `input`, or of what is in `f`, in `f`.
#[inline(always)]
fn forward<B: Backend, R: Ring>(
    b: B,
    input: Option<&[R::Element; 256]>,
    f: &mut [R::Element; 256],
) {
    debug_assert!(within::<R>(input.unwrap_or(f), 1));
    let layers = Layers::<Forward, R, R::Vectors<B>>::new(b);
    if const { R::Vectors::<B>::LANES == 1 } {
        if let Some(input) = input {
            f.copy_from_slice(input);
        }
        layers.over_all::<128>(f);
        layers.over_all::<64>(f);
        layers.over_all::<32>(f);
        layers.over_all::<16>(f);
        layers.over_all::<8>(f);
        layers.over_all::<4>(f);
        layers.over_all::<2>(f);
        layers.over_all::<1>(f);
        for x in R::Vectors::<B>::chunks_mut(f) {
            R::reduce(b, R::Vectors::<B>::load(b, x)).store(x);
        }
    } else if const { Layers::<Forward, R, R::Vectors<B>>::ALL_FIT } {
        let mut v = layers.load_all(input.unwrap_or(f));
        layers.over_registers::<128>(&mut v);
        layers.over_registers::<64>(&mut v);
        layers.over_registers::<32>(&mut v);
        layers.over_registers::<16>(&mut v);
        layers.over_registers::<8>(&mut v);
        layers.over_registers::<4>(&mut v);
        layers.over_registers::<2>(&mut v);
        layers.over_registers::<1>(&mut v);
        for v in &mut v {
            *v = R::reduce(b, *v);
        }
        layers.store_all(f, v);
    } else {
        for group in 0..layers.groups() {
            let mut v = layers.load_apart(input.unwrap_or(f), group);
            layers.between::<128>(&mut v, 4, 0);
            layers.between::<64>(&mut v, 2, 0);
            layers.between::<32>(&mut v, 1, 0);
            layers.store_apart(f, group, v);
        }
        for group in 0..layers.groups() {
            let mut v = layers.load_neighbours(f, group);
            layers.over_neighbours::<16>(&mut v, group);
            layers.over_neighbours::<8>(&mut v, group);
            layers.over_neighbours::<4>(&mut v, group);
            layers.over_neighbours::<2>(&mut v, group);
            layers.over_neighbours::<1>(&mut v, group);
            for v in &mut v {
                *v = R::reduce(b, *v);
            }
            layers.store_neighbours(f, group, v);
        }
    }
    debug_assert!(within::<R>(f, R::FORWARD_BOUND));
}

/// The inverse transform, in place, times R.
///
/// Takes |x| ≤ q, gives |x| < q.
pub(crate) struct InverseNtt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for InverseNtt<'_, R> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        let f = self.0;
        debug_assert!(within::<R>(f, 1));
        let layers = Layers::<Inverse, R, R::Vectors<B>>::new(b);
        if const { R::Vectors::<B>::LANES == 1 } {
            layers.over_all::<1>(f);
            layers.over_all::<2>(f);
            layers.over_all::<4>(f);
            layers.over_all::<8>(f);
            layers.over_all::<16>(f);
            layers.over_all::<32>(f);
            layers.over_all::<64>(f);
            layers.over_all::<128>(f);
        } else if const { Layers::<Inverse, R, R::Vectors<B>>::ALL_FIT } {
            let mut v = layers.load_all(f);
            layers.over_registers::<1>(&mut v);
            layers.over_registers::<2>(&mut v);
            layers.over_registers::<4>(&mut v);
            layers.over_registers::<8>(&mut v);
            layers.over_registers::<16>(&mut v);
            layers.over_registers::<32>(&mut v);
            layers.over_registers::<64>(&mut v);
            layers.over_registers::<128>(&mut v);
            layers.store_all(f, v);
        } else {
            for group in 0..layers.groups() {
                let mut v = layers.load_neighbours(f, group);
                layers.over_neighbours::<1>(&mut v, group);
                layers.over_neighbours::<2>(&mut v, group);
                layers.over_neighbours::<4>(&mut v, group);
                layers.over_neighbours::<8>(&mut v, group);
                layers.over_neighbours::<16>(&mut v, group);
                layers.store_neighbours(f, group, v);
            }
            for group in 0..layers.groups() {
                let mut v = layers.load_apart(f, group);
                layers.between::<32>(&mut v, 1, 0);
                layers.between::<64>(&mut v, 2, 0);
                layers.between::<128>(&mut v, 4, 0);
                layers.store_apart(f, group, v);
            }
        }
        debug_assert!(below_q::<R>(f));
    }
}

/// Whether |x| < q for all coefficients.
fn below_q<R: Ring>(f: &[R::Element; 256]) -> bool {
    let q: i64 = R::Q.into();
    within::<R>(f, 1) && f.iter().all(|&x| x.into().abs() != q)
}

#[cfg(test)]
mod tests {
    use super::{InverseNtt, Ntt, NttOf, Q3329, Q8380417, Ring, below_q};
    use crate::arch::{Backend, on_each_backend};
    use crate::test_random::Random;

    /// The transforms of the standards, with `%`.
    fn textbook_ntt<R: Ring>(f: &mut [i64; 256], zeta: i64) {
        let q: i64 = R::Q.into();
        let mut k = 0;
        let mut len = 128;
        while len >= R::LAST_LEN {
            for start in (0..256).step_by(2 * len) {
                k += 1;
                let z = textbook_power(zeta, bit_reversed(k, 256 / R::LAST_LEN), q);
                for j in start..start + len {
                    let t = z * f[j + len] % q;
                    f[j + len] = (f[j] - t).rem_euclid(q);
                    f[j] = (f[j] + t).rem_euclid(q);
                }
            }
            len /= 2;
        }
    }

    fn textbook_power(base: i64, exponent: usize, q: i64) -> i64 {
        (0..exponent).fold(1, |power, _| power * base % q)
    }

    fn bit_reversed(k: usize, n: usize) -> usize {
        k.reverse_bits() >> (usize::BITS - n.ilog2())
    }

    fn inputs<R: Ring>() -> impl Iterator<Item = [i64; 256]> {
        let q: i64 = R::Q.into();
        let limit = q as i32;
        let mut random = Random::new(1);
        let random = move |_: usize| core::array::from_fn(|_| i64::from(random.within(limit)));
        // The edges of the contract first: they show an overflow if there is one.
        [[q; 256], [-q; 256], [0; 256]]
            .into_iter()
            .chain(
                (0..2).map(move |odd| core::array::from_fn(|i| if i % 2 == odd { q } else { -q })),
            )
            .chain((0..200).map(random))
    }

    fn forward_matches_textbook<B: Backend, R: Ring>(b: B, zeta: i64)
    where
        R::Element: TryFrom<i64> + core::fmt::Debug,
    {
        let q: i64 = R::Q.into();
        for input in inputs::<R>() {
            let mut f = input.map(|x| element::<R>(x));
            let mut output = f;
            output.reverse();
            b.run(NttOf::<R> {
                f: &f,
                output: &mut output,
            });
            b.run(Ntt::<R>(&mut f));
            assert!(f.map(Into::into) == output.map(Into::into));
            let mut expected = input;
            textbook_ntt::<R>(&mut expected, zeta);
            for (x, expected) in f.iter().zip(expected) {
                assert_eq!((*x).into().rem_euclid(q), expected);
            }
        }
    }

    fn inverse_inverts<B: Backend, R: Ring>(b: B, zeta: i64)
    where
        R::Element: TryFrom<i64> + core::fmt::Debug,
    {
        let q: i64 = R::Q.into();
        let radix = (1i64 << (8 * size_of::<R::Element>())) % q;
        for input in inputs::<R>() {
            let mut f = input.map(|x| element::<R>(x));
            b.run(InverseNtt::<R>(&mut f));
            assert!(below_q::<R>(&f));
            let mut back: [i64; 256] = f.map(Into::into);
            textbook_ntt::<R>(&mut back, zeta);
            for (x, back) in input.iter().zip(back) {
                assert_eq!((x * radix).rem_euclid(q), back.rem_euclid(q));
            }
        }
    }

    fn element<R: Ring>(x: i64) -> R::Element
    where
        R::Element: TryFrom<i64>,
    {
        let Ok(x) = R::Element::try_from(x) else {
            panic!("{x} does not fit an element")
        };
        x
    }

    #[test]
    fn transforms_match_textbook() {
        fn check(b: impl Backend) {
            forward_matches_textbook::<_, Q3329>(b, 17);
            forward_matches_textbook::<_, Q8380417>(b, 1753);
            inverse_inverts::<_, Q3329>(b, 17);
            inverse_inverts::<_, Q8380417>(b, 1753);
        }

        on_each_backend!(b => check(b));
    }

    #[test]
    fn q_is_not_below_q() {
        fn check<R: Ring>()
        where
            R::Element: TryFrom<i64>,
        {
            let q: i64 = R::Q.into();
            let mut f = [element::<R>(1 - q); 256];
            assert!(below_q::<R>(&f));
            for x in [q, -q] {
                f[255] = element::<R>(x);
                assert!(!below_q::<R>(&f));
            }
        }

        check::<Q3329>();
        check::<Q8380417>();
    }
}
