//! What a CPU can do: the vector traits that the kernels are written over, and
//! a file or a folder per CPU that implements them.
//!
//! A backend is a zero-sized capability token. Holding one is the proof that its
//! instructions exist on this machine, so whatever it does is safe to call. The
//! token is chosen once per public operation (`dispatch!`) and handed down by value.
//!
//! Nothing here knows what it is used for: `kernel` writes the inner loops.

mod choice;
#[expect(unsafe_code, reason = "a place is uninitialised until it is written")]
mod in_place;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod instructions;
#[cfg(feature = "memcheck")]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a request to valgrind is a few instructions")
)]
pub mod memcheck;
mod packing;
mod pairs;
mod portable;
#[cfg(test)]
pub(crate) mod wide;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod avx512;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod neon;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod neon_sha2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "these call the instructions of the CPU")]
mod sha_ni;

use zeroize::Zeroize;

use crate::sealed::Sealed;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
#[cfg(test)]
pub(crate) use choice::unit_tests::on_each_backend;
pub(crate) use choice::{Choice, choose, dispatch};
#[cfg(feature = "limit")]
pub use choice::{chosen, lift_limit, limit};
pub(crate) use in_place::{in_place, try_in_place};
#[cfg(feature = "memcheck")]
pub(crate) use memcheck::declassify;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
pub use neon::{Neon, NeonSha3};
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
pub use neon_sha2::NeonSha2;
pub use portable::{NoSha256, Portable};
#[cfg(target_arch = "x86_64")]
pub use sha_ni::ShaNi;

