//! What a client of the lanes and their scheduler tell each other.

use zeroize::ZeroizeOnDrop;

use super::MAX_LANES;
use crate::arch::{Backend, Vector};
use crate::hash::sha3::Function;
use crate::secret::wipe;

/// Who has sponges to compute, and knows which can begin.
pub(crate) trait Client {
    /// What the client knows a sponge by, and how far it is.
    type Sponge;

    /// The next sponge, if there is a block or the end of its message to absorb by now; asked
    /// for one free lane after the other of the first [`lanes`](Self::lanes), until there is
    /// none. If there is none while all lanes are free, there is none left.
    ///
    /// Where a sponge was paused that goes on goes to `midway`, which is `None`, and not with what
    /// is returned: few go on, and states would be moved with all.
    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Self::Sponge>>;

    /// Writes what comes next of the message of `sponge` to `block`, which has the length of
    /// the rate and is zero.
    fn absorb(&mut self, sponge: &mut Self::Sponge, block: &mut [u8]) -> Absorbed;

    /// Takes a sponge back that absorbed all that there is of its message by now. There is none if
    /// each message is known when its sponge begins.
    fn pause(&mut self, sponge: Self::Sponge, midway: Midway) {
        let _ = (sponge, midway);
        debug_assert!(false, "all of a message is known when it begins");
    }

    /// As [`Consumer::take`].
    fn take(&mut self, sponge: &mut Self::Sponge, block: &[u8]) -> Demand;

    /// How many of the first lanes new sponges may begin in, at least one: few lanes may take
    /// less time than all. Asked before each step.
    #[inline(always)]
    fn lanes(&self) -> usize {
        MAX_LANES
    }

    /// Whether nobody wants what is still on lanes: the rest is left undone. Asked before each
    /// step.
    #[inline(always)]
    fn is_done(&self) -> bool {
        false
    }
}

/// How a sponge begins, or goes on.
pub(crate) struct Start<S> {
    /// Rate in bytes: a multiple of 8, at most that of SHAKE128.
    pub(crate) rate: usize,
    /// Domain separation and first padding bit.
    pub(crate) suffix: u8,
    pub(crate) sponge: S,
}

impl<S> Start<S> {
    /// Begins a sponge of this function, or goes on with it.
    #[inline(always)]
    pub(crate) fn of(Function { rate, suffix }: Function, sponge: S) -> Self {
        Self {
            rate,
            suffix,
            sponge,
        }
    }

    /// The same sponge by another name.
    #[inline(always)]
    pub(crate) fn map<T>(self, named: impl FnOnce(S) -> T) -> Start<T> {
        let Self {
            rate,
            suffix,
            sponge,
        } = self;
        Start {
            rate,
            suffix,
            sponge: named(sponge),
        }
    }
}

/// The state of a paused sponge. Wiped when dropped.
pub(crate) struct Midway(pub(super) [u64; 25]);

impl Drop for Midway {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl ZeroizeOnDrop for Midway {}

/// A sponge that is not on a lane: it is to begin, or waits for more of its message.
#[derive(Default)]
pub(crate) struct Waiting {
    /// How many bytes of its message it has taken.
    pub(crate) absorbed: usize,
    /// Where it was paused.
    pub(crate) midway: Option<Midway>,
}

impl Waiting {
    pub(crate) fn paused(absorbed: usize, midway: Midway) -> Self {
        Self {
            absorbed,
            midway: Some(midway),
        }
    }
}

/// What [`Client::absorb`] wrote.
pub(crate) enum Absorbed {
    /// A whole block.
    Block,
    /// So many bytes less than a block, with which the message ends.
    End(usize),
    /// Nothing: what follows is not known yet.
    Nothing,
}

impl Absorbed {
    /// A whole block of `block`, or the end of the message, if `taken` bytes were left of it.
    pub(crate) fn some(taken: usize, block: &[u8]) -> Self {
        if taken < block.len() {
            Self::End(taken)
        } else {
            Self::Block
        }
    }
}

/// What a [`Consumer`] wants next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Demand {
    /// One more block.
    More,
    /// Nothing: its job is done.
    Done,
}

