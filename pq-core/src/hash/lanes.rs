//! Independent sponges side by side.
//!
//! A permutation of all lanes of a vector costs what a permutation of one lane
//! costs, or on some CPUs twice as much, so [`run`] keeps every lane busy: each lane works
//! on a [`Job`] of its own, whatever its rate and however long its message and output, and
//! takes the next job when it is done. With one lane the jobs run one after another.
//!
//! Where all lanes in use are of one group of as many as [`Backend::Few`] has, a step takes
//! only that group. A [`Client`] may keep to the first of them ([`lanes_beside`]).
//!
//! Where what a sponge takes depends on what others give, a [`Client`] says which
//! is next, and [`serve`] has it: a sponge then begins as soon as its message does, and is
//! paused where there is no more of it yet. [`serve_together`] fills the lanes that one client
//! leaves free with the sponges of others.

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
        let parts = [self.bytes, self.more, &self.index[..self.index_len]];
        read(parts, offset, block)
    }
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
    serve(b, &mut Jobs(jobs.into_iter()));
}

/// Who has sponges to compute, and knows which can begin.
pub(crate) trait Client {
    /// What the client knows a sponge by, and how far it is.
    type Sponge;

    /// The next sponge, if there is a block or the end of its message to absorb by now; asked
    /// for each free lane of the first [`lanes`](Self::lanes). If there is none while all lanes are free, there is none left.
    fn next(&mut self) -> Option<Start<Self::Sponge>>;

    /// Writes what comes next of the message of `sponge` to `block`, which has the length of
    /// the rate and is zero.
    fn absorb(&mut self, sponge: &mut Self::Sponge, block: &mut [u8]) -> Absorbed;

    /// Takes a sponge back that absorbed all that there is of its message by now.
    fn pause(&mut self, sponge: Self::Sponge, midway: Midway);

    /// As [`Consumer::take`].
    fn take(&mut self, sponge: &mut Self::Sponge, block: &[u8]) -> Demand;

    /// How many of the first lanes new sponges may begin in, at least one: few lanes may take
    /// less time than all. Asked before each step.
    #[inline(always)]
    fn lanes(&self) -> usize {
        MAX_LANES
    }
}

/// In how many lanes to begin, for a [`Client`] that has a chain of so many permutations, one
/// after the other, and so many others to begin beside: in few, if these then end no later
/// than the chain, which is in one of the first lanes.
///
/// It is an estimate: what has begun but for the chain is not counted.
pub(crate) fn lanes_beside<B: Backend>(chain: usize, others: usize) -> usize {
    if chain > 0 && others <= chain * (B::Few::LANES - 1) {
        B::Few::LANES
    } else {
        B::U64s::LANES
    }
}

/// How a sponge begins, or goes on.
pub(crate) struct Start<S> {
    /// Rate in bytes: a multiple of 8, at most that of SHAKE128.
    pub(crate) rate: usize,
    /// Domain separation and first padding bit.
    pub(crate) suffix: u8,
    pub(crate) sponge: S,
    /// Where it was paused.
    pub(crate) midway: Option<Midway>,
}

