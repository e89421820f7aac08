//! Keccak-f\[1600\] (FIPS 202, section 3.3) on every lane of a vector at once.

use core::{hint, mem};

use crate::arch::{Backend, Kernel, U64s};

/// A kernel that permutes: with `PAIRS`, the step θ is computed by sums of pairs of words
/// ([`Backend::adds_pairs_faster`]).
pub(crate) trait Permuting<B: Backend>: Sized {
    fn run<const PAIRS: bool>(self, b: B);
}

/// Such a kernel with one of both. They are two functions: in one that chooses, the compiler
/// finds no registers for all words of either.
struct Chosen<K, const PAIRS: bool>(K);

impl<B: Backend, K: Permuting<B>, const PAIRS: bool> Kernel<B> for Chosen<K, PAIRS> {
    type Output = ();

    #[inline(always)]
    fn run(self, b: B) {
        self.0.run::<PAIRS>(b);
    }
}

/// Runs a kernel that permutes all lanes.
#[inline]
pub(crate) fn run<B: Backend>(b: B, kernel: impl Permuting<B>) {
    debug_assert!(B::MAY_ADD_PAIRS || !b.adds_pairs_faster());
    if B::MAY_ADD_PAIRS && b.adds_pairs_faster() {
        b.run(Chosen::<_, true>(kernel));
    } else {
        b.run(Chosen::<_, false>(kernel));
    }
}

/// Runs a kernel that permutes [`Few`](Backend::Few) lanes.
#[inline]
pub(crate) fn run_few<B: Backend>(b: B, kernel: impl Permuting<B>) {
    debug_assert!(B::MAY_ADD_PAIRS || !b.adds_pairs_faster());
    if B::MAY_ADD_PAIRS && b.adds_pairs_faster() {
        b.run_few(Chosen::<_, true>(kernel));
    } else {
        b.run_few(Chosen::<_, false>(kernel));
    }
}

/// Permutes `LANES` states side by side.
///
/// `states[x + 5y]` holds lane (x, y) of each state.
pub(crate) struct KeccakF1600<'a, V: U64s> {
    pub(crate) token: V::Token,
    pub(crate) states: &'a mut [V::Array; 25],
}

impl<B: Backend, V: U64s> Permuting<B> for KeccakF1600<'_, V> {
    #[inline(always)]
    fn run<const PAIRS: bool>(self, _: B) {
        let Self { token, states } = self;
        let mut a = [[V::splat(token, 0); 5]; 5];
        for (vector, words) in a.as_flattened_mut().iter_mut().zip(states.iter()) {
            *vector = V::load(token, words);
        }
        for (vector, array) in permute::<B, V, PAIRS>(token, a)
            .as_flattened()
            .iter()
            .zip(states)
        {
            vector.store(array);
        }
    }
}

/// Permutes one state, on a vector's first lane, and then for each of some blocks adds it to the
/// state and permutes again, with the state in registers throughout.
pub(crate) struct PermuteAndAbsorb<'a, V: U64s> {
    pub(crate) token: V::Token,
    /// `state[x + 5y]` is lane (x, y).
    pub(crate) state: &'a mut [u64; 25],
    /// In bytes: one of 72, 104, 136, 144 and 168.
    pub(crate) rate: usize,
    /// As many whole blocks of `rate` bytes as are to be absorbed.
    pub(crate) blocks: &'a [u8],
}

impl<B: Backend, V: U64s> Permuting<B> for PermuteAndAbsorb<'_, V> {
    #[inline(always)]
    fn run<const PAIRS: bool>(self, _: B) {
        let Self {
            token,
            state,
            rate,
            blocks,
        } = self;
        debug_assert!(
            [72, 104, 136, 144, 168].contains(&rate) && blocks.len().is_multiple_of(rate)
        );
        let mut a = [[V::splat(token, 0); 5]; 5];
        for (vector, word) in a.as_flattened_mut().iter_mut().zip(&*state) {
            *vector = V::splat(token, *word);
        }
        let mut rest = blocks;
        loop {
            a = permute::<B, V, PAIRS>(token, a);
            // chunks would be counted by a division
            let Some((block, after)) = rest.split_at_checked(rate) else {
                break;
            };
            rest = after;
            let (lanes, words) = (a.as_flattened_mut(), block.as_chunks().0);
            // Ranges that are constants, so that the words stay in registers.
            let mut absorb = |from: usize, to: usize| {
                if words.len() >= to {
                    for (a, word) in lanes[from..to].iter_mut().zip(&words[from..to]) {
                        *a = a.xor(V::splat(token, u64::from_le_bytes(*word)));
                    }
                }
            };
            absorb(0, 9);
            absorb(9, 13);
            absorb(13, 17);
            absorb(17, 18);
            absorb(18, 21);
        }
        for (vector, word) in a.as_flattened().iter().zip(state) {
            let mut lanes = V::Array::default();
            vector.store(&mut lanes);
            *word = lanes.as_ref()[0];
        }
    }
}