impl Demand {
    pub(crate) fn more_if(more: bool) -> Self {
        if more { Self::More } else { Self::Done }
    }
}

/// What a choice of lanes depends on: constants, once it is compiled for a backend.
#[derive(Clone, Copy)]
struct Lanes {
    few: usize,
    all: usize,
    /// [`Backend::cost_of_all_lanes`].
    cost: usize,
}

impl Lanes {
    #[inline(always)]
    fn of<B: Backend>(b: B) -> Self {
        Self {
            few: B::Few::LANES,
            all: B::U64s::LANES,
            cost: b.cost_of_all_lanes(),
        }
    }
}

/// In how many lanes to begin, for a [`Client`] that has a chain of so many permutations, one
/// after the other, and so many sponges of `blocks` permutations each to begin beside: in few,
/// if all then ends earlier, or as early as the chain, which is in one of the first lanes.
///
/// It is an estimate: what has begun but for the chain is not counted.
pub(crate) fn lanes_beside<B: Backend>(b: B, chain: usize, sponges: usize, blocks: usize) -> usize {
    few_or_all(Lanes::of(b), chain, sponges, blocks)
}

/// [`lanes_beside`] by numbers of lanes.
#[inline(always)]
fn few_or_all(lanes: Lanes, chain: usize, sponges: usize, blocks: usize) -> usize {
    let Lanes { few, all, cost } = lanes;
    if few == all || few == 1 {
        return all;
    }
    let busy = usize::from(chain > 0);
    // Each divisor is a constant, since a division takes long.
    let steps = |lanes: usize| {
        blocks
            * if busy == 1 {
                sponges.div_ceil(lanes - 1)
            } else {
                sponges.div_ceil(lanes)
            }
    };
    let (steps_in_few, steps_in_all) = (steps(few), steps(all));
    let time_in_few = chain.max(steps_in_few);
    // Half a step is less than the estimate is good for.
    let time_in_all = chain.max(steps_in_all) + (cost / 2 - 1) * steps_in_all;
    if time_in_few < time_in_all || busy == 1 && time_in_few == time_in_all {
        few
    } else {
        all
    }
}

/// In how many lanes to begin, for a [`Client`] that has a chain of so many permutations, then the
/// next, and so on, and for each chain so many permutations `beside`, whose sponges need not end with
/// it: in few, if a chain then takes no longer.
///
/// All lanes together have room for more beside a chain than there is.
pub(crate) fn lanes_beside_chains<B: Backend>(b: B, chain: usize, beside: usize) -> usize {
    few_or_all_beside_chains(Lanes::of(b), chain, beside)
}

/// [`lanes_beside_chains`] by numbers of lanes.
#[inline(always)]
fn few_or_all_beside_chains(lanes: Lanes, chain: usize, beside: usize) -> usize {
    let Lanes { few, all, cost } = lanes;
    if few == all || few == 1 {
        return all;
    }
    // Both times few · (all − 1).
    let time_in_few = 2 * (all - 1) * (few * chain).max(chain + beside);
    let time_in_all = few * (2 * (all - 1) * chain + (cost - 2) * beside);
    if time_in_few <= time_in_all { few } else { all }
}