/// A CPU that the algorithms can run on.
///
/// Sealed: a backend is implemented in this crate or not at all.
pub trait Backend: Copy + Into<Choice> + Send + Sync + Sealed + 'static {
    /// Independent lanes of Keccak, SHA-512.
    type U64s: U64s<Token = Self>;
    /// Fewer lanes of Keccak, which take less time than all of them, or on some CPUs as much:
    /// part of a vector, or a general register.
    type Few: U64s<Token: From<Self>>;
    /// Independent lanes of SHA-256.
    type U32s: U32s<Token = Self>;
    /// Instructions for SHA-256.
    type Sha256: Sha256Instructions;
    /// Coefficients modulo 3329 (ML-KEM).
    type I16s: I16s<Token = Self>;
    /// Coefficients modulo 8380417 (ML-DSA).
    type I32s: I32s<Token = Self>;

    /// The name in test output and benchmarks.
    const NAME: &'static str;
    /// Greater for the better of two backends of one architecture.
    const RANK: u8;
    /// Whether Keccak keeps some words as their complements, for want of an instruction for
    /// `¬b ∧ c`.
    const COMPLEMENTS: bool = false;

    /// Runs a kernel with all instructions of this CPU at hand.
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Runs a kernel in general registers, with what instructions this CPU has for these.
    ///
    /// With vectors at hand the compiler puts single lanes of Keccak into them, which
    /// takes twice as long.
    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Runs a kernel on [`Few`](Self::Few) lanes.
    #[inline]
    fn run_few<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        self.run_scalar(kernel)
    }

    /// How many steps of [`Few`](Self::Few) lanes take about as long as a step of all.
    #[inline]
    fn cost_of_all_lanes(self) -> usize {
        1
    }

    /// The instructions for SHA-256, if this CPU has them beside its own.
    ///
    /// They hash a message, or a few side by side. Where they are not part of what the
    /// backend stands for, this asks the CPU, which takes a load and a branch.
    #[inline]
    fn sha256(self) -> Option<Self::Sha256> {
        None
    }

    /// Writes 16 numbers below 2^`D` as 2 · `D` bytes, the least significant bits first.
    ///
    /// For loops of kernels, `D` ≤ 24.
    #[inline(always)]
    fn pack<const D: usize>(self, numbers: &[u32; 16], bytes: &mut [u8]) {
        packing::pack::<D>(numbers, bytes);
    }

    /// Reads 16 numbers of `D` bits from 2 · `D` bytes, the inverse of
    /// [`pack`](Self::pack).
    #[inline(always)]
    fn unpack<const D: usize>(self, bytes: &[u8]) -> [u32; 16] {
        packing::unpack::<D>(bytes)
    }

    /// As [`pack`](Self::pack), of 32 numbers in 4 · `D` bytes, `D` ≤ 12.
    #[inline(always)]
    fn pack_i16s<const D: usize>(self, numbers: &[i16; 32], bytes: &mut [u8]) {
        let halves = numbers.as_chunks::<16>().0.iter();
        for (half, bytes) in halves.zip(bytes.chunks_exact_mut(2 * D)) {
            let mut numbers = [0; 16];
            for (number, x) in numbers.iter_mut().zip(half) {
                *number = *x as u32;
            }
            self.pack::<D>(&numbers, bytes);
        }
    }

    /// As [`unpack`](Self::unpack), of 32 numbers in 4 · `D` bytes, `D` ≤ 12.
    #[inline(always)]
    fn unpack_i16s<const D: usize>(self, bytes: &[u8]) -> [i16; 32] {
        let mut numbers = [0; 32];
        let halves = numbers.as_chunks_mut::<16>().0.iter_mut();
        for (half, bytes) in halves.zip(bytes.chunks_exact(2 * D)) {
            for (x, number) in half.iter_mut().zip(self.unpack::<D>(bytes)) {
                *x = number as i16;
            }
        }
        numbers
    }

    /// For each four bits how many of the lower two are set, less how many of the upper two;
    /// four bits come from the lower half of each byte first.
    ///
    /// For loops of kernels. The bits may be secret.
    #[inline(always)]
    fn bit_pair_differences(self, bytes: &[u8; 16], differences: &mut [i16; 32]) {
        pairs::bit_differences(bytes, differences);
    }

    /// Appends those of 16 numbers that are below `limit` to the first `filled` elements
    /// of `output`, in their order and as far as there is room, and returns how many
    /// elements there are then. What follows them is overwritten. All numbers are
    /// below 2³¹.
    ///
    /// For loops of kernels. Which numbers are below is public: some backends index by it.
    #[inline(always)]
    fn append_below<T: FromNumber>(
        self,
        numbers: &[u32; 16],
        limit: u32,
        output: &mut [T; 256],
        filled: usize,
    ) -> usize {
        packing::append_below(numbers, limit, output, filled)
    }

    /// As [`append_below`](Self::append_below), of all 112 numbers of 12 bits in `bytes`.
    #[inline(always)]
    fn append_12_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i16; 256],
        mut filled: usize,
    ) -> usize {
        for bytes in bytes.as_chunks::<24>().0 {
            let numbers = self.unpack::<12>(bytes);
            filled = self.append_below(&numbers, limit, output, filled);
        }
        filled
    }

    /// As [`append_below`](Self::append_below), of all 56 numbers of 24 bits in `bytes`, of which
    /// 23 count. For a `limit` that few of them reach.
    #[inline(always)]
    fn append_23_bits_below(
        self,
        bytes: &[u8; 168],
        limit: u32,
        output: &mut [i32; 256],
        filled: usize,
    ) -> usize {
        packing::append_23_bits_below(self, bytes, limit, output, filled)
    }

    /// As [`append_below`](Self::append_below), of all 272 half-bytes in `bytes`, the low half of
    /// each byte first.
    #[inline(always)]
    fn append_4_bits_below(
        self,
        bytes: &[u8; 136],
        limit: u32,
        output: &mut [i32; 256],
        mut filled: usize,
    ) -> usize {
        for bytes in bytes.as_chunks::<8>().0 {
            if filled == 256 {
                break;
            }
            filled = self.append_below(&self.unpack::<4>(bytes), limit, output, filled);
        }
        filled
    }

    /// Adds a product of pairs to each sum: `sums[i] += a[2i] · b[2i] + a[2i + 1] · b[2i + 1]`;
    /// the caller's bounds exclude overflow.
    ///
    /// For loops of kernels.
    #[inline(always)]
    fn add_pair_products(self, a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
        pairs::add_products(a, b, sums);
    }

    /// The low halves of `even` and `odd` in turn, and the high halves: elements 2i come from
    /// `even[i]`, elements 2i + 1 from `odd[i]`.
    ///
    /// For loops of kernels.
    #[inline(always)]
    fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
        pairs::halves(even, odd)
    }
}

/// Marks a value as public, whatever it was computed from; does nothing but in tests with
/// valgrind (`memcheck::declassify`).
///
/// Each use says why the value may be known.
#[cfg(not(feature = "memcheck"))]
#[inline(always)]
pub(crate) fn declassify<T: ?Sized>(_: &mut T) {}

/// An inner loop, the size of a polynomial or of a permutation.
///
/// Implementations are `#[inline(always)]`, so that each backend compiles the
/// whole loop with its own instructions. `T` is the token of these: a [`Backend`], or
/// [`Sha256Instructions`].
pub trait Kernel<T> {
    /// What the kernel returns; most work in place.
    type Output;

    /// Runs to the end.
    fn run(self, token: T) -> Self::Output;
}

