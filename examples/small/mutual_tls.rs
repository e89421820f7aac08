//! Mutual TLS: a server that asks clients for certificates, a client that has none, and one that has one.
#![forbid(unsafe_code)]

use core::error::Error;

use pq_serving::client::{ClientIdentity, Request, Trust, fetch};
use pq_serving::demonstration::Pki;
use pq_serving::{Identity, Limits, Server, Tls};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // One root issues to both sides here. Yours are from your CA.
    let pki = Pki::issue_with_client(&["localhost".try_into()?])?;
    let tls = Tls::new(Identity::try_from(&pki.server)?, &[], Some(pki.roots()?))?;
    let server = Server::bind("127.0.0.1:0", tls, Limits::default()).await?;
    let url = format!("https://localhost:{}/", server.local_addr().port());

    let folder = tempfile::tempdir()?;
    let files = pki.write(folder.path())?;
    let request = || -> Result<Request, Box<dyn Error>> {
        let request = Request::new(url.parse()?, Trust::from_pem_file(&files.root)?);
        Ok(Request {
            address: Some(server.local_addr()),
            ..request
        })
    };

    if let Err(error) = fetch(request()?).await {
        println!("without a certificate: {error}\n");
    }
    let (cert, key) = files.client.clone().ok_or("a client was issued")?;
    let report = fetch(Request {
        client: Some(ClientIdentity { cert, key }),
        ..request()?
    });
    let page = report.await?.response.body;
    print!("with one:\n{}", String::from_utf8_lossy(&page));
    server.shutdown().await;
    Ok(())
}
