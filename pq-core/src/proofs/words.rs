//! Words of the abstract backend, whose lanes stand for every possible word.

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::array;
use core::fmt::Debug;
use core::marker::PhantomData;

use zeroize::Zeroize;

use super::backend::{Abstract, CHI_LAST, IN_MEMORY};
use super::terms::{self, Id};
use crate::arch::{Portable, U32s, U64s, Vector, Words};
use crate::sealed::Sealed;

/// The type of a word in a lane.
pub(super) trait Unsigned:
    Copy
    + Into<u64>
    + TryFrom<u64, Error: Debug>
    + Words<Element = Self, Token = Portable>
    + Zeroize
    + 'static
{
    const BITS: u32;

    /// The word that a number in memory stands for.
    fn word(self) -> Id {
        terms::named(self.into())
    }

    /// The number that stands for a word in memory.
    fn name(id: Id) -> Self {
        Self::try_from(terms::name(id)).expect("words have as many bits as the proof says")
    }
}

impl Unsigned for u32 {
    const BITS: Self = Self::BITS;
}

impl Unsigned for u64 {
    const BITS: u32 = Self::BITS;
}

/// Input `i` of a lane.
pub(super) fn input<W: Unsigned>(lane: usize, i: usize) -> Id {
    terms::input((64 * lane + i) as u16, u64::MAX >> (64 - W::BITS))
}

/// Vectors in memory, where word i of a lane is `word(lane, i)`.
pub(super) fn vectors<A: Default + AsMut<[W]>, W: Unsigned, const N: usize>(
    word: impl Fn(usize, usize) -> Id,
) -> [A; N] {
    array::from_fn(|i| {
        let mut words = A::default();
        for (lane, x) in words.as_mut().iter_mut().enumerate() {
            *x = W::name(word(lane, i));
        }
        words
    })
}

/// Checks the words that a lane in memory stands for.
pub(super) fn expect_lane<A: AsRef<[W]>, W: Unsigned>(
    what: &str,
    words: &[A],
    lane: usize,
    expected: &[Id],
) {
    for (i, (word, expected)) in words.iter().zip(expected).enumerate() {
        let what = format!("{what} {i} of lane {lane}");
        terms::expect(&what, word.as_ref()[lane].word(), *expected);
    }
}

type Proof<'a> = &'a dyn Fn(Option<usize>) -> Result<Vec<u64>, String>;

/// Checks that a proof has `count` constants, and fails with each of them increased by one, except with `spare`.
pub(super) fn fails_with_each_constant(count: usize, spare: Option<u64>, proof: Proof<'_>) {
    let constants = proof(None).unwrap();
    assert_eq!(constants.len(), count, "{constants:x?}");
    for (tampered, c) in constants.into_iter().enumerate() {
        assert_eq!(proof(Some(tampered)).is_ok(), spare == Some(c), "{c:x}");
    }
}

/// A vector of words. In memory, the names of the words are the numbers.
///
/// Its lanes are in the table of the running proof: kernels have several thousand vectors, and compile in half the time
/// if each is a number.
#[derive(Clone, Copy)]
pub(super) struct Word<W, const LANES: usize, const WAY: u8>(terms::Lanes, PhantomData<W>);

impl<W, const LANES: usize, const WAY: u8> Word<W, LANES, WAY> {
    fn from_fn(mut id: impl FnMut(usize) -> Id) -> Self {
        Self(terms::lanes(LANES, &mut id), PhantomData)
    }

    fn id(&self, lane: usize) -> Id {
        terms::lane(self.0, lane)
    }

    /// A function of single bits, as the portable backend computes it.
    fn bitwise(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64 + Copy) -> Self {
        Self::from_fn(|i| terms::bitwise(f, [self.id(i), b.id(i), c.id(i)]))
    }
}

impl<W, const LANES: usize, const WAY: u8> Sealed for Word<W, LANES, WAY> {}

impl<W: Unsigned, const LANES: usize, const WAY: u8> Vector for Word<W, LANES, WAY>
where
    [W; LANES]: Default,
{
    type Token = Abstract<LANES, WAY>;
    type Element = W;
    type Array = [W; LANES];

    const LANES: usize = LANES;

    #[inline(never)]
    fn splat(_: Self::Token, element: W) -> Self {
        let id = element.word();
        Self::from_fn(|_| id)
    }

    #[inline(never)]
    fn load(_: Self::Token, array: &[W; LANES]) -> Self {
        Self::from_fn(|i| array[i].word())
    }

    #[inline(never)]
    fn store(self, array: &mut [W; LANES]) {
        for (i, x) in array.iter_mut().enumerate() {
            *x = W::name(self.id(i));
        }
    }

    fn chunks(elements: &[W]) -> &[[W; LANES]] {
        elements.as_chunks().0
    }

    fn chunks_mut(elements: &mut [W]) -> &mut [[W; LANES]] {
        elements.as_chunks_mut().0
    }
}

// Kernels have several thousand of these operations: they compile in a fraction of the time if these are calls.
impl<W: Unsigned, const LANES: usize, const WAY: u8> Words for Word<W, LANES, WAY>
where
    [W; LANES]: Default,
{
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self::from_fn(|i| terms::add(self.id(i), other.id(i)))
    }

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        Self::from_fn(|i| terms::sub(self.id(i), other.id(i)))
    }

    #[inline(never)]
    fn xor(self, other: Self) -> Self {
        Self::from_fn(|i| terms::xor(self.id(i), other.id(i)))
    }

    #[inline(never)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    #[inline(never)]
    fn choose(self, b: Self, c: Self) -> Self {
        self.bitwise(b, c, Words::choose)
    }

    #[inline(never)]
    fn majority(self, b: Self, c: Self) -> Self {
        self.bitwise(b, c, Words::majority)
    }

    #[inline(never)]
    fn shift_right<const N: i32>(self) -> Self {
        Self::from_fn(|i| terms::shift_right(self.id(i), N as u32))
    }

    #[inline(never)]
    fn shift_in<const N: i32>(self, next: Self) -> Self {
        Self::from_fn(|i| terms::shift_in(self.id(i), N as u32, next.id(i)))
    }
}

impl<const LANES: usize, const WAY: u8> U32s for Word<u32, LANES, WAY> where [u32; LANES]: Default {}

impl<const LANES: usize, const WAY: u8> U64s for Word<u64, LANES, WAY>
where
    [u64; LANES]: Default,
{
    const CHI_LAST: bool = WAY == CHI_LAST;
    const IN_MEMORY: bool = WAY == IN_MEMORY;

    #[inline(never)]
    fn chi(self, b: Self, c: Self) -> Self {
        self.bitwise(b, c, U64s::chi)
    }

    #[inline(never)]
    fn xor_and(self, b: Self, c: Self) -> Self {
        self.bitwise(b, c, U64s::xor_and)
    }

    #[inline(never)]
    fn xor_or(self, b: Self, c: Self) -> Self {
        self.bitwise(b, c, U64s::xor_or)
    }

    #[inline(never)]
    fn mask(_: Self::Token, lanes: u32) -> Self {
        Self::from_fn(|i| terms::constant(u64::mask(Portable, lanes >> i)))
    }
}
