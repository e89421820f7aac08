//! Sponges whose messages are known from the first.

use super::{Absorbed, Client, Demand, Midway, Start, read, serve};
use crate::arch::Backend;

/// Computes all jobs.
pub(crate) fn run<'a, B: Backend, C: Consumer>(b: B, jobs: impl IntoIterator<Item = Job<'a, C>>) {
    serve(b, &mut Jobs(jobs.into_iter()));
}

/// A sponge to compute, and who takes its output.
pub(crate) struct Job<'a, C> {
    /// Rate in bytes: a multiple of 8, at most that of SHAKE128.
    pub(crate) rate: usize,
    /// Domain separation and first padding bit.
    pub(crate) suffix: u8,
    pub(crate) message: Message<'a>,
    pub(crate) consumer: C,
}

/// The message `bytes ‖ index`, of which `index` has `index_len` bytes.
pub(crate) struct Message<'a> {
    bytes: &'a [u8],
    index: [u8; 2],
    index_len: usize,
}

impl<'a> Message<'a> {
    /// `bytes` alone.
    pub(crate) fn alone(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            index: [0; 2],
            index_len: 0,
        }
    }

    /// `bytes ‖ index`, two bytes of index.
    pub(crate) fn indexed2(bytes: &'a [u8], index: [u8; 2]) -> Self {
        Self {
            bytes,
            index,
            index_len: 2,
        }
    }

    /// Writes the message from `offset` on to `block` and returns how many bytes
    /// there were, at most the length of `block`.
    fn read(&self, offset: usize, block: &mut [u8]) -> usize {
        let parts = [self.bytes, &self.index[..self.index_len]];
        read(parts, offset, block)
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

/// The client that [`run`] serves.
struct Jobs<I>(I);

impl<'a, C: Consumer, I: Iterator<Item = Job<'a, C>>> Client for Jobs<I> {
    /// A job and how many bytes of its message were absorbed.
    type Sponge = (Job<'a, C>, usize);

    #[inline(always)]
    fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<Self::Sponge>> {
        let job = self.0.next()?;
        Some(Start {
            rate: job.rate,
            suffix: job.suffix,
            sponge: (job, 0),
        })
    }

    #[inline(always)]
    fn absorb(&mut self, (job, absorbed): &mut Self::Sponge, block: &mut [u8]) -> Absorbed {
        let taken = job.message.read(*absorbed, block);
        *absorbed += taken;
        Absorbed::some(taken, block)
    }

    #[inline(always)]
    fn take(&mut self, (job, _): &mut Self::Sponge, block: &[u8]) -> Demand {
        job.consumer.take(block)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(debug_assertions)]
    use super::{Client, Jobs, Midway};
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
                    message: match i / 2 % 2 {
                        0 => Message::alone(&bytes[..len]),
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
                let mut sponge = Sponge::new(rate);
                sponge.absorb(b, &bytes[..len]);
                sponge.absorb(b, &[i as u8, 7][..2 * (i / 2 % 2)]);
                let mut expected = [0; 1000];
                sponge.finish(suffix);
                sponge.squeeze(b, &mut expected[..rate * blocks]);
                assert_eq!(*output, expected);
            }
        }

        for count in [0, 1, 3, 4, 5, 100] {
            on_each_backend!(b => check(b, count));
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "known when it begins")]
    fn jobs_never_wait() {
        let (mut jobs, mut output) = (Jobs(core::iter::empty()), [0; 1000]);
        let consumer = Take {
            output: &mut output,
            filled: 0,
            blocks: 1,
        };
        let job = Job {
            rate: 136,
            suffix: SHAKE_SUFFIX,
            message: Message::alone(&[]),
            consumer,
        };
        jobs.pause((job, 0), Midway([0; 25]));
    }
}
