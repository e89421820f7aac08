//! The compression functions of SHA-2, and the chains of SLH-DSA's SHA2 sets, compute what FIPS 180-4 and FIPS 205
//! say, for all states and blocks.

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::array;

use super::backend::{Abstract, on_each_width_of_words};
use super::terms::{self, Id, prove};
use super::words::{Unsigned, expect_lane, fails_with_each_constant, input, vectors};
use crate::arch::{Backend, Kernel, Sha256Instructions, Vector};
use crate::kernel::sha2::{self as kernel, CompressLanes, CompressStream, LanesOf, Word};
use crate::kernel::slh_dsa::sha2::Chain;
use crate::sealed::Sealed;

/// FIPS 180-4 for one length of words: the rotations to the right of Σ₀ and Σ₁, and the rotations and the shift of
/// σ₀ and σ₁ (sections 4.1.2 and 4.1.3).
pub(super) trait Standard: Word + Unsigned {
    const BIG_SIGMA: [[u32; 3]; 2];
    const SMALL_SIGMA: [[u32; 3]; 2];

    fn big_sigma(i: usize, x: Id) -> Id {
        let [first, second, third] = Self::BIG_SIGMA[i].map(|by| rotate_right::<Self>(x, by));
        terms::xor(terms::xor(first, second), third)
    }

    fn small_sigma(i: usize, x: Id) -> Id {
        let [first, second, shift] = Self::SMALL_SIGMA[i];
        let [first, second] = [first, second].map(|by| rotate_right::<Self>(x, by));
        terms::xor(terms::xor(first, second), terms::shift_right(x, shift))
    }

    /// Kₜ, for proofs that do not tamper with these constants.
    fn constants() -> impl Iterator<Item = Id> {
        let constants = Self::CONSTANTS.as_flattened().iter();
        constants.map(|k| terms::number((*k).into()))
    }
}

impl Standard for u32 {
    const BIG_SIGMA: [[Self; 3]; 2] = [[2, 13, 22], [6, 11, 25]];
    const SMALL_SIGMA: [[Self; 3]; 2] = [[7, 18, 3], [17, 19, 10]];
}

impl Standard for u64 {
    const BIG_SIGMA: [[u32; 3]; 2] = [[28, 34, 39], [14, 18, 41]];
    const SMALL_SIGMA: [[u32; 3]; 2] = [[1, 8, 7], [19, 61, 6]];
}

fn rotate_right<W: Unsigned>(x: Id, by: u32) -> Id {
    terms::rotate_left(x, W::BITS - by)
}

fn sum<const N: usize>(words: [Id; N]) -> Id {
    words
        .into_iter()
        .reduce(terms::add)
        .expect("there are some")
}

/// Wₜ from the 16 words before it (section 6.2.2, step 1).
fn next_word<W: Standard>(w: &[Id]) -> Id {
    let w = w.last_chunk::<16>().expect("there are 16");
    sum([
        W::small_sigma(1, w[14]),
        w[9],
        W::small_sigma(0, w[1]),
        w[0],
    ])
}

/// A round (section 6.2.2, step 3), where `k_plus_w` is Kₜ + Wₜ.
fn round<W: Standard>([a, b, c, d, e, f, g, h]: [Id; 8], k_plus_w: Id) -> [Id; 8] {
    let ch = terms::bitwise(|x, y, z| x & y ^ !x & z, [e, f, g]);
    let maj = terms::bitwise(|x, y, z| x & y ^ x & z ^ y & z, [a, b, c]);
    let t1 = sum([h, W::big_sigma(1, e), ch, k_plus_w]);
    let t2 = terms::add(W::big_sigma(0, a), maj);
    [terms::add(t1, t2), a, b, c, terms::add(d, t1), e, f, g]
}

/// Compresses a block into a state (sections 6.2.2 and 6.4.2).
fn compress<W: Standard>(state: [Id; 8], block: [Id; 16]) -> [Id; 8] {
    let mut w = Vec::from(block);
    let mut working = state;
    for (t, k) in W::constants().enumerate() {
        if t >= 16 {
            w.push(next_word::<W>(&w));
        }
        working = round::<W>(working, terms::add(k, w[t]));
    }
    array::from_fn(|i| terms::add(state[i], working[i]))
}

/// A function that compresses a block into the state of every lane.
type Compression<B, W> = fn(B, &mut [LanesOf<B, W>; 8], &[LanesOf<B, W>; 16]);

pub(super) fn lanes<B: Backend, W: Standard>(
    b: B,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove_compression::<B, W>(b, tampered, |b, states, blocks| {
        b.run(CompressLanes::<B, W> { states, blocks });
    })
}

/// The function that [`Compress`](crate::kernel::sha2::Compress) calls for each block.
pub(super) fn one_state<B: Backend, W: Standard>(
    b: B,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove_compression::<B, W>(b, tampered, |b, states, blocks| {
        let load = |array| <W::Lanes<B> as Vector>::load(b, array);
        let (state, block) = (states.each_ref().map(load), blocks.each_ref().map(load));
        let state = kernel::compress::<W, W::Lanes<B>, false>(b, state, block);
        for (vector, array) in state.into_iter().zip(states) {
            vector.store(array);
        }
    })
}

