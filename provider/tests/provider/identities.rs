//! Several certificates on one port, and which of them a peer gets.

use alloc::sync::Arc;

use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, Signer, SigningKey};
use rustls::SignatureScheme as Scheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::Acceptor;
use rustls::sign::SingleCertAndKey;
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ClientConnection, Error, PeerIncompatible,
    ServerConfig, version,
};
use rustls_pq::identity::{Choice, Identities, IdentityError, IdentitySet};
use rustls_pq::verify::slh_dsa::SLHDSA_SHA2_192F;
use rustls_pq::{Builder, KeyAlgorithm, Offer, Profile, identity};

use crate::peers::{
    Ecdsa, Identity, Outcome, Pki, any_base, client_config, connect, connect_to,
    mutual_server_config, private_key, roots,
};

const ML_DSA_44: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa44);
const ML_DSA_65: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa65);
const ML_DSA_87: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa87);

/// Every subset of four identities with every subset of what clients may accept.
#[test]
fn strongest_that_the_client_can_verify() {
    let world = World::new();
    // From the strongest to the weakest, each with its scheme.
    let ranking = [
        (&world.ml_dsa_87, Scheme::ML_DSA_87),
        (&world.ml_dsa_65, Scheme::ML_DSA_65),
        (&world.ml_dsa_44, Scheme::ML_DSA_44),
        (&world.ecdsa, Scheme::ECDSA_NISTP256_SHA256),
    ];
    for present in 1..16 {
        let present = |at: usize| present & (1 << at) != 0;
        let set = (0..4).rev().filter(|at| present(*at));
        let set = set.fold(IdentitySet::new(), |set, at| {
            set.with_default(ranking[at].0.checked())
        });
        let identities = Identities::new(set);

        for accepted in 0..16 {
            let accepted = |at: usize| accepted & (1 << at) != 0;
            let schemes: Vec<_> = (0..4)
                .filter(|at| accepted(*at))
                .map(|at| ranking[at].1)
                .collect();
            let choice = identities
                .choose_for(Some("localhost"), &schemes, &schemes)
                .unwrap();
            match (0..4).find(|at| present(*at) && accepted(*at)) {
                Some(best) => {
                    assert_eq!(choice.scheme, Some(ranking[best].1));
                    assert_is(&choice, ranking[best].0);
                }
                None => {
                    assert_eq!(choice.scheme, None);
                    let strongest = (0..4).find(|at| present(*at)).unwrap();
                    assert_is(&choice, ranking[strongest].0);
                }
            }
        }
    }
}

#[test]
fn in_handshakes() {
    let world = World::new();
    let server = server_with(world.all());
    for (accepted, expected) in [
        (None, ML_DSA_87),
        (Some(vec![Scheme::ML_DSA_65]), ML_DSA_65),
        (Some(vec![Scheme::ML_DSA_44, Scheme::ML_DSA_65]), ML_DSA_65),
        (
            Some(vec![Scheme::ECDSA_NISTP256_SHA256, Scheme::ML_DSA_44]),
            ML_DSA_44,
        ),
        (
            Some(vec![Scheme::ECDSA_NISTP256_SHA256]),
            KeyAlgorithm::EcdsaP256,
        ),
    ] {
        let outcome = connect(&world.client(accepted), &server);
        assert_eq!(outcome.client.result, Ok(()));
        let negotiated = outcome.client.negotiated.unwrap();
        assert_eq!(negotiated.peer.unwrap().key, expected);
    }

    let nothing_shared = connect(&world.client(Some(vec![Scheme::ED25519])), &server);
    assert_eq!(
        nothing_shared.server.result,
        Err(PeerIncompatible::NoSignatureSchemesInCommon.into())
    );
    assert_eq!(
        nothing_shared.client.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );
}

