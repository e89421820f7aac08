//! How frameworks use the provider that is installed as the default of the
//! process: here one with which a handshake is post-quantum or fails.

use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;
use frameworks::{Pki, app, listen, provider};
use rustls::crypto::CryptoProvider;
use rustls_pq::Group;

#[tokio::test]
async fn axum_server_and_reqwest() {
    install();
    let pki = Pki::issue();
    let (listener, port) = listen();
    let config = RustlsConfig::from_pem(pki.chain.into_bytes(), pki.key.into_bytes());
    let config = config.await.unwrap();
    let server = axum_server::from_tcp_rustls(listener, config).unwrap();
    tokio::spawn(server.serve(app().into_make_service()));

    let root = reqwest::Certificate::from_der(pki.root.der()).unwrap();
    let client = reqwest::Client::builder()
        .tls_certs_only([root])
        .no_proxy()
        .build()
        .unwrap();
    let response = client
        .get(format!("https://localhost:{port}/"))
        .send()
        .await;
    assert_eq!(response.unwrap().text().await.unwrap(), "hello");
}

#[cfg(feature = "tonic-tls")]
#[tokio::test]
async fn tonic() {
    use tonic::service::Routes;
    use tonic::transport::server::TcpIncoming;
    use tonic::transport::{
        Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig,
    };

    install();
    let pki = Pki::issue();
    let (listener, port) = listen();
    let identity = Identity::from_pem(&pki.chain, &pki.key);
    let server = Server::builder()
        .tls_config(ServerTlsConfig::new().identity(identity))
        .unwrap()
        .add_routes(Routes::default());
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    let root = Certificate::from_pem(pki.root.to_pem());
    let endpoint = Endpoint::from_shared(format!("https://localhost:{port}"))
        .unwrap()
        .tls_config(ClientTlsConfig::new().ca_certificate(root))
        .unwrap();
    let mut channel = endpoint.connect().await.unwrap();
    let code = frameworks::call(&mut channel, "/nobody.Service/Method")
        .await
        .unwrap();
    assert_eq!(code, tonic::Code::Unimplemented);

    // With its own TLS feature, tonic accepts no other connector for https.
    let endpoint = Endpoint::from_shared(format!("https://localhost:{port}")).unwrap();
    let connector = frameworks::connector(pki.client());
    let error = endpoint
        .connect_with_connector(connector)
        .await
        .unwrap_err();
    assert!(
        format!("{error:?}").contains("HttpsUriWithoutTlsSupport"),
        "{error:?}"
    );
}

/// Installs the provider. The tests share a process: whichever comes first succeeds.
fn install() {
    // docs/tls.md names this type.
    let installed: Result<(), Arc<CryptoProvider>> =
        CryptoProvider::clone(&provider()).install_default();
    if let Err(refused) = installed {
        assert!(!refused.kx_groups.is_empty());
    }
    let installed = CryptoProvider::get_default().unwrap();
    assert!(!installed.kx_groups.is_empty());
    for group in &installed.kx_groups {
        assert!(Group::from(group.name()).is_post_quantum());
    }
}
