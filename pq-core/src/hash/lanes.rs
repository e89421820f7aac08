//! Independent sponges side by side.
//!
//! A permutation of all lanes of a vector costs what a permutation of one lane
//! costs, so [`run`] keeps every lane busy: each lane works on a [`Job`] of its
//! own, whatever its rate and however long its message and output, and takes the
//! next job when it is done. With one lane the jobs run one after another.

use core::array;

use zeroize::ZeroizeOnDrop;

use crate::arch::{Backend, Vector};
use crate::kernel::keccak::Step;
use crate::secret::wipe;

/// A sponge to compute, and who takes its output.
pub(crate) struct Job<'a, C> {
    /// Rate in bytes: a multiple of 8, at most that of SHAKE128.
    pub(crate) rate: usize,
    /// Domain separation and first padding bit.
    pub(crate) suffix: u8,
    pub(crate) message: Message<'a>,
    pub(crate) consumer: C,
}

/// The message `bytes ‖ more ‖ index`, of which `index` has `index_len` bytes.
pub(crate) struct Message<'a> {
    bytes: &'a [u8],
    more: &'a [u8],
    index: [u8; 2],
    index_len: usize,
}

impl<'a> Message<'a> {
    /// `bytes ‖ more`.
    pub(crate) fn joined(bytes: &'a [u8], more: &'a [u8]) -> Self {
        Self {
            bytes,
            more,
            index: [0; 2],
            index_len: 0,
        }
    }

    /// `bytes ‖ index`, one byte of index.
    pub(crate) fn indexed(bytes: &'a [u8], index: u8) -> Self {
        Self {
            bytes,
            more: &[],
            index: [index, 0],
            index_len: 1,
        }
    }

    /// `bytes ‖ index`, two bytes of index.
    pub(crate) fn indexed2(bytes: &'a [u8], index: [u8; 2]) -> Self {
        Self {
            bytes,
            more: &[],
            index,
            index_len: 2,
        }
    }

    /// Writes the message from `offset` on to `block` and returns how many bytes
    /// there were, at most the length of `block`.
    fn read(&self, offset: usize, block: &mut [u8]) -> usize {
        let mut skip = offset;
        let mut filled = 0;
        for part in [self.bytes, self.more, &self.index[..self.index_len]] {
            let skipped = skip.min(part.len());
            skip -= skipped;
            let part = &part[skipped..];
            let take = part.len().min(block.len() - filled);
            block[filled..filled + take].copy_from_slice(&part[..take]);
            filled += take;
        }
        filled
    }
}

/// Takes the output of a sponge.
pub(crate) trait Consumer {
    /// Takes the next block, as long as the rate of the sponge, and says whether it
    /// needs another.
    ///
    /// The number of blocks taken shows in the time that [`run`] takes. It must not
    /// depend on a secret, but for what the rejection of FIPS 204 shows.
    fn take(&mut self, block: &[u8]) -> Demand;
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

/// Computes all jobs.
pub(crate) fn run<'a, B: Backend, C: Consumer>(b: B, jobs: impl IntoIterator<Item = Job<'a, C>>) {
    const {
        assert!(B::U64s::LANES <= MAX_LANES);
    }
    let mut jobs = jobs.into_iter();
    let mut workspace = Workspace::<B>::new();
    let Workspace { states, blocks } = &mut workspace;
    let blocks = &mut blocks[..B::U64s::LANES];
    let mut slots: [_; MAX_LANES] = array::from_fn(|_| None);
    let slots = &mut slots[..B::U64s::LANES];

    let mut absorbed = [0; MAX_LANES];
    let absorbed = &mut absorbed[..B::U64s::LANES];
    let mut fresh = 0;

    let mut active = 0;
    let lanes = slots.iter_mut().zip(&mut *blocks).zip(&mut *absorbed);
    for (lane, ((slot, block), absorbed)) in lanes.enumerate() {
        *slot = Slot::start(jobs.next(), block, absorbed);
        fresh |= 1 << lane;
        active += usize::from(slot.is_some());
    }
    while active > 0 {
        b.run(Step::<B::U64s> {
            token: b,
            states,
            fresh,
            absorbed,
            squeeze: slots.iter().flatten().any(|slot| slot.squeezing),
            blocks,
        });
        fresh = 0;
        let lanes = slots.iter_mut().zip(&mut *blocks).zip(&mut *absorbed);
        for (lane, ((slot, block), absorbed)) in lanes.enumerate() {
            let Some(running) = slot else { continue };
            if running.step(block, absorbed) == Demand::Done {
                *slot = Slot::start(jobs.next(), block, absorbed);
                fresh |= 1 << lane;
                active -= usize::from(slot.is_none());
            }
        }
    }
}

/// The most lanes of any backend.
const MAX_LANES: usize = 8;

type States<B> = [<<B as Backend>::U64s as Vector>::Array; 25];

