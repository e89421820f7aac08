//! The options for where a server listens, and what it speaks there.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::error::OptionError;
use crate::admission::Limits;
use crate::configuration::Tls;
use crate::http::Handler;
use crate::listening::{Server, allow_descriptors};
#[cfg(feature = "metrics")]
use crate::metrics::{Metrics, MetricsPort};
use crate::revocation::ListsInUse;
use crate::sockets::{ListenAddress, Listener};

/// Where to listen, and what to speak there.
#[derive(Clone, Debug, Args)]
pub struct ListenOptions {
    /// Address and port to listen on, or unix:PATH, or systemd; can be repeated. Port 0 lets the system choose
    ///
    /// unix:PATH makes a Unix socket for the same user, and unix:PATH,MODE one with these permissions, such as 660; it
    /// replaces a socket that nobody listens on. systemd stands for the sockets of a socket unit, and systemd:NAME for those
    /// with this FileDescriptorName.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8443")]
    listen: Vec<ListenAddress>,

    /// Speak HTTP/1.1 only; without this, also HTTP/2 to clients that offer it
    #[cfg(feature = "http2")]
    #[arg(long)]
    no_http2: bool,

    /// Where those who watch the server find it over plain HTTP: 127.0.0.1:9464, or what --listen takes
    ///
    /// GET /metrics answers in the text format of Prometheus. GET /health answers 200 while the server is ready, and 503
    /// before that and once it was told to end; GET /health/live always answers 200. Nobody is asked who they are, so
    /// choose an address that strangers can't reach.
    #[cfg(feature = "metrics")]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<ListenAddress>,
}

/// A server that listens, and what listens beside it.
#[derive(Debug)]
pub struct Listening {
    /// The server.
    pub server: Server,
    /// What is counted, also of other servers of the program that are given it.
    #[cfg(feature = "metrics")]
    pub counts: Metrics,
    /// The port for those who watch it, if they were given one.
    #[cfg(feature = "metrics")]
    pub metrics: Option<MetricsPort>,
}

impl Listening {
    /// Where else than at one address the server and its metrics are, a line for each, for people.
    pub fn notes(&self) -> String {
        let mut notes = String::new();
        let places = self.server.listens_on();
        if places.len() > 1 {
            notes = format!("It listens on {}.\n", places.join(", "));
        }
        #[cfg(feature = "metrics")]
        if let Some(port) = &self.metrics {
            notes += &format!(
                "/metrics and /health are on {}.\n",
                port.listens_on().join(", ")
            );
        }
        notes
    }
}

impl ListenOptions {
    /// The first address that is listened on, if there is one.
    pub fn ip(&self) -> IpAddr {
        let tcp = self.listen.iter().find_map(|address| match address {
            ListenAddress::Tcp(address) => Some(address.ip()),
            _ => None,
        });
        tcp.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    /// The first port that is listened on, if it is known before: 0 lets the system choose one.
    pub fn port(&self) -> Option<u16> {
        let tcp = self.listen.iter().find_map(|address| match address {
            ListenAddress::Tcp(address) => Some(address.port()),
            _ => None,
        });
        tcp.filter(|port| *port != 0)
    }

    /// Listens, and has the handler answer requests: a function of the program's own, or [`Page`](crate::Page). The
    /// metrics have the times of the lists in use. The process is [allowed](allow_descriptors) as many descriptors as
    /// the limits may take.
    ///
    /// # Errors
    ///
    /// [`OptionError::Listen`] names the address that can't be listened on.
    #[cfg_attr(not(feature = "metrics"), expect(unused_variables))]
    pub async fn start(
        &self,
        tls: Tls,
        limits: Limits,
        lists: Option<ListsInUse>,
        handler: impl Handler,
    ) -> Result<Listening, OptionError> {
        #[cfg(feature = "http2")]
        let tls = match self.no_http2 {
            true => tls.without_http2(),
            false => tls,
        };
        allow_descriptors(&limits);
        // First, so that nobody is served whom the options mean to be watched.
        #[cfg(feature = "metrics")]
        let (metrics, port) = {
            let metrics = Metrics::new(&tls, lists);
            let port = match &self.metrics {
                Some(address) => Some(metrics.answer_on(open(address, "--metrics").await?)),
                None => None,
            };
            (metrics, port)
        };

        let server = Server::builder(tls).limits(limits).handler(handler);
        #[cfg(feature = "metrics")]
        let server = server.metrics(&metrics);
        let mut listeners = Vec::new();
        for address in &self.listen {
            listeners.extend(open(address, "--listen").await?);
        }
        Listener::warn_of_rest();
        Ok(Listening {
            server: server.listen(listeners).map_err(OptionError::NoListener)?,
            #[cfg(feature = "metrics")]
            counts: metrics,
            #[cfg(feature = "metrics")]
            metrics: port,
        })
    }
}

async fn open(address: &ListenAddress, option: &'static str) -> Result<Vec<Listener>, OptionError> {
    let listeners = Listener::open(address).await;
    listeners.map_err(|source| OptionError::Listen {
        address: address.clone(),
        option,
        source,
    })
}
