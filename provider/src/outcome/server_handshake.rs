//! The steps of a server's handshake around rustls: the choice of certificate and provider for a ClientHello, then what
//! a session remembers, and the client of a resumed session verified again.

use alloc::sync::Arc;
use core::error::Error as StdError;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ResolvesServerCert, ServerConnection};
use rustls::sign::CertifiedKey;
use rustls::{Error, HandshakeKind, ProtocolVersion, ServerConfig};

use super::alert::AlertInReserve;
use super::{Negotiated, Refusal};
use crate::algorithms::{Authentication, Group};
use crate::hello::Offer;
use crate::identity::{Choice, Identities, IdentitySet};

/// A handshake of a server that has its certificates from [`Identities`]. It tells what it was signed
/// with, or why it failed.
///
/// It chooses the certificate for a client's [`Offer`] once, and rustls gets that one, even if the
/// identities are replaced meanwhile. It is for servers that see the ClientHello before
/// rustls goes on: by rustls's [`Acceptor`](rustls::server::Acceptor), by tokio-rustls's
/// `LazyConfigAcceptor`, or by [`OfferReader`](crate::OfferReader).
///
/// ```
/// use std::sync::Arc;
///
/// use rustls::server::{Accepted, AcceptedAlert, ServerConnection};
/// use rustls::{Error, ServerConfig};
/// use rustls_pq::identity::Identities;
/// use rustls_pq::{Offer, Refusal, ServerHandshake};
///
/// /// Goes on with a client whose ClientHello an `Acceptor` has read.
/// fn accept(
///     accepted: Accepted,
///     identities: &Identities,
///     config: &ServerConfig,
/// ) -> Result<(ServerConnection, ServerHandshake), (Refusal, AcceptedAlert)> {
///     let offer = Offer::of(&accepted.client_hello());
///     let handshake = ServerHandshake::begin(offer, identities, config);
///     let mut connection = accepted
///         .into_connection(handshake.config())
///         // The cause is for the log, the alert is to be written to the client.
///         .map_err(|(error, alert)| (handshake.refusal(&error), alert))?;
///     handshake.remember(&mut connection);
///     Ok((connection, handshake))
/// }
///
/// /// After more has come from the client.
/// fn log(connection: &ServerConnection, handshake: &ServerHandshake, result: Result<(), Error>) {
///     match (result, handshake.negotiated(connection)) {
///         (Err(error), _) => eprintln!("{}", handshake.refusal(&error)),
///         (Ok(()), Some(negotiated)) => println!("{negotiated}"),
///         (Ok(()), None) => println!("still shaking hands"),
///     }
/// }
/// # let identities = Arc::new(Identities::new(Default::default()));
/// # let base = Arc::new(rustls::crypto::ring::default_provider());
/// # let server = ServerConfig::builder_with_provider(base.clone())
/// #     .with_safe_default_protocol_versions()?
/// #     .with_no_client_auth()
/// #     .with_cert_resolver(identities.clone());
/// # log(
/// #     &ServerConnection::new(server.clone().into())?,
/// #     &ServerHandshake::begin(Offer::default(), &identities, &server),
/// #     Ok(()),
/// # );
/// # let client = rustls::ClientConfig::builder_with_provider(base)
/// #     .with_safe_default_protocol_versions()?
/// #     .with_root_certificates(rustls::RootCertStore::empty())
/// #     .with_no_client_auth();
/// # let mut client = rustls::ClientConnection::new(client.into(), "localhost".try_into()?)?;
/// # let mut hello = Vec::new();
/// # client.write_tls(&mut hello)?;
/// # let mut acceptor = rustls::server::Acceptor::default();
/// # acceptor.read_tls(&mut &hello[..])?;
/// # let accepted = acceptor.accept().map_err(|(error, _)| error)?.unwrap();
/// # let (refusal, mut alert) = accept(accepted, &identities, &server).unwrap_err();
/// # let refusal = refusal.to_string();
/// # assert!(refusal.starts_with("no certificate for \"localhost\""), "{refusal}");
/// # let mut sent = Vec::new();
/// # alert.write_all(&mut sent)?;
/// # assert!(!sent.is_empty());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// In tokio-rustls the same is
/// `start.into_stream_with(handshake.config(), |connection| handshake.remember(connection))`;
/// `serve/src/connection/handshake.rs` has the rest.
///
/// # QUIC
///
/// For QUIC, rustls doesn't show the ClientHello before it goes on, and its connections don't remember
/// anything. Instead, write a resolver that asks [`Identities::choose`] and keeps the
/// [`authentication`](Choice::authentication) for [`Negotiated::with_own`].
#[derive(Clone, Debug)]
#[must_use = "rustls is to be given `config()`"]
pub struct ServerHandshake {
    offer: Offer,
    identities: Arc<IdentitySet>,
    config: Arc<ServerConfig>,
    own: Option<Authentication>,
    has_verified_client: bool,
    /// If the signer is elsewhere.
    alert: Option<Arc<AlertInReserve>>,
}

