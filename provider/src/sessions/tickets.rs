//! `Tickets`, the ticketer of a server: it puts a session into the ticket or into memory, depending on its length, and
//! replaces its key in time.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::time::Duration;
use core::{fmt, mem};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::crypto::{CryptoProvider, SecureRandom};
use rustls::server::ProducesTickets;
use tracing::{debug, warn};
use zeroize::Zeroizing;

use super::clock::Clock;
use super::stored_sessions::{StoredSessions, Ticket};
use super::ticketer::Ticketer;
use crate::{Error, base};

/// Sessions that clients can resume: the `ticketer` of a
/// [`ServerConfig`](rustls::ServerConfig).
///
/// ```
/// # use std::sync::Arc;
/// use rustls_pq::Tickets;
///
/// fn with_tickets(config: &mut rustls::ServerConfig) -> Result<(), rustls_pq::Error> {
///     config.ticketer = Arc::new(Tickets::new()?);
///     Ok(())
/// }
/// # let mut config = rustls::ServerConfig::builder_with_provider(
/// #         rustls::crypto::ring::default_provider().into(),
/// #     )
/// #     .with_safe_default_protocol_versions()?
/// #     .with_no_client_auth()
/// #     .with_cert_resolver(Arc::new(rustls_pq::identity::Identities::new(
/// #         rustls_pq::identity::IdentitySet::new(),
/// #     )));
/// # with_tickets(&mut config)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// A resumed TLS 1.3 session does a new key exchange with the groups of both sides, hybrid ones
/// included (psk_dhe_ke): it is as post-quantum as a full handshake, and a ticket key that leaks
/// later doesn't disclose the traffic.
///
/// # Stateless or stateful
///
/// A session without a client certificate goes into the ticket, encrypted: the server keeps
/// nothing. A client's certificates are part of its session, and an ML-DSA-65 chain has some 11 kB.
/// In a ticket it would come back in the next ClientHello, which would then be larger than many peers
/// and middleboxes accept. Sessions of more than
/// [`MAX_STATELESS_LEN`](Self::MAX_STATELESS_LEN) bytes therefore stay in the server's
/// memory, and the ticket is a random number that stands for the session and can be used once. When
/// these sessions take more than [`stored_bytes`](TicketOptions::stored_bytes), the oldest are dropped,
/// and their clients do a full handshake.
///
/// In both cases a ticket is valid for its [`lifetime`](TicketOptions::lifetime) and no longer. Time
/// during which the machine sleeps counts, as far as the time of day shows it. Setting the clock back
/// prolongs nothing; setting it forward makes existing tickets expire earlier.
///
/// # Keys
///
/// Tickets are encrypted by the base or the provider that they are made with. A new key takes
/// over after every [`rotation`](TicketOptions::rotation), at the first handshake after that time, or
/// at any time with [`rotate`](Self::rotate). The old key still decrypts while one of its tickets is
/// valid, and is then forgotten.
///
/// # wolfSSL
///
/// rustls gives each TLS 1.3 ticket a nonce of 32 bytes, whatever `ticketer` it has. wolfSSL takes 8
/// bytes unless it is built with `--enable-ticket-nonce-malloc` (or for curl). It ends the connection when
/// it reads the first ticket: Debian's 5.5.4 with error -425, "The security parameter is invalid". For such
/// clients set `send_tls13_tickets` of the [`ServerConfig`](rustls::ServerConfig) to 0. They then
/// resume sessions in TLS 1.2 only.
///
/// # Client certificates
///
/// A resumed session has the client's certificates of the full handshake, and rustls doesn't verify
/// them again. If certificates authorise clients and can expire or be revoked, verify them again with
/// [`ServerHandshake::verify_resumed_client`](crate::ServerHandshake::verify_resumed_client).
/// Configurations that share `Tickets` resume each other's sessions, and don't request certificates
/// then. So make new `Tickets` for a configuration with other roots, revocation lists or a stricter
/// profile, and don't share them between one that demands certificates and one that doesn't.
pub struct Tickets {
    options: TicketOptions,
    make_key: Box<MakeKey>,
    keys: Mutex<Keys>,
    stored: Mutex<StoredSessions>,
    random: &'static dyn SecureRandom,
    clock: Clock,
}