/// What a CPU with instructions for SHA-256 can do. It is a token, as a [`Backend`] is.
///
/// Sealed: implemented in this crate or not at all.
pub trait Sha256Instructions: Copy + Sealed + 'static {
    /// Four words of a message schedule.
    type Words: Copy;
    /// The eight words of a state, in an order of the CPU's.
    type State: Copy;

    /// Runs a kernel with the instructions at hand.
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Reads words.
    fn load(self, words: &[u32; 4]) -> Self::Words;
    /// Word by word the sum modulo 2³².
    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;
    /// The words of the schedule that follow these 16.
    fn schedule(self, words: [Self::Words; 4]) -> Self::Words;

    /// A state as the CPU wants it.
    fn pack(self, state: &[u32; 8]) -> Self::State;
    /// The inverse of [`pack`](Self::pack).
    fn unpack(self, state: Self::State) -> [u32; 8];
    /// Word by word the sum modulo 2³².
    fn add_states(self, a: Self::State, b: Self::State) -> Self::State;
    /// Four rounds, of which `sums` has Kₜ + Wₜ.
    fn four_rounds(self, state: Self::State, sums: Self::Words) -> Self::State;
}

/// What [`Backend::append_below`] makes of a number.
///
/// Sealed: coefficients of 16 and of 32 bits.
pub trait FromNumber: Copy + Sealed + 'static {
    /// The same number; it fits.
    fn from_number(number: u32) -> Self;
}

impl Sealed for i16 {}

impl FromNumber for i16 {
    #[inline(always)]
    fn from_number(number: u32) -> Self {
        number as Self
    }
}

impl Sealed for i32 {}

impl FromNumber for i32 {
    #[inline(always)]
    fn from_number(number: u32) -> Self {
        number as Self
    }
}

/// A vector register, or one element where there are none.
///
/// Whoever makes a vector shows the token, so that a vector is itself the proof that
/// the CPU has the instructions of its methods.
pub trait Vector: Copy {
    /// The backend that the vector belongs to.
    type Token: Copy;
    /// What a lane holds.
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
    /// The sum modulo 2^bits of what is known early and `late`.
    ///
    /// Compilers reorder sums. This one they must not, if it is on the critical path.
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
    /// `(self ∧ b) ⊕ (self ∧ c) ⊕ (b ∧ c)`: the bits that two or three of them have.
    fn majority(self, b: Self, c: Self) -> Self;
    /// Shift to the right by `N` bits, 0 < `N` < bits.
    fn shift_right<const N: i32>(self) -> Self;
    /// Shift to the left by `N` bits, 0 < `N` < bits, that brings in the `N` most
    /// significant bits of `next`.
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
    /// Whether a round of Keccak leaves χ to the last: there must be registers for all words
    /// and their sums.
    const CHI_LAST: bool = false;

    /// `self ⊕ b ⊕ c ⊕ d ⊕ e`
    #[inline(always)]
    fn xor5(self, b: Self, c: Self, d: Self, e: Self) -> Self {
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
    /// All bits set in the lanes i that `lanes` has bit i of, and none in the others. What more
    /// bits `lanes` has counts for nothing.
    fn mask(token: Self::Token, lanes: u32) -> Self;
    /// Reads words from as many bytes, the least significant first.
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
    /// Sorts 24 vectors by lanes: `blocks[j]` is lane j of each, the least significant
    /// bytes first. There are as many blocks as lanes.
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
    /// Sum; the caller's bounds exclude overflow.
    fn add(self, other: Self) -> Self;
    /// Difference; the caller's bounds exclude overflow.
    fn sub(self, other: Self) -> Self;
    /// The low half of the product: `self · other mod± 2^bits`.
    fn mul_low(self, other: Self) -> Self;
    /// The high half of the product: `⌊self · other / 2^bits⌋`; not both are the least
    /// number of the type.
    fn mul_high(self, other: Self) -> Self;
    /// Arithmetic shift to the right by `N` bits.
    fn shift_right<const N: i32>(self) -> Self;
    /// The Montgomery product `self · c mod q` of a constant c with factors
    /// `factor` = c · R mod± q and `factor_over_q` = c · R · q⁻¹ mod± R, R = 2^bits.
    ///
    /// The result lies in ±q for any `self`, since |`factor`| ≤ q/2.
    #[inline(always)]
    fn montgomery_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        // self · factor ≡ m · q mod R for m = self · factor_over_q mod± R, so that the
        // low halves cancel and the high halves differ by the exact quotient.
        let m = self.mul_low(factor_over_q);
        self.mul_high(factor).sub(m.mul_high(q))
    }
    /// The Barrett product `self · c mod q` of a constant c = `factor`, |c| ≤ q/2, with
    /// `factor_over_q` = c · R / q, rounded, R = 2^bits.
    ///
    /// Only one of three products needs its high half. The result lies between −q/4 and
    /// 5/4 q for any `self`: since c · R / q is wrong by 1/2 at most, the quotient is at most
    /// |`self`| / 2R ≤ 1/4 off before it is rounded down. For a `self` of a few q it lies
    /// between 0 and q, but for as few hundredths of q.
    #[inline(always)]
    fn barrett_product(self, factor: Self, factor_over_q: Self, q: Self) -> Self {
        // modulo 2^bits, which vectors do not need to be told
        let quotient = self.mul_high(factor_over_q);
        self.mul_low(factor).sub(quotient.mul_low(q))
    }
    /// Each odd block of `LEN` lanes of `a` and the even block of `b` before it in each other's
    /// place, for blocks of 32 bits or more, `LEN < LANES`. It is its own inverse.
    ///
    /// It makes of the even and the odd blocks of 2 · `LEN` lanes those of `LEN` lanes, and
    /// the other way around.
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

