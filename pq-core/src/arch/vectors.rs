//! The traits of vector registers.

use zeroize::Zeroize;

use crate::sealed::Sealed;

/// A vector register, or a single element on CPUs without vectors.
///
/// A vector can only be made with the token, so it is itself the proof that the CPU has the
/// instructions of its methods.
///
/// Sealed, like all traits of vectors: only this crate implements it.
pub trait Vector: Copy + Sealed {
    /// The backend that the vector belongs to.
    type Token: Copy;
    /// The type of a lane's value.
    type Element: Copy;
    /// `[Self::Element; Self::LANES]`, the form in memory.
    type Array: Copy + Default + Zeroize + AsRef<[Self::Element]> + AsMut<[Self::Element]>;

    /// How many elements one vector holds.
    const LANES: usize;

    /// All lanes set to `element`.
    fn splat(token: Self::Token, element: Self::Element) -> Self;
    /// Reads a vector from memory.
    fn load(token: Self::Token, array: &Self::Array) -> Self;
    /// Writes the vector to memory.
    fn store(self, array: &mut Self::Array);
    /// `elements` as whole vectors; a remainder is left out.
    fn chunks(elements: &[Self::Element]) -> &[Self::Array];
    /// `elements` as whole vectors; a remainder is left out.
    fn chunks_mut(elements: &mut [Self::Element]) -> &mut [Self::Array];
}

/// Lanes of unsigned numbers, for hash functions.
pub trait Words: Vector {
    /// The sum modulo 2^bits.
    fn add(self, other: Self) -> Self;
    /// The sum modulo 2^bits, where `self` is known earlier than `late`.
    ///
    /// Compilers reorder sums. They must not reorder this one if it is on the critical path.
    #[inline(always)]
    fn add_late(self, late: Self) -> Self {
        self.add(late)
    }
    /// The difference modulo 2^bits.
    fn sub(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// `self ⊕ b ⊕ c`.
    fn xor3(self, b: Self, c: Self) -> Self;
    /// `(self ∧ b) ⊕ (¬self ∧ c)`: the bits of `b` where those of `self` are set, and
    /// those of `c` elsewhere.
    fn choose(self, b: Self, c: Self) -> Self;
    /// `(self ∧ b) ⊕ (self ∧ c) ⊕ (b ∧ c)`: the bits that are set in two or three of them.
    fn majority(self, b: Self, c: Self) -> Self;
    /// `self` + [`majority`](Self::majority) of the others modulo 2^bits, where `self` is known earlier
    /// than `a`, and `a` later than `b` and `c`.
    #[inline(always)]
    fn add_majority(self, a: Self, b: Self, c: Self) -> Self {
        self.add(a.majority(b, c))
    }
    /// Shift to the right by `N` bits, 0 < `N` < bits.
    fn shift_right<const N: i32>(self) -> Self;
    /// Shift to the left by `N` bits, 0 < `N` < bits, that shifts in the `N` most significant bits
    /// of `next`.
    fn shift_in<const N: i32>(self, next: Self) -> Self;
    /// Rotation to the left by `N` bits, 0 < `N` < bits.
    #[inline(always)]
    fn rotate_left<const N: i32>(self) -> Self {
        self.shift_in::<N>(self)
    }
}

/// Words of 32 bits: SHA-256.
pub trait U32s: Words<Element = u32> {}

/// Words of 64 bits: Keccak, SHA-512.
pub trait U64s: Words<Element = u64> {
    /// Whether a round of Keccak computes χ last: this needs registers for all words and their
    /// sums.
    const CHI_LAST: bool = false;
    /// Whether the words of Keccak are kept in memory between rounds, not in registers. For CPUs
    /// where the compiler would otherwise move more words between the two than there are.
    const IN_MEMORY: bool = false;

