//! Requests over a TCP connection of their own.

use core::net::SocketAddr;
use core::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Nothing in the tests should take this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    #[track_caller]
    pub(crate) fn has(&self, name: &str, value: &str) {
        assert_eq!(self.field(name), Some(value), "{}", self.head);
    }

    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.body).unwrap()
    }
}

/// Sends a request, `line` being its method and path, and `fields` being lines, and reads the answer to the end.
pub(crate) async fn ask(address: SocketAddr, line: &str, fields: &str, body: &[u8]) -> Answer {
    let tcp = TcpStream::connect(address).await.unwrap();
    ask_over(tcp, line, fields, body).await
}

/// The same over a connection that is there.
pub(crate) async fn ask_over(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    line: &str,
    fields: &str,
    body: &[u8],
) -> Answer {
    let length = match body {
        [] => String::new(),
        body => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!(
        "{line} HTTP/1.1\r\nHost: ca.example.org\r\nConnection: close\r\n{length}{fields}\r\n"
    );
    let sent = [head.as_bytes(), body].concat();
    let all = timeout(PATIENCE, async {
        // A server that has heard enough may close.
        let _ = stream.write_all(&sent).await;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.map(|_| all)
    });
    let all = all.await.unwrap().unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    Answer {
        head: String::from_utf8(all[..end].to_vec()).unwrap(),
        body: all[end + 4..].to_vec(),
    }
}
