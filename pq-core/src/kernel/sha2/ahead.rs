//! SHA-512 of one message whose words are computed ahead: those of several blocks in the lanes of
//! vectors, while general registers take the blocks before them.
//!
//! The rounds of a message wait for each other, and its words don't wait for them (S. Gueron, V.
//! Krasnov: Parallelizing message schedules to accelerate the computations of hash functions, 2012).

use core::sync::atomic::{Ordering, compiler_fence};

use super::{CONSTANTS_512, Word, round};
use crate::arch::{Backend, Kernel, Portable, Vector, Words};
use crate::secret::wipe;

/// Takes whole blocks into one state, as [`Compress`](super::Compress) does.
pub(crate) struct CompressAhead<'a, V: Vector> {
    pub(crate) state: &'a mut [u64; 8],
    /// A multiple of as many blocks as `V` has lanes, which is [`Backend::Schedules`].
    pub(crate) blocks: &'a [u8],
    /// Room for words. It is the caller's, and not the kernel's: in one frame with addresses that are kept there, words at
    /// changing places could not be told from addresses by a review of machine code.
    pub(crate) schedule: &'a mut Schedule<V>,
}

impl<B: Backend> Kernel<B> for CompressAhead<'_, B::Schedules> {
    type Output = ();

    const LARGE: bool = true;

    #[inline(always)]
    fn run(self, b: B) {
        let Self {
            state,
            blocks,
            schedule,
        } = self;
        compress_ahead::<u64, B::Schedules>(Portable, b.into(), state, blocks, schedule);
    }
}

/// The words of a group of blocks, and their sums with Kₜ. Wiped when dropped.
pub(crate) struct Schedule<V: Vector> {
    words: PerRound<V>,
    /// Kₜ + Wₜ of the group whose rounds are computed, and of the next one.
    sums: [PerRound<V>; 2],
}

impl<V: Vector> Schedule<V> {
    pub(crate) fn new() -> Self {
        Self {
            words: [V::Array::default(); ROUNDS],
            sums: [[V::Array::default(); ROUNDS]; 2],
        }
    }
}

impl<V: Vector> Drop for Schedule<V> {
    fn drop(&mut self) {
        wipe(&mut self.words);
        wipe(self.sums.as_flattened_mut());
    }
}

/// A word of each block of a group, for each round.
type PerRound<V> = [<V as Vector>::Array; ROUNDS];

const ROUNDS: usize = 80;

/// Takes groups of blocks into one state. A group has as many blocks as `V` has lanes.
#[inline(always)]
pub(crate) fn compress_ahead<S, V>(
    scalar: S::Token,
    vector: V::Token,
    state: &mut [u64; 8],
    blocks: &[u8],
    schedule: &mut Schedule<V>,
) where
    S: Words<Element = u64, Array = [u64; 1]>,
    V: Words<Element = u64>,
{
    debug_assert!(blocks.len().is_multiple_of(128 * V::LANES));
    let mut groups = blocks.chunks_exact(128 * V::LANES);
    let Some(first) = groups.next() else {
        return;
    };
    let words = &mut schedule.words;
    let [mut now, mut next] = schedule.sums.each_mut();

    read::<S, V>(scalar, first, words, now);
    for start in (16..ROUNDS).step_by(words_beside_a_row::<V>()) {
        let mut later = Later::<V>::new(words, now, start);
        for i in 0..words_beside_a_row::<V>() {
            later.compute(vector, i);
        }
    }
    loop {
        let group = groups.next();
        let mut start = match group {
            Some(group) => {
                read::<S, V>(scalar, group, words, next);
                16
            }
            None => ROUNDS,
        };
        for lane in 0..V::LANES {
            let mut working = state.map(|word| S::load(scalar, &[word]));
            for row in now.as_chunks::<16>().0 {
                if start < ROUNDS {
                    let later = Later::<V>::new(words, next, start);
                    working =
                        sixteen_rounds::<S, V>(scalar, working, row, lane, Some((vector, later)));
                    start += words_beside_a_row::<V>();
                } else {
                    working = sixteen_rounds::<S, V>(scalar, working, row, lane, None);
                }
            }
            for (word, working) in state.iter_mut().zip(working) {
                let mut sum = [0];
                S::load(scalar, &[*word]).add(working).store(&mut sum);
                [*word] = sum;
            }
        }
        if group.is_none() {
            break;
        }
        core::mem::swap(&mut now, &mut next);
    }
}

