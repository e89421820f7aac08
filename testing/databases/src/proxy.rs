//! A proxy before a server, which cuts a connection at a chosen moment.

use alloc::sync::Arc;
use core::net::Ipv4Addr;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

/// A message that ends a transaction, as its clients send it.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What the proxy does, once: then it passes everything on again, or refuses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// Nothing.
    Never,
    /// The connection ends instead of its `COMMIT`.
    BeforeCommit,
    /// `COMMIT` arrives; its answer doesn't.
    Answer,
    /// The same, and nobody is let in since.
    AnswerAndAllAfter,
    /// `COMMIT` doesn't arrive, nor an answer, and the connection stays.
    Hold,
    /// Every connection ends, and nobody is let in.
    All,
    /// Before the message with this number to the server, from 0 on.
    ToServer(u32),
    /// Before that to the client.
    ToClient(u32),
}

#[derive(Debug)]
struct State {
    cut: Cut,
    open: Vec<(TcpStream, UnixStream)>,
    /// How many connections there were.
    count: usize,
    /// How many of the first of them carry nothing any more.
    frozen: usize,
}

/// The proxy, which lives as long as the process.
pub struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// A proxy in front of the socket in this folder.
    pub fn new(server: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = Vec::new();
        let state = Arc::new(Mutex::new(State {
            cut: Cut::Never,
            open,
            count: 0,
            frozen: 0,
        }));
        let (server, proxy) = (server.join(".s.PGSQL.5432"), state.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                pass(client.unwrap(), &server, &proxy);
            }
        });
        Self { port, state }
    }

    /// A connection string for it.
    pub fn address(&self) -> String {
        format!(
            "host=127.0.0.1 port={} user=postgres dbname=postgres",
            self.port
        )
    }

    /// What to do next.
    pub fn set(&self, cut: Cut) {
        let mut state = self.state.lock().unwrap();
        state.cut = cut;
        if cut == Cut::All {
            for (client, server) in state.open.drain(..) {
                close(&client, &server);
            }
        }
    }

    /// Connections of before stay open and carry nothing any more, as when an address moves to another machine.
    pub fn freeze(&self) {
        let mut state = self.state.lock().unwrap();
        state.frozen = state.count;
    }

    /// How many connections there were.
    pub fn count(&self) -> usize {
        self.state.lock().unwrap().count
    }

    /// What it is going to do.
    pub fn cut(&self) -> Cut {
        self.state.lock().unwrap().cut
    }
}

/// Whether a message goes on.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Verdict {
    Pass,
    Drop,
    Close,
}

fn pass(client: TcpStream, server: &Path, state: &Arc<Mutex<State>>) {
    let mut locked = state.lock().unwrap();
    if matches!(locked.cut, Cut::All) {
        return;
    }
    // Without a server, the client sees that its connection is closed.
    let Ok(server) = UnixStream::connect(server) else {
        return;
    };
    client.set_nodelay(true).unwrap();
    let both = || (client.try_clone().unwrap(), server.try_clone().unwrap());
    locked.open.push(both());
    let number = locked.count;
    locked.count += 1;
    drop(locked);
    // The connection whose answer is not passed on.
    let silenced = Arc::new(Mutex::new(false));
    let (to_server, to_client) = (state.clone(), state.clone());
    let (from_client, from_server) = (both(), both());
    let silence = silenced.clone();
    thread::spawn(move || {
        let (client, server) = from_client;
        carry(&client, &server, |bytes| {
            let mut state = to_server.lock().unwrap();
            if number < state.frozen {
                return Verdict::Drop;
            }
            let is_commit = bytes.windows(COMMIT.len()).any(|window| window == COMMIT);
            match state.cut {
                Cut::ToServer(0) => state.cut = Cut::Never,
                Cut::ToServer(left) => {
                    state.cut = Cut::ToServer(left - 1);
                    return Verdict::Pass;
                }
                Cut::BeforeCommit if is_commit => state.cut = Cut::Never,
                Cut::Hold if is_commit => {
                    state.cut = Cut::Never;
                    return Verdict::Drop;
                }
                Cut::Answer | Cut::AnswerAndAllAfter if is_commit => {
                    *silence.lock().unwrap() = true;
                    return Verdict::Pass;
                }
                _ => return Verdict::Pass,
            }
            Verdict::Close
        });
        close(&client, &server);
    });
    thread::spawn(move || {
        let (client, server) = from_server;
        carry(&server, &client, |_| {
            let mut state = to_client.lock().unwrap();
            if number < state.frozen {
                return Verdict::Drop;
            }
            match state.cut {
                Cut::ToClient(0) => state.cut = Cut::Never,
                Cut::ToClient(left) => {
                    state.cut = Cut::ToClient(left - 1);
                    return Verdict::Pass;
                }
                Cut::Answer if *silenced.lock().unwrap() => state.cut = Cut::Never,
                Cut::AnswerAndAllAfter if *silenced.lock().unwrap() => {
                    state.cut = Cut::All;
                    for (client, server) in state.open.drain(..) {
                        close(&client, &server);
                    }
                }
                _ => return Verdict::Pass,
            }
            Verdict::Close
        });
        close(&client, &server);
    });
}

/// Carries messages one way, until one is not to be carried or a side has ended.
fn carry<'s, F, T>(mut from: &'s F, mut to: &'s T, mut judge: impl FnMut(&[u8]) -> Verdict)
where
    &'s F: Read,
    &'s T: Write,
{
    let mut buffer = vec![0; 1 << 16];
    loop {
        let Ok(len @ 1..) = from.read(&mut buffer) else {
            return;
        };
        match judge(&buffer[..len]) {
            Verdict::Pass => {
                if to.write_all(&buffer[..len]).is_err() {
                    return;
                }
            }
            Verdict::Drop => {}
            Verdict::Close => return,
        }
    }
}

fn close(client: &TcpStream, server: &UnixStream) {
    // They may be closed already.
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