fn prove_compression<B: Backend, W: Standard>(
    b: B,
    tampered: Option<usize>,
    run: Compression<B, W>,
) -> Result<Vec<u64>, String> {
    prove(W::BITS, tampered, || {
        let state = |lane, i| input::<W>(lane, i);
        let block = |lane, i| input::<W>(lane, 8 + i);
        let mut states = vectors::<LanesOf<B, W>, W, 8>(state);
        run(b, &mut states, &vectors::<LanesOf<B, W>, W, 16>(block));
        for lane in 0..W::Lanes::<B>::LANES {
            let expected = compress::<W>(
                array::from_fn(|i| state(lane, i)),
                array::from_fn(|i| block(lane, i)),
            );
            expect_lane("word", &states, lane, &expected);
        }
    })
}

#[test]
fn compressions() {
    fn check<B: Backend>(b: B) {
        lanes::<_, u32>(b, None).unwrap();
        lanes::<_, u64>(b, None).unwrap();
    }

    on_each_width_of_words!(b => check(b));
    one_state::<_, u32>(Abstract::<1>, None).unwrap();
    one_state::<_, u64>(Abstract::<1>, None).unwrap();
}

/// Groups of blocks into one state of SHA-512, with a block in each lane of the backend.
pub(super) fn ahead<B: Backend>(
    b: B,
    groups: usize,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    type OneLane = <Abstract<1> as Backend>::U64s;

    prove(64, tampered, || {
        let mut expected = array::from_fn(|i| input::<u64>(0, i));
        let mut state: [u64; 8] = expected.map(Unsigned::name);
        let mut blocks = Vec::new();
        for n in 1..=groups * B::U64s::LANES {
            let block: [_; 16] = array::from_fn(|i| input::<u64>(n, i));
            blocks.extend(block.map(|x| u64::name(x).to_be_bytes()));
            expected = compress::<u64>(expected, block);
        }
        let blocks = blocks.as_flattened();
        let schedule = &mut kernel::Schedule::<B::U64s>::new();
        kernel::ahead::compress_ahead::<OneLane, B::U64s>(
            Abstract::<1>,
            b,
            &mut state,
            blocks,
            schedule,
        );
        expect_lane("word", &state.map(|word| [word]), 0, &expected);
    })
}

/// Without blocks, with words that are computed beside no rounds, and beside those of the group before.
#[test]
fn words_ahead() {
    fn check<B: Backend>(b: B) {
        for groups in 0..=2 {
            ahead(b, groups, None).unwrap();
        }
    }

    on_each_width_of_words!(b => check(b));
    ahead(Abstract::<4>, 3, None).unwrap();
    let constants = ahead(Abstract::<2>, 2, None).unwrap();
    let k = u64::CONSTANTS.as_flattened();
    assert_eq!(constants, k);
    fails_with_each_constant(k.len(), None, &|tampered| ahead(Abstract::<2>, 2, tampered));
}

/// The constants are K, and no others.
#[test]
fn each_constant_of_sha2_matters() {
    fn check<W: Standard>() {
        for proof in [lanes::<_, W>, one_state::<_, W>] {
            let constants = proof(Abstract::<1>, None).unwrap();
            let k = W::CONSTANTS.as_flattened().iter().map(|k| (*k).into());
            assert!(constants.iter().copied().eq(k));
            fails_with_each_constant(constants.len(), None, &|tampered| {
                proof(Abstract::<1>, tampered)
            });
        }
    }

    check::<u32>();
    check::<u64>();
}

/// The instructions for SHA-256 by their definition, on words that stand for all words.
#[derive(Clone, Copy)]
struct Instructions;

impl Sealed for Instructions {}

impl Sha256Instructions for Instructions {
    type Words = [Id; 4];
    type State = [Id; 8];

    fn run<K: Kernel<Self>>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    fn load(self, words: &[u32; 4]) -> [Id; 4] {
        words.map(Unsigned::word)
    }

    fn add(self, a: [Id; 4], b: [Id; 4]) -> [Id; 4] {
        array::from_fn(|i| terms::add(a[i], b[i]))
    }

    fn schedule(self, words: [[Id; 4]; 4]) -> [Id; 4] {
        let mut w = Vec::from(words.as_flattened());
        for _ in 0..4 {
            w.push(next_word::<u32>(&w));
        }
        array::from_fn(|i| w[16 + i])
    }

    fn pack(self, state: &[u32; 8]) -> [Id; 8] {
        state.map(Unsigned::word)
    }

    fn unpack(self, state: [Id; 8]) -> [u32; 8] {
        state.map(Unsigned::name)
    }

    fn add_states(self, a: [Id; 8], b: [Id; 8]) -> [Id; 8] {
        array::from_fn(|i| terms::add(a[i], b[i]))
    }

