//! The clients of the soak test: full, resumed, slow and broken ones, and what each asserts of the server.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::fmt;
use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io::{self, Write};
use std::sync::Mutex;

use pq_x509::keys::SignatureAlgorithm;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, version};
use rustls_pq::{Builder, Group, KeyAlgorithm, Negotiated};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::server::Trust;
use crate::peers::{Pki, any_base, client_config, mutual_client_config, roots};

/// All kinds of clients of one server.
pub(super) struct Clients {
    address: SocketAddr,
    post_quantum: Arc<ClientConfig>,
    classical: Arc<ClientConfig>,
    tls12: Arc<ClientConfig>,
    mutual: Arc<ClientConfig>,
    mutual_ecdsa: Arc<ClientConfig>,
    /// Trusts another root.
    distrustful: Arc<ClientConfig>,
    /// Has a certificate from another root.
    impostor: Arc<ClientConfig>,
    /// Has no group in common with the server.
    incompatible: Arc<ClientConfig>,
    /// What distinguishes the leaves that clients got.
    leaves: Mutex<BTreeSet<Vec<u8>>>,
}

/// What a client does.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    PostQuantum,
    Classical,
    Tls12,
    Mutual,
    MutualEcdsa,
    /// Connects twice.
    Resumed,
    /// Connects twice, with a certificate: the session is too large for a ticket.
    ResumedMutual,
    /// Sends and reads a few bytes at a time.
    Slow,
    Broken(Fault),
}

/// What is wrong with a client.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Fault {
    SaysNothing,
    HalfHello,
    LeavesAfterHello,
    Noise,
    Distrustful,
    Impostor,
    Incompatible,
    DamagedRecord,
}