/// A chain is chosen by all of its signatures, and not by its key alone.
#[test]
fn signatures_in_the_chain_count() {
    let ecdsa_root = Issuer::self_signed(CertificateBuilder::ca("Root"), Ecdsa::generate());
    let ecdsa_root = ecdsa_root.unwrap();
    let ml_dsa_87_root = root(SignatureAlgorithm::MlDsa87);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let under_87 = issue(&ml_dsa_87_root, &key());
    let under_ecdsa = issue(&ecdsa_root, &key());
    let identities = Identities::new(
        IdentitySet::new()
            .with_default(under_ecdsa.checked())
            .with_default(under_87.checked()),
    );
    let choose = |schemes: &[Scheme], cert_schemes: &[Scheme]| {
        identities.choose_for(None, schemes, cert_schemes).unwrap()
    };

    let all = [
        Scheme::ML_DSA_65,
        Scheme::ML_DSA_87,
        Scheme::ECDSA_NISTP256_SHA256,
    ];
    assert_is(&choose(&all, &all), &under_87);
    assert_is(&choose(&[all[0], all[2]], &[all[0], all[2]]), &under_ecdsa);
    // signature_algorithms_cert, where it is known, decides about certificates.
    assert_is(&choose(&all[..1], &all), &under_87);
    assert_is(&choose(&all, &all[2..]), &under_ecdsa);
    // Nothing that the client can verify, but something that it may trust as it is.
    let choice = choose(&all[..1], &all[..1]);
    assert_is(&choice, &under_87);
    assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));

    // The signature of a root is nobody's concern.
    let with_root = Identity {
        chain: [
            under_ecdsa.chain.clone(),
            vec![ecdsa_root.certificate().der().clone()],
        ]
        .concat(),
        key: under_ecdsa.key.clone_key(),
    };
    let identities = Identities::new(IdentitySet::new().with_default(with_root.checked()));
    let choice = identities.choose_for(None, &all[..1], &all[2..]).unwrap();
    assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));

    // That of a CA's new key by its old one is not, though they have one name.
    let renewal = CertificateBuilder::ca("Root");
    let renewed = ecdsa_root.issue_ca(renewal, key()).unwrap();
    let mut under_renewed = issue(&renewed, &key());
    under_renewed
        .chain
        .push(renewed.certificate().der().clone());
    let identities = Identities::new(
        IdentitySet::new()
            .with_default(under_renewed.checked())
            .with_default(under_87.checked()),
    );
    let choose = |cert_schemes: &[Scheme]| {
        let choice = identities.choose_for(None, &all[..1], cert_schemes);
        choice.unwrap()
    };
    assert_is(&choose(&all), &under_87);
    assert_is(&choose(&[all[0], all[2]]), &under_renewed);
    assert_is(&choose(&all[..1]), &under_87);
}

#[test]
fn smaller_on_a_tie() {
    let root = root(SignatureAlgorithm::MlDsa65);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = root
        .issue_ca(CertificateBuilder::ca("CA").path_len(0), key())
        .unwrap();
    let short = issue(&root, &key());
    let mut long = issue(&ca, &key());
    long.chain.push(ca.certificate().der().clone());
    let all = [Scheme::ML_DSA_65];
    for set in [
        IdentitySet::new()
            .with_default(short.checked())
            .with_default(long.checked()),
        IdentitySet::new()
            .with_default(long.checked())
            .with_default(short.checked()),
    ] {
        let choice = Identities::new(set).choose_for(None, &all, &all).unwrap();
        assert_is(&choice, &short);
    }
}

