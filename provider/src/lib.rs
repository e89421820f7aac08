//! Post-quantum TLS 1.3 for rustls.
//!
//! [`provider()`] returns a rustls [`CryptoProvider`] with X25519MLKEM768 and related key exchange
//! groups, ML-DSA and SLH-DSA certificates, and everything classical. ML-KEM, ML-DSA and SLH-DSA
//! come from [`pq_core`]. The classical algorithms come from a *base* provider: graviola, unless
//! you choose another one.
//!
//! # In Cargo.toml
//!
//! ```toml
//! [dependencies]
//! rustls = { version = "0.23.45", default-features = false, features = ["std"] }
//! rustls-pq = "0.1"
//! ```
//!
//! Without `default-features = false` rustls depends on AWS-LC, which needs a C compiler to build,
//! and cmake on some systems. The same is true of tokio-rustls, hyper-rustls and others. If AWS-LC
//! is still built, `cargo tree -i aws-lc-sys` shows which crate depends on it.
//!
//! # A server
//!
//! ```
//! # use rustls::pki_types::{CertificateDer, PrivateKeyDer};
//! use std::sync::Arc;
//!
//! use rustls_pq::identity::{Identities, Identity, IdentitySet};
//!
//! fn server(
//!     chain: Vec<CertificateDer<'static>>,
//!     key: PrivateKeyDer<'static>, // ML-DSA in PKCS#8, or classical
//! ) -> Result<rustls::ServerConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(rustls_pq::provider()?);
//!     let identity = Identity::new(chain, key, &provider)?;
//!     let identities = Identities::new(IdentitySet::new().with_default(identity));
//!     Ok(rustls::ServerConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_no_client_auth()
//!         .with_cert_resolver(Arc::new(identities)))
//! }
//! # use pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
//! # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
//! # let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
//! # let config = server(vec![leaf.into_der()], key.into())?;
//! # rustls::ServerConnection::new(config.into())?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Identity::new`](identity::Identity::new) returns an error if the key doesn't belong to the
//! certificate, or if the chain is larger than a handshake can carry. rustls's own
//! `with_single_cert` takes chains of any size; if one is too large, every handshake fails.
//!
//! # A client
//!
//! ```
//! # use std::sync::Arc;
//! use rustls::{ClientConfig, RootCertStore};
//! use rustls_pq::Builder;
//!
//! fn client(
//!     roots: RootCertStore,
//! ) -> Result<ClientConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
//!     Ok(ClientConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_root_certificates(roots)
//!         .with_no_client_auth())
//! }
//! # use pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
//! # let mut roots = RootCertStore::empty();
//! # roots.add(root.certificate().der().clone())?;
//! # let config = client(roots)?;
//! # rustls::ClientConnection::new(config.into(), "localhost".try_into()?)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Builder::roots`] makes the client ask for the kinds of signatures that suit its roots: post-quantum ones alone under
//! post-quantum roots, and classical ones first under classical roots. A client with plain [`provider()`] asks for ML-DSA
//! first. If it trusts only classical roots, such as today's public ones, it fails at servers that have two certificates
//! and follow the client's list: they send it the one that it can't use.
//!
//! # In production
//!
//! * [`Profile`] sets a policy in one word, for example that every handshake must have a
//!   post-quantum key exchange. Its documentation shows what happens with each kind of peer.
//! * [`identity`] serves several certificates from one port, and replaces them while the server
//!   runs. Each client gets the first one that it can verify, or one whose root it says it trusts.
//!   A client that lists ML-DSA doesn't necessarily trust an ML-DSA root: add the chain that
//!   everybody trusts first.
//! * [`Identity::with_signer`](identity::Identity::with_signer) serves a key that is in hardware or behind a network, and
//!   [`sign`] says what a slow or failing one does to handshakes.
//! * [`classical`] makes classical keys and certificates, for peers that don't support post-quantum
//!   ones yet.
//! * [`Tickets`] resumes sessions, also those with client certificates.
//! * [`Negotiated`] says what protects a connection, and [`Refusal`] why a handshake failed; on a
//!   server, [`ServerHandshake`] gives both.
//!
//! # Algorithms
//!
//! | key exchange group | code point | in the default list |
//! |---|---|---|
//! | X25519MLKEM768 | 0x11EC | yes, first |
//! | SecP256r1MLKEM768 | 0x11EB | yes, without a share |
//! | SecP384r1MLKEM1024 | 0x11ED | yes, without a share |
//! | MLKEM512 | 0x0200 | [`Profile::All`] and by name |
//! | MLKEM768 | 0x0201 | [`Profile::RequirePq`], [`Profile::All`] and by name |
//! | MLKEM1024 | 0x0202 | yes, without a share |
//! | the base's own | | yes |
//!
//! | signature scheme | code point | |
//! |---|---|---|
//! | ML-DSA-44, ML-DSA-65, ML-DSA-87 | 0x0904, 0x0905, 0x0906 | chains and CertificateVerify, signing and verifying |
//! | SLH-DSA, all twelve parameter sets | 0x0911 to 0x091C | chains; CertificateVerify is [experimental](Builder::experimental_slh_dsa) |
//! | the base's own | | same as ML-DSA |
//!
//! The post-quantum groups and schemes are for TLS 1.3 only. [`Builder`] selects among all of these,
//! and accepts any other provider as the base.
//!
//! SLH-DSA is accepted in chains but not advertised, because its code points are for handshakes as
//! well. Some peers, such as BouncyCastle, compare their own chain with what this side advertises.
//! They don't send a chain with an SLH-DSA signature then. Clients of such servers, and servers that
//! verify the certificates of such clients, need [`Builder::experimental_slh_dsa`], which advertises
//! it.
//!
//! # Size of the ClientHello
//!
//! With a post-quantum share the ClientHello has about 1,460 bytes, which take two packets.
//! [`SmallHello`] keeps it in one, at the cost of one more round trip if the server asks for the
//! share.
//!
//! # What is not checked by default
//!
//! Chains are verified by webpki, as everywhere in rustls. It supports two kinds of names and name
//! constraints: DNS names and IP addresses. Below a CA whose certificate constrains e-mail addresses
//! or URIs, it refuses each certificate that has a name of that kind, permitted or not. Below a CA
//! with constraints of directory names, it refuses every certificate. A
//! [`ChainValidator`](pq_x509::validation::ChainValidator) enforces these constraints, and validates for SPIFFE
//! IDs, URIs and e-mail addresses. webpki leaves two things to the application:
//!
//! * *Key usage.* webpki ignores the KeyUsage extension in chains. It accepts an ML-DSA certificate
//!   for keyEncipherment only, which RFC 9881 forbids, and an intermediate that may not sign
//!   certificates. Wrap the verifier, on either side, in [`verify::EnforceKeyUsage`], as the example
//!   programs do; its documentation shows how.
//! * *Revocation.* Nothing is looked up. Give revocation lists to either verifier of rustls: it
//!   verifies them with the provider's algorithms, including ML-DSA and SLH-DSA. Every certificate
//!   below a root must then be covered by a list of its issuer, unless you tell the verifier's
//!   builder otherwise. An expired list is still used, unless you tell the builder not to.
//!   [`CertificateRevocationList`](pq_x509::revocation::CertificateRevocationList) reads lists, and
//!   [`Issuer::issue_revocation_list`](pq_x509::issuing::Issuer::issue_revocation_list) makes them. rustls's
//!   verifiers refuse some lists that it reads: those of version 1, and those with dates before
//!   1970. They also refuse certificates with such dates or with critical certificate policies, and CA certificates with a path
//!   length above 255. A [`ChainValidator`](pq_x509::validation::ChainValidator) accepts all of these.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rustls::client::WebPkiServerVerifier;
//! use rustls::server::WebPkiClientVerifier;
//! use rustls::{ClientConfig, RootCertStore, ServerConfig};
//! use rustls_pq::Builder;
//! use rustls_pq::pq_x509::revocation::CertificateRevocationList;
//! # use rustls::pki_types::{CertificateDer, PrivateKeyDer};
//!
//! fn client(
//!     roots: Arc<RootCertStore>,
//!     lists: &str,
//! ) -> Result<ClientConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
//!     let lists = CertificateRevocationList::all_from_pem(lists)?;
//!     let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
//!         .with_crls(lists.into_iter().map(CertificateRevocationList::into_der))
//!         .enforce_revocation_expiration()
//!         .build()?;
//!     Ok(ClientConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_webpki_verifier(verifier)
//!         .with_no_client_auth())
//! }
//!
//! fn server(
//!     client_roots: Arc<RootCertStore>,
//!     lists: &str,
//! #   chain: Vec<CertificateDer<'static>>,
//! #   key: PrivateKeyDer<'static>,
//! ) -> Result<ServerConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(Builder::with_default_base()?.roots(&client_roots).build()?);
//!     let lists = CertificateRevocationList::all_from_pem(lists)?;
//!     let verifier = WebPkiClientVerifier::builder_with_provider(client_roots, provider.clone())
//!         .with_crls(lists.into_iter().map(CertificateRevocationList::into_der))
//!         .enforce_revocation_expiration()
//!         .build()?;
//!     Ok(ServerConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_client_cert_verifier(verifier)
//!         .with_single_cert(chain, key)?)
//! }
//! # use rustls_pq::pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use rustls_pq::pq_x509::revocation::CertificateRevocationListBuilder;
//! # use rustls_pq::pq_x509::keys::{SignatureAlgorithm, SigningKey};
//! # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
//! # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
//! # let list = CertificateRevocationListBuilder::new(&[1]);
//! # let lists = root.issue_revocation_list(list)?.to_pem();
//! # let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
//! # let mut roots = RootCertStore::empty();
//! # roots.add(root.certificate().der().clone())?;
//! # let roots = Arc::new(roots);
//! # client(roots.clone(), &lists)?;
//! # server(roots, &lists, vec![leaf.into_der()], key.into())?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # With other crates
//!
//! Everything that takes a rustls 0.23 configuration takes one made with these providers:
//! tokio-rustls, axum, axum-server, tonic, reqwest, hyper-rustls, quinn. The page `docs/tls.md` has a
//! table of the functions and features for each. Frameworks that make the configuration themselves use the
//! provider that [`CryptoProvider::install_default`] has installed. On a server, [`ServerHandshake`]
//! works with the `LazyConfigAcceptor` of tokio-rustls: the crate `pq-serving` does so.
//!
//! Some frameworks, such as reqwest and quinn, don't give access to rustls's connection, which
//! [`Negotiated`] reads. They can negotiate only what the provider has: with [`Profile::RequirePq`]
//! and [`Builder::require_pq_authentication`] every connection is post-quantum. To see how the peer
//! proved who it is, give the certificates from quinn's `Connection::peer_identity` to
//! [`Authentication::of`].
//!
//! # Where it runs
//!
//! With its default features, the crate compiles for every target that rustls and `std` support.
//! Only the source of the classical algorithms differs:
//!
//! | | |
//! |---|---|
//! | x86-64 with AES, AVX2, ADX and BMI2; AArch64 with AES and SHA-2 | every base |
//! | other CPUs and architectures | `ring` or `aws-lc-rs`: [`provider()`] uses them where graviola can't run, and without them returns an error that says what is missing |
//! | `wasm32-unknown-unknown` in JavaScript | `ring`; clients, since [`Tickets`] need a clock, which this target lacks |
//!
//! There is no `no_std` version. Of the bases, only ring could work without `std`: graviola's glue
//! enables rustls's feature `std`, and rustls itself drops its own `no_std` mode in 0.24.
//! ([`pq_core`], which contains the post-quantum algorithms, is `no_std` and runs on bare metal.)
//!
//! # QUIC
//!
//! Providers over any base work with QUIC, for example with quinn: give it the
//! [`ServerConfig`](rustls::ServerConfig) and the [`ClientConfig`](rustls::ClientConfig) made with
//! them. Over graviola this needs the feature `quic`. quinn always builds ring or AWS-LC as well,
//! whichever base you use, because it makes its own tokens with them.
//!
//! QUIC protects its first packets with AES-128-GCM, with keys that everybody knows, whatever is
//! negotiated for the rest (RFC 9001, section 5.2). quinn looks for that suite in the provider, but
//! [`Profile::Cnsa2`] and [`Builder::cipher_suites`] may leave it out: then give the suite of another
//! provider to `with_initial` of quinn's configurations.
//!
//! # FIPS
//!
//! ML-KEM, ML-DSA and SLH-DSA implement FIPS 203 to FIPS 205 but are not part of a validated
//! module. So [`CryptoProvider::fips()`] is `false` for every provider that this crate makes, even
//! over a base for which it is `true`.
//!
//! # Features
//!
//! * `graviola` (default): the base graviola, pure Rust and inline assembly. It needs
//!   a CPU with AES, AVX2, ADX and BMI2, or NEON with AES and SHA-2; [`provider()`] checks.
//!   Its rustls glue enables rustls's `tls12` feature.
//! * `aws-lc-rs`, `ring`: these bases, which need a C compiler to build. If several bases are
//!   enabled, [`provider()`] takes the first of graviola, AWS-LC and ring that the CPU can run.
//! * `tls12`: TLS 1.2, which is always classical, with AWS-LC and ring.
//! * `quic`: QUIC with graviola, whose own cipher suites are for TCP only. Adds
//!   RustCrypto's `aes` and `chacha20`, which protect packet headers.
//! * `hpke`: the module of that name, for Encrypted ClientHello.
//! * `slh-dsa` (default): SLH-DSA in certificate chains, and [`Builder::experimental_slh_dsa`]. Without
//!   it a program compiles faster, and refuses these chains with an error that names the feature.
//! * `composite`: the module of that name, which has keys and signatures of Composite ML-DSA for
//!   certificates and documents, by draft-ietf-lamps-pq-composite-sigs-19. Not for TLS. It enables
//!   `graviola`.
//!
//! # Errors
//!
//! [`Refusal`] turns a handshake error, or an I/O error around one, into its cause, with what both
//! sides offered and a remedy. [`Profile`] has tables of what happens with each kind of peer.
//!
//! If a key share fails a check, the error is
//! [`PeerMisbehaved::InvalidKeyShare`](rustls::PeerMisbehaved::InvalidKeyShare) and the alert
//! `illegal_parameter`. If there is no randomness, the error is
//! [`rustls::Error::FailedToGetRandomBytes`]. An ML-DSA private key that can't be loaded gives
//! [`rustls::Error::Other`] around a [`pq_x509::keys::KeyError`]. A chain that is too large, or doesn't
//! belong to the key, gives an [`identity::IdentityError`].
//!
//! # Events
//!
//! The crate reports through [`tracing`](https://docs.rs/tracing): `warn` for what the operator
//! should act on (a new certificate refused, one from a file expired, a key that others can read, a
//! file that the watching thread waits for, no new ticket key, an OCSP response refused, expired, or
//! saying that the certificate was revoked, a signer that isn't asked any more because it has failed too often), `info` for that
//! signer when it signs again, for certificates and OCSP responses replaced, for
//! clients that no certificate suits and for servers refused because of their OCSP response, `debug`
//! for choices in each handshake. No event contains a secret.
#![forbid(unsafe_code)]

