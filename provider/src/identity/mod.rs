//! Certificate chains and their keys: several of them on one port, replaceable while
//! the program runs.
//!
//! An [`Identity`] is a chain with the key of its leaf, checked when it is made. An
//! [`IdentitySet`] holds the identities of a server, for any number of names. [`Identities`] gives
//! rustls the one that suits each peer; its set can be replaced or changed at any time.
//! [`IdentityFiles`] reads identities from PEM files, and OCSP responses beside them, and watches
//! these files for changes.
//!
//! ```
//! # use std::sync::Arc;
//! # use pq_x509::issuing::{CertificateBuilder, Issuer};
//! # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
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
//! A client lists in `signature_algorithms` what it can verify, but this doesn't tell which roots it
//! trusts. Chromium 156, Go 1.27, Node 26, curl with OpenSSL 3.6, NSS, s2n, wolfSSL and clients
//! with this crate list ML-DSA by default, and have no ML-DSA root unless somebody gave them one. So
//! the operator sets the order: **the chain that is added first is preferred**, and should be one
//! that every client trusts.
//!
//! A client gets one of the chains for the server name that it asks for: those with this name, or
//! with a wildcard for it (`*.example.org`, for one label), in the leaf's subjectAltName, and those
//! that the operator [ties](IdentitySet::with_name) to the name. If there are none, or if the client
//! asks for no name, it gets one of the [default](IdentitySet::with_default) chains. Among these
//! chains it gets
//!
//! 1. the first one that it can verify and shows that it trusts;
//! 2. else, the first one that it can verify and that is tied to the name;
//! 3. else, the first one that it can verify;
//! 4. else, the first one whose key can at least sign the handshake for this client (RFC 9846,
//!    section 4.4.2.2). If there is none, the handshake ends with the alert `handshake_failure`.
//!
//! A client can **verify** a chain if its `signature_algorithms` cover a scheme of the leaf's key and
//! the signature of every certificate, except of self-signed CAs. It shows that it **trusts** a chain
//! by
//!
//! * the name of a CA that issued a certificate of the chain, the root included
//!   (`certificate_authorities`, RFC 9846, section 4.3.4);
//! * the ID of the CA (`trust_anchors`, draft-ietf-tls-trust-anchor-ids-06), which Chromium sends,
//!   if the operator [states](Identity::with_trust_anchors) the IDs for the chain. rustls drops this
//!   extension, so this needs an [`OfferReader`](crate::OfferReader) with a
//!   [`ServerHandshake`](crate::ServerHandshake), as in `pq-serving`;
//! * an application protocol (ALPN) that the operator [ties](Identity::with_protocols) to the chain.
//!
//! For example, if there is an ECDSA chain and then an ML-DSA chain for a name, a client gets the
//! ML-DSA chain if it sends the name of the ML-DSA root, or if it accepts nothing but ML-DSA. A client
//! that trusts only the ML-DSA root, but also lists ECDSA and shows no trust, gets the ECDSA chain and
//! refuses it: make it show its trust, or tie another name (`pq.example.org`) to the ML-DSA chain.
//!
//! SLH-DSA in a chain is a special case. Many clients verify it, including this crate's and
//! OpenSSL's, but list no scheme for it, and HashSLH-DSA has no scheme. A client that shows that it
//! trusts such a chain gets it, unless what it lists covers another chain that it trusts, or it sends
//! `signature_algorithms_cert`. Other clients get a chain without SLH-DSA if there is one.
//!
//! # Keys that are elsewhere
//!
//! An identity may have its private key in a hardware module, a key store or behind a network:
//! [`Identity::with_signer`], and [the module `sign`](crate::sign#keys-that-are-elsewhere) for what that means for handshakes.
//! To rotate the key, replace the identity: chain and signer change together. If the chain is in a file,
//! [`FilePair::with_signers`] does that when the file changes.
//!
//! # Adding a chain
//!
//! A chain that is added at the end takes no client from the chains before it, unless the client
//! shows that it trusts the new chain. There are exceptions, and the operator decides on each:
//!
//! * a [tie](IdentitySet::with_name) to a name takes the clients that ask for this name and show
//!   trust in no other chain;
//! * a [protocol](Identity::with_protocols) or a [trust anchor ID](Identity::with_trust_anchors)
//!   takes all clients that send it, even those that don't trust the chain;
//! * a chain whose signatures a client lists takes the client from a chain with a signature that it
//!   doesn't list, in particular SLH-DSA: clients may accept more in chains than they list, without
//!   saying so;
//! * a name that no chain had before takes the clients that ask for it from the default chains;
//! * a classical chain takes clients without a post-quantum group from an ML-DSA chain, if the
//!   server doesn't know their versions (see below);
//! * [`IdentitySet::strongest_first`] sorts the chain by its strength. It is for closed environments,
//!   where all clients trust all roots.
//!
//! # OCSP responses
//!
//! A server can send an OCSP response with a chain: what the CA says about the certificate. Then
//! clients needn't ask the CA (*stapling*). Clients that ask for a response get it until it expires. The
//! server gets it
//!
//! * from a call, at any time: [`Identity::set_ocsp_response`];
//! * from a file beside the chain, which is watched: [`FilePair::with_ocsp_response`];
//! * from a source that is asked again before the response expires, such as a closure that asks the
//!   CA: [`IdentityFiles::with_ocsp_source`], [`Identities::refresh_ocsp_responses`].
//!
//! Clients check it with [`CheckOcsp`](crate::verify::CheckOcsp).
//!
//! # TLS 1.2
//!
//! TLS 1.2 has no ML-DSA, and each of its cipher suites is for one kind of key: the client has to
//! offer a suite for the leaf's kind of key that the [`Identity`]'s provider has. If it lists groups, the curve
//! of an ECDSA key has to be among them (RFC 8422, section 5.3), and rustls refuses it with `handshake_failure`
//! if no identity fits. Of the signs of trust, only application protocols count in TLS 1.2.
//!
//! rustls doesn't tell the version before the choice is made. A client that offers such a suite,
//! suites of TLS 1.3 and no post-quantum group may speak either version. It gets a classical chain
//! if it can verify one, unless it shows trust only in others. With an
//! [`OfferReader`](crate::OfferReader) the version is known.
//!
//! # Which one a server gets
//!
//! A client doesn't choose by name. It sends a chain from a CA that the server names in its request; if
//! none of these will do, one of all chains. It sends the first one that the server can verify by its
//! `signature_algorithms`, or else the first one whose handshake signature the server accepts.
//!
//! # `signature_algorithms_cert`
//!
//! rustls 0.23 drops this extension, with which a client can accept more signatures in
//! certificates than in the handshake, or fewer. So `signature_algorithms` count for both,
//! as they do when the client doesn't send the extension, which is the usual case. An
//! [`OfferReader`](crate::OfferReader) reads it, and the versions, from the bytes that the client
//! sends; a [`ServerHandshake`](crate::ServerHandshake) uses both.

// This room uses `hello`, `ocsp`, `sign`, `watching` and `algorithms`, and in tests `builder`.

mod certified;
mod choice;
mod error;
mod few;
mod files;
mod resolver;
mod set;
mod sharded;
mod stapled;

pub use certified::Identity;
pub use choice::Choice;
pub use error::IdentityError;
pub use files::{FilePair, IdentityFiles, SignerSource, WatchError, Watcher};
pub use resolver::Identities;
pub use set::IdentitySet;
pub use stapled::OcspSource;
