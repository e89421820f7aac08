use std::net::Ipv4Addr;
use std::time::Duration;

use rustls_pq::Group;
use tls_server::{Identity, Limits, Pki, Server, Tls};

use crate::connection::{self, Request};
use crate::failure::Failure;
use crate::report::Report;
use crate::target::{Target, server_name};
use crate::trust::Trust;

/// Starts a server in this process, with fresh certificates, and talks to it over TCP.
pub(crate) async fn run(groups: Vec<Group>, timeout: Duration) -> Result<Report, Failure> {
    let pki = Pki::issue(&[server_name("localhost")?])?;
    let tls = Tls::new(Identity::try_from(&pki.server)?, &groups, None)?;
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, Limits::default())
        .await
        .map_err(Failure::Listen)?;

    let address = server.local_addr();
    let target: Target = format!("https://localhost:{}/", address.port()).parse()?;
    let report = connection::fetch(Request {
        target,
        address: Some(address),
        server_name: None,
        trust: Trust::only(pki.root, "this process"),
        groups,
        client: None,
        timeout,
    })
    .await;

    server.shutdown().await;
    report.map(|report| Report {
        introduction: Some(
            "A server of our own, in this process, with a fresh ML-DSA-65 root and leaf",
        ),
        ..report
    })
}