extern crate alloc;

mod algorithms;
pub mod base;
mod builder;
#[cfg(feature = "graviola")]
pub mod classical;
#[cfg(feature = "composite")]
pub mod composite;
mod error;
mod hello;
#[cfg(feature = "hpke")]
pub mod hpke;
pub mod identity;
mod interned;
pub mod kx;
mod ocsp;
mod outcome;
mod policy;
mod sessions;
pub mod sign;
mod tls;
pub mod verify;
pub mod watching;

pub use algorithms::{Authentication, Group, KeyAlgorithm, UnknownGroup};
pub use builder::Builder;
pub use error::Error;
pub use hello::{InvalidTrustAnchorId, Offer, OfferReader, SmallHello, TrustAnchorId};
pub use outcome::{Negotiated, Refusal, ServerHandshake};
pub use policy::{Profile, UnknownProfile};
pub use sessions::{TicketOptions, Tickets};

/// Keys, certificates and their algorithms, which are part of this crate's interface, for example in
/// [`KeyAlgorithm`] and [`identity::IdentityError`].
pub use pq_x509;
pub use pq_x509::x509_cert::spki::ObjectIdentifier;

use rustls::crypto::CryptoProvider;

/// The default provider: [`base::first_usable()`] with X25519MLKEM768 offered first
/// and ML-DSA preferred.
///
/// # Errors
///
/// [`Error::UnsupportedCpu`] if graviola is the only base compiled in and the CPU
/// lacks what it needs, [`Error::UnsupportedArchitecture`] if the architecture
/// isn't one of graviola's, [`Error::NoBase`] if no base is compiled in.
pub fn provider() -> Result<CryptoProvider, Error> {
    Builder::with_default_base()?.build()
}

/// The README's program, which is compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So are those of the page on TLS.
#[cfg(doctest)]
#[doc = include_str!("../../docs/tls.md")]
struct TlsPage;

/// And what the workspace's README may show one day.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct WorkspaceReadme;