/// One permutation of each of `LANES` sponges, with what comes before and after it.
///
/// The sponges are some of those whose states are in `A`, or all.
pub(crate) struct Step<'a, V: U64s, A: U64s = V> {
    pub(crate) token: V::Token,
    pub(crate) states: &'a mut [A::Array; 25],
    /// Which of the groups of `LANES` sponges.
    pub(crate) group: usize,
    /// Bit i is set if sponge i of the group begins: its state is taken as zero.
    pub(crate) fresh: u32,
    /// How many bytes of its block each sponge of the group absorbs: 0, 72, 136 or 168.
    pub(crate) absorbed: &'a [usize],
    /// Whether the blocks are written over by the first 24 words of the new states.
    pub(crate) squeeze: bool,
    /// A block for each sponge of the group.
    pub(crate) blocks: &'a mut [[u8; 192]],
}

impl<B: Backend, V: U64s, A: U64s> Permuting<B> for Step<'_, V, A> {
    #[inline(always)]
    fn run<const PAIRS: bool>(self, _: B) {
        let Self {
            token,
            states,
            group,
            ..
        } = self;
        debug_assert_eq!(self.blocks.len(), V::LANES);
        assert!(group < A::LANES / V::LANES, "there is no such group");
        // χ with zero, or with a mask of all other lanes, is a choice of lanes.
        let (zero, fresh) = (V::splat(token, 0), V::mask(token, self.fresh));
        // A loop, since `map` may become a function of its own, without the vectors' features.
        let mut a = [[zero; 5]; 5];
        let lanes = a.as_flattened_mut();
        for (vector, words) in lanes.iter_mut().zip(states.iter()) {
            let words = &V::chunks(words.as_ref())[group];
            *vector = zero.chi(fresh, V::load(token, words));
        }
        for (lane, (block, len)) in self.blocks.iter().zip(self.absorbed).enumerate() {
            let others = V::mask(token, !(1 << lane));
            let words = block.as_chunks().0;
            let mut absorb = |from: usize, to: usize| {
                for (a, word) in lanes[from..to].iter_mut().zip(&words[from..to]) {
                    *a = a.chi(others, V::splat(token, u64::from_le_bytes(*word)));
                }
            };
            match len {
                0 => {}
                72 => absorb(0, 9),
                136 => absorb(0, 17),
                168 => absorb(0, 21),
                _ => debug_assert!(false, "no sponge in lanes has a rate of {len} bytes"),
            }
        }
        let a = permute::<B, V, PAIRS>(token, a);
        for (vector, words) in a.as_flattened().iter().zip(states) {
            vector.store(&mut V::chunks_mut(words.as_mut())[group]);
        }
        if self.squeeze
            && let Some(words) = a.as_flattened().first_chunk()
        {
            V::transpose(words, self.blocks);
        }
    }
}

/// Keccak-f\[1600\] in registers, for kernels that make a state and use it up. Lane (x, y) is
/// `a[y][x]`.
#[inline(always)]
pub(crate) fn permute<B: Backend, V: U64s, const PAIRS: bool>(
    token: V::Token,
    mut a: [[V; 5]; 5],
) -> [[V; 5]; 5] {
    if B::COMPLEMENTS {
        complement_kept(token, &mut a);
    }
    const { assert!(!(V::IN_MEMORY && V::CHI_LAST)) };
    if V::IN_MEMORY {
        a = rounds_in_memory::<B, V, PAIRS>(token, a);
    } else if V::CHI_LAST {
        for constant in &ROUND_CONSTANTS {
            a = round::<B, V, PAIRS>(token, a, *constant);
        }
    } else {
        // Two rounds at a time: between them no words are moved to where a loop wants them.
        for [first, second] in ROUND_CONSTANTS.as_chunks().0 {
            a = round::<B, V, PAIRS>(token, a, *first);
            a = round::<B, V, PAIRS>(token, a, *second);
        }
    }
    if B::COMPLEMENTS {
        complement_kept(token, &mut a);
    }
    a
}

