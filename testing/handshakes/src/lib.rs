//! Two ends of rustls that talk through memory, in one thread; a test can change what they send.
#![forbid(unsafe_code)]

use std::io::{Read, Write};

use rustls::{Connection, Error, HandshakeKind, NamedGroup};

/// Which way bytes are going.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

/// Lets both ends talk until neither has anything more to say.
pub fn connect(client: impl Into<Connection>, server: impl Into<Connection>) -> Outcome {
    connect_through(client, server, |_, flight| flight)
}

/// Like [`connect`], but `tamper` gets each flight that either end sends, and the other end
/// receives what `tamper` returns.
pub fn connect_through(
    client: impl Into<Connection>,
    server: impl Into<Connection>,
    tamper: impl FnMut(Direction, Vec<u8>) -> Vec<u8>,
) -> Outcome {
    let mut outcome = Outcome {
        client: End::new(client),
        server: End::new(server),
    };
    exchange_through(&mut outcome.client, &mut outcome.server, tamper);
    outcome
}

/// Carries bytes both ways until neither end has any more.
pub fn exchange(client: &mut End, server: &mut End) {
    exchange_through(client, server, |_, flight| flight);
}

/// Like [`exchange`], with `tamper` as [`connect_through`] has it.
pub fn exchange_through(
    client: &mut End,
    server: &mut End,
    mut tamper: impl FnMut(Direction, Vec<u8>) -> Vec<u8>,
) {
    loop {
        let to_server = client.send();
        let is_client_silent = to_server.is_empty();
        if !is_client_silent {
            server.receive(&tamper(Direction::ToServer, to_server));
        }
        let to_client = server.send();
        let is_server_silent = to_client.is_empty();
        if !is_server_silent {
            client.receive(&tamper(Direction::ToClient, to_client));
        }
        if is_client_silent && is_server_silent {
            return;
        }
    }
}

/// The result of a connection.
#[derive(Debug)]
pub struct Outcome {
    /// The client's end.
    pub client: End,
    /// The server's end.
    pub server: End,
}

impl Outcome {
    /// Asserts that the handshake is complete and the connection carries data both
    /// ways.
    ///
    /// # Panics
    /// Otherwise.
    #[track_caller]
    pub fn assert_works(&mut self) {
        let Self { client, server } = self;
        assert_eq!((&client.error, &server.error), (&None, &None));
        assert!(!client.connection.is_handshaking());
        assert!(!server.connection.is_handshaking());

        client.say(b"question");
        exchange(client, server);
        assert_eq!(server.heard(), b"question");
        server.say(b"answer");
        exchange(client, server);
        assert_eq!(client.heard(), b"answer");
    }

    /// Asserts that both ends report this group and kind of handshake.
    ///
    /// # Panics
    /// Otherwise.
    #[track_caller]
    pub fn assert_negotiated(&self, group: NamedGroup, kind: HandshakeKind) {
        for end in [&self.client, &self.server] {
            let negotiated = end.connection.negotiated_key_exchange_group();
            assert_eq!(negotiated.map(|group| group.name()), Some(group));
            assert_eq!(end.connection.handshake_kind(), Some(kind));
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
pub struct End {
    /// rustls's state.
    pub connection: Connection,
    /// Why this end gave up, if it did.
    pub error: Option<Error>,
    /// Every byte that it sent.
    pub sent: Vec<u8>,
}

impl End {
    /// An end that has sent and received nothing yet.
    pub fn new(connection: impl Into<Connection>) -> Self {
        Self {
            connection: connection.into(),
            error: None,
            sent: Vec::new(),
        }
    }

    /// Everything that this end wants to send now.
    ///
    /// # Panics
    /// If rustls can't write to memory.
    pub fn send(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.connection.wants_write() {
            self.connection
                .write_tls(&mut flight)
                .expect("memory takes every byte");
        }
        self.sent.extend_from_slice(&flight);
        flight
    }

    /// Takes bytes of the other end. An end that gave up reads no more.
    pub fn receive(&mut self, mut flight: &[u8]) {
        while self.error.is_none() && !flight.is_empty() {
            self.error = match self.connection.read_tls(&mut flight) {
                Ok(_) => self.connection.process_new_packets().err(),
                // rustls has no room for the received bytes.
                Err(error) => Some(Error::General(error.to_string())),
            };
        }
    }

    /// Has this end send a short text, as soon as the handshake permits.
    ///
    /// # Panics
    /// If rustls does not take it.
    pub fn say(&mut self, text: &[u8]) {
        self.connection
            .writer()
            .write_all(text)
            .expect("a connection takes data");
    }

    /// The text that this end has received.
    ///
    /// # Panics
    /// If there is none.
    pub fn heard(&mut self) -> Vec<u8> {
        let mut text = vec![0; 64];
        let len = self
            .connection
            .reader()
            .read(&mut text)
            .expect("data has arrived");
        text.truncate(len);
        text
    }
}
