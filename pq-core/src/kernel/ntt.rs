//! The number-theoretic transforms of both standards (FIPS 203, algorithms 9 and
//! 10; FIPS 204, algorithms 41 and 42), written once.
//!
//! A layer of length `LEN` pairs coefficients `LEN` apart. The layers of 128, 64 and 32 are
//! applied together to eight vectors that are 32 coefficients apart, and all others to
//! eight neighbouring vectors, so that each coefficient is read and written twice. Where a
//! vector is no longer than `LEN` a layer pairs whole vectors, and one twiddle factor serves
//! all lanes. Below that, the lanes of two neighbouring vectors are sorted into first and
//! second halves of the pairs, from layer to layer, and the factors come from a table with
//! one for each pair.
//!
//! With one lane it goes layer by layer, which compilers make vectors of.
//!
//! Coefficients stay in the standards' order throughout.

use core::marker::PhantomData;

use crate::arch::{Backend, Coefficients, Kernel, Vector};

/// A ring ℤ_q\[X\]/(X²⁵⁶ + 1) and its transform.
pub(crate) trait Ring: 'static {
    /// Signed, of 16 or 32 bits; R = 2^bits is the Montgomery radix.
    type Element: Copy + Into<i64>;
    /// The vectors of a CPU that hold such elements.
    type Vectors<B: Backend>: Coefficients<Element = Self::Element, Token = B>;

    /// The modulus.
    const Q: Self::Element;
    /// The length of the last forward layer: 2 or 1.
    const LAST_LEN: usize;
    /// ζ^BitRev(k) for every k, 0 < k < 256 / `LAST_LEN`, in the form that
    /// [`product`](Self::product) takes, as those of single layers.
    const TWIDDLES: Twiddles<Self::Element>;
    /// For the layers of length 1, 2, 4, 8 and 16, the factor of each of their
    /// 128 pairs, in the forward transform's order.
    const LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// The same in the inverse transform's order.
    const INVERSE_LANE_TWIDDLES: [Twiddles<Self::Element>; 5];
    /// R / (256 / `LAST_LEN`), which undoes the growth of the inverse transform and the R⁻¹
    /// that the multiplication before it left; and the same times the factor of its last
    /// layer. For Montgomery products.
    const INVERSE_SCALES: Twiddles<Self::Element>;
    /// Multiples of q below which the forward transform keeps its output.
    const FORWARD_BOUND: i64;
    /// Lengths of the inverse layers whose sums are reduced lest the next
    /// layers overflow.
    const REDUCED_INVERSE_LAYERS: &'static [usize];

    /// x · c mod q for a twiddle factor c, below 5/4 q by magnitude for any x, and in the
    /// forward transform, where |x| is below 10q, below 1.01 q.
    fn product<V: Coefficients<Element = Self::Element>>(
        x: V,
        factor: V,
        factor_over_q: V,
        q: V,
    ) -> V;

    /// A representative that leaves room for what follows: for ML-KEM in 0 ..= q,
    /// for ML-DSA, which has room, the same.
    fn reduce<V: Coefficients<Element = Self::Element>>(token: V::Token, v: V) -> V;
}

/// Constant factors cᵢ, each as two numbers.
pub(crate) struct Twiddles<T: 'static> {
    /// cᵢ · R mod± q for Montgomery products, cᵢ mod± q for Barrett's.
    pub(crate) factors: &'static [T],
    /// cᵢ · R · q⁻¹ mod± R for Montgomery products, cᵢ · R / q, rounded, for Barrett's.
    pub(crate) factors_over_q: &'static [T],
}

/// The forward transform, in place.
///
/// Takes |x| ≤ q. Gives 0 ≤ x ≤ q for ML-KEM, |x| < 10q for ML-DSA.
pub(crate) struct Ntt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for Ntt<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let f = self.0;
        debug_assert!(within::<R>(f, 1));
        let layers = Layers::<Forward, R, R::Vectors<B>>::new(b);
        if R::Vectors::<B>::LANES == 1 {
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
        } else {
            for group in 0..layers.groups() {
                let mut v = layers.load_apart(f, group);
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
}

/// The inverse transform, in place, times R.
///
/// Takes |x| ≤ q, gives |x| < q.
pub(crate) struct InverseNtt<'a, R: Ring>(pub(crate) &'a mut [R::Element; 256]);

