//! ACME, which a CA's server has beside the rest: where its objects are, and whom it asks.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};

use pq_acme::nonce::Nonces;
use pq_acme::store::Store;
use pq_ca::policy::Network;
use pq_ca_server::acme::{AcmeDoor, ExternalAccounts};
use pq_ca_server::validation::{Addresses, Ports, Resolver, Validator};
use pq_ca_server::{Clock, Doors};
use pq_keys::random;
use rustls::crypto::CryptoProvider;
use tokio::task::JoinHandle;

use super::kept_file::KeptFile;
use super::{never, serving};
use crate::arguments::NameServer;
use crate::commands::ca::acme_objects::{Objects, ObjectsPlace, Wishes};
use crate::failure::Failure;

/// Where ACME is.
const PATH: &str = "/acme";
/// How often it is looked for accounts that are to be ended.
const END_EVERY: Duration = Duration::from_secs(1);
/// Where systems say who resolves names.
const RESOLVERS: &str = "/etc/resolv.conf";

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "ACME")]
pub(super) struct AcmeOptions {
    /// Serve ACME at /acme: clients get what the table [acme] of the CA's policy says
    #[arg(long)]
    acme: bool,

    /// Where accounts and orders are kept: a file for this server alone, or postgres://… for several [default: acme.redb in the CA's
    /// folder]
    #[arg(long, value_name = "FILE", requires = "acme")]
    acme_objects: Option<ObjectsPlace>,

    /// A DNS server that looks up the names of challenges; can be repeated [default: those of /etc/resolv.conf]
    #[arg(long, value_name = "ADDRESS[:PORT]", requires = "acme")]
    resolver: Vec<NameServer>,

    /// A network whose addresses challenges may ask, such as 10.0.0.0/8, beside those of the internet; can be repeated
    #[arg(long, value_name = "NETWORK", requires = "acme")]
    ask: Vec<Network>,

    /// The port that http-01 asks
    #[arg(long, value_name = "PORT", default_value_t = 80, requires = "acme")]
    http_01_port: u16,

    /// The port that tls-alpn-01 asks
    #[arg(long, value_name = "PORT", default_value_t = 443, requires = "acme")]
    tls_alpn_01_port: u16,

    /// TOML file with the keys to which new accounts may be bound; it is read again when it changes. Accounts that are bound to one
    /// that is no longer there get no certificates
    #[arg(long, value_name = "FILE", requires = "acme")]
    external_accounts: Option<PathBuf>,
}

/// ACME, before there is a server.
pub(super) struct Opened<'o> {
    options: &'o AcmeOptions,
    objects: Objects,
    accounts: Option<KeptFile<ExternalAccounts>>,
    wishes: Option<Wishes>,
}

impl AcmeOptions {
    /// Opens the objects, if there is to be ACME. It may block.
    pub(super) fn open(&self, folder: &Path) -> Result<Option<Opened<'_>>, Failure> {
        if !self.acme {
            return Ok(None);
        }
        let place = self.acme_objects.clone();
        let place = place.unwrap_or_else(|| ObjectsPlace::in_folder(folder));
        let objects = place.open().map_err(serving)?;
        let wishes = place.path().map(Wishes::beside);
        if let Some(wishes) = &wishes {
            wishes.prepare().map_err(serving)?;
        }
        let accounts = self.external_accounts.as_deref();
        Ok(Some(Opened {
            options: self,
            objects,
            accounts: accounts.map(accounts_file).transpose()?,
            wishes,
        }))
    }
}

impl Opened<'_> {
    /// Mounts it at the doors, which are at this URL. Returns the URL for clients, and what keeps it.
    pub(super) async fn mount(
        self,
        doors: &Doors,
        url: &str,
        provider: Arc<CryptoProvider>,
    ) -> Result<(String, Vec<JoinHandle<()>>), Failure> {
        let options = self.options;
        let validator = Validator::new(options.resolver()?, provider).map_err(serving)?;
        let validator = validator
            .addresses(Addresses::with(options.ask.iter().copied()))
            .ports(Ports {
                http: options.http_01_port,
                tls_alpn: options.tls_alpn_01_port,
                ..Ports::default()
            });
        let files = (self.accounts, self.wishes);
        match self.objects {
            Objects::File(store) => mounted(store, validator, files, doors, url).await,
            Objects::Postgres(store) => mounted(store, validator, files, doors, url).await,
        }
    }
}

fn accounts_file(path: &Path) -> Result<KeptFile<ExternalAccounts>, Failure> {
    KeptFile::read(path, "the file of external accounts", |text| {
        ExternalAccounts::parse(text).map_err(|error| error.to_string())
    })
}

