//! The command line of the server.
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std, and so has the code that this is copied into"
)]

mod limit_options;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Parser, ValueEnum};
use pq_x509::{Certificate, SignatureAlgorithm, Sizes};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::danger::ClientCertVerifier;
use rustls_pq::identity::{FilePair, Identities, IdentityFiles, IdentitySet, Watcher};
use rustls_pq::verify::EnforceKeyUsage;
use rustls_pq::{Builder, Group, Profile, TrustAnchorId};
use tls_server::{
    Client, Identity, Instructions, Limits, ListWatcher, Pki, RevocableClients, RevocationFiles,
    Server, Tls, TlsError, client_verifier, groups_help, profile_parser, provider_builder,
    roots_from_pem_file,
};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{info, warn};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::limit_options::LimitOptions;

/// An HTTPS server with post-quantum key exchange and certificates.
///
/// Without arguments it issues a fresh ML-DSA-65 root and leaf for localhost, serves
/// them on 127.0.0.1:8443, and prints the commands that connect. GET / answers what was
/// negotiated, as text or, with `Accept: application/json`, as JSON. It speaks TLS 1.3 only,
/// whatever the profile. Stop it with Ctrl-C.
#[derive(Debug, Parser)]
#[command(
    version,
    after_long_help = EXAMPLES,
    group = ArgGroup::new("watched").args(["cert", "crl"]).multiple(true),
)]
struct Arguments {
    /// Address and port to listen on; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8443")]
    listen: SocketAddr,

