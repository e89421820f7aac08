//! Keccak and the chains of SLH-DSA's SHAKE sets compute what FIPS 202 and FIPS 205 say, for all states and messages.

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::array;

use super::backend::{
    Abstract, COMPLEMENTS, MAY_ADD_PAIRS, on_each_way_of_words, on_each_width_of_words,
};
use super::terms::{self, Id, prove};
use super::words::{expect_lane, fails_with_each_constant, input, vectors};
use crate::arch::{Backend, Portable, U64s, Vector, on_each_backend};
use crate::hash::lanes::{self, Consumer, Demand, Job, Message};
use crate::hash::sha3::{SHAKE_SUFFIX, Sponge};
use crate::kernel::keccak::{self, KeccakF1600, PermuteAndAbsorb, Permuting, Step};
use crate::kernel::slh_dsa::shake::Chain;

/// rc(t) of FIPS 202, algorithm 5.
fn rc(t: usize) -> bool {
    let mut r = [true, false, false, false, false, false, false, false];
    for _ in 0..t % 255 {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = r;
        r = [r7, r0, r1, r2, r3 ^ r7, r4 ^ r7, r5 ^ r7, r6];
    }
    r[0]
}

/// Keccak-f\[1600\], by the step mappings of FIPS 202, section 3.2. Lane (x, y) is `a[x + 5y]`.
fn keccak_f(mut a: [Id; 25]) -> [Id; 25] {
    let at = |x: usize, y: usize| x % 5 + 5 * (y % 5);
    for round in 0..24 {
        // θ
        let sums: [_; 5] =
            array::from_fn(|x| (1..5).fold(a[x], |sum, y| terms::xor(sum, a[at(x, y)])));
        let d: [_; 5] = array::from_fn(|x| {
            terms::xor(sums[(x + 4) % 5], terms::rotate_left(sums[(x + 1) % 5], 1))
        });
        a = array::from_fn(|i| terms::xor(a[i], d[i % 5]));
        // ρ
        let (mut x, mut y) = (1, 0);
        for t in 0..24 {
            let by = (t + 1) * (t + 2) / 2 % 64;
            a[at(x, y)] = terms::rotate_left(a[at(x, y)], by);
            (x, y) = (y, (2 * x + 3 * y) % 5);
        }
        // π
        a = array::from_fn(|i| a[at(i % 5 + 3 * (i / 5), i % 5)]);
        // χ
        a = array::from_fn(|i| {
            let word = |dx: usize| a[at(i % 5 + dx, i / 5)];
            let function = |x: u64, next: u64, second: u64| x ^ (!next & second);
            terms::bitwise(function, [word(0), word(1), word(2)])
        });
        // ι
        let constant = (0..7).fold(0, |constant, j| {
            constant | u64::from(rc(j + 7 * round)) << ((1 << j) - 1)
        });
        a[0] = terms::xor(a[0], terms::number(constant));
    }
    a
}

/// Vectors of 64 bits in memory.
type InMemory<V> = <V as Vector>::Array;

/// Keccak-f of all lanes.
pub(super) fn permutation<B: Backend, const PAIRS: bool>(
    b: B,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove(64, tampered, || {
        let mut words = vectors::<InMemory<B::U64s>, u64, 25>(input::<u64>);
        let kernel = KeccakF1600::<B::U64s> {
            token: b,
            states: &mut words,
        };
        Permuting::<B>::run::<PAIRS>(kernel, b);
        for lane in 0..B::U64s::LANES {
            let expected = keccak_f(array::from_fn(|i| input::<u64>(lane, i)));
            expect_lane("word", &words, lane, &expected);
        }
    })
}

/// Each way to write a round. On this backend, no method depends on whether it sums pairs (`PAIRS`).
#[test]
fn permutations() {
    on_each_way_of_words!(b => permutation::<_, false>(b, None).map(drop).unwrap());
    permutation::<_, true>(Abstract::<4>, None).unwrap();
}

/// Pairs are summed where the CPU does that faster, and not wherever a kernel is compiled for both.
#[test]
fn pairs_are_summed_where_that_is_faster() {
    struct Sees<'a>(&'a mut Option<bool>);

    impl<B: Backend> Permuting<B> for Sees<'_> {
        fn run<const PAIRS: bool>(self, _: B) {
            *self.0 = Some(PAIRS);
        }
    }

    fn check<B: Backend>(b: B) {
        let (mut all, mut few) = (None, None);
        keccak::run(b, Sees(&mut all));
        keccak::run_few(b, Sees(&mut few));
        assert_eq!([all, few], [Some(b.adds_pairs_faster()); 2]);
    }

    check(Abstract::<1, MAY_ADD_PAIRS>);
    on_each_backend!(b => check(b));
}

