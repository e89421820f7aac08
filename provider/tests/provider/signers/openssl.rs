//! What OpenSSL's client says of the alert.

use core::net::Ipv4Addr;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::process::{Command, Stdio};
use std::thread;

use pq_x509::keys::SignError;
use rustls::server::Acceptor;
use rustls_pq::{Offer, ServerHandshake};
use testing::skipped::cannot_run;

use super::{Acting, PATIENCE, World, identities, server_over};
use crate::peers::{Ecdsa, any_base};

#[test]
fn s_client_is_told_in_both_versions() {
    if Command::new("openssl").arg("version").output().is_err() {
        return cannot_run("there is no openssl in PATH");
    }
    let world = World::new();
    let failing = Acting::new(|_: &Ecdsa, _: &[u8]| Err(SignError::transient("on holiday")));
    let identities = identities(world.identity(failing));
    let config = server_over(identities.clone(), any_base());
    for version in ["-tls1_3", "-tls1_2"] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = thread::spawn(move || {
            let client = Command::new("openssl")
                .args(["s_client", version, "-connect"])
                .arg(format!("127.0.0.1:{port}"))
                .stdin(Stdio::null())
                .output();
            let output = client.unwrap();
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        });
        let (mut tcp, _) = listener.accept().unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut acceptor = Acceptor::default();
        let accepted = loop {
            acceptor.read_tls(&mut tcp).unwrap();
            if let Some(accepted) = acceptor.accept().map_err(|(error, _)| error).unwrap() {
                break accepted;
            }
        };
        let offer = Offer::of(&accepted.client_hello());
        let handshake = ServerHandshake::begin(offer, &identities, &config);
        let (error, mut alert) = accepted.into_connection(handshake.config()).unwrap_err();
        alert.write_all(&mut tcp).unwrap();
        tcp.write_all(&handshake.alert_for(&error).unwrap())
            .unwrap();
        tcp.shutdown(Shutdown::Write).unwrap();
        // So that the connection isn't reset before the client has read the alert. It may close first.
        let _ = tcp.read_to_end(&mut Vec::new());
        let output = client.join().unwrap();
        assert!(
            output.to_lowercase().contains("alert number 80"),
            "{output}"
        );
    }
}
