//! OpenSSL as the client.

use core::time::Duration;
use std::io;
use std::path::Path;
use std::process::Command;

use super::server::Server;
use super::setup::{OPENSSL_CONF, ROOT, Setup};
use crate::machine::cores::Core;
use crate::machine::process::Process;

/// The CPU time of `openssl s_time` for a handshake with the server, over some seconds, including its
/// own start.
///
/// It verifies the chain but ignores the result, and checks no name. Only its configuration can choose
/// the key exchange.
pub(super) fn s_time(
    program: &Path,
    setup: &Setup,
    server: &Server,
    core: Core,
) -> io::Result<Duration> {
    let mut command = Command::new(program);
    command
        .current_dir(setup.folder())
        .env("OPENSSL_CONF", setup.folder().join(OPENSSL_CONF))
        .args(["s_time", "-connect", &server.address.to_string()])
        .args(["-new", "-time", "1", "-CAfile", ROOT]);
    let process = Process::start(&mut command, core, setup.folder())?;
    let (time, output) = process.finish()?;
    match connections(&output) {
        Some(connections @ 1..) => Ok(time / connections),
        _ => Err(io::Error::other(format!("s_time didn't connect: {output}"))),
    }
}

/// Reads the second summary, which is for wall-clock time.
fn connections(output: &str) -> Option<u32> {
    output
        .lines()
        .find(|line| line.contains(" real seconds, "))?
        .split(' ')
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_read() {
        let output = "Collecting connection statistics for 1 seconds\nttt\n\n\
                      3 connections in 0.51s; 5.88 connections/user sec, bytes read 0\n\
                      3 connections in 2 real seconds, 0 bytes read per connection\n";
        assert_eq!(connections(output), Some(3));
        assert_eq!(connections("error\n"), None);
    }
}
