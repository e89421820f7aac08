//! Handshakes over a network that changes what is sent: the side that receives a change never completes
//! the handshake.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Edit;
use fuzz::pki::SERVER_NAME;
use fuzz::tls::{self, APPLICATION_DATA, CHANGE_CIPHER_SPEC};
use libfuzzer_sys::fuzz_target;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};
use rustls_pq::Negotiated;

fuzz_target!(|input: Input<'_>| run(&input));

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    client_groups: [u8; 2],
    /// The server's groups; all groups if this is empty.
    server_groups: &'a [u8],
    client_auth: bool,
    piece: u16,
    /// Which flight is changed (flights of both sides count), and how.
    flight: u8,
    changes: Vec<Change<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    /// An edit of one record's payload; the record's length is adapted.
    Payload {
        record: u8,
        edit: Edit<'a>,
    },
    Type {
        record: u8,
        content_type: u8,
    },
    Repeat {
        record: u8,
    },
    Remove {
        record: u8,
    },
    Swap {
        record: u8,
    },
    Bytes(Edit<'a>),
}

fn run(input: &Input<'_>) {
    let client = tls::client_config(tls::provider(&input.client_groups), input.client_auth);
    let server = tls::server_config(tls::provider(input.server_groups), input.client_auth);
    let name = ServerName::try_from(SERVER_NAME).expect("a name");
    let client = ClientConnection::new(client.into(), name).expect("a client");
    let server = ServerConnection::new(server.into()).expect("a server");
    let mut sides = [Connection::from(client), Connection::from(server)];

    let mut is_honest = true;
    // the side that received a change from which the handshake can't recover
    let mut changed = None;
    for flight in 0.. {
        let receiver = usize::from(flight % 2 == 0);
        let sent = tls::send(&mut sides[1 - receiver]);
        if sent.is_empty() && flight > 1 {
            break;
        }
        let mut arrived = sent.clone();
        let in_handshake = sides[receiver].is_handshaking();
        if flight == u32::from(input.flight % 5) && in_handshake {
            arrived = change(&sent, &input.changes);
            is_honest &= arrived == sent;
            if !begins_with(&arrived, &sent) {
                changed = Some(receiver);
            }
        }
        let piece = usize::from(input.piece) + 1;
        let result = tls::receive(&mut sides[receiver], &arrived, piece);
        if let Some(receiver) = changed {
            assert!(sides[receiver].is_handshaking());
        }
        if let Err(error) = result {
            assert!(!is_honest || !has_common_group(input));
            tls::assert_alerted(&error, &tls::send(&mut sides[receiver]));
            return;
        }
    }
    let is_complete = sides.each_ref().map(|side| !side.is_handshaking());
    if is_complete == [true; 2] {
        let [client, server] = sides.map(|side| Negotiated::of(&side).expect("a handshake"));
        assert_eq!(client.group, server.group);
        assert_eq!(client.cipher_suite, server.cipher_suite);
    } else {
        assert!(!is_honest);
    }
}

/// The bytes that arrive of a flight.
fn change(sent: &[u8], changes: &[Change<'_>]) -> Vec<u8> {
    let mut records: Vec<(u8, Vec<u8>)> = tls::records(sent)
        .into_iter()
        .map(|(content_type, payload)| (content_type, payload.to_vec()))
        .collect();
    for change in changes {
        let count = records.len();
        if count == 0 {
            break;
        }
        let place = |record: u8| usize::from(record) % count;
        match change {
            Change::Payload { record, edit } => edit.apply(&mut records[place(*record)].1),
            Change::Type {
                record,
                content_type,
            } => records[place(*record)].0 = *content_type,
            Change::Repeat { record } => {
                let again = records[place(*record)].clone();
                records.insert(place(*record), again);
            }
            Change::Remove { record } => drop(records.remove(place(*record))),
            Change::Swap { record } => records.swap(place(*record), 0),
            Change::Bytes(_) => {}
        }
    }
    let mut arrived = Vec::new();
    for (content_type, payload) in records {
        let len = u16::try_from(payload.len()).expect("records of at most 2^14 bytes and edits");
        arrived.extend([content_type, 3, 3]);
        arrived.extend(len.to_be_bytes());
        arrived.extend(payload);
    }
    for change in changes {
        if let Change::Bytes(edit) = change {
            edit.apply(&mut arrived);
        }
    }
    arrived
}

/// Whether the bytes that arrived begin with those that were sent.
fn begins_with(arrived: &[u8], sent: &[u8]) -> bool {
    let (arrived, sent) = (content(arrived), content(sent));
    let mut pairs = arrived.iter().zip(&sent);
    arrived.len() >= sent.len()
        // The type of a protected record has no meaning, and rustls 0.23 doesn't check it (its
        // pull request 3198, for 0.24, makes it).
        && pairs.all(|(a, s)| a.1 == s.1 && (a.0 == s.0 || s.0 == APPLICATION_DATA))
}

/// The records that have a meaning, by type and payload.
fn content(flight: &[u8]) -> Vec<(u8, &[u8])> {
    let mut records = tls::records(flight);
    records.retain(|(content_type, _)| *content_type != CHANGE_CIPHER_SPEC);
    records
}

fn has_common_group(input: &Input<'_>) -> bool {
    let names = |choices| {
        tls::provider(choices)
            .kx_groups
            .into_iter()
            .map(|group| group.name())
    };
    let server: Vec<_> = names(input.server_groups).collect();
    names(&input.client_groups).any(|name| server.contains(&name))
}