impl<B: Backend, R: Ring> Kernel<B> for InverseNtt<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let f = self.0;
        debug_assert!(within::<R>(f, 1));
        let layers = Layers::<Inverse, R, R::Vectors<B>>::new(b);
        if R::Vectors::<B>::LANES == 1 {
            layers.over_all::<1>(f);
            layers.over_all::<2>(f);
            layers.over_all::<4>(f);
            layers.over_all::<8>(f);
            layers.over_all::<16>(f);
            layers.over_all::<32>(f);
            layers.over_all::<64>(f);
            layers.over_all::<128>(f);
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
        debug_assert!(within::<R>(f, 1));
    }
}

/// The layers of a transform in one of two directions.
struct Layers<D, R: Ring, V: Coefficients<Element = R::Element>> {
    token: V::Token,
    q: V,
    of: PhantomData<(D, R)>,
}

/// How many vectors are in registers at a time.
const GROUP: usize = 8;

impl<D: Direction, R: Ring, V: Coefficients<Element = R::Element>> Layers<D, R, V> {
    #[inline(always)]
    fn new(token: V::Token) -> Self {
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
    fn groups(&self) -> usize {
        256 / (GROUP * V::LANES)
    }

    /// The vectors of a group that are 32 coefficients apart.
    #[inline(always)]
    fn load_apart(&self, f: &[R::Element; 256], group: usize) -> [V; GROUP] {
        let mut vectors = [self.q; GROUP];
        for (v, f) in vectors.iter_mut().zip(f.as_chunks::<32>().0) {
            *v = V::load(self.token, &V::chunks(f)[group]);
        }
        vectors
    }

    /// The inverse of [`load_apart`](Self::load_apart).
    #[inline(always)]
    fn store_apart(&self, f: &mut [R::Element; 256], group: usize, vectors: [V; GROUP]) {
        for (v, f) in vectors.iter().zip(f.as_chunks_mut::<32>().0) {
            v.store(&mut V::chunks_mut(f)[group]);
        }
    }

    /// The neighbouring vectors of a group.
    #[inline(always)]
    fn load_neighbours(&self, f: &[R::Element; 256], group: usize) -> [V; GROUP] {
        let mut vectors = [self.q; GROUP];
        for (v, f) in vectors.iter_mut().zip(&V::chunks(f)[GROUP * group..]) {
            *v = V::load(self.token, f);
        }
        vectors
    }

    /// The inverse of [`load_neighbours`](Self::load_neighbours).
    #[inline(always)]
    fn store_neighbours(&self, f: &mut [R::Element; 256], group: usize, vectors: [V; GROUP]) {
        for (v, f) in vectors.iter().zip(&mut V::chunks_mut(f)[GROUP * group..]) {
            v.store(f);
        }
    }

    /// The layer of length `LEN`, for one lane.
    #[inline(always)]
    fn over_all<const LEN: usize>(&self, f: &mut [R::Element; 256]) {
        if LEN < R::LAST_LEN {
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
    fn between<const LEN: usize>(&self, v: &mut [V; GROUP], distance: usize, first_block: usize) {
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
    fn over_neighbours<const LEN: usize>(&self, v: &mut [V; GROUP], group: usize) {
        if LEN < R::LAST_LEN {
            return;
        }
        if LEN >= V::LANES {
            let first_block = GROUP * V::LANES * group / (2 * LEN);
            self.between::<LEN>(v, LEN / V::LANES, first_block);
            return;
        }
        let table = &D::lane_factors::<R>()[LEN.ilog2() as usize];
        let factors = &V::chunks(table.factors).as_chunks::<{ GROUP / 2 }>().0[group];
        let over_q = &V::chunks(table.factors_over_q)
            .as_chunks::<{ GROUP / 2 }>()
            .0[group];
        // Written out, as above.
        macro_rules! pairs {
            ($($i:literal)*) => {$(
                let of_pair = (&factors[$i], &over_q[$i]);
                (v[2 * $i], v[2 * $i + 1]) = self.over_lanes::<LEN>(v[2 * $i], v[2 * $i + 1], of_pair);
            )*};
        }
        pairs!(0 1 2 3);
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
        let (table, k) = D::factor::<R, LEN>(block);
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

/// What is done to pairs of coefficients, and in which order the factors are.
trait Direction {
    const FORWARD: bool;

    /// Where the factor of a block of 2 · `LEN` coefficients is.
    fn factor<R: Ring, const LEN: usize>(block: usize) -> (Twiddles<R::Element>, usize);

    /// Those of all pairs, for each layer.
    fn lane_factors<R: Ring>() -> &'static [Twiddles<R::Element>; 5];

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
enum Forward {}

impl Direction for Forward {
    const FORWARD: bool = true;

    #[inline(always)]
    fn factor<R: Ring, const LEN: usize>(block: usize) -> (Twiddles<R::Element>, usize) {
        (R::TWIDDLES, 128 / LEN + block)
    }

    #[inline(always)]
    fn lane_factors<R: Ring>() -> &'static [Twiddles<R::Element>; 5] {
        &R::LANE_TWIDDLES
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
enum Inverse {}

impl Direction for Inverse {
    const FORWARD: bool = false;

    #[inline(always)]
    fn factor<R: Ring, const LEN: usize>(block: usize) -> (Twiddles<R::Element>, usize) {
        if LEN == 128 {
            (R::INVERSE_SCALES, 1)
        } else {
            (R::TWIDDLES, 256 / LEN - 1 - block)
        }
    }

    #[inline(always)]
    fn lane_factors<R: Ring>() -> &'static [Twiddles<R::Element>; 5] {
        &R::INVERSE_LANE_TWIDDLES
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
            } = R::INVERSE_SCALES;
            let scale = V::splat(token, factors[0]);
            let scale_over_q = V::splat(token, factors_over_q[0]);
            return (
                sum.montgomery_product(scale, scale_over_q, q),
                difference.montgomery_product(z, z_over_q, q),
            );
        }
        if R::REDUCED_INVERSE_LAYERS.contains(&LEN) {
            sum = R::reduce(token, sum);
        }
        (sum, R::product(difference, z, z_over_q, q))
    }
}

/// |x| ≤ `bound` · q for all coefficients.
pub(crate) fn within<R: Ring>(f: &[R::Element; 256], bound: i64) -> bool {
    let q: i64 = R::Q.into();
    f.iter().all(|&x| x.into().abs() <= bound * q)
}

macro_rules! ring {
    (
        $(#[$doc:meta])*
        $name:ident, $element:ty, $vectors:ident,
        q: $q:literal, zeta: $zeta:literal, last_len: $last_len:literal,
        twiddles: $factors:path, $factors_over_q:path,
        $($rest:item)*
    ) => {
        $(#[$doc])*
        pub(crate) enum $name {}

        impl $name {
            /// ζ^BitRev(k) mod q
            pub(crate) const POWERS: [i64; 256] = powers($q, $zeta, 256 / $last_len);

            /// As [`Ring::INVERSE_SCALES`], mod q.
            const INVERSE_SCALES_MOD_Q: [i64; 2] = {
                let scale = inverse_scale($q, 256 / $last_len, <$element>::BITS);
                [scale, scale * Self::POWERS[1] % $q]
            };

            /// c · R mod± q for each of `constants`
            pub(crate) const fn factors<const N: usize>(constants: [i64; N]) -> [$element; N] {
                let mut factors = [0; N];
                let mut i = 0;
                while i < N {
                    let c = (constants[i] << <$element>::BITS) % $q;
                    factors[i] = (if c > $q / 2 { c - $q } else { c }) as $element;
                    i += 1;
                }
                factors
            }

            /// c · R · q⁻¹ mod± R for each of `constants`
            pub(crate) const fn factors_over_q<const N: usize>(constants: [i64; N]) -> [$element; N] {
                let mut factors = Self::factors(constants);
                // Newton's iteration doubles the correct low bits of q⁻¹, of which
                // q itself has three.
                const TWO: $element = 2;
                let mut inverse: $element = $q;
                while inverse.wrapping_mul($q) != 1 {
                    inverse = inverse.wrapping_mul(TWO.wrapping_sub(inverse.wrapping_mul($q)));
                }
                let mut i = 0;
                while i < N {
                    factors[i] = factors[i].wrapping_mul(inverse);
                    i += 1;
                }
                factors
            }
        }

        impl Ring for $name {
            type Element = $element;
            type Vectors<B: Backend> = B::$vectors;

            const Q: $element = $q;
            const LAST_LEN: usize = $last_len;
            const TWIDDLES: Twiddles<$element> = Twiddles {
                factors: &const { $factors(Self::POWERS) },
                factors_over_q: &const { $factors_over_q(Self::POWERS) },
            };
            const LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles true, $factors, $factors_over_q, 1, 2, 4, 8, 16);
            const INVERSE_LANE_TWIDDLES: [Twiddles<$element>; 5] =
                ring!(@lane_twiddles false, $factors, $factors_over_q, 1, 2, 4, 8, 16);
            const INVERSE_SCALES: Twiddles<$element> = Twiddles {
                factors: &const { Self::factors(Self::INVERSE_SCALES_MOD_Q) },
                factors_over_q: &const { Self::factors_over_q(Self::INVERSE_SCALES_MOD_Q) },
            };
            $($rest)*
        }
    };
    (@lane_twiddles $forward:literal, $factors:path, $factors_over_q:path, $($len:literal),*) => {
        [$(Twiddles {
            factors: &const { $factors(spread(&Self::POWERS, $len, $forward)) },
            factors_over_q: &const { $factors_over_q(spread(&Self::POWERS, $len, $forward)) },
        }),*]
    };
}

ring! {
    /// ML-KEM: q = 3329, ζ = 17, seven layers.
    Q3329, i16, I16s,
    q: 3329, zeta: 17, last_len: 2,
    twiddles: Self::factors, Self::factors_over_q,

    const FORWARD_BOUND: i64 = 1;
    // From q, three doublings reach 8q = 26632 < 2¹⁵.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[8, 64];

    /// Montgomery's: one multiplication gives the high halves of 16 bits.
    #[inline(always)]
    fn product<V: Coefficients<Element = i16>>(x: V, factor: V, factor_over_q: V, q: V) -> V {
        x.montgomery_product(factor, factor_over_q, q)
    }

    /// Barrett: x − ⌊x · 20159 / 2²⁶⌋ · q, for |x| ≤ 8q.
    #[inline(always)]
    fn reduce<V: Coefficients<Element = i16>>(token: V::Token, v: V) -> V {
        let quotient = v
            .mul_high(V::splat(token, 20159 /* round(2^26 / q) */))
            .shift_right::<10>();
        v.sub(quotient.mul_low(V::splat(token, Self::Q)))
    }
}

ring! {
    /// ML-DSA: q = 8380417, ζ = 1753, eight layers.
    Q8380417, i32, I32s,
    q: 8380417, zeta: 1753, last_len: 1,
    twiddles: residues, residues_over_q,

    const FORWARD_BOUND: i64 = 10;
    // From q, eight doublings reach 256q = 2145386752 < 2³¹.
    const REDUCED_INVERSE_LAYERS: &'static [usize] = &[];

    /// Barrett's: the high halves of 32 bits take several instructions.
    #[inline(always)]
    fn product<V: Coefficients<Element = i32>>(x: V, factor: V, factor_over_q: V, q: V) -> V {
        x.barrett_product(factor, factor_over_q, q)
    }

    #[inline(always)]
    fn reduce<V: Coefficients<Element = i32>>(_: V::Token, v: V) -> V {
        v
    }
}

/// c mod± q of ML-DSA for each of `constants`.
const fn residues<const N: usize>(constants: [i64; N]) -> [i32; N] {
    const Q: i32 = Q8380417::Q;
    let mut residues = [0; N];
    let mut i = 0;
    while i < N {
        let c = constants[i] as i32;
        residues[i] = if c > Q / 2 { c - Q } else { c };
        i += 1;
    }
    residues
}

/// (c mod± q) · R / q, rounded, for each of `constants`.
const fn residues_over_q<const N: usize>(constants: [i64; N]) -> [i32; N] {
    const Q: i64 = Q8380417::Q as i64;
    let mut residues = residues(constants);
    let mut i = 0;
    while i < N {
        let c_times_radix = (residues[i] as i64) << i32::BITS;
        residues[i] = (2 * c_times_radix + Q).div_euclid(2 * Q) as i32;
        i += 1;
    }
    residues
}

/// ζ^BitRev(k) mod q for 0 ≤ k < n, where BitRev reverses log₂ n bits.
const fn powers(q: i64, zeta: i64, n: usize) -> [i64; 256] {
    let mut powers = [0; 256];
    let mut power = 1;
    let mut exponent: usize = 0;
    while exponent < n {
        powers[exponent.reverse_bits() >> (usize::BITS - n.ilog2())] = power;
        power = power * zeta % q;
        exponent += 1;
    }
    powers
}

/// The power for each of the 128 pairs of the layer of length `len`.
const fn spread(powers: &[i64; 256], len: usize, forward: bool) -> [i64; 128] {
    let blocks = 128 / len;
    let mut spread = [0; 128];
    let mut pair = 0;
    while pair < 128 {
        let block = pair / len;
        spread[pair] = powers[if forward {
            blocks + block
        } else {
            2 * blocks - 1 - block
        }];
        pair += 1;
    }
    spread
}

/// R / n mod q for n that divides q − 1: −(q − 1) / n is the inverse of n.
const fn inverse_scale(q: i64, n: i64, bits: u32) -> i64 {
    (1 << bits) % q * (q - (q - 1) / n) % q
}

#[cfg(test)]
mod tests {
    use super::{InverseNtt, Ntt, Q3329, Q8380417, Ring, within};
    use crate::arch::{Backend, Portable, on_each_backend};
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
            b.run(Ntt::<R>(&mut f));
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
            assert!(within::<R>(&f, 1));
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

    /// Each twiddle factor times the ends of the range and what is between.
    #[test]
    fn barrett_products_match_textbook() {
        const Q: i64 = 8_380_417;
        let mut random = Random::new(5);
        let ends = [
            i32::MIN,
            -i32::MAX,
            -10 * Q as i32,
            -1,
            0,
            1,
            10 * Q as i32,
            i32::MAX,
        ];
        let table = Q8380417::TWIDDLES;
        for (k, (c, c_over_q)) in table.factors.iter().zip(table.factors_over_q).enumerate() {
            let random = (0..100).map(|_| random.bits() as i32);
            for x in ends.into_iter().chain(random) {
                let product = i64::from(Q8380417::product(x, *c, *c_over_q, Q as i32));
                let expected = i64::from(x) * Q8380417::POWERS[k] % Q;
                assert_eq!((product - expected) % Q, 0);
                assert!(-Q <= 4 * product && 4 * product <= 5 * Q);
                if i64::from(x).abs() <= 10 * Q {
                    assert!(100 * product.abs() < 101 * Q);
                }
            }
        }
    }

    #[test]
    fn barrett_reduction_is_canonical_but_for_q() {
        for x in -8 * 3329..=8 * 3329i16 {
            let r = Q3329::reduce(Portable, x);
            assert!((0..=3329).contains(&r));
            assert_eq!((i32::from(x) - i32::from(r)) % 3329, 0);
        }
    }
}
