//! TLS connections for the targets: providers with the groups that the fuzzer chooses, configurations, and the records
//! between the two sides. `Layout` says, independently of rustls-pq, what a key share consists of.

use std::sync::{Arc, LazyLock};

use pq_x509::certificate::Certificate;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, Connection, Error, PeerMisbehaved, RootCertStore, ServerConfig};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Group};

use crate::pki::{FixedKey, PKI};

/// Every group of rustls-pq, and the three classical groups of the base.
pub const GROUPS: [Group; 9] = [
    Group::X25519MLKEM768,
    Group::SECP256R1MLKEM768,
    Group::SECP384R1MLKEM1024,
    Group::MLKEM512,
    Group::MLKEM768,
    Group::MLKEM1024,
    Group::X25519,
    Group::SECP256R1,
    Group::SECP384R1,
];

/// A provider with [`GROUPS`] in this order.
pub static PROVIDER: LazyLock<CryptoProvider> = LazyLock::new(|| {
    Builder::with_default_base()
        .and_then(|builder| builder.groups(GROUPS).build())
        .expect("a CPU that graviola supports")
});

/// A provider with the chosen groups, the most preferred one first: a client sends a
/// share of the first. Without a choice, it has all groups.
pub fn provider(choices: &[u8]) -> CryptoProvider {
    let mut provider = PROVIDER.clone();
    if !choices.is_empty() {
        let all = &PROVIDER.kx_groups;
        provider.kx_groups.clear();
        for choice in choices {
            let group = all[usize::from(*choice) % all.len()];
            if provider
                .kx_groups
                .iter()
                .all(|it| it.name() != group.name())
            {
                provider.kx_groups.push(group);
            }
        }
    }
    provider
}

pub fn server_config(provider: CryptoProvider, client_auth: bool) -> ServerConfig {
    try_server_config(provider, client_auth).expect("a provider with what certificates here need")
}

/// `None` where the provider lacks what the certificates or TLS 1.3 need.
pub fn try_server_config(provider: CryptoProvider, client_auth: bool) -> Option<ServerConfig> {
    let provider = Arc::new(provider);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .ok()?;
    let builder = match client_auth {
        true => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(roots().into(), Arc::clone(&provider))
                .build()
                .ok()?,
        ),
        false => builder.with_no_client_auth(),
    };
    let identities = IdentitySet::new().with_default(try_server_identity(&provider)?);
    Some(builder.with_cert_resolver(Arc::new(Identities::new(identities))))
}

/// The server's chain and key, for a configuration with this provider; `None` if it can't sign with the key.
pub fn try_server_identity(provider: &CryptoProvider) -> Option<Identity> {
    Identity::new(chain(&PKI.server), private_key(&PKI.server_key), provider).ok()
}

pub fn client_config(provider: CryptoProvider, client_auth: bool) -> ClientConfig {
    try_client_config(provider, client_auth).expect("a provider with what certificates here need")
}

/// `None` where the provider lacks what the certificates or TLS 1.3 need.
pub fn try_client_config(provider: CryptoProvider, client_auth: bool) -> Option<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots());
    let mut config = match client_auth {
        true => builder
            .with_client_auth_cert(chain(&PKI.client), private_key(&PKI.client_key))
            .ok()?,
        false => builder.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Some(config)
}

/// A store with [`PKI`]'s root.
pub fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots
        .add(PKI.root.certificate().der().clone())
        .expect("a root");
    roots
}

fn chain(leaf: &Certificate) -> Vec<CertificateDer<'static>> {
    vec![leaf.der().clone(), PKI.ca.certificate().der().clone()]
}

fn private_key(key: &FixedKey) -> PrivateKeyDer<'static> {
    let pkcs8 = key.0.to_pkcs8_der().expect("a key with a seed");
    PrivatePkcs8KeyDer::from(pkcs8.to_vec()).into()
}

/// Everything that a side has to send now.
pub fn send(connection: &mut Connection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while connection.wants_write() {
        connection
            .write_tls(&mut bytes)
            .expect("a Vec takes it all");
    }
    bytes
}

/// Gives `bytes` to a side, in pieces of at most `piece`, until the first error.
pub fn receive(connection: &mut Connection, bytes: &[u8], piece: usize) -> Result<(), Error> {
    for mut piece in bytes.chunks(piece.max(1)) {
        while !piece.is_empty() {
            // If there is no room for the rest, the side has no use for it yet.
            let Ok(1..) = connection.read_tls(&mut piece) else {
                return Ok(());
            };
            connection.process_new_packets()?;
        }
    }
    Ok(())
}

