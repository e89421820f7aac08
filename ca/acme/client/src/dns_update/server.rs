//! A name server that is asked, and told.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Instant, SystemTime};

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, RecordType};

use super::error::DnsUpdateError;
use super::key::TsigKey;
use super::message::{Signed, added, read, removed, servers_query, soa_query, texts_query, verify};

/// How long one question to a server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long records may take to be at all servers of a zone.
const SPREADING: Duration = Duration::from_secs(60);
/// Where name servers listen.
const DNS_PORT: u16 = 53;
/// How many servers of a zone are waited for.
const MAX_SERVERS: usize = 16;
/// How often these are asked.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// A name server that lets the holder of a key change its zones.
#[derive(Clone, Debug)]
pub struct DnsUpdate {
    server: SocketAddr,
    key: Arc<TsigKey>,
    patience: Duration,
}

impl DnsUpdate {
    /// The server at this address, with a key.
    pub fn new(server: SocketAddr, key: TsigKey) -> Self {
        Self {
            server,
            key: Arc::new(key),
            patience: PATIENCE,
        }
    }

    /// The server's address.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Adds a TXT record beside those that are there. It blocks, for at most 40 seconds.
    ///
    /// # Errors
    ///
    /// If the server does not confirm it. It may have the record nevertheless, after [`DnsUpdateError::Network`],
    /// [`Answer`](DnsUpdateError::Answer) and [`NotSigned`](DnsUpdateError::NotSigned).
    pub fn add(&self, name: &str, text: &str) -> Result<(), DnsUpdateError> {
        let name = parsed(name)?;
        let zone = self.zone_of(&name)?;
        self.change(added(name, &zone, text))
    }

    /// Removes such a record, if it is there. It blocks, for at most 40 seconds.
    ///
    /// # Errors
    ///
    /// If the server does not confirm it.
    pub fn remove(&self, name: &str, text: &str) -> Result<(), DnsUpdateError> {
        let name = parsed(name)?;
        let zone = self.zone_of(&name)?;
        self.change(removed(name, &zone, text))
    }

    /// Waits until all servers of the zone have a record: they get it from the one that was changed. It blocks, for about a
    /// minute at most. What can't be asked, or doesn't have it then, is in the log: perhaps whoever is to see the record asks
    /// others.
    ///
    /// # Errors
    ///
    /// If the server itself doesn't say which they are.
    pub fn wait_for_all(&self, name: &str, text: &str) -> Result<(), DnsUpdateError> {
        let name = parsed(name)?;
        let zone = self.zone_of(&name)?;
        let named = self.exchange(self.server, &servers_query(&zone)?)?;
        let until = Instant::now() + SPREADING;
        for one in named.answers.iter().take(MAX_SERVERS) {
            let RData::NS(server) = &one.data else {
                continue;
            };
            let server = server.0.to_ascii();
            let addresses = (server.trim_end_matches('.'), DNS_PORT).to_socket_addrs();
            let addresses: Vec<_> = addresses.into_iter().flatten().collect();
            if addresses.is_empty() {
                tracing::warn!(
                    server,
                    "a name server of the zone has no address, and is not waited for"
                );
            }
            for address in addresses {
                if Instant::now() >= until {
                    tracing::warn!(%address, server, "there is no time left to wait for a name server");
                    continue;
                }
                match self.has_until(address, &name, text, until) {
                    Ok(true) => {}
                    Ok(false) => {
                        tracing::warn!(%address, server, "a name server does not have the record yet")
                    }
                    Err(error) => {
                        tracing::warn!(%address, server, %error, "a name server is not waited for")
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a server has a record by this time.
    fn has_until(
        &self,
        server: SocketAddr,
        name: &Name,
        text: &str,
        until: Instant,
    ) -> Result<bool, DnsUpdateError> {
        loop {
            let answer = self.exchange(server, &texts_query(name)?)?;
            let has = answer.answers.iter().any(|one| match &one.data {
                RData::TXT(texts) => texts.txt_data.concat() == text.as_bytes(),
                _ => false,
            });
            if has || Instant::now() >= until {
                return Ok(has);
            }
            thread::sleep(ASK_AGAIN);
        }
    }

    /// The zone that has a name: the server says whose start of authority is nearest.
    fn zone_of(&self, name: &Name) -> Result<Name, DnsUpdateError> {
        let mut at = name.clone();
        let until = Instant::now() + 2 * self.patience;
        while !at.is_root() {
            if Instant::now() >= until {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            let answer = self.exchange(self.server, &soa_query(&at)?)?;
            match answer.response_code {
                ResponseCode::NoError | ResponseCode::NXDomain => {}
                // Of a name that it has no zone for.
                ResponseCode::Refused | ResponseCode::NotAuth | ResponseCode::ServFail => {}
                code => return Err(DnsUpdateError::Refused { code }),
            }
            let starts = answer.answers.iter().chain(&answer.authorities);
            let zone = starts
                .filter(|one| one.record_type() == RecordType::SOA && one.dns_class == DNSClass::IN)
                .map(|one| &one.name)
                .find(|zone| zone.zone_of(name) && !zone.is_root());
            if let (Some(zone), true) = (zone, answer.authoritative) {
                return Ok(zone.clone());
            }
            at = at.base_name();
        }
        Err(DnsUpdateError::NoZone(name.to_ascii()))
    }

    fn change(&self, message: Message) -> Result<(), DnsUpdateError> {
        let Signed { bytes, mac } = Signed::new(message, &self.key, now())?;
        let answer = self.exchange_bytes(self.server, &bytes)?;
        verify(&answer, &bytes, &mac, &self.key, now())
    }

    /// Asks a server over TCP.
    fn exchange(&self, server: SocketAddr, question: &[u8]) -> Result<Message, DnsUpdateError> {
        let answer = self.exchange_bytes(server, question)?;
        read(&answer, question)
    }

    /// The bytes of the answer.
    fn exchange_bytes(
        &self,
        server: SocketAddr,
        question: &[u8],
    ) -> Result<Vec<u8>, DnsUpdateError> {
        let until = Instant::now() + self.patience;
        let left = || {
            let left = until.saturating_duration_since(Instant::now());
            match left.is_zero() {
                false => Ok(left),
                true => Err(io::Error::from(io::ErrorKind::TimedOut)),
            }
        };
        let mut stream = TcpStream::connect_timeout(&server, self.patience)?;
        let len = u16::try_from(question.len()).map_err(|_| DnsUpdateError::Answer("too long"))?;
        stream.set_write_timeout(Some(left()?))?;
        stream.write_all(&[&len.to_be_bytes()[..], question].concat())?;
        let mut answer = Vec::new();
        let mut wanted = 2;
        while answer.len() < wanted {
            stream.set_read_timeout(Some(left()?))?;
            let mut some = [0; 4096];
            let room = some.len().min(wanted - answer.len());
            let read = match stream.read(&mut some[..room]) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            answer.extend_from_slice(&some[..read]);
            if let (2, [high, low, ..]) = (wanted, &answer[..]) {
                wanted = 2 + usize::from(u16::from_be_bytes([*high, *low]));
            }
        }
        Ok(answer.split_off(2))
    }
}

fn parsed(name: &str) -> Result<Name, DnsUpdateError> {
    let mut parsed = Name::from_ascii(name).map_err(|_| DnsUpdateError::Name(name.into()))?;
    parsed.set_fqdn(true);
    Ok(parsed)
}

/// In seconds. A clock that is before 1970 is no better than one at that time.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