impl ServerHandshake {
    /// Chooses the certificate for a client with this `offer` among those that `identities` has now.
    /// All connections share `config`; its own `cert_resolver` isn't asked.
    ///
    /// rustls doesn't tell which versions a configuration is limited to. So the server counts as
    /// limited to TLS 1.2 if its provider has no cipher suites of TLS 1.3. A configuration that is
    /// limited to TLS 1.2 needs such a provider. Otherwise clients of both versions may get a chain
    /// that is of no use in TLS 1.2, and are refused.
    pub fn begin(mut offer: Offer, identities: &Identities, config: &ServerConfig) -> Self {
        let mut suites = config.crypto_provider().cipher_suites.iter();
        if suites.all(|suite| suite.tls13().is_none()) {
            // In this case rustls leaves out schemes of TLS 1.3 when it asks a resolver.
            offer.versions = Some(vec![ProtocolVersion::TLSv1_2]);
        }
        let identities = identities.current();
        let choice = identities.resolve(&offer);
        let own = choice.as_ref().and_then(Choice::authentication);
        // This copies a dozen pointers, and the names of protocols.
        let mut config = config.clone();
        let may_block = choice.as_ref().is_some_and(|one| one.identity.may_block());
        let alert = may_block.then(|| Arc::new(AlertInReserve::new(&offer, &config)));
        if let Some(alert) = &alert {
            config.key_log = alert.clone();
        }
        config.cert_resolver = Arc::new(Chosen(choice));
        Self {
            offer,
            identities,
            config: config.into(),
            own,
            has_verified_client: false,
            alert,
        }
    }

    /// As [`begin`](Self::begin), but with one of `alternatives` in place of `config` if the client
    /// gets a better key exchange with it.
    ///
    /// rustls takes the first group of the client's list that the provider has, and asks for its
    /// share if there is none. Servers have the groups at level 5, SecP384r1MLKEM1024 and MLKEM1024,
    /// for clients that have no other post-quantum group. With
    /// [`Profile::Default`](crate::Profile::Default) alone, two kinds of clients don't get the best key
    /// exchange:
    ///
    /// * A client that lists a group at level 5 first, but sends a share for X25519MLKEM768, loses a
    ///   round trip. A provider without level 5 takes the share.
    /// * A client that lists secp384r1 first, and SecP384r1MLKEM1024 as its only post-quantum group,
    ///   ends on secp384r1. A provider with nothing but level 5 takes SecP384r1MLKEM1024, for a round
    ///   trip if its share is missing.
    ///
    /// Let `alternatives` be the same configuration over these providers, which
    /// [`alternatives`](Self::alternatives) makes:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rustls::ServerConfig;
    /// use rustls::crypto::CryptoProvider;
    /// use rustls_pq::identity::Identities;
    /// use rustls_pq::{Offer, ServerHandshake};
    ///
    /// fn configurations(
    ///     provider: CryptoProvider,
    ///     configure: fn(CryptoProvider) -> Result<ServerConfig, rustls::Error>,
    /// ) -> Result<(ServerConfig, Vec<Arc<ServerConfig>>), rustls::Error> {
    ///     let alternatives = ServerHandshake::alternatives(&provider).into_iter();
    ///     let alternatives = alternatives.map(|provider| Ok(configure(provider)?.into()));
    ///     Ok((configure(provider)?, alternatives.collect::<Result<_, rustls::Error>>()?))
    /// }
    ///
    /// /// With an offer by an `OfferReader`.
    /// fn begin(
    ///     offer: Offer,
    ///     identities: &Identities,
    ///     config: &ServerConfig,
    ///     alternatives: &[Arc<ServerConfig>],
    /// ) -> ServerHandshake {
    ///     ServerHandshake::begin_with_alternatives(offer, identities, config, alternatives)
    /// }
    /// ```
    ///
    /// An alternative is taken, the first one of several, if its group is post-quantum and
    ///
    /// * there is a share for it, while the group of `config` is classical or has no share; or
    /// * the group of `config` is classical, and the client lists no post-quantum group that the
    ///   alternative lacks.
    ///
    /// All other clients get `config`, and so do clients whose shares and versions are not known:
    /// only an [`OfferReader`](crate::OfferReader) knows them. All configurations should have the
    /// same `ticketer`.
    pub fn begin_with_alternatives(
        offer: Offer,
        identities: &Identities,
        config: &ServerConfig,
        alternatives: &[Arc<ServerConfig>],
    ) -> Self {
        let is_better = |alternative: &&Arc<ServerConfig>| {
            offer.does_better_with(alternative.crypto_provider(), config.crypto_provider())
        };
        let better = alternatives.iter().find(is_better);
        let config = better.map_or(config, |better| better);
        Self::begin(offer, identities, config)
    }

