//! As much of PostgreSQL's protocol (version 3) as one client needs that asks one question.

use std::net::TcpListener;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pq::Negotiated;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

/// Answers each query of one client with a row: what protects the connection.
///
/// # Panics
/// If the client says anything else.
pub async fn serve(listener: TcpListener, config: Arc<ServerConfig>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let (mut tcp, _) = listener.accept().await.unwrap();
    assert_eq!(body(&mut tcp).await, SSL_REQUEST);
    tcp.write_all(b"S").await.unwrap();
    let mut tls = TlsAcceptor::from(config).accept(tcp).await.unwrap();
    let protection = Negotiated::of(tls.get_ref().1).unwrap().to_string();

    // the client's name and options
    body(&mut tls).await;
    let ready = message(b'Z', b"I");
    let welcome = [message(b'R', &[0; 4]), ready.clone()].concat();
    tls.write_all(&welcome).await.unwrap();
    while tls.read_u8().await.unwrap() == b'Q' {
        body(&mut tls).await;
        // one column: its name, no table, and a text of any length
        let column = [
            &[0, 1][..],
            b"protection\0",
            &[0; 6],
            &[0, 0, 0, 25],
            &[255; 6],
            &[0; 2],
        ];
        let length = u32::try_from(protection.len()).unwrap().to_be_bytes();
        let answer = [
            message(b'T', &column.concat()),
            message(
                b'D',
                &[&[0, 1][..], &length, protection.as_bytes()].concat(),
            ),
            message(b'C', b"SELECT 1\0"),
            ready.clone(),
        ];
        tls.write_all(&answer.concat()).await.unwrap();
    }
}

const SSL_REQUEST: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// A message with its length, which counts itself.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// What follows the length of a message.
async fn body(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let length = stream.read_u32().await.unwrap();
    assert!((4..1024).contains(&length));
    let mut body = vec![0; length as usize - 4];
    stream.read_exact(&mut body).await.unwrap();
    body
}
