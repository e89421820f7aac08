//! Tickets by real keys, alone and in handshakes that resume sessions: each stands for the session for which it
//! was made, and a ticket that was changed, used up or made by others stands for nothing.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use fuzz::Edit;
use fuzz::pki::SERVER_NAME;
use fuzz::tls;
use libfuzzer_sys::fuzz_target;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::server::{NoServerSessionStorage, ProducesTickets};
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Negotiated, OfferReader, ServerHandshake, SmallHello, TicketOptions, Tickets};

fuzz_target!(|input: Input<'_>| match input {
    Input::Alone(alone) => check_alone(&alone),
    Input::InHandshakes(handshakes) => handshakes.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Alone(Alone<'a>),
    InHandshakes(InHandshakes<'a>),
}

#[derive(Arbitrary, Debug)]
struct Alone<'a> {
    /// Whether the base's own tickets encrypt the session, or else a cipher suite does.
    by_base: bool,
    session: &'a [u8],
    /// The length to which the session is repeated.
    len: u16,
    rotations: u8,
    edits: Vec<Edit<'a>>,
}

/// Room for a session with its date: for many of the lengths that a `u16` can have, but not for the longest.
const STORED: usize = 1 << 15;

fn tickets(by_base: bool) -> Tickets {
    let options = TicketOptions::default().with_stored_bytes(STORED);
    match by_base {
        true => Tickets::with_options(options),
        false => Tickets::for_provider(&tls::PROVIDER, options),
    }
    .expect("randomness")
}

fn check_alone(input: &Alone<'_>) {
    let [ours, others] = [tickets(input.by_base), tickets(!input.by_base)];
    let session: Vec<u8> = (input.session.iter().copied().cycle())
        .take(input.len.into())
        .collect();
    let Some(ticket) = ours.encrypt(&session) else {
        assert!(session.len() > STORED - 8);
        return;
    };
    let is_stored = session.len() > Tickets::MAX_STATELESS_LEN;
    for _ in 0..input.rotations % 8 {
        ours.rotate().expect("randomness");
    }
    let mut changed = ticket.clone();
    for edit in &input.edits {
        edit.apply(&mut changed);
    }
    if changed != ticket {
        assert_eq!(ours.decrypt(&changed), None);
    }
    assert_eq!(others.decrypt(&ticket), None);
    assert_eq!(ours.decrypt(&ticket).as_ref(), Some(&session));
    assert_eq!(ours.decrypt(&ticket).is_some(), !is_stored);
}

#[derive(Arbitrary, Debug)]
struct InHandshakes<'a> {
    by_base: bool,
    client_auth: bool,
    small_hello: bool,
    /// Rotations of the keys before the second handshake.
    rotations: u8,
    /// Another server, with tickets of its own, answers the second handshake.
    other_server: bool,
    /// Changes to the second ClientHello on its way.
    edits: Vec<Edit<'a>>,
}

impl InHandshakes<'_> {
    fn check(&self) {
        let first = tickets(self.by_base);
        let mut client = tls::client_config(tls::provider(&[]), self.client_auth);
        client.resumption = match self.small_hello {
            true => SmallHello::new().into(),
            false => Resumption::in_memory_sessions(2),
        };
        let client = Arc::new(client);
        let first = Arc::new(first);
        let server = server(self.client_auth, &first);
        let [one, other] = connect(&client, &server, &[]).expect("an honest handshake");
        assert!(!one.is_resumed() && !other.is_resumed());

        for _ in 0..self.rotations % 8 {
            first.rotate().expect("randomness");
        }
        let server = match self.other_server {
            true => self::server(self.client_auth, &Arc::new(tickets(self.by_base))),
            false => server,
        };
        match connect(&client, &server, &self.edits) {
            Some(sides) => {
                for side in sides {
                    assert_eq!(side.is_resumed(), !self.other_server);
                    assert!(side.has_pq_key_exchange() || self.small_hello);
                }
            }
            None => assert!(!self.edits.is_empty()),
        }
    }
}

fn server(client_auth: bool, tickets: &Arc<Tickets>) -> ServerConfig {
    let mut server = tls::server_config(tls::provider(&[]), client_auth);
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.ticketer = Arc::clone(tickets) as _;
    server
}

static IDENTITIES: LazyLock<Identities> = LazyLock::new(|| {
    let identity = tls::try_server_identity(&tls::PROVIDER).expect("a pair");
    Identities::new(IdentitySet::new().with_default(identity))
});

/// What either side says about a handshake in whose first flight `edits` change something; `None` if it was never
/// completed.
fn connect(
    client: &Arc<ClientConfig>,
    server: &ServerConfig,
    edits: &[Edit<'_>],
) -> Option<[Negotiated; 2]> {
    let name = ServerName::try_from(SERVER_NAME).expect("a name");
    let client = ClientConnection::new(Arc::clone(client), name).expect("a client");
    let mut client = Connection::from(client);
    let mut sent = tls::send(&mut client);
    let honest = sent.clone();
    for edit in edits {
        edit.apply(&mut sent);
    }
    let offer = OfferReader::new().read(&sent).ok().flatten()?;
    let handshake = ServerHandshake::begin(offer, &IDENTITIES, server);
    let server = ServerConnection::new(handshake.config()).expect("a server");
    let mut server = Connection::from(server);
    let mut result = tls::receive(&mut server, &sent, usize::MAX);
    for _ in 0..3 {
        if let Err(error) = &result {
            assert!(sent != honest);
            assert!(!handshake.refusal(error).to_string().is_empty());
            return None;
        }
        result = tls::receive(&mut client, &tls::send(&mut server), usize::MAX)
            .and_then(|()| tls::receive(&mut server, &tls::send(&mut client), usize::MAX));
    }
    if client.is_handshaking() || server.is_handshaking() {
        assert!(sent != honest);
        return None;
    }
    let Connection::Server(accepted) = &server else {
        unreachable!("it was made as a server");
    };
    let of_server = handshake.negotiated(accepted).expect("a handshake");
    Some([Negotiated::of(&client).expect("a handshake"), of_server])
}
