//! The scheduler on every small schedule: tests.
//!
//! A client asks [`Choices`] whenever it is free to do one thing or another, and a search goes through all answers.
//! So every schedule of so many sponges is tried: which sponge begins or goes on, how many blocks its message has and
//! its output, where it has to wait, when its client has nothing for a free lane, how many lanes may begin, and when
//! nobody wants the rest.

extern crate alloc;

use alloc::vec::Vec;
use core::array;
use core::cell::{Cell, RefCell};

use super::{Absorbed, Client, Demand, MAX_LANES, Midway, Start, serve, serve_together};
use crate::arch::{Backend, Vector, on_each_backend};
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE128_RATE, SHAKE256_RATE, Sponge};

/// The answers of one run, and with them which run is next.
#[derive(Default)]
struct Choices {
    /// What was answered, and how many answers there were.
    path: Vec<(usize, usize)>,
    asked: usize,
}

impl Choices {
    /// One of the numbers below `options`: the first, until the search comes back to this place.
    fn choose(&mut self, options: usize) -> usize {
        if self.asked == self.path.len() {
            self.path.push((0, options));
        }
        let (answer, known) = self.path[self.asked];
        assert_eq!(known, options, "the same answers led elsewhere");
        self.asked += 1;
        answer
    }

    /// Goes on to the next run, if there is one.
    fn advance(&mut self) -> bool {
        assert_eq!(self.asked, self.path.len(), "a run ended early");
        self.asked = 0;
        while let Some((answer, options)) = self.path.pop() {
            if answer + 1 < options {
                self.path.push((answer + 1, options));
                return true;
            }
        }
        false
    }
}

/// Calls `run` with every sequence of answers, and says how many there are.
fn search(mut run: impl FnMut(&RefCell<Choices>)) -> usize {
    let choices = RefCell::default();
    for runs in 1.. {
        run(&choices);
        if !choices.borrow_mut().advance() {
            return runs;
        }
    }
    unreachable!("every search ends")
}

/// What a client may choose: by default nothing.
#[derive(Clone, Copy, Default)]
struct Freedom {
    /// How many whole blocks of its message each sponge has at most, and how many of output.
    blocks: usize,
    /// How often all sponges together wait at most.
    pauses: usize,
    /// Whether there may be nothing for a free lane now, and something later.
    refuses: bool,
    /// Whether new sponges may have to keep to the first lane, now and then.
    narrows: bool,
    /// Whether what is on lanes may become useless.
    stops: bool,
}

/// Blocks that a sponge absorbs whole, and then its output block by block: by number of sponge, and whole blocks.
type Outputs = [[[[u8; SHAKE128_RATE]; 2]; 3]; SPONGES];

const SPONGES: usize = 5;

/// The bytes of block `i` of the message of sponge `number`.
fn fill(number: usize, i: usize, block: &mut [u8]) {
    block.fill((16 * number + i + 1) as u8);
}

fn rate(number: usize) -> usize {
    [SHAKE256_RATE, SHAKE128_RATE, 72][number % 3]
}

/// What single sponges give. Messages end with five bytes after the last whole block.
fn outputs<B: Backend>(b: B) -> Outputs {
    array::from_fn(|number| {
        array::from_fn(|blocks| {
            let rate = rate(number);
            let mut sponge = Sponge::new(rate);
            for i in 0..=blocks {
                let mut block = [0; SHAKE128_RATE];
                fill(number, i, &mut block);
                sponge.absorb(b, &block[..if i < blocks { rate } else { 5 }]);
            }
            sponge.finish(SHAKE_SUFFIX);
            array::from_fn(|_| {
                let mut block = [0; SHAKE128_RATE];
                sponge.squeeze(b, &mut block[..rate]);
                block
            })
        })
    })
}

/// Where a sponge is.
enum Place {
    Unbegun,
    /// On a lane, with nothing absorbed there yet.
    Begun,
    /// On a lane, with more of its message to absorb.
    Absorbing,
    /// On a lane, with its output to be taken.
    Squeezing,
    /// On a lane, from which it is to be paused: it had nothing to absorb.
    Stuck,
    Paused(Midway),
    Done,
}

/// A sponge as its client sees it.
struct Progress {
    place: Place,
    absorbed: usize,
    taken: usize,
    /// How many of its blocks were absorbed or taken after a permutation since the step began.
    steps: Cell<usize>,
}

impl Progress {
    fn is_on_lane(&self) -> bool {
        !matches!(self.place, Place::Unbegun | Place::Paused(_) | Place::Done)
    }
}

/// What the scheduler has of a sponge: not to be copied.
struct Ticket(usize);

