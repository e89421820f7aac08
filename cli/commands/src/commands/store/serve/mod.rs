//! The command `pqtls store serve`: the store behind HTTPS, as Vault's Transit API.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod access;
mod ending;
mod handler;
mod rotating;

use alloc::sync::Arc;
use core::convert::Infallible;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::str::FromStr;
use core::time::Duration;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use pq_keystore::door::{Door, InvalidMount};
use pq_keystore::{DURATION_BUCKETS, OPERATION_DURATION, Store};
use pq_serving::options::{LimitOptions, ListenOptions, LogOptions, RevocationOptions};
use pq_serving::{
    Limits, ListWatcher, StopSignals, Tls, WholeRequests, provider_builder, record_facade,
    reload_on_hangup, roots_from_pem_file,
};
use rustls_pq::Profile;
use rustls_pq::identity::{FilePair, IdentityFiles};
use tokio::runtime::Runtime;

use self::access::AccessFile;
use self::ending::Running;
use self::rotating::Until;
use super::made::policy_in;
use crate::commands::custody::{KeySource, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;

/// Serve the keys of a store over HTTPS, to clients of Vault's Transit API
///
/// Clients show tokens, whose SHA-256 is in the file of --tokens with who they are and until when, or certificates of a CA of
/// --client-ca that the file names. What each may do, the store's grants and the policies of keys say. The names of keys
/// under a mount are those of one tenant and purpose. While it serves, no other process can use the store's file.
///
/// The server's certificate decides who can connect: curl and others with OpenSSL before 3.5, and older versions of Go and of
/// browsers, know no ML-DSA, of which keys are by default. For them, make the CA and the server's key with --algorithm ECDSA-P256. "Serve" in
/// docs/keys.md has all commands up to a request by curl.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, next_line_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listening: ListenOptions,

    /// PEM file with the server's certificate chain, leaf first
    #[arg(long, value_name = "FILE")]
    cert: PathBuf,

    /// The private key of the chain's leaf: a PEM file, or store:NAME for a key in this store, which --as may sign with. Of
    /// its versions, that one signs which the chain is for, so a rotation counts once the file of --cert is another one
    #[arg(long, value_name = "KEY")]
    key: KeySource,

    /// TOML file with the digests of tokens and certificates, and the principal of each; it is read again when it changes
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,

    /// Require client certificates that a CA in this PEM file issued
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,

    #[command(flatten)]
    lists: RevocationOptions,

    /// The keys under a path: those whose names begin with tenant/purpose; can be repeated
    #[arg(
        long,
        value_name = "PATH=TENANT/PURPOSE",
        default_value = "transit=transit/keys"
    )]
    mount: Vec<Mount>,

    /// The policy of new keys, in TOML, beside what clients say of it
    #[arg(long, value_name = "FILE")]
    new_keys: Option<Source>,

    /// The most bytes of a request's body
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 2 * 1024 * 1024,
        value_parser = clap::value_parser!(u32).range(1024..=64 * 1024 * 1024)
    )]
    max_body: u32,

    /// The most bytes of all bodies together that are read or worked on at a time; requests beyond wait, and get 503 after 10
    /// seconds. Half of it is for each principal at most, and it is at least twice --max-body
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 64 * 1024 * 1024,
        value_parser = clap::value_parser!(u32).range(1024..)
    )]
    max_bodies: u32,

    /// The most bytes that all answers of more than 16 KiB take together while they are made and until clients have read
    /// them; requests beyond wait, and get 503 after 10 seconds. Half of it is for each principal at most. Whoever takes
    /// longer than a minute to read such an answer loses the connection
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 128 * 1024 * 1024,
        value_parser = clap::value_parser!(u32).range(1024..)
    )]
    max_answers: u32,

    /// How many requests use the store at a time, of which half are for each principal at most; others wait
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..=512)
    )]
    at_once: u16,

    /// Leave keys that are due for rotation alone: their period, auto_rotate_period or rotate-after, is over. Without it, the
    /// server rotates them within minutes, and the audit log names auto-rotate, which needs no grant for that
    #[arg(long)]
    no_rotation: bool,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    log: LogOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store serve --kek-file kek --cert me.pem --key server.key --tokens tokens.toml