/// The words `[y][x]` of which a backend with [`Backend::COMPLEMENTS`] keeps the complement between
/// rounds. With this choice χ takes one complement for each row, instead of five ("Keccak
/// implementation overview", section 2.2).
const KEPT: [[bool; 5]; 5] = {
    let mut kept = [[false; 5]; 5];
    kept[0][1] = true;
    kept[0][2] = true;
    kept[1][3] = true;
    kept[2][2] = true;
    kept[3][2] = true;
    kept[4][0] = true;
    kept
};

/// Which words are complements after θ, ρ and π, if [`KEPT`] were before.
const MOVED: [[bool; 5]; 5] = {
    // a sum of words is a complement if an odd number of them are
    let mut columns = [false; 5];
    let mut i = 0;
    while i < 25 {
        columns[i % 5] ^= KEPT[i / 5][i % 5];
        i += 1;
    }
    let mut moved = [[false; 5]; 5];
    let mut i = 0;
    while i < 25 {
        let (x, y) = (i % 5, i / 5);
        let from = (x + 3 * y) % 5;
        moved[y][x] = KEPT[x][from] ^ columns[(from + 4) % 5] ^ columns[(from + 1) % 5];
        i += 1;
    }
    moved
};

/// Words to or from their complements, those that are [`KEPT`].
#[inline(always)]
fn complement_kept<V: U64s>(token: V::Token, a: &mut [[V; 5]; 5]) {
    for (word, kept) in a.as_flattened_mut().iter_mut().zip(KEPT.as_flattened()) {
        if *kept {
            *word = word.xor(V::splat(token, u64::MAX));
        }
    }
}

/// One round: θ, ρ, π, χ, ι.
#[inline(always)]
fn round<B: Backend, V: U64s, const PAIRS: bool>(
    token: V::Token,
    a: [[V; 5]; 5],
    constant: u64,
) -> [[V; 5]; 5] {
    let sums = columns::<V, PAIRS>(&a);
    // χ over each row at once, or when all are there.
    let early = !V::CHI_LAST;
    let row0 = chi_if::<B, V>(token, early, 0, moved::<V, PAIRS>(&a, sums, 0));
    let row1 = chi_if::<B, V>(token, early, 1, moved::<V, PAIRS>(&a, sums, 1));
    let row2 = chi_if::<B, V>(token, early, 2, moved::<V, PAIRS>(&a, sums, 2));
    let row3 = chi_if::<B, V>(token, early, 3, moved::<V, PAIRS>(&a, sums, 3));
    let row4 = chi_if::<B, V>(token, early, 4, moved::<V, PAIRS>(&a, sums, 4));
    let mut rows = [
        chi_if::<B, V>(token, !early, 0, row0),
        chi_if::<B, V>(token, !early, 1, row1),
        chi_if::<B, V>(token, !early, 2, row2),
        chi_if::<B, V>(token, !early, 3, row3),
        chi_if::<B, V>(token, !early, 4, row4),
    ];
    rows[0][0] = rows[0][0].xor(V::splat(token, constant));
    rows
}

/// [`chi`], or the row as it is. No closure: whether those are calls depends on the whole program, and as calls
/// they took the portable backend of `pqtls` twice as long.
#[inline(always)]
fn chi_if<B: Backend, V: U64s>(token: V::Token, now: bool, y: usize, row: [V; 5]) -> [V; 5] {
    if now { chi::<B, V>(token, y, row) } else { row }
}

