//! What the client does without a URL: it issues certificates, runs a server in this process, and fetches its
//! page.

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use pq_serving::client::{self, Report, Request, Target, Trust, server_name};
use pq_serving::demonstration::{Client, Pki, algorithm_of};
use pq_serving::{Identity, Limits, Server, Tls, provider};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Group, Profile};

use crate::USER_AGENT;

/// Starts a server in this process, with fresh certificates, and talks to it over TCP.
pub(crate) async fn run(
    profile: Profile,
    groups: Vec<Group>,
    timeout: Duration,
) -> Result<(String, Report), Box<dyn Error>> {
    let algorithm = algorithm_of(profile);
    let pki = Pki::issue_of(algorithm, &[server_name("localhost")?], Client::None)
        .map_err(|error| format!("no certificates for a server of our own: {error}"))?;
    let provider = provider(profile, &groups)?;
    let identity = Identity::try_from(&pki.server)?.check(&provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let tls = Tls::with(provider, identities.into(), None)?;
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, Limits::default())
        .await
        .map_err(|error| {
            format!("a server of our own can't listen on the loopback address: {error}")
        })?;

    let address = server.local_addr();
    let target: Target = format!("https://localhost:{}/", address.port()).parse()?;
    let trust = Trust::only(pki.root, "this process");
    let report = client::fetch(Request {
        address: Some(address),
        profile,
        groups,
        timeout,
        user_agent: USER_AGENT,
        ..Request::new(target, trust)
    })
    .await;

    server.shutdown().await;
    let introduction =
        format!("A server of our own, in this process, with a fresh {algorithm} root and leaf");
    Ok((introduction, report?))
}
