//! SHA-256 by the instructions that a CPU has for it, on one message or on a few whose
//! rounds overlap in time.

use core::array;

use super::{CONSTANTS_256, read_block};
use crate::arch::{Kernel, Sha256Instructions};

/// Takes whole blocks into one state.
pub(crate) struct CompressStream<'a> {
    pub(crate) state: &'a mut [u32; 8],
    /// A multiple of 64 bytes.
    pub(crate) blocks: &'a [u8],
}

impl<S: Sha256Instructions> Kernel<S> for CompressStream<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, s: S) {
        debug_assert!(self.blocks.len().is_multiple_of(64));
        let mut states = [s.pack(self.state)];
        for block in self.blocks.chunks_exact(64) {
            states = compress_streams(s, states, [read_block(block)]);
        }
        *self.state = s.unpack(states[0]);
    }
}

/// Takes a block into each of `N` states.
#[inline(always)]
pub(crate) fn compress_streams<S: Sha256Instructions, const N: usize>(
    s: S,
    states: [S::State; N],
    blocks: [[u32; 16]; N],
) -> [S::State; N] {
    let [first, second, third, last] = CONSTANTS_256.each_ref();
    let mut working = states;
    let mut words = blocks.map(|block| fours(s, &block));
    for constants in [first, second, third] {
        (working, words) = sixteen_rounds::<S, N, true>(s, working, words, constants);
    }
    (working, _) = sixteen_rounds::<S, N, false>(s, working, words, last);
    array::from_fn(|i| s.add_states(states[i], working[i]))
}

/// 16 rounds of each message: takes the words of these and, if others follow (`MORE`),
/// gives theirs.
#[inline(always)]
fn sixteen_rounds<S: Sha256Instructions, const N: usize, const MORE: bool>(
    s: S,
    mut working: [S::State; N],
    mut words: [[S::Words; 4]; N],
    constants: &[u32; 16],
) -> ([S::State; N], [[S::Words; 4]; N]) {
    let constants = fours(s, constants);
    // Written out: in a loop the words would be in memory.
    macro_rules! four_rounds {
        ($($i:literal)*) => {$(
            for (working, words) in working.iter_mut().zip(&mut words) {
                *working = s.four_rounds(*working, s.add(words[$i], constants[$i]));
                if MORE {
                    words[$i] = s.schedule([
                        words[$i],
                        words[($i + 1) % 4],
                        words[($i + 2) % 4],
                        words[($i + 3) % 4],
                    ]);
                }
            }
        )*};
    }
    four_rounds!(0 1 2 3);
    (working, words)
}

#[inline(always)]
fn fours<S: Sha256Instructions>(s: S, words: &[u32; 16]) -> [S::Words; 4] {
    array::from_fn(|i| s.load(&words.as_chunks().0[i]))
}
