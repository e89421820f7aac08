//! The compression functions of SHA-2 (FIPS 180-4, section 6), written once for
//! words of 32 and 64 bits, of one message or of as many as a vector has lanes.

pub(crate) mod ahead;
mod constants;
mod streams;

use core::array;

pub(crate) use ahead::{CompressAhead, Schedule};
pub(crate) use constants::SQUARE_ROOTS;
use constants::{CONSTANTS_256, CONSTANTS_512};
pub(crate) use streams::{CompressStream, compress_streams};

use crate::arch::{Backend, Kernel, Portable, Sha256Instructions, Vector, Words};

/// Takes whole blocks into one state.
pub(crate) struct Compress<'a, W> {
    pub(crate) state: &'a mut [W; 8],
    /// A multiple of 16 words, big-endian.
    pub(crate) blocks: &'a [u8],
}

impl<B: Backend, W: Word> Kernel<B> for Compress<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: B) {
        debug_assert!(self.blocks.len().is_multiple_of(16 * W::LEN));
        for block in self.blocks.chunks_exact(16 * W::LEN) {
            *self.state = compress::<_, _, false>(Portable, *self.state, read_block(block));
        }
    }
}

/// Takes a block into the state of every lane.
pub(crate) struct CompressLanes<'a, B: Backend, W: Word> {
    pub(crate) states: &'a mut [LanesOf<B, W>; 8],
    /// Word i of each lane's block in vector i.
    pub(crate) blocks: &'a [LanesOf<B, W>; 16],
}

/// A word of every lane, in memory.
pub(crate) type LanesOf<B, W> = <<W as Word>::Lanes<B> as Vector>::Array;

impl<B: Backend, W: Word> Kernel<B> for CompressLanes<'_, B, W> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        let load = |array| <W::Lanes<B> as Vector>::load(b, array);
        let states = self.states.each_ref().map(load);
        let states = compress::<_, _, true>(b, states, self.blocks.each_ref().map(load));
        for (vector, array) in states.into_iter().zip(self.states) {
            vector.store(array);
        }
    }
}

/// A word: of 32 bits in SHA-224 and SHA-256, of 64 in the others.
pub(crate) trait Word: Words<Token = Portable, Element = Self> + Default + 'static {
    /// Words of independent messages.
    type Lanes<B: Backend>: Words<Token = B, Element = Self>;

    /// Length in bytes.
    const LEN: usize = size_of::<Self>();
    /// K, one constant for each round, by sixteens (sections 4.2.2 and 4.2.3).
    const CONSTANTS: &'static [[Self; 16]];

    /// Σ₀
    fn big_sigma0<V: Words<Element = Self>>(x: V) -> V;
    /// Σ₁
    fn big_sigma1<V: Words<Element = Self>>(x: V) -> V;
    /// σ₀
    fn small_sigma0<V: Words<Element = Self>>(x: V) -> V;
    /// σ₁
    fn small_sigma1<V: Words<Element = Self>>(x: V) -> V;
    /// Takes whole blocks into one state, in the best way there is: as [`Compress`] does,
    /// or by instructions of the CPU's.
    fn compress_stream<B: Backend>(b: B, state: &mut [Self; 8], blocks: &[u8]);
    /// Reads `LEN` bytes, big-endian.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the first bytes, big-endian, at most `LEN`.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! word {
    (
        $word:ident, $lanes:ident, $constants:ident, $compress_stream:ident,
        $($sum:ident: $first:literal $second:literal $third:ident $n:literal,)*
    ) => {
        impl Word for $word {
            type Lanes<B: Backend> = B::$lanes;

            const CONSTANTS: &'static [[Self; 16]] = &$constants;

            $(
                #[inline(always)]
                fn $sum<V: Words<Element = Self>>(x: V) -> V {
                    const BITS: i32 = $word::BITS.cast_signed();
                    let first = x.rotate_left::<{ BITS - $first }>();
                    let second = x.rotate_left::<{ BITS - $second }>();
                    first.xor3(second, word!(@third x $third $n))
                }
            )*

            #[inline]
            fn compress_stream<B: Backend>(b: B, state: &mut [Self; 8], blocks: &[u8]) {
                $compress_stream(b, state, blocks);
            }

            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                debug_assert_eq!(bytes.len(), Self::LEN);
                bytes.first_chunk().map_or(0, |bytes| Self::from_be_bytes(*bytes))
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                for (byte, word) in bytes.iter_mut().zip(self.to_be_bytes()) {
                    *byte = word;
                }
            }
        }
    };
    (@third $x:ident rotated $n:literal) => { $x.rotate_left::<{ BITS - $n }>() };
    (@third $x:ident shifted $n:literal) => { $x.shift_right::<$n>() };
}