/// All rounds from one place in memory to another and back, for [`U64s::IN_MEMORY`].
#[inline(always)]
fn rounds_in_memory<B: Backend, V: U64s, const PAIRS: bool>(
    token: V::Token,
    mut a: [[V; 5]; 5],
) -> [[V; 5]; 5] {
    let mut b = a;
    // A compiler that knows where they are keeps all words in registers.
    let (mut from, mut to) = hint::black_box((&mut a, &mut b));
    let mut sums = columns::<V, PAIRS>(from);
    for constant in &ROUND_CONSTANTS {
        let mut row0 = chi::<B, V>(token, 0, moved::<V, PAIRS>(from, sums, 0));
        row0[0] = row0[0].xor(V::splat(token, *constant));
        to[0] = row0;
        let mut next = row0;
        macro_rules! rows {
            ($($y:literal)*) => {$(
                let row = chi::<B, V>(token, $y, moved::<V, PAIRS>(from, sums, $y));
                to[$y] = row;
                // written out: a loop or `map` may not be
                next = [
                    next[0].xor(row[0]),
                    next[1].xor(row[1]),
                    next[2].xor(row[2]),
                    next[3].xor(row[3]),
                    next[4].xor(row[4]),
                ];
            )*};
        }
        rows!(1 2 3 4);
        sums = next;
        mem::swap(&mut from, &mut to);
    }
    *from
}

/// The sums of the columns.
#[inline(always)]
fn columns<V: U64s, const PAIRS: bool>(a: &[[V; 5]; 5]) -> [V; 5] {
    [
        a[0][0].xor5::<PAIRS>(a[1][0], a[2][0], a[3][0], a[4][0]),
        a[0][1].xor5::<PAIRS>(a[1][1], a[2][1], a[3][1], a[4][1]),
        a[0][2].xor5::<PAIRS>(a[1][2], a[2][2], a[3][2], a[4][2]),
        a[0][3].xor5::<PAIRS>(a[1][3], a[2][3], a[3][3], a[4][3]),
        a[0][4].xor5::<PAIRS>(a[1][4], a[2][4], a[3][4], a[4][4]),
    ]
}

/// Row `y` of the result of θ, ρ and π, with the sums of the columns.
#[inline(always)]
fn moved<V: U64s, const PAIRS: bool>(
    a: &[[V; 5]; 5],
    [c0, c1, c2, c3, c4]: [V; 5],
    y: usize,
) -> [V; 5] {
    match y {
        0 => [
            a[0][0].theta::<PAIRS>(c4, c1),
            a[1][1].theta_rotate::<44, PAIRS>(c0, c2),
            a[2][2].theta_rotate::<43, PAIRS>(c1, c3),
            a[3][3].theta_rotate::<21, PAIRS>(c2, c4),
            a[4][4].theta_rotate::<14, PAIRS>(c3, c0),
        ],
        1 => [
            a[0][3].theta_rotate::<28, PAIRS>(c2, c4),
            a[1][4].theta_rotate::<20, PAIRS>(c3, c0),
            a[2][0].theta_rotate::<3, PAIRS>(c4, c1),
            a[3][1].theta_rotate::<45, PAIRS>(c0, c2),
            a[4][2].theta_rotate::<61, PAIRS>(c1, c3),
        ],
        2 => [
            a[0][1].theta_rotate::<1, PAIRS>(c0, c2),
            a[1][2].theta_rotate::<6, PAIRS>(c1, c3),
            a[2][3].theta_rotate::<25, PAIRS>(c2, c4),
            a[3][4].theta_rotate::<8, PAIRS>(c3, c0),
            a[4][0].theta_rotate::<18, PAIRS>(c4, c1),
        ],
        3 => [
            a[0][4].theta_rotate::<27, PAIRS>(c3, c0),
            a[1][0].theta_rotate::<36, PAIRS>(c4, c1),
            a[2][1].theta_rotate::<10, PAIRS>(c0, c2),
            a[3][2].theta_rotate::<15, PAIRS>(c1, c3),
            a[4][3].theta_rotate::<56, PAIRS>(c2, c4),
        ],
        _ => [
            a[0][2].theta_rotate::<62, PAIRS>(c1, c3),
            a[1][3].theta_rotate::<55, PAIRS>(c2, c4),
            a[2][4].theta_rotate::<39, PAIRS>(c3, c0),
            a[3][0].theta_rotate::<41, PAIRS>(c4, c1),
            a[4][1].theta_rotate::<2, PAIRS>(c0, c2),
        ],
    }
}

/// The step χ on row `y`.
#[inline(always)]
fn chi<B: Backend, V: U64s>(token: V::Token, y: usize, row: [V; 5]) -> [V; 5] {
    let word = |x: usize| {
        let [b, c] = [(x + 1) % 5, (x + 2) % 5];
        if B::COMPLEMENTS {
            chi_of_complements(token, y, row, [x, b, c])
        } else {
            row[x].chi(row[b], row[c])
        }
    };
    [word(0), word(1), word(2), word(3), word(4)]
}