/// The state of a paused sponge. Wiped when dropped.
pub(crate) struct Midway([u64; 25]);

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

    loop {
        let (mut fresh, mut active, mut squeeze) = (0u32, 0u32, false);
        let lanes_to_begin = client.lanes();
        debug_assert!(lanes_to_begin > 0, "what waits would wait forever");
        let lanes = slots.iter_mut().zip(&mut *blocks).zip(&mut *absorbed);
        for (lane, ((slot, block), absorbed)) in lanes.enumerate() {
            if slot.is_none() {
                *absorbed = 0;
                if lane < lanes_to_begin
                    && let Some(start) = client.next()
                {
                    if let Some(Midway(state)) = &start.midway {
                        for (words, word) in states.iter_mut().zip(state) {
                            words.as_mut()[lane] = *word;
                        }
                    } else {
                        fresh |= 1 << lane;
                    }
                    let mut new = Slot::new(start);
                    new.absorb(client, block, absorbed);
                    debug_assert!(new.phase != Phase::Waiting, "it had nothing to absorb");
                    *slot = Some(new);
                }
            }
            if let Some(slot) = slot {
                active |= 1 << lane;
                squeeze |= slot.phase == Phase::Squeezing;
            }
        }
        if active == 0 {
            break;
        }
        let few = B::Few::LANES;
        let group = active.trailing_zeros() as usize / few;
        let lanes = group * few..(group + 1) * few;
        if few < B::U64s::LANES && active >> lanes.end == 0 {
            b.run_few(Step::<B::Few, B::U64s> {
                token: From::from(b),
                states,
                group,
                fresh: fresh >> lanes.start,
                absorbed: &absorbed[lanes.clone()],
                squeeze,
                blocks: &mut blocks[lanes],
            });
        } else {
            b.run(Step::<B::U64s> {
                token: b,
                states,
                group: 0,
                fresh,
                absorbed,
                squeeze,
                blocks,
            });
        }
        let lanes = slots.iter_mut().zip(&mut *blocks).zip(&mut *absorbed);
        for (lane, ((slot, block), absorbed)) in lanes.enumerate() {
            let Some(running) = slot else { continue };
            running.step(client, block, absorbed);
            match running.phase {
                Phase::Absorbing | Phase::Squeezing => {}
                Phase::Waiting => {
                    let midway = Midway(array::from_fn(|i| states[i].as_ref()[lane]));
                    if let Some(Slot { sponge, .. }) = slot.take() {
                        client.pause(sponge, midway);
                    }
                }
                Phase::Done => *slot = None,
            }
        }
    }
}

/// Computes all sponges of all `clients`, side by side.
///
/// What the clients are is public: how many there are and which places have none, as well as
/// whatever shows in the time that [`serve`] takes for one of them.
pub(crate) fn serve_together<B: Backend, C: Client>(b: B, clients: &mut [Option<C>]) {
    serve(b, &mut Together { clients, turn: 0 });
}

/// The client that [`serve_together`] serves.
struct Together<'a, C> {
    clients: &'a mut [Option<C>],
    /// Who is asked first.
    ///
    /// Clients take turns, so that the long chains, which they begin with, all begin early and
    /// the short sponges are left for the end, when there are no more chains to fill the lanes.
    turn: usize,
}

/// In all lanes: what one client leaves free, another fills.
impl<C: Client> Client for Together<'_, C> {
    /// Whose it is, and the sponge.
    type Sponge = (usize, C::Sponge);

    #[inline(always)]
    fn next(&mut self) -> Option<Start<Self::Sponge>> {
        for _ in 0..self.clients.len() {
            let whose = self.turn;
            self.turn = if whose + 1 < self.clients.len() {
                whose + 1
            } else {
                0
            };
            if let Some(client) = &mut self.clients[whose]
                && let Some(start) = client.next()
            {
                return Some(Start {
                    rate: start.rate,
                    suffix: start.suffix,
                    sponge: (whose, start.sponge),
                    midway: start.midway,
                });
            }
        }
        None
    }

    #[inline(always)]
    fn absorb(&mut self, (whose, sponge): &mut Self::Sponge, block: &mut [u8]) -> Absorbed {
        match &mut self.clients[*whose] {
            Some(client) => client.absorb(sponge, block),
            None => Absorbed::Nothing,
        }
    }

    #[inline(always)]
    fn pause(&mut self, (whose, sponge): Self::Sponge, midway: Midway) {
        if let Some(client) = &mut self.clients[whose] {
            client.pause(sponge, midway);
        }
    }

    #[inline(always)]
    fn take(&mut self, (whose, sponge): &mut Self::Sponge, block: &[u8]) -> Demand {
        match &mut self.clients[*whose] {
            Some(client) => client.take(sponge, block),
            None => Demand::Done,
        }
    }
}

/// The client that [`run`] serves.
struct Jobs<I>(I);

impl<'a, C: Consumer, I: Iterator<Item = Job<'a, C>>> Client for Jobs<I> {
    /// A job and how many bytes of its message were absorbed.
    type Sponge = (Job<'a, C>, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<Start<Self::Sponge>> {
        let job = self.0.next()?;
        Some(Start {
            rate: job.rate,
            suffix: job.suffix,
            sponge: (job, 0),
            midway: None,
        })
    }

