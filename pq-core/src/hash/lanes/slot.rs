//! What a sponge does on its lane, between permutations.

use super::{Absorbed, Client, Demand, Start};

/// A sponge on its lane.
pub(super) struct Slot<S> {
    rate: usize,
    suffix: u8,
    pub(super) sponge: S,
    pub(super) phase: Phase,
}

/// How far it is.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Phase {
    /// There is more of the message to absorb.
    Absorbing,
    /// More of the message is not known yet.
    Waiting,
    /// Message and padding are in.
    Squeezing,
    /// Nobody wants more of its output.
    Done,
}

impl<S> Slot<S> {
    /// A sponge that has yet to absorb what is next of its message.
    #[inline(always)]
    pub(super) fn new(start: Start<S>) -> Self {
        Self {
            rate: start.rate,
            suffix: start.suffix,
            sponge: start.sponge,
            phase: Phase::Absorbing,
        }
    }

    /// What follows a permutation: the next block of the message, or of the output, which
    /// then is in `block`.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        client: &mut impl Client<Sponge = S>,
        block: &mut [u8; 192],
        absorbed: &mut usize,
    ) {
        if self.phase == Phase::Absorbing {
            self.absorb(client, block, absorbed);
            return;
        }
        *absorbed = 0;
        if client.take(&mut self.sponge, &block[..self.rate]) == Demand::Done {
            self.phase = Phase::Done;
        }
    }

    /// Has `client` write the next block of the message, pads it if it is the last, and
    /// says how much of it is to be absorbed.
    #[inline(always)]
    pub(super) fn absorb(
        &mut self,
        client: &mut impl Client<Sponge = S>,
        block: &mut [u8; 192],
        absorbed: &mut usize,
    ) {
        *absorbed = self.rate;
        *block = [0; 192];
        let block = &mut block[..self.rate];
        match client.absorb(&mut self.sponge, block) {
            Absorbed::Block => {}
            Absorbed::End(taken) => {
                block[taken] ^= self.suffix;
                block[self.rate - 1] ^= 0x80;
                self.phase = Phase::Squeezing;
            }
            Absorbed::Nothing => {
                *absorbed = 0;
                self.phase = Phase::Waiting;
            }
        }
    }
}