/// A sponge by itself is hashed on few lanes. All lanes of this backend compute in proofs only, and this is none.
#[test]
fn one_sponge_takes_few_lanes() {
    struct Once<'a>(&'a mut [u8; 136]);

    impl Consumer for Once<'_> {
        fn take(&mut self, block: &[u8]) -> Demand {
            self.0.copy_from_slice(block);
            Demand::more_if(false)
        }
    }

    let (mut output, mut expected) = ([0; 136], [0; 136]);
    let job = Job {
        rate: 136,
        suffix: SHAKE_SUFFIX,
        message: Message::alone(&[7; 200]),
        consumer: Once(&mut output),
    };
    lanes::run(Abstract::<4>, [job]);
    let mut sponge = Sponge::new(136);
    sponge.absorb(Portable, &[7; 200]);
    sponge.finish(SHAKE_SUFFIX);
    sponge.squeeze(Portable, &mut expected);
    assert_eq!(output, expected);
}

/// 22 of the 24 round constants are different. The complements use one more, and loaded words start as 0.
#[test]
fn each_constant_of_keccak_matters() {
    fn check<B: Backend>(b: B, count: usize) {
        fails_with_each_constant(count, Some(0), &|tampered| {
            permutation::<_, false>(b, tampered)
        });
    }

    check(Abstract::<1>, 1 + 22);
    check(Abstract::<1, COMPLEMENTS>, 1 + 22 + 1);
}

/// Besides those of Keccak: the padding of a chain's messages. The mask of sponges that begin, and what follows a
/// message, are zeros that matter.
#[test]
fn each_constant_of_sponges_matters() {
    type Words = <Abstract<1> as Backend>::U64s;

    let b = Abstract::<1>;
    fails_with_each_constant(1 + 22, Some(0), &|tampered| absorbing(b, 136, 1, tampered));
    for fresh in 0..2 {
        fails_with_each_constant(1 + 22 + fresh as usize, None, &|tampered| {
            step::<_, Words>(b, 0, fresh, &[136], true, tampered)
        });
    }
    for n in [16, 24, 32] {
        fails_with_each_constant(22 + 3, None, &|tampered| chain(b, n, 2, tampered));
    }
}

/// Absorbs a block of `len` bytes.
fn absorb(state: &mut [Id; 25], block: impl Fn(usize) -> Id, len: usize) {
    for (i, word) in state.iter_mut().enumerate().take(len / 8) {
        *word = terms::xor(*word, block(i));
    }
}

/// Absorbs `count` blocks of `rate` bytes.
pub(super) fn absorbing<B: Backend>(
    b: B,
    rate: usize,
    count: usize,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove(64, tampered, || {
        let mut expected = array::from_fn(|i| input::<u64>(0, i));
        let mut state = expected.map(terms::name);
        let mut message = Vec::new();
        for n in 0..count {
            for i in 0..rate / 8 {
                message.extend(terms::name(input::<u64>(1 + n, i)).to_le_bytes());
            }
        }
        let kernel = PermuteAndAbsorb::<B::U64s> {
            token: b,
            state: &mut state,
            rate,
            blocks: &message,
        };
        Permuting::<B>::run::<false>(kernel, b);
        expected = keccak_f(expected);
        for n in 0..count {
            absorb(&mut expected, |i| input::<u64>(1 + n, i), rate);
            expected = keccak_f(expected);
        }
        expect_lane("word", &state.map(|word| [word]), 0, &expected);
    })
}

#[test]
fn blocks_are_absorbed() {
    fn check<B: Backend>(b: B) {
        for rate in [72, 104, 136, 144, 168] {
            absorbing(b, rate, 1, None).unwrap();
        }
        for count in [0, 2] {
            absorbing(b, 136, count, None).unwrap();
        }
    }

    on_each_width_of_words!(b => check(b));
}

/// A step of `group`, one of the groups of `A`'s lanes; the lanes in `fresh` begin.
pub(super) fn step<B: Backend, A: U64s>(
    b: B,
    group: usize,
    fresh: u32,
    absorbed: &[usize],
    squeeze: bool,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove(64, tampered, || {
        let lanes = B::U64s::LANES;
        let mut words = vectors::<InMemory<A>, u64, 25>(input::<u64>);
        let block = |lane: usize, i: usize| input::<u64>(lane, 25 + i);
        let mut blocks: Vec<[u8; 192]> = Vec::new();
        for lane in 0..lanes {
            let words: [_; 24] = array::from_fn(|i| terms::name(block(lane, i)).to_le_bytes());
            let mut bytes = [0; 192];
            bytes.copy_from_slice(words.as_flattened());
            blocks.push(bytes);
        }
        let kernel = Step::<B::U64s, A> {
            token: b,
            states: &mut words,
            group,
            fresh,
            absorbed,
            squeeze,
            blocks: &mut blocks,
        };
        Permuting::<B>::run::<false>(kernel, b);
        for lane in 0..A::LANES {
            let mut expected: [_; 25] = array::from_fn(|i| input::<u64>(lane, i));
            let of_group = lane.checked_sub(group * lanes).filter(|lane| *lane < lanes);
            if let Some(lane) = of_group {
                if fresh >> lane & 1 == 1 {
                    expected = [terms::number(0); 25];
                }
                absorb(&mut expected, |i| block(lane, i), absorbed[lane]);
                expected = keccak_f(expected);
                for (i, bytes) in blocks[lane].as_chunks().0.iter().enumerate() {
                    let expected = if squeeze { expected[i] } else { block(lane, i) };
                    let word = terms::named(u64::from_le_bytes(*bytes));
                    terms::expect(&format!("block {i} of lane {lane}"), word, expected);
                }
            }
            expect_lane("word", &words, lane, &expected);
        }
    })
}

