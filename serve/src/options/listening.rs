//! The options for where a server listens, and what it speaks there.

use std::net::SocketAddr;

use clap::Args;

use super::error::OptionError;
use crate::admission::Limits;
use crate::configuration::Tls;
use crate::listening::Server;
#[cfg(feature = "metrics")]
use crate::metrics::{Metrics, MetricsPort};
use crate::revocation::ListsInUse;

/// Where to listen, and what to speak there.
#[derive(Clone, Debug, Args)]
pub struct ListenOptions {
    /// Address and port to listen on; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8443")]
    pub listen: SocketAddr,

    /// Speak HTTP/1.1 only; without this, also HTTP/2 to clients that offer it
    #[cfg(feature = "http2")]
    #[arg(long)]
    no_http2: bool,

    /// Address and port for those who watch the server, such as 127.0.0.1:9464, over plain HTTP
    ///
    /// GET /metrics answers in the text format of Prometheus. GET /health answers 200 while the server is ready, and 503
    /// once it lets running requests finish; GET /health/live always answers 200. Nobody is asked who they are, so
    /// choose an address that strangers can't reach.
    #[cfg(feature = "metrics")]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
}

/// A server that listens, and what listens beside it.
#[derive(Debug)]
pub struct Listening {
    /// The server.
    pub server: Server,
    /// The port for those who watch it, if they were given one.
    #[cfg(feature = "metrics")]
    pub metrics: Option<MetricsPort>,
}

impl ListenOptions {
    /// Listens and serves the page. The metrics have the ages of the lists in use.
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
    ) -> Result<Listening, OptionError> {
        #[cfg(feature = "http2")]
        let tls = match self.no_http2 {
            true => tls.without_http2(),
            false => tls,
        };
        let refused = |address, option| {
            move |source| OptionError::Listen {
                address,
                option,
                source,
            }
        };

        // First, so that nobody is served whom the options mean to be watched.
        #[cfg(feature = "metrics")]
        let (metrics, port) = {
            let metrics = Metrics::new(&tls, lists);
            let port = match self.metrics {
                Some(address) => {
                    let port = metrics.listen(address).await;
                    Some(port.map_err(refused(address, "--metrics"))?)
                }
                None => None,
            };
            (metrics, port)
        };

        let server = Server::builder(tls).limits(limits);
        #[cfg(feature = "metrics")]
        let server = server.metrics(&metrics);
        let server = server.bind(self.listen).await;
        Ok(Listening {
            server: server.map_err(refused(self.listen, "--listen"))?,
            #[cfg(feature = "metrics")]
            metrics: port,
        })
    }
}
