//! What a CPU can do: the vector traits that the kernels are written over, and
//! one file per CPU that implements them.
//!
//! A backend is a zero-sized capability token. Holding one is the proof that its
//! instructions exist on this machine, so whatever it does is safe to call. The
//! token is chosen once per public operation (`dispatch!`) and handed down by value.
//!
//! Nothing here knows what it is used for: `kernel` writes the inner loops.

mod portable;
#[cfg(test)]
pub(crate) mod wide;

use zeroize::Zeroize;

use crate::sealed::Sealed;

pub use portable::Portable;

/// A CPU that the algorithms can run on.
///
/// Sealed: a backend is implemented in this crate or not at all.
pub trait Backend: Copy + Send + Sync + Sealed + 'static {
    /// Independent Keccak lanes.
    type U64s: U64s<Token = Self>;
    /// Coefficients modulo 3329 (ML-KEM).
    type I16s: I16s<Token = Self>;
    /// Coefficients modulo 8380417 (ML-DSA).
    type I32s: I32s<Token = Self>;

    /// The name in test output and benchmarks.
    const NAME: &'static str;

    /// Runs a kernel with all instructions of this CPU at hand.
    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output;
}

/// An inner loop, the size of a polynomial or of a permutation.
///
/// Implementations are `#[inline(always)]`, so that each backend compiles the
/// whole loop with its own instructions.
pub trait Kernel<B: Backend> {
    /// What the kernel returns; most work in place.
    type Output;

    /// Runs to the end.
    fn run(self, b: B) -> Self::Output;
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

/// Lanes of 64 bits: Keccak.
pub trait U64s: Vector<Element = u64> {
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// `self ⊕ b ⊕ c`.
    fn xor3(self, b: Self, c: Self) -> Self;
    /// `self ⊕ (¬b ∧ c)`, the step χ of Keccak.
    fn chi(self, b: Self, c: Self) -> Self;
    /// Rotation of each lane to the left by `N` bits, 0 < `N` < 64.
    fn rotate_left<const N: u32>(self) -> Self;
}

/// Signed coefficients, for arithmetic modulo a prime in Montgomery form.
pub trait Coefficients: Vector {
    /// Sum; the caller's bounds exclude overflow.
    fn add(self, other: Self) -> Self;
    /// Difference; the caller's bounds exclude overflow.
    fn sub(self, other: Self) -> Self;
    /// The low half of the product: `self · other mod± 2^bits`.
    fn mul_low(self, other: Self) -> Self;
    /// The high half of the product: `⌊self · other / 2^bits⌋`.
    fn mul_high(self, other: Self) -> Self;
    /// Arithmetic shift to the right by `N` bits.
    fn shift_right<const N: u32>(self) -> Self;
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
    /// Reads `(a, b)` as consecutive blocks of `LEN` lanes, `LEN < LANES`, and
    /// returns the even blocks and the odd blocks.
    fn deinterleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self);
    /// The inverse of [`deinterleave`](Self::deinterleave).
    fn interleave<const LEN: usize>(a: Self, b: Self) -> (Self, Self);
}

/// Coefficients of 16 bits.
pub trait I16s: Coefficients<Element = i16> {}

/// Coefficients of 32 bits.
pub trait I32s: Coefficients<Element = i32> {}

/// Runs `$body` with `$b` bound to the best backend of this machine.
///
/// The only place where a backend is chosen: each public operation passes through
/// here once, and what it calls is compiled anew for every backend.
macro_rules! dispatch {
    ($b:ident => $body:expr) => {{
        let $b = $crate::arch::Portable;
        $body
    }};
}
pub(crate) use dispatch;