    fn four_rounds(self, state: [Id; 8], sums: [Id; 4]) -> [Id; 8] {
        sums.into_iter().fold(state, round::<u32>)
    }
}

/// `count` blocks into one state, with the instructions.
pub(super) fn stream(count: usize, tampered: Option<usize>) -> Result<Vec<u64>, String> {
    prove(32, tampered, || {
        let mut expected = array::from_fn(|i| input::<u32>(0, i));
        let mut state: [u32; 8] = expected.map(Unsigned::name);
        let mut blocks = Vec::new();
        for n in 1..=count {
            let block: [_; 16] = array::from_fn(|i| input::<u32>(n, i));
            blocks.extend(block.map(|x| u32::name(x).to_be_bytes()));
            expected = compress::<u32>(expected, block);
        }
        Instructions.run(CompressStream {
            state: &mut state,
            blocks: blocks.as_flattened(),
        });
        expect_lane("word", &state.map(|word| [word]), 0, &expected);
    })
}

/// A block into each of four states, the number that SLH-DSA compresses side by side.
pub(super) fn streams_side_by_side(tampered: Option<usize>) -> Result<Vec<u64>, String> {
    prove(32, tampered, || {
        let state = |n| array::from_fn(|i| input::<u32>(n, i));
        let block = |n| array::from_fn(|i| input::<u32>(n, 8 + i));
        let states: [[Id; 8]; 4] = array::from_fn(state);
        let blocks = array::from_fn(|n| block(n).map(Unsigned::name));
        let ended = kernel::compress_streams(Instructions, states, blocks);
        for (n, state) in states.into_iter().enumerate() {
            let ended = Instructions.unpack(ended[n]).map(|word| [word]);
            expect_lane("word", &ended, 0, &compress::<u32>(state, block(n)));
        }
    })
}

#[test]
fn streams() {
    for count in 0..3 {
        stream(count, None).unwrap();
    }
    streams_side_by_side(None).unwrap();
    for tampered in 0..64 {
        stream(1, Some(tampered)).unwrap_err();
        streams_side_by_side(Some(tampered)).unwrap_err();
    }
}

/// `steps` steps of a chain of values of `n` bytes.
pub(super) fn chain<B: Backend>(
    b: B,
    n: usize,
    steps: usize,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove(32, tampered, || {
        let words = n / 4;
        let midstate: [_; 8] = array::from_fn(|i| input::<u32>(63, i));
        // ADRSᶜ is 22 bytes long
        let address = |lane: usize, i: usize| {
            let bits = if i == 5 { 0xffff_0000 } else { 0xffff_ffff };
            terms::input((64 * lane + 8 + i) as u16, bits)
        };
        let value = |lane, i| input::<u32>(lane, i);
        let mut values = vectors::<LanesOf<B, u32>, u32, 8>(value);
        let mut addresses = vectors::<LanesOf<B, u32>, u32, 6>(address);
        b.run(Chain {
            words,
            midstate: &midstate.map(Unsigned::name),
            addresses: &mut addresses,
            values: &mut values,
            steps,
        });
        for lane in 0..B::U32s::LANES {
            let mut expected: [_; 8] = array::from_fn(|i| value(lane, i));
            let mut end = address(lane, 5);
            for _ in 0..steps {
                // F of FIPS 205, section 11.2: ADRSᶜ ‖ value, and the padding of FIPS 180-4, section 5.1.1, after one
                // block. Each word comes from two neighbouring words, shifted by two bytes.
                let mut message: Vec<_> = (0..5).map(|i| address(lane, i)).collect();
                let value = expected[..words].iter().copied();
                let ends = [terms::number(0x8000_0000), terms::number(0)];
                let mut before = terms::shift_right(end, 16);
                for word in value.chain(ends) {
                    message.push(terms::shift_in(before, 16, word));
                    before = word;
                }
                message.resize(15, terms::number(0));
                message.push(terms::number(8 * (64 + 22 + n as u64)));
                let block = *message.first_chunk().expect("a block");
                // the value is in the first words of the digest; the kernel leaves the others there, too
                expected = compress::<u32>(midstate, block);
                // the last byte of ADRSᶜ is the last byte of its last field
                end = terms::add(end, terms::number(1 << 16));
            }
            expect_lane("value", &values, lane, &expected);
            let address: [_; 6] = array::from_fn(|i| if i == 5 { end } else { address(lane, i) });
            expect_lane("address", &addresses, lane, &address);
        }
    })
}

#[test]
fn chains() {
    fn check<B: Backend>(b: B) {
        for steps in [0, 2] {
            for n in [16, 24, 32] {
                chain(b, n, steps, None).unwrap();
            }
        }
    }

    on_each_width_of_words!(b => check(b));
}

/// K, the padding, and the step from one address to the next. Of the word with the first bit of the padding, only the
/// upper half gets into a block.
#[test]
fn each_constant_of_chains_matters() {
    for n in [16, 24, 32] {
        fails_with_each_constant(64 + 4, Some(1 << 31), &|tampered| {
            chain(Abstract::<1>, n, 2, tampered)
        });
    }
}
