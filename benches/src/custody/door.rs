//! Signatures through the network door: `pqtls store serve` on one core, with its store in a file; its clients on another,
//! over connections that are kept.

use alloc::sync::Arc;
use core::error::Error;
use core::mem::size_of;
use core::net::SocketAddr;
use core::time::Duration;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Instant;
use std::{env, thread};

use pq_keystore::policy::Input;
use pq_keystore::remote::{RemoteStore, TlsTransport, TlsTransportOptions};
use pq_x509::certificate::Certificate;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use tempfile::TempDir;

use super::fixture::{Key, Message, messages};
use super::local::{Named, WITHOUT};
use crate::machine::cores::Cores;
use crate::machine::process::Process;
use crate::schemes::inputs::bytes;
use crate::timing::Passes;
use crate::timing::results::Timing;
use crate::tls::handshake::identity::Identity;
use crate::tls::handshake::{NAME, client_config, providers};

/// How many connections the clients keep busy.
const CONNECTIONS: usize = 8;
/// How many messages a request has, where it has several.
const BATCH: usize = 32;

const TOKEN: &str = "a-token-of-the-benchmarks";
const KEY: &str = "bench";

/// The row with one message in a request.
const SINGLE: &str = "the door/single";

/// How often the latency is measured, and for how long. The machine's own pauses, of some milliseconds each, come and go.
const ROUNDS: usize = 5;
const LOAD: Duration = Duration::from_secs(2);

/// A server with a store, and a client.
struct Door {
    client: RemoteStore,
    cores: Cores,
    messages: Vec<Message>,
    server: Process,
    _folder: TempDir,
}

impl Door {
    fn open() -> Result<Self, Box<dyn Error>> {
        let cores = Cores::choose()?;
        let folder = tempfile::tempdir()?;
        let identity = Identity::ml_dsa(NAME, SignatureAlgorithm::MlDsa65)?;
        let write = |name: &str, contents: &[u8]| -> io::Result<()> {
            let mut options = File::options();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(folder.path().join(name))?;
            file.write_all(contents)
        };
        let leaf = Certificate::from_der(&identity.leaf)?;
        write("server.pem", leaf.to_pem().as_bytes())?;
        let key = SigningKey::from_pkcs8_der(&identity.key)?;
        write("server.key", key.to_pkcs8_pem()?.as_bytes())?;
        write("kek", &bytes::<32>("kek", 0))?;
        write("tokens.toml", tokens().as_bytes())?;
        for command in [
            "init",
            "new transit/keys/bench --algorithm ML-DSA-65 --grant bench=user",
        ] {
            let output = pqtls(folder.path(), command)?.output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
        }
        let mut server = pqtls(
            folder.path(),
            "serve --listen 127.0.0.1:0 --cert server.pem --key server.key --tokens tokens.toml",
        )?;
        let mut server = Process::start(&mut server, cores.server, folder.path())?;
        let address = server.address(|line| {
            line.strip_prefix("Serving ")?
                .rsplit_once("on ")?
                .1
                .parse()
                .ok()
        })?;
        Ok(Self {
            client: client(&identity, address)?,
            cores,
            messages: messages(),
            server,
            _folder: folder,
        })
    }

    /// One request with one message.
    fn sign(&self, message: &Message) {
        let signed = self.client.sign(KEY, None, Input::message(message));
        signed.expect("the token may sign");
    }

    /// One request with several.
    fn sign_batch(&self, messages: &[Message]) {
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let signed = self.client.sign_batch(KEY, None, &messages);
        for signed in signed.expect("the token may sign") {
            signed.expect("the key may be used");
        }
    }
}

/// Calls `request` in threads, one for each connection, on the clients' core.
fn at_once(cores: Cores, request: impl Fn(usize) + Sync) {
    let _stay = cores.client.stay().expect("the core was there before");
    thread::scope(|scope| {
        for connection in 0..CONNECTIONS {
            let request = &request;
            scope.spawn(move || request(connection));
        }
    });
}

/// The times of requests that are made at fixed moments, whether or not those before have their answers, from these moments
/// on, the shortest first: `interval` is that between two requests of all connections together.
fn under_load(
    cores: Cores,
    messages: &[Message],
    interval: Duration,
    request: impl Fn(usize, &Message) + Sync,
) -> Vec<Duration> {
    let times = Mutex::new(Vec::new());
    let each = interval * u32::try_from(CONNECTIONS).expect("they are few");
    let started = Instant::now();
    at_once(cores, |connection| {
        let mut own = Vec::new();
        let mut due = started + interval * u32::try_from(connection).expect("they are few");
        let messages = messages.iter().cycle();
        for message in messages.take_while(|_| started.elapsed() < LOAD) {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            request(connection, message);
            own.push(due.elapsed());
            due += each;
        }
        let mut times = times.lock().expect("no thread panicked");
        times.append(&mut own);
    });
    let mut times = times.into_inner().expect("no thread panicked");
    times.sort();
    times
}

/// What the machine and the signatures alone take: messages over plain TCP to threads on the server's core, which answer each
/// with as many bytes as the door does after they have signed it. No TLS, no HTTP, no store.
struct Plain {
    connections: Vec<Mutex<TcpStream>>,
}

/// About as long as an answer of the door.
const ANSWER: usize = 4_800;