A file of tokens:
  [[tokens]]
  sha256 = \"…\"                      # printf %s TOKEN | sha256sum
  principal = \"ci\"
  expires = \"2027-12-31T00:00:00Z\"  # without it, never

  [[certificates]]
  sha256 = \"…\"                      # pqtls cert fingerprint client.pem
  principal = \"web\"

The server's own key in the store, when a certificate for it is in me.pem:
  pqtls store serve --kek-file kek --cert me.pem --key store:a/b/tls --as web --tokens tokens.toml";

/// How often certificates and tokens are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How often the log says that the file of tokens can't be used.
const REMIND_EVERY: Duration = Duration::from_secs(60);

/// How often it is looked whether the store can be used.
const PROBLEM_EVERY: Duration = Duration::from_secs(1);

/// `PATH=TENANT/PURPOSE`.
#[derive(Clone, Debug)]
struct Mount {
    path: String,
    tenant: String,
    purpose: String,
}

impl FromStr for Mount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split_once('=')
            .and_then(|(path, keys)| Some((path, keys.split_once('/')?)));
        let (path, (tenant, purpose)) =
            parts.ok_or("a mount is PATH=TENANT/PURPOSE, such as transit=shop/tokens")?;
        Ok(Self {
            path: path.into(),
            tenant: tenant.into(),
            purpose: purpose.into(),
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let access = AccessFile::read(&arguments.tokens)?;
    // Before anything listens: it may ask for a passphrase.
    let opened = arguments.place.open()?;
    let pair = arguments.key.with_chain(&arguments.cert, &opened)?;
    let door = Arc::new(door(arguments, opened.store, &access)?);
    arguments.log.start("pqtls_commands");
    record_facade(&[(OPERATION_DURATION, &DURATION_BUCKETS)]).map_err(StoreFailure::serve)?;
    let runtime = Runtime::new().map_err(StoreFailure::serve)?;
    let running = Running::default();
    let served = runtime.block_on(serve(arguments, pair, door.clone(), access, &running));
    let has_ended = ending::end(runtime, &running, move || {
        if let Err(error) = door.flush() {
            tracing::error!(%error, "what was counted last is not in the log of the store");
        }
        // If nothing else has it, the store is closed.
        drop(door);
    });
    // A thread of the TLS key may still wait for a token, too.
    if served.is_ok() || !has_ended {
        ending::leave_for_certain();
    }
    Ok(match served? && has_ended {
        true => ExitStatus::Done,
        false => ExitStatus::InputOutput,
    })
}

fn door(arguments: &Arguments, store: Store, access: &AccessFile) -> Result<Door, Failure> {
    let mut door = Door::new(store, access.list().clone())
        .with_max_body_len(usize::try_from(arguments.max_body).unwrap_or(usize::MAX));
    for mount in &arguments.mount {
        let Mount {
            path,
            tenant,
            purpose,
        } = mount;
        door = door
            .mount(path, tenant, purpose)
            .map_err(|error: InvalidMount| StoreFailure::serve(error))?;
    }
    if let Some(file) = &arguments.new_keys {
        door = door.new_keys(policy_in(file)?);
    }
    Ok(door)
}

/// Serves until a signal comes. Returns whether it ended by itself.
async fn serve(
    arguments: &Arguments,
    pair: FilePair,
    door: Arc<Door>,
    access: AccessFile,
    running: &Running,
) -> Result<bool, StoreFailure> {
    let builder = provider_builder(Profile::Default, &[]).map_err(StoreFailure::serve)?;
    let provider = Arc::new(builder.clone().build().map_err(StoreFailure::serve)?);
    let (identities, watcher) = IdentityFiles::new(provider.clone())
        .with_pair(pair.as_default())
        .watch(LOOK_EVERY)
        .map_err(StoreFailure::serve)?;
    let clients = match &arguments.client_ca {
        None => None,
        Some(file) => {
            let roots = roots_from_pem_file(file).map_err(StoreFailure::serve)?;
            let builder = builder.roots(&roots);
            let verified = arguments.lists.verify_clients(builder, roots, LOOK_EVERY);
            Some(verified.map_err(StoreFailure::serve)?)
        }
    };
    let (verifier, lists) = clients.unzip();
    let lists = lists.flatten();
    let in_use = lists.as_ref().map(ListWatcher::in_use);
    let tls = Tls::with(provider, identities, verifier).map_err(StoreFailure::serve)?;
    let limits = Limits::from(arguments.limits);
    let until = Until::default();
    let rotating = until.keep_rotating(door.clone(), running.clone());
    let (asking, of_door) = (door.clone(), (door.clone(), running.clone()));
    let handler = WholeRequests::new(door.max_body_len(), usize::from(arguments.at_once), {
        let (door, running) = of_door.clone();
        move |request, protection: &_, client: &_| {
            let _answering = running.begin(handler::named(&request));
            handler::answer(&door, &request, protection, client)
        }
    })
    .promptly({
        let (door, running) = of_door;
        move |request, protection, client| {
            let _answering = running.begin(handler::named(request));
            handler::answer_promptly(&door, request, protection, client)
        }
    })
    .bodies_len(usize::try_from(arguments.max_bodies).unwrap_or(usize::MAX))
    .answers_len(usize::try_from(arguments.max_answers).unwrap_or(usize::MAX))
    .only_for(move |head, protection| handler::who(&asking, head, protection));
    let listening = arguments
        .listening
        .start(tls, limits, in_use, handler)
        .await
        .map_err(StoreFailure::serve)?;
    // Before anyone is told that the server is there.
    let stop = StopSignals::catch().map_err(StoreFailure::serve)?;
    let reloading = reload_on_hangup(Some(watcher), lists).map_err(StoreFailure::serve)?;
    let looking = tokio::spawn(keep_looking(door.clone()));
    let rotating = (!arguments.no_rotation).then(|| tokio::spawn(rotating));
    let tokens = tokio::spawn(keep_reading(access, door));
    welcome(
        listening.server.local_addr(),
        listening.server.listens_on(),
        &listening.notes(),
    )
    .map_err(StoreFailure::serve)?;
    let stopped = listening.server.run(stop, reloading).await;
    looking.abort();
    tokens.abort();
    if let Some(rotating) = rotating {
        rotating.abort();
    }
    drop(until);
    stopped.map_err(StoreFailure::serve)
}

/// Prints on standard output; programs read the address from the first line.
fn welcome(address: SocketAddr, places: &[String], notes: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (ip, places) = (address.ip(), places.join(", "));
    let is_localhost = ip.is_unspecified()
        || [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].contains(&ip);
    match address.port() {
        0 => writeln!(out, "Serving on {places}")?,
        port if is_localhost => writeln!(out, "Serving https://localhost:{port}/ on {places}")?,
        // An address of version 6 is in brackets.
        _ => writeln!(out, "Serving https://{address}/ on {places}")?,
    }
    write!(out, "{notes}")?;
    out.flush()
}

/// Reads the file of tokens again when it changes. One that can't be read changes nothing, and the log says so.
/// While it is so, the log says it again each minute: somebody may have meant to take a token away.
async fn keep_reading(mut access: AccessFile, door: Arc<Door>) -> Infallible {
    // Since when, when it was said last, and what was said.
    let mut failing: Option<(Instant, Instant, String)> = None;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let error = match access.read_again().await {
            Ok(is_new) => {
                let had_failed = failing.take().is_some();
                if is_new {
                    door.replace_access(access.list().clone());
                }
                if is_new || had_failed {
                    tracing::info!("the file of tokens is in use as it is now");
                }
                continue;
            }
            Err(error) => error.to_string(),
        };
        let (since, said) = match &failing {
            Some((since, said, before)) => (*since, (*before == error).then_some(*said)),
            None => (Instant::now(), None),
        };
        if said.is_none_or(|said| said.elapsed() >= REMIND_EVERY) {
            let seconds = since.elapsed().as_secs();
            tracing::error!(
                "{error}. For {seconds} seconds, the tokens and certificates of before are let in, also those that were taken out of \
                 the file since"
            );
            failing = Some((since, Instant::now(), error));
        }
    }
}

/// Says in the log what is wrong with the store as a whole, and when that is over.
async fn keep_looking(door: Arc<Door>) -> Infallible {
    let mut known = None;
    loop {
        tokio::time::sleep(PROBLEM_EVERY).await;
        let problem = door.problem();
        if problem != known {
            match &problem {
                Some(problem) => tracing::error!(problem, "the store can't be used"),
                None => tracing::info!("the store can be used again"),
            }
            known = problem;
        }
    }
}
