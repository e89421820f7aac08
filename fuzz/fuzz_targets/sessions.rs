//! [`Tickets`] compared with a model: keys that change or can't be had, sessions that
//! make room for others, and random numbers that repeat.
#![no_main]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rustls::crypto::{GetRandomFailed, SecureRandom};
use rustls::server::ProducesTickets;
use rustls_pq::{TicketOptions, Tickets};

fuzz_target!(|input: Input<'_>| {
    let source = Arc::new(Keys::default());
    let maker = Arc::clone(&source);
    RANDOM.numbers.store(input.numbers, Ordering::Relaxed);
    RANDOM.is_empty.store(false, Ordering::Relaxed);
    let options = TicketOptions::default()
        .with_lifetime(HOUR + Duration::from_secs(input.lifetime.into()))
        .with_rotation(Duration::from_secs(input.rotation.into()))
        .with_stored_bytes(input.stored_bytes.into());
    let tickets = Tickets::over(move || maker.make(), &*RANDOM, options).expect("a key");
    assert!(tickets.enabled());
    assert!(u64::from(tickets.lifetime()) <= TWELVE_HOURS / 2);

    let mut model = Model::new(input.stored_bytes.into());
    for step in &input.steps {
        match step {
            Step::Make { len, fill } => model.make(&tickets, vec![*fill; usize::from(*len)]),
            Step::Take(index) => model.take(&tickets, usize::from(*index)),
            Step::TakeUnknown(ticket) => model.take_unknown(&tickets, ticket),
            Step::Rotate => {
                let is_rotated = tickets.rotate().is_ok();
                assert_eq!(is_rotated, !source.is_lost.load(Ordering::Relaxed));
            }
            Step::LoseKeys(lost) => source.is_lost.store(*lost, Ordering::Relaxed),
            Step::LoseRandomness(lost) => RANDOM.is_empty.store(*lost, Ordering::Relaxed),
        }
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    stored_bytes: u16,
    lifetime: u16,
    rotation: u16,
    /// The number of different random numbers.
    numbers: u8,
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Make { len: u16, fill: u8 },
    Take(u8),
    TakeUnknown(&'a [u8]),
    Rotate,
    LoseKeys(bool),
    LoseRandomness(bool),
}

/// Longer than any input takes, so that no ticket expires.
const HOUR: Duration = Duration::from_secs(60 * 60);
const TWELVE_HOURS: u64 = 12 * 60 * 60;

/// The length of the date in front of each session.
const DATE_LEN: usize = 8;

/// The expected state.
struct Model {
    capacity: usize,
    /// The oldest first.
    stored: VecDeque<(Vec<u8>, Vec<u8>)>,
    encrypted: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Model {
    fn new(capacity: usize) -> Self {
        Self {
            capacity,
            stored: VecDeque::new(),
            encrypted: Vec::new(),
        }
    }

    fn make(&mut self, tickets: &Tickets, session: Vec<u8>) {
        let made = tickets.encrypt(&session);
        if session.len() <= Tickets::MAX_STATELESS_LEN {
            let ticket = made.expect("keys that encrypt");
            assert_eq!(tickets.decrypt(&ticket).as_ref(), Some(&session));
            self.encrypted.push((ticket, session));
            return;
        }
        let has_room = session.len() + DATE_LEN <= self.capacity;
        let has_number = !RANDOM.is_empty.load(Ordering::Relaxed);
        assert_eq!(made.is_some(), has_room && has_number);
        let Some(ticket) = made else {
            return;
        };
        self.stored.retain(|(other, _)| *other != ticket);
        self.stored.push_back((ticket, session));
        let used = |stored: &VecDeque<(_, Vec<u8>)>| {
            let sessions = stored.iter();
            sessions.map(|(_, it)| it.len() + DATE_LEN).sum::<usize>()
        };
        while used(&self.stored) > self.capacity {
            self.stored.pop_front();
        }
    }

    /// Takes a session: a stored one can be taken once, an encrypted one any number of times.
    fn take(&mut self, tickets: &Tickets, index: usize) {
        let count = self.stored.len() + self.encrypted.len();
        let Some(index) = index.checked_rem(count) else {
            return;
        };
        if let Some((ticket, session)) = self.stored.remove(index) {
            assert_eq!(tickets.decrypt(&ticket), Some(session));
            assert_eq!(tickets.decrypt(&ticket), None);
        } else {
            let (ticket, session) = &self.encrypted[index - self.stored.len()];
            assert_eq!(tickets.decrypt(ticket).as_ref(), Some(session));
        }
    }

    fn take_unknown(&mut self, tickets: &Tickets, ticket: &[u8]) {
        let is = |(known, _): &(Vec<u8>, _)| known == ticket;
        if !self.stored.iter().chain(&self.encrypted).any(is) {
            assert_eq!(tickets.decrypt(ticket), None);
        }
    }
}

/// A random number generator with few different numbers.
struct FewNumbers {
    numbers: AtomicU8,
    next: AtomicU8,
    is_empty: AtomicBool,
}

static RANDOM: LazyLock<FewNumbers> = LazyLock::new(|| FewNumbers {
    numbers: AtomicU8::new(0),
    next: AtomicU8::new(0),
    is_empty: AtomicBool::new(false),
});

impl core::fmt::Debug for FewNumbers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FewNumbers").finish_non_exhaustive()
    }
}

impl SecureRandom for FewNumbers {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        if self.is_empty.load(Ordering::Relaxed) {
            return Err(GetRandomFailed);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let numbers = self.numbers.load(Ordering::Relaxed).max(1);
        buffer.fill(number % numbers);
        Ok(())
    }
}

/// Makes keys, each of which recognizes its own tickets.
#[derive(Debug, Default)]
struct Keys {
    made: AtomicU64,
    is_lost: AtomicBool,
}

impl Keys {
    fn make(&self) -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        if self.is_lost.load(Ordering::Relaxed) {
            return Err(rustls::Error::FailedToGetRandomBytes);
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Key::default()))
    }
}

/// Keeps sessions, and gives out their numbers.
#[derive(Debug, Default)]
struct Key(Mutex<Vec<Vec<u8>>>);

/// Longer than a stored session's ticket, as encrypted tickets are.
const NUMBER_LEN: usize = 40;

impl ProducesTickets for Key {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        TWELVE_HOURS as u32
    }

    fn encrypt(&self, session: &[u8]) -> Option<Vec<u8>> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(session.to_vec());
        Some(vec![u8::try_from(sessions.len()).ok()?; NUMBER_LEN])
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let number: &[u8; NUMBER_LEN] = ticket.try_into().ok()?;
        let index = usize::from(number[0]).checked_sub(1)?;
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(index)?;
        (*number == [number[0]; NUMBER_LEN]).then(|| session.clone())
    }
}