/// The types and the payloads of the complete records at the beginning of `bytes`.
pub fn records(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut records = Vec::new();
    while let Some((&[content_type, _, _, high, low], rest)) = bytes.split_first_chunk() {
        let len = u16::from_be_bytes([high, low]).into();
        let Some((payload, rest)) = rest.split_at_checked(len) else {
            break;
        };
        records.push((content_type, payload));
        bytes = rest;
    }
    records
}

pub const CHANGE_CIPHER_SPEC: u8 = 20;
pub const ALERT: u8 = 21;
pub const HANDSHAKE: u8 = 22;
pub const APPLICATION_DATA: u8 = 23;

/// Asserts that a side that failed sent an alert last: in the clear, or encrypted if it had keys by then.
///
/// rustls drops some peers without an alert: for bytes that it can't take apart into messages, for too many
/// messages of a kind that it tolerates at first, and for a second ClientHello with another server name.
pub fn assert_alerted(error: &Error, sent: &[u8]) {
    use PeerMisbehaved::*;

    assert!(!error.to_string().is_empty());
    if matches!(
        error,
        Error::AlertReceived(_)
            | Error::InvalidMessage(_)
            | Error::PeerMisbehaved(
                IllegalMiddleboxChangeCipherSpec
                    | MessageInterleavedWithHandshakeMessage
                    | RejectedEarlyDataInterleavedWithHandshakeMessage
                    | ServerNameDifferedOnRetry
                    | TooManyEmptyFragments
                    | TooManyKeyUpdateRequests
                    | TooManyRenegotiationRequests
                    | TooManyWarningAlertsReceived
            )
    ) {
        return;
    }
    match records(sent).last() {
        Some((ALERT, [2, _]) | (APPLICATION_DATA, _)) => {}
        last => panic!("no alert after {error:?}, but {last:02x?}"),
    }
}

/// Whether ML-KEM accepts an encapsulation key of the right length: each coefficient, of twelve
/// bits, is below q (FIPS 203, section 7.2).
pub fn is_reduced(encapsulation_key: &[u8]) -> bool {
    let Some((coefficients, _rho)) = encapsulation_key.split_last_chunk::<32>() else {
        return false;
    };
    coefficients.chunks(3).all(|chunk| {
        let bits = chunk
            .iter()
            .rev()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        bits & 0xfff < 3329 && bits >> 12 < 3329
    })
}

/// The lengths and the order of the parts of a group's shares.
pub struct Layout {
    pub classical_len: usize,
    /// The encapsulation key in a client's share, and the ciphertext in a server's; 0 for a
    /// classical group.
    pub ml_kem_client_len: usize,
    pub ml_kem_server_len: usize,
    ml_kem_first: bool,
}

impl Layout {
    pub fn of(group: Group) -> Self {
        let (classical_len, ml_kem_client_len, ml_kem_server_len) = match group {
            Group::X25519MLKEM768 => (32, 1184, 1088),
            Group::SECP256R1MLKEM768 => (65, 1184, 1088),
            Group::SECP384R1MLKEM1024 => (97, 1568, 1568),
            Group::MLKEM512 => (0, 800, 768),
            Group::MLKEM768 => (0, 1184, 1088),
            Group::MLKEM1024 => (0, 1568, 1568),
            Group::X25519 => (32, 0, 0),
            Group::SECP256R1 => (65, 0, 0),
            Group::SECP384R1 => (97, 0, 0),
            other => unreachable!("{other} is not among the groups here"),
        };
        Self {
            classical_len,
            ml_kem_client_len,
            ml_kem_server_len,
            ml_kem_first: group == Group::X25519MLKEM768,
        }
    }

    /// The ML-KEM part and the classical part of a client's share, if it has the right length.
    pub fn split_client<'a>(&self, share: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.split(share, self.ml_kem_client_len)
    }

    /// The same for a server's share.
    pub fn split_server<'a>(&self, share: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        self.split(share, self.ml_kem_server_len)
    }

    fn split<'a>(&self, share: &'a [u8], ml_kem_len: usize) -> Option<(&'a [u8], &'a [u8])> {
        if share.len() != self.classical_len + ml_kem_len {
            return None;
        }
        Some(match self.ml_kem_first {
            true => share.split_at(ml_kem_len),
            false => {
                let (classical, ml_kem) = share.split_at(self.classical_len);
                (ml_kem, classical)
            }
        })
    }

    /// Whether the ML-KEM part of a client's share, if there is one, is a valid encapsulation key.
    pub fn accepts_client(&self, share: &[u8]) -> bool {
        self.split_client(share)
            .is_some_and(|(ml_kem, _)| ml_kem.is_empty() || is_reduced(ml_kem))
    }
}