/// Word `x` of what [`chi`] makes of row `y` with its [`MOVED`] complements, for the row with
/// those that are [`KEPT`].
#[inline(always)]
fn chi_of_complements<V: U64s>(
    token: V::Token,
    y: usize,
    row: [V; 5],
    [x, next, second]: [usize; 3],
) -> V {
    let [a, b, c] = [row[x], row[next], row[second]];
    let not = |word: V| word.xor(V::splat(token, u64::MAX));
    // whether either a or the term that is added to it has to be complemented
    let flip = MOVED[y][x] != KEPT[y][x];
    match (MOVED[y][next], MOVED[y][second]) {
        (true, false) if flip => not(a).xor_and(b, c),
        (true, false) => a.xor_and(b, c),
        // ¬b ∧ ¬c is the complement of b ∨ c
        (false, true) if flip => a.xor_or(b, c),
        (false, true) => not(a).xor_or(b, c),
        (false, false) if flip => a.xor_or(b, not(c)),
        (false, false) => a.chi(b, c),
        (true, true) if flip => a.xor_or(not(b), c),
        (true, true) => a.chi(c, b),
    }
}

/// The round constants of ι, made by the linear feedback shift register of
/// FIPS 202, algorithm 5.
const ROUND_CONSTANTS: [u64; 24] = {
    let mut constants = [0; 24];
    let mut register: u8 = 1;
    let mut round = 0;
    while round < 24 {
        let mut j = 0;
        while j < 7 {
            constants[round] |= ((register & 1) as u64) << ((1 << j) - 1);
            // x⁸ + x⁶ + x⁵ + x⁴ + 1
            register = (register << 1) ^ ((register >> 7) * 0x71);
            j += 1;
        }
        round += 1;
    }
    constants
};

#[cfg(test)]
mod tests {
    use core::array;

    use super::{Chosen, KeccakF1600, PermuteAndAbsorb, Step};
    use crate::arch::{Backend, Vector, on_each_backend};
    use crate::test_random::{Random, inputs};

    /// FIPS 202, sections 3.2 and 3.3, by the definitions of its step mappings on the
    /// lanes a(x, y).
    fn textbook(state: &mut [u64; 25]) {
        let at = |x: usize, y: usize| x % 5 + 5 * (y % 5);
        let map = |f: &dyn Fn(usize, usize) -> u64| array::from_fn(|i| f(i % 5, i / 5));
        let mut register = 1u16;
        for _ in 0..24 {
            let a = *state;
            let column = |x| (0..5).fold(0, |c, y| c ^ a[at(x, y)]);
            let a: [u64; 25] =
                map(&|x, y| a[at(x, y)] ^ column(x + 4) ^ column(x + 1).rotate_left(1));
            let mut rotated = a;
            let (mut x, mut y) = (1, 0);
            for t in 0..24 {
                rotated[at(x, y)] = a[at(x, y)].rotate_left((t + 1) * (t + 2) / 2);
                (x, y) = (y, (2 * x + 3 * y) % 5);
            }
            let a: [u64; 25] = map(&|x, y| rotated[at(x + 3 * y, x)]);
            *state = map(&|x, y| a[at(x, y)] ^ (!a[at(x + 1, y)] & a[at(x + 2, y)]));
            for j in 0..=6 {
                state[0] ^= u64::from(register & 1) << ((1 << j) - 1);
                register <<= 1;
                if register & 0x100 != 0 {
                    register ^= 0x171;
                }
            }
        }
    }

