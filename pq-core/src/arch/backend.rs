//! The trait of all CPUs, and the trait of the loops they run.

use super::choice::IntoChoice;
use super::{I16s, I32s, U32s, U64s, packing, pairs};
use crate::sealed::Sealed;

/// A CPU that the algorithms can run on.
///
/// Sealed: only this crate implements it.
pub trait Backend: Copy + IntoChoice + Send + Sync + Sealed + 'static {
    /// Independent lanes of Keccak or SHA-512.
    type U64s: U64s<Token = Self>;
    /// Fewer lanes of Keccak: part of a vector, or a general register. They take less time than all
    /// lanes, or on some CPUs the same time.
    type Few: U64s<Token: From<Self>>;
    /// Lanes in which the words of SHA-512 are computed, of several blocks of one message. One lane if
    /// the CPU computes them as fast in general registers.
    type Schedules: U64s<Token: From<Self>>;
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
    /// The better of two backends of one architecture has the greater rank.
    const RANK: u8;
    /// Whether Keccak keeps some words as their complements, since the CPU lacks an instruction for
    /// `¬b ∧ c`.
    const COMPLEMENTS: bool = false;
    /// Whether [`adds_pairs_faster`](Self::adds_pairs_faster) can be true. Only then are kernels
    /// with Keccak compiled for both answers, since they take longer to compile than any other.
    const MAY_ADD_PAIRS: bool = false;

    /// Runs a kernel with all instructions of this CPU.
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Runs a kernel in general registers, with the CPU's instructions for these.
    ///
    /// With vector instructions, the compiler puts single lanes of Keccak into vectors, which takes
    /// twice as long.
    fn run_scalar<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Runs a kernel on [`Few`](Self::Few) lanes.
    #[inline]
    fn run_few<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        self.run_scalar(kernel)
    }

    /// The approximate time of a step of all lanes, in halves of a step of [`Few`](Self::Few): 2 if
    /// it takes as long, 4 if it takes twice as long.
    #[inline]
    fn cost_of_all_lanes(self) -> usize {
        2
    }

    /// Whether this CPU computes the step θ of Keccak in less time by sums of pairs of words,
    /// although this takes more instructions.
    #[inline]
    fn adds_pairs_faster(self) -> bool {
        false
    }

    /// The instructions for SHA-256, if this CPU has them in addition to those of the backend.
    ///
    /// They hash a message, or a few side by side. If they are not part of the backend, this asks
    /// the CPU, which takes a load and a branch.
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

    /// For each four bits, how many of the lower two are set, minus how many of the upper two. The
    /// lower half of each byte comes first.
    ///
    /// For loops of kernels. The bits may be secret.
    #[inline(always)]
    fn bit_pair_differences(self, bytes: &[u8; 16], differences: &mut [i16; 32]) {
        pairs::bit_differences(bytes, differences);
    }

    /// Appends those of 16 numbers that are below `limit` to the first `filled` elements of
    /// `output`, in order and while there is room. Returns how many elements there are then, and
    /// overwrites the elements after them. All numbers are below 2³¹.
    ///
    /// For loops of kernels. Which numbers are below `limit` is public: some backends index by it.
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

    /// As [`append_below`](Self::append_below), of the low 23 bits of all 56 numbers of 24 bits in
    /// `bytes`. Meant for a `limit` that few of them reach.
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
        output: &mut [u8; 256],
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

    /// The low halves of `even` and `odd` in turn, and their high halves: elements 2i come from
    /// `even[i]`, elements 2i + 1 from `odd[i]`.
    ///
    /// For loops of kernels.
    #[inline(always)]
    fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
        pairs::halves(even, odd)
    }
}

/// An inner loop, over a polynomial or a permutation.
///
/// Implementations are `#[inline(always)]`, so that each backend compiles the whole loop with its
/// own instructions. `T` is the token of these instructions: a [`Backend`], or
/// [`Sha256Instructions`].
pub trait Kernel<T> {
    /// What the kernel returns; most work in place.
    type Output;

    /// Whether it is so large that it should be a function of its own even where other kernels are
    /// inlined.
    const LARGE: bool = false;

    /// Runs to the end.
    fn run(self, token: T) -> Self::Output;
}

/// The operations of a CPU with instructions for SHA-256. It is a token, like a [`Backend`].
///
/// Sealed: only this crate implements it.
pub trait Sha256Instructions: Copy + Sealed + 'static {
    /// Four words of a message schedule.
    type Words: Copy;
    /// The eight words of a state, in the CPU's order.
    type State: Copy;

    /// Runs a kernel with these instructions.
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output;

    /// Reads words.
    fn load(self, words: &[u32; 4]) -> Self::Words;
    /// The sum of each pair of words modulo 2³².
    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;
    /// The words of the schedule that follow these 16.
    fn schedule(self, words: [Self::Words; 4]) -> Self::Words;

    /// A state in the CPU's order.
    fn pack(self, state: &[u32; 8]) -> Self::State;
    /// The inverse of [`pack`](Self::pack).
    fn unpack(self, state: Self::State) -> [u32; 8];
    /// The sum of each pair of words modulo 2³².
    fn add_states(self, a: Self::State, b: Self::State) -> Self::State;
    /// Four rounds; `sums` holds Kₜ + Wₜ for each.
    fn four_rounds(self, state: Self::State, sums: Self::Words) -> Self::State;
}

/// An element that [`Backend::append_below`] makes from a number.
///
/// Sealed: bytes, and coefficients of 16 and of 32 bits.
pub trait FromNumber: Copy + Sealed + 'static {
    /// The same number; it must fit.
    fn from_number(number: u32) -> Self;
}

impl Sealed for u8 {}

macro_rules! from_numbers {
    ($($integer:ty)*) => {$(
        impl FromNumber for $integer {
            #[inline(always)]
            fn from_number(number: u32) -> Self {
                number as Self
            }
        }
    )*};
}
from_numbers!(u8 i16 i32);
