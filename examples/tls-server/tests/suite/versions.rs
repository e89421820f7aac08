//! The versions of HTTP that the program speaks.

use std::sync::Arc;

use rustls::ClientConfig;
use tokio_rustls::TlsConnector;

use crate::program::Program;

#[tokio::test]
async fn speaks_http_2_unless_told_not_to() {
    for (arguments, chosen) in [(&[][..], b"h2".as_slice()), (&["--no-http2"], b"http/1.1")] {
        let program = Program::start(arguments);
        let client = program.client();
        let mut config = ClientConfig::clone(&client.config());
        config.alpn_protocols = vec![b"h2".into(), b"http/1.1".into()];
        let connector = TlsConnector::from(Arc::new(config));
        let tls = connector.connect("localhost".try_into().unwrap(), client.tcp().await.unwrap());
        assert_eq!(tls.await.unwrap().get_ref().1.alpn_protocol(), Some(chosen));
    }
}