type MakeKey = dyn Fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error> + Send + Sync;

/// The options of [`Tickets`].
///
/// ```
/// # use core::time::Duration;
/// use rustls_pq::{TicketOptions, Tickets};
///
/// let hour = Duration::from_secs(60 * 60);
/// let options = TicketOptions::default().with_lifetime(hour).with_rotation(hour / 4);
/// let tickets = Tickets::with_options(options)?;
/// # Ok::<_, rustls_pq::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TicketOptions {
    /// How long a ticket can be used; at most half the lifetime of the base's own tickets, which is
    /// six hours for graviola, AWS-LC and ring.
    pub lifetime: Duration,
    /// How long a key encrypts new tickets; at most [`lifetime`](Self::lifetime), and at least a 64th
    /// of it: the server keeps all keys whose tickets are still valid, and clients decide when tickets
    /// come.
    pub rotation: Duration,
    /// How many bytes the sessions in memory may take together. Each is as long as its client's
    /// certificates, of which rustls accepts 64 KiB at most. The index takes some 200 bytes more for
    /// each session; looking one up takes as long among a hundred thousand as among ten.
    pub stored_bytes: usize,
}

impl Default for TicketOptions {
    /// Six hours, a new key every hour, and 64 MiB, which are some 6,000 sessions with chains of
    /// ML-DSA-65.
    fn default() -> Self {
        Self {
            lifetime: Duration::from_secs(6 * 60 * 60),
            rotation: Duration::from_secs(60 * 60),
            stored_bytes: 64 << 20,
        }
    }
}

impl TicketOptions {
    /// Changes the [`lifetime`](Self::lifetime).
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Changes the [`rotation`](Self::rotation).
    #[must_use]
    pub fn with_rotation(self, rotation: Duration) -> Self {
        Self { rotation, ..self }
    }

    /// Changes how many bytes [stored sessions](Self::stored_bytes) may take.
    #[must_use]
    pub fn with_stored_bytes(self, stored_bytes: usize) -> Self {
        Self {
            stored_bytes,
            ..self
        }
    }
}

impl Tickets {
    /// The largest session that goes into a ticket, in bytes.
    ///
    /// Without client certificates a session takes some 100 bytes, and a few more for the names
    /// of the server and of the application protocol.
    pub const MAX_STATELESS_LEN: usize = 1024;

    /// Tickets with the first usable base and the default options, for servers with
    /// [`provider()`](crate::provider).
    ///
    /// For a server with another provider take [`for_provider`](Self::for_provider).
    ///
    /// # Errors
    ///
    /// Those of [`base::first_usable`]; and [`Error::Rustls`] if there is no randomness for the first
    /// key.
    pub fn new() -> Result<Self, Error> {
        Self::with_options(TicketOptions::default())
    }

