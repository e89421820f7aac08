//! The port for those who watch the program.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::client::PATIENCE;
use crate::program::Program;

#[tokio::test]
async fn is_watched_over_plain_http() {
    let mut program = Program::start(&["--metrics", "127.0.0.1:0"]);
    let port = port_of(&mut program);
    program.client().page().await.unwrap();
    assert!(get(port, "/health").ends_with("\r\n\r\nready\n"));
    let metrics = get(port, "/metrics");
    for line in [
        "pq_serving_handshakes_total{version=\"TLS 1.3\",group=\"X25519MLKEM768\",resumed=\"false\"} 1\n",
        "pq_serving_requests_total{version=\"1.1\",status=\"2xx\"} 1\n",
        "pq_serving_certificate_expiry_timestamp_seconds{chain=\"0\"} ",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    // There are no revocation lists.
    assert!(!metrics.contains("issued_timestamp_seconds{"), "{metrics}");
    let (_, log, code) = program.stop("TERM");
    assert_eq!(code, Some(0), "{log}");
}

/// The address of the port.
pub(crate) fn port_of(program: &mut Program) -> SocketAddr {
    let line = program.line_with("/metrics");
    let address = line
        .trim_end_matches(".\n")
        .split(' ')
        .find_map(|part| part.parse().ok());
    address.unwrap_or_else(|| panic!("no address: {line}"))
}

pub(crate) fn get(port: SocketAddr, path: &str) -> String {
    let mut tcp = TcpStream::connect(port).unwrap();
    tcp.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(tcp, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).unwrap();
    answer
}