// The rotations to the right (sections 4.1.2 and 4.1.3).
word!(
    u32, U32s, CONSTANTS_256, compress_stream_256,
    big_sigma0: 2 13 rotated 22,
    big_sigma1: 6 11 rotated 25,
    small_sigma0: 7 18 shifted 3,
    small_sigma1: 17 19 shifted 10,
);
word!(
    u64, U64s, CONSTANTS_512, compress_stream_512,
    big_sigma0: 28 34 rotated 39,
    big_sigma1: 14 18 rotated 41,
    small_sigma0: 1 8 shifted 7,
    small_sigma1: 19 61 shifted 6,
);

#[inline]
fn compress_stream_256<B: Backend>(b: B, state: &mut [u32; 8], blocks: &[u8]) {
    match b.sha256() {
        Some(instructions) => instructions.run(CompressStream { state, blocks }),
        None => b.run_scalar(Compress { state, blocks }),
    }
}

#[inline]
fn compress_stream_512<B: Backend>(b: B, state: &mut [u64; 8], blocks: &[u8]) {
    // The words of the first blocks are computed beside no others, which takes as long as three
    // blocks save.
    let group = 128 * B::Schedules::LANES;
    let (ahead, rest) = match B::Schedules::LANES {
        2.. if blocks.len() >= 2 * group => blocks.split_at(blocks.len() - blocks.len() % group),
        _ => (&[][..], blocks),
    };
    if !ahead.is_empty() {
        b.run(CompressAhead {
            state,
            blocks: ahead,
            schedule: &mut Schedule::<B::Schedules>::new(),
        });
    }
    b.run_scalar(Compress {
        state,
        blocks: rest,
    });
}

/// The words of a block.
#[inline(always)]
pub(crate) fn read_block<W: Word>(block: &[u8]) -> [W; 16] {
    let mut words = [W::default(); 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(W::LEN)) {
        *word = W::read(bytes);
    }
    words
}

/// One block (section 6.2.2 or 6.4.2).
///
/// With `APART` the first rounds stand apart from the loop, so that what they and the words that
/// follow theirs take from constant or repeated words is computed once. Where no words are, that
/// would only take longer to compile.
#[inline(always)]
pub(crate) fn compress<W: Word, V: Words<Element = W>, const APART: bool>(
    token: V::Token,
    states: [V; 8],
    block: [V; 16],
) -> [V; 8] {
    let [earlier @ .., last] = W::CONSTANTS else {
        unreachable!("there are 64 or 80 rounds")
    };
    let (mut working, mut words, mut earlier) = (states, block, earlier);
    if APART && let [first, later @ ..] = earlier {
        (working, words) = sixteen_rounds::<W, V, true>(token, working, words, first);
        earlier = later;
    }
    for constants in earlier {
        (working, words) = sixteen_rounds::<W, V, true>(token, working, words, constants);
    }
    (working, _) = sixteen_rounds::<W, V, false>(token, working, words, last);
    array::from_fn(|i| states[i].add(working[i]))
}

/// Steps 1 and 3 for 16 values of t: takes the words of these and, if others follow
/// (`MORE`), gives theirs.
#[inline(always)]
fn sixteen_rounds<W: Word, V: Words<Element = W>, const MORE: bool>(
    token: V::Token,
    working: [V; 8],
    mut words: [V; 16],
    constants: &[W; 16],
) -> ([V; 8], [V; 16]) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = working;
    // Written out: in a loop the words would be in memory.
    macro_rules! rounds {
        ($($t:literal)*) => {$(
            let sum = V::splat(token, constants[$t]).add(words[$t]);
            let (new_e, new_a) = round::<W, V>([a, b, c, d, e, f, g, h], sum);
            (h, g, f, e, d, c, b, a) = (g, f, e, new_e, c, b, a, new_a);
            if MORE {
                words[$t] = W::small_sigma1(words[($t + 14) % 16])
                    .add(words[($t + 9) % 16])
                    .add(W::small_sigma0(words[($t + 1) % 16]).add(words[$t]));
            }
        )*};
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    ([a, b, c, d, e, f, g, h], words)
}

