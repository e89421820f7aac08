//! What challenges ask for is shown: by a server of our own, in a folder of a web server, or in DNS.
//! All of it goes again when the certificate is there, and when there is none.

mod dns_01;
mod webroot;

use core::net::SocketAddr;
use std::path::PathBuf;

use pq_acme::client::Shown;
use pq_acme::objects::ChallengeKind;
use pq_acme_client::{DnsRecord, DnsUpdate, TsigKey, Visible, listen_http_01, listen_tls_alpn_01};

use crate::arguments::NameServer;
use crate::failure::{AcmeFailure, Failure};

/// The most bytes of a file with a key of a name server.
const MAX_DNS_KEY: usize = 64 * 1024;

/// How challenges are shown. Several can be named: each name takes the first that the CA offers for it.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "challenges", multiple = true, required = true)]
pub(super) struct Showing {
    /// Answer challenges by HTTP (http-01) at an address of this machine, for as long as this command runs; the CA asks at
    /// port 80 [default address: all, port 80]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "[::]:80")]
    http_01: Option<SocketAddr>,

    /// Answer them by files below .well-known/acme-challenge in this folder of a web server that runs already
    #[arg(long, value_name = "FOLDER", conflicts_with = "http_01")]
    webroot: Option<PathBuf>,

    /// Answer challenges by TLS (tls-alpn-01) at an address of this machine, for as long as this command runs; the CA asks at
    /// port 443 [default address: all, port 443]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "[::]:443")]
    tls_alpn_01: Option<SocketAddr>,

    /// Answer challenges by DNS (dns-01), which wildcards need, with a program: it is run as PROGRAM add NAME VALUE, has to
    /// return once all servers of the zone have the TXT record, and is run as PROGRAM remove NAME VALUE in the end
    #[arg(long, value_name = "PROGRAM")]
    dns_hook: Option<PathBuf>,

    /// Answer challenges by DNS by telling this name server (DNS UPDATE): an address, with a port if that isn't 53. All servers of
    /// the zone are waited for, a minute at most
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "dns_key",
        conflicts_with = "dns_hook"
    )]
    dns_update: Option<NameServer>,

    /// The key that the name server lets change the zone, in a file that "tsig-keygen" of BIND wrote
    #[arg(long, value_name = "FILE", requires = "dns_update")]
    dns_key: Option<PathBuf>,
}

impl pq_acme_client::Showing for Showing {
    type Error = Failure;

    fn kinds(&self) -> Vec<ChallengeKind> {
        let mut kinds = Vec::new();
        if self.http_01.is_some() || self.webroot.is_some() {
            kinds.push(ChallengeKind::Http01);
        }
        if self.tls_alpn_01.is_some() {
            kinds.push(ChallengeKind::TlsAlpn01);
        }
        if self.dns_hook.is_some() || self.dns_update.is_some() {
            kinds.push(ChallengeKind::Dns01);
        }
        kinds
    }

    async fn show(&self, shown: &[Shown]) -> Result<Visible, Failure> {
        let of = |kind: &ChallengeKind| -> Vec<Shown> {
            let shown = shown.iter().filter(|one| one.kind == *kind);
            shown.cloned().collect()
        };
        let mut visible = Visible::default();
        let http = of(&ChallengeKind::Http01);
        if !http.is_empty() {
            if let Some(folder) = &self.webroot {
                visible.keep(webroot::show(folder, &http)?);
            } else if let Some(address) = self.http_01 {
                visible.keep(listen_http_01(address, &http).await?);
            }
        }
        let tls = of(&ChallengeKind::TlsAlpn01);
        if let (Some(address), false) = (self.tls_alpn_01, tls.is_empty()) {
            visible.keep(listen_tls_alpn_01(address, &tls).await?);
        }
        let dns = of(&ChallengeKind::Dns01);
        if !dns.is_empty() {
            let server = self.server()?;
            for one in dns {
                let record = match (&self.dns_hook, &server) {
                    (Some(program), _) => DnsRecord::by_hook(program, &one),
                    (None, Some(server)) => DnsRecord::by_update(server, &one),
                    (None, None) => continue,
                };
                visible.keep(dns_01::show(record)?);
            }
        }
        Ok(visible)
    }
}

impl Showing {
    /// Whether all of it can be used, before the CA is asked for anything.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.server().map(drop)
    }

    /// The name server that is told, with its key.
    fn server(&self) -> Result<Option<DnsUpdate>, Failure> {
        let (Some(server), Some(path)) = (self.dns_update, &self.dns_key) else {
            return Ok(None);
        };
        let unfit = |why: &dyn core::fmt::Display| AcmeFailure::DnsKey {
            file: path.display().to_string(),
            why: why.to_string(),
        };
        let text =
            pq_keys::files::read_private(path, MAX_DNS_KEY).map_err(|error| unfit(&error))?;
        let text = core::str::from_utf8(&text).map_err(|error| unfit(&error))?;
        let key = TsigKey::parse(text).map_err(|error| unfit(&error))?;
        Ok(Some(DnsUpdate::new(server.address(), key)))
    }
}
