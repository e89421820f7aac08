//! Certificate chains and their keys: several of them on one port, and replaced while
//! the program runs.
//!
//! An [`Identity`] is a chain with the key of its leaf, checked when it is made. An
//! [`IdentitySet`] holds those of a server, for any number of names; [`Identities`] gives
//! rustls the one that suits each peer, and takes a new set, or changes in it, at any time.
//! [`IdentityFiles`] reads them from PEM files and watches these for changes.
//!
//! ```
//! # use std::sync::Arc;
//! # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
//! # use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
//! use rustls::ServerConfig;
//! use rustls_pq::identity::{Identities, Identity, IdentitySet};
//!
//! type Pair = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);
//!
//! fn server(ecdsa: Pair, ml_dsa: Pair) -> Result<ServerConfig, Box<dyn std::error::Error>> {
//!     let provider = Arc::new(rustls_pq::provider()?);
//!     let identities = Arc::new(Identities::new(
//!         IdentitySet::new()
//!             .with_default(Identity::new(ecdsa.0, ecdsa.1, &provider)?)
//!             .with_default(Identity::new(ml_dsa.0, ml_dsa.1, &provider)?),
//!     ));
//!     // Keep a clone of `identities` to `update` the set later.
//!     Ok(ServerConfig::builder_with_provider(provider)
//!         .with_safe_default_protocol_versions()?
//!         .with_no_client_auth()
//!         .with_cert_resolver(identities))
//! }
//! # fn pair() -> Result<Pair, Box<dyn std::error::Error>> {
//! #     let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
//! #     let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
//! #     let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
//! #     let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
//! #     let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec());
//! #     Ok((vec![leaf.into_der()], key.into()))
//! # }
//! # server(pair()?, pair()?)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which one a client gets
//!
//! What a client lists in `signature_algorithms` says what it can verify, and nothing of which roots
//! it trusts. Chromium 156, Go 1.27, Node 26, curl with OpenSSL 3.6, NSS, s2n, wolfSSL and clients
//! with this crate list ML-DSA by default, and have no ML-DSA root unless somebody gave them one. So
//! the order is the operator's: **what is added first is preferred**, and should be what every
//! client trusts. A client gets, of those
//!
//! * for the server name that it asks for: first those that name it, then those with a wildcard for
//!   it (`*.example.org`, for one label). Where there are neither, or the client asks for none, the
//!   default ones. Names are those in the leaf's subjectAltName;
//! * that it can verify: its `signature_algorithms` cover a scheme of the key and the signature of
//!   every certificate in the chain, except of self-signed CAs. SLH-DSA in a chain counts only where
//!   the client lists a scheme for it, though many a client without one verifies it, this crate's
//!   and OpenSSL's among them: next to a classical chain, they get that. For HashSLH-DSA there is no
//!   scheme to list;
//!
//! the first one of those that it shows to trust, and if it shows trust in none of them, the first
//! one of all. It shows it by
//!
//! * the name of a CA that issued a certificate of the chain, the root included
//!   (`certificate_authorities`, RFC 9846, section 4.3.4);
//! * the ID of the CA (`trust_anchors`, draft-ietf-tls-trust-anchor-ids), which Chromium sends, if
//!   the operator [states](Identity::with_trust_anchors) the chain's. rustls drops this extension,
//!   so it takes an [`OfferReader`](crate::OfferReader) with a
//!   [`ServerHandshake`](crate::ServerHandshake), as `examples/tls-server` has them;
//! * an application protocol (ALPN) that the operator [ties](Identity::with_protocols) to the chain.
//!
//! Hence a chain is added without harm at the end: no client gets it that could verify the ones
//! before, unless it shows that it trusts it. With an ECDSA chain and then an ML-DSA chain for a name
//! a client gets the ML-DSA chain if it names its root, or if it accepts nothing but ML-DSA. A client
//! that trusts only the ML-DSA root, lists ECDSA too and shows nothing is given the ECDSA chain and
//! refuses it: have it do either, or give it a name of the server's with no other chain. In a closed
//! world, where all clients trust all roots, there is [`IdentitySet::strongest_first`].
//!
//! Being verifiable and being trusted go before names: a client that can verify none of the chains
//! that name the server, but one with a wildcard for it, gets the latter. Where the client can verify
//! none of those that are for its name, it gets one that the handshake can at least be signed with
//! (RFC 9846, section 4.4.2.2), and where there is none of these either, the handshake ends with the
//! alert `handshake_failure`.
//!
//! In TLS 1.2, where ML-DSA has no place, cipher suites are for one kind of key: the client has
//! to offer one for the leaf's kind that the [`Identity`]'s provider has. A client that does, and
//! offers no post-quantum group, gets a classical chain if it can verify one, unless it shows trust
//! in others only: its handshake may turn out to be one of TLS 1.2, and rustls doesn't tell before
//! the choice is made. Of what shows trust, only application protocols count in TLS 1.2.
//!
//! # Which one a server gets
//!
//! A client goes by no names. It shows the first chain from a CA that the server names in its
//! request, and where there is none the first one of all: one that the server can verify by its
//! `signature_algorithms`, or else one that it accepts the signature in the handshake of.
//!
//! # `signature_algorithms_cert`
//!
//! rustls 0.23 drops this extension, with which a client can accept more signatures in
//! certificates than in the handshake, or fewer. `signature_algorithms` stand for both
//! then, as they do where it is not sent, which is most of the time.
//! [`OfferReader`](crate::OfferReader) gets it out of the bytes that the client sends, and the
//! versions with it; a [`ServerHandshake`](crate::ServerHandshake) goes by both.

mod certified;
mod choice;
mod error;
mod files;
mod resolver;
mod set;
mod sharded;

pub use certified::Identity;
pub use choice::Choice;
pub use error::IdentityError;
pub use files::{FilePair, IdentityFiles, WatchError, Watcher};
pub use resolver::Identities;
pub use set::IdentitySet;
