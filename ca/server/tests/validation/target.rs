//! Servers of HTTP for tests, that send what they are told to.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a target does once it has read the head of a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Sends this, and closes.
    Bytes(Vec<u8>),
    /// Sends this, and goes on with the second part without an end.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends this a byte at a time, and takes its time.
    Slowly(Vec<u8>),
    /// Nothing, ever.
    Silence,
}

impl Reply {
    pub(crate) fn page(body: &str) -> Self {
        Self::of("200 OK", "", body)
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::of("302 Found", &format!("Location: {to}\r\n"), "")
    }

    pub(crate) fn of(status: &str, headers: &str, body: &str) -> Self {
        let len = body.len();
        let text = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {len}\r\n\r\n{body}");
        Self::Bytes(text.into())
    }
}

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// How many bytes were sent.
    pub(crate) sent: Arc<AtomicU64>,
    /// How many connections there were.
    pub(crate) connections: Arc<AtomicU64>,
}

impl Target {
    /// Replies to each path, host and port (`Host`).
    pub(crate) async fn start(reply: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, connections) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (counted, count) = (sent.clone(), connections.clone());
        let reply = Arc::new(reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream, reply.clone(), counted.clone()));
            }
        });
        Self {
            address,
            sent,
            connections,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

async fn serve(
    mut stream: TcpStream,
    reply: Arc<impl Fn(&str, &str) -> Reply>,
    sent: Arc<AtomicU64>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let host = head.lines().find_map(|line| line.strip_prefix("host: "));
    let mut send = async |bytes: &[u8]| {
        sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        stream.write_all(bytes).await.is_ok()
    };
    match reply(path, host.unwrap_or_default()) {
        Reply::Bytes(bytes) => {
            send(&bytes).await;
        }
        Reply::Endless(first, more) => {
            send(&first).await;
            while send(&more).await {}
        }
        Reply::Slowly(bytes) => {
            for byte in bytes {
                tokio::time::sleep(core::time::Duration::from_millis(200)).await;
                if !send(&[byte]).await {
                    return;
                }
            }
        }
        Reply::Silence => {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
    }
}