    /// The providers for [`begin_with_alternatives`](Self::begin_with_alternatives): `provider` without
    /// the groups at level 5, and `provider` with these alone. Empty if one of them would have no group.
    pub fn alternatives(provider: &CryptoProvider) -> Vec<CryptoProvider> {
        let with = |is_wanted: fn(Group) -> bool| {
            let mut provider = provider.clone();
            let groups = &mut provider.kx_groups;
            groups.retain(|group| is_wanted(group.name().into()));
            provider
        };
        let alternatives = [
            with(|group| !LEVEL_5.contains(&group)),
            with(|group| LEVEL_5.contains(&group)),
        ];
        match alternatives.iter().any(|it| it.kx_groups.is_empty()) {
            true => Vec::new(),
            false => alternatives.into(),
        }
    }

    /// The configuration to give rustls for this client: the common one, with the chosen certificate.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Has the session that begins with this handshake remember what the server signs with, so that
    /// [`negotiated`](Self::negotiated) knows it when the session is resumed.
    ///
    /// Call it right after
    /// [`Accepted::into_connection`](rustls::server::Accepted::into_connection) (in tokio-rustls
    /// from `StartHandshake::into_stream_with`): before that nobody knows whether an older session
    /// is resumed.
    ///
    /// It uses the place that rustls has for the application's own data in a session
    /// ([`set_resumption_data`](ServerConnection::set_resumption_data)). A session that is resumed
    /// goes on remembering what it does. A session that begins after a HelloRetryRequest remembers
    /// nothing, because the client may still resume an older one. A session of TLS 1.2 doesn't
    /// either, because rustls doesn't give its data back.
    pub fn remember(&self, connection: &mut ServerConnection) {
        if let Some(own) = self.own {
            own.remember(connection);
        }
    }

    /// Verifies the certificates of a client again when its session is resumed.
    ///
    /// They are those of the full handshake. They may have expired or been revoked since, and rustls
    /// doesn't have them verified again.
    ///
    /// Call it right after [`remember`](Self::remember): rustls gives out new tickets when the
    /// handshake ends, so a client that is refused afterwards would resume with these, and never
    /// show its new certificate. Call it again when the handshake is complete: after a
    /// HelloRetryRequest, which every client can cause, it isn't known before that a session is
    /// resumed, and a client that is verified only at the start gets past. Certificates are verified
    /// once. A session without any is refused if `verifier` demands them: rustls asks no client that
    /// resumes a session for certificates, wherever the session began.
    ///
    /// ```
    /// use rustls::server::danger::ClientCertVerifier;
    /// use rustls::server::ServerConnection;
    /// use rustls_pq::ServerHandshake;
    ///
    /// /// Right after `into_connection`.
    /// fn accepted(
    ///     connection: &mut ServerConnection,
    ///     handshake: &mut ServerHandshake,
    ///     verifier: &dyn ClientCertVerifier,
    /// ) -> Result<(), rustls::Error> {
    ///     handshake.remember(connection);
    ///     handshake.verify_resumed_client(connection, verifier)
    /// }
    ///
    /// /// Before anything is read from the client or said to it.
    /// fn complete(
    ///     connection: &ServerConnection,
    ///     handshake: &mut ServerHandshake,
    ///     verifier: &dyn ClientCertVerifier,
    /// ) -> Result<(), rustls::Error> {
    ///     handshake.verify_resumed_client(connection, verifier)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the verifier, or [`Error::NoCertificatesPresented`]. Close the connection then;
    /// no alert says why.
    pub fn verify_resumed_client(
        &mut self,
        connection: &ServerConnection,
        verifier: &dyn ClientCertVerifier,
    ) -> Result<(), Error> {
        if self.has_verified_client || connection.handshake_kind() != Some(HandshakeKind::Resumed) {
            return Ok(());
        }
        match connection.peer_certificates() {
            Some([leaf, intermediates @ ..]) => {
                verifier.verify_client_cert(leaf, intermediates, UnixTime::now())?;
                self.has_verified_client = true;
                Ok(())
            }
            // The session began where nobody asked for certificates.
            _ if verifier.client_auth_mandatory() => Err(Error::NoCertificatesPresented),
            _ => Ok(()),
        }
    }