/// The new values of e and a after a round (step 3), where `sum` is Kₜ + Wₜ: d + T₁, and T₁ + T₂ from
/// it.
#[inline(always)]
fn round<W: Word, V: Words<Element = W>>([a, b, c, d, e, f, g, h]: [V; 8], sum: V) -> (V, V) {
    let early = d.add(h.add(sum));
    let new_e = early.add_late(e.choose(f, g)).add_late(W::big_sigma1(e));
    let new_a = new_e.sub(d).add_majority(a, b, c);
    (new_e, new_a.add_late(W::big_sigma0(a)))
}

#[cfg(test)]
mod tests {
    use sha2::block_api::{compress256, compress512};

    use super::{Compress, CompressAhead, CompressLanes, LanesOf, Schedule, Word, read_block};
    use crate::arch::{Backend, Vector, on_each_backend};
    use crate::test_random::{Random, inputs};

    /// Any number of any blocks into any state, in every way, against another crate.
    #[test]
    fn streams_match_another_implementation() {
        fn check<B: Backend, W: Word + PartialEq + core::fmt::Debug, const LEN: usize>(
            b: B,
            random_word: fn(&mut Random) -> W,
            reference: fn(&mut [W; 8], &[[u8; LEN]]),
        ) {
            let mut random = Random::new(4);
            // also around groups of blocks whose words are computed side by side
            for count in (0..=3).chain([7, 8, 9, 11, 12, 15, 16, 17]) {
                for _ in 0..inputs(20) {
                    let blocks: [[u8; LEN]; 17] = core::array::from_fn(|_| random.bytes());
                    let state: [W; 8] = core::array::from_fn(|_| random_word(&mut random));
                    let mut expected = state;
                    reference(&mut expected, &blocks[..count]);
                    let bytes = blocks[..count].as_flattened();
                    let mut plain = state;
                    let state = &mut { state };
                    b.run(Compress {
                        state: &mut plain,
                        blocks: bytes,
                    });
                    assert_eq!(plain, expected);
                    W::compress_stream(b, state, bytes);
                    assert_eq!(*state, expected);
                }
            }
        }

        on_each_backend!(b => {
            check(b, |random| random.bits() as u32, compress256);
            check(b, Random::bits, compress512);
        });
    }

    /// Any number of groups of blocks, whose words are computed side by side.
    #[test]
    fn words_ahead_match_another_implementation() {
        fn check<B: Backend>(b: B) {
            let mut random = Random::new(6);
            for groups in 0..=4 {
                for _ in 0..inputs(20) {
                    let blocks: [[u8; 128]; 32] = core::array::from_fn(|_| random.bytes());
                    let blocks = &blocks[..groups * B::Schedules::LANES];
                    let state: [u64; 8] = core::array::from_fn(|_| random.bits());
                    let (mut ahead, mut expected) = (state, state);
                    compress512(&mut expected, blocks);
                    b.run(CompressAhead {
                        state: &mut ahead,
                        blocks: blocks.as_flattened(),
                        schedule: &mut Schedule::<B::Schedules>::new(),
                    });
                    assert_eq!(ahead, expected, "{groups}");
                }
            }
        }

        on_each_backend!(b => check(b));
    }

    /// Any blocks into any states.
    #[test]
    fn lanes_match_another_implementation() {
        fn check<B: Backend, W: Word + PartialEq + core::fmt::Debug, const LEN: usize>(
            b: B,
            random_word: fn(&mut Random) -> W,
            reference: fn(&mut [W; 8], &[[u8; LEN]]),
        ) {
            let mut random = Random::new(5);
            for _ in 0..inputs(50) {
                let mut states = [LanesOf::<B, W>::default(); 8];
                let mut words = [LanesOf::<B, W>::default(); 16];
                let mut expected = [[W::default(); 8]; 16];
                let expected = &mut expected[..W::Lanes::<B>::LANES];
                for (lane, expected) in expected.iter_mut().enumerate() {
                    for (states, expected) in states.iter_mut().zip(&mut *expected) {
                        *expected = random_word(&mut random);
                        states.as_mut()[lane] = *expected;
                    }
                    let block: [u8; LEN] = random.bytes();
                    for (words, word) in words.iter_mut().zip(read_block(&block)) {
                        words.as_mut()[lane] = word;
                    }
                    reference(expected, &[block]);
                }
                b.run(CompressLanes::<B, W> {
                    states: &mut states,
                    blocks: &words,
                });
                for (lane, expected) in expected.iter().enumerate() {
                    assert_eq!(
                        states.each_ref().map(|words| words.as_ref()[lane]),
                        *expected
                    );
                }
            }
        }

        on_each_backend!(b => {
            check(b, |random| random.bits() as u32, compress256);
            check(b, Random::bits, compress512);
        });
    }
}