    /// `self ⊕ b ⊕ c ⊕ d ⊕ e`; with `PAIRS`, as sums of pairs if that makes a difference.
    #[inline(always)]
    fn xor5<const PAIRS: bool>(self, b: Self, c: Self, d: Self, e: Self) -> Self {
        self.xor3(b, c).xor3(d, e)
    }
    /// `self ⊕ b` with each lane of `b` rotated to the left by 1.
    #[inline(always)]
    fn xor_rotated(self, b: Self) -> Self {
        self.xor(b.rotate_left::<1>())
    }
    /// Each lane of `self ⊕ b` rotated to the left by `N` bits, 0 < `N` < 64.
    #[inline(always)]
    fn xor_rotate<const N: i32>(self, b: Self) -> Self {
        self.xor(b).rotate_left::<N>()
    }
    /// The step θ of Keccak on a word: `self ⊕ left ⊕ right` with each lane of `right` rotated to
    /// the left by 1; `left` and `right` are the sums of the columns beside the word.
    ///
    /// Five words have the same columns beside them, so the value that is added to them is computed
    /// once.
    #[inline(always)]
    fn theta<const PAIRS: bool>(self, left: Self, right: Self) -> Self {
        self.xor(left.xor_rotated(right))
    }
    /// The result of [`theta`](Self::theta) with each lane rotated to the left by `N` bits,
    /// 0 < `N` < 64.
    #[inline(always)]
    fn theta_rotate<const N: i32, const PAIRS: bool>(self, left: Self, right: Self) -> Self {
        self.xor_rotate::<N>(left.xor_rotated(right))
    }
    /// `self ⊕ (¬b ∧ c)`, the step χ of Keccak.
    fn chi(self, b: Self, c: Self) -> Self;
    /// `self ⊕ (b ∧ c)`
    #[inline(always)]
    fn xor_and(self, b: Self, c: Self) -> Self {
        self.xor(c).chi(b, c)
    }
    /// `self ⊕ (b ∨ c)`
    #[inline(always)]
    fn xor_or(self, b: Self, c: Self) -> Self {
        self.xor(b).chi(b, c)
    }
    /// All bits are set in each lane i for which bit i of `lanes` is set, and none in the others.
    /// Further bits of `lanes` are ignored.
    fn mask(token: Self::Token, lanes: u32) -> Self;
    /// Reads words from bytes, the least significant byte first.
    #[inline(always)]
    fn from_le_bytes(token: Self::Token, bytes: &[u8]) -> Self {
        let mut words = Self::Array::default();
        for (word, bytes) in words.as_mut().iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self::load(token, &words)
    }
    /// The inverse of [`from_le_bytes`](Self::from_le_bytes).
    #[inline(always)]
    fn to_le_bytes(self, bytes: &mut [u8]) {
        let mut words = Self::Array::default();
        self.store(&mut words);
        for (word, bytes) in words.as_ref().iter().zip(bytes.as_chunks_mut().0) {
            *bytes = word.to_le_bytes();
        }
    }
    /// Sorts 24 vectors by lanes: `blocks[j]` is lane j of each, the least significant bytes first.
    /// There are as many blocks as lanes.
    #[inline(always)]
    fn transpose(vectors: &[Self; 24], blocks: &mut [[u8; 192]]) {
        for (i, vector) in vectors.iter().enumerate() {
            let mut array = Self::Array::default();
            vector.store(&mut array);
            for (block, word) in blocks.iter_mut().zip(array.as_ref()) {
                block.as_chunks_mut().0[i] = word.to_le_bytes();
            }
        }
    }
}

/// Signed coefficients, for arithmetic modulo a prime with Montgomery's and Barrett's products.
pub trait Coefficients: Vector {
    /// Whether [`rounded_product`](Self::rounded_product) takes less time than the other two. A
    /// type that sets it overrides that method, with a quotient that is rounded to the nearest
    /// integer.
    const ROUNDS: bool = false;

