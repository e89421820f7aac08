//! The places for connections: a share of them for each address, and a smaller one for handshakes.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};
use tracing::warn;

use crate::events::{Event, Observers};

#[cfg(test)]
mod tests;

/// Who may connect: how many connections there are, from where, and which of them are still in the
/// handshake.
///
/// A well-behaved client completes its handshake within milliseconds. Another one would keep its
/// place until the time limit. So a new handshake takes the place of the oldest if there is no
/// other place. Nobody takes the place of a connection past the handshake. If all places are taken
/// by such connections, new clients wait. If all places of a source are, its new ones are refused.
///
/// There is an entry for each connection in the handshake, and one for each source with a
/// connection: no more of either than connections are open.
#[derive(Debug)]
pub(crate) struct Admission {
    shares: Shares,
    table: Mutex<Table>,
    /// When a connection past the handshake ends.
    ended: Notify,
    log: Mutex<LogLimit>,
    observers: Observers,
}

/// How many there may be; each number is at least one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// Connections, those in the handshake included.
    pub(crate) connections: usize,
    /// Connections of one source.
    pub(crate) connections_per_source: usize,
    /// Connections in the handshake.
    pub(crate) handshakes: usize,
    /// Connections in the handshake of one source.
    pub(crate) handshakes_per_source: usize,
}

impl Admission {
    pub(crate) fn new(shares: Shares) -> Self {
        Self {
            shares,
            table: Mutex::default(),
            ended: Notify::new(),
            log: Mutex::default(),
            observers: Observers::default(),
        }
    }

    /// The same, which tells what it refuses.
    pub(crate) fn observed(self, observers: Observers) -> Self {
        Self { observers, ..self }
    }

    /// Admits a client that has just connected, until its handshake is complete. One of a Unix socket has no address.
    ///
    /// Only one client
    /// at a time may wait for this.
    ///
    /// Returns `None`, and logs this, if the client's source has as many connections as it may have, all
    /// of them past the handshake.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        client: impl Into<Option<IpAddr>>,
    ) -> Option<(Handshaking, PushedOut)> {
        let source = client.into().map_or(Source::UNIX, Source::of);
        loop {
            match self.try_admit(source) {
                Ok(admitted) => return Some(admitted),
                Err(NoRoom::ForNow) => self.ended.notified().await,
                Err(NoRoom::ForSource) => break,
            }
        }
        self.observers.tell(Event::Refused("address"));
        self.log(
            source,
            format_args!(
                "refused a connection: its address has as many connections as one may have, {}; if many \
                 clients share it, perhaps behind a proxy, raise --max-connections-per-address",
                self.shares.connections_per_source
            ),
        );
        None
    }

    fn try_admit(self: &Arc<Self>, source: Source) -> Result<(Handshaking, PushedOut), NoRoom> {
        let mut table = self.table();
        let oldest = self.shares.room_for(source, &table)?;
        let pushed_out = oldest.and_then(|(id, why)| Some((table.remove_handshake(id)?, why)));
        let (id, receiver) = table.add_handshake(source);
        drop(table);

        if let Some((oldest, why)) = pushed_out {
            self.observers.tell(Event::Refused(match why {
                Why::ItsAddress => "handshake_of_address",
                Why::AllAddresses => "handshake_of_all",
            }));
            self.log(
                oldest.source,
                format_args!("ended an unfinished handshake for a newer one: {why}"),
            );
            // Its task may be over by now.
            let _ = oldest.push_out.send(());
        }
        let handshaking = Handshaking {
            admission: self.clone(),
            source,
            id,
        };
        Ok((handshaking, PushedOut(receiver)))
    }

    /// Writes a line, if the last one is long enough ago.
    fn log(&self, source: Source, what: fmt::Arguments<'_>) {
        let mut limit = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let next_line = limit.next_line(Instant::now());
        drop(limit);
        if let Some(unlogged) = next_line {
            warn!(%source, unlogged, "{what}");
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics between two changes that belong together.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a client is from, for the counting of shares: an IPv4 address, even if a translator has put it into
/// an IPv6 address; or the /64 of an IPv6 address, since a subscriber can use any address of a /64.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Source(Option<IpAddr>);

impl Source {
    /// All Unix sockets. It has no share: a proxy has one connection for each of its clients.
    pub(super) const UNIX: Self = Self(None);

    pub(super) fn of(client: IpAddr) -> Self {
        // A socket for both has IPv4 addresses in IPv6's form.
        Self(Some(match client.to_canonical() {
            IpAddr::V6(ip) if ip.to_bits() >> 32 == TRANSLATED.to_bits() >> 32 => {
                Ipv4Addr::from_bits(ip.to_bits() as u32).into()
            }
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
            v4 => v4,
        }))
    }
}

/// The /96 in which translators put IPv4 addresses (RFC 6052, section 2.1).
const TRANSLATED: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(IpAddr::V4(ip)) => write!(f, "{ip}"),
            Some(IpAddr::V6(prefix)) => write!(f, "{prefix}/64"),
            None => f.write_str("unix"),
        }
    }
}

/// A connection in the handshake. Dropping it gives its place back.
#[derive(Debug)]
pub(crate) struct Handshaking {
    admission: Arc<Admission>,
    source: Source,
    id: u64,
}

