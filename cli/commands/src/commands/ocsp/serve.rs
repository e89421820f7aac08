//! The command `pqtls ocsp serve`: a responder that answers from a CA's revocation list.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::time::Duration;
use std::io::{self, Write};

use pq_ca::policy::parse_duration;
use pq_ca_server::ocsp::{OcspDoor, OcspSettings};
use pq_ca_server::{Clock, ListResponder, ListSource, OcspHandler, keep_list};
use pq_serving::options::{LimitOptions, LogOptions};
use pq_serving::{
    Limits, ListenAddress, Listener, Metrics, Server, StopSignals, allow_descriptors,
    record_facade, reload_on_hangup,
};
use pq_x509::ocsp::OcspResponder;
use pq_x509::pki_types::UnixTime;
use tokio::runtime::Runtime;

use crate::commands::custody::{Access, AnySigner, KeySource, Location, SignerStore};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;

/// Answer OCSP requests over plain HTTP, from a CA's revocation list
///
/// For a CA that publishes lists and has no responder: it certifies a key for this, with the extended key usage OCSPSigning (profile
/// "ocsp-responder"). What is on the list is revoked, and what is not is good, so the list has to be complete: one with a distribution
/// point, a delta or a list for some reasons is refused. While the list has expired or its file can't be read, requests get
/// tryLater. A list can't tell whether a certificate was ever issued.
///
/// A file is read again within ten seconds when it changes, a URL each five minutes; an older list is never taken after a newer one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, next_line_help = true)]
pub(crate) struct Arguments {
    /// The certificate of the CA, whose certificates are asked about
    #[arg(long, value_name = "FILE")]
    issuer: Source,

    /// The responder's certificate, which the CA issued for OCSP
    #[arg(long, value_name = "FILE")]
    cert: Source,

    /// The responder's private key: a file, or store:NAME for a key in a key store
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    /// The CA's revocation list, in DER or PEM: a file, or a URL with http://
    #[arg(long, value_name = "FILE|URL")]
    crl: ListSource,

    /// Where to listen: an address and a port, or unix:PATH, or systemd; can be repeated. Port 0 lets the system choose one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: Vec<ListenAddress>,

    /// Where those who watch the server find it: /metrics, and /health, which answers 503 while there is no list to answer from
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<ListenAddress>,

    /// How long a response is valid, at most until the list ends
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_duration)]
    validity: Duration,

    /// For how long caches may keep a response, at most
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    max_age: Duration,

    /// Answer requests that have a nonce with responses that have none, which are signed once for all (RFC 9919)
    #[arg(long)]
    no_nonces: bool,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    log: LogOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    access: Access,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: Location,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca init --name \"Old CA\" --dir old
  $ sed -i 's/\"server+client\"]/\"server+client\", \"ocsp-responder\"]/' old/policy.toml
  $ pqtls ca issue ocsp.example.org --dir old --profile ocsp-responder --new-key o.key --out o.pem
  $ pqtls ca crl --dir old --out old.crl
  $ pqtls ocsp serve --issuer old/issuing.pem --cert o.pem --key o.key --crl old.crl

With a list that the CA publishes:
  pqtls ocsp serve --issuer ca.pem --cert o.pem --key o.key --crl http://ca.example.org/ca.crl";

/// How long requests may still run whose clients are cut off.
const LAST_REQUESTS: Duration = Duration::from_secs(3);
/// A connection without TLS costs a client nothing, so it doesn't last long.
const CONNECTION: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let store = SignerStore::at(arguments.key_store.clone(), arguments.access.clone());
    let key = store.signer(&arguments.key, &arguments.passphrase)?;
    let issuer = documents::first_certificate(&arguments.issuer)?;
    let certificate = documents::first_certificate(&arguments.cert)?;
    let signer = OcspResponder::delegate(issuer, certificate, key)?;
    let responder = Arc::new(ListResponder::new(signer, arguments.validity));
    arguments.log.start("pqtls_commands");
    record_facade(&[]).map_err(serving)?;
    let runtime = Runtime::new().map_err(serving)?;
    let served = runtime.block_on(serve(arguments, responder));
    runtime.shutdown_timeout(LAST_REQUESTS);
    Ok(match served? {
        true => ExitStatus::Done,
        false => ExitStatus::InputOutput,
    })
}

fn serving(error: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Failure {
    Failure::Serving(error.into())
}

/// Serves until a signal comes. Returns whether it ended by itself.
async fn serve(
    arguments: &Arguments,
    responder: Arc<ListResponder<AnySigner>>,
) -> Result<bool, Failure> {
    let mut settings = OcspSettings::default();
    settings.max_age = arguments.max_age;
    settings.nonces = !arguments.no_nonces;
    let door = Arc::new(OcspDoor::new(settings, Clock::default()));
    door.replace(vec![responder.clone()]);
    let limits = Limits {
        connection: CONNECTION,
        ..Limits::from(arguments.limits)
    };
    allow_descriptors(&limits);
    let metrics = Metrics::plain();
    metrics.ready_if({
        let responder = responder.clone();
        move || responder.problem(UnixTime::now())
    });
    let watched = match &arguments.metrics {
        Some(address) => Some(metrics.answer_on(open(address, "--metrics").await?)),
        None => None,
    };
    let mut listeners = Vec::new();
    for address in &arguments.listen {
        listeners.extend(open(address, "--listen").await?);
    }
    let server = Server::plain()
        .limits(limits)
        .metrics(&metrics)
        .handler(OcspHandler::new(door))
        .listen(listeners)
        .map_err(serving)?;
    let stop = StopSignals::catch().map_err(serving)?;
    let reloading = reload_on_hangup(None, None).map_err(serving)?;
    let list = keep_list(arguments.crl.clone(), responder);
    let keeping = tokio::spawn(async move {
        let never: Infallible = list.await;
        match never {}
    });
    let mut out = io::stdout().lock();
    let said = writeln!(out, "Serving OCSP on {}", server.listens_on().join(", ")).and_then(|()| {
        if let Some(port) = &watched {
            writeln!(
                out,
                "/metrics and /health are on {}.",
                port.listens_on().join(", ")
            )?;
        }
        out.flush()
    });
    drop(out);
    said.map_err(serving)?;
    let stopped = server.run(stop, reloading).await;
    keeping.abort();
    stopped.map_err(serving)
}

async fn open(address: &ListenAddress, option: &str) -> Result<Vec<Listener>, Failure> {
    let opened = Listener::open(address).await;
    opened.map_err(|error| serving(format!("can't listen on {address} ({option}): {error}")))
}
