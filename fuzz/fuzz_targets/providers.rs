//! Providers of all kinds, two of which connect to each other: they agree on something that both have, and if
//! they can't agree, each says why.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use fuzz::pki::{PKI, SERVER_NAME};
use fuzz::tls::{self, PROVIDER};
use libfuzzer_sys::fuzz_target;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, Connection, NamedGroup, ServerConnection,
    SignatureScheme,
};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::verify::{CheckOcsp, EnforceKeyUsage};
use rustls_pq::{Builder, Group, Negotiated, OfferReader, Profile, Refusal, ServerHandshake};

fuzz_target!(|input: Input<'_>| {
    let [client, server] = [&input.client, &input.server].map(Choices::provider);
    if let Ok(profile) = input.text.parse::<Profile>() {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    if let Ok(group) = input.text.parse::<Group>() {
        assert_eq!(group.to_string().parse(), Ok(group));
    }
    if let (Some(client), Some(server)) = (client, server) {
        check(&input, client, server);
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    client: Choices,
    server: Choices,
    client_auth: bool,
    ocsp_required: bool,
    name: Option<&'a str>,
    text: &'a str,
}

/// The configuration that a provider is to have.
#[derive(Arbitrary, Debug)]
struct Choices {
    profile: Option<u8>,
    groups: Option<Vec<AnyOf>>,
    suites: Option<Vec<AnyOf>>,
    schemes: Option<Vec<AnyOf>>,
    with_roots: bool,
    pq_authentication: bool,
    slh_dsa: bool,
}

/// A known code point, or any other.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum AnyOf {
    Known(u8),
    Any(u16),
}

impl AnyOf {
    fn of<T: Copy>(self, known: &[T], any: impl Fn(u16) -> T) -> T {
        match self {
            Self::Known(index) => known[usize::from(index) % known.len()],
            Self::Any(code_point) => any(code_point),
        }
    }
}

const PROFILES: [&str; 4] = ["default", "require-pq", "cnsa2", "all"];

impl Choices {
    fn provider(&self) -> Option<CryptoProvider> {
        let mut builder = Builder::with_default_base().expect("a CPU that graviola supports");
        if let Some(index) = self.profile {
            let name = PROFILES[usize::from(index) % PROFILES.len()];
            if let Ok(profile) = name.parse() {
                builder = builder.profile(profile);
            }
        }
        let available = builder.available_groups();
        let groups = self.groups.as_ref().map(|groups| {
            let any = |code_point| Group::from(NamedGroup::from(code_point));
            let groups = groups.iter().map(|it| it.of(&tls::GROUPS, any));
            groups.collect::<Vec<_>>()
        });
        if let Some(groups) = &groups {
            builder = builder.groups(groups.iter().copied());
        }
        if let Some(suites) = &self.suites {
            let known: Vec<CipherSuite> = (PROVIDER.cipher_suites.iter())
                .map(|suite| suite.suite())
                .collect();
            builder =
                builder.cipher_suites(suites.iter().map(|it| it.of(&known, CipherSuite::from)));
        }
        if let Some(schemes) = &self.schemes {
            let known = PROVIDER.signature_verification_algorithms;
            let known = known.supported_schemes();
            let schemes = schemes
                .iter()
                .map(|it| it.of(&known, SignatureScheme::from));
            builder = builder.signature_schemes(schemes);
        }
        if self.with_roots {
            builder = builder.roots(&tls::roots());
        }
        if self.pq_authentication {
            builder = builder.require_pq_authentication();
        }
        if self.slh_dsa {
            builder = builder.experimental_slh_dsa();
        }
        match builder.build() {
            Ok(provider) => {
                let built = provider.kx_groups.iter().map(|it| Group::from(it.name()));
                let built: Vec<_> = built.collect();
                assert!(built.iter().all(|group| available.contains(group)));
                assert!(groups.is_none_or(|groups| built.iter().all(|it| groups.contains(it))));
                Some(provider)
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }
}

/// A configuration whose verifier is wrapped in every wrapper that there is.
fn client_config(input: &Input<'_>, provider: CryptoProvider) -> Option<ClientConfig> {
    let mut config = tls::try_client_config(provider.clone(), input.client_auth)?;
    let inner = WebPkiServerVerifier::builder_with_provider(tls::roots().into(), provider.into());
    let inner = EnforceKeyUsage::new(inner.build().ok()?);
    let root = PKI.root.certificate().clone();
    let validator = pq_x509::validation::ChainValidator::new([root]).expect("a root");
    let mut verifier = CheckOcsp::new(Arc::new(inner), validator)
        .reporting_to(|outcome| drop(outcome.map_err(ToString::to_string)));
    if input.ocsp_required {
        verifier = verifier.required();
    }
    (config.dangerous()).set_certificate_verifier(Arc::new(verifier));
    Some(config)
}

fn check(input: &Input<'_>, client: CryptoProvider, server: CryptoProvider) {
    let both = [&client, &server].map(|provider| {
        let groups = provider.kx_groups.iter();
        groups.map(|it| Group::from(it.name())).collect::<Vec<_>>()
    });
    let Some(client) = client_config(input, client) else {
        return;
    };
    let client = Arc::new(client);
    let Some(identity) = tls::try_server_identity(&server) else {
        return;
    };
    let alternatives = ServerHandshake::alternatives(&server);
    let Some(server) = tls::try_server_config(server, input.client_auth) else {
        return;
    };
    let alternatives: Vec<_> = (alternatives.into_iter())
        .filter_map(|it| Some(Arc::new(tls::try_server_config(it, input.client_auth)?)))
        .collect();
    let identities = match input.name {
        Some(name) => IdentitySet::new().with_name(name, identity),
        None => IdentitySet::new().with_default(identity),
    };
    let identities = Identities::new(identities);

    let name = ServerName::try_from(SERVER_NAME).expect("a name");
    let Ok(asking) = ClientConnection::new(Arc::clone(&client), name) else {
        return;
    };
    let mut asking = Connection::from(asking);
    let hello = tls::send(&mut asking);
    let offer = (OfferReader::new().read(&hello)).expect("what rustls writes");
    let offer = offer.expect("a whole message");
    let handshake =
        ServerHandshake::begin_with_alternatives(offer, &identities, &server, &alternatives);
    let Ok(answering) = ServerConnection::new(handshake.config()) else {
        return;
    };
    let mut answering = Connection::from(answering);
    let mut sent = hello;
    for _ in 0..3 {
        if let Err(error) = tls::receive(&mut answering, &sent, usize::MAX) {
            let refusal = handshake.refusal(&error);
            assert!(!refusal.to_string().is_empty() && !format!("{refusal:?}").is_empty());
            // And the client understands the alert.
            let alert = tls::send(&mut answering);
            if let Err(error) = tls::receive(&mut asking, &alert, usize::MAX) {
                assert!(!Refusal::by_client(&error, &client).to_string().is_empty());
            }
            return;
        }
        sent = tls::send(&mut answering);
        if let Err(error) = tls::receive(&mut asking, &sent, usize::MAX) {
            assert!(!Refusal::by_client(&error, &client).to_string().is_empty());
            let alert = tls::send(&mut asking);
            if let Err(error) = tls::receive(&mut answering, &alert, usize::MAX) {
                assert!(!handshake.refusal(&error).to_string().is_empty());
            }
            return;
        }
        sent = tls::send(&mut asking);
    }
    let Connection::Server(answering) = &answering else {
        unreachable!("it was made as a server");
    };
    let by_server = handshake.negotiated(answering).expect("a handshake");
    let by_client = Negotiated::of(&asking).expect("a handshake");
    assert_eq!(by_server.group, by_client.group);
    assert!(!by_client.to_string().is_empty() && !by_server.to_string().is_empty());
    let group = by_client.group.expect("TLS 1.3 has one");
    assert!(both.iter().all(|groups| groups.contains(&group)));
    assert_eq!(by_client.has_pq_key_exchange(), group.is_post_quantum());
    assert!(by_client.has_pq_authentication() && !input.ocsp_required);
}
