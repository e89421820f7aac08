//! Certificates that are replaced while clients connect.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pq_serving::demonstration::Issued;
use pq_serving::{Identity, Limits, Server, Tls, provider};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, IdentitySet};
use serde_json::Value;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, read_answer};

/// The server says what it has signed with, even if certificates are replaced in the middle of a
/// handshake.
#[tokio::test]
async fn says_what_it_signed_with() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let provider = provider(Profile::Default, &[]).unwrap();
    let issue = |algorithm: SignatureAlgorithm| {
        let key = SigningKey::generate(algorithm).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = root.issue(leaf, &key).unwrap();
        let issued = Issued {
            chain: vec![leaf.clone()],
            key,
        };
        let identity = Identity::try_from(&issued).unwrap();
        let identity = identity.check(&provider).unwrap();
        let set = IdentitySet::new().with_default(identity);
        (algorithm.name(), leaf.into_der(), set)
    };
    let issued = [SignatureAlgorithm::MlDsa44, SignatureAlgorithm::MlDsa65].map(issue);
    let identities = Arc::new(Identities::new(issued[0].2.clone()));
    let tls = Tls::with(provider.clone(), identities.clone(), None).unwrap();
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, Limits::default());
    let server = server.await.unwrap();
    let client = Client::new(server.local_addr(), root.certificate(), &[], None);
    let client = client.without_resumption();

    let is_over = Arc::new(AtomicBool::new(false));
    let replacing = thread::spawn({
        let (is_over, sets) = (is_over.clone(), issued.clone().map(|(.., set)| set));
        move || {
            for set in sets.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                identities.replace(set.clone());
            }
        }
    });
    let mut said = Vec::new();
    for _ in 0..100 {
        let mut tls = client.connect().await.unwrap();
        let shown = tls.get_ref().1.peer_certificates().unwrap()[0].clone();
        let request = b"GET / HTTP/1.1\r\nAccept: application/json\r\nHost: localhost\r\n\
            Connection: close\r\n\r\n";
        tls.write_all(request).await.unwrap();
        let answer = read_answer(&mut tls).await.unwrap();
        let page: Value = serde_json::from_str(&answer.body).unwrap();
        let (name, ..) = issued.iter().find(|(_, leaf, _)| *leaf == shown).unwrap();
        said.push((*name, page["signature_scheme"].clone()));
    }
    is_over.store(true, Ordering::Relaxed);
    replacing.join().unwrap();
    for (name, scheme) in said {
        assert_eq!(scheme, name);
    }
}
