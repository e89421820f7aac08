//! instant-acme over this provider: an account and an order. The server here only plays a CA.
#![forbid(unsafe_code)]

use std::error::Error;

use frameworks::{Pki, acme, connector, listen};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use instant_acme::{Account, BodyWrapper, Identifier, NewAccount, NewOrder};
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::{Builder, Profile};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue();
    let (listener, port) = listen();
    tokio::spawn(acme::serve(listener, pki.server(&["http/1.1"])));

    let mut roots = RootCertStore::empty();
    roots.add(pki.root.der().clone())?;
    let builder = Builder::with_default_base()?.profile(Profile::RequirePq);
    let config = ClientConfig::builder_with_provider(builder.roots(&roots).build()?.into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Its own client takes the provider that `install_default` has installed, and the platform's verifier.
    let http: Client<_, BodyWrapper<Bytes>> =
        Client::builder(TokioExecutor::new()).build(connector(config));

    let contact = NewAccount {
        contact: &["mailto:admin@example.org"],
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let directory = format!("https://localhost:{port}/directory");
    let builder = Account::builder_with_http(Box::new(http));
    let (account, _credentials) = builder.create(&contact, directory, None).await?;
    println!("account {}", account.id());
    // What follows is as with any CA: the challenges, a request with `pq_x509::request`, and the certificate.
    let names = [Identifier::Dns("www.example.org".into())];
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    println!("order {:?}", order.state().status);
    Ok(())
}