    /// Tickets with the first usable base.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_options(options: TicketOptions) -> Result<Self, Error> {
        let random = base::first_usable()?.secure_random;
        Self::over(base::ticket_maker()?, random, options)
    }

    /// Tickets that the first cipher suite of `provider` with keys of 256 bits encrypts.
    ///
    /// If the provider has no such cipher suite, the first usable base encrypts them.
    ///
    /// # Errors
    ///
    /// [`Error::Rustls`] if there is no randomness for the first key; and if the provider has no
    /// such cipher suite, as for [`new`](Self::new).
    pub fn for_provider(provider: &CryptoProvider, options: TicketOptions) -> Result<Self, Error> {
        let Some(ticketer) = Ticketer::new(provider)? else {
            return Self::with_options(options);
        };
        let make_key = move || Ok(Arc::new(ticketer.renewed()?) as _);
        Self::over(make_key, provider.secure_random, options)
    }

    /// Tickets that ticketers from `make_key` encrypt. Each call of `make_key` must make a new key, as
    /// `rustls::crypto::ring::Ticketer::new` does.
    ///
    /// # Errors
    ///
    /// [`Error::Rustls`] with the error of `make_key`.
    pub fn over<F>(
        make_key: F,
        random: &'static dyn SecureRandom,
        mut options: TicketOptions,
    ) -> Result<Self, Error>
    where
        F: Fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error> + Send + Sync + 'static,
    {
        let first = make_key()?;
        // A base's ticketer changes keys by itself, and forgets a key after its own lifetime. We use a
        // key for up to `rotation`, and then for the lifetime of its last ticket.
        let longest = Duration::from_secs(first.lifetime().into()) / 2;
        options.lifetime = options.lifetime.min(longest);
        let shortest = options.lifetime / MAX_RETIRED;
        options.rotation = options.rotation.clamp(shortest, options.lifetime);
        let start = Duration::ZERO;
        Ok(Self {
            options,
            make_key: Box::new(make_key),
            keys: Mutex::new(Keys {
                current: Key {
                    id: 0,
                    ticketer: first,
                    since: start,
                    latest: start,
                },
                retired: VecDeque::new(),
            }),
            stored: Mutex::new(StoredSessions::new(options.stored_bytes)),
            random,
            clock: Clock::new(),
        })
    }

    /// Makes a new key now. Tickets of the old key stay valid for their lifetime.
    ///
    /// # Errors
    ///
    /// [`Error::Rustls`] if no new key can be made; then the current one stays in use.
    pub fn rotate(&self) -> Result<(), Error> {
        self.rotate_at(self.clock.elapsed())
    }

    fn rotate_at(&self, now: Duration) -> Result<(), Error> {
        let ticketer = (self.make_key)()?;
        self.keys().rotate(ticketer, now, self.options.lifetime);
        debug!("new ticket key");
        Ok(())
    }

    fn rotate_if_due(&self, now: Duration) {
        let TicketOptions {
            lifetime, rotation, ..
        } = self.options;
        if !self.keys().is_due(now, rotation) {
            return;
        }
        match (self.make_key)() {
            Ok(ticketer) => {
                let mut keys = self.keys();
                // Another thread may have come first.
                if keys.is_due(now, rotation) {
                    keys.rotate(ticketer, now, lifetime);
                    drop(keys);
                    debug!("new ticket key");
                }
            }
            Err(error) => warn!(%error, "no new ticket key; the current one stays in use"),
        }
    }

    fn encrypt_at(&self, session: &[u8], now: Duration) -> Option<Vec<u8>> {
        // rustls checks the age of a session for early data only.
        let dated = Zeroizing::new([&now.as_secs().to_be_bytes(), session].concat());
        if session.len() > Self::MAX_STATELESS_LEN {
            let mut ticket = Ticket::default();
            self.random.fill(&mut ticket).ok()?;
            return self.stored().put(ticket, dated).then(|| ticket.to_vec());
        }

        self.rotate_if_due(now);
        let (id, ticketer) = self.keys().current(now);
        let mut ticket = id.to_be_bytes().to_vec();
        ticket.extend(ticketer.encrypt(&dated)?);
        Some(ticket)
    }

    fn decrypt_at(&self, ticket: &[u8], now: Duration) -> Option<Vec<u8>> {
        // Encrypted tickets are longer: they have the key's identifier, a session and what the
        // encryption adds.
        let dated = if let Ok(ticket) = ticket.try_into() {
            self.stored().take(ticket)?
        } else {
            self.rotate_if_due(now);
            let (id, ticket) = ticket.split_first_chunk()?;
            let id = u64::from_be_bytes(*id);
            let ticketer = self.keys().find(id, now, self.options.lifetime)?;
            ticketer.decrypt(ticket)?.into()
        };
        let (then, session) = dated.split_first_chunk()?;
        let age = now.as_secs().checked_sub(u64::from_be_bytes(*then))?;
        (age <= self.options.lifetime.as_secs()).then(|| session.to_vec())
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        // Every change of the keys is complete before anything can panic.
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stored(&self) -> MutexGuard<'_, StoredSessions> {
        // Nothing in there panics.
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        // It isn't longer than the base's lifetime, which is a u32.
        self.options
            .lifetime
            .as_secs()
            .try_into()
            .unwrap_or(u32::MAX)
    }

    fn encrypt(&self, session: &[u8]) -> Option<Vec<u8>> {
        self.encrypt_at(session, self.clock.elapsed())
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.decrypt_at(ticket, self.clock.elapsed())
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The most old keys, apart from those that [`Tickets::rotate`] replaced.
const MAX_RETIRED: u32 = 64;

struct Keys {
    current: Key,
    /// The oldest first.
    retired: VecDeque<Key>,
}

struct Key {
    /// A counter, with which each ticket starts.
    id: u64,
    ticketer: Arc<dyn ProducesTickets>,
    /// Since when it has been in use, by the clock of the tickets.
    since: Duration,
    /// When it made its latest ticket, or was last fetched to make one.
    latest: Duration,
}

impl Keys {
    /// The key to make a ticket with.
    fn current(&mut self, now: Duration) -> (u64, Arc<dyn ProducesTickets>) {
        self.current.latest = self.current.latest.max(now);
        (self.current.id, Arc::clone(&self.current.ticketer))
    }

    fn is_due(&self, now: Duration, rotation: Duration) -> bool {
        now.saturating_sub(self.current.since) >= rotation
    }

    fn rotate(&mut self, ticketer: Arc<dyn ProducesTickets>, now: Duration, lifetime: Duration) {
        let new = Key {
            id: self.current.id + 1,
            ticketer,
            since: now,
            latest: now,
        };
        let old = mem::replace(&mut self.current, new);
        self.retired.push_back(old);
        self.forget(now, lifetime);
    }

    fn find(
        &mut self,
        id: u64,
        now: Duration,
        lifetime: Duration,
    ) -> Option<Arc<dyn ProducesTickets>> {
        self.forget(now, lifetime);
        let key = match id == self.current.id {
            true => &self.current,
            false => {
                let at = self.retired.binary_search_by_key(&id, |key| key.id).ok()?;
                &self.retired[at]
            }
        };
        Some(Arc::clone(&key.ticketer))
    }

    /// Drops the keys that have no valid tickets any more.
    fn forget(&mut self, now: Duration, lifetime: Duration) {
        let is_over = |key: &Key| now.saturating_sub(key.latest) > lifetime;
        while self.retired.front().is_some_and(is_over) {
            self.retired.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicBool, Ordering};
    use std::sync::Barrier;
    use std::thread;

    use super::*;
    use crate::sessions::clock::tests::TwoClocks;

    #[test]
    fn tickets_are_good_for_their_lifetime() {
        let tickets = tickets(0);
        let at = Duration::from_secs;
        let first = tickets.encrypt_at(b"one", at(0)).unwrap();
        // The same key within the rotation period, other keys later.
        let same = tickets.encrypt_at(b"two", at(99)).unwrap();
        let last = tickets.encrypt_at(b"three", at(100)).unwrap();
        assert_eq!(first[..8], same[..8]);
        assert_ne!(same[..8], last[..8]);
        tickets.rotate_at(at(110)).unwrap();
        tickets.rotate_at(at(111)).unwrap();
        let newest = tickets.encrypt_at(b"four", at(112)).unwrap();

        // Keys stay until their last ticket has expired.
        for (seconds, expected, retired) in [
            (112, [true, true, true, true], 3),
            // a new key is due by now
            (300, [true, true, true, true], 4),
            (301, [false, true, true, true], 4),
            (99 + 300, [false, true, true, true], 4),
            (400, [false, false, true, true], 4),
            (401, [false, false, false, true], 3),
            (112 + 300, [false, false, false, true], 2),
            (112 + 301, [false, false, false, false], 1),
            (1000, [false, false, false, false], 0),
        ] {
            let all = [&first, &same, &last, &newest];
            let sessions = all.map(|ticket| tickets.decrypt_at(ticket, at(seconds)));
            let texts = [&b"one"[..], b"two", b"three", b"four"];
            for ((session, text), expected) in sessions.iter().zip(texts).zip(expected) {
                assert_eq!(session.as_deref(), expected.then_some(text), "{seconds}");
            }
            assert_eq!(tickets.keys().retired.len(), retired, "{seconds}");
        }
    }

    /// Both kinds of tickets, and keys as well.
    #[test]
    fn tickets_age_while_the_machine_sleeps() {
        let clocks = TwoClocks::new();
        let mut tickets = tickets(10_000);
        tickets.clock = clocks.clock();
        let large = vec![2; Tickets::MAX_STATELESS_LEN + 1];
        let issue = || [&b"small"[..], &large].map(|it| tickets.encrypt(it).unwrap());
        let good = |issued: [Vec<u8>; 2]| issued.map(|it| tickets.decrypt(&it).is_some());

        let issued = issue();
        clocks.sleep(299.0);
        assert_eq!(good(issued), [true, true]);
        let issued = issue();
        clocks.sleep(302.0);
        assert_eq!(good(issued), [false, false]);
        assert_eq!(tickets.keys().retired.len(), 0);

        // Setting the clock back prolongs nothing.
        let issued = issue();
        clocks.set(-1000.0);
        clocks.run(302.0);
        assert_eq!(good(issued), [false, false]);
        // After setting it forward, new tickets live as long as ever.
        clocks.set(1000.0);
        let issued = issue();
        clocks.run(299.0);
        assert_eq!(good(issued), [true, true]);
    }

    #[test]
    fn large_sessions_stay_here() {
        let tickets = tickets(2 * (Tickets::MAX_STATELESS_LEN + 9));
        let at = Duration::from_secs;
        let small = [1; Tickets::MAX_STATELESS_LEN];
        let large = [2; Tickets::MAX_STATELESS_LEN + 1];
        let ticket = tickets.encrypt_at(&small, at(0)).unwrap();
        assert!(ticket.len() > small.len());
        for _ in 0..2 {
            assert_eq!(tickets.decrypt_at(&ticket, at(1)).unwrap(), small);
        }

        let ticket = tickets.encrypt_at(&large, at(0)).unwrap();
        assert_eq!(ticket.len(), size_of::<Ticket>());
        // A ticket can be used once.
        assert_eq!(tickets.decrypt_at(&ticket, at(300)).unwrap(), large);
        assert_eq!(tickets.decrypt_at(&ticket, at(1)), None);
        // A ticket expires.
        let ticket = tickets.encrypt_at(&large, at(0)).unwrap();
        assert_eq!(tickets.decrypt_at(&ticket, at(301)), None);
        // The memory is bounded.
        let kept: Vec<_> = (0..100)
            .map(|_| tickets.encrypt_at(&large, at(0)).unwrap())
            .filter_map(|ticket| tickets.decrypt_at(&ticket, at(0)))
            .collect();
        assert_eq!(kept.len(), 100);
        let issued: Vec<_> = (0..100)
            .map(|_| tickets.encrypt_at(&large, at(0)).unwrap())
            .collect();
        let kept = issued
            .iter()
            .filter_map(|ticket| tickets.decrypt_at(ticket, at(0)));
        assert_eq!(kept.count(), 2);
    }

    /// Clients choose how large their sessions are, so the store counts bytes.
    #[test]
    fn memory_is_bounded() {
        let capacity = 100_000;
        let tickets = tickets(capacity);
        let mut issued = VecDeque::new();
        for len in (0..1000).map(|n| 1100 + n * 7919 % 60_000) {
            let session = vec![3; len];
            issued.push_front((tickets.encrypt(&session).unwrap(), session));
        }
        // Taking a session makes room, wherever it was.
        let (ticket, session) = issued.remove(1).unwrap();
        assert_eq!(tickets.decrypt(&ticket), Some(session));

        // The latest sessions are there, as many as have room.
        let mut kept = 0;
        let mut is_over = false;
        for (ticket, session) in issued {
            match tickets.decrypt(&ticket) {
                Some(resumed) => {
                    assert!(!is_over);
                    assert_eq!(resumed, session);
                    kept += session.len();
                }
                None => is_over = true,
            }
        }
        assert!(kept > 0 && kept <= capacity, "{kept}");
        // Their whole memory is free again.
        let largest = vec![4; capacity - 8];
        let ticket = tickets.encrypt(&largest).unwrap();
        assert_eq!(tickets.decrypt(&ticket), Some(largest));
        assert_eq!(tickets.encrypt(&vec![4; capacity - 7]), None);
    }

    /// Even a broken source of randomness doesn't make the store grow or stall.
    #[test]
    fn tickets_that_repeat() {
        #[derive(Debug)]
        struct Constant;
        impl SecureRandom for Constant {
            fn fill(&self, buf: &mut [u8]) -> Result<(), rustls::crypto::GetRandomFailed> {
                buf.fill(7);
                Ok(())
            }
        }
        let make_key = rustls::crypto::ring::Ticketer::new;
        let tickets = Tickets::over(make_key, &Constant, options(100_000)).unwrap();
        let session = [5; 40_000];
        let issued = [(); 10].map(|()| tickets.encrypt(&session).unwrap());
        assert_eq!(tickets.decrypt(&issued[0]).as_deref(), Some(&session[..]));
        assert_eq!(tickets.decrypt(&issued[9]), None);
        assert!(tickets.encrypt(&[5; 90_000]).is_some());
    }

    /// Nobody can cause many keys, whatever the options are.
    #[test]
    fn keys_are_few() {
        let mut options = options(0);
        options.rotation = Duration::ZERO;
        let random = rustls::crypto::ring::default_provider().secure_random;
        let tickets = Tickets::over(rustls::crypto::ring::Ticketer::new, random, options).unwrap();
        for seconds in 0..=300 {
            let at = Duration::from_secs(seconds);
            for _ in 0..3 {
                assert_eq!(tickets.decrypt_at(&[0; 64], at), None);
            }
        }
        let retired = tickets.keys().retired.len();
        assert!((32..=64).contains(&retired), "{retired}");
    }

    #[test]
    fn one_key_takes_over() {
        // Two threads find that a new key is due, and both make one.
        let is_first = AtomicBool::new(true);
        let both = Barrier::new(2);
        let tickets = Tickets::over(
            move || {
                if !is_first.swap(false, Ordering::Relaxed) {
                    both.wait();
                }
                rustls::crypto::ring::Ticketer::new()
            },
            rustls::crypto::ring::default_provider().secure_random,
            options(0),
        )
        .unwrap();
        let late = Duration::from_secs(100);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| tickets.encrypt_at(b"session", late).unwrap());
            }
        });
        assert_eq!(tickets.keys().retired.len(), 1);
    }

    #[test]
    fn junk_is_refused() {
        let tickets = tickets(0);
        let mut ticket = tickets.encrypt(b"session").unwrap();
        assert_eq!(tickets.decrypt(&ticket).unwrap(), b"session");
        for len in 0..ticket.len() {
            assert_eq!(tickets.decrypt(&ticket[..len]), None);
        }
        for at in 0..ticket.len() {
            ticket[at] ^= 1;
            assert_eq!(tickets.decrypt(&ticket), None);
            ticket[at] ^= 1;
        }
    }

    #[test]
    fn options_are_bounded_by_the_base() {
        let week = Duration::from_secs(7 * 24 * 60 * 60);
        let tickets = Tickets::over(
            rustls::crypto::ring::Ticketer::new,
            rustls::crypto::ring::default_provider().secure_random,
            TicketOptions {
                lifetime: week,
                rotation: week,
                ..TicketOptions::default()
            },
        )
        .unwrap();
        let six_hours = Duration::from_secs(6 * 60 * 60);
        assert_eq!(tickets.options.lifetime, six_hours);
        assert_eq!(tickets.options.rotation, six_hours);
        assert_eq!(tickets.lifetime(), 6 * 60 * 60);
        assert!(tickets.enabled());
    }

    /// If no new key can be made, the current one stays in use.
    #[test]
    fn no_new_key() {
        let is_first = AtomicBool::new(true);
        let tickets = Tickets::over(
            move || match is_first.swap(false, Ordering::Relaxed) {
                true => rustls::crypto::ring::Ticketer::new(),
                false => Err(rustls::Error::FailedToGetRandomBytes),
            },
            rustls::crypto::ring::default_provider().secure_random,
            options(0),
        )
        .unwrap();
        assert!(tickets.rotate().is_err());
        let late = Duration::from_secs(100);
        let ticket = tickets.encrypt_at(b"session", late).unwrap();
        assert_eq!(tickets.decrypt_at(&ticket, late).unwrap(), b"session");
    }

    fn tickets(stored_bytes: usize) -> Tickets {
        Tickets::over(
            rustls::crypto::ring::Ticketer::new,
            rustls::crypto::ring::default_provider().secure_random,
            options(stored_bytes),
        )
        .unwrap()
    }

    fn options(stored_bytes: usize) -> TicketOptions {
        TicketOptions {
            lifetime: Duration::from_secs(300),
            rotation: Duration::from_secs(100),
            stored_bytes,
        }
    }
}