impl Kind {
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }

    /// Ten clients in a row are of all kinds, and eighty have all faults.
    fn of(number: usize) -> Self {
        match number % 10 {
            0..3 => Self::PostQuantum,
            3 => Self::Classical,
            4 => Self::Tls12,
            5 if number % 20 == 5 => Self::MutualEcdsa,
            5 => Self::Mutual,
            6 => Self::Resumed,
            7 => Self::ResumedMutual,
            8 => Self::Slow,
            _ => Self::Broken(match number / 10 % 8 {
                0 => Fault::SaysNothing,
                1 => Fault::HalfHello,
                2 => Fault::LeavesAfterHello,
                3 => Fault::Noise,
                4 => Fault::Distrustful,
                5 => Fault::Impostor,
                6 => Fault::Incompatible,
                _ => Fault::DamagedRecord,
            }),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Clients {
    pub(super) fn new(address: SocketAddr, trust: Trust) -> Self {
        let ours = || rustls_pq::provider().unwrap();
        let ml_dsa_root = || roots([trust.ml_dsa_root.clone()]);
        let ecdsa_root = || roots([trust.ecdsa_root.clone()]);
        let stranger = Pki::new(SignatureAlgorithm::MlDsa65);
        let incompatible = Builder::new(any_base())
            .groups([Group::MLKEM512])
            .build()
            .unwrap();
        Self {
            address,
            post_quantum: once(client_config(ours(), ml_dsa_root())),
            classical: once(client_config(any_base(), ecdsa_root())),
            tls12: once(tls12_config(ecdsa_root())),
            mutual: once(mutual_client_config(
                ours(),
                ml_dsa_root(),
                &trust.ml_dsa_client,
            )),
            mutual_ecdsa: once(mutual_client_config(
                ours(),
                ml_dsa_root(),
                &trust.ecdsa_client,
            )),
            distrustful: once(client_config(ours(), stranger.roots())),
            impostor: once(mutual_client_config(
                ours(),
                ml_dsa_root(),
                &stranger.client,
            )),
            incompatible: once(client_config(incompatible, ml_dsa_root())),
            leaves: Mutex::default(),
        }
    }

    /// Acts as client `number`, and asserts that it was served if it behaved. Returns its kind and how
    /// many connections it made.
    pub(super) async fn run(&self, number: usize) -> (Kind, usize) {
        let kind = Kind::of(number);
        let connections = timeout(PATIENCE, async {
            match kind {
                Kind::PostQuantum => self.post_quantum().await,
                Kind::Classical => self.classical(&self.classical).await,
                Kind::Tls12 => self.classical(&self.tls12).await,
                Kind::Mutual => self.mutual(&self.mutual).await,
                Kind::MutualEcdsa => self.mutual(&self.mutual_ecdsa).await,
                Kind::Resumed => self.resumed(&self.post_quantum, 0).await,
                Kind::ResumedMutual => self.resumed(&self.mutual, 1).await,
                Kind::Slow => self.slow().await,
                Kind::Broken(fault) => self.broken(fault).await,
            }
        });
        match connections.await {
            Ok(Ok(connections)) => (kind, connections),
            Ok(Err(error)) => panic!("client {number}, {kind}: {error}"),
            Err(_) => panic!("client {number}, {kind}: no end after {PATIENCE:?}"),
        }
    }

    /// How many different leaves clients got.
    pub(super) fn leaves_seen(&self) -> usize {
        self.leaves.lock().unwrap().len()
    }

    async fn post_quantum(&self) -> io::Result<usize> {
        let tls = connect(&self.post_quantum, self.tcp().await?).await?;
        self.assert_post_quantum(&tls, HandshakeKind::Full);
        assert_eq!(converse(tls).await?, "full, 0 certificates");
        Ok(1)
    }

    async fn classical(&self, config: &Arc<ClientConfig>) -> io::Result<usize> {
        let tls = connect(config, self.tcp().await?).await?;
        let negotiated = negotiated(&tls);
        assert!(!negotiated.has_pq_key_exchange());
        assert_eq!(
            negotiated.peer.map(|peer| peer.key),
            Some(KeyAlgorithm::EcdsaP256)
        );
        assert_eq!(converse(tls).await?, "full, 0 certificates");
        Ok(1)
    }

    async fn mutual(&self, config: &Arc<ClientConfig>) -> io::Result<usize> {
        let tls = connect(config, self.tcp().await?).await?;
        self.assert_post_quantum(&tls, HandshakeKind::Full);
        assert_eq!(converse(tls).await?, "full, 1 certificates");
        Ok(1)
    }

    async fn resumed(&self, config: &ClientConfig, certificates: usize) -> io::Result<usize> {
        let mut config = config.clone();
        config.resumption = Resumption::in_memory_sessions(1);
        let config = Arc::new(config);
        for (kind, word) in [
            (HandshakeKind::Full, "full"),
            (HandshakeKind::Resumed, "resumed"),
        ] {
            let tls = connect(&config, self.tcp().await?).await?;
            self.assert_post_quantum(&tls, kind);
            assert_eq!(
                converse(tls).await?,
                format!("{word}, {certificates} certificates")
            );
        }
        Ok(2)
    }

    async fn slow(&self) -> io::Result<usize> {
        let tls = connect(&self.post_quantum, Slow::new(self.tcp().await?)).await?;
        self.assert_post_quantum(&tls, HandshakeKind::Full);
        assert_eq!(converse(tls).await?, "full, 0 certificates");
        Ok(1)
    }

    async fn broken(&self, fault: Fault) -> io::Result<usize> {
        let mut tcp = self.tcp().await?;
        match fault {
            Fault::SaysNothing => drop(tcp),
            Fault::HalfHello => {
                let hello = client_hello(&self.post_quantum);
                tcp.write_all(&hello[..hello.len() / 2]).await?;
            }
            Fault::LeavesAfterHello => tcp.write_all(&client_hello(&self.post_quantum)).await?,
            Fault::Noise => {
                let noise: Vec<u8> = (0..2000_u32).map(|i| (i * 7) as u8).collect();
                // The server may close before it has read everything.
                let _ = tcp.write_all(&noise).await;
            }
            Fault::Distrustful => assert_refused(&self.distrustful, tcp).await,
            Fault::Impostor => assert_refused(&self.impostor, tcp).await,
            Fault::Incompatible => assert_refused(&self.incompatible, tcp).await,
            Fault::DamagedRecord => {
                let mut tls = connect(&self.post_quantum, tcp).await?;
                self.assert_post_quantum(&tls, HandshakeKind::Full);
                // Application data that is not encrypted.
                let record = [&[0x17, 3, 3, 0, 32][..], &[0; 32]].concat();
                tls.get_mut().0.write_all(&record).await?;
                tls.read_to_end(&mut Vec::new())
                    .await
                    .expect_err("the server refuses the record");
            }
        }
        Ok(1)
    }

    async fn tcp(&self) -> io::Result<TcpStream> {
        TcpStream::connect(self.address).await
    }

    fn assert_post_quantum<S>(&self, tls: &TlsStream<S>, kind: HandshakeKind) {
        let negotiated = negotiated(tls);
        assert_eq!(negotiated.handshake, kind);
        assert_eq!(negotiated.group, Some(Group::X25519MLKEM768));
        assert_eq!(
            negotiated.peer.map(|peer| peer.key),
            Some(KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65))
        );
        let (_, connection) = tls.get_ref();
        let leaf = &connection.peer_certificates().unwrap()[0];
        let signature_end = leaf.last_chunk::<16>().unwrap();
        self.leaves.lock().unwrap().insert(signature_end.to_vec());
    }
}

/// A client that does only full handshakes.
fn once(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

fn tls12_config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(any_base().into())
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn client_hello(config: &Arc<ClientConfig>) -> Vec<u8> {
    let mut connection = ClientConnection::new(Arc::clone(config), name()).unwrap();
    let mut hello = Vec::new();
    connection.write_tls(hello.by_ref()).unwrap();
    hello
}

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

async fn connect<S>(config: &Arc<ClientConfig>, stream: S) -> io::Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    TlsConnector::from(Arc::clone(config))
        .connect(name(), stream)
        .await
}

/// Sends a message, and returns the server's answer.
async fn converse<S>(mut tls: TlsStream<S>) -> io::Result<String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    tls.write_all(b"ping").await?;
    tls.flush().await?;
    let mut answer = String::new();
    tls.read_to_string(&mut answer).await?;
    tls.shutdown().await?;
    Ok(answer)
}

