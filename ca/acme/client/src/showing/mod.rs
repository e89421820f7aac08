//! What challenges ask for is shown: by servers of our own, in a folder of a web server, or in DNS.
//! All of it goes again when the certificate is there, and when there is none.

mod dns_01;
mod error;
mod http_01;
mod listener;
mod tls_alpn_01;
mod webroot;

use core::fmt;
use core::net::SocketAddr;
use std::path::PathBuf;

use pq_acme::client::Shown;
use pq_acme::objects::ChallengeKind;
use tokio::task::spawn_blocking;

pub use self::dns_01::DnsRecord;
pub use self::error::ShowingError;
pub use self::http_01::listen_http_01;
pub use self::listener::Listening;
pub use self::tls_alpn_01::{TlsAlpnCertificates, listen_tls_alpn_01};
use crate::dns_update::DnsUpdate;

/// What is shown, until this is dropped.
#[derive(Default)]
pub struct Visible {
    kept: Vec<Box<dyn Send>>,
}

impl Visible {
    /// Keeps this, too: dropping it ends what it shows.
    pub fn keep(&mut self, shows: impl Send + 'static) {
        self.kept.push(Box::new(shows));
    }
}

impl fmt::Debug for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visible")
            .field("kept", &self.kept.len())
            .finish()
    }
}

/// Shows what challenges ask for.
pub trait Showing: Sync {
    /// Why something can't be shown.
    type Error: Send;

    /// The kinds of challenges that can be shown, the best first.
    fn kinds(&self) -> Vec<ChallengeKind>;

    /// Shows all that is asked for, each of one of the [kinds](Self::kinds). It can be seen once this returns.
    fn show(&self, shown: &[Shown]) -> impl Future<Output = Result<Visible, Self::Error>> + Send;
}

/// The usual ways to show what challenges ask for. Where there are several, each name takes the first that the CA offers for it,
/// in the order of the methods here.
#[derive(Clone, Debug, Default)]
pub struct Challenges {
    http_01: Option<SocketAddr>,
    webroot: Option<PathBuf>,
    resolver: Option<TlsAlpnCertificates>,
    tls_alpn_01: Option<SocketAddr>,
    dns_hook: Option<PathBuf>,
    dns_update: Option<DnsUpdate>,
}

impl Challenges {
    /// No way yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// http-01, by a server at this address while there are challenges. The CA asks at port 80.
    #[must_use]
    pub fn http_01(mut self, address: SocketAddr) -> Self {
        self.http_01 = Some(address);
        self
    }

    /// http-01, by files below `.well-known/acme-challenge` in this folder of a web server that runs already.
    #[must_use]
    pub fn webroot(mut self, folder: impl Into<PathBuf>) -> Self {
        self.webroot = Some(folder.into());
        self
    }

    /// tls-alpn-01, by a server that has this resolver. The CA asks at port 443.
    #[must_use]
    pub fn by_resolver(mut self, certificates: TlsAlpnCertificates) -> Self {
        self.resolver = Some(certificates);
        self
    }

    /// tls-alpn-01, by a server at this address while there are challenges. The CA asks at port 443.
    #[must_use]
    pub fn tls_alpn_01(mut self, address: SocketAddr) -> Self {
        self.tls_alpn_01 = Some(address);
        self
    }

    /// dns-01, by a program: it is run as `PROGRAM add NAME VALUE`, has to return once all servers of the zone have the TXT record,
    /// and is run as `PROGRAM remove NAME VALUE` in the end.
    #[must_use]
    pub fn dns_hook(mut self, program: impl Into<PathBuf>) -> Self {
        self.dns_hook = Some(program.into());
        self
    }

    /// dns-01, by telling a name server.
    #[must_use]
    pub fn dns_update(mut self, server: DnsUpdate) -> Self {
        self.dns_update = Some(server);
        self
    }
}

impl Showing for Challenges {
    type Error = ShowingError;

    fn kinds(&self) -> Vec<ChallengeKind> {
        let mut kinds = Vec::new();
        if self.http_01.is_some() || self.webroot.is_some() {
            kinds.push(ChallengeKind::Http01);
        }
        if self.resolver.is_some() || self.tls_alpn_01.is_some() {
            kinds.push(ChallengeKind::TlsAlpn01);
        }
        if self.dns_hook.is_some() || self.dns_update.is_some() {
            kinds.push(ChallengeKind::Dns01);
        }
        kinds
    }

    async fn show(&self, shown: &[Shown]) -> Result<Visible, ShowingError> {
        let of = |kind: &ChallengeKind| -> Vec<Shown> {
            let shown = shown.iter().filter(|one| one.kind == *kind);
            shown.cloned().collect()
        };
        let mut visible = Visible::default();
        let http = of(&ChallengeKind::Http01);
        if !http.is_empty() {
            if let Some(folder) = self.webroot.clone() {
                let written = blocking(move || webroot::show(&folder, &http)).await?;
                visible.keep(written);
            } else if let Some(address) = self.http_01 {
                visible.keep(listen_http_01(address, &http).await?);
            }
        }
        let tls = of(&ChallengeKind::TlsAlpn01);
        if !tls.is_empty() {
            if let Some(resolver) = &self.resolver {
                visible.keep(resolver.show(&tls)?);
            } else if let Some(address) = self.tls_alpn_01 {
                visible.keep(listen_tls_alpn_01(address, &tls).await?);
            }
        }
        for one in of(&ChallengeKind::Dns01) {
            let record = match (&self.dns_hook, &self.dns_update) {
                (Some(program), _) => DnsRecord::by_hook(program, &one),
                (None, Some(server)) => DnsRecord::by_update(server, &one),
                (None, None) => continue,
            };
            visible.keep(blocking(move || dns_01::show(record)).await?);
        }
        Ok(visible)
    }
}

/// Runs what may block on a thread for that.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ShowingError> + Send + 'static,
) -> Result<T, ShowingError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(ShowingError::BrokenOff(error.to_string())),
    }
}