/// The signature in the handshake counts: that of SLH-DSA-SHA2-192f is larger than that of
/// ML-DSA-65 by 32 kB, where its key is smaller by two.
#[test]
fn smaller_with_the_signature_on_a_tie() {
    let root = root(SignatureAlgorithm::MlDsa65);
    let ml_dsa = issue(
        &root,
        &SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap(),
    );
    let slh_dsa = issue(
        &root,
        &SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_192f).unwrap(),
    );
    let provider = Builder::new(any_base()).experimental_slh_dsa();
    let provider = provider.build().unwrap();
    let checked = |identity: &Identity| {
        let (chain, key) = (identity.chain.clone(), identity.key.clone_key());
        identity::Identity::new(chain, key, &provider).unwrap()
    };
    assert!(checked(&slh_dsa).size() + 1000 < checked(&ml_dsa).size());

    let all = [SLHDSA_SHA2_192F, Scheme::ML_DSA_65];
    for set in [
        IdentitySet::new()
            .with_default(checked(&ml_dsa))
            .with_default(checked(&slh_dsa)),
        IdentitySet::new()
            .with_default(checked(&slh_dsa))
            .with_default(checked(&ml_dsa)),
    ] {
        let choice = Identities::new(set).choose_for(None, &all, &all).unwrap();
        assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));
        assert_is(&choice, &ml_dsa);
    }
}

#[test]
fn names() {
    let root = root(SignatureAlgorithm::MlDsa44);
    let for_names = |names: &[&str]| {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server();
        let leaf = names.iter().fold(leaf, |leaf, name| leaf.dns_name(*name));
        identity_of(root.issue(leaf, &key).unwrap().into_der(), &key)
    };
    let exact = for_names(&["a.example.org", "b.example.org"]);
    let wildcard = for_names(&["*.example.org"]);
    let fallback = for_names(&["localhost"]);
    let set = IdentitySet::new()
        .with(wildcard.checked())
        .with(exact.checked())
        .with_name("By.Hand.", exact.checked());
    let with_default = Identities::new(set.clone().with_default(fallback.checked()));
    let without_default = Identities::new(set);

    let all = [Scheme::ML_DSA_44];
    for (name, expected) in [
        ("a.example.org", Some(&exact)),
        ("B.Example.ORG", Some(&exact)),
        ("c.example.org", Some(&wildcard)),
        ("c.example.org.", Some(&wildcard)),
        ("by.hand", Some(&exact)),
        // A wildcard stands for one label.
        ("example.org", None),
        ("x.c.example.org", None),
        ("*.org", None),
        ("", None),
        (".", None),
        ("localhost.example.com", None),
    ] {
        println!("{name}");
        let choice = with_default.choose_for(Some(name), &all, &all).unwrap();
        assert_is(&choice, expected.unwrap_or(&fallback));
        let choice = without_default.choose_for(Some(name), &all, &all);
        match expected {
            Some(expected) => assert_is(&choice.unwrap(), expected),
            None => assert!(choice.is_none()),
        }
    }
    assert_is(
        &with_default.choose_for(None, &all, &all).unwrap(),
        &fallback,
    );
    assert!(without_default.choose_for(None, &all, &all).is_none());

    // In handshakes.
    let client = provider_client(None, [root.certificate().der().clone()]);
    for (identities, name, is_served) in [
        (with_default, "c.example.org", true),
        (without_default, "localhost", false),
    ] {
        let server = server_over(identities);
        let outcome = connect_to(name, &client, &server);
        match is_served {
            true => assert_eq!(outcome.client.result, Ok(())),
            // rustls has no other alert for it.
            false => assert_eq!(
                outcome.client.result,
                Err(Error::AlertReceived(AlertDescription::AccessDenied))
            ),
        }
    }
}

/// Verifiable goes before names: a wildcard is better than a refusal.
#[test]
fn wildcard_that_can_be_verified() {
    let root = root(SignatureAlgorithm::MlDsa44);
    let ecdsa_root = Issuer::self_signed(CertificateBuilder::ca("Root"), Ecdsa::generate());
    let ecdsa_root = ecdsa_root.unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let leaf = CertificateBuilder::server().dns_name("a.example.org");
    let exact = identity_of(root.issue(leaf, &key).unwrap().into_der(), &key);
    let key = Ecdsa::generate();
    let leaf = CertificateBuilder::server().dns_name("*.example.org");
    let wildcard = Identity {
        chain: vec![ecdsa_root.issue(leaf, &key).unwrap().into_der()],
        key: key.private_key(),
    };
    let set = IdentitySet::new()
        .with(exact.checked())
        .with(wildcard.checked());
    let identities = Identities::new(set);
    for (scheme, expected) in [
        (Scheme::ML_DSA_44, &exact),
        (Scheme::ECDSA_NISTP256_SHA256, &wildcard),
    ] {
        let choice = identities.choose_for(Some("a.example.org"), &[scheme], &[scheme]);
        assert_is(&choice.unwrap(), expected);
    }
}

