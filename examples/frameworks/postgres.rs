//! tokio-postgres with a configuration of rustls's, by tokio-postgres-rustls. The server here only plays a PostgreSQL.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;

use frameworks::{Pki, listen, postgres};
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::Builder;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue();
    let (listener, port) = listen();
    tokio::spawn(postgres::serve(listener, pki.server(&[])));

    let mut roots = RootCertStore::empty();
    roots.add(pki.root.der().clone())?;
    // A PostgreSQL over an OpenSSL before 3.5 has a classical key exchange only. `Profile::RequirePq` would refuse it.
    let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Without `require`, a server without TLS gets the password in the clear.
    let options = format!("host=localhost port={port} user=reader sslmode=require");
    let tls = MakeRustlsConnect::new(config);
    let (client, connection) = tokio_postgres::connect(&options, tls).await?;
    let connection = tokio::spawn(connection);
    for message in client.simple_query("SELECT protection").await? {
        if let SimpleQueryMessage::Row(row) = message {
            println!("{}", row.get(0).ok_or("a column")?);
        }
    }
    drop(client);
    connection.await??;
    Ok(())
}
