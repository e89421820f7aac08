//! Signatures through the network door: `pqtls store serve` on one core, with its store in a file; its clients on another,
//! over connections that are kept.

use alloc::sync::Arc;
use core::error::Error;
use core::net::SocketAddr;
use core::time::Duration;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
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
    _server: Process,
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
            _server: server,
            _folder: folder,
        })
    }

    /// Calls `request` in threads, one for each connection, on the clients' core.
    fn at_once(&self, request: impl Fn(usize) + Sync) {
        let _stay = self.cores.client.stay().expect("the core was there before");
        thread::scope(|scope| {
            for connection in 0..CONNECTIONS {
                let request = &request;
                scope.spawn(move || request(connection));
            }
        });
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

    /// The times of requests that are made at fixed moments, whether or not those before have their answers, from these
    /// moments on: `interval` is that between two requests of all connections together.
    fn under_load(&self, interval: Duration) -> Vec<Duration> {
        let times = Mutex::new(Vec::new());
        let each = interval * u32::try_from(CONNECTIONS).expect("they are few");
        let started = Instant::now();
        self.at_once(|connection| {
            let mut own = Vec::new();
            let mut due = started + interval * u32::try_from(connection).expect("they are few");
            let messages = self.messages.iter().cycle();
            for message in messages.take_while(|_| started.elapsed() < LOAD) {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                self.sign(message);
                own.push(due.elapsed());
                due += each;
            }
            let mut times = times.lock().expect("no thread panicked");
            times.append(&mut own);
        });
        times.into_inner().expect("no thread panicked")
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
            door.at_once(|_| {
                let messages = door.messages.iter().cycle().take(passes);
                messages.for_each(|message| door.sign(message));
            });
        }
    });
    let batches = by_clock(CONNECTIONS * BATCH, move |passes| {
        door.at_once(|_| (0..passes).for_each(|_| door.sign_batch(&door.messages[..BATCH])));
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
/// some rounds.
pub(super) fn latency(table: &[Timing]) -> Result<Vec<Timing>, Box<dyn Error>> {
    let single = table.iter().find(|row| row.name == SINGLE);
    let single = single
        .ok_or("there is no row of single messages")?
        .time
        .median;
    let interval = Duration::from_nanos(2 * single as u64);
    let door = Door::open()?;
    let rounds: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let mut times = door.under_load(interval);
            times.sort();
            times
        })
        .collect();
    let percentile = |percent: usize| {
        let of_round = |times: &Vec<Duration>| {
            let time = times.get(times.len() * percent / 100);
            time.map(|time| time.as_nanos() as f64)
        };
        let samples: Option<_> = rounds.iter().map(of_round).collect();
        let name = format!("the door/p{percent} at half that load");
        Ok(Timing::of(&name, samples.ok_or("no request was made")?))
    };
    [50, 99].into_iter().map(percentile).collect()
}

/// The option that makes this program `pqtls`, for the words after it.
const AS_PQTLS: &str = "--as-pqtls";

/// Runs a command of `pqtls`, for a process that a measurement started.
pub fn as_pqtls(command: &[OsString]) -> ExitCode {
    let name = OsString::from("pqtls");
    pqtls_commands::run([name].into_iter().chain(command.iter().cloned()))
}