/// How many vectors of words are computed while one block goes through 16 rounds: so many that a
/// group's words are there before its rounds begin.
const fn words_beside_a_row<V: Vector>() -> usize {
    16 / V::LANES
}

/// The first 16 words of each block of a group, and their sums with Kₜ.
#[inline(always)]
fn read<S, V>(scalar: S::Token, group: &[u8], words: &mut PerRound<V>, sums: &mut PerRound<V>)
where
    S: Words<Element = u64, Array = [u64; 1]>,
    V: Vector<Element = u64>,
{
    for (lane, block) in group.chunks_exact(128).enumerate() {
        let places = words.iter_mut().zip(sums.iter_mut());
        for ((bytes, k), (word, sum)) in block.chunks_exact(8).zip(&CONSTANTS_512[0]).zip(places) {
            let read = [u64::read(bytes)];
            let mut with_k = [0];
            let k = S::splat(scalar, *k);
            k.add(S::load(scalar, &read)).store(&mut with_k);
            [word.as_mut()[lane]] = read;
            [sum.as_mut()[lane]] = with_k;
        }
    }
}

/// Some of the words after the first 16, from one round on.
struct Later<'a, V: Vector> {
    /// The 16 words before them, and their places.
    words: &'a mut [V::Array],
    sums: &'a mut [V::Array],
    constants: &'a [u64],
}

impl<'a, V: Words<Element = u64>> Later<'a, V> {
    #[inline(always)]
    fn new(words: &'a mut PerRound<V>, sums: &'a mut PerRound<V>, start: usize) -> Self {
        let end = start + words_beside_a_row::<V>();
        Self {
            words: &mut words[start - 16..end],
            sums: &mut sums[start..end],
            constants: &CONSTANTS_512.as_flattened()[start..end],
        }
    }

    /// Number `i` of them (section 6.4.2, step 1).
    #[inline(always)]
    fn compute(&mut self, token: V::Token, i: usize) {
        let before_16 = V::load(token, &self.words[i]);
        let before_15 = V::load(token, &self.words[i + 1]);
        let before_7 = V::load(token, &self.words[i + 9]);
        let before_2 = V::load(token, &self.words[i + 14]);
        let word = u64::small_sigma1(before_2)
            .add(before_7)
            .add(u64::small_sigma0(before_15).add(before_16));
        word.store(&mut self.words[16 + i]);
        let k = V::splat(token, self.constants[i]);
        k.add(word).store(&mut self.sums[i]);
    }
}

/// 16 rounds of a block, and the words `beside` them.
///
/// `sums` holds Kₜ + Wₜ of every block of the group.
#[inline(always)]
fn sixteen_rounds<S, V>(
    scalar: S::Token,
    working: [S; 8],
    sums: &[V::Array; 16],
    lane: usize,
    mut beside: Option<(V::Token, Later<'_, V>)>,
) -> [S; 8]
where
    S: Words<Element = u64, Array = [u64; 1]>,
    V: Words<Element = u64>,
{
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = working;
    // Written out, so that the words are computed between the rounds.
    macro_rules! rounds {
        ($($t:literal)*) => {$(
            let sum = S::load(scalar, &[sums[$t].as_ref()[lane]]);
            let (new_e, new_a) = round::<u64, S>([a, b, c, d, e, f, g, h], sum);
            (h, g, f, e, d, c, b, a) = (g, f, e, new_e, c, b, a, new_a);
            if $t % V::LANES == V::LANES - 1
                && let Some((token, later)) = &mut beside
            {
                // or the compiler collects the vectors' instructions
                compiler_fence(Ordering::SeqCst);
                later.compute(*token, $t / V::LANES);
            }
        )*};
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::*;
    use crate::arch::{check_wiped, on_each_backend, part};

    #[test]
    fn words_are_wiped() {
        fn check<B: Backend>(b: B) {
            let mut schedule = Schedule::<B::Schedules>::new();
            let blocks = [7; 2 * 8 * 128];
            b.run(CompressAhead {
                state: &mut [1; 8],
                blocks: &blocks[..2 * 128 * B::Schedules::LANES],
                schedule: &mut schedule,
            });
            check_wiped(schedule, |schedule| {
                let [now, next] = &schedule.sums;
                alloc::vec![
                    part(schedule, "the words", &schedule.words),
                    part(schedule, "the sums of a group", now),
                    part(schedule, "the sums of the other", next),
                ]
            });
        }

        on_each_backend!(b => check(b));
    }
}