    #[inline(always)]
    fn absorb(&mut self, (job, absorbed): &mut Self::Sponge, block: &mut [u8]) -> Absorbed {
        let taken = job.message.read(*absorbed, block);
        *absorbed += taken;
        Absorbed::some(taken, block)
    }

    fn pause(&mut self, _: Self::Sponge, _: Midway) {
        debug_assert!(false, "the messages of jobs are known from the first");
    }

    #[inline(always)]
    fn take(&mut self, (job, _): &mut Self::Sponge, block: &[u8]) -> Demand {
        job.consumer.take(block)
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

/// A sponge on its lane.
struct Slot<S> {
    rate: usize,
    suffix: u8,
    sponge: S,
    phase: Phase,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Phase {
    Absorbing,
    /// More of the message is not known yet.
    Waiting,
    /// Message and padding are in.
    Squeezing,
    Done,
}

impl<S> Slot<S> {
    #[inline(always)]
    fn new(start: Start<S>) -> Self {
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
    fn step(
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
    fn absorb(
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

impl Drop for Midway {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl ZeroizeOnDrop for Midway {}

#[cfg(test)]
mod tests {
    use super::{
        Absorbed, Client, Consumer, Demand, Job, MAX_LANES, Message, Midway, Start, read, run,
        serve, serve_together,
    };
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
                        0 => Message::joined(&bytes[..len / 2], &bytes[len / 2..len]),
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
                sponge.absorb(&[i as u8, 7][..2 * (i / 2 % 2)]);
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

    const RATE: usize = 136;

    /// Long sponges, and short ones: with each short one that is done, 50 more bytes of
    /// every long message are known.
    struct Gradual {
        message: [u8; 500],
        known: usize,
        short_begun: usize,
        /// Long sponges that are not on a lane, by number.
        waiting: [Option<(usize, Option<Midway>)>; 3],
        hashes: [[u8; RATE]; 3],
        pauses: usize,
        lanes: usize,
    }

    enum Length {
        Long { number: usize, absorbed: usize },
        Short { blocks: usize },
    }

    impl Gradual {
        fn new(message: [u8; 500]) -> Self {
            Self {
                message,
                known: 0,
                short_begun: 0,
                waiting: core::array::from_fn(|_| Some((0, None))),
                hashes: [[0; RATE]; 3],
                pauses: 0,
                lanes: MAX_LANES,
            }
        }

        /// Whether all long sponges gave what a single one gives, and were paused.
        fn is_right<B: Backend>(&self, b: B) -> bool {
            let mut sponge = Sponge::new(b, RATE);
            sponge.absorb(&self.message);
            sponge.finish(SHAKE_SUFFIX);
            let mut expected = [0; RATE];
            sponge.squeeze(&mut expected);
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

        fn next(&mut self) -> Option<Start<Length>> {
            let usable = self.usable();
            let mut waiting = self.waiting.iter_mut().enumerate();
            let ready = waiting.find_map(|(number, waiting)| {
                let (absorbed, midway) = waiting.take_if(|waiting| waiting.0 < usable)?;
                Some((Length::Long { number, absorbed }, midway))
            });
            let (sponge, midway) = match ready {
                Some(ready) => ready,
                None if self.short_begun == 10 => return None,
                None => {
                    self.short_begun += 1;
                    let blocks = 1 + self.short_begun % 4;
                    (Length::Short { blocks }, None)
                }
            };
            Some(Start {
                rate: RATE,
                suffix: SHAKE_SUFFIX,
                sponge,
                midway,
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
                self.waiting[number] = Some((absorbed, Some(midway)));
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

    /// Several clients side by side, each with a message of its own, and places without one.
    #[test]
    fn clients_together_match_clients_alone() {
        fn check<B: Backend>(b: B, present: &[bool]) {
            let mut clients: [Option<Gradual>; 9] = core::array::from_fn(|n| {
                let client = || Gradual::new(core::array::from_fn(|i| (i * 7 + n) as u8));
                present.get(n)?.then(client)
            });
            serve_together(b, &mut clients[..present.len()]);
            assert!(clients.iter().flatten().all(|client| client.is_right(b)));
        }

        for present in [
            &[][..],
            &[false],
            &[true],
            &[true; 2],
            &[false, true, true, false, false, true],
            &[true; 9],
        ] {
            on_each_backend!(b => check(b, present));
        }
    }
}