    /// PEM file with a certificate chain to serve, leaf first; can be repeated, the most
    /// preferred one first
    ///
    /// Of the chains for the name that it requests, or of all chains if none is for that name, a client
    /// gets the first one that it can verify. But if it says that it trusts the root of a later chain, it
    /// gets that one. It can say so by the name of the CA (certificate_authorities) or by a trust anchor ID
    /// (see --trust-anchor). Many clients list ML-DSA but trust no ML-DSA root, browsers among them. So put
    /// first a chain that all clients trust, with every name that later chains have. An ML-DSA chain after it
    /// goes to clients that say they trust it, or that accept only ML-DSA.
    ///
    /// An OCSP response in DER can be beside a chain: server.ocsp for server.pem. Clients that ask for one get
    /// it with the chain until it expires. It need not be there; a newer response replaces it as a newer
    /// chain replaces an older one (see --watch). It is sent only if it can be verified: if the CA's certificate
    /// isn't in the chain, give it with --ocsp-issuers.
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        help_heading = "Certificates"
    )]
    cert: Vec<PathBuf>,

    /// PEM file with the private key of a chain's leaf: ML-DSA in any PKCS#8 form, or
    /// classical; one for each --cert, in the same order
    #[arg(
        long,
        value_name = "FILE",
        requires = "cert",
        help_heading = "Certificates"
    )]
    key: Vec<PathBuf>,

    /// PEM file with certificates of CAs that verify OCSP responses; they aren't sent. Needed for chains without
    /// the certificate of the leaf's issuer
    #[arg(
        long,
        value_name = "FILE",
        requires = "cert",
        help_heading = "Certificates"
    )]
    ocsp_issuers: Option<PathBuf>,

    /// Trust anchor ID of the CA of a --cert, such as ml-dsa.pem=32473.1; ask the CA for it; can be
    /// repeated
    ///
    /// Clients that send this ID in the extension trust_anchors, as Chromium does, get the chain in this
    /// --cert, whatever its place in the order.
    #[arg(
        long = "trust-anchor",
        value_name = "FILE=ID",
        value_parser = trust_anchor,
        requires = "cert",
        help_heading = "Certificates"
    )]
    trust_anchors: Vec<(PathBuf, TrustAnchorId)>,

    /// How often to look whether the files of --cert, --key and --crl, and the OCSP responses beside
    /// them, have changed; new clients get the new ones. SIGHUP makes the server read them at once
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=86_400),
        requires = "watched",
        help_heading = "Certificates"
    )]
    watch: u64,

    /// Algorithm of the fresh root, such as slh-dsa-shake-128s; if the server's key has another
    /// algorithm, there is an intermediate CA between them [default: the same]
    #[arg(
        long,
        value_name = "ALGORITHM",
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    root: Option<SignatureAlgorithm>,

    /// Directory for the fresh certificates, if no --cert is given
    #[arg(
        long,
        value_name = "DIRECTORY",
        default_value = "pki",
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    pki_dir: PathBuf,

    /// One more DNS name or address for the fresh certificate; can be repeated
    #[arg(
        long = "name",
        value_name = "NAME",
        value_parser = server_name,
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    names: Vec<ServerName<'static>>,

    /// Require client certificates that a CA in this PEM file issued
    #[arg(long, value_name = "FILE", help_heading = "Client certificates")]
    client_ca: Option<PathBuf>,

    /// Require client certificates from the fresh root, and issue one to connect with
    #[arg(
        long,
        conflicts_with_all = ["cert", "client_ca"],
        help_heading = "Client certificates"
    )]
    issue_client: bool,

    /// File with revocation lists for client certificates, PEM with any number of lists or DER with
    /// one; can be repeated
    ///
    /// A client is refused if its certificate, or that of a CA above it, is on a list. It is also refused if
    /// the lists can't tell: for each CA of its chain, the root included, there has to be a list whose time
    /// (nextUpdate) isn't over. The files are read again when they change (see --watch). An older list in place of
    /// a newer one readmits nobody until the next start: for a CA below --client-ca, from the moment on when one of
    /// its clients has connected, or from the start if --crl-issuers has the CA.
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_ca",
        help_heading = "Client certificates"
    )]
    crl: Vec<PathBuf>,

    /// PEM file with certificates of CAs below --client-ca that have lists in --crl: an older list in place of a newer
    /// one is noticed from the start, and not only once a client of the CA has connected
    #[arg(
        long,
        value_name = "FILE",
        requires = "crl",
        help_heading = "Client certificates"
    )]
    crl_issuers: Option<PathBuf>,

    /// Check the clients' own certificates against --crl, and not those of the CAs above them
    ///
    /// Then lists of the CAs that issue to clients are enough, but a CA that was revoked is not noticed.
    #[arg(long, requires = "crl", help_heading = "Client certificates")]
    crl_leaf_only: bool,

    /// Ask clients for post-quantum and classical signatures, for chains that mix both; without this, only
    /// for the kinds of the client CAs' keys
    #[arg(long, requires = "client_ca", help_heading = "Client certificates")]
    mixed_chains: bool,

    /// What to accept
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser(), default_value_t)]
    profile: Profile,

    #[arg(
        long,
        value_name = "GROUP,...",
        value_delimiter = ',',
        help = "Key exchange groups to accept [default: those of the profile]",
        long_help = groups_help(
            "Key exchange groups to accept; the client's preference decides among them"
        ),
    )]
    groups: Vec<Group>,

    #[command(flatten)]
    limits: LimitOptions,

    /// How to write the log, which goes to standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

const EXAMPLES: &str = "\
Examples:
  Serve fresh certificates for this machine's name to everyone:
    tls-server --listen 0.0.0.0:8443 --name myhost.example

  Serve a classical chain, and ML-DSA to clients that say they trust it, or accept nothing else:
    tls-server --cert ecdsa.pem --key ecdsa.key --cert ml-dsa.pem --key ml-dsa.key

  Serve a chain with its CA's OCSP response, which a scheduled command renews in server.ocsp:
    openssl ocsp -issuer ca.pem -cert server.pem -url http://ocsp.example/ -respout server.ocsp
    tls-server --cert server.pem --key server.key

  Serve ML-DSA-65 under a root that is to last for decades:
    tls-server --root slh-dsa-shake-128s

  Require a client certificate, and accept nothing below ML-KEM-1024:
    tls-server --issue-client --groups SecP384r1MLKEM1024,MLKEM1024

  Require a client certificate from a CA, which neither the CA nor its root has revoked:
    tls-server --client-ca root.pem --crl ca.crl --crl root.crl

