//! An HTTPS client that reports what protected its connection.
#![forbid(unsafe_code)]
#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "programs have std, and so has the code that this is copied into"
)]

mod demonstration;

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pq_serving::RevocationFiles;
use pq_serving::client::{
    self, ClientIdentity, FetchError, Report, Request, Target, Trust, server_name,
};
use pq_serving::options::{groups_help, profile_parser};
use rustls::pki_types::ServerName;
use rustls_pq::{Group, Profile, Refusal};

/// An HTTPS client that reports what protected its connection.
///
/// Given a URL and a CA file, it connects, fetches the page, and prints what was
/// negotiated, the server's certificates, the bytes each way and the time of each phase;
/// then the page. It speaks TLS 1.3 only. Given no URL, it starts a server of its own on a
/// loopback port with fresh certificates, and does the same with that.
#[derive(Debug, Parser)]
#[command(version, after_long_help = EXAMPLES)]
struct Arguments {
    /// What to fetch, such as https://localhost:8443/
    #[arg(requires = "ca")]
    url: Option<Target>,

    /// PEM file with the root certificates to trust
    #[arg(long, value_name = "FILE", requires = "url")]
    ca: Option<PathBuf>,

    /// File with revocation lists, PEM with any number of lists or DER with one; can be repeated
    ///
    /// The server is refused if its certificate, or that of a CA above it, is on a list. It is also refused if
    /// the lists can't tell: for each CA of its chain, the root included, there has to be a list whose time
    /// (nextUpdate) isn't over. Without --crl, no lists are checked.
    #[arg(long, value_name = "FILE", requires = "url")]
    crl: Vec<PathBuf>,

    /// Check the server's own certificate against --crl, and not those of the CAs above it
    ///
    /// Then the list of the CA that issued it is enough, but a CA that was revoked is not noticed.
    #[arg(long, requires = "crl")]
    crl_leaf_only: bool,

    /// Refuse a server that sends no OCSP response along with its certificate
    ///
    /// A response that it sends is always checked: the server is refused if the response says that the
    /// certificate was revoked, or if the response is not valid. A server is also refused if it sends no
    /// response although its certificate says that it will (must-staple).
    #[arg(long, requires = "url")]
    require_ocsp: bool,

    /// Offer classical signatures also if all root certificates are post-quantum, for servers with a classical key under
    /// such a root
    #[arg(long, requires = "url")]
    mixed_chains: bool,

    /// What to offer and to accept
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser(), default_value_t)]
    profile: Profile,

    #[arg(
        long,
        value_name = "GROUP,...",
        value_delimiter = ',',
        help = "Key exchange groups to offer, the preferred one first [default: those of the profile]",
        long_help = groups_help(
            "Key exchange groups to offer, the preferred one first"
        ),
    )]
    groups: Vec<Group>,

    /// Connect to this address, whatever the URL's host resolves to
    #[arg(long, value_name = "ADDRESS:PORT", requires = "url")]
    connect: Option<SocketAddr>,

    /// Name or address to expect in the server's certificate [default: the URL's host]
    #[arg(long, value_name = "NAME", value_parser = server_name, requires = "url")]
    server_name: Option<ServerName<'static>>,

    /// PEM file with a certificate chain to present, leaf first
    #[arg(long, value_name = "FILE", requires_all = ["client_key", "url"])]
    client_cert: Option<PathBuf>,

    /// PEM file with the private key of the client's leaf
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,

    /// How long each phase may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    timeout: u64,

    /// Print the report as JSON, with the page in it
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  Watch a handshake with X25519MLKEM768 and ML-DSA-65:
    tls-client

  The same with another group:
    tls-client --groups SecP384r1MLKEM1024

  Connect to the server of this repository, started in another terminal:
    tls-client https://localhost:8443/ --ca pki/root.pem

  Connect with a client certificate:
    tls-client https://localhost:8443/ --ca pki/root.pem \\
        --client-cert pki/client.pem --client-key pki/client.key

  Connect, unless a CA has revoked a certificate of the server's chain:
    tls-client https://www.example.org/ --ca root.pem --crl ca.crl --crl root.crl

  Connect, if the server shows that its CA has not revoked its certificate:
    tls-client https://www.example.org/ --ca root.pem --require-ocsp

Exit status:
  0  the server answered, whatever the status of its answer
  1  no answer; standard error says why
  2  the command line is wrong";

/// What the client calls itself.
const USER_AGENT: &str = concat!("tls-client/", env!("CARGO_PKG_VERSION"));

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let advice = error.downcast_ref().and_then(advice);
            let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
            eprintln!("error: {error}{advice}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let json = arguments.json;
    let timeout = Duration::from_secs(arguments.timeout);
    let (introduction, report) = match (arguments.url, arguments.ca) {
        (Some(target), Some(ca)) => {
            let lists = RevocationFiles {
                files: arguments.crl,
                leaf_only: arguments.crl_leaf_only,
            };
            let request = Request {
                address: arguments.connect,
                server_name: arguments.server_name,
                require_ocsp: arguments.require_ocsp,
                mixed_chains: arguments.mixed_chains,
                profile: arguments.profile,
                groups: arguments.groups,
                client: match (arguments.client_cert, arguments.client_key) {
                    (Some(cert), Some(key)) => Some(ClientIdentity { cert, key }),
                    _ => None,
                },
                revocation: (!lists.files.is_empty())
                    .then(|| lists.load())
                    .transpose()?,
                timeout,
                user_agent: USER_AGENT,
                warn: |what| eprintln!("warning: {what}"),
                trust: Trust::from_pem_file(&ca)?,
                target,
            };
            (None, client::fetch(request).await?)
        }
        _ => {
            let (introduction, report) =
                demonstration::run(arguments.profile, arguments.groups, timeout).await?;
            (Some(introduction), report)
        }
    };
    match print(introduction, &report, json) {
        // The reader, perhaps `head`, has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(|error| format!("the report can't be written: {error}").into()),
    }
}

fn print(introduction: Option<String>, report: &Report, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match json {
        true => {
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        false => {
            if let Some(introduction) = introduction {
                writeln!(out, "{introduction}\n")?;
            }
            write!(out, "{report}")?;
            out.write_all(&report.response.body)?;
        }
    }
    out.flush()
}

/// Which option of this program helps.
fn advice(error: &FetchError) -> Option<&'static str> {
    Some(match error {
        FetchError::TimedOut { .. } => "try again, or allow more with --timeout",
        FetchError::Resolve { .. } | FetchError::NoAddress { .. } => {
            "check the name, or give an address with --connect"
        }
        FetchError::Tls(diagnosis) => match &diagnosis.refusal {
            Refusal::UnknownIssuer { .. } if !diagnosis.chain.is_empty() => {
                "name another file with --ca"
            }
            Refusal::RevocationUnknown { .. } => {
                "--crl names files with lists; with --crl-leaf-only, the list of the CA \
                 that issued the server's certificate is enough"
            }
            Refusal::WrongName { .. } => "--server-name says which name to expect",
            Refusal::NothingInCommon { .. } => {
                "--groups and --profile say what to offer, and --mixed-chains offers classical signatures \
                 also if all roots are post-quantum"
            }
            Refusal::ClientCertificateRequired => {
                "name its files with --client-cert and --client-key"
            }
            Refusal::CertificateRefused { .. } => {
                "name the files of another one with --client-cert and --client-key"
            }
            _ => return None,
        },
        _ => return None,
    })
}