    /// Whether the handshake may wait for something outside of this process: the certificate that was chosen has a
    /// [signer](crate::identity::Identity::with_signer). rustls calls it from
    /// [`into_connection`](rustls::server::Accepted::into_connection) or, after a HelloRetryRequest, when it reads the second
    /// ClientHello. An asynchronous server does both where blocking is allowed.
    pub fn may_block(&self) -> bool {
        self.alert.is_some()
    }

    /// The record with the alert `internal_error`, if `error`, rustls's or one around it, says that a
    /// [signer](crate::identity::Identity::with_signer) has failed. rustls sends no alert then. Write it to the client after all
    /// that rustls has to send, and close the connection:
    ///
    /// ```
    /// use std::io::{self, Write};
    /// use std::net::TcpStream;
    ///
    /// use rustls::server::Accepted;
    /// use rustls::ServerConnection;
    /// use rustls_pq::ServerHandshake;
    ///
    /// fn go_on(
    ///     accepted: Accepted,
    ///     handshake: &ServerHandshake,
    ///     mut tcp: &TcpStream,
    /// ) -> io::Result<ServerConnection> {
    ///     match accepted.into_connection(handshake.config()) {
    ///         Ok(connection) => Ok(connection),
    ///         Err((error, mut alert)) => {
    ///             alert.write_all(&mut tcp)?;
    ///             if let Some(alert) = handshake.alert_for(&error) {
    ///                 tcp.write_all(&alert)?;
    ///             }
    ///             Err(io::Error::other(handshake.refusal(&error)))
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// If rustls returns the error from [`process_new_packets`](rustls::ConnectionCommon::process_new_packets), as after a
    /// HelloRetryRequest, write what [`write_tls`](rustls::ConnectionCommon::write_tls) has and then this.
    ///
    /// In TLS 1.3 the alert is encrypted. It is made while rustls derives the keys of the handshake, and no secret is kept for
    /// it: [`ServerConfig::key_log`](rustls::ServerConfig) of [`config`](Self::config) is set for this, only if there is such a
    /// signer, and passes everything on to the one that was there.
    ///
    /// `None` for all other errors, after the first call, and with TLS_AES_128_GCM_SHA256 in a program without this crate's
    /// feature `graviola`.
    pub fn alert_for(&self, error: &(dyn StdError + 'static)) -> Option<Vec<u8>> {
        match self.refusal(error) {
            Refusal::NotSigned { .. } => self.alert.as_ref()?.take(),
            _ => None,
        }
    }

    /// What protects the connection, this side's certificate included.
    ///
    /// If the session is resumed, the server signs nothing. What it signed the first handshake with
    /// counts then, if the session [remembers](Self::remember) this.
    ///
    /// `None` as long as the handshake isn't complete.
    pub fn negotiated(&self, connection: &ServerConnection) -> Option<Negotiated> {
        Negotiated::of_server(connection, self.own)
    }

    /// Why the handshake has failed: `error` is rustls's, or one around it.
    pub fn refusal(&self, error: &(dyn StdError + 'static)) -> Refusal {
        Refusal::by_server(error, &self.offer, &self.config, Some(&self.identities))
    }
}

const LEVEL_5: [Group; 2] = [Group::SECP384R1MLKEM1024, Group::MLKEM1024];

/// Gives rustls what was chosen.
#[derive(Debug)]
struct Chosen(Option<Choice>);

impl ResolvesServerCert for Chosen {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let choice = self.0.as_ref()?;
        Some(choice.identity.shown_to(&Offer::of(&hello)))
    }
}