/// TLS 1.2 knows nothing of ML-DSA.
#[test]
fn tls12_clients() {
    let world = World::new();
    let server = server_with(world.all());
    let client =
        ClientConfig::builder_with_provider(Arc::new(Builder::new(any_base()).build().unwrap()))
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_root_certificates(roots(world.roots.clone()))
            .with_no_client_auth();
    let outcome = connect(&client.into(), &server);
    assert_eq!(outcome.client.result, Ok(()));
    let negotiated = outcome.client.negotiated.unwrap();
    assert_eq!(negotiated.peer.unwrap().key, KeyAlgorithm::EcdsaP256);
}

/// In TLS 1.2 the cipher suites say what kind of key signs, and `signature_algorithms` may list
/// more than them.
#[test]
fn cipher_suites_of_tls12_clients() {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), Ecdsa::generate()).unwrap();
    let trusted = || roots([root.certificate().der().clone()]);
    let key = Ecdsa::generate();
    let ecdsa = Identity {
        chain: vec![root.issue(for_both_ends(), &key).unwrap().into_der()],
        key: key.private_key(),
    };
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("rsa-2048.pem")).unwrap();
    let public_key = any_base().key_provider.load_private_key(key.clone_key());
    let public_key = public_key.unwrap();
    let leaf = root.issue(for_both_ends(), &public_key.public_key().unwrap());
    let rsa = Identity {
        chain: vec![leaf.unwrap().into_der()],
        key,
    };
    let ml_dsa = Pki::new(SignatureAlgorithm::MlDsa65).server;
    let identities = [&ml_dsa, &ecdsa, &rsa].map(Identity::checked);
    let identities = identities
        .into_iter()
        .fold(IdentitySet::new(), IdentitySet::with_default);
    let identities = Identities::new(identities);

    // Whether a client lists suites of TLS 1.3 or not.
    for kinds in [
        &["TLS_ECDHE_RSA"][..],
        &["TLS_ECDHE_ECDSA"],
        &["TLS_ECDHE_ECDSA", "TLS_ECDHE_RSA"],
        &["TLS13", "TLS_ECDHE_ECDSA"],
        &["TLS13", "TLS_ECDHE_RSA"],
    ] {
        let mut provider = any_base();
        provider.cipher_suites.retain(|suite| {
            let suite = format!("{:?}", suite.suite());
            kinds.iter().any(|kind| suite.starts_with(kind))
        });
        let client = ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[&version::TLS12])
            .unwrap()
            .with_root_certificates(trusted())
            .with_no_client_auth();
        let client = Arc::new(client);
        let mut hello = Vec::new();
        ClientConnection::new(client.clone(), "localhost".try_into().unwrap())
            .unwrap()
            .write_tls(&mut hello)
            .unwrap();
        let mut acceptor = Acceptor::default();
        acceptor.read_tls(&mut hello.as_slice()).unwrap();
        let accepted = acceptor.accept().unwrap().unwrap();

        let expected = match kinds.contains(&"TLS_ECDHE_ECDSA") {
            true => &ecdsa,
            false => &rsa,
        };
        let mut offer = Offer::read(&hello).unwrap().unwrap();
        for choice in [
            identities.choose(&accepted.client_hello()).unwrap(),
            identities.choose_offered(&offer).unwrap(),
        ] {
            assert_is(&choice, expected);
            let key = choice.identity.certified_key().clone();
            let server = ServerConfig::builder_with_provider(any_base().into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
            let outcome = connect(&client, &server.into());
            assert_eq!(outcome.client.result, Ok(()));
        }

        // One that the provider lacks doesn't count.
        let lacking = CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256;
        offer.cipher_suites.push(lacking);
        assert_is(&identities.choose_offered(&offer).unwrap(), expected);
        // And when there is nothing else, the client is refused.
        offer.cipher_suites = vec![lacking];
        assert_eq!(identities.choose_offered(&offer).unwrap().scheme, None);
    }
}