/// Every choice of sponges that begin; each rate in each lane.
#[test]
fn steps() {
    fn check<B: Backend, A: U64s>(b: B) {
        let lanes = B::U64s::LANES;
        for group in 0..A::LANES / lanes {
            for fresh in 0..1u32 << lanes {
                let lens = [0, 72, 136, 168];
                let absorbed: Vec<_> = (0..lanes)
                    .map(|lane| lens[(lane + fresh as usize) % 4])
                    .collect();
                step::<_, A>(b, group, fresh, &absorbed, fresh % 2 == 0, None).unwrap();
            }
        }
    }

    macro_rules! check {
        ($($lanes:literal of $all:literal)*) => {$(
            check::<_, <Abstract<$all> as Backend>::U64s>(Abstract::<$lanes>);
        )*};
    }
    check!(1 of 1 2 of 2 4 of 4 8 of 8 1 of 4 2 of 8 4 of 8);
}

/// `steps` steps of a chain of values of `n` bytes.
pub(super) fn chain<B: Backend>(
    b: B,
    n: usize,
    steps: usize,
    tampered: Option<usize>,
) -> Result<Vec<u64>, String> {
    prove(64, tampered, || {
        let words = n / 8;
        let (value, address) = (
            |lane, i| input::<u64>(lane, i),
            |lane, i| input::<u64>(lane, 4 + i),
        );
        let seed: [_; 4] = array::from_fn(|i| input::<u64>(63, i));
        let mut values = vectors::<InMemory<B::U64s>, u64, 4>(value);
        let mut addresses = vectors::<InMemory<B::U64s>, u64, 4>(address);
        // The kernel counts in the last byte, from whatever is there. In the last lane the count overflows.
        let last_of_lanes = addresses[3].as_mut().iter_mut();
        for (lane, (word, top)) in last_of_lanes
            .rev()
            .zip([0xff, 0, 1, 7].into_iter().cycle())
            .enumerate()
        {
            let lane = B::U64s::LANES - 1 - lane;
            *word = terms::name_with_top(address(lane, 3), top);
        }
        let kernel = Chain::<B::U64s> {
            token: b,
            words,
            seed: &seed.map(terms::name),
            addresses: &mut addresses,
            values: &mut values,
            steps,
        };
        Permuting::<B>::run::<false>(kernel, b);
        for lane in 0..B::U64s::LANES {
            let mut values_expected: [_; 4] = array::from_fn(|i| value(lane, i));
            let mut last = address(lane, 3);
            for _ in 0..steps {
                // F of FIPS 205, section 11.1: SHAKE256(PK.seed ‖ ADRS ‖ value), a block of FIPS 202 with
                // its suffix 1111 and the padding 10*1
                let mut state = [terms::number(0); 25];
                let address = (0..3).map(|i| address(lane, i)).chain([last]);
                let message = seed[..words].iter().copied().chain(address);
                let message = message.chain(values_expected[..words].iter().copied());
                for (word, x) in state.iter_mut().zip(message) {
                    *word = x;
                }
                state[2 * words + 4] = terms::number(0x1f);
                state[16] = terms::number(1 << 63);
                // the value is in the first words; the kernel leaves other words there, too
                values_expected.copy_from_slice(&keccak_f(state)[..4]);
                // the last byte of ADRS is the last byte of its last field
                last = terms::add(last, terms::number(1 << 56));
            }
            expect_lane("value", &values, lane, &values_expected);
            let address: [_; 4] = array::from_fn(|i| if i == 3 { last } else { address(lane, i) });
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

/// A sponge's lane does not depend on the other lanes.
#[test]
fn lanes_do_not_see_each_other() {
    let mut kept = true;
    prove(64, None, || {
        let b = Abstract::<4>;
        let mut words = vectors::<[u64; 4], u64, 25>(input::<u64>);
        let kernel = KeccakF1600::<<Abstract<4> as Backend>::U64s> {
            token: b,
            states: &mut words,
        };
        Permuting::<Abstract<4>>::run::<false>(kernel, b);
        for word in words {
            for (lane, x) in word.into_iter().enumerate() {
                let inputs = terms::inputs_of(terms::named(x));
                kept &= inputs
                    .iter()
                    .copied()
                    .eq((0..25).map(|i| (64 * lane + i) as u16));
            }
        }
    })
    .unwrap();
    assert!(kept, "each lane depends on its 25 words, and on no others");
}
