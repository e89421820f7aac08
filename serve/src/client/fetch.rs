//! The client itself: it connects, performs the handshake, sends one request and collects what the report says. It also
//! gathers what is known about a handshake that failed.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use pq_x509::certificate::Certificate;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig};
use rustls_pq::identity::{Identities, IdentityFiles};
use rustls_pq::verify::{CheckOcsp, EnforceKeyUsage};
use rustls_pq::{Group, Negotiated, Profile, Refusal};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::chain::CertificateSummary;
use super::counted::Counted;
use super::diagnosis::Diagnosis;
use super::error::{FetchError, Phase};
use super::observer::Observer;
use super::ocsp::{OcspOutcome, OcspSummary};
use super::report::{ByteCounts, Report, Response, Times};
use super::target::Target;
use super::trust::Trust;
use crate::provider::provider_builder;
use crate::revocation::Revocation;
use crate::summary::Summary;

/// What to fetch and how to connect for it.
#[derive(Debug)]
pub struct Request {
    /// What to fetch.
    pub target: Target,
    /// Where to connect, whatever the target's host resolves to.
    pub address: Option<SocketAddr>,
    /// What the certificate has to be for, if not for the target's host.
    pub server_name: Option<ServerName<'static>>,
    /// The roots to trust.
    pub trust: Trust,
    /// The revocation lists to check the server's chain with, if any.
    pub revocation: Option<Revocation>,
    /// Whether the server has to send an OCSP response.
    pub require_ocsp: bool,
    /// Whether post-quantum roots may have issued certificates for classical keys; classical ones may sign any.
    pub mixed_chains: bool,
    /// What to offer and to accept.
    pub profile: Profile,
    /// The key exchange groups to offer; none means those of the profile.
    pub groups: Vec<Group>,
    /// The certificate to present, if any.
    pub client: Option<ClientIdentity>,
    /// How long each phase may take.
    pub timeout: Duration,
    /// What the client calls itself.
    pub user_agent: &'static str,
    /// Is told what a person should know although the connection goes on.
    pub warn: fn(&str),
}

impl Request {
    /// Fetches this, and trusts these roots: without lists and a certificate, by the default profile, and in ten seconds
    /// for each phase.
    pub fn new(target: Target, trust: Trust) -> Self {
        Self {
            target,
            address: None,
            server_name: None,
            trust,
            revocation: None,
            require_ocsp: false,
            mixed_chains: false,
            profile: Profile::Default,
            groups: Vec::new(),
            client: None,
            timeout: Duration::from_secs(10),
            user_agent: concat!("pq-serving/", env!("CARGO_PKG_VERSION")),
            warn: |_| (),
        }
    }
}

/// PEM files with the client's chain and private key.
#[derive(Debug)]
pub struct ClientIdentity {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The private key of the leaf.
    pub key: PathBuf,
}

/// Connects, fetches, and reports.
///
/// # Errors
///
/// [`FetchError`] says why there is no report.
pub async fn fetch(request: Request) -> Result<Report, FetchError> {
    let session = Session::prepare(request)?;
    let request = &session.request;
    let target = &request.target;

    let (addresses, resolve) = session.timed(Phase::Resolve, resolve(request)).await?;
    let ((tcp, address), connect) = session
        .timed(Phase::Connect, connect(target, &addresses))
        .await?;
    let (tcp, counter) = Counted::new(tcp);
    let (tls, handshake) = session
        .timed(Phase::Handshake, session.shake_hands(tcp))
        .await?;
    let handshake_bytes = counter.read();
    let (_, connection) = tls.get_ref();
    let negotiated = Negotiated::of(connection).expect("the handshake is complete");
    let summary = Summary::new(&negotiated, session.observer.scheme(), connection);

    let (mut sender, connection) = http1::handshake(TokioIo::new(tls))
        .await
        .map_err(FetchError::Http)?;
    let mut connection = tokio::spawn(connection);
    let head = async {
        let answer = sender.send_request(get(request)?);
        // A request that is sent at the moment in which the connection ends can get into a queue that
        // nobody reads any more. Without a sender the queue goes, and the answer is an error.
        drop(sender);
        match answer.await {
            Ok(head) => Ok(head),
            // The cause says more than the fact that the connection has ended.
            Err(error) => match (&mut connection).await {
                Ok(Err(cause)) => Err(session.http_failure(cause)),
                _ => Err(session.http_failure(error)),
            },
        }
    };
    let (head, first_byte) = session.timed(Phase::Request, head).await?;
    let (head, incoming) = head.into_parts();
    let (body, body_time) = session
        .timed(Phase::Body, session.read_body(incoming))
        .await?;
    // Our close_notify counts, too. If it fails, nothing changes.
    let _ = timeout(request.timeout, connection).await;
    let bytes = ByteCounts {
        handshake: handshake_bytes,
        total: counter.read(),
    };

    let chain = session.chain();
    Ok(Report {
        url: target.to_string(),
        address,
        summary,
        trust_anchor: session.trust_anchor(&chain),
        trusted_from: request.trust.source.clone(),
        certificates: chain.iter().map(CertificateSummary::from).collect(),
        ocsp: session.ocsp.response().map(OcspSummary::from),
        bytes,
        times: Times {
            resolve,
            connect,
            handshake,
            first_byte,
            body: body_time,
        },
        response: Response {
            status: head.status.to_string(),
            content_type: head
                .headers
                .get(CONTENT_TYPE)
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
            body,
        },
    })
}

