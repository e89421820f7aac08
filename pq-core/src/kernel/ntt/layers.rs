//! How a layer goes over the coefficients.

use core::marker::PhantomData;

use super::butterflies::Direction;
use super::ring::{Ring, tables};
use crate::arch::Coefficients;

/// The layers of a transform in one of two directions.
pub(super) struct Layers<D, R: Ring, V: Coefficients<Element = R::Element>> {
    token: V::Token,
    q: V,
    of: PhantomData<(D, R)>,
}

/// How many vectors are in registers at a time.
const GROUP: usize = 8;

/// How many there are in all if they have 512 bits and the coefficients 32. Then all are in
/// registers, of which there are 32.
const ALL: usize = 16;

impl<D: Direction, R: Ring, V: Coefficients<Element = R::Element>> Layers<D, R, V> {
    #[inline(always)]
    pub(super) fn new(token: V::Token) -> Self {
        const {
            assert!(V::LANES == 1 || V::LANES >= 4 && V::LANES <= 32);
            assert!(
                R::LAST_LEN * size_of::<R::Element>() == 4,
                "blocks of 32 bits are sorted"
            );
        }
        Self {
            token,
            q: V::splat(token, R::Q),
            of: PhantomData,
        }
    }

    /// How many groups of vectors there are.
    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        256 / (GROUP * V::LANES)
    }

    /// The vectors of a group that are 32 coefficients apart.
    #[inline(always)]
    pub(super) fn load_apart(&self, f: &[R::Element; 256], group: usize) -> [V; GROUP] {
        let mut vectors = [self.q; GROUP];
        for (v, f) in vectors.iter_mut().zip(f.as_chunks::<32>().0) {
            *v = V::load(self.token, &V::chunks(f)[group]);
        }
        vectors
    }

    /// The inverse of [`load_apart`](Self::load_apart).
    #[inline(always)]
    pub(super) fn store_apart(&self, f: &mut [R::Element; 256], group: usize, vectors: [V; GROUP]) {
        for (v, f) in vectors.iter().zip(f.as_chunks_mut::<32>().0) {
            v.store(&mut V::chunks_mut(f)[group]);
        }
    }

    /// The neighbouring vectors of a group.
    #[inline(always)]
    pub(super) fn load_neighbours(&self, f: &[R::Element; 256], group: usize) -> [V; GROUP] {
        let mut vectors = [self.q; GROUP];
        for (v, f) in vectors.iter_mut().zip(&V::chunks(f)[GROUP * group..]) {
            *v = V::load(self.token, f);
        }
        vectors
    }

    /// The inverse of [`load_neighbours`](Self::load_neighbours).
    #[inline(always)]
    pub(super) fn store_neighbours(
        &self,
        f: &mut [R::Element; 256],
        group: usize,
        vectors: [V; GROUP],
    ) {
        for (v, f) in vectors.iter().zip(&mut V::chunks_mut(f)[GROUP * group..]) {
            v.store(f);
        }
    }

    /// Whether [`ALL`] vectors are all there are, and fit in registers.
    pub(super) const ALL_FIT: bool = ALL * V::LANES == 256 && size_of::<V>() == 64;

    /// [`ALL`] vectors.
    #[inline(always)]
    pub(super) fn load_all(&self, f: &[R::Element; 256]) -> [V; ALL] {
        let mut vectors = [self.q; ALL];
        for (v, f) in vectors.iter_mut().zip(V::chunks(f)) {
            *v = V::load(self.token, f);
        }
        vectors
    }

    /// The inverse of [`load_all`](Self::load_all).
    #[inline(always)]
    pub(super) fn store_all(&self, f: &mut [R::Element; 256], vectors: [V; ALL]) {
        for (v, f) in vectors.iter().zip(V::chunks_mut(f)) {
            v.store(f);
        }
    }

    /// The layer of length `LEN` over [`ALL`] vectors.
    #[inline(always)]
    pub(super) fn over_registers<const LEN: usize>(&self, v: &mut [V; ALL]) {
        if const { LEN < R::LAST_LEN } {
            return;
        }
        // Written out, as below.
        macro_rules! pairs {
            ($($block:literal: $([$a:literal, $b:literal])*;)*) => {{
                $(
                    let (z, z_over_q) = self.factor::<LEN>($block);
                    $((v[$a], v[$b]) = self.butterfly::<LEN>(v[$a], v[$b], z, z_over_q);)*
                )*
            }};
        }
        match const { LEN / V::LANES } {
            8 => pairs!(0: [0, 8] [1, 9] [2, 10] [3, 11] [4, 12] [5, 13] [6, 14] [7, 15];),
            4 => pairs!(
                0: [0, 4] [1, 5] [2, 6] [3, 7];
                1: [8, 12] [9, 13] [10, 14] [11, 15];
            ),
            2 => pairs!(
                0: [0, 2] [1, 3];
                1: [4, 6] [5, 7];
                2: [8, 10] [9, 11];
                3: [12, 14] [13, 15];
            ),
            1 => pairs!(
                0: [0, 1]; 1: [2, 3]; 2: [4, 5]; 3: [6, 7];
                4: [8, 9]; 5: [10, 11]; 6: [12, 13]; 7: [14, 15];
            ),
            _ => {
                let (factors, over_q) = self.lane_factors::<LEN, { ALL / 2 }>(0);
                macro_rules! pairs {
                    ($($i:literal)*) => {$(
                        let of_pair = (&factors[$i], &over_q[$i]);
                        (v[2 * $i], v[2 * $i + 1]) =
                            self.over_lanes::<LEN>(v[2 * $i], v[2 * $i + 1], of_pair);
                    )*};
                }
                pairs!(0 1 2 3 4 5 6 7);
            }
        }
    }

    /// The layer of length `LEN`, for one lane.
    #[inline(always)]
    pub(super) fn over_all<const LEN: usize>(&self, f: &mut [R::Element; 256]) {
        if const { LEN < R::LAST_LEN } {
            return;
        }
        for (i, block) in f.chunks_exact_mut(2 * LEN).enumerate() {
            let (z, z_over_q) = self.factor::<LEN>(i);
            let (low, high) = block.split_at_mut(LEN);
            for (x, y) in V::chunks_mut(low).iter_mut().zip(V::chunks_mut(high)) {
                let (a, b) = (V::load(self.token, x), V::load(self.token, y));
                let (a, b) = self.butterfly::<LEN>(a, b, z, z_over_q);
                a.store(x);
                b.store(y);
            }
        }
    }

    /// The layer of length `LEN` over whole vectors, of which those `distance` apart are
    /// `LEN` coefficients apart; `first_block` is the number of the first block.
    #[inline(always)]
    pub(super) fn between<const LEN: usize>(
        &self,
        v: &mut [V; GROUP],
        distance: usize,
        first_block: usize,
    ) {
        macro_rules! pairs {
            ($($block:literal: $([$a:literal, $b:literal])*;)*) => {{
                let v = &mut *v;
                $(
                    let (z, z_over_q) = self.factor::<LEN>(first_block + $block);
                    $((v[$a], v[$b]) = self.butterfly::<LEN>(v[$a], v[$b], z, z_over_q);)*
                )*
            }};
        }
        // Written out: compilers leave nested loops rolled, and the vectors in memory.
        match distance {
            4 => pairs!(0: [0, 4] [1, 5] [2, 6] [3, 7];),
            2 => pairs!(0: [0, 2] [1, 3]; 1: [4, 6] [5, 7];),
            _ => pairs!(0: [0, 1]; 1: [2, 3]; 2: [4, 5]; 3: [6, 7];),
        }
    }

    /// The layer of length `LEN` over a group of neighbouring vectors.
    ///
    /// Between those layers that are shorter than a vector, one of two vectors has the even
    /// blocks of as many coefficients as the longer of the two layers is long, the other the odd.
    #[inline(always)]
    pub(super) fn over_neighbours<const LEN: usize>(&self, v: &mut [V; GROUP], group: usize) {
        if const { LEN < R::LAST_LEN } {
            return;
        }
        if const { LEN >= V::LANES } {
            let first_block = GROUP * V::LANES * group / (2 * LEN);
            self.between::<LEN>(v, LEN / V::LANES, first_block);
            return;
        }
        let (factors, over_q) = self.lane_factors::<LEN, { GROUP / 2 }>(group);
        // Written out, as above.
        macro_rules! pairs {
            ($($i:literal)*) => {$(
                let of_pair = (&factors[$i], &over_q[$i]);
                (v[2 * $i], v[2 * $i + 1]) = self.over_lanes::<LEN>(v[2 * $i], v[2 * $i + 1], of_pair);
            )*};
        }
        pairs!(0 1 2 3);
    }

    /// The factors of the pairs of lanes in a group of `N` pairs of vectors.
    #[inline(always)]
    fn lane_factors<const LEN: usize, const N: usize>(
        &self,
        group: usize,
    ) -> (&[V::Array; N], &[V::Array; N]) {
        let table = &D::lane_factors(tables::<R, V>())[LEN.ilog2() as usize];
        (
            &V::chunks(table.factors).as_chunks().0[group],
            &V::chunks(table.factors_over_q).as_chunks().0[group],
        )
    }

    /// The layer of length `LEN` over two vectors, with a factor for each pair of lanes.
    #[inline(always)]
    fn over_lanes<const LEN: usize>(
        &self,
        a: V,
        b: V,
        (z, z_over_q): (&V::Array, &V::Array),
    ) -> (V, V) {
        let (a, b) = if D::FORWARD {
            V::transpose::<LEN>(a, b)
        } else if LEN == R::LAST_LEN {
            V::deinterleave(a, b)
        } else {
            (a, b)
        };
        let (z, z_over_q) = (V::load(self.token, z), V::load(self.token, z_over_q));
        let (a, b) = self.butterfly::<LEN>(a, b, z, z_over_q);
        if !D::FORWARD {
            V::transpose::<LEN>(a, b)
        } else if LEN == R::LAST_LEN {
            V::interleave(a, b)
        } else {
            (a, b)
        }
    }

    /// The factor of the pairs of a block.
    #[inline(always)]
    fn factor<const LEN: usize>(&self, block: usize) -> (V, V) {
        let (table, k) = D::factor::<_, LEN>(tables::<R, V>(), block);
        (
            V::splat(self.token, table.factors[k]),
            V::splat(self.token, table.factors_over_q[k]),
        )
    }

    #[inline(always)]
    fn butterfly<const LEN: usize>(&self, a: V, b: V, z: V, z_over_q: V) -> (V, V) {
        D::butterfly::<R, V, LEN>(self.token, a, b, [z, z_over_q, self.q])
    }
}