/// A client that chooses, and asserts what the scheduler owes it.
struct Chooser<'a> {
    choices: &'a RefCell<Choices>,
    outputs: &'a Outputs,
    freedom: Freedom,
    /// How many lanes there are, and how many of them new sponges may begin in.
    all_lanes: usize,
    lanes: Cell<usize>,
    /// How many sponges were on lanes when the step began.
    on_lanes: Cell<usize>,
    first: usize,
    sponges: Vec<Progress>,
    pauses: usize,
    stopped: Cell<bool>,
    /// How many steps there were, and whether one is under way.
    steps: Cell<usize>,
    stepping: Cell<bool>,
}

impl<'a> Chooser<'a> {
    /// With `count` sponges from number `first` on.
    fn new<B: Backend>(
        _: B,
        choices: &'a RefCell<Choices>,
        outputs: &'a Outputs,
        freedom: Freedom,
        first: usize,
        count: usize,
    ) -> Self {
        let sponge = |_| Progress {
            place: Place::Unbegun,
            absorbed: 0,
            taken: 0,
            steps: Cell::new(0),
        };
        Self {
            choices,
            outputs,
            freedom,
            all_lanes: B::U64s::LANES,
            lanes: Cell::new(B::U64s::LANES),
            on_lanes: Cell::new(0),
            first,
            sponges: (0..count).map(sponge).collect(),
            pauses: 0,
            stopped: Cell::new(false),
            steps: Cell::new(0),
            stepping: Cell::new(false),
        }
    }

    fn choose(&self, options: usize) -> usize {
        self.choices.borrow_mut().choose(options)
    }

    fn may(&self, allowed: bool) -> bool {
        allowed && self.choose(2) == 1
    }

    fn on_lanes(&self) -> usize {
        self.sponges.iter().filter(|s| s.is_on_lane()).count()
    }

    /// Between two steps: each sponge on a lane has had one permutation, and those that were stuck
    /// were paused.
    fn check_step(&self) {
        for sponge in self.sponges.iter().filter(|s| s.is_on_lane()) {
            assert_eq!(sponge.steps.take(), 1, "a step passed a sponge by");
            assert!(!matches!(sponge.place, Place::Stuck), "not paused");
        }
        let most = self.sponges.len() * 2 * (self.freedom.blocks + 2);
        self.steps.set(self.steps.get() + 1);
        assert!(self.steps.get() <= most, "there is no end");
    }

    /// After the last step: everything was served, unless it was stopped.
    fn check_end(&self) {
        let done = |s: &Progress| matches!(s.place, Place::Done);
        assert!(self.stopped.get() || self.sponges.iter().all(done));
    }
}

impl Client for Chooser<'_> {
    type Sponge = Ticket;

    fn next(&mut self, midway: &mut Option<Midway>) -> Option<Start<Ticket>> {
        assert!(midway.is_none(), "a state was not taken");
        let busy = self.on_lanes();
        assert!(busy < self.all_lanes, "there is no free lane");
        if self.on_lanes.get() == 0 {
            assert!(busy < self.lanes.get(), "more begin than may");
        }
        if self.may(self.freedom.refuses && busy > 0) {
            return None;
        }
        // of those that have not begun, one is as good as another
        let unbegun = self
            .sponges
            .iter()
            .position(|s| matches!(s.place, Place::Unbegun));
        let paused = self.sponges.iter().enumerate();
        let paused = paused.filter_map(|(n, s)| matches!(s.place, Place::Paused(_)).then_some(n));
        let ready: Vec<usize> = unbegun.into_iter().chain(paused).collect();
        if ready.is_empty() {
            return None;
        }
        let number = ready[self.choose(ready.len())];
        let sponge = &mut self.sponges[number];
        sponge.steps.set(0);
        if let Place::Paused(state) = core::mem::replace(&mut sponge.place, Place::Begun) {
            *midway = Some(state);
        }
        Some(Start {
            rate: rate(self.first + number),
            suffix: SHAKE_SUFFIX,
            sponge: Ticket(number),
        })
    }

    fn absorb(&mut self, Ticket(number): &mut Ticket, block: &mut [u8]) -> Absorbed {
        let number = *number;
        let Progress {
            ref place,
            absorbed,
            ..
        } = self.sponges[number];
        let begins = matches!(place, Place::Begun);
        assert!(begins || matches!(place, Place::Absorbing));
        assert_eq!(block.len(), rate(self.first + number));
        assert!(block.iter().all(|byte| *byte == 0), "a block is not zero");
        let more = absorbed < self.freedom.blocks;
        let waits = !begins && self.pauses < self.freedom.pauses;
        let (place, result) = if self.may(waits) {
            (Place::Stuck, Absorbed::Nothing)
        } else if self.may(more) {
            fill(self.first + number, absorbed, block);
            (Place::Absorbing, Absorbed::Block)
        } else {
            fill(self.first + number, absorbed, &mut block[..5]);
            (Place::Squeezing, Absorbed::End(5))
        };
        let sponge = &mut self.sponges[number];
        sponge.place = place;
        *sponge.steps.get_mut() += usize::from(!begins);
        sponge.absorbed += usize::from(matches!(result, Absorbed::Block));
        result
    }

    fn pause(&mut self, Ticket(number): Ticket, midway: Midway) {
        let sponge = &mut self.sponges[number];
        assert!(matches!(sponge.place, Place::Stuck));
        sponge.place = Place::Paused(midway);
        self.pauses += 1;
    }

    fn take(&mut self, Ticket(number): &mut Ticket, block: &[u8]) -> Demand {
        let number = *number;
        let sponge = &mut self.sponges[number];
        assert!(matches!(sponge.place, Place::Squeezing));
        let rate = rate(self.first + number);
        let expected = &self.outputs[self.first + number][sponge.absorbed][sponge.taken];
        assert_eq!(*block, expected[..rate]);
        *sponge.steps.get_mut() += 1;
        sponge.taken += 1;
        let more = sponge.taken < self.freedom.blocks.max(1);
        if self.may(more) {
            return Demand::More;
        }
        self.sponges[number].place = Place::Done;
        Demand::Done
    }

    fn lanes(&self) -> usize {
        assert!(!self.stopped.get(), "it goes on for nobody");
        if self.stepping.replace(true) {
            self.check_step();
        }
        self.on_lanes.set(self.on_lanes());
        let narrows = self.freedom.narrows && self.all_lanes > 1;
        let lanes = if self.may(narrows) { 1 } else { MAX_LANES };
        self.lanes.set(lanes);
        lanes
    }

    fn is_done(&self) -> bool {
        self.stopped.set(self.may(self.freedom.stops));
        self.stopped.get()
    }
}

