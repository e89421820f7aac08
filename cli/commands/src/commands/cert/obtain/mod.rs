//! The command `pqtls cert obtain`: a certificate from a CA that speaks ACME, and its renewal when it is due.
//!
//! The way to it is that of [`pq_acme::client`]; here are its requests, what is shown for challenges, and the files.

mod due;
mod install;
mod key;
mod obtained;
mod pending;
mod showing;

use std::fs::File;
use std::path::{Path, PathBuf};

use pq_acme::client::{ExternalKey, Issued, Wanted};
use pq_acme::identifier::Identifier;
use pq_acme::jws::external_account::MacAlgorithm;
use pq_acme_client::{Account, Https, Notice, system_roots};
use pq_serving::client::Target;
use pq_x509::certificate::Certificate;
use rustls::ClientConfig;
use tokio::runtime::Runtime;

use self::due::Due;
use self::key::{CertificateKey, KeyOptions};
use self::obtained::{Obtained, Outcome};
use self::pending::Pair;
use self::showing::Showing;
use crate::commands::delivery::Delivery;
use crate::commands::servers::to_server;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::{AcmeFailure, Failure};
use crate::files::{self, Access, Destination, Output, Source};
use crate::passphrases::PassphraseOptions;
use crate::report;

/// Obtain a certificate from a CA by ACME, or renew it when it is due
///
/// The CA, such as Let's Encrypt or "pqtls ca serve", has to be convinced that the names are yours: say how with --http-01,
/// --webroot, --tls-alpn-01, --dns-hook or --dns-update. The certificate and the CAs of its chain go to --out once it was checked that it is
/// for the key and for the names. The account's key is made at the first time, of ML-DSA-65 or, if the CA doesn't take that,
/// of what it takes.
///
/// With --renew, nothing is done before the certificate in --out is due: when the CA says so (RFC 9773), or else after two thirds
/// of its time. Then the exit status is 6. A new key and its certificate are replaced together; what an interrupted run left is
/// finished by the next one. --install makes a timer of systemd that renews.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What the certificate is to be for: DNS names, whose first label may be "*", and IP addresses
    #[arg(value_name = "NAME", value_parser = identifier, required_unless_present = "csr", conflicts_with = "csr")]
    names: Vec<Identifier>,

    /// The URL of the CA's directory
    #[arg(long, value_name = "URL")]
    from: String,

    /// A file with the roots to trust for the CA's server [default: those of this system]
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,

    /// Where to write the certificate and its chain; "-" is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: Destination,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Renew the certificate in --out if it is due, and do nothing otherwise
    #[arg(long)]
    renew: bool,

    #[command(flatten)]
    key: KeyOptions,

    #[command(flatten, next_help_heading = "How to convince the CA")]
    showing: Showing,

    #[command(flatten, next_help_heading = "Account and order")]
    account: AccountOptions,

    /// Make a service and a timer of systemd that renew the certificate by these options, and do nothing else [default
    /// folder: /etc/systemd/system]
    #[arg(
        long,
        value_name = "FOLDER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = UNITS,
        help_heading = "Timer"
    )]
    install: Option<PathBuf>,

    /// Print the service and the timer instead
    #[arg(long, help_heading = "Timer")]
    print: bool,
}

/// What CAs are told that this program is.
const AGENT: &str = concat!("pqtls/", env!("CARGO_PKG_VERSION"));

/// Where systemd looks for units of this machine.
const UNITS: &str = "/etc/systemd/system";

/// The account, and what it orders.
#[derive(Clone, Debug, clap::Args)]
struct AccountOptions {
    /// The private key of your account, which is made if there is none [default: acme-HOST.key beside the certificate]
    #[arg(long, value_name = "FILE")]
    account: Option<PathBuf>,

    /// Where the CA can reach you, such as alice@example.org; once for each
    #[arg(long, value_name = "ADDRESS")]
    contact: Vec<String>,

    /// Agree to the CA's terms of service
    #[arg(long)]
    agree_terms: bool,

    /// The identifier that the CA gave you, if it makes accounts only for its customers
    #[arg(long, value_name = "TEXT", requires = "eab_key_file")]
    eab_kid: Option<String>,

