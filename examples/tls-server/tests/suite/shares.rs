//! What the log says of clients at several addresses: on Linux, a machine has a whole network of its own (127.0.0.0/8).

use std::net::Ipv4Addr;

use crate::client::until_closed;
use crate::program::Program;

/// The log tells who was refused and why, and not fifty times.
#[tokio::test]
async fn logs_who_was_refused() {
    let program = Program::start(&["--max-connections-per-address", "1"]);
    let client = program.client().from(address(2));
    let _kept = client.settle().await.unwrap();
    for _ in 0..50 {
        client.connect().await.unwrap_err();
    }
    let (_, log, _) = program.stop("INT");
    let lines: Vec<_> = log.lines().filter(|line| line.contains("WARN")).collect();
    let [line] = lines[..] else {
        panic!("{log}");
    };
    assert!(
        line.contains("its address has as many connections as one may have, 1; ")
            && line.contains("raise --max-connections-per-address source=127.0.0.2 "),
        "{line}"
    );
}

#[tokio::test]
async fn logs_whose_handshake_made_way() {
    let program = Program::start(&["--max-handshakes-per-address", "1"]);
    let silent = program.client().from(address(2));
    let first = silent.tcp().await.unwrap();
    let _second = silent.tcp().await.unwrap();
    assert_eq!(until_closed(first).await, b"");
    let (_, log, _) = program.stop("INT");
    assert!(
        log.contains(
            "ended an unfinished handshake for a newer one: there are too many from its address \
             source=127.0.0.2 "
        ),
        "{log}"
    );
}

fn address(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, host)
}