/// Every schedule of `count` sponges of one client: at least so many.
fn check<B: Backend>(b: B, count: usize, freedom: Freedom, at_least: usize) {
    let outputs = outputs(b);
    let schedules = search(|choices| {
        let mut client = Chooser::new(b, choices, &outputs, freedom, 0, count);
        serve(b, &mut client);
        client.check_end();
    });
    assert!(schedules >= at_least, "{schedules} schedules");
}

/// Sponges that can do everything: 1020 schedules of two of them in four lanes.
#[test]
fn every_schedule_of_few_sponges() {
    let freedom = Freedom {
        blocks: 1,
        pauses: 2,
        refuses: true,
        narrows: true,
        ..Freedom::default()
    };
    on_each_backend!(b => for (count, at_least) in [(0, 1), (1, 3), (2, 13)] {
        check(b, count, freedom, at_least);
    });
}

/// Long messages and long outputs: 864 schedules of three sponges in four lanes.
#[test]
fn every_schedule_of_long_sponges() {
    let freedom = Freedom {
        blocks: 2,
        pauses: 1,
        ..Freedom::default()
    };
    on_each_backend!(b => for (count, at_least) in [(1, 12), (2, 108), (3, 864)] {
        check(b, count, freedom, at_least);
    });
}

/// More sponges than lanes on most CPUs: 176 schedules of five sponges in four lanes.
#[test]
fn every_schedule_of_many_sponges() {
    let freedom = Freedom {
        blocks: 1,
        pauses: 1,
        ..Freedom::default()
    };
    on_each_backend!(b => for (count, at_least) in [(3, 20), (4, 48), (SPONGES, 112)] {
        check(b, count, freedom, at_least);
    });
}

/// Sponges that keep to one lane, now and then, and wait for each other.
#[test]
fn every_schedule_of_few_lanes() {
    let freedom = Freedom {
        pauses: 1,
        narrows: true,
        ..Freedom::default()
    };
    on_each_backend!(b => for count in 1..=3 {
        check(b, count, freedom, 1);
    });
}

/// A client may be done after any step.
#[test]
fn every_schedule_that_stops() {
    let freedom = Freedom {
        blocks: 1,
        pauses: 1,
        refuses: true,
        stops: true,
        ..Freedom::default()
    };
    on_each_backend!(b => for (count, at_least) in [(1, 7), (2, 30)] {
        check(b, count, freedom, at_least);
    });
}

/// Two clients side by side, and a place without one.
#[test]
fn every_schedule_of_clients_together() {
    let freedom = Freedom {
        blocks: 1,
        pauses: 1,
        refuses: true,
        ..Freedom::default()
    };
    on_each_backend!(b => {
        let outputs = outputs(b);
        let schedules = search(|choices| {
            let client = |first, count| Chooser::new(b, choices, &outputs, freedom, first, count);
            let mut clients = [Some(client(0, 1)), None, Some(client(1, 1))];
            serve_together(b, &mut clients);
            clients.iter().flatten().for_each(Chooser::check_end);
        });
        assert!(schedules >= 9, "{schedules} schedules");
    });
}
