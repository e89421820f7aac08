//! A man in the middle of a TCP connection.

use alloc::sync::Arc;
use core::net::{Ipv4Addr, SocketAddr};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use handshakes::Direction;

use crate::openssl::TIME_LIMIT;

/// Passes one connection on to `upstream`, and replaces the first record in each direction
/// (its header included) with the result of `rewrite`. Returns the address to
/// connect to.
///
/// # Panics
/// If no port is free.
pub fn start(
    upstream: SocketAddr,
    rewrite: impl Fn(Direction, Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let rewrite = Arc::new(rewrite);
    // The two ends have to notice errors: the test asks them.
    thread::spawn(move || -> io::Result<()> {
        let (client, _) = listener.accept()?;
        let server = TcpStream::connect(upstream)?;
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(TIME_LIMIT))?;
            socket.set_write_timeout(Some(TIME_LIMIT))?;
        }
        for (direction, from, to) in [
            (
                Direction::ToServer,
                client.try_clone()?,
                server.try_clone()?,
            ),
            (Direction::ToClient, server, client),
        ] {
            let rewrite = Arc::clone(&rewrite);
            thread::spawn(move || pass_on(from, to, |record| rewrite(direction, record)));
        }
        Ok(())
    });
    address
}

fn pass_on(
    mut from: TcpStream,
    mut to: TcpStream,
    rewrite: impl FnOnce(Vec<u8>) -> Vec<u8>,
) -> io::Result<()> {
    let passed = pass_bytes(&mut from, &mut to, rewrite);
    // However the copying ended: the other direction keeps this socket open.
    to.shutdown(Shutdown::Write)?;
    passed
}

fn pass_bytes(
    from: &mut TcpStream,
    to: &mut TcpStream,
    rewrite: impl FnOnce(Vec<u8>) -> Vec<u8>,
) -> io::Result<()> {
    let mut record = vec![0; HEADER_LEN];
    from.read_exact(&mut record)?;
    let len = u16::from_be_bytes([record[3], record[4]]);
    record.resize(HEADER_LEN + usize::from(len), 0);
    from.read_exact(&mut record[HEADER_LEN..])?;

    to.write_all(&rewrite(record))?;
    io::copy(from, to).map(|_| ())
}

/// Type, version and length (RFC 8446, section 5.1).
const HEADER_LEN: usize = 5;