    /// Sponges that begin, absorb by each rate, or do nothing of it, beside each other, and
    /// beside others that nothing happens to.
    #[test]
    fn steps_match_textbook() {
        fn check<B: Backend, const PAIRS: bool>(b: B) {
            let lanes = B::U64s::LANES;
            let mut random = Random::new(1);
            let mut states = [<B::U64s as Vector>::Array::default(); 25];
            let mut expected = [[0; 25]; 8];
            for round in 0..inputs(100) {
                let fresh = if round == 0 { 0 } else { random.bits() as u32 };
                let absorbed: [_; 8] =
                    array::from_fn(|_| [0, 72, 136, 168][random.below(4) as usize]);
                let squeeze = random.below(2) == 1;
                let mut blocks: [[u8; 192]; 8] = array::from_fn(|_| random.bytes());
                let before = blocks;
                let stepped = if random.below(2) == 1 {
                    b.run(Chosen::<_, PAIRS>(Step::<B::U64s> {
                        token: b,
                        states: &mut states,
                        group: 0,
                        fresh,
                        absorbed: &absorbed[..lanes],
                        squeeze,
                        blocks: &mut blocks[..lanes],
                    }));
                    0..lanes
                } else {
                    let few = B::Few::LANES;
                    let group = random.below((lanes / few) as u32) as usize;
                    let stepped = group * few..(group + 1) * few;
                    b.run_few(Chosen::<_, PAIRS>(Step::<B::Few, B::U64s> {
                        token: From::from(b),
                        states: &mut states,
                        group,
                        fresh: fresh >> stepped.start,
                        absorbed: &absorbed[stepped.clone()],
                        squeeze,
                        blocks: &mut blocks[stepped.clone()],
                    }));
                    stepped
                };
                for (lane, expected) in expected.iter_mut().enumerate().take(lanes) {
                    let words = |block: &[u8]| -> [u64; 24] {
                        let words = block.as_chunks().0;
                        array::from_fn(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)))
                    };
                    if stepped.contains(&lane) {
                        if fresh >> lane & 1 == 1 {
                            *expected = [0; 25];
                        }
                        let block = words(&before[lane][..absorbed[lane]]);
                        for (word, absorbed) in expected.iter_mut().zip(block) {
                            *word ^= absorbed;
                        }
                        textbook(expected);
                    }
                    for (words, word) in states.iter().zip(*expected) {
                        assert_eq!(words.as_ref()[lane], word);
                    }
                    if squeeze && stepped.contains(&lane) {
                        assert_eq!(words(&blocks[lane]), expected[..24]);
                    } else {
                        assert_eq!(blocks[lane], before[lane]);
                    }
                }
            }
        }

        on_each_backend!(b => {
            check::<_, false>(b);
            check::<_, true>(b);
        });
    }

    /// No block, one and several, at each rate.
    #[test]
    fn absorbed_blocks_match_textbook() {
        fn check<B: Backend, const PAIRS: bool>(b: B) {
            let mut random = Random::new(1);
            let mut state = [0; 25];
            let mut expected = state;
            for rate in [72, 104, 136, 144, 168] {
                for count in 0..4 {
                    let message: [u8; 3 * 168] = random.bytes();
                    let blocks = &message[..count * rate];
                    textbook(&mut expected);
                    for block in blocks.chunks(rate) {
                        for (word, absorbed) in expected.iter_mut().zip(block.as_chunks().0) {
                            *word ^= u64::from_le_bytes(*absorbed);
                        }
                        textbook(&mut expected);
                    }
                    b.run_few(Chosen::<_, PAIRS>(PermuteAndAbsorb::<B::Few> {
                        token: From::from(b),
                        state: &mut state,
                        rate,
                        blocks,
                    }));
                    assert_eq!(state, expected);
                }
            }
        }

        on_each_backend!(b => {
            check::<_, false>(b);
            check::<_, true>(b);
        });
    }

    #[test]
    fn permutation_matches_textbook() {
        fn check<B: Backend, const PAIRS: bool>(b: B) {
            let lanes = B::U64s::LANES;
            let mut states = [<B::U64s as Vector>::Array::default(); 25];
            let mut expected = [[0; 25]; 8];
            for round in 0..inputs(20) as u64 {
                for (lane, expected) in expected.iter_mut().enumerate().take(lanes) {
                    expected[19] ^= round * lane as u64;
                    textbook(expected);
                    states[19].as_mut()[lane] ^= round * lane as u64;
                }
                b.run(Chosen::<_, PAIRS>(KeccakF1600::<B::U64s> {
                    token: b,
                    states: &mut states,
                }));
                for (i, words) in states.iter().enumerate() {
                    for (lane, word) in words.as_ref().iter().enumerate() {
                        assert_eq!(*word, expected[lane][i]);
                    }
                }
            }
        }

        on_each_backend!(b => {
            check::<_, false>(b);
            check::<_, true>(b);
        });
    }
}