    /// Sum; the caller's bounds exclude overflow.
    fn add(self, other: Self) -> Self;
    /// Difference; the caller's bounds exclude overflow.
    fn sub(self, other: Self) -> Self;
    /// The low half of the product: `self · other mod± 2^bits`.
    fn mul_low(self, other: Self) -> Self;
    /// The high half of the product: `⌊self · other / 2^bits⌋`; at most one of them may be the
    /// smallest number of the type.
    fn mul_high(self, other: Self) -> Self;
    /// Arithmetic shift to the right by `N` bits.
    fn shift_right<const N: i32>(self) -> Self;
    /// The Montgomery product `self · c mod q` of a constant c with factors
    /// `factor` = c · R mod± q and `factor_over_q` = c · R · q⁻¹ mod± R, R = 2^bits.
    ///
    /// The result lies in ±q for any `self`, since |`factor`| ≤ q/2.
    #[inline(always)]
    fn montgomery_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        // self · factor ≡ m · q mod R for m = self · factor_over_q mod± R, so the low halves
        // cancel, and the high halves differ by the exact quotient.
        let m = self.mul_low(factor_over_q);
        self.mul_high(factor).sub(m.mul_high(q))
    }
    /// The Barrett product `self · c mod q` of a constant c = `factor`, |c| ≤ q/2, with
    /// `factor_over_q` = c · R / q, rounded, R = 2^bits.
    ///
    /// Only one of the three products needs its high half. The result lies between −q/4 and 5/4 q
    /// for any `self`: since the error of `factor_over_q` is at most 1/2, the error of the quotient
    /// before it is rounded down is at most |`self`| / 2R ≤ 1/4. For a `self` of a few q the result
    /// lies between 0 and q, or outside by at most a few hundredths of q.
    #[inline(always)]
    fn barrett_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        // modulo 2^bits, as arithmetic of vectors always is
        let quotient = self.mul_high(factor_over_q);
        self.mul_low(factor).sub(quotient.mul_low(q))
    }
    /// As [`barrett_product`](Self::barrett_product), with `factor_over_q` = c · R / 2q, rounded.
    ///
    /// With [`ROUNDS`](Self::ROUNDS), the quotient is rounded to the nearest integer. Its error
    /// before that is at most |`self`| / R ≤ 1/2, so the result lies in ±q for any `self`; for q =
    /// 3329 its magnitude is at most 3323, for any constant. Without, its error is twice that of
    /// [`barrett_product`](Self::barrett_product).
    #[inline(always)]
    fn rounded_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        self.barrett_product(factor, factor_over_q.add(factor_over_q), q)
    }
    /// Exchanges each odd block of `LEN` lanes of `a` and the even block of `b` before it, for
    /// blocks of 32 bits or more, `LEN < LANES`. It is its own inverse.
    ///
    /// It turns the even and the odd blocks of 2 · `LEN` lanes into those of `LEN` lanes, and the
    /// other way around.
    fn transpose<const LEN: usize>(a: Self, b: Self) -> (Self, Self);
    /// Reads `(a, b)` as consecutive blocks of 32 bits, and returns the even blocks and the
    /// odd blocks.
    fn deinterleave(a: Self, b: Self) -> (Self, Self);
    /// The inverse of [`deinterleave`](Self::deinterleave).
    fn interleave(a: Self, b: Self) -> (Self, Self);
}

/// Coefficients of 16 bits.
pub trait I16s: Coefficients<Element = i16> {}

/// Coefficients of 32 bits.
pub trait I32s: Coefficients<Element = i32> {
    /// A number of 64 bits for each lane, in some order.
    type Sums: Copy;

    /// Zeros.
    fn zero_sums(token: Self::Token) -> Self::Sums;
    /// `sums + self · other`; the caller's bounds exclude overflow.
    fn add_product(self, other: Self, sums: Self::Sums) -> Self::Sums;
    /// The Montgomery reduction of sums s: (s − mq) / R for m = s · q⁻¹ mod± R, R = 2³².
    /// `q_inverse` and `q` are the same in all lanes.
    ///
    /// The results lie in ±q for |s| < 2³¹ q.
    fn montgomery_reduce(sums: Self::Sums, q_inverse: Self, q: Self) -> Self;
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::{Coefficients, I32s, U64s, Vector, Words};
    use crate::arch::{Backend, Kernel, on_each_backend};
    use crate::test_random::Random;

    /// A kernel that is a function of the backend.
    struct Run<F>(F);

    impl<B: Backend, F: FnOnce(B)> Kernel<B> for Run<F> {
        type Output = ();

        #[inline(always)]
        fn run(self, b: B) {
            self.0(b);
        }
    }

    /// A vector whose lane i is `f(i)`.
    fn vector<V: Vector>(token: V::Token, mut f: impl FnMut(usize) -> V::Element) -> V {
        let mut array = V::Array::default();
        for (i, x) in array.as_mut().iter_mut().enumerate() {
            *x = f(i);
        }
        V::load(token, &array)
    }

    /// Checks that lane i is `f(i)`. Takes a `dyn` function: there are some hundred of them, and
    /// the compiler would compile this again for each.
    fn check_lanes<V: Vector>(v: V, f: &dyn Fn(usize) -> V::Element)
    where
        V::Element: Debug + PartialEq,
    {
        let mut array = V::Array::default();
        v.store(&mut array);
        assert_eq!(array.as_ref().len(), V::LANES);
        for (i, x) in array.as_ref().iter().enumerate() {
            assert_eq!(*x, f(i), "lane {i}");
        }
    }