    /// A file with the key that it gave you, in base64url
    #[arg(long, value_name = "FILE", requires = "eab_kid")]
    eab_key_file: Option<Source>,

    /// The profile of the certificate, one that the CA has
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert obtain a.org --from https://ca.example/ --http-01 --key a.key --out a.pem --print

A server on this machine that has port 80 free, once and then by a timer:
  pqtls cert obtain a.org --from https://ca.example/ --http-01 --new-key a.key --out a.pem";

fn identifier(text: &str) -> Result<Identifier, String> {
    match text.parse() {
        Ok(address) => Ok(Identifier::Ip(address)),
        Err(_) => Identifier::dns(text).map_err(|error| error.to_string()),
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let target = target(&arguments.from)?;
    arguments.showing.check()?;
    if arguments.print || arguments.install.is_some() {
        let folder = arguments.install.as_deref();
        let folder = folder.unwrap_or_else(|| Path::new(UNITS));
        return install::run(arguments, folder, json);
    }
    let (out, new_key) = (&arguments.out, &arguments.key.new_key);
    if arguments.renew && *out == Destination::StandardOutput {
        return Err(AcmeFailure::NeedsFile { option: "renew" }.into());
    }
    let _alone = alone(out)?;
    let finished = match new_key {
        Some(key) => pending::finish(key, out)?,
        None => false,
    };
    if finished {
        report::say(format_args!(
            "an interrupted run had its certificate already: {out} and its key are in place now"
        ));
    }
    let may_replace = arguments.force || arguments.renew;
    if finished && !may_replace {
        let chain = documents::certificates(&source(out))?;
        report::print(&Obtained::of(arguments, Outcome::Finished, &chain[0]), json)?;
        return Ok(ExitStatus::Done);
    }
    let destinations: Vec<&Destination> = [out].into_iter().chain(new_key).collect();
    let delivery = Delivery::to(&destinations, may_replace, json)?;
    let runtime = Runtime::new().map_err(|error| AcmeFailure::Tls(error.to_string()))?;
    let mut https = Https::new(trusting(arguments.trust.as_deref())?, AGENT);
    let mut outcome = Outcome::Obtained;
    let mut replaces = None;
    if arguments.renew
        && let Some(old) = current(out)?
    {
        match runtime.block_on(due::look(&mut https, arguments, &old))? {
            Due::Later(moment) => {
                let report = Obtained::of(arguments, Outcome::NotDue, &old).at(&moment);
                report::print(&report, json)?;
                return Ok(ExitStatus::NothingToDo);
            }
            Due::Now { why, replaced } => {
                report::say(format_args!("{out} is renewed: {why}"));
                outcome = Outcome::Renewed;
                replaces = replaced;
            }
        }
    }
    let key = arguments.key.key(&arguments.names)?;
    let account = account_file(arguments, &target);
    let issued = runtime.block_on(obtain(arguments, &mut https, &key, &account, replaces))?;
    let pem = Certificate::chain_to_pem(&issued.chain);
    let report = Obtained::of(arguments, outcome, &issued.chain[0]).by(&issued.account, &account);
    let chain = Output {
        to: out,
        content: pem.as_bytes(),
        access: Access::Public,
        is_binary: false,
    };
    match (&key, new_key) {
        (CertificateKey::New { pem: private, .. }, Some(to)) => {
            let pair = Pair {
                key: private,
                chain: &pem,
            };
            let pending = pair.keep(out)?;
            let private = Output {
                to,
                content: private.as_bytes(),
                access: Access::Private,
                is_binary: false,
            };
            let status = delivery.deliver(&[private, chain], &report)?;
            files::remove(pending.into_iter().collect());
            Ok(status)
        }
        _ => delivery.deliver(&[chain], &report),
    }
}

/// The server, whose URL is looked at before anything is done.
fn target(url: &str) -> Result<Target, Failure> {
    url.parse().map_err(|why: pq_serving::client::NotATarget| {
        let (url, why) = (url.to_owned(), why.to_string());
        AcmeFailure::Url { url, why }.into()
    })
}

fn source(out: &Destination) -> Source {
    match out {
        Destination::StandardOutput => Source::StandardInput,
        Destination::File(path) => Source::File(path.clone()),
    }
}

/// The certificate that is there.
fn current(out: &Destination) -> Result<Option<Certificate>, Failure> {
    match out {
        Destination::File(path) if path.exists() => {
            Ok(Some(documents::first_certificate(&source(out))?))
        }
        _ => Ok(None),
    }
}

/// Lets no other run change files of this folder, as long as what this returns is kept. Systems on which folders can't be locked
/// have to do without.
fn alone(out: &Destination) -> Result<Option<File>, Failure> {
    let Destination::File(path) = out else {
        return Ok(None);
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let Ok(folder) = File::open(folder.unwrap_or_else(|| Path::new("."))) else {
        return Ok(None);
    };
    if matches!(folder.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
        report::say("waiting for another run that obtains a certificate in this folder");
        // Whatever keeps it from waiting: the files are replaced one by one, and never written in place.
        let _ = folder.lock();
    }
    Ok(Some(folder))
}

/// TLS to the CA's server.
fn trusting(roots: Option<&Path>) -> Result<ClientConfig, Failure> {
    let roots = match roots {
        Some(roots) => roots,
        None => system_roots().ok_or(AcmeFailure::NoRoots)?,
    };
    Ok(to_server(roots, None).map_err(AcmeFailure::Tls)?)
}

fn account_file(arguments: &Arguments, target: &Target) -> PathBuf {
    arguments.account.account.clone().unwrap_or_else(|| {
        let host = target.authority().replace([':', '[', ']'], "-");
        let name = format!("acme-{host}.key");
        match &arguments.out {
            Destination::File(path) => path.with_file_name(name),
            Destination::StandardOutput => name.into(),
        }
    })
}

/// Obtains the certificate, by the account of that file, which is made if there is none.
async fn obtain(
    arguments: &Arguments,
    https: &mut Https,
    key: &CertificateKey,
    file: &Path,
    replaces: Option<String>,
) -> Result<Issued, Failure> {
    let options = &arguments.account;
    let mut account = account(file)?;
    // What can be shown, obtain() asks.
    let mut wanted = Wanted::new(key.names().to_vec(), key.csr().clone(), Vec::new());
    wanted.profile.clone_from(&options.profile);
    wanted.replaces = replaces;
    wanted.contact = options
        .contact
        .iter()
        .map(|contact| contact_url(contact))
        .collect();
    wanted.agrees = options.agree_terms;
    wanted.external = external(options)?;
    let (from, showing) = (&arguments.from, &arguments.showing);
    let notice = |notice: Notice<'_>| report::say(notice);
    let issued = pq_acme_client::obtain(https, from, &mut account, &wanted, showing, &notice).await;
    Ok(issued?)
}

/// The key of a file, or a new one.
fn account(file: &Path) -> Result<Account, Failure> {
    if !file.exists() {
        return Ok(Account::new(file)?);
    }
    let source = Source::File(file.into());
    let key = documents::signing_key(&source, &PassphraseOptions::default())?;
    Ok(Account::of(key, file))
}

/// A contact without a scheme is an address of e-mail.
fn contact_url(contact: &str) -> String {
    match contact.contains(':') {
        true => contact.into(),
        false => format!("mailto:{contact}"),
    }
}

/// The key that binds the account to one that the CA knows.
fn external(options: &AccountOptions) -> Result<Option<ExternalKey>, Failure> {
    let (Some(kid), Some(file)) = (&options.eab_kid, &options.eab_key_file) else {
        return Ok(None);
    };
    const LIMIT: usize = 64 << 10;
    let text = file.read(LIMIT).map_err(documents::DocumentError::from)?;
    let text = String::from_utf8_lossy(&text);
    // Some CAs write the padding, too.
    let key = pq_jose::encoding::base64url::decode(text.trim().trim_end_matches('='));
    let key = key.map_err(|error| AcmeFailure::ExternalKey {
        file: file.to_string(),
        why: error.to_string(),
    })?;
    Ok(Some(ExternalKey {
        kid: kid.clone(),
        key,
        algorithm: MacAlgorithm::Hs256,
    }))
}
