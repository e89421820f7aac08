//! A verifier for clients and servers whose peers have no certificates: it knows their raw public keys.

use alloc::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
};

/// A verifier of raw public keys (RFC 7250), for either role: the peer shows a public key in the place
/// of certificates, and is accepted if the key is one of those that were given here, and its signature is good.
///
/// Nothing else is looked at. A key is not tied to the name of a server, so a client has
/// a verifier for each server, or for servers that may stand in for each other. On a server,
/// [`peer_certificates`](rustls::CommonState::peer_certificates) says which client it is. Raw public keys need TLS 1.3.
///
/// A session that is resumed counts as authenticated. When a server no longer accepts a key, it
/// needs new ticket keys too, or asks the new verifier by
/// [`ServerHandshake::verify_resumed_client`](crate::ServerHandshake::verify_resumed_client).
///
/// ```
/// use std::sync::Arc;
///
/// use rustls::ClientConfig;
/// use rustls::pki_types::SubjectPublicKeyInfoDer;
/// use rustls::pki_types::pem::PemObject;
/// use rustls_pq::verify::PinnedKeys;
///
/// /// A client of the server that has this key, in PEM.
/// fn client(server: &str) -> Result<ClientConfig, Box<dyn std::error::Error>> {
///     let provider = Arc::new(rustls_pq::provider()?);
///     let server = SubjectPublicKeyInfoDer::from_pem_slice(server.as_bytes())?;
///     let verifier = PinnedKeys::new([server], &provider);
///     Ok(ClientConfig::builder_with_provider(provider)
///         .with_safe_default_protocol_versions()?
///         // rustls calls every verifier but its own dangerous.
///         .dangerous()
///         .with_custom_certificate_verifier(Arc::new(verifier))
///         .with_no_client_auth())
/// }
/// # use rustls_pq::pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # client(&key.verifying_key().to_spki_pem())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// The other side shows its key with
/// [`AlwaysResolvesServerRawPublicKeys`](rustls::server::AlwaysResolvesServerRawPublicKeys) or
/// [`AlwaysResolvesClientRawPublicKeys`](rustls::client::AlwaysResolvesClientRawPublicKeys):
/// `examples/small/raw_public_keys.rs` is a program with both sides.
///
/// # Errors
///
/// For another key [`CertificateError::Other`] around [`UnknownKey`], with the alert `certificate_unknown`;
/// [`Refusal::UnknownKey`](crate::Refusal::UnknownKey) is made from it.
#[derive(Clone, Debug)]
pub struct PinnedKeys {
    keys: Vec<SubjectPublicKeyInfoDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// The peer's raw public key is none of those in [`PinnedKeys`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the peer's raw public key is none of those that are accepted here")]
pub struct UnknownKey;

impl PinnedKeys {
    /// Accepts these keys, with signatures by the algorithms that `provider` has for handshakes.
    pub fn new(
        keys: impl IntoIterator<Item = SubjectPublicKeyInfoDer<'static>>,
        provider: &CryptoProvider,
    ) -> Self {
        Self {
            keys: keys.into_iter().collect(),
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// `others` would be more entries after the key, which RFC 8446 forbids in section 4.4.2.
    fn check(
        &self,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
    ) -> Result<(), CertificateError> {
        if !others.is_empty() {
            return Err(CertificateError::BadEncoding);
        }
        match self.keys.iter().any(|key| key[..] == shown[..]) {
            true => Ok(()),
            false => Err(CertificateError::Other(OtherError(Arc::new(UnknownKey)))),
        }
    }
}

/// The methods that are the same in both roles.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("raw public keys need TLS 1.3".into()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let key = SubjectPublicKeyInfoDer::from(&shown[..]);
            verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for PinnedKeys {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for PinnedKeys {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ClientCertVerified::assertion())
    }

    signatures!();
}