    /// A lane of a vector as a number.
    fn lane<V: Vector>(v: V, i: usize) -> V::Element {
        let mut array = V::Array::default();
        v.store(&mut array);
        array.as_ref()[i]
    }

    #[test]
    fn word_lanes() {
        macro_rules! check_with {
            ($check:ident, $element:ident, $of_bits:expr, $($n:literal)*) => {
                fn $check<V: Words<Element = $element>>(token: V::Token) {
                    let mut random = Random::new(3);
                    let mut next = || vector::<V>(token, |_| $of_bits(random.bits()));
                    let (a, b, c) = (next(), next(), next());
                    let of = |v: V| move |i| lane(v, i);
                    let (x, y, z) = (of(a), of(b), of(c));
                    check_lanes(V::splat(token, 7), &|_| 7);
                    check_lanes(a.add(b), &|i| x(i).wrapping_add(y(i)));
                    check_lanes(a.add_late(b), &|i| x(i).wrapping_add(y(i)));
                    check_lanes(a.sub(b), &|i| x(i).wrapping_sub(y(i)));
                    check_lanes(a.xor(b), &|i| x(i) ^ y(i));
                    check_lanes(a.xor3(b, c), &|i| x(i) ^ y(i) ^ z(i));
                    check_lanes(a.choose(b, c), &|i| (x(i) & y(i)) ^ (!x(i) & z(i)));
                    check_lanes(a.majority(b, c), &|i| {
                        (x(i) & y(i)) ^ (x(i) & z(i)) ^ (y(i) & z(i))
                    });
                    let d = next();
                    check_lanes(d.add_majority(a, b, c), &|i| {
                        let majority = (x(i) & y(i)) ^ (x(i) & z(i)) ^ (y(i) & z(i));
                        lane(d, i).wrapping_add(majority)
                    });
                    const BITS: i32 = $element::BITS as i32;
                    $(
                        check_lanes(a.shift_right::<$n>(), &|i| x(i) >> $n);
                        check_lanes(a.shift_in::<$n>(b), &|i| x(i) << $n | y(i) >> (BITS - $n));
                        check_lanes(a.rotate_left::<$n>(), &|i| x(i).rotate_left($n));
                    )*
                }
            };
        }
        check_with!(check_32, u32, |bits: u64| bits as u32, 1 2 3 7 8 10 13 14 15 16 19 21 25 26 30 31);
        check_with!(check_64, u64, core::convert::identity, 1 2 3 6 7 16 23 25 30 36 45 46 50 56 62 63);

        on_each_backend!(b => run_words(b));
        fn run_words<B: Backend>(b: B) {
            b.run(Run(check_32::<B::U32s>));
            b.run(Run(check_64::<B::U64s>));
            b.run_few(Run(|b: B| check_64::<B::Few>(From::from(b))));
        }
    }

    #[test]
    fn keccak_lanes() {
        fn check<V: U64s>(token: V::Token) {
            let mut random = Random::new(1);
            let mut next = || vector::<V>(token, |_| random.bits());
            let (a, b, c) = (next(), next(), next());
            let of = |v: V| move |i| lane(v, i);
            let (x, y, z) = (of(a), of(b), of(c));
            for lanes in 0..1 << V::LANES {
                for more in [0, u32::MAX << V::LANES] {
                    check_lanes(V::mask(token, lanes | more), &|i| match lanes >> i & 1 {
                        1 => u64::MAX,
                        _ => 0,
                    });
                }
            }
            check_lanes(a.chi(b, c), &|i| x(i) ^ (!y(i) & z(i)));
            check_lanes(a.xor_and(b, c), &|i| x(i) ^ (y(i) & z(i)));
            check_lanes(a.xor_or(b, c), &|i| x(i) ^ (y(i) | z(i)));
            let mut bytes = [0; 64];
            let bytes = &mut bytes[..8 * V::LANES];
            a.to_le_bytes(bytes);
            assert!((0..V::LANES).all(|i| bytes.as_chunks().0[i] == x(i).to_le_bytes()));
            check_lanes(V::from_le_bytes(token, bytes), &x);
            check_lanes(a.xor_rotated(b), &|i| x(i) ^ y(i).rotate_left(1));
            macro_rules! rotations {
                ($($n:literal)*) => {$(
                    check_lanes(a.rotate_left::<$n>(), &|i| x(i).rotate_left($n));
                    check_lanes(a.xor_rotate::<$n>(b), &|i| (x(i) ^ y(i)).rotate_left($n));
                )*};
            }
            rotations!(1 2 3 6 7 8 10 14 15 18 20 21 25 27 28 31 32 33 36 39 41 43 44 45 55 56 61 62 63);
        }

        on_each_backend!(b => run_keccak(b));
        fn run_keccak<B: Backend>(b: B) {
            b.run(Run(check::<B::U64s>));
            b.run_few(Run(|b: B| check::<B::Few>(From::from(b))));
        }
    }

