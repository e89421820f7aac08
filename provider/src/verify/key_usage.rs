//! A verifier around another one, for clients and servers: it checks KeyUsage, which rustls's own verifiers ignore.

use alloc::sync::Arc;

use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages};
use pq_x509::validation::ValidationError;
use pq_x509::verification::parameter_set;
use pq_x509::x509_cert::der::flagset::FlagSet;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DistinguishedName, Error, OtherError};

/// A certificate verifier that also enforces the KeyUsage extension, which rustls and
/// webpki ignore in chains.
///
/// It wraps a verifier for either role and leaves everything else to it. The certificates
/// that the inner verifier has accepted must also follow these rules, if they have the
/// extension at all:
///
/// * The peer's own certificate allows digitalSignature (RFC 8446, section 4.4.2.2),
///   whatever its algorithm.
/// * Every CA certificate that the peer sent along allows keyCertSign (RFC 5280,
///   section 4.2.1.3). The path that the inner verifier took isn't known here, so this
///   holds for CAs outside of it too. Certificates that aren't a CA's are ignored: no
///   verifier lets them issue anything, and peers may send too many
///   (RFC 8446, section 4.4.2).
/// * If the key of one of these is for ML-DSA, SLH-DSA or HashSLH-DSA, the certificate claims
///   nothing that such a key can't do (RFC 9881, section 5; RFC 9909).
///
/// Roots are trusted as they are. With raw public keys (RFC 7250) there are no
/// certificates and nothing is checked.
///
/// ```
/// use rustls::client::WebPkiServerVerifier;
/// use rustls::server::WebPkiClientVerifier;
/// use rustls::{ClientConfig, RootCertStore, ServerConfig};
/// use rustls_pq::Builder;
/// use rustls_pq::verify::EnforceKeyUsage;
/// # use rustls::pki_types::{CertificateDer, PrivateKeyDer};
/// # use std::sync::Arc;
///
/// fn client(roots: Arc<RootCertStore>) -> Result<ClientConfig, Box<dyn std::error::Error>> {
///     let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
///     let webpki = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build()?;
///     Ok(ClientConfig::builder_with_provider(provider)
///         .with_safe_default_protocol_versions()?
///         // rustls calls every verifier but its own dangerous.
///         .dangerous()
///         .with_custom_certificate_verifier(Arc::new(EnforceKeyUsage::new(webpki)))
///         .with_no_client_auth())
/// }
///
/// fn server(
///     client_roots: Arc<RootCertStore>,
/// #   chain: Vec<CertificateDer<'static>>,
/// #   key: PrivateKeyDer<'static>,
/// ) -> Result<ServerConfig, Box<dyn std::error::Error>> {
///     let provider = Arc::new(Builder::with_default_base()?.roots(&client_roots).build()?);
///     let webpki =
///         WebPkiClientVerifier::builder_with_provider(client_roots, provider.clone()).build()?;
///     Ok(ServerConfig::builder_with_provider(provider)
///         .with_safe_default_protocol_versions()?
///         .with_client_cert_verifier(Arc::new(EnforceKeyUsage::new(webpki)))
///         .with_single_cert(chain, key)?)
/// }
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
/// # let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
/// # let mut roots = RootCertStore::empty();
/// # roots.add(root.certificate().der().clone())?;
/// # let roots = Arc::new(roots);
/// # client(roots.clone())?;
/// # server(roots, vec![leaf.into_der()], key.into())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The error is [`CertificateError::Other`] around
/// [`ValidationError::KeyUsage`], which names the certificate and the rule. The
/// alert is `certificate_unknown`: rustls sends `unsupported_certificate` only for
/// errors that are about the extended key usage or without details, and
/// `certificate_unknown` for the other rules of RFC 5280 that have no alert of their own
/// (a leaf used as a CA, the length of the path). If webpki could read a certificate
/// and [`Certificate::from_der`] can't, the error is [`CertificateError::BadEncoding`].
#[derive(Debug)]
pub struct EnforceKeyUsage<V: ?Sized> {
    inner: Arc<V>,
}

impl<V: ?Sized> EnforceKeyUsage<V> {
    /// Enforces key usage on what `inner` accepts: a
    /// [`WebPkiServerVerifier`](rustls::client::WebPkiServerVerifier), an
    /// `Arc<dyn ClientCertVerifier>`, or any other verifier.
    pub fn new(inner: Arc<V>) -> Self {
        Self { inner }
    }
}

impl<V: ServerCertVerifier + ?Sized> ServerCertVerifier for EnforceKeyUsage<V> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.inner.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )?;
        if !self.inner.requires_raw_public_keys() {
            check_chain(end_entity, intermediates)?;
        }
        Ok(verified)
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.inner.root_hint_subjects()
    }

    delegate_to_inner!();
}

impl<V: ClientCertVerifier + ?Sized> ClientCertVerifier for EnforceKeyUsage<V> {
    fn offer_client_auth(&self) -> bool {
        self.inner.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.inner.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.inner.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self
            .inner
            .verify_client_cert(end_entity, intermediates, now)?;
        if !self.inner.requires_raw_public_keys() {
            check_chain(end_entity, intermediates)?;
        }
        Ok(verified)
    }

    delegate_to_inner!();
}