/// A larger page is refused and not held in memory.
const MAX_BODY: usize = 16 << 20;

/// A request with the configuration made for it.
struct Session {
    request: Request,
    provider: Arc<CryptoProvider>,
    observer: Arc<Observer>,
    ocsp: OcspOutcome,
    config: Arc<ClientConfig>,
}

impl Session {
    fn prepare(request: Request) -> Result<Self, FetchError> {
        let roots = Arc::new(request.trust.to_store().map_err(FetchError::Rustls)?);
        let builder = provider_builder(request.profile, &request.groups)?;
        // A server with several certificates then sends one that may be under these roots.
        let builder = match request.mixed_chains {
            false => builder.roots(&roots),
            true => builder,
        };
        let provider = Arc::new(builder.build()?);
        let algorithms = provider.signature_verification_algorithms;
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.clone(), provider.clone());
        let webpki: Arc<dyn ServerCertVerifier> = match &request.revocation {
            Some(revocation) => revocation.of_servers(webpki, &roots, algorithms)?,
            None => webpki.build().map_err(FetchError::Verifier)?,
        };
        let observer = Arc::new(Observer::new(webpki));

        // `dangerous` because a custom verifier can verify badly. This one asks webpki, then checks whether
        // the key usage allows what the certificates are used for, and then checks the OCSP response that the
        // server sends along.
        let verifier = Arc::new(EnforceKeyUsage::new(observer.clone()));
        let ocsp = OcspOutcome::default();
        let verifier: Arc<dyn ServerCertVerifier> = match request.trust.to_validator() {
            Ok(validator) => {
                let validator = validator.with_algorithms(algorithms.all);
                let verifier = CheckOcsp::new(verifier, validator);
                let verifier = verifier.reporting_to(ocsp.report());
                Arc::new(match request.require_ocsp {
                    true => verifier.required(),
                    false => verifier,
                })
            }
            Err(error) if request.require_ocsp => return Err(FetchError::Validator(error)),
            // webpki accepts any certificate as a root.
            Err(error) => {
                (request.warn)(&format!("OCSP responses are not checked: {error}"));
                verifier
            }
        };
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(FetchError::Rustls)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &request.client {
            Some(ClientIdentity { cert, key }) => {
                let files = IdentityFiles::new(provider.clone()).with(cert, key);
                let identities = files.load()?;
                config.with_client_cert_resolver(Arc::new(Identities::new(identities)))
            }
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".into()];

        Ok(Self {
            request,
            provider,
            observer,
            ocsp,
            config: Arc::new(config),
        })
    }

    /// Runs a phase, within the time that it may take.
    async fn timed<T>(
        &self,
        phase: Phase,
        work: impl Future<Output = Result<T, FetchError>>,
    ) -> Result<(T, Duration), FetchError> {
        let limit = self.request.timeout;
        let start = Instant::now();
        match timeout(limit, work).await {
            Ok(done) => Ok((done?, start.elapsed())),
            Err(_) => Err(FetchError::TimedOut { phase, limit }),
        }
    }

