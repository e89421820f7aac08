//! What challenges ask for is shown: by a server of our own, in a folder of a web server, or by a program that changes DNS.
//! All of it goes again when the certificate is there, and when there is none.

mod dns_hook;
mod webroot;

use core::net::SocketAddr;
use std::path::PathBuf;

use pq_acme::client::Shown;
use pq_acme::objects::ChallengeKind;
use pq_acme_client::{Visible, listen_http_01, listen_tls_alpn_01};

use crate::failure::Failure;

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
        if self.dns_hook.is_some() {
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
        if let Some(program) = &self.dns_hook {
            for one in of(&ChallengeKind::Dns01) {
                visible.keep(dns_hook::show(program, &one)?);
            }
        }
        Ok(visible)
    }
}
