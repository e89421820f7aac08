//! A name server for tests, by UDP and TCP.

use alloc::sync::Arc;
use core::net::SocketAddr;
use std::sync::Mutex;

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, TXT};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// What the server does with questions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Manner {
    Answer,
    Fail,
    /// Fails where it is asked for this kind.
    FailFor(RecordType),
    Silence,
}

#[derive(Debug)]
struct Zone {
    manner: Manner,
    records: Vec<Record>,
}

#[derive(Debug)]
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
}

/// What goes into one datagram.
const SHORT: usize = 1200;

impl NameServer {
    pub(crate) async fn start() -> Self {
        let zone = Arc::new(Mutex::new(Zone {
            manner: Manner::Answer,
            records: Vec::new(),
        }));
        // Both need the same port, which somebody else may have for the one or the other.
        let (tcp, udp) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
                break (tcp, udp);
            }
        };
        let address = tcp.local_addr().unwrap();
        tokio::spawn(by_udp(udp, zone.clone()));
        tokio::spawn(by_tcp(tcp, zone.clone()));
        Self { address, zone }
    }

    pub(crate) fn manner(&self, manner: Manner) {
        self.zone.lock().unwrap().manner = manner;
    }

    pub(crate) fn address(&self, name: &str, address: &str) {
        self.record(
            name,
            match address.parse().unwrap() {
                core::net::IpAddr::V4(address) => RData::A(A(address)),
                core::net::IpAddr::V6(address) => RData::AAAA(AAAA(address)),
            },
        );
    }

    pub(crate) fn text(&self, name: &str, parts: &[&str]) {
        let parts = parts.iter().map(ToString::to_string).collect();
        self.record(name, RData::TXT(TXT::new(parts)));
    }

    pub(crate) fn alias(&self, name: &str, of: &str) {
        self.record(name, RData::CNAME(CNAME(absolute(of))));
    }

    fn record(&self, name: &str, data: RData) {
        let record = Record::from_rdata(absolute(name), 60, data);
        self.zone.lock().unwrap().records.push(record);
    }
}

fn absolute(name: &str) -> Name {
    Name::from_ascii(format!("{name}.")).unwrap()
}

async fn by_udp(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut bytes = [0; 4096];
    while let Ok((len, from)) = socket.recv_from(&mut bytes).await {
        if let Some(answer) = answer(&bytes[..len], &zone, true) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

async fn by_tcp(listener: TcpListener, zone: Arc<Mutex<Zone>>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let zone = zone.clone();
        tokio::spawn(async move {
            while let Ok(len) = stream.read_u16().await {
                let mut bytes = vec![0; len.into()];
                if stream.read_exact(&mut bytes).await.is_err() {
                    return;
                }
                if let Some(answer) = answer(&bytes, &zone, false) {
                    let len = u16::try_from(answer.len()).unwrap();
                    let _ = stream.write_all(&len.to_be_bytes()).await;
                    let _ = stream.write_all(&answer).await;
                }
            }
        });
    }
}

fn answer(question: &[u8], zone: &Mutex<Zone>, is_datagram: bool) -> Option<Vec<u8>> {
    let zone = zone.lock().unwrap();
    let asked = Message::from_vec(question).ok()?;
    let mut answer = asked.clone();
    answer.metadata.message_type = MessageType::Response;
    answer.metadata.recursion_available = true;
    match zone.manner {
        Manner::Silence => return None,
        Manner::Fail => answer.metadata.response_code = ResponseCode::ServFail,
        Manner::FailFor(kind) if asked.queries.first()?.query_type() == kind => {
            answer.metadata.response_code = ResponseCode::ServFail;
        }
        Manner::FailFor(_) | Manner::Answer => {
            let query = asked.queries.first()?;
            let mut name = query.name().clone();
            let mut exists = false;
            // As a resolver does, it follows aliases, but not for ever.
            for _ in 0..20 {
                let here = || zone.records.iter().filter(|one| one.name == name);
                exists |= here().next().is_some();
                let of_kind = here().filter(|one| one.record_type() == query.query_type());
                answer.add_answers(of_kind.cloned());
                let alias = here().find(|one| one.record_type() == RecordType::CNAME);
                let Some(alias) = alias.cloned() else { break };
                if let RData::CNAME(of) = &alias.data {
                    name = of.0.clone();
                }
                answer.add_answers([alias]);
            }
            if !exists {
                answer.metadata.response_code = ResponseCode::NXDomain;
            }
        }
    }
    let bytes = answer.to_vec().ok()?;
    if is_datagram && bytes.len() > SHORT {
        let mut short = asked;
        short.metadata.message_type = MessageType::Response;
        short.metadata.truncation = true;
        return short.to_vec().ok();
    }
    Some(bytes)
}