Environment:
  RUST_LOG    what to log, such as `debug` or `tls_server=debug` [default: info]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    start_log(arguments.log_format);
    match run(arguments).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let builder = provider_builder(arguments.profile, &arguments.groups)?;
    let provider = Arc::new(builder.clone().build()?);
    let setup = match arguments.cert.is_empty() {
        false => Setup::from_files(&arguments, &provider)?,
        true => Setup::fresh(&arguments, &provider)?,
    };
    let client_roots = match &arguments.client_ca {
        Some(file) => Some(roots_from_pem_file(file)?),
        None => setup.client_roots,
    };
    let clients = client_roots.map(|roots| verify_clients(&arguments, builder, roots));
    let (client_verifier, lists) = clients.transpose()?.unzip();
    let client_files = match &arguments.client_ca {
        Some(_) => Some(("CLIENT.pem".into(), "CLIENT.key".into())),
        None => setup.client_files,
    };

    // Programs offer what CNSA 2.0 asks for only if they are told to.
    let groups = match (arguments.profile, arguments.groups.as_slice()) {
        (Profile::Cnsa2, []) => {
            let groups = provider.kx_groups.iter();
            groups.map(|group| group.name().into()).collect()
        }
        _ => arguments.groups,
    };

    let tls = Tls::with(provider, setup.identities, client_verifier)?;
    let limits = Limits::from(arguments.limits);
    let server = Server::bind(arguments.listen, tls, limits)
        .await
        .with_context(|| {
            format!(
                "can't listen on {}; choose another address or port with --listen",
                arguments.listen
            )
        })?;

    let instructions = Instructions {
        client: client_files,
        groups,
        ..Instructions::new(server.local_addr(), &setup.leaf, &setup.above, setup.ca)
    };
    // Before anyone is told that the server is there.
    let mut stop = StopSignals::catch().context("can't catch signals")?;
    let reloading =
        reload_on_hangup(setup.watcher, lists.flatten()).context("can't catch signals")?;
    print_welcome(&server, &instructions, &setup.notes)?;

    tokio::select! {
        stopped = stop.next() => stopped?,
        never = reloading => match never {},
    }
    info!(
        "stopping; running requests have {:?} to finish, or until Ctrl-C is pressed again",
        limits.grace
    );
    tokio::select! {
        drained = server.shutdown() => {
            if drained.cut_off > 0 {
                warn!(connections = drained.cut_off, "cut off what was still running");
            }
            info!("stopped");
            Ok(ExitCode::SUCCESS)
        }
        again = stop.next() => {
            again?;
            warn!("stopped without waiting any longer");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The verifier of client certificates, and the watcher of its revocation lists.
fn verify_clients(
    arguments: &Arguments,
    builder: Builder,
    roots: RootCertStore,
) -> anyhow::Result<(Arc<dyn ClientCertVerifier>, Option<ListWatcher>)> {
    let builder = match arguments.mixed_chains {
        false => builder.roots(&roots),
        true => builder,
    };
    if arguments.crl.is_empty() {
        return Ok((client_verifier(builder, roots)?, None));
    }
    let files = RevocationFiles {
        files: arguments.crl.clone(),
        leaf_only: arguments.crl_leaf_only,
    };
    let issuers = match &arguments.crl_issuers {
        Some(file) => certificates_in(file)?,
        None => Vec::new(),
    };
    let every = Duration::from_secs(arguments.watch);
    let (clients, lists) = RevocableClients::watch(builder, roots, files, &issuers, every)?;
    Ok((Arc::new(EnforceKeyUsage::new(clients)), Some(lists)))
}

fn certificates_in(file: &Path) -> anyhow::Result<Vec<Certificate>> {
    let read = || {
        anyhow::Ok(Certificate::chain_from_pem(&std::fs::read_to_string(
            file,
        )?)?)
    };
    read().with_context(|| format!("{} has no certificates that can be used", file.display()))
}

/// What to serve, and what clients need for it.
struct Setup {
    identities: Arc<Identities>,
    watcher: Option<Watcher>,
    leaf: Certificate,
    above: Vec<Certificate>,
    ca: PathBuf,
    client_roots: Option<RootCertStore>,
    client_files: Option<(PathBuf, PathBuf)>,
    notes: String,
}

impl Setup {
    fn from_files(arguments: &Arguments, provider: &Arc<CryptoProvider>) -> anyhow::Result<Self> {
        let Arguments {
            cert,
            key,
            trust_anchors,
            ocsp_issuers,
            ..
        } = arguments;
        anyhow::ensure!(
            cert.len() == key.len(),
            "{} of --cert and {} of --key; give one --key for each --cert, in the same order",
            cert.len(),
            key.len()
        );
        for (file, id) in trust_anchors {
            anyhow::ensure!(
                cert.contains(file),
                "--trust-anchor {file}={id} is about no --cert; write {file} as in the --cert",
                file = file.display()
            );
        }
        let ocsp_issuers = match ocsp_issuers {
            Some(file) => certificates_in(file)?,
            None => Vec::new(),
        };
        let files = cert.iter().zip(key).fold(
            IdentityFiles::new(provider.clone()),
            |files, (cert, key)| {
                let ids = trust_anchors.iter().filter(|(file, _)| file == cert);
                let pair = FilePair::new(cert, key).as_default();
                let pair = pair.with_ocsp_response(cert.with_extension("ocsp"));
                let pair = pair.with_ocsp_issuers(ocsp_issuers.iter().cloned());
                files.with_pair(pair.with_trust_anchors(ids.map(|(_, id)| *id)))
            },
        );
        let (identities, watcher) = files
            .watch(Duration::from_secs(arguments.watch))
            .map_err(TlsError::from)?;

        // Look at what is served: a file may have changed by now.
        let set = identities.current();
        let chains = set.identities().map(|identity| {
            let chain = identity.chain().iter();
            chain.map(|der| Certificate::from_der(der)).collect()
        });
        let chains = chains.collect::<Result<Vec<Vec<_>>, _>>()?;
        for (chain, file) in chains.iter().zip(cert) {
            warn_of_ca(chain, file);
        }
        let first = chains.first().and_then(|chain| chain.split_first());
        let (leaf, above) = first.context("there is no certificate to serve")?;
        let top = above.last().unwrap_or(leaf);
        Ok(Self {
            notes: format!("ROOT.pem is the certificate of {}.\n", top.issuer()),
            leaf: leaf.clone(),
            above: above.to_vec(),
            identities,
            watcher: Some(watcher),
            ca: "ROOT.pem".into(),
            client_roots: None,
            client_files: None,
        })
    }

    fn fresh(arguments: &Arguments, provider: &CryptoProvider) -> anyhow::Result<Self> {
        let names = names_for(arguments)?;
        let algorithm = match arguments.profile {
            Profile::Cnsa2 => SignatureAlgorithm::MlDsa87,
            _ => SignatureAlgorithm::MlDsa65,
        };
        let client = match arguments.issue_client {
            true => Client::Issued,
            false => Client::None,
        };
        let root = arguments.root.unwrap_or(algorithm);
        anyhow::ensure!(
            arguments.profile != Profile::Cnsa2 || root == algorithm,
            "CNSA 2.0 has only {algorithm} signatures, so there can be no {root} root; leave out --root, or \
             choose another --profile"
        );
        let mut pki = Pki::issue_under(root, algorithm, &names, client)?;
        let identity = Identity::try_from(&pki.server)?.check(provider)?;
        let files = pki.write(&arguments.pki_dir)?;
        Ok(Self {
            identities: Identities::new(IdentitySet::new().with_default(identity)).into(),
            watcher: None,
            client_roots: match pki.client {
                Some(_) => Some(pki.roots()?),
                None => None,
            },
            notes: format!(
                "Fresh {algorithm} certificates under a root of {root} are in {}. The chain: {}.\n",
                arguments.pki_dir.display(),
                Sizes::of(&pki.server.chain)
            ),
            leaf: pki.server.chain.remove(0),
            above: pki.server.chain,
            ca: files.root,
            client_files: files.client,
        })
    }
}

/// Warns of a CA's own certificate where a server's should be.
fn warn_of_ca(chain: &[Certificate], file: &Path) {
    let Some(leaf) = chain.first().filter(|leaf| leaf.is_ca()) else {
        return;
    };
    let whose = match leaf.subject() == leaf.issuer() {
        true => "a self-signed CA",
        false => "a CA",
    };
    warn!(
        file = %file.display(),
        subject = leaf.describe_subject(),
        "this is the certificate of {whose}, and rustls's clients refuse that as a server's \
         (CaUsedAsEndEntity); have the CA issue a certificate for the server, serve that one, and \
         let clients trust the CA's certificate"
    );
}

/// The names for the fresh certificate: this machine's, the address that it listens on,
/// and those asked for.
fn names_for(arguments: &Arguments) -> anyhow::Result<Vec<ServerName<'static>>> {
    let mut names = Vec::new();
    for name in ["localhost", "127.0.0.1", "::1"] {
        names.push(server_name(name)?);
    }
    let listens_on: IpAddr = arguments.listen.ip();
    if !listens_on.is_unspecified() {
        names.push(ServerName::IpAddress(listens_on.into()));
    }
    names.extend(arguments.names.iter().cloned());
    let mut seen = Vec::new();
    names.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    Ok(names)
}

/// A file and the ID of the CA that its chain ends at.
fn trust_anchor(text: &str) -> anyhow::Result<(PathBuf, TrustAnchorId)> {
    let (file, id) = text
        .rsplit_once('=')
        .context("there is no = between the file of a --cert and the ID")?;
    Ok((file.into(), id.parse()?))
}

fn server_name(text: &str) -> anyhow::Result<ServerName<'static>> {
    ServerName::try_from(text.to_owned())
        .with_context(|| format!("{text:?} is neither a DNS name nor an IP address"))
}

