//! What the client does without a URL: it issues certificates, runs a `tls-server` in this process, and fetches its
//! page.

use std::net::Ipv4Addr;
use std::time::Duration;

use pq_x509::SignatureAlgorithm;
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Group, Profile};
use tls_server::{Client, Identity, Limits, Pki, Server, Tls, provider};

use crate::connection::{self, Request};
use crate::failure::Failure;
use crate::report::Report;
use crate::target::{Target, server_name};
use crate::trust::Trust;

/// Starts a server in this process, with fresh certificates, and talks to it over TCP.
pub(crate) async fn run(
    profile: Profile,
    groups: Vec<Group>,
    timeout: Duration,
) -> Result<Report, Failure> {
    let (algorithm, introduction) = match profile {
        Profile::Cnsa2 => (
            SignatureAlgorithm::MlDsa87,
            "A server of our own, in this process, with a fresh ML-DSA-87 root and leaf",
        ),
        _ => (
            SignatureAlgorithm::MlDsa65,
            "A server of our own, in this process, with a fresh ML-DSA-65 root and leaf",
        ),
    };
    let pki = Pki::issue_of(algorithm, &[server_name("localhost")?], Client::None)
        .map_err(Failure::Pki)?;
    let provider = provider(profile, &groups)?;
    let identity = Identity::try_from(&pki.server)?.check(&provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let tls = Tls::with(provider, identities.into(), None)?;
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
        revocation: None,
        require_ocsp: false,
        mixed_chains: false,
        profile,
        groups,
        client: None,
        timeout,
    })
    .await;

    server.shutdown().await;
    report.map(|report| Report {
        introduction: Some(introduction),
        ..report
    })
}
