//! What is done to two coefficients, forward and inverse.

use super::ring::{Ring, tables};
use super::twiddles::{Tables, Twiddles};
use crate::arch::Coefficients;

/// What is done to pairs of coefficients, and in which order the factors are.
pub(super) trait Direction {
    const FORWARD: bool;

    /// Where the factor of a block of 2 · `LEN` coefficients is.
    fn factor<T, const LEN: usize>(tables: &Tables<T>, block: usize) -> (&Twiddles<T>, usize);

    /// Those of all pairs, for each layer.
    fn lane_factors<T>(tables: &Tables<T>) -> &[Twiddles<T>; 5];

    /// One pair in each lane, with its factor and q.
    fn butterfly<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
        token: V::Token,
        a: V,
        b: V,
        factor: [V; 3],
    ) -> (V, V);
}

/// (a, b) ← (a + zb, a − zb); each layer adds less than 1.01 q to the bound. The factors of a
/// layer come in ascending order.
pub(super) enum Forward {}

impl Direction for Forward {
    const FORWARD: bool = true;

    #[inline(always)]
    fn factor<T, const LEN: usize>(tables: &Tables<T>, block: usize) -> (&Twiddles<T>, usize) {
        (&tables.powers, 128 / LEN + block)
    }

    #[inline(always)]
    fn lane_factors<T>(tables: &Tables<T>) -> &[Twiddles<T>; 5] {
        &tables.lanes
    }

    #[inline(always)]
    fn butterfly<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
        _: V::Token,
        a: V,
        b: V,
        [z, z_over_q, q]: [V; 3],
    ) -> (V, V) {
        let t = R::product(b, z, z_over_q, q);
        (a.add(t), a.sub(t))
    }
}

/// (a, b) ← (a + b, z(b − a)); each layer doubles the bound of the sums, from q: 8q fits 16
/// bits, 256q fits 32. The last layer scales both.
///
/// The factors of a layer come in descending order: ζ^BitRev(k) · ζ^BitRev(k′) = −1 for the
/// k'th factor from the end of a layer, and b − a makes up for the sign.
pub(super) enum Inverse {}

impl Direction for Inverse {
    const FORWARD: bool = false;

    #[inline(always)]
    fn factor<T, const LEN: usize>(tables: &Tables<T>, block: usize) -> (&Twiddles<T>, usize) {
        if LEN == 128 {
            (&tables.inverse_scales, 1)
        } else {
            (&tables.powers, 256 / LEN - 1 - block)
        }
    }

    #[inline(always)]
    fn lane_factors<T>(tables: &Tables<T>) -> &[Twiddles<T>; 5] {
        &tables.inverse_lanes
    }

    #[inline(always)]
    fn butterfly<R: Ring, V: Coefficients<Element = R::Element>, const LEN: usize>(
        token: V::Token,
        a: V,
        b: V,
        [z, z_over_q, q]: [V; 3],
    ) -> (V, V) {
        let (mut sum, difference) = (a.add(b), b.sub(a));
        if LEN == 128 {
            let Twiddles {
                factors,
                factors_over_q,
            } = tables::<R, V>().inverse_scales;
            let scale = V::splat(token, factors[0]);
            let scale_over_q = V::splat(token, factors_over_q[0]);
            // Below q by magnitude, whatever it is.
            let product = if V::ROUNDS {
                V::rounded_product
            } else {
                V::montgomery_product
            };
            return (
                product(sum, scale, scale_over_q, q),
                product(difference, z, z_over_q, q),
            );
        }
        if R::REDUCED_INVERSE_LAYERS.contains(&LEN) {
            sum = R::reduce(token, sum);
        }
        (sum, R::product(difference, z, z_over_q, q))
    }
}