/// Asserts that the connection fails on either side: with TLS 1.3 a client learns only when it reads
/// that its certificate was refused.
async fn assert_refused(config: &Arc<ClientConfig>, tcp: TcpStream) {
    let outcome = async { converse(connect(config, tcp).await?).await };
    outcome.await.expect_err("one of the two refuses the other");
}

fn negotiated<S>(tls: &TlsStream<S>) -> Negotiated {
    let (_, connection) = tls.get_ref();
    Negotiated::of(connection).expect("the handshake is complete")
}

/// A connection that carries a few bytes at a time.
struct Slow {
    tcp: TcpStream,
    pause: Pin<Box<Sleep>>,
}

impl Slow {
    const PIECE: usize = 200;
    const PAUSE: Duration = Duration::from_millis(5);

    fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            pause: Box::pin(sleep(Self::PAUSE)),
        }
    }

    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.pause.as_mut().poll(cx));
        self.pause.as_mut().reset(Instant::now() + Self::PAUSE);
        Poll::Ready(())
    }
}

impl AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_pause(cx));
        let mut piece = [0; Self::PIECE];
        let mut piece = ReadBuf::new(&mut piece[..Self::PIECE.min(buf.remaining())]);
        ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut piece))?;
        buf.put_slice(piece.filled());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_pause(cx));
        let piece = &buf[..buf.len().min(Self::PIECE)];
        Pin::new(&mut self.tcp).poll_write(cx, piece)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

/// Nothing here should take this long.
const PATIENCE: Duration = Duration::from_secs(120);
