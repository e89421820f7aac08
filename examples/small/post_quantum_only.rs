//! A server that accepts no classical key exchange, a client that has a post-quantum one, and a client that has none.
#![forbid(unsafe_code)]

use core::error::Error;

use pq_serving::client::{Request, Trust, fetch};
use pq_serving::demonstration::Pki;
use pq_serving::{Identity, Limits, Server, Tls, provider};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Group, Profile};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue(&["localhost".try_into()?])?;
    let provider = provider(Profile::RequirePq, &[])?;
    let identity = Identity::try_from(&pki.server)?.check(&provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let tls = Tls::with(provider, identities.into(), None)?;
    let server = Server::bind("127.0.0.1:0", tls, Limits::default()).await?;
    let url = format!("https://localhost:{}/", server.local_addr().port());

    for group in [Group::X25519MLKEM768, Group::X25519] {
        let trust = Trust::only(pki.root.clone(), "this process");
        let request = Request::new(url.parse()?, trust);
        let fetched = fetch(Request {
            address: Some(server.local_addr()),
            groups: vec![group],
            ..request
        });
        match fetched.await {
            Ok(report) => println!("with {group}: {}", report.summary.group),
            Err(error) => println!("with {group}: {error}"),
        }
    }
    server.shutdown().await;
    Ok(())
}
