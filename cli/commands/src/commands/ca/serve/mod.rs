//! The command `pqtls ca serve`: a CA's doors over HTTP.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod acme;
mod est;
mod kept_file;
mod keys;
mod watching;

use alloc::sync::Arc;
use core::net::{IpAddr, SocketAddr};
use core::str::FromStr;
use core::time::Duration;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use pq_ca::policy::parse_duration;
use pq_ca_server::{Clock, Doors, ListSettings, OwnCertificate, PublishedCa, Settings, TlsKey};
use pq_serving::options::{LimitOptions, ListenOptions, LogOptions};
use pq_serving::{
    Limits, ListenAddress, Listener, Server, StopSignals, Tls, provider, record_facade,
    reload_on_hangup,
};
use pq_x509::pki_types::PrivatePkcs8KeyDer;
use rustls::crypto::CryptoProvider;
use rustls_pq::Profile;
use rustls_pq::identity::{FilePair, Identities, IdentityFiles, IdentitySet, Watcher};
use tokio::runtime::Runtime;

use self::acme::{AcmeOptions, Opened};
use self::est::{EstOptions, OpenedEst};
use self::keys::Keys;
use self::watching::keep_watching;
use super::ca_key::CaKeyOptions;
use super::place::{Actor, Place};
use crate::arguments::AlgorithmParser;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::keys::{Algorithm, PrivateKey};

/// Serve the CA over HTTP: OCSP, revocation lists, certificates, and a page for people
///
/// What clients fetch by http:, OCSP (/ocsp), lists (/lists/issuing.crl) and certificates (/certificates/root.crt), is at --plain, and
/// also at the paths of the URLs that the CA's policy puts into certificates. Over TLS, at --listen, there is the same, a page
/// for people at / that says how to trust the CA, and /health, which answers 503 while the CA can't issue. The server's
/// certificate is one that the CA issues to it for --name and renews, with a key in memory, or that of --cert.
///
/// Lists are made each hour (--list-every), kept in a folder and confirmed in the ledger. A revocation is told by OCSP within a second, and by
/// lists with the next one; caches may keep both for an hour (--max-age). The policy and the CA's keys are read again
/// within ten seconds when they change. SIGTERM ends the server, and lets running requests finish.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, next_line_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    listening: ListenOptions,

    /// Where OCSP, lists and certificates are served over plain HTTP, and nothing else: what --listen takes; can be repeated
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    plain: Vec<ListenAddress>,

    /// A name or address of this server, which the CA's policy has to permit: the CA issues a certificate for it; can be repeated
    #[arg(
        long,
        value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new(),
        required_unless_present = "cert",
        conflicts_with = "cert"
    )]
    name: Vec<String>,

    /// The algorithm of the server's key [default: ML-DSA-65, or the CA's own if that is a classical one]
    #[arg(long, value_name = "ALGORITHM", value_parser = AlgorithmParser, requires = "name")]
    tls_algorithm: Option<Algorithm>,

    /// PEM file with a certificate chain for this server, leaf first, in place of one by the CA; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// PEM file with the private key of the chain's leaf
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// The folder of the revocation lists, which is made if it is missing; servers of one CA on one machine have the same
    /// [default: lists in the CA's folder]
    #[arg(long, value_name = "DIR")]
    lists: Option<PathBuf>,

    /// After how long a list is made anew; at the latest half through its validity
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    list_every: Duration,

    /// For how long caches may keep OCSP responses and lists, at most
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    max_age: Duration,

    /// Answer OCSP requests that have a nonce with responses that have none, which are signed once for all (RFC 9919)
    #[arg(long)]
    no_nonces: bool,

    /// Where clients reach this server over TLS, if that is another URL than the first --name has at the port of --listen
    #[arg(long, value_name = "URL")]
    url: Option<ServerUrl>,

    #[command(flatten)]
    acme: AcmeOptions,

    #[command(flatten)]
    est: EstOptions,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    log: LogOptions,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

/// The beginning of URLs of the server: a scheme, a host and maybe a port.
#[derive(Clone, Debug)]
struct ServerUrl(String);