impl Handshaking {
    /// The handshake is complete. `None` if another one has taken its place, and the connection
    /// is to be closed.
    pub(crate) fn complete(self) -> Option<Established> {
        let mut table = self.admission.table();
        table.remove_handshake(self.id)?;
        table.established += 1;
        table.change(self.source, |count| count.established += 1);
        drop(table);
        Some(Established {
            admission: self.admission.clone(),
            source: self.source,
        })
    }
}

impl Drop for Handshaking {
    fn drop(&mut self) {
        // There is none any more where it was completed or pushed out.
        self.admission.table().remove_handshake(self.id);
    }
}

/// A connection past the handshake. Dropping it gives its place back.
#[derive(Debug)]
pub(crate) struct Established {
    admission: Arc<Admission>,
    source: Source,
}

impl Drop for Established {
    fn drop(&mut self) {
        let mut table = self.admission.table();
        table.established -= 1;
        table.change(self.source, |count| count.established -= 1);
        drop(table);
        self.admission.ended.notify_one();
    }
}

/// Says when a handshake has lost its place.
#[derive(Debug)]
pub(crate) struct PushedOut(oneshot::Receiver<()>);

impl PushedOut {
    /// Waits until another handshake has taken the place of this one, which after
    /// [`Handshaking::complete`] never happens.
    pub(crate) async fn wait(self) {
        if self.0.await.is_err() {
            future::pending().await
        }
    }
}

impl Shares {
    /// Looks for a place for one more handshake: a free one (`None`), or the place of the handshake with
    /// the returned number.
    fn room_for(&self, source: Source, table: &Table) -> Result<Option<(u64, Why)>, NoRoom> {
        let of_source = table.count(source);
        if source != Source::UNIX
            && (of_source.handshakes + of_source.established >= self.connections_per_source
                || of_source.handshakes >= self.handshakes_per_source)
        {
            let mut handshakes = table.handshakes.iter();
            let oldest = handshakes.find(|one| one.source == source);
            let oldest = oldest.ok_or(NoRoom::ForSource)?;
            return Ok(Some((oldest.id, Why::ItsAddress)));
        }
        if table.handshakes.len() + table.established < self.connections
            && table.handshakes.len() < self.handshakes
        {
            return Ok(None);
        }
        // The oldest of the source with the most: `max_by_key` takes the last of equal ones.
        let handshakes = table.handshakes.iter().rev();
        let most = handshakes.max_by_key(|one| table.count(one.source).handshakes);
        let most = most.ok_or(NoRoom::ForNow)?;
        Ok(Some((most.id, Why::AllAddresses)))
    }
}

/// Why there is no place for one more handshake: no other handshake can give up its place.
#[derive(Debug, Eq, PartialEq)]
enum NoRoom {
    /// The source has all that it may have.
    ForSource,
    /// All sources together have all that they may have.
    ForNow,
}

/// Whose handshakes are too many.
#[derive(Clone, Copy, Debug)]
enum Why {
    ItsAddress,
    AllAddresses,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ItsAddress => "there are too many from its address",
            Self::AllAddresses => "there are too many, and its address has the most of them",
        })
    }
}

#[derive(Debug, Default)]
struct Table {
    /// The oldest one first.
    handshakes: VecDeque<Handshake>,
    /// All connections past the handshake.
    established: usize,
    /// Only sources that have connections.
    counts: HashMap<Source, Count>,
    next_id: u64,
}

#[derive(Debug)]
struct Handshake {
    id: u64,
    source: Source,
    push_out: oneshot::Sender<()>,
}

/// The connections of one source.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Count {
    handshakes: usize,
    established: usize,
}

impl Table {
    fn add_handshake(&mut self, source: Source) -> (u64, oneshot::Receiver<()>) {
        let (push_out, receiver) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        self.handshakes.push_back(Handshake {
            id,
            source,
            push_out,
        });
        self.change(source, |count| count.handshakes += 1);
        (id, receiver)
    }

    /// `None` if it isn't there any more.
    fn remove_handshake(&mut self, id: u64) -> Option<Handshake> {
        // They are in the order of their numbers.
        let at = self
            .handshakes
            .binary_search_by_key(&id, |one| one.id)
            .ok()?;
        let removed = self.handshakes.remove(at)?;
        self.change(removed.source, |count| count.handshakes -= 1);
        Some(removed)
    }

    fn count(&self, source: Source) -> Count {
        self.counts.get(&source).copied().unwrap_or_default()
    }

    fn change(&mut self, source: Source, change: impl FnOnce(&mut Count)) {
        let count = self.counts.entry(source).or_default();
        change(count);
        if *count == Count::default() {
            self.counts.remove(&source);
        }
    }
}

/// Allows a line of the log at most every ten seconds: whoever floods the server should not fill
/// the disk.
#[derive(Debug, Default)]
struct LogLimit {
    last: Option<Instant>,
    unlogged: u64,
}

impl LogLimit {
    const INTERVAL: Duration = Duration::from_secs(10);

    /// If a line may be written now, how many lines were left out since the last one.
    fn next_line(&mut self, now: Instant) -> Option<u64> {
        let is_soon = |last| now.duration_since(last) < Self::INTERVAL;
        if self.last.is_some_and(is_soon) {
            self.unlogged += 1;
            return None;
        }
        self.last = Some(now);
        Some(mem::take(&mut self.unlogged))
    }
}