    /// Arithmetic of every lane, and the orders of lanes, checked by their definitions.
    #[test]
    fn coefficient_lanes() {
        macro_rules! check_with {
            ($check:ident, $element:ident, $double:ident, $q:literal) => {
                fn $check<V: Coefficients<Element = $element>>(token: V::Token) {
                    const BITS: u32 = $element::BITS;
                    let mut random = Random::new(2);
                    for round in 0..100 {
                        let mut next = |limit: $element| {
                            vector::<V>(token, |_| match random.bits() {
                                // the ends of the range too
                                x if round < 50 && x % 3 == 0 => limit,
                                x if round < 50 && x % 3 == 1 => -limit,
                                x => ((x >> 8) as $double % ($double::from(limit) + 1)) as $element,
                            })
                        };
                        let of = |v: V| move |i| lane(v, i);
                        let (a, b) = (next($element::MAX / 2), next($element::MAX / 2));
                        let (x, y) = (of(a), of(b));
                        let product = |i: usize| $double::from(x(i)) * $double::from(y(i));
                        check_lanes(V::splat(token, -7), &|_| -7);
                        check_lanes(a.add(b), &|i| x(i) + y(i));
                        check_lanes(a.sub(b), &|i| x(i) - y(i));
                        check_lanes(a.mul_low(b), &|i| product(i) as $element);
                        check_lanes(a.mul_high(b), &|i| (product(i) >> BITS) as $element);
                        // of all numbers, except the smallest times itself
                        for end in [$element::MIN, $element::MAX] {
                            let (a, b) = (V::splat(token, end), next($element::MAX));
                            let y = of(b);
                            let high = |i: usize| {
                                ($double::from(end) * $double::from(y(i)) >> BITS) as $element
                            };
                            check_lanes(a.mul_high(b), &high);
                            check_lanes(b.mul_high(a), &high);
                        }
                        check_lanes(a.shift_right::<1>(), &|i| x(i) >> 1);
                        check_lanes(a.shift_right::<10>(), &|i| x(i) >> 10);

                        let mut q_inverse: $element = 1;
                        while q_inverse.wrapping_mul($q) != 1 {
                            // Newton's iteration
                            const TWO: $element = 2;
                            let error = TWO.wrapping_sub(q_inverse.wrapping_mul($q));
                            q_inverse = q_inverse.wrapping_mul(error);
                        }
                        let factor = next($q / 2);
                        let factor_over_q = factor.mul_low(V::splat(token, q_inverse));
                        let anything = next($element::MAX);
                        let q = V::splat(token, $q);
                        let (x, c) = (of(anything), of(factor));
                        check_lanes(
                            anything.montgomery_product(factor, factor_over_q, q),
                            &|i| {
                                let product = $double::from(x(i)) * $double::from(c(i));
                                let m = (product as $element).wrapping_mul(q_inverse);
                                ((product - $double::from(m) * $q) >> BITS) as $element
                            },
                        );

                        let over_q = |c: $element| {
                            (2 * ($double::from(c) << BITS) + $q).div_euclid(2 * $q) as $element
                        };
                        let factor_over_q = vector::<V>(token, |i| over_q(c(i)));
                        let product = anything.barrett_product(factor, factor_over_q, q);
                        for i in 0..V::LANES {
                            let product = $double::from(lane(product, i));
                            let expected = $double::from(x(i)) * $double::from(c(i));
                            assert_eq!((product - expected) % $q, 0);
                            assert!(-$q <= 4 * product && 4 * product <= 5 * $q);
                        }

                        let over_2q = |c: $element| {
                            (($double::from(c) << BITS) + $q).div_euclid(2 * $q) as $element
                        };
                        let factor_over_2q = vector::<V>(token, |i| over_2q(c(i)));
                        let product = anything.rounded_product(factor, factor_over_2q, q);
                        for i in 0..V::LANES {
                            let product = $double::from(lane(product, i));
                            let expected = $double::from(x(i)) * $double::from(c(i));
                            assert_eq!((product - expected) % $q, 0);
                            if V::ROUNDS {
                                assert!(product.abs() <= $q);
                            } else {
                                assert!(-$q <= 2 * product && 2 * product <= 3 * $q);
                            }
                        }
                    }

                    let lanes = V::LANES;
                    let a = vector::<V>(token, |i| i as $element);
                    let b = vector::<V>(token, |i| (lanes + i) as $element);
                    let block =
                        |len: usize, i: usize, odd: usize| (2 * (i / len) + odd) * len + i % len;
                    macro_rules! transpositions {
                        ($len:literal) => {
                            let len = $len;
                            if len < lanes && len * $element::BITS as usize >= 32 {
                                let even = vector::<V>(token, |i| block(len, i, 0) as $element);
                                let odd = vector::<V>(token, |i| block(len, i, 1) as $element);
                                let (wide_even, wide_odd) = V::transpose::<$len>(even, odd);
                                check_lanes(wide_even, &|i| block(2 * len, i, 0) as $element);
                                check_lanes(wide_odd, &|i| block(2 * len, i, 1) as $element);
                                let (again, odd_again) = V::transpose::<$len>(wide_even, wide_odd);
                                check_lanes(again, &|i| block(len, i, 0) as $element);
                                check_lanes(odd_again, &|i| block(len, i, 1) as $element);
                            }
                        };
                    }
                    transpositions!(1);
                    transpositions!(2);
                    transpositions!(4);
                    transpositions!(8);
                    transpositions!(16);
                    if lanes > 1 {
                        let len = 32 / $element::BITS as usize;
                        let (even, odd) = V::deinterleave(a, b);
                        check_lanes(even, &|i| block(len, i, 0) as $element);
                        check_lanes(odd, &|i| block(len, i, 1) as $element);
                        let (low, high) = V::interleave(even, odd);
                        check_lanes(low, &|i| i as $element);
                        check_lanes(high, &|i| (lanes + i) as $element);
                    }
                }
            };
        }
        check_with!(check_16, i16, i32, 3329);
        check_with!(check_32, i32, i64, 8_380_417);

        fn check_sums<V: I32s>(token: V::Token) {
            const Q: i64 = 8_380_417;
            const Q_INVERSE: i32 = 58_728_449;
            let mut random = Random::new(4);
            for round in 0..100 {
                // two products stay below 2³¹ q
                let mut next = || vector::<V>(token, |_| random.within(1 << 26));
                let [mut a, mut b, mut c, mut d] = [next(), next(), next(), next()];
                if round < 2 {
                    // ±(2³¹ q − 1), the ends of the range
                    let sign = |i: usize| if i % 2 == round { 1 } else { -1 };
                    a = vector::<V>(token, |i| sign(i) * i32::MAX);
                    b = V::splat(token, Q as i32);
                    c = vector::<V>(token, |i| sign(i) * (Q as i32 - 1));
                    d = V::splat(token, 1);
                }
                let sums = a.add_product(b, V::zero_sums(token));
                let sums = c.add_product(d, sums);
                let (q, q_inverse) = (V::splat(token, Q as i32), V::splat(token, Q_INVERSE));
                let reduced = V::montgomery_reduce(sums, q_inverse, q);
                assert!((0..V::LANES).all(|i| i64::from(lane(reduced, i)).abs() < Q));
                check_lanes(reduced, &|i| {
                    let of = |v: V| i64::from(lane(v, i));
                    let sum = of(a) * of(b) + of(c) * of(d);
                    let m = (sum as i32).wrapping_mul(Q_INVERSE);
                    ((sum - i64::from(m) * Q) >> 32) as i32
                });
            }
        }

        on_each_backend!(b => run_coefficients(b));
        fn run_coefficients<B: Backend>(b: B) {
            b.run(Run(check_16::<B::I16s>));
            b.run(Run(check_32::<B::I32s>));
            b.run(Run(check_sums::<B::I32s>));
        }
    }
}
