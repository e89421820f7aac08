use alloc::sync::Arc;
use core::error::Error as StdError;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ResolvesServerCert, ServerConnection};
use rustls::sign::CertifiedKey;
use rustls::{Error, HandshakeKind, ProtocolVersion, ServerConfig};

use super::{Negotiated, Refusal};
use crate::algorithms::{Authentication, Group};
use crate::hello::Offer;
use crate::identity::{Choice, Identities, IdentitySet};

/// A handshake of a server that has its certificates from [`Identities`], and wants to know what
/// it was signed with, or why it failed.
///
/// It chooses the certificate for a client's [`Offer`] once, and rustls gets that one, whether the
/// identities are replaced meanwhile or not. It is for servers that see the ClientHello before
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
/// `examples/tls-server` has the rest.
///
/// # QUIC
///
/// rustls reads no ClientHello for QUIC before it goes on, nor do its connections there remember
/// anything. What is left is a resolver of one's own that asks [`Identities::choose`] and keeps the
/// [`authentication`](Choice::authentication) for [`Negotiated::with_own`].
#[derive(Clone, Debug)]
#[must_use = "rustls is to be given `config()`"]
pub struct ServerHandshake {
    offer: Offer,
    identities: Arc<IdentitySet>,
    config: Arc<ServerConfig>,
    own: Option<Authentication>,
    has_verified_client: bool,
}

impl ServerHandshake {
    /// Chooses the certificate for a client that offers `offer` among those that `identities` has
    /// now. `config` is common to all connections; its own `cert_resolver` isn't asked.
    ///
    /// Whether the server speaks TLS 1.2 alone is taken from the cipher suites of its provider: rustls
    /// doesn't tell which versions a configuration is limited to. So one that is limited to TLS 1.2
    /// needs a provider without suites of TLS 1.3. Otherwise clients of both versions may get a chain
    /// that TLS 1.2 has no use for, and are refused.
    pub fn begin(mut offer: Offer, identities: &Identities, config: &ServerConfig) -> Self {
        let mut suites = config.crypto_provider().cipher_suites.iter();
        if suites.all(|suite| suite.tls13().is_none()) {
            // rustls leaves out schemes of TLS 1.3 then when it asks a resolver.
            offer.versions = Some(vec![ProtocolVersion::TLSv1_2]);
        }
        let identities = identities.current();
        let choice = identities.resolve(&offer);
        let own = choice.as_ref().and_then(Choice::authentication);
        // A dozen pointers, and the names of protocols.
        let mut config = config.clone();
        config.cert_resolver = Arc::new(Chosen(choice));
        Self {
            offer,
            identities,
            config: config.into(),
            own,
            has_verified_client: false,
        }
    }

    /// As [`begin`](Self::begin), with one of `alternatives` in place of `config` for a client that
    /// has a better key exchange with it.
    ///
    /// rustls takes the first group of the client's list that the provider has, and asks for its
    /// share where there is none. The groups at level 5, SecP384r1MLKEM1024 and MLKEM1024, are on
    /// servers for clients that have no other post-quantum group, and with
    /// [`Profile::Default`](crate::Profile::Default) alone two kinds of clients don't get what they
    /// could:
    ///
    /// * One that lists a group at level 5 first and sends a share for X25519MLKEM768 loses a round
    ///   trip. A provider without level 5 takes the share.
    /// * One that lists secp384r1 first and SecP384r1MLKEM1024 as the only post-quantum group ends on
    ///   secp384r1. A provider with nothing but level 5 takes the other, for a round trip where its
    ///   share is missing.
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
    /// * there is a share for it, while that of `config` is classical or has no share; or
    /// * that of `config` is classical, and the client lists no post-quantum group that the
    ///   alternative hasn't.
    ///
    /// Everybody else gets `config`, and so does everyone whose shares and versions are not known:
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

    /// What is to be [begun with](Self::begin_with_alternatives) beside `provider`: it without the
    /// groups at level 5, and it with these alone. Nothing, if it has no groups but of one sort.
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

    /// What to give rustls for this client: the common configuration, with the choice in it.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Has the session that begins with this handshake remember what the server signs with, so that
    /// [`negotiated`](Self::negotiated) knows when it is resumed. Call it right after
    /// [`Accepted::into_connection`](rustls::server::Accepted::into_connection) (in tokio-rustls
    /// from `StartHandshake::into_stream_with`): before that nobody knows whether an older session
    /// is resumed.
    ///
    /// It takes the place that rustls has for the application's own data in a session
    /// ([`set_resumption_data`](ServerConnection::set_resumption_data)). A session that is resumed
    /// goes on remembering what it does. One that begins after a HelloRetryRequest remembers
    /// nothing: the client may yet resume an older one. Nor does one of TLS 1.2, whose data
    /// rustls doesn't give back.
    pub fn remember(&self, connection: &mut ServerConnection) {
        if let Some(own) = self.own {
            own.remember(connection);
        }
    }

    /// Verifies the certificates of a client once more whose session is resumed. They are those of
    /// the full handshake, may have expired or been revoked since, and rustls shows them to no
    /// verifier again.
    ///
    /// Call it right after [`remember`](Self::remember), since rustls gives out new tickets when
    /// the handshake ends: a client that is refused afterwards would resume with those, and never
    /// show the certificate that it has by now. And call it when the handshake is complete: after
    /// a HelloRetryRequest, which every client can bring about, it isn't known before that a session
    /// is resumed, and a client that is verified at the start only gets past. Certificates are
    /// verified once. A session without any is refused where `verifier` demands them: rustls asks
    /// no client for certificates that resumes a session, wherever it began.
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
    /// That of the verifier, or [`Error::NoCertificatesPresented`]. The connection is to be closed;
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
            // It began where nobody asked for any.
            _ if verifier.client_auth_mandatory() => Err(Error::NoCertificatesPresented),
            _ => Ok(()),
        }
    }

    /// What protects the connection, this side's certificate included. If the session is resumed,
    /// the server signs nothing, and what counts is what it signed the first handshake with, where
    /// the session [remembers](Self::remember) that.
    ///
    /// `None` as long as the handshake isn't complete.
    pub fn negotiated(&self, connection: &ServerConnection) -> Option<Negotiated> {
        Negotiated::of_server(connection, self.own)
    }

    /// Why the handshake has failed, by the error of rustls or one around it.
    pub fn refusal(&self, error: &(dyn StdError + 'static)) -> Refusal {
        Refusal::by_server(error, &self.offer, &self.config, Some(&self.identities))
    }
}

const LEVEL_5: [Group; 2] = [Group::SECP384R1MLKEM1024, Group::MLKEM1024];

/// Gives rustls what was chosen.
#[derive(Debug)]
struct Chosen(Option<Choice>);

impl ResolvesServerCert for Chosen {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let choice = self.0.as_ref()?;
        Some(choice.identity.certified_key())
    }
}