    use super::{Backend, Coefficients, I32s, Kernel, U64s, Vector, Words, on_each_backend};
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

    /// Lane i is `f(i)`.
    fn check_lanes<V: Vector>(v: V, f: impl Fn(usize) -> V::Element)
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
                    check_lanes(V::splat(token, 7), |_| 7);
                    check_lanes(a.add(b), |i| x(i).wrapping_add(y(i)));
                    check_lanes(a.add_late(b), |i| x(i).wrapping_add(y(i)));
                    check_lanes(a.sub(b), |i| x(i).wrapping_sub(y(i)));
                    check_lanes(a.xor(b), |i| x(i) ^ y(i));
                    check_lanes(a.xor3(b, c), |i| x(i) ^ y(i) ^ z(i));
                    check_lanes(a.choose(b, c), |i| (x(i) & y(i)) ^ (!x(i) & z(i)));
                    check_lanes(a.majority(b, c), |i| {
                        (x(i) & y(i)) ^ (x(i) & z(i)) ^ (y(i) & z(i))
                    });
                    const BITS: i32 = $element::BITS as i32;
                    $(
                        check_lanes(a.shift_right::<$n>(), |i| x(i) >> $n);
                        check_lanes(a.shift_in::<$n>(b), |i| x(i) << $n | y(i) >> (BITS - $n));
                        check_lanes(a.rotate_left::<$n>(), |i| x(i).rotate_left($n));
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
                    check_lanes(V::mask(token, lanes | more), |i| match lanes >> i & 1 {
                        1 => u64::MAX,
                        _ => 0,
                    });
                }
            }
            check_lanes(a.chi(b, c), |i| x(i) ^ (!y(i) & z(i)));
            check_lanes(a.xor_and(b, c), |i| x(i) ^ (y(i) & z(i)));
            check_lanes(a.xor_or(b, c), |i| x(i) ^ (y(i) | z(i)));
            let mut bytes = [0; 64];
            let bytes = &mut bytes[..8 * V::LANES];
            a.to_le_bytes(bytes);
            assert!((0..V::LANES).all(|i| bytes.as_chunks().0[i] == x(i).to_le_bytes()));
            check_lanes(V::from_le_bytes(token, bytes), x);
            check_lanes(a.xor_rotated(b), |i| x(i) ^ y(i).rotate_left(1));
            macro_rules! rotations {
                ($($n:literal)*) => {$(
                    check_lanes(a.rotate_left::<$n>(), |i| x(i).rotate_left($n));
                    check_lanes(a.xor_rotate::<$n>(b), |i| (x(i) ^ y(i)).rotate_left($n));
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

    /// Arithmetic of every lane, and the orders of lanes, by their definitions.
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
                        check_lanes(V::splat(token, -7), |_| -7);
                        check_lanes(a.add(b), |i| x(i) + y(i));
                        check_lanes(a.sub(b), |i| x(i) - y(i));
                        check_lanes(a.mul_low(b), |i| product(i) as $element);
                        check_lanes(a.mul_high(b), |i| (product(i) >> BITS) as $element);
                        check_lanes(a.shift_right::<1>(), |i| x(i) >> 1);
                        check_lanes(a.shift_right::<10>(), |i| x(i) >> 10);

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
                        check_lanes(anything.montgomery_product(factor, factor_over_q, q), |i| {
                            let product = $double::from(x(i)) * $double::from(c(i));
                            let m = (product as $element).wrapping_mul(q_inverse);
                            ((product - $double::from(m) * $q) >> BITS) as $element
                        });

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
                                check_lanes(wide_even, |i| block(2 * len, i, 0) as $element);
                                check_lanes(wide_odd, |i| block(2 * len, i, 1) as $element);
                                let (again, odd_again) = V::transpose::<$len>(wide_even, wide_odd);
                                check_lanes(again, |i| block(len, i, 0) as $element);
                                check_lanes(odd_again, |i| block(len, i, 1) as $element);
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
                        check_lanes(even, |i| block(len, i, 0) as $element);
                        check_lanes(odd, |i| block(len, i, 1) as $element);
                        let (low, high) = V::interleave(even, odd);
                        check_lanes(low, |i| i as $element);
                        check_lanes(high, |i| (lanes + i) as $element);
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
                check_lanes(reduced, |i| {
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