/// What a replaced set changes, and what not.
#[test]
fn replaced_by_call() {
    let world = World::new();
    let identities = Arc::new(Identities::new(
        IdentitySet::new().with_default(world.ml_dsa_65.checked()),
    ));
    let server = server_over(Arc::clone(&identities));
    let client = world.client(None);
    let key = |outcome: Outcome| {
        assert_eq!(outcome.client.result, Ok(()));
        outcome.client.negotiated.unwrap().peer.unwrap().key
    };
    assert_eq!(key(connect(&client, &server)), ML_DSA_65);
    let before = identities.current();
    identities.replace(IdentitySet::new().with_default(world.ecdsa.checked()));
    // By a client that has no session to resume.
    let client = world.client(None);
    assert_eq!(key(connect(&client, &server)), KeyAlgorithm::EcdsaP256);
    assert_eq!(before.identities().count(), 1);
}

#[test]
fn clients_choose_by_what_servers_accept() {
    let world = World::new();
    let server_pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let identities = Arc::new(Identities::new(world.all()));
    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(server_pki.roots())
        .with_client_cert_resolver(identities);
    let client = Arc::new(client);

    let accepts = |schemes: &[Scheme], trusted: &[CertificateDer<'static>]| {
        let provider = Builder::new(any_base())
            .signature_schemes(schemes.iter().copied())
            .build()
            .unwrap();
        let server =
            mutual_server_config(provider, &server_pki.server, roots(trusted.iter().cloned()));
        connect(&client, &Arc::new(server))
    };
    let key = |outcome: Outcome| {
        assert_eq!(outcome.server.result, Ok(()));
        outcome.server.negotiated.unwrap().peer.unwrap().key
    };
    let both = [Scheme::ML_DSA_65, Scheme::ECDSA_NISTP256_SHA256];
    assert_eq!(key(accepts(&both, &world.roots)), ML_DSA_65);
    assert_eq!(key(accepts(&both[..1], &world.roots)), ML_DSA_65);
    let classical = key(accepts(&both[1..], &world.roots));
    assert_eq!(classical, KeyAlgorithm::EcdsaP256);
    // The server says which CAs it trusts.
    let hinted = key(accepts(&both, &world.roots[3..]));
    assert_eq!(hinted, KeyAlgorithm::EcdsaP256);

    let nothing = accepts(&[Scheme::ED25519], &world.roots);
    assert_eq!(nothing.server.result, Err(Error::NoCertificatesPresented));
    assert_eq!(
        nothing.client.result,
        Err(Error::AlertReceived(AlertDescription::CertificateRequired))
    );
}