impl Plain {
    fn open(cores: Cores) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let key = Key::generate()?;
        let _stay = cores.server.stay()?;
        let connect = |_| {
            let client = TcpStream::connect(listener.local_addr()?)?;
            let (server, _) = listener.accept()?;
            client.set_nodelay(true)?;
            server.set_nodelay(true)?;
            let key = key.clone();
            // It ends with its client.
            thread::spawn(move || answer(server, &key));
            Ok(Mutex::new(client))
        };
        let connections: io::Result<_> = (0..CONNECTIONS).map(connect).collect();
        Ok(Self {
            connections: connections?,
        })
    }

    fn ask(&self, connection: usize, message: &Message) -> io::Result<()> {
        let mut client = self.connections[connection]
            .lock()
            .expect("no thread panicked");
        client.write_all(message)?;
        client.read_exact(&mut [0; ANSWER])
    }
}

fn answer(mut client: TcpStream, key: &Key) -> io::Result<()> {
    let mut message = [0; size_of::<Message>()];
    loop {
        client.read_exact(&mut message)?;
        key.sign(&message);
        client.write_all(&[0; ANSWER])?;
    }
}

/// A command of `pqtls store`, by the program in this one: see [`as_pqtls`].
fn pqtls(folder: &Path, command: &str) -> io::Result<Command> {
    let mut pqtls = Command::new(env::current_exe()?);
    pqtls
        .current_dir(folder)
        .args([AS_PQTLS, "store"])
        .args(command.split(' '))
        .args(["--store", "keys.redb", "--kek-file", "kek"]);
    Ok(pqtls)
}

fn tokens() -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, TOKEN.as_bytes());
    let digest: String = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("[[tokens]]\nsha256 = \"{digest}\"\nprincipal = \"bench\"\n")
}

fn client(identity: &Identity, address: SocketAddr) -> Result<RemoteStore, Box<dyn Error>> {
    let (_, provider) = providers()?.into_iter().next().ok_or("no provider")?;
    let config = client_config(provider.into(), identity)?;
    let options = TlsTransportOptions::default();
    let transport = TlsTransport::new(config, NAME, address.port(), options)?;
    Ok(RemoteStore::new(transport, "transit", Some(TOKEN)))
}

pub(super) fn rows() -> Result<Named, Box<dyn Error>> {
    let door = Arc::new(Door::open()?);
    let key = Key::generate()?;
    let messages = messages();
    let without = Passes::new(messages.len(), move || {
        messages.iter().for_each(|message| key.sign(message));
    });
    let single = by_clock(CONNECTIONS, {
        let door = door.clone();
        move |passes| {
            at_once(door.cores, |_| {
                let messages = door.messages.iter().cycle().take(passes);
                messages.for_each(|message| door.sign(message));
            });
        }
    });
    let batches = by_clock(CONNECTIONS * BATCH, move |passes| {
        at_once(door.cores, |_| {
            (0..passes).for_each(|_| door.sign_batch(&door.messages[..BATCH]));
        });
    });
    Ok(vec![
        (WITHOUT, without),
        (SINGLE, single),
        ("the door/batches of 32", batches),
    ])
}

/// Passes by the clock: both processes work, and wait for each other.
fn by_clock(operations: usize, run: impl Fn(usize) + 'static) -> Passes<'static> {
    Passes::elsewhere(operations, move |passes| {
        let started = Instant::now();
        run(usize::try_from(passes).expect("it fits"));
        started.elapsed()
    })
}

/// The median and the 99th percentile of the time that a request takes at half the load of the row with single messages, in
/// some rounds; the CPU time of the server's process for each; and the same percentiles of [`Plain`], at the same distances
/// and in turn with the door: pauses of the machine are in both.
pub(super) fn latency(table: &[Timing]) -> Result<Vec<Timing>, Box<dyn Error>> {
    let single = table.iter().find(|row| row.name == SINGLE);
    let single = single
        .ok_or("there is no row of single messages")?
        .time
        .median;
    let interval = Duration::from_nanos(2 * single as u64);
    let door = Door::open()?;
    let plain = Plain::open(door.cores)?;
    let load = |request: &(dyn Fn(usize, &Message) + Sync)| {
        under_load(door.cores, &door.messages, interval, request)
    };
    let (mut of_door, mut of_plain, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = door.server.cpu_time_of_threads()?;
        let times = load(&|_, message| door.sign(message));
        let spent = door.server.cpu_time_of_threads()?.saturating_sub(before);
        cpu.push(spent.as_nanos() as f64 / times.len() as f64);
        of_door.push(times);
        of_plain.push(load(&|connection, message| {
            let asked = plain.ask(connection, message);
            asked.expect("it answers as long as it is asked");
        }));
    }
    let percentile = |what: &str, rounds: &[Vec<Duration>], percent: usize| {
        let of_round = |times: &Vec<Duration>| {
            let time = times.get(times.len() * percent / 100);
            time.map(|time| time.as_nanos() as f64)
        };
        let samples: Option<_> = rounds.iter().map(of_round).collect();
        let name = format!("{what}/p{percent} at half that load");
        let samples = samples.ok_or("no request was made")?;
        Ok::<_, Box<dyn Error>>(Timing::of(&name, samples))
    };
    Ok(vec![
        percentile("the door", &of_door, 50)?,
        percentile("the door", &of_door, 99)?,
        percentile("pq-keys over TCP", &of_plain, 50)?,
        percentile("pq-keys over TCP", &of_plain, 99)?,
        Timing::of("the door/CPU time at half that load", cpu),
    ])
}

/// The option that makes this program `pqtls`, for the words after it.
const AS_PQTLS: &str = "--as-pqtls";

/// Runs a command of `pqtls`, for a process that a measurement started.
pub fn as_pqtls(command: &[OsString]) -> ExitCode {
    let name = OsString::from("pqtls");
    pqtls_commands::run([name].into_iter().chain(command.iter().cloned()))
}
