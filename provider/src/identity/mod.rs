// This room uses `hello`, `ocsp` and `algorithms`, and in tests `builder`.

//! Certificate chains and their keys: several of them on one port, and replaced while
//! the program runs.
//!
//! An [`Identity`] is a chain with the key of its leaf, checked when it is made. An
//! [`IdentitySet`] holds those of a server, for any number of names; [`Identities`] gives
//! rustls the one that suits each peer, and takes a new set, or changes in it, at any time.
//! [`IdentityFiles`] reads them from PEM files and watches these for changes, and OCSP responses
//! beside them.
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
//! client trusts.
//!
//! The chains for a client are those for the server name that it asks for: those with that name, or
//! with a wildcard for it (`*.example.org`, for one label), in the leaf's subjectAltName, and those
//! that the operator [ties](IdentitySet::with_name) to the name. If there are none, or if the client
//! asks for no name, they are the [default](IdentitySet::with_default) ones. Among them it gets
//!
//! 1. the first one that it can verify and shows that it trusts;
//! 2. else, the first one that it can verify and that is tied to the name;
//! 3. else, the first one that it can verify;
//! 4. else, the first one that the handshake can at least be signed with (RFC 9846, section
//!    4.4.2.2). If there is none, the handshake ends with the alert `handshake_failure`.
//!
//! A client can **verify** a chain if its `signature_algorithms` cover a scheme of the key and the
//! signature of every certificate, except of self-signed CAs. It shows that it **trusts** a chain by
//!
//! * the name of a CA that issued a certificate of the chain, the root included
//!   (`certificate_authorities`, RFC 9846, section 4.3.4);
//! * the ID of the CA (`trust_anchors`, draft-ietf-tls-trust-anchor-ids-06), which Chromium sends,
//!   if the operator [states](Identity::with_trust_anchors) the chain's. rustls drops this
//!   extension, so it takes an [`OfferReader`](crate::OfferReader) with a
//!   [`ServerHandshake`](crate::ServerHandshake), as `examples/tls-server` has them;
//! * an application protocol (ALPN) that the operator [ties](Identity::with_protocols) to the chain.
//!
//! For example, with an ECDSA chain and then an ML-DSA chain for a name a client gets the ML-DSA
//! chain if it names its root, or if it accepts nothing but ML-DSA. A client that trusts only the
//! ML-DSA root, lists ECDSA too and shows nothing is given the ECDSA chain and refuses it: have it
//! show its trust, or tie a name of its own (`pq.example.org`) to the ML-DSA chain.
//!
//! SLH-DSA in a chain is a case of its own: many clients verify it, this crate's and OpenSSL's among
//! them, and list no scheme for it, and for HashSLH-DSA there is no scheme to list. A client that
//! shows that it trusts such a chain gets it, unless another one that it trusts can be verified by
//! what it lists, or it sends `signature_algorithms_cert`. Other clients get a chain without SLH-DSA
//! if there is one.
//!
//! # Adding a chain
//!
//! A chain that is added at the end takes no client away from the chains before it, unless that
//! client shows that it trusts it. There are exceptions, and each is up to the operator:
//!
//! * a [tie](IdentitySet::with_name) to a name takes the clients that ask for it and show trust in
//!   no other chain;
//! * a [protocol](Identity::with_protocols) or a [trust anchor ID](Identity::with_trust_anchors)
//!   takes all clients that send it, even those that don't trust the chain;
//! * a chain whose signatures a client lists takes it from a chain with a signature that it doesn't
//!   list, SLH-DSA above all: clients may accept more in chains than they list, and don't say so;
//! * a name that no chain had takes the clients that ask for it from the default chains;
//! * a classical chain takes clients without a post-quantum group from an ML-DSA chain, where the
//!   server doesn't know their versions (see below);
//! * [`IdentitySet::strongest_first`] puts the chain where its strength says. It is for a closed
//!   world, where all clients trust all roots.
//!
//! # OCSP responses
//!
//! A chain can be shown along with what its CA says of it: an OCSP response, which clients needn't ask
//! the CA for then (*stapling*). It goes to clients that ask for one, and no longer than it says
//! itself. It comes
//!
//! * from a call, at any time: [`Identity::set_ocsp_response`];
//! * from a file beside the chain, which is watched: [`FilePair::with_ocsp_response`];
//! * from a source that is asked again before it expires, such as a closure that asks the CA:
//!   [`IdentityFiles::with_ocsp_source`], [`Identities::refresh_ocsp_responses`].
//!
//! Clients check it by [`CheckOcsp`](crate::verify::CheckOcsp).
//!
//! # TLS 1.2
//!
//! In TLS 1.2, where ML-DSA has no place, cipher suites are for one kind of key: the client has
//! to offer one for the leaf's kind that the [`Identity`]'s provider has. Of what shows trust, only
//! application protocols count in TLS 1.2.
//!
//! rustls doesn't tell the version before the choice is made. A client that offers such a suite,
//! suites of TLS 1.3 and no post-quantum group may speak either version. It gets a classical chain
//! if it can verify one, unless it shows trust in others only. With an
//! [`OfferReader`](crate::OfferReader) the version is known.
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
mod stapled;

pub use certified::Identity;
pub use choice::Choice;
pub use error::IdentityError;
pub use files::{FilePair, IdentityFiles, WatchError, Watcher};
pub use resolver::Identities;
pub use set::IdentitySet;
pub use stapled::OcspSource;