impl FromStr for ServerUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let host = text.strip_prefix("https://").unwrap_or_default();
        let host = host.strip_suffix('/').unwrap_or(host);
        let is_host = !host.is_empty()
            && host
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
        match is_host {
            true => Ok(Self(format!("https://{host}"))),
            false => Err("write https:// and a host, maybe with a port: https://ca.example.org"),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca serve --name ca.example.org

With ACME, for servers of a network of one's own:
  pqtls ca serve --name ca.example.org --acme --ask 10.0.0.0/8

With EST, for devices that users.toml names: [[users]], name = \"NAME\" and password = \"HASH\":
  pqtls ca serve --name ca.example.org --est --est-users users.toml

A hash of a password for that file:
  python3 -c 'import getpass as g, hashlib as h, os; s = os.urandom(16); print(
    \"pbkdf2-sha256:600000:%s:%s\" % (s.hex(), h.pbkdf2_hmac(
    \"sha256\", g.getpass().encode(), s, 600000).hex()))'

On the usual ports, and watched:
  pqtls ca serve --name ca.example.org --listen [::]:443 --plain [::]:80 --metrics 127.0.0.1:9464

URLs of this server for certificates, in policy.toml:
  [revocation-lists]
  urls = [\"http://ca.example.org/lists/issuing.crl\"]
  [ocsp]
  urls = [\"http://ca.example.org/ocsp\"]";

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How long requests may still run whose clients are cut off.
const LAST_REQUESTS: Duration = Duration::from_secs(3);
/// A connection without TLS costs a client nothing, so it doesn't last long.
const PLAIN_CONNECTION: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let folder = arguments.place.open()?;
    let acme = arguments.acme.open(&arguments.place.path())?;
    let est = arguments.est.open()?;
    // Before anything listens: it may ask for a passphrase.
    let mut keys = Keys::new(arguments.ca_key.clone(), folder);
    let (ca, stamp) = (keys.published()?, keys.stamp()?);
    let algorithm = arguments.tls_algorithm.or_else(|| keys.algorithm_for_tls());
    arguments.log.start("pqtls_commands");
    record_facade(&[]).map_err(serving)?;
    let runtime = Runtime::new().map_err(serving)?;
    let served = runtime.block_on(serve(arguments, ca, algorithm, (keys, stamp), (acme, est)));
    runtime.shutdown_timeout(LAST_REQUESTS);
    Ok(match served? {
        true => ExitStatus::Done,
        false => ExitStatus::InputOutput,
    })
}

/// For `map_err`.
pub(super) fn serving(error: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Failure {
    Failure::Serving(error.into())
}

/// Serves until a signal comes. Returns whether it ended by itself.
async fn serve(
    arguments: &Arguments,
    ca: PublishedCa,
    algorithm: Option<Algorithm>,
    (keys, stamp): (Keys, keys::Stamp),
    (acme, est): (Option<Opened<'_>>, Option<OpenedEst>),
) -> Result<bool, Failure> {
    let mut listeners = Vec::new();
    for address in &arguments.plain {
        let opened = Listener::open(address).await;
        listeners.extend(
            opened.map_err(|error| {
                serving(format!("can't listen on {address} (--plain): {error}"))
            })?,
        );
    }
    let limits = Limits::from(arguments.limits);
    let doors = Doors::new(ca, arguments.settings());
    let provider = provider(Profile::Default, &[]).map_err(serving)?;
    let Shown {
        identities,
        own,
        watcher,
    } = arguments.identities(&doors, algorithm, provider.clone())?;
    let clients = arguments.est.client_certificates(&provider);
    let tls = Tls::with(provider.clone(), identities.clone(), clients).map_err(serving)?;
    let listening = arguments
        .listening
        .start(tls, limits, None, doors.clone())
        .await
        .map_err(serving)?;
    listening.counts.ready_if({
        let doors = doors.clone();
        move || doors.problem()
    });
    let plain = Server::plain()
        .limits(Limits {
            connection: PLAIN_CONNECTION,
            ..limits
        })
        .metrics(&listening.counts)
        .handler(doors.clone())
        .listen(listeners)
        .map_err(serving)?;
    // Before anyone is told that the server is there.
    let stop = StopSignals::catch().map_err(serving)?;
    let reloading = reload_on_hangup(watcher, None).map_err(serving)?;
    let looked = {
        let doors = doors.clone();
        tokio::task::spawn_blocking(move || doors.look()).await
    };
    looked.map_err(serving)?;
    let directory = match acme {
        None => None,
        Some(acme) => {
            let url = arguments.url(listening.server.local_addr().port());
            Some(acme.mount(&doors, &url, provider).await?)
        }
    };
    let (directory, keeping_acme) = directory.unzip();
    let est = match est {
        None => None,
        Some(est) => {
            let url = arguments.url(listening.server.local_addr().port());
            Some(est.mount(&doors, &url)?)
        }
    };
    let (est, keeping_est) = est.unzip();
    let mut keeping = vec![
        tokio::spawn(never(doors.clone().keep())),
        tokio::spawn(never(keep_watching(keys, stamp, doors.clone()))),
    ];
    keeping.extend(keeping_acme.into_iter().flatten());
    keeping.extend(keeping_est.flatten());
    if let Some(own) = own {
        let issuer = move || doors.issuer();
        keeping.push(tokio::spawn(never(own.keep(identities, issuer))));
    }
    welcome(
        listening.server.local_addr(),
        arguments.name.first(),
        plain.listens_on(),
        &[("ACME", directory), ("EST", est)],
        &listening.notes(),
    )
    .map_err(serving)?;
    let stopped = listening.server.run(stop, reloading).await;
    for task in keeping {
        task.abort();
    }
    if matches!(stopped, Ok(true)) {
        plain.shutdown().await;
    }
    stopped.map_err(serving)
}

/// What the server shows, and what renews it: the CA, or whoever writes the files.
struct Shown {
    identities: Arc<Identities>,
    own: Option<OwnCertificate>,
    watcher: Option<Watcher>,
}

/// Work that doesn't end, as a task.
async fn never(work: impl Future<Output = core::convert::Infallible>) {
    match work.await {}
}

impl Arguments {
    fn first_name(&self) -> &str {
        self.name.first().map_or("localhost", |name| &**name)
    }

    /// Where clients reach the server over TLS, which listens at this port.
    fn url(&self, port: u16) -> String {
        match &self.url {
            Some(ServerUrl(url)) => url.clone(),
            None => url("https", self.first_name(), Some(port)),
        }
    }

    fn settings(&self) -> Settings {
        let folder = self.lists.clone();
        let folder = folder.unwrap_or_else(|| self.place.path().join("lists"));
        let mut lists = ListSettings::in_folder(folder);
        (lists.every, lists.max_age) = (self.list_every, self.max_age);
        let mut settings = Settings::default();
        settings.lists = Some(lists);
        settings.ocsp.max_age = self.max_age;
        settings.ocsp.nonces = !self.no_nonces;
        settings.url = self.url(self.listening.port().unwrap_or_default());
        settings.acme_url = self.acme.directory_at(&settings.url);
        let name = self.first_name();
        let port = self.plain.iter().find_map(|address| match address {
            ListenAddress::Tcp(address) => Some(address.port()),
            _ => None,
        });
        settings.plain_url = Some(url("http", name, port));
        settings
    }

    fn identities(
        &self,
        doors: &Doors,
        algorithm: Option<Algorithm>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Shown, Failure> {
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            let (identities, watcher) = IdentityFiles::new(provider)
                .with_pair(FilePair::new(cert, key).as_default())
                .watch(LOOK_EVERY)
                .map_err(serving)?;
            return Ok(Shown {
                identities,
                own: None,
                watcher: Some(watcher),
            });
        }
        let make = move || {
            let algorithm =
                algorithm.ok_or("name an algorithm for the server's key: --tls-algorithm")?;
            let key = PrivateKey::generate(algorithm)?;
            let private = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
            Ok(TlsKey {
                public: Box::new(key),
                private: private.into(),
            })
        };
        let (names, by) = (self.name.clone(), self.actor.name());
        let own = OwnCertificate::new(names, make, by, provider, Clock::default());
        let (key, chain) = doors
            .issuer()
            .ok_or_else(|| serving("the CA has no key here"))?;
        let identity = own.issue(&*key, &chain).map_err(serving)?;
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        Ok(Shown {
            identities: Arc::new(identities),
            own: Some(own),
            watcher: None,
        })
    }
}

/// Of these parts, and a port that is not the scheme's own.
fn url(scheme: &str, name: &str, port: Option<u16>) -> String {
    let name = match name.parse::<IpAddr>() {
        // An address of version 6 is in brackets.
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => name.to_owned(),
    };
    match port {
        None | Some(0) => format!("{scheme}://{name}"),
        Some(443) if scheme == "https" => format!("{scheme}://{name}"),
        Some(80) if scheme == "http" => format!("{scheme}://{name}"),
        Some(port) => format!("{scheme}://{name}:{port}"),
    }
}

/// Prints on standard output; programs read the addresses from the first two lines.
fn welcome(
    address: SocketAddr,
    name: Option<&String>,
    plain: &[String],
    mounted: &[(&str, Option<String>)],
    notes: &str,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (ip, port) = (address.ip().to_string(), address.port());
    let name = name.map_or(&*ip, |name| &**name);
    match port {
        0 => writeln!(out, "Serving the CA")?,
        _ => writeln!(
            out,
            "Serving {}/ on {address}",
            url("https", name, Some(port))
        )?,
    }
    writeln!(
        out,
        "OCSP, lists and certificates are over plain HTTP on {}.",
        plain.join(", ")
    )?;
    for (what, url) in mounted {
        if let Some(url) = url {
            writeln!(out, "{what} is at {url}")?;
        }
    }
    write!(out, "{notes}")?;
    out.flush()
}
