//! Two rustls endpoints that talk through memory; a test can change what they
//! send.

use rustls::{AlertDescription, Connection, Error, HandshakeKind, NamedGroup};
use std::io::{Read, Write};

use crate::wire;

/// Which way bytes are going.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

/// The result of a connection.
#[derive(Debug)]
pub struct Outcome {
    /// The client's end.
    pub client: End,
    /// The server's end.
    pub server: End,
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

/// Lets both ends talk until neither has anything more to say.
pub fn connect(client: impl Into<Connection>, server: impl Into<Connection>) -> Outcome {
    connect_through(client, server, |_, flight| flight)
}

/// Like [`connect`], but `tamper` gets each flight that either end sends, and the other end
/// receives what `tamper` returns.
pub fn connect_through(
    client: impl Into<Connection>,
    server: impl Into<Connection>,
    mut tamper: impl FnMut(Direction, Vec<u8>) -> Vec<u8>,
) -> Outcome {
    let mut outcome = Outcome {
        client: End::new(client.into()),
        server: End::new(server.into()),
    };
    outcome.talk(&mut tamper);
    outcome
}

impl Outcome {
    /// Asserts that the handshake is complete and the connection carries data both
    /// ways.
    ///
    /// # Panics
    /// Otherwise.
    #[track_caller]
    pub fn assert_works(&mut self) {
        assert_eq!((&self.client.error, &self.server.error), (&None, &None));
        assert!(!self.client.connection.is_handshaking());
        assert!(!self.server.connection.is_handshaking());

        self.client.write(b"question");
        self.talk(&mut |_, flight| flight);
        assert_eq!(self.server.read(), b"question");
        self.server.write(b"answer");
        self.talk(&mut |_, flight| flight);
        assert_eq!(self.client.read(), b"answer");
    }

    /// Asserts that both ends report this group and kind of handshake.
    ///
    /// # Panics
    /// Otherwise.
    #[track_caller]
    pub fn assert_negotiated(&self, group: NamedGroup, kind: HandshakeKind) {
        for end in [&self.client, &self.server] {
            let negotiated = end
                .connection
                .negotiated_key_exchange_group()
                .map(|group| group.name());
            assert_eq!(negotiated, Some(group));
            assert_eq!(end.connection.handshake_kind(), Some(kind));
        }
    }

    fn talk(&mut self, tamper: &mut dyn FnMut(Direction, Vec<u8>) -> Vec<u8>) {
        loop {
            let to_server = self.client.flight();
            let to_client = self.server.flight();
            if to_server.is_empty() && to_client.is_empty() {
                return;
            }
            if !to_server.is_empty() {
                self.server.receive(&tamper(Direction::ToServer, to_server));
            }
            if !to_client.is_empty() {
                self.client.receive(&tamper(Direction::ToClient, to_client));
            }
        }
    }
}

impl End {
    fn new(connection: Connection) -> Self {
        Self {
            connection,
            error: None,
            sent: Vec::new(),
        }
    }

    /// The alert that this end sent last, in the clear.
    pub fn plain_alert(&self) -> Option<AlertDescription> {
        wire::last_alert(&self.sent)
    }

    /// Everything that this end wants to send now.
    fn flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.connection.wants_write() {
            self.connection
                .write_tls(&mut flight)
                .expect("memory takes every byte");
        }
        self.sent.extend_from_slice(&flight);
        flight
    }

    fn receive(&mut self, mut flight: &[u8]) {
        // An end that gave up reads no more.
        while self.error.is_none() && !flight.is_empty() {
            self.connection
                .read_tls(&mut flight)
                .expect("the buffer of a connection has room after processing");
            self.error = self.connection.process_new_packets().err();
        }
    }

    fn write(&mut self, data: &[u8]) {
        self.connection
            .writer()
            .write_all(data)
            .expect("a connection takes data");
    }

    fn read(&mut self) -> Vec<u8> {
        let mut data = vec![0; 64];
        let len = self
            .connection
            .reader()
            .read(&mut data)
            .expect("data has arrived");
        data.truncate(len);
        data
    }
}