fn check_chain(
    end_entity: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
) -> Result<(), CertificateError> {
    check(
        &parse(end_entity)?,
        KeyUsages::DigitalSignature,
        KeyUsageError::WithoutDigitalSignature,
    )?;
    for intermediate in intermediates {
        let intermediate = parse(intermediate)?;
        if intermediate.is_ca() {
            check(
                &intermediate,
                KeyUsages::KeyCertSign,
                KeyUsageError::CaWithoutKeyCertSign,
            )?;
        }
    }
    Ok(())
}

fn parse(der: &CertificateDer<'_>) -> Result<Certificate, CertificateError> {
    Certificate::from_der(der).map_err(|_| CertificateError::BadEncoding)
}

/// Checks that `certificate` allows `needed` (otherwise the error is `refusal`) and nothing
/// that its key can't do.
fn check(
    certificate: &Certificate,
    needed: KeyUsages,
    refusal: KeyUsageError,
) -> Result<(), CertificateError> {
    let Some(usages) = certificate.key_usage() else {
        return Ok(());
    };

    let spki = certificate
        .parsed()
        .tbs_certificate()
        .subject_public_key_info();
    let error = match parameter_set(spki.algorithm.oid) {
        Some((algorithm, _)) if !for_signatures().contains(usages) => {
            let forbidden = usages & !for_signatures();
            KeyUsageError::ForbiddenForSignatureKey {
                algorithm,
                usage: names(forbidden),
            }
        }
        _ if !usages.contains(needed) => refusal,
        _ => return Ok(()),
    };
    Err(CertificateError::Other(OtherError(Arc::new(
        ValidationError::KeyUsage {
            subject: certificate.describe_subject(),
            error,
        },
    ))))
}

/// The usages that a key that signs may have (RFC 9881, section 5; RFC 9909).
fn for_signatures() -> FlagSet<KeyUsages> {
    KeyUsages::DigitalSignature
        | KeyUsages::NonRepudiation
        | KeyUsages::KeyCertSign
        | KeyUsages::CRLSign
}

fn names(usages: FlagSet<KeyUsages>) -> String {
    let names: Vec<String> = usages
        .into_iter()
        .map(|usage| {
            // The names in RFC 5280, except for the first letter.
            let mut name = format!("{usage:?}");
            name[..1].make_ascii_lowercase();
            name
        })
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use rustls::client::danger::HandshakeSignatureValid;
    use rustls::{DigitallySignedStruct, SignatureScheme};

    use super::*;

    #[test]
    fn leaves_everything_else_to_the_inner_verifier() {
        let server = EnforceKeyUsage::new(Arc::new(Inner));
        assert!(ServerCertVerifier::root_hint_subjects(&server).is_some());
        assert!(ServerCertVerifier::requires_raw_public_keys(&server));
        assert_eq!(
            ServerCertVerifier::supported_verify_schemes(&server),
            [SignatureScheme::ML_DSA_87]
        );

        let client: Arc<dyn ClientCertVerifier> = Arc::new(Inner);
        let client = EnforceKeyUsage::new(client);
        assert!(!ClientCertVerifier::offer_client_auth(&client));
        assert!(ClientCertVerifier::client_auth_mandatory(&client));
        assert!(ClientCertVerifier::root_hint_subjects(&client).is_empty());
        assert!(ClientCertVerifier::requires_raw_public_keys(&client));
        assert_eq!(
            ClientCertVerifier::supported_verify_schemes(&client),
            [SignatureScheme::ML_DSA_87]
        );
    }

    /// What isn't a certificate has no key usage.
    #[test]
    fn leaves_raw_public_keys_alone() {
        let verifier = EnforceKeyUsage::new(Arc::new(Inner));
        let raw = CertificateDer::from(&[0][..]);
        let name = ServerName::try_from("localhost").unwrap();
        verifier
            .verify_server_cert(&raw, &[], &name, &[], UnixTime::now())
            .unwrap();
        verifier
            .verify_client_cert(&raw, &[], UnixTime::now())
            .unwrap();
    }

    #[test]
    fn refuses_what_is_not_a_certificate() {
        let nonsense = CertificateDer::from(&[0][..]);
        assert_eq!(
            check_chain(&nonsense, &[]),
            Err(CertificateError::BadEncoding)
        );
    }

    /// Gives other answers than the traits' defaults wherever this can be told.
    #[derive(Debug)]
    struct Inner;

    macro_rules! answers {
        () => {
            fn verify_tls12_signature(
                &self,
                _: &[u8],
                _: &CertificateDer<'_>,
                _: &DigitallySignedStruct,
            ) -> Result<HandshakeSignatureValid, Error> {
                Err(Error::General("TLS 1.2".into()))
            }

            fn verify_tls13_signature(
                &self,
                _: &[u8],
                _: &CertificateDer<'_>,
                _: &DigitallySignedStruct,
            ) -> Result<HandshakeSignatureValid, Error> {
                Err(Error::General("TLS 1.3".into()))
            }

            fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
                vec![SignatureScheme::ML_DSA_87]
            }

            fn requires_raw_public_keys(&self) -> bool {
                true
            }
        };
    }

    impl ServerCertVerifier for Inner {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
            Some(&[])
        }

        answers!();
    }

    impl ClientCertVerifier for Inner {
        fn offer_client_auth(&self) -> bool {
            false
        }

        fn client_auth_mandatory(&self) -> bool {
            true
        }

        fn root_hint_subjects(&self) -> &[DistinguishedName] {
            &[]
        }

        fn verify_client_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: UnixTime,
        ) -> Result<ClientCertVerified, Error> {
            Ok(ClientCertVerified::assertion())
        }

        answers!();
    }
}