/// Writes `parts`, joined, from `offset` on to `block` and returns how many bytes there
/// were, at most the length of `block`.
#[inline(always)]
pub(crate) fn read<'a>(
    parts: impl IntoIterator<Item = &'a [u8]>,
    offset: usize,
    block: &mut [u8],
) -> usize {
    let mut skip = offset;
    let mut filled = 0;
    for part in parts {
        let skipped = skip.min(part.len());
        skip -= skipped;
        let part = &part[skipped..];
        let take = part.len().min(block.len() - filled);
        block[filled..filled + take].copy_from_slice(&part[..take]);
        filled += take;
    }
    filled
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::{
        Lanes, Midway, few_or_all, few_or_all_beside_chains, lanes_beside, lanes_beside_chains,
        read,
    };
    use crate::arch::{Backend, Vector, check_wiped, on_each_backend, part};

    #[test]
    fn secrets_are_wiped() {
        check_wiped(Midway([7; 25]), |midway| {
            alloc::vec![part(midway, "the state", &midway.0)]
        });
    }

    const COSTS: [usize; 2] = [2, 4];

    /// Lanes of which neither choice takes less time.
    const ALIKE: [(usize, usize); 3] = [(1, 1), (1, 4), (4, 4)];

    /// Step by step, with the sponges that a step has room for.
    #[test]
    fn few_lanes_where_all_end_no_later() {
        for cost in COSTS {
            for (chain, sponges, blocks) in cases() {
                let (few, all) = (4, 8);
                let busy = usize::from(chain > 0);
                let time = |lanes: usize, cost_in_steps: usize| {
                    let (mut left, mut steps) = (sponges, 0);
                    while left > 0 {
                        left -= left.min(lanes - busy);
                        steps += blocks;
                    }
                    let cost_of = |step| if step < steps { cost_in_steps } else { 1 };
                    (0..chain.max(steps)).map(cost_of).sum::<usize>()
                };
                let (in_few, in_all) = (time(few, 1), time(all, cost / 2));
                let is_few = in_few < in_all || chain > 0 && in_few == in_all;
                let lanes = Lanes { few, all, cost };
                let expected = if is_few { few } else { all };
                assert_eq!(few_or_all(lanes, chain, sponges, blocks), expected);
            }
        }
        for (few, all) in ALIKE {
            let lanes = Lanes { few, all, cost: 4 };
            assert_eq!(few_or_all(lanes, 9, 1, 1), all);
        }
    }

    #[test]
    fn few_lanes_where_chains_take_no_longer() {
        for cost in COSTS {
            for (chain, beside, _) in cases() {
                let (few, all) = (4, 8);
                let in_few = (chain as f64).max((chain + beside) as f64 / few as f64);
                let share = beside as f64 / (all - 1) as f64;
                let in_all = chain as f64 + (cost as f64 / 2.0 - 1.0) * share;
                let lanes = Lanes { few, all, cost };
                let expected = if in_few <= in_all + 1e-9 { few } else { all };
                assert_eq!(few_or_all_beside_chains(lanes, chain, beside), expected);
            }
        }
        for (few, all) in ALIKE {
            let lanes = Lanes { few, all, cost: 4 };
            assert_eq!(few_or_all_beside_chains(lanes, 9, 1), all);
        }
    }

    /// So much begins beside that all lanes take no longer, whatever they cost.
    #[test]
    fn all_lanes_of_each_backend() {
        fn check<B: Backend>(b: B) {
            assert_eq!(lanes_beside(b, 0, 1000, 1), B::U64s::LANES);
            assert_eq!(lanes_beside_chains(b, 1, 1000), B::U64s::LANES);
        }

        on_each_backend!(b => check(b));
    }

    fn cases() -> impl Iterator<Item = (usize, usize, usize)> {
        (0..4 * 30 * 30).map(|i| (i / 4 % 30, i / 120, 1 + i % 4))
    }

    /// From every offset, to blocks of every length.
    #[test]
    fn parts_are_joined() {
        let message: [u8; 9] = core::array::from_fn(|i| i as u8 + 1);
        let parts = [&message[..4], &[], &message[4..]];
        for offset in 0..=message.len() {
            for len in 0..=message.len() + 1 {
                let mut block = [0; 10];
                let taken = read(parts, offset, &mut block[..len]);
                assert_eq!(taken, len.min(message.len() - offset));
                assert_eq!(block[..taken], message[offset..][..taken]);
                assert!(block[taken..].iter().all(|byte| *byte == 0));
            }
        }
    }
}