#[test]
fn pairs_that_are_refused() {
    let provider = Builder::new(any_base()).build().unwrap();
    let new = |chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>| {
        identity::Identity::new(chain, key, &provider).map(|_| ())
    };
    let Identity { chain, key } = Pki::new(SignatureAlgorithm::MlDsa65).server;
    let other = Pki::new(SignatureAlgorithm::MlDsa65).server;

    assert!(new(chain.clone(), key.clone_key()).is_ok());
    let error = new(Vec::new(), key.clone_key()).unwrap_err();
    assert!(matches!(error, IdentityError::NoCertificate));

    let error = new(chain.clone(), other.key.clone_key()).unwrap_err();
    assert!(matches!(
        error,
        IdentityError::Mismatch { algorithm, .. } if algorithm == ML_DSA_65
    ));
    assert_eq!(
        error.to_string(),
        "the private key doesn't belong to the certificate, which is that of localhost with a key \
         for ML-DSA-65; give the key that it was issued for, and the leaf first in the chain"
    );

    let junk = vec![chain[0].clone(), CertificateDer::from(vec![0x30, 0x00])];
    let error = new(junk, key.clone_key()).unwrap_err();
    assert!(matches!(error, IdentityError::Certificate { index: 1, .. }));

    let no_key = PrivatePkcs8KeyDer::from(vec![0x30, 0x00]).into();
    let error = new(chain.clone(), no_key).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the private key can't be used: "));
    assert!(text.contains("it should be ML-DSA in PKCS#8"), "{text}");
    let mut damaged = key.secret_der().to_vec();
    damaged.pop();
    let damaged = PrivatePkcs8KeyDer::from(damaged).into();
    let text = new(chain.clone(), damaged).unwrap_err().to_string();
    assert!(text.contains("it should be ML-DSA in PKCS#8"), "{text}");

    // What could be loaded is told what it should be by who refuses it.
    let cnsa2 = Builder::new(any_base()).profile(Profile::Cnsa2).build();
    let error = identity::Identity::new(chain.clone(), key.clone_key(), &cnsa2.unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the private key can't be used: the provider signs with [ML_DSA_87] only, which this \
         private key can't; use a key for one of these, or build the provider with another profile"
    );

    for (chain, key, expected) in [
        (
            "",
            "",
            "there is no certificate in the chain; it takes at least that of the key",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n",
            "",
            "the certificate chain can't be read: the end of its block CERTIFICATE is missing; it \
             should be in PEM, with a CERTIFICATE block for each certificate",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "the private key can't be read: there is none; it should be in PEM and not \
             encrypted, in a block PRIVATE KEY (PKCS#8), EC PRIVATE KEY or RSA PRIVATE KEY; \
             `openssl pkey` converts others",
        ),
    ] {
        let error = identity::Identity::from_pem(chain.as_bytes(), key.as_bytes(), &provider);
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

/// A chain that is accepted gets through, with a request for client certificates beside
/// it; one that rustls could not receive is refused before anyone connects.
#[test]
fn size_of_chains() {
    let root = root(SignatureAlgorithm::MlDsa87);
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let with_names = |count: usize| {
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let leaf = (0..count).fold(leaf, |leaf, at| {
            leaf.dns_name(format!("{at:05}.{}.example.org", "x".repeat(60)))
        });
        identity_of(root.issue(leaf, &key).unwrap().into_der(), &key)
    };
    let provider = Builder::new(any_base()).build().unwrap();
    let check = |identity: &Identity| {
        let Identity { chain, key } = identity.clone();
        identity::Identity::new(chain, key, &provider)
    };

    // 80 bytes for each name.
    let (mut fits, mut too_many) = (0, 1000);
    while too_many - fits > 1 {
        let middle = (fits + too_many) / 2;
        match check(&with_names(middle)) {
            Ok(_) => fits = middle,
            Err(IdentityError::TooLarge {
                certificates,
                signature,
                limit,
            }) => {
                assert!(certificates + signature > limit);
                assert_eq!(signature, 4627);
                too_many = middle;
            }
            Err(error) => panic!("{error}"),
        }
    }

    let largest = with_names(fits);
    let clients = Pki::new(SignatureAlgorithm::MlDsa44);
    let connect_with = |identity: &Identity| {
        let server = mutual_server_config(provider.clone(), identity, clients.roots());
        let client = crate::peers::mutual_client_config(
            provider.clone(),
            roots([root.certificate().der().clone()]),
            &clients.client,
        );
        connect(&client.into(), &server.into())
    };
    assert_eq!(connect_with(&largest).client.result, Ok(()));

    // Four kilobytes more are beyond what rustls takes: the bound isn't idle.
    let beyond = with_names(fits + 50);
    let error = check(&beyond).unwrap_err().to_string();
    assert!(error.starts_with("the chain is too large: "), "{error}");
    assert!(error.contains("where 61440 fit"), "{error}");
    assert_eq!(
        connect_with(&beyond).client.result,
        Err(Error::General("message buffer full".into()))
    );
}

/// Four identities for localhost, each from a root of its own.
struct World {
    ml_dsa_87: Identity,
    ml_dsa_65: Identity,
    ml_dsa_44: Identity,
    ecdsa: Identity,
    roots: Vec<CertificateDer<'static>>,
}

impl World {
    fn new() -> Self {
        let mut roots = Vec::new();
        let mut post_quantum = |algorithm| {
            let root = root(algorithm);
            roots.push(root.certificate().der().clone());
            issue(&root, &SigningKey::generate(algorithm).unwrap())
        };
        let ml_dsa_87 = post_quantum(SignatureAlgorithm::MlDsa87);
        let ml_dsa_65 = post_quantum(SignatureAlgorithm::MlDsa65);
        let ml_dsa_44 = post_quantum(SignatureAlgorithm::MlDsa44);
        let root = Issuer::self_signed(CertificateBuilder::ca("ECDSA"), Ecdsa::generate()).unwrap();
        roots.push(root.certificate().der().clone());
        let key = Ecdsa::generate();
        Self {
            ml_dsa_87,
            ml_dsa_65,
            ml_dsa_44,
            ecdsa: Identity {
                chain: vec![root.issue(for_both_ends(), &key).unwrap().into_der()],
                key: key.private_key(),
            },
            roots,
        }
    }

    fn all(&self) -> IdentitySet {
        [
            &self.ecdsa,
            &self.ml_dsa_44,
            &self.ml_dsa_87,
            &self.ml_dsa_65,
        ]
        .into_iter()
        .fold(IdentitySet::new(), |set, identity| {
            set.with_default(identity.checked())
        })
    }

    /// A client that accepts these schemes, or all.
    fn client(&self, schemes: Option<Vec<Scheme>>) -> Arc<ClientConfig> {
        provider_client(schemes, self.roots.clone())
    }
}

fn provider_client(
    schemes: Option<Vec<Scheme>>,
    trusted: impl IntoIterator<Item = CertificateDer<'static>>,
) -> Arc<ClientConfig> {
    let builder = Builder::new(any_base());
    let provider = match schemes {
        Some(schemes) => builder.signature_schemes(schemes).build(),
        None => builder.build(),
    };
    client_config(provider.unwrap(), roots(trusted)).into()
}

fn server_with(set: IdentitySet) -> Arc<ServerConfig> {
    server_over(Identities::new(set))
}

fn server_over(identities: impl Into<Arc<Identities>>) -> Arc<ServerConfig> {
    let config =
        ServerConfig::builder_with_provider(Arc::new(Builder::new(any_base()).build().unwrap()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(identities.into());
    config.into()
}

fn root(algorithm: SignatureAlgorithm) -> Issuer<SigningKey> {
    let key = SigningKey::generate(algorithm).unwrap();
    Issuer::self_signed(CertificateBuilder::ca(algorithm.to_string()), key).unwrap()
}

fn issue(issuer: &Issuer<impl Signer>, key: &SigningKey) -> Identity {
    identity_of(issuer.issue(for_both_ends(), key).unwrap().into_der(), key)
}

fn identity_of(certificate: CertificateDer<'static>, key: &SigningKey) -> Identity {
    Identity {
        chain: vec![certificate],
        key: private_key(key),
    }
}

fn for_both_ends() -> CertificateBuilder<pq_x509::EndEntity> {
    CertificateBuilder::server()
        .client_auth()
        .dns_name("localhost")
}

#[track_caller]
fn assert_is(choice: &Choice, identity: &Identity) {
    assert_eq!(choice.identity.certified_key().cert, identity.chain);
}