/// What the lanes are in. Wiped when dropped.
#[repr(align(64))]
struct Workspace<B: Backend> {
    states: States<B>,
    /// For each lane the block of the message or of the output, and some room.
    blocks: [[u8; 192]; MAX_LANES],
}

impl<B: Backend> Workspace<B> {
    fn new() -> Self {
        Self {
            states: [Default::default(); 25],
            blocks: [[0; 192]; MAX_LANES],
        }
    }
}

impl<B: Backend> Drop for Workspace<B> {
    fn drop(&mut self) {
        wipe(&mut self.states);
        wipe(self.blocks[..B::U64s::LANES].as_flattened_mut());
    }
}

impl<B: Backend> ZeroizeOnDrop for Workspace<B> {}

/// A job on its lane.
struct Slot<'a, C> {
    job: Job<'a, C>,
    /// Bytes of the message taken so far.
    absorbed: usize,
    /// Whether message and padding are in.
    squeezing: bool,
}

impl<'a, C: Consumer> Slot<'a, C> {
    /// Begins with `job`: its first block, and how much of it is to be absorbed.
    #[inline(always)]
    fn start(job: Option<Job<'a, C>>, block: &mut [u8; 192], absorbed: &mut usize) -> Option<Self> {
        *absorbed = 0;
        let mut slot = Self {
            job: job?,
            absorbed: 0,
            squeezing: false,
        };
        slot.absorb(block, absorbed);
        Some(slot)
    }

    /// What follows a permutation: the next block of the message, or of the output, which
    /// then is in `block`.
    #[inline(always)]
    fn step(&mut self, block: &mut [u8; 192], absorbed: &mut usize) -> Demand {
        if !self.squeezing {
            self.absorb(block, absorbed);
            return Demand::More;
        }
        *absorbed = 0;
        self.job.consumer.take(&block[..self.job.rate])
    }

    #[inline(always)]
    fn absorb(&mut self, block: &mut [u8; 192], absorbed: &mut usize) {
        *absorbed = self.job.rate;
        *block = [0; 192];
        let block = &mut block[..self.job.rate];
        let taken = self.job.message.read(self.absorbed, block);
        self.absorbed += taken;
        // A message that ends with this block's last byte is padded in the next.
        if taken < block.len() {
            block[taken] ^= self.job.suffix;
            block[self.job.rate - 1] ^= 0x80;
            self.squeezing = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Consumer, Demand, Job, Message, run};
    use crate::arch::{Backend, on_each_backend};
    use crate::hash::sha3::{SHA3_SUFFIX, SHAKE_SUFFIX, Sponge};

    /// Takes `blocks` blocks.
    struct Take<'a> {
        output: &'a mut [u8; 1000],
        filled: usize,
        blocks: usize,
    }

    impl Consumer for Take<'_> {
        fn take(&mut self, block: &[u8]) -> Demand {
            self.output[self.filled..self.filled + block.len()].copy_from_slice(block);
            self.filled += block.len();
            self.blocks -= 1;
            Demand::more_if(self.blocks > 0)
        }
    }

    /// Jobs of every shape at once give what single sponges give.
    #[test]
    fn jobs_match_single_sponges() {
        fn check<B: Backend>(b: B, count: usize) {
            const RATES: [usize; 3] = [72, 136, 168];
            let bytes: [u8; 700] = core::array::from_fn(|i| (i * 13) as u8);
            // From nothing to several blocks, the edges of each rate among them.
            let shape = |i: usize| {
                let rate = RATES[i % 3];
                let suffix = [SHAKE_SUFFIX, SHA3_SUFFIX][i % 2];
                let len = [0, 1, rate - 3, rate - 2, rate - 1, rate, 3 * rate + 5][i / 2 % 7];
                (rate, suffix, len, 1 + i % 5)
            };
            let mut outputs = [[0; 1000]; 100];
            let jobs = outputs.iter_mut().take(count).enumerate();
            let jobs = jobs.map(|(i, output)| {
                let (rate, suffix, len, blocks) = shape(i);
                Job {
                    rate,
                    suffix,
                    message: match i % 3 {
                        0 => Message::joined(&bytes[..len / 2], &bytes[len / 2..len]),
                        1 => Message::indexed(&bytes[..len], i as u8),
                        _ => Message::indexed2(&bytes[..len], [i as u8, 7]),
                    },
                    consumer: Take {
                        output,
                        filled: 0,
                        blocks,
                    },
                }
            });
            run(b, jobs);

            for (i, output) in outputs.iter().enumerate().take(count) {
                let (rate, suffix, len, blocks) = shape(i);
                let mut sponge = Sponge::new(b, rate);
                sponge.absorb(&bytes[..len]);
                sponge.absorb(&[i as u8, 7][..i % 3]);
                let mut expected = [0; 1000];
                sponge.finish(suffix);
                sponge.squeeze(&mut expected[..rate * blocks]);
                assert_eq!(*output, expected);
            }
        }

        for count in [0, 1, 3, 4, 5, 100] {
            on_each_backend!(b => check(b, count));
        }
    }
}
