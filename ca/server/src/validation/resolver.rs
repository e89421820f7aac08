//! Names looked up at the resolver that the operator names, and nowhere else: no file of this machine, and no cache,
//! since what is asked for has just been put there.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{Resolver as Hickory, TokioResolver};
use pq_acme::problem::ProblemType;

use super::outcome::{Refusal, Steps, Verdict};

/// Looks names up at certain servers, which have to resolve them whole (recursively).
#[derive(Clone, Debug)]
pub struct Resolver {
    hickory: TokioResolver,
    servers: String,
}

impl Resolver {
    /// Asks these servers, by UDP, and by TCP what is too long for that.
    ///
    /// # Errors
    ///
    /// [`ResolverError`] if there is no server.
    pub fn new(servers: &[SocketAddr]) -> Result<Self, ResolverError> {
        if servers.is_empty() {
            return Err(ResolverError::NoServer);
        }
        let mut config = ResolverConfig::default();
        config.name_servers = servers.iter().map(server).collect();
        let mut builder = Hickory::builder_with_config(config, TokioRuntimeProvider::default());
        *builder.options_mut() = options();
        let hickory = builder
            .build()
            .map_err(|error| ResolverError::Make(error.to_string()))?;
        let names: Vec<String> = servers.iter().map(ToString::to_string).collect();
        Ok(Self {
            hickory,
            servers: names.join(", "),
        })
    }

    /// The addresses of a name, those of IPv6 first. There is at least one.
    pub(super) async fn addresses(
        &self,
        name: &str,
        steps: &mut Steps,
    ) -> Result<Vec<IpAddr>, Missing> {
        let (six, four) = tokio::join!(
            self.look_up(name, RecordType::AAAA),
            self.look_up(name, RecordType::A)
        );
        let mut addresses = Vec::new();
        let mut missing = None;
        for answer in [six, four] {
            match answer {
                Ok(lookup) => {
                    addresses.extend(lookup.answers().iter().filter_map(
                        |record| match &record.data {
                            RData::A(address) => Some(IpAddr::from(address.0)),
                            RData::AAAA(address) => Some(IpAddr::from(address.0)),
                            _ => None,
                        },
                    ))
                }
                // That DNS failed says more than that there are no addresses of the other kind.
                Err(error) if missing.as_ref().is_none_or(Missing::is_certain) => {
                    missing = Some(error);
                }
                Err(_) => {}
            }
        }
        addresses.truncate(MAX_ADDRESSES);
        match (addresses.is_empty(), missing) {
            (false, _) => {
                let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                steps.add(format!("{name} has {}", shown.join(", ")));
                Ok(addresses)
            }
            (true, Some(missing)) => Err(missing),
            (true, None) => Err(self.none(name, "addresses (A, AAAA)")),
        }
    }

    /// The texts (TXT) of a name, each whole. There is at least one. Aliases (CNAME) are followed.
    pub(super) async fn texts(
        &self,
        name: &str,
        steps: &mut Steps,
    ) -> Result<Vec<Vec<u8>>, Missing> {
        let lookup = self.look_up(name, RecordType::TXT).await?;
        let mut texts = Vec::new();
        for record in lookup.answers() {
            match &record.data {
                RData::CNAME(alias) => {
                    steps.add(format!("{} is an alias of {}", record.name, alias.0));
                }
                RData::TXT(text) if texts.len() < MAX_TEXTS => texts.push(text.txt_data.concat()),
                _ => {}
            }
        }
        match texts.is_empty() {
            true => Err(self.none(name, "TXT records")),
            false => Ok(texts),
        }
    }

    async fn look_up(&self, name: &str, kind: RecordType) -> Result<Lookup, Missing> {
        let absolute = Name::from_ascii(format!("{name}.")).map_err(|error| Missing {
            detail: format!("{name:?} can't be looked up: {error}"),
            is_certain: true,
        })?;
        let answer = self.hickory.lookup(absolute, kind).await;
        answer.map_err(|error| self.missing(name, kind, &error))
    }

    fn missing(&self, name: &str, kind: RecordType, error: &NetError) -> Missing {
        let servers = &self.servers;
        match error {
            NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
                ResponseCode::NXDomain => Missing {
                    detail: format!("there is no {name}, says the resolver {servers}"),
                    is_certain: true,
                },
                ResponseCode::NoError => self.none(name, &format!("{kind} records")),
                other => self.failed(name, kind, &other.to_string()),
            },
            other => self.failed(name, kind, &other.to_string()),
        }
    }

    fn none(&self, name: &str, what: &str) -> Missing {
        Missing {
            detail: format!("{name} has no {what}, says the resolver {}", self.servers),
            is_certain: true,
        }
    }

    fn failed(&self, name: &str, kind: RecordType, error: &str) -> Missing {
        Missing {
            detail: format!(
                "the resolver {} gave no answer about {kind} of {name}: {error}",
                self.servers
            ),
            is_certain: false,
        }
    }
}

/// Addresses of a name that are looked at.
const MAX_ADDRESSES: usize = 16;

/// Texts of a name that are looked at. An answer has 64 KiB, by TCP.
const MAX_TEXTS: usize = 1024;

fn server(address: &SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    let of_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
    server.connections = connections.map(of_port).into();
    server
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = Duration::from_secs(5);
    options.attempts = 1;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.preserve_intermediates = true;
    options.max_active_requests = 1024;
    options
}

/// Why there is no resolver.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolverError {
    /// No server was named.
    #[error("name the DNS resolver to ask, such as 127.0.0.1:53")]
    NoServer,
    /// The resolver can't be made.
    #[error("the DNS resolver can't be used: {0}")]
    Make(String),
}

/// Why nothing was found.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) detail: String,
    /// DNS says so, and didn't fail.
    is_certain: bool,
}

impl Missing {
    fn is_certain(&self) -> bool {
        self.is_certain
    }
}

/// A failure of DNS is no answer.
impl From<Missing> for Verdict {
    fn from(missing: Missing) -> Self {
        let refusal = Refusal::new(ProblemType::Dns, missing.detail);
        match missing.is_certain {
            true => Self::Invalid(refusal),
            false => Self::Undecided(refusal),
        }
    }
}
