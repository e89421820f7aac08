//! The command line of the server.
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std, and so has the code that this is copied into"
)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Parser};
use pq_serving::demonstration::{Client, Instructions, Pki};
use pq_serving::options::{
    CertificateOptions, Fresh, FreshOptions, LimitOptions, ListenOptions, LogOptions,
    RevocationOptions, groups_help, profile_parser,
};
use pq_serving::{
    Identity, Limits, ListWatcher, Page, Server, StopSignals, Tls, provider_builder,
    reload_on_hangup, roots_from_pem_file,
};
use pq_x509::certificate::{Certificate, Sizes};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls_pq::identity::{Identities, IdentitySet, Watcher};
use rustls_pq::{Group, Profile};

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
    #[command(flatten)]
    listening: ListenOptions,

    #[command(flatten)]
    certificates: CertificateOptions,

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

    #[command(flatten)]
    fresh: FreshOptions,

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

    #[command(flatten)]
    lists: RevocationOptions,

    /// Ask clients for classical signatures also if all client CAs are post-quantum, for clients with a classical key
    /// under such a CA
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

    #[command(flatten)]
    log: LogOptions,
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

  Serve on the sockets of a systemd unit, and on a Unix socket for a group:
    tls-server --listen systemd --listen unix:/run/tls-server.socket,660

  Be watched by Prometheus and by whoever distributes requests:
    tls-server --metrics 127.0.0.1:9464
    curl http://127.0.0.1:9464/health

  Require a client certificate from a CA, which neither the CA nor its root has revoked:
    tls-server --client-ca root.pem --crl ca.crl --crl root.crl

Environment:
  RUST_LOG    what to log, such as `debug` or `tls_server=debug` [default: info]";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    arguments.log.start(env!("CARGO_CRATE_NAME"));
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
    let every = Duration::from_secs(arguments.watch);
    let mut setup = match arguments.certificates.cert.is_empty() {
        false => Setup::from_files(&arguments.certificates, &provider, every)?,
        true => Setup::fresh(&arguments, &provider)?,
    };
    let (client_roots, mut client_files) = match &arguments.client_ca {
        Some(file) => (
            Some(roots_from_pem_file(file)?),
            Some(("CLIENT.pem".into(), "CLIENT.key".into())),
        ),
        None => (setup.client_roots.take(), None),
    };
    let clients = client_roots.map(|roots| {
        let builder = match arguments.mixed_chains {
            false => builder.roots(&roots),
            true => builder,
        };
        arguments.lists.verify_clients(builder, roots, every)
    });
    let (client_verifier, lists) = clients.transpose()?.unzip();

    // Programs offer what CNSA 2.0 asks for only if they are told to.
    let groups = match (arguments.profile, arguments.groups.as_slice()) {
        (Profile::Cnsa2, []) => {
            let groups = provider.kx_groups.iter();
            groups.map(|group| group.name().into()).collect()
        }
        _ => arguments.groups,
    };

    let tls = Tls::with(provider, setup.identities, client_verifier)?;
    let lists = lists.flatten();
    let in_use = lists.as_ref().map(ListWatcher::in_use);
    let limits = Limits::from(arguments.limits);
    let bytes = limits.bytes;
    let page = Page { bytes };
    let listening = arguments.listening.start(tls, limits, in_use, page).await?;
    let server = &listening.server;
    // Not before the server has its sockets: the folder may be that of another one, which goes on.
    if let Some(pki) = &setup.fresh {
        let files = pki.write(&arguments.fresh.pki_dir)?;
        (setup.ca, client_files) = (files.root, client_files.or(files.client));
    }

    let instructions = Instructions {
        client: client_files,
        groups,
        ..Instructions::new(server.local_addr(), &setup.leaf, &setup.above, setup.ca)
    };
    // Before anyone is told that the server is there.
    let stop = StopSignals::catch().context("can't catch signals")?;
    let reloading = reload_on_hangup(setup.watcher, lists).context("can't catch signals")?;
    print_welcome(server, &instructions, &(listening.notes() + &setup.notes))?;
    Ok(match listening.server.run(stop, reloading).await? {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What to serve, and what clients need for it.
struct Setup {
    identities: Arc<Identities>,
    watcher: Option<Watcher>,
    leaf: Certificate,
    above: Vec<Certificate>,
    ca: PathBuf,
    client_roots: Option<RootCertStore>,
    /// To be written.
    fresh: Option<Pki>,
    notes: String,
}

impl Setup {
    fn from_files(
        options: &CertificateOptions,
        provider: &Arc<CryptoProvider>,
        every: Duration,
    ) -> anyhow::Result<Self> {
        let files = options.watch(provider, every)?;
        let top = files.above.last().unwrap_or(&files.leaf);
        Ok(Self {
            notes: format!("ROOT.pem is the certificate of {}.\n", top.issuer()),
            leaf: files.leaf,
            above: files.above,
            identities: files.identities,
            watcher: Some(files.watcher),
            ca: "ROOT.pem".into(),
            client_roots: None,
            fresh: None,
        })
    }

    fn fresh(arguments: &Arguments, provider: &CryptoProvider) -> anyhow::Result<Self> {
        let client = match arguments.issue_client {
            true => Client::Issued,
            false => Client::None,
        };
        let options = &arguments.fresh;
        let Fresh {
            pki,
            root,
            algorithm,
        } = options.issue(arguments.profile, arguments.listening.ip(), client)?;
        let identity = Identity::try_from(&pki.server)?.check(provider)?;
        Ok(Self {
            identities: Identities::new(IdentitySet::new().with_default(identity)).into(),
            watcher: None,
            client_roots: match pki.client {
                Some(_) => Some(pki.roots()?),
                None => None,
            },
            notes: format!(
                "Fresh {algorithm} certificates under a root of {root} are in {}. The chain: {}.\n",
                options.pki_dir.display(),
                Sizes::of(&pki.server.chain)
            ),
            leaf: pki.server.chain[0].clone(),
            above: pki.server.chain[1..].to_vec(),
            ca: PathBuf::new(),
            fresh: Some(pki),
        })
    }
}

/// Prints on standard output; programs read the URL from the first line.
fn print_welcome(server: &Server, instructions: &Instructions, notes: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if server.local_addr().port() == 0 {
        // Nothing that is printed below connects to a Unix socket.
        writeln!(
            out,
            "Serving on {}\n{notes}",
            server.listens_on().join(", ")
        )?;
        return Ok(out.flush()?);
    }
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
