//! Post-quantum TLS 1.3 for rustls.
//!
//! [`provider()`] is a rustls [`CryptoProvider`] with X25519MLKEM768 key exchange
//! and its siblings, and ML-DSA and SLH-DSA certificates, beside everything classical. ML-KEM,
//! ML-DSA and SLH-DSA are those of [`pq_core`]; classical algorithms come from a *base*
//! provider: graviola unless another one is chosen.
//!
//! # In Cargo.toml
//!
//! ```toml
//! [dependencies]
//! rustls = { version = "0.23.45", default-features = false, features = ["std"] }
//! rustls-pq = "0.1"
//! ```
//!
//! Without `default-features = false` rustls brings AWS-LC, which takes a C compiler and cmake to
//! build. So do tokio-rustls, hyper-rustls and others. If it is built all the same, `cargo tree -i
//! aws-lc-sys` says which crate brings it.
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
//! # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
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
//! An [`Identity`](identity::Identity) says at once if the key isn't the certificate's, or if
//! the chain is larger than a handshake can carry. rustls's own `with_single_cert` takes chains
//! of any size, and with one that is too large every handshake fails.
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
//! # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
//! # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
//! # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
//! # let mut roots = RootCertStore::empty();
//! # roots.add(root.certificate().der().clone())?;
//! # let config = client(roots)?;
//! # rustls::ClientConnection::new(config.into(), "localhost".try_into()?)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Builder::roots`] has the client ask for signatures that chains under its roots are made of. One
//! with plain [`provider()`] asks for ML-DSA, too. If it trusts classical roots alone, as the public
//! ones are today, it fails at servers that have two certificates and prefer ML-DSA: it gets the one
//! that it can't use.
//!
//! # In production
//!
//! * [`Profile`] states a policy in one word, such as that no handshake may do without a
//!   post-quantum key exchange, and tells what happens with which kind of peer.
//! * [`identity`] serves several certificates from one port, each client the first one that it can
//!   verify, or one whose root it says it trusts, and replaces them while the server runs. That a
//!   client lists ML-DSA doesn't say that it trusts an ML-DSA root: add the chain that everybody
//!   trusts first.
//! * [`classical`] makes classical keys and certificates, for those whom post-quantum ones don't reach yet.
//! * [`Tickets`] resumes sessions, with client certificates too.
//! * [`Negotiated`] says what protects a connection, and [`Refusal`] why there is none; on a
//!   server, [`ServerHandshake`] has both.
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
//! | SLH-DSA, all twelve sets | 0x0911 to 0x091C | chains; CertificateVerify is [experimental](Builder::experimental_slh_dsa) |
//! | the base's own | | as ML-DSA |
//!
//! Both in TLS 1.3 only. [`Builder`] chooses among them, and takes any other
//! provider as the base.
//!
//! SLH-DSA is accepted in chains and not advertised: the code points are for handshakes as well. A
//! peer that holds its chain against what this side advertises, such as BouncyCastle, doesn't
//! show one with a signature of SLH-DSA then. Clients of such servers, and servers for the
//! certificates of such clients, need [`Builder::experimental_slh_dsa`], which advertises it.
//!
//! # Size of the ClientHello
//!
//! With a post-quantum share it has some 1,460 bytes, which is two packets. [`SmallHello`]
//! keeps it in one, for one round trip more where the server asks for the share.
//!
//! # What is not checked by default
//!
//! Chains are verified by webpki, as everywhere in rustls. It knows names and name
//! constraints of two kinds: DNS names and addresses. Below a CA whose certificate constrains e-mail
//! addresses or URIs, it refuses each certificate that has a name of that kind, permitted or not, and all
//! below constraints of directory names. A [`ChainValidator`](pq_x509::ChainValidator) holds these to what
//! is permitted, and validates for SPIFFE IDs, URIs and e-mail addresses. Two things that webpki leaves to
//! the application:
//!
//! * *Key usage.* webpki passes over the KeyUsage extension in chains: an ML-DSA
//!   certificate for keyEncipherment only, which RFC 9881 forbids, is accepted, and so is
//!   an intermediate that may not sign certificates. Wrap the verifier, on either
//!   side, in [`verify::EnforceKeyUsage`], as the example programs do; its documentation shows how.
//! * *Revocation.* Nothing is looked up. Give revocation lists to either verifier of rustls, which
//!   verifies them by the provider's algorithms, ML-DSA and SLH-DSA among them. Every
//!   certificate below a root must then be covered by a list of its issuer, unless the verifier's
//!   builder is told otherwise; a list that has expired is used all the same, unless it is told
//!   not to. [`CertificateRevocationList`](pq_x509::CertificateRevocationList) reads and
//!   [`Issuer::issue_revocation_list`](pq_x509::Issuer::issue_revocation_list) makes lists. Some
//!   that it reads, rustls's verifiers refuse: those of version 1, and those with dates before
//!   1970. They refuse certificates with such dates, too, and those of CAs with a path length above
//!   255. A [`ChainValidator`](pq_x509::ChainValidator) takes all of these.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rustls::client::WebPkiServerVerifier;
//! use rustls::server::WebPkiClientVerifier;
//! use rustls::{ClientConfig, RootCertStore, ServerConfig};
//! use rustls_pq::Builder;
//! use rustls_pq::pq_x509::CertificateRevocationList;
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
//! # use rustls_pq::pq_x509::{CertificateBuilder, CertificateRevocationListBuilder, Issuer};
//! # use rustls_pq::pq_x509::{SignatureAlgorithm, SigningKey};
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
//! Whatever takes a configuration of rustls 0.23 takes one over these providers: tokio-rustls, axum,
//! axum-server, tonic, reqwest, hyper-rustls, quinn. The README has a table of the functions and
//! features for it. Frameworks that make the configuration themselves take the provider that
//! [`CryptoProvider::install_default`] has installed. On a server, [`ServerHandshake`] takes the
//! `LazyConfigAcceptor` of tokio-rustls: the example `tls-server` shows how.
//!
//! Some frameworks keep rustls's connection to themselves, such as reqwest and quinn, so that there
//! is nothing to read [`Negotiated`] from. What they negotiate is within what the provider has:
//! with [`Profile::RequirePq`] and [`Builder::require_pq_authentication`] it is post-quantum or
//! nothing. The certificates that quinn's `Connection::peer_identity` gives tell
//! [`Authentication::of`] how the peer proved who it is.
//!
//! # Where it runs
//!
//! The crate compiles for every target that rustls and `std` have, with its default features.
//! What differs is where classical algorithms come from.
//!
//! | | |
//! |---|---|
//! | x86-64 with AES, AVX2, ADX and BMI2; AArch64 with AES and SHA-2 | every base |
//! | other CPUs and architectures | `ring` or `aws-lc-rs`: [`provider()`] takes them where graviola can't run, and without them returns an error that says what is missing |
//! | `wasm32-unknown-unknown` in JavaScript | `ring`; clients, since [`Tickets`] need a clock that this target hasn't |
//!
//! There is no `no_std` form. Of the bases only ring could do without: graviola's glue
//! turns rustls's feature `std` on, and rustls itself gives its own `no_std` mode up in
//! 0.24. ([`pq_core`], where the cryptography is, is `no_std` and runs on bare metal.)
//!
//! # QUIC
//!
//! Providers over any base serve QUIC, with quinn for one: give it the
//! [`ServerConfig`](rustls::ServerConfig) and the
//! [`ClientConfig`](rustls::ClientConfig) made with them. Over graviola this takes the
//! feature `quic`. quinn builds ring or AWS-LC, whichever base is used here: its own
//! tokens are made with them.
//!
//! QUIC's first packets are protected with AES-128-GCM, by keys that everybody knows, whatever is
//! negotiated for the rest (RFC 9001, section 5.2). quinn looks for that suite in the provider,
//! where [`Profile::Cnsa2`] and [`Builder::cipher_suites`] may leave none: then give
//! `with_initial` of quinn's configurations that of another provider.
//!
//! # FIPS
//!
//! ML-KEM, ML-DSA and SLH-DSA implement FIPS 203 to FIPS 205 but are not part of a validated
//! module, so [`CryptoProvider::fips()`] of what this crate makes is `false`, also over
//! a base for which it is `true`.
//!
//! # Features
//!
//! * `graviola` (default): the base graviola, pure Rust and inline assembly. It needs
//!   a CPU with AES, AVX2, ADX and BMI2, or NEON with AES and SHA-2; [`provider()`] checks.
//!   Its rustls glue enables rustls's `tls12` feature.
//! * `aws-lc-rs`, `ring`: these bases; a C compiler builds them. With several bases
//!   enabled, [`provider()`] takes the first of graviola, AWS-LC and ring that the
//!   CPU can run.
//! * `tls12`: TLS 1.2 (classical, as ever) with AWS-LC and ring.
//! * `quic`: QUIC with graviola, whose own cipher suites are for TCP only. Adds
//!   RustCrypto's `aes` and `chacha20`, which protect packet headers.
//! * `composite`: the module of that name, which has keys and signatures of Composite ML-DSA for
//!   certificates and documents, by draft-ietf-lamps-pq-composite-sigs-19. Not for TLS. It turns
//!   `graviola` on.
//!
//! # Errors
//!
//! [`Refusal`] turns the error of a handshake, or an I/O error around it, into its cause, with
//! what both sides offered, and a remedy. [`Profile`] has tables of what happens with which peer.
//!
//! A key share that fails any check is
//! [`PeerMisbehaved::InvalidKeyShare`](rustls::PeerMisbehaved::InvalidKeyShare) and the
//! alert `illegal_parameter`. Running out of randomness is
//! [`rustls::Error::FailedToGetRandomBytes`]. An ML-DSA private key that can't be
//! loaded is [`rustls::Error::Other`] around a [`pq_x509::KeyError`]. A chain that is too
//! large, or that isn't the key's, is an [`identity::IdentityError`].
//!
//! # Events
//!
//! The crate reports through [`tracing`](https://docs.rs/tracing): `warn` for what the
//! operator should see to (a new certificate refused, one from a file expired, a key that others
//! can read, a file that is waited for, no new ticket key, an OCSP response refused, expired, or saying
//! that the certificate was revoked), `info` for certificates and OCSP responses replaced, for
//! clients that no certificate suits and for servers refused by their OCSP response, `debug` for choices in
//! each handshake. No event has a secret in it.
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

pub use algorithms::{Authentication, Group, KeyAlgorithm, UnknownGroup};
pub use builder::Builder;
pub use error::Error;
pub use hello::{InvalidTrustAnchorId, Offer, OfferReader, SmallHello, TrustAnchorId};
pub use outcome::{Negotiated, Refusal, ServerHandshake};
pub use policy::{Profile, UnknownProfile};
pub use sessions::{TicketOptions, Tickets};

/// Keys, certificates and their algorithms, which are part of this crate's interface:
/// [`KeyAlgorithm`], [`identity::IdentityError`].
pub use pq_x509;
pub use pq_x509::x509_cert::spki::ObjectIdentifier;

use rustls::crypto::CryptoProvider;

/// The default provider: [`base::first_usable()`] with X25519MLKEM768 offered first
/// and ML-DSA preferred.
///
/// # Errors
///
/// [`Error::UnsupportedCpu`] where graviola is the only base compiled in and the CPU
/// lacks what it needs, [`Error::UnsupportedArchitecture`] where the architecture
/// isn't one of graviola's, [`Error::NoBase`] where no base is compiled in.
pub fn provider() -> Result<CryptoProvider, Error> {
    Builder::with_default_base()?.build()
}

/// The README's programs, which compile with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
