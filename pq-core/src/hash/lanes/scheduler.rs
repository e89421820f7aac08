//! Which sponge is on which lane, and when.

use core::{array, iter};

use zeroize::ZeroizeOnDrop;

use super::slot::{Phase, Slot};
use super::{Client, MAX_LANES, Midway};
use crate::arch::{Backend, Vector};
use crate::kernel::keccak::{self, Step};
use crate::secret::{wipe, wipe_stack};

/// Computes all sponges of `client`.
pub(crate) fn serve<B: Backend, C: Client>(b: B, client: &mut C) {
    const {
        assert!(B::U64s::LANES <= MAX_LANES);
    }
    let mut workspace = Workspace::<B>::new();
    let Workspace { states, blocks } = &mut workspace;
    let blocks = &mut blocks[..B::U64s::LANES];
    let mut slots: [_; MAX_LANES] = array::from_fn(|_| None);
    let slots = &mut slots[..B::U64s::LANES];
    let mut absorbed = [0; MAX_LANES];
    let absorbed = &mut absorbed[..B::U64s::LANES];
    // Bit i is set if there is a sponge on lane i; what a lane without one absorbs is 0.
    let mut active = 0u32;
    let mut midway = None;

    loop {
        let (mut fresh, mut squeeze) = (0u32, false);
        let lanes_to_begin = client.lanes().min(B::U64s::LANES);
        debug_assert!(lanes_to_begin > 0, "what waits would wait forever");
        let free = !active & ((1 << lanes_to_begin) - 1);
        for lane in bits(free) {
            let Some(start) = client.next(&mut midway) else {
                break;
            };
            if let Some(Midway(state)) = &midway {
                for (words, word) in states.iter_mut().zip(state) {
                    words.as_mut()[lane] = *word;
                }
                midway = None;
            } else {
                fresh |= 1 << lane;
            }
            active |= 1 << lane;
            let new = slots[lane].insert(Slot::new(start));
            new.absorb(client, &mut blocks[lane], &mut absorbed[lane]);
            debug_assert!(new.phase != Phase::Waiting, "it had nothing to absorb");
        }
        if active == 0 || client.is_done() {
            break;
        }
        for lane in bits(active) {
            squeeze |= matches!(&slots[lane], Some(slot) if slot.phase == Phase::Squeezing);
        }
        let few = B::Few::LANES;
        let group = active.trailing_zeros() as usize / few;
        let lanes = group * few..(group + 1) * few;
        // always, where one lane is all
        if active >> lanes.end == 0 {
            keccak::run_few(
                b,
                Step::<B::Few, B::U64s> {
                    token: From::from(b),
                    states,
                    group,
                    fresh: fresh >> lanes.start,
                    absorbed: &absorbed[lanes.clone()],
                    squeeze,
                    blocks: &mut blocks[lanes],
                },
            );
        } else {
            keccak::run(
                b,
                Step::<B::U64s> {
                    token: b,
                    states,
                    group: 0,
                    fresh,
                    absorbed,
                    squeeze,
                    blocks,
                },
            );
        }
        for lane in bits(active) {
            let slot = &mut slots[lane];
            let Some(running) = slot else { continue };
            running.step(client, &mut blocks[lane], &mut absorbed[lane]);
            match running.phase {
                Phase::Absorbing | Phase::Squeezing => {}
                Phase::Waiting => {
                    active &= !(1 << lane);
                    let midway = Midway(array::from_fn(|i| states[i].as_ref()[lane]));
                    if let Some(Slot { sponge, .. }) = slot.take() {
                        client.pause(sponge, midway);
                    }
                }
                Phase::Done => {
                    active &= !(1 << lane);
                    *slot = None;
                }
            }
        }
    }
}

/// The numbers of the bits that are set, from the least significant on.
#[inline(always)]
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

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
        wipe_stack();
    }
}

impl<B: Backend> ZeroizeOnDrop for Workspace<B> {}

#[cfg(test)]
mod tests {
    use super::serve;
    use crate::arch::{Backend, Vector, on_each_backend};
    use crate::hash::lanes::gradual::Gradual;
    use crate::hash::lanes::{Absorbed, Client, Demand, MAX_LANES, Midway, Start};
    use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE};

    /// Sponges that wait for their message, on more lanes than there are of them and on fewer,
    /// all of the backend's and only some.
    #[test]
    fn paused_sponges_go_on() {
        fn check<B: Backend>(b: B) {
            for lanes in 1..=8 {
                let mut client = Gradual::new(core::array::from_fn(|i| (i * 7) as u8));
                client.lanes = lanes;
                serve(b, &mut client);
                assert!(client.is_right(b));
            }
        }

        on_each_backend!(b => check(b));
    }

    /// After the step in which a client is done nobody takes anything.
    #[test]
    fn what_nobody_wants_is_left_undone() {
        fn check<B: Backend>(b: B) {
            let mut client = Sated::default();
            serve(b, &mut client);
            assert_eq!(client.taken, B::U64s::LANES);
        }

        on_each_backend!(b => check(b));
    }

    /// Has a sponge for each lane, which would give many blocks, and is done with the first one.
    #[derive(Default)]
    struct Sated {
        begun: usize,
        taken: usize,
    }

    impl Client for Sated {
        type Sponge = ();

        fn next(&mut self, _: &mut Option<Midway>) -> Option<Start<()>> {
            self.begun += 1;
            (self.begun <= MAX_LANES).then_some(Start {
                rate: SHAKE256_RATE,
                suffix: SHAKE_SUFFIX,
                sponge: (),
            })
        }

        fn absorb(&mut self, (): &mut (), _: &mut [u8]) -> Absorbed {
            Absorbed::End(0)
        }

        fn take(&mut self, (): &mut (), _: &[u8]) -> Demand {
            self.taken += 1;
            Demand::more_if(self.taken < 100)
        }

        fn is_done(&self) -> bool {
            self.taken > 0
        }
    }
}
