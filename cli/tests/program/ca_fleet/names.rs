//! What clients have for their challenges: a name server that has this machine's address for each name, and pages.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::thread;

type Pages = Arc<Mutex<BTreeMap<String, String>>>;

/// Both, for as long as the process lives.
pub(super) struct Names {
    pub(super) resolver: SocketAddr,
    /// The port of the pages.
    pub(super) http: u16,
    pages: Pages,
}

impl Names {
    pub(super) fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pages = Pages::default();
        let names = Self {
            resolver: socket.local_addr().unwrap(),
            http: listener.local_addr().unwrap().port(),
            pages: pages.clone(),
        };
        thread::spawn(move || {
            let mut question = [0; 512];
            while let Ok((len, from)) = socket.recv_from(&mut question) {
                let answer = resolved(&question[..len]).unwrap();
                // Whoever asked may be gone.
                let _ = socket.send_to(&answer, from);
            }
        });
        thread::spawn(move || {
            for connection in listener.incoming() {
                // The same holds here.
                let _ = show(&connection.unwrap(), &pages);
            }
        });
        names
    }

    /// Shows a page at this path.
    pub(super) fn show(&self, path: String, page: &str) {
        self.pages.lock().unwrap().insert(path, page.to_owned());
    }

    pub(super) fn remove(&self, path: &str) {
        self.pages.lock().unwrap().remove(path);
    }
}

/// The answer to a question (RFC 1035, section 4.1): 127.0.0.1 if it is for an address of version 4, else nothing.
fn resolved(question: &[u8]) -> Option<Vec<u8>> {
    let mut end = 12;
    while *question.get(end)? > 0 {
        end += 1 + usize::from(question[end]);
    }
    let kind = question.get(end + 1..end + 3)?;
    let count = u8::from(kind == [0, 1]);
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0]);
    answer.extend(question.get(12..end + 5)?);
    if count == 1 {
        let record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1];
        answer.extend(record);
    }
    Some(answer)
}

fn show(mut connection: &TcpStream, pages: &Pages) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new(connection).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let page = first.split(' ').nth(1).and_then(|path| {
        let pages = pages.lock().unwrap();
        pages.get(path).cloned()
    });
    let (status, page) = match page {
        Some(page) => ("200 OK", page),
        None => ("404 Not Found", String::new()),
    };
    write!(
        connection,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{page}",
        page.len()
    )
}