async fn mounted<S: Store + 'static>(
    store: S,
    validator: Validator,
    (accounts, wishes): (Option<KeptFile<ExternalAccounts>>, Option<Wishes>),
    doors: &Doors,
    url: &str,
) -> Result<(String, Vec<JoinHandle<()>>), Failure> {
    let mut key = [0; 32];
    random::fill(&mut key).map_err(serving)?;
    let shared = tokio::task::spawn_blocking(move || {
        let key = store.nonce_key(key);
        key.map(|key| (store, key))
    });
    let (store, key) = shared.await.map_err(serving)?.map_err(serving)?;
    let ca = doors.clone();
    let door = Arc::new(AcmeDoor::new(
        &format!("{url}{PATH}"),
        store,
        Nonces::new(key),
        validator,
        move || ca.issuing(),
        Clock::default(),
    ));
    let mut keeping = vec![tokio::spawn(never(door.clone().keep()))];
    if let Some(accounts) = accounts {
        door.replace_external_accounts(accounts.parsed()?);
        let door = door.clone();
        let replace = move |accounts| door.replace_external_accounts(accounts);
        keeping.push(tokio::spawn(never(accounts.keep(replace))));
    }
    if let Some(wishes) = wishes {
        keeping.push(tokio::spawn(never(end_accounts(wishes, door.clone()))));
    }
    doors.mount(PATH, door.clone());
    Ok((door.directory_url(), keeping))
}

/// Ends the accounts that the operator wishes to end.
async fn end_accounts<S: Store + 'static>(wishes: Wishes, door: Arc<AcmeDoor<S>>) -> Infallible {
    let mut said = None;
    loop {
        let (wishes, door) = (wishes.clone(), door.clone());
        let ended = tokio::task::spawn_blocking(move || end_each(&wishes, &door)).await;
        let error = match ended {
            Ok(ended) => ended.err(),
            Err(error) => Some(error.to_string()),
        };
        if let Some(error) = error.as_ref().filter(|_| error != said) {
            tracing::error!(
                error,
                "accounts that the operator wishes to end are not ended"
            );
        }
        said = error;
        tokio::time::sleep(END_EVERY).await;
    }
}

fn end_each<S: Store + 'static>(wishes: &Wishes, door: &AcmeDoor<S>) -> Result<(), String> {
    for account in wishes.all().map_err(|error| error.to_string())? {
        let ended = door.end_account(account.as_str());
        let is_known = ended.map_err(|error| error.to_string())?;
        match is_known {
            true => tracing::info!(account = account.as_str(), "the operator ended an account"),
            false => tracing::warn!(account = account.as_str(), "there is no account to end"),
        }
        let answered = wishes.answer(&account, is_known);
        answered.map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl AcmeOptions {
    /// Where ACME's directory is on a server at this URL, if there is to be ACME.
    pub(super) fn directory_at(&self, url: &str) -> Option<String> {
        self.acme.then(|| format!("{url}{PATH}/directory"))
    }

    fn resolver(&self) -> Result<Resolver, Failure> {
        let named: Vec<_> = self.resolver.iter().map(|one| one.address()).collect();
        let servers = match named.is_empty() {
            false => named,
            true => {
                let text = fs::read_to_string(RESOLVERS);
                let text = text.map_err(|error| {
                    serving(format!(
                        "{RESOLVERS} can't be read: {error}; name a DNS server: --resolver"
                    ))
                })?;
                name_servers(&text)
            }
        };
        Resolver::new(&servers).map_err(|error| {
            serving(format!(
                "no DNS server is in {RESOLVERS}: {error}; name one: --resolver"
            ))
        })
    }
}

/// Those of resolv.conf(5).
fn name_servers(text: &str) -> Vec<SocketAddr> {
    let servers = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let address = words.next().filter(|first| *first == "nameserver");
        let address = address.and_then(|_| words.next())?.parse::<IpAddr>().ok()?;
        Some(SocketAddr::new(address, 53))
    });
    servers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_are_those_of_the_system() {
        let text = "# c\nsearch a.example\nnameserver 192.0.2.1 \n  nameserver\t2001:db8::1\nnameserver x\noptions a\n";
        let expected = ["192.0.2.1:53", "[2001:db8::1]:53"].map(|one| one.parse().unwrap());
        assert_eq!(name_servers(text), expected);
        assert!(name_servers("nameservers 192.0.2.1").is_empty());
    }
}