    async fn shake_hands(
        &self,
        tcp: Counted<TcpStream>,
    ) -> Result<TlsStream<Counted<TcpStream>>, FetchError> {
        let name = match &self.request.server_name {
            Some(name) => name,
            None => &self.request.target.server_name,
        };
        TlsConnector::from(self.config.clone())
            .connect(name.clone(), tcp)
            .await
            .map_err(|error| self.diagnose(Refusal::by_client(&error, &self.config)))
    }

    async fn read_body(&self, body: Incoming) -> Result<Vec<u8>, FetchError> {
        match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => Ok(body.to_bytes().into()),
            Err(error) => Err(match error.downcast::<hyper::Error>() {
                Ok(error) => self.http_failure(*error),
                Err(error) if error.is::<LengthLimitError>() => {
                    FetchError::TooLarge { limit: MAX_BODY }
                }
                Err(error) => FetchError::Body(error),
            }),
        }
    }

    fn http_failure(&self, error: hyper::Error) -> FetchError {
        match Refusal::by_client(&error, &self.config) {
            Refusal::ConnectionLost { .. } => FetchError::Http(error),
            refusal => self.diagnose(refusal),
        }
    }

    fn diagnose(&self, refusal: Refusal) -> FetchError {
        let chain = self.chain();
        FetchError::Tls(Box::new(Diagnosis {
            revocation: self.revocation(&refusal, &chain),
            refusal,
            server: self.request.target.authority(),
            roots: self.request.trust.subjects(),
            roots_from: self.request.trust.source.clone(),
            chain: chain.iter().map(CertificateSummary::from).collect(),
            is_chain_good: self.observer.scheme().is_some(),
        }))
    }

    /// What the OCSP response or the lists say about a chain that was refused because of them.
    fn revocation(&self, refusal: &Refusal, chain: &[Certificate]) -> Option<String> {
        if let Some(refusal) = self.ocsp.refusal() {
            return Some(refusal);
        }
        let error = match refusal {
            Refusal::Revoked => &CertificateError::Revoked,
            Refusal::RevocationUnknown { error } => error,
            _ => return None,
        };
        let lists = self.request.revocation.as_ref()?;
        lists.why(error, chain, UnixTime::now())
    }

    /// The certificates that the server sent. One that pq-x509 can't read isn't shown;
    /// whether to trust the chain is webpki's decision.
    fn chain(&self) -> Vec<Certificate> {
        self.observer
            .chain()
            .iter()
            .filter_map(|der| Certificate::from_der(der).ok())
            .collect()
    }

    /// The root under the chain: webpki doesn't say which one it ended at.
    fn trust_anchor(&self, chain: &[Certificate]) -> Option<CertificateSummary> {
        let algorithms = self.provider.signature_verification_algorithms.all;
        chain
            .iter()
            .find_map(|certificate| self.request.trust.issuer_of(certificate, algorithms))
            .map(CertificateSummary::from)
    }
}

async fn resolve(request: &Request) -> Result<Vec<SocketAddr>, FetchError> {
    if let Some(address) = request.address {
        return Ok(vec![address]);
    }
    let target = &request.target;
    let host = target.server_name.to_str().into_owned();
    let addresses = tokio::net::lookup_host((host.as_str(), target.port)).await;
    match addresses.map(Iterator::collect::<Vec<_>>) {
        Ok(addresses) if addresses.is_empty() => Err(FetchError::NoAddress { host }),
        Ok(addresses) => Ok(addresses),
        Err(error) => Err(FetchError::Resolve { host, error }),
    }
}

/// Connects to the first address that answers.
async fn connect(
    target: &Target,
    addresses: &[SocketAddr],
) -> Result<(TcpStream, SocketAddr), FetchError> {
    let mut attempts = Vec::with_capacity(addresses.len());
    for &address in addresses {
        match connect_to(address).await {
            Ok(tcp) => return Ok((tcp, address)),
            Err(error) => attempts.push((address, error)),
        }
    }
    Err(FetchError::Connect {
        server: target.authority(),
        attempts,
    })
}

async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect(address).await?;
    tcp.set_nodelay(true)?;
    Ok(tcp)
}

fn get(request: &Request) -> Result<hyper::Request<Empty<Bytes>>, FetchError> {
    hyper::Request::get(&request.target.path)
        .header(HOST, request.target.authority())
        .header(USER_AGENT, request.user_agent)
        .header(ACCEPT, "*/*")
        .header(CONNECTION, "close")
        .body(Empty::new())
        .map_err(FetchError::Request)
}