/// Prints on standard output; programs read the URL from the first line.
fn print_welcome(server: &Server, instructions: &Instructions, notes: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    write!(
        out,
        "Serving {} on {}\n{notes}\nConnect from another terminal, in this directory:\n\n\
         {instructions}",
        instructions.url(),
        server.local_addr(),
    )?;
    out.flush()?;
    Ok(())
}

/// Reads the certificates and the revocation lists again whenever SIGHUP arrives, on Unix, for as long as the
/// future is polled.
fn reload_on_hangup(
    watcher: Option<Watcher>,
    lists: Option<ListWatcher>,
) -> io::Result<impl Future<Output = std::convert::Infallible>> {
    #[cfg(unix)]
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            #[cfg(unix)]
            if hangup.recv().await.is_some() {
                if let Some(lists) = &lists {
                    lists.reload();
                }
                match &watcher {
                    Some(watcher) => watcher.reload(),
                    None => info!("SIGHUP: the certificates are not from files"),
                }
                continue;
            }
            // No more signals; the files are still watched.
            let _watching = (&watcher, &lists);
            std::future::pending::<()>().await;
        }
    })
}

/// Ctrl-C and, on Unix, SIGTERM.
struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl StopSignals {
    /// Catches the signals from now on, where the system has such a thing.
    fn catch() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    async fn next(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await?;
        Ok(())
    }
}

fn start_log(format: LogFormat) {
    // Not `EnvFilter`, whose regular expressions take long to compile.
    let filter: Targets = env::var("RUST_LOG")
        .ok()
        .and_then(|filter| filter.parse().ok())
        .unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    let log = fmt::layer().with_writer(io::stderr);
    let subscriber = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Text => subscriber
            .with(log.with_ansi(io::stderr().is_terminal()))
            .init(),
        LogFormat::Json => subscriber.with(log.json()).init(),
    }
}
