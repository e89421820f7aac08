//! A client for tests, whose messages come to be known bit by bit.

use super::{Absorbed, Client, Demand, MAX_LANES, Midway, Start, Waiting, read};
use crate::arch::Backend;
use crate::hash::sha3::{SHAKE_SUFFIX, Sponge};

const RATE: usize = 136;

/// Long sponges, and short ones: with each short one that is done, 50 more bytes of
/// every long message are known.
pub(super) struct Gradual {
    message: [u8; 500],
    known: usize,
    short_begun: usize,
    /// Long sponges that are not on a lane, by number.
    waiting: [Option<Waiting>; 3],
    hashes: [[u8; RATE]; 3],
    pauses: usize,
    pub(super) lanes: usize,
}

pub(super) enum Length {
    Long { number: usize, absorbed: usize },
    Short { blocks: usize },
}

impl Gradual {
    pub(super) fn new(message: [u8; 500]) -> Self {
        Self {
            message,
            known: 0,
            short_begun: 0,
            waiting: core::array::from_fn(|_| Some(Waiting::default())),
            hashes: [[0; RATE]; 3],
            pauses: 0,
            lanes: MAX_LANES,
        }
    }

    /// Whether all long sponges gave what a single one gives, and were paused.
    pub(super) fn is_right<B: Backend>(&self, b: B) -> bool {
        let mut sponge = Sponge::new(RATE);
        sponge.absorb(b, &self.message);
        sponge.finish(SHAKE_SUFFIX);
        let mut expected = [0; RATE];
        sponge.squeeze(b, &mut expected);
        self.hashes == [expected; 3] && self.pauses > 0
    }

    /// The bytes that a long sponge may absorb by now.
    fn usable(&self) -> usize {
        if self.known == 500 {
            501
        } else {
            self.known - self.known % RATE
        }
    }
}

impl Client for Gradual {
    type Sponge = Length;

    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Length>> {
        let usable = self.usable();
        let mut waiting = self.waiting.iter_mut().enumerate();
        let ready = waiting.find_map(|(number, waiting)| {
            let waiting = waiting.take_if(|waiting| waiting.absorbed < usable)?;
            Some((number, waiting))
        });
        let sponge = match ready {
            Some((number, waiting)) => {
                *midway = waiting.midway;
                let absorbed = waiting.absorbed;
                Length::Long { number, absorbed }
            }
            None if self.short_begun == 10 => return None,
            None => {
                self.short_begun += 1;
                let blocks = 1 + self.short_begun % 4;
                Length::Short { blocks }
            }
        };
        Some(Start {
            rate: RATE,
            suffix: SHAKE_SUFFIX,
            sponge,
        })
    }

    fn absorb(&mut self, sponge: &mut Length, block: &mut [u8]) -> Absorbed {
        let Length::Long { absorbed, .. } = sponge else {
            return Absorbed::End(0);
        };
        if *absorbed >= self.usable() {
            return Absorbed::Nothing;
        }
        let taken = read([&self.message[..]], *absorbed, block);
        *absorbed += taken;
        Absorbed::some(taken, block)
    }

    fn pause(&mut self, sponge: Length, midway: Midway) {
        if let Length::Long { number, absorbed } = sponge {
            self.waiting[number] = Some(Waiting::paused(absorbed, midway));
            self.pauses += 1;
        }
    }

    fn take(&mut self, sponge: &mut Length, block: &[u8]) -> Demand {
        match sponge {
            Length::Long { number, .. } => self.hashes[*number].copy_from_slice(block),
            Length::Short { blocks } => {
                *blocks -= 1;
                if *blocks > 0 {
                    return Demand::More;
                }
                self.known += 50;
            }
        }
        Demand::Done
    }

    fn lanes(&self) -> usize {
        self.lanes
    }
}
