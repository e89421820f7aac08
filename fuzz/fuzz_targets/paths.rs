//! [`ChainValidator`] beside webpki, on whose search for paths it is built: for chains of signed certificates with any
//! contents, both give the same verdict, except where the validator is known to be wider or stricter. With
//! the feature `openssl` it is compared with OpenSSL, too.
#![no_main]

use core::net::IpAddr;
use core::time::Duration;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::{self, FixedKey, PKI, SERVER_NAME, VALID, at, sign_changed};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::pki_types::{CertificateDer, ServerName, UnixTime};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::verification;
use pq_x509::x509_cert::ext::pkix::NameConstraints;
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    cas: Vec<Ca<'a>>,
    leaf: Leaf<'a>,
    /// The time, unless it is one at which all certificates are valid.
    time: Option<u32>,
    client: bool,
    /// The requested name of a server.
    name: Option<Asked>,
    /// The CA certificates that are sent, in this order; all if this is empty.
    sent: &'a [u8],
}

/// A CA below the one before, or below the root.
#[derive(Arbitrary, Debug)]
struct Ca<'a> {
    path_len: Option<u8>,
    permitted: Option<Host>,
    excluded: Option<Host>,
    purpose: Option<bool>,
    validity: Option<(u32, u32)>,
    edits: DerEdits<'a>,
}

#[derive(Arbitrary, Debug)]
struct Leaf<'a> {
    names: Vec<Host>,
    purposes: [bool; 2],
    validity: Option<(u32, u32)>,
    edits: DerEdits<'a>,
}

/// The name that a client requests of a server's certificate.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Asked {
    Dns(Host),
    Address([u8; 4]),
}

/// Names below each other, and some that look as if they were.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Host {
    Local,
    BelowLocal,
    Wildcard,
    Other,
    NotBelowLocal,
    Upper,
}

impl Host {
    fn name(self) -> &'static str {
        match self {
            Self::Local => SERVER_NAME,
            Self::BelowLocal => "a.localhost",
            Self::Wildcard => "*.a.localhost",
            Self::Other => "example.org",
            Self::NotBelowLocal => "alocalhost",
            Self::Upper => "LOCALHOST",
        }
    }
}

/// Deeper than webpki goes.
const DEEPEST: usize = 8;

/// A CA of each depth below the root, with its name and key. The input decides what their certificates say.
static CAS: LazyLock<Vec<Issuer<FixedKey>>> = LazyLock::new(|| {
    let issuer = |depth: u8| {
        let key = FixedKey::new(SignatureAlgorithm::MlDsa44, 20 + depth);
        Issuer::self_signed(CertificateBuilder::ca(format!("CA {depth}")), key).expect("a CA")
    };
    (0..DEEPEST as u8).map(issuer).collect()
});

/// The issuer of the CA of this depth.
fn issuer_of(depth: usize) -> &'static Issuer<FixedKey> {
    match depth.checked_sub(1) {
        Some(above) => &CAS[above],
        None => &PKI.root,
    }
}

fn validity(chosen: Option<(u32, u32)>) -> Validity {
    match chosen {
        Some((one, other)) => Validity::new(at(one.min(other).into()), at(one.max(other).into())),
        None => pki::validity(),
    }
}

impl Ca<'_> {
    /// The CA's certificate; `None` if the builder refuses.
    fn issue(&self, depth: usize) -> Option<Vec<u8>> {
        let mut builder = CertificateBuilder::ca(format!("CA {depth}"))
            .validity(validity(self.validity))
            .serial_number(&[1]);
        if let Some(path_len) = self.path_len {
            builder = builder.path_len(path_len);
        }
        if let Some(host) = self.permitted {
            builder = builder.permit_dns(host.name());
        }
        if let Some(host) = self.excluded {
            builder = builder.exclude_dns(host.name());
        }
        builder = match self.purpose {
            None => builder,
            Some(true) => builder.server_auth(),
            Some(false) => builder.client_auth(),
        };
        let issuer = issuer_of(depth);
        let issued = issuer.issue(builder, CAS[depth].signer()).ok()?;
        Some(sign_changed(issued.der(), &self.edits, issuer.signer()))
    }
}

impl Leaf<'_> {
    /// The leaf's certificate below this many CAs; `None` if the builder refuses.
    fn issue(&self, depth: usize) -> Option<Vec<u8>> {
        let names = match &*self.names {
            [] => &[Host::Local],
            names => names,
        };
        let builder = CertificateBuilder::end_entity()
            .validity(validity(self.validity))
            .serial_number(&[2]);
        let mut builder =
            (names.iter()).fold(builder, |builder, host| builder.dns_name(host.name()));
        let [server, client] = self.purposes;
        if server {
            builder = builder.server_auth();
        }
        if client {
            builder = builder.client_auth();
        }
        let issuer = issuer_of(depth);
        let issued = issuer.issue(builder, &PKI.server_key).ok()?;
        Some(sign_changed(issued.der(), &self.edits, issuer.signer()))
    }
}

impl Input<'_> {
    /// The leaf's certificate and the CA certificates that are sent with it.
    fn chain(&self) -> Option<Vec<Vec<u8>>> {
        let cas = &self.cas[..self.cas.len().min(DEEPEST)];
        let leaf = self.leaf.issue(cas.len())?;
        let issued = cas.iter().enumerate();
        let issued: Vec<_> = issued
            .map(|(depth, ca)| ca.issue(depth))
            .collect::<Option<_>>()?;
        let sent = match (self.sent, issued.len()) {
            ([], _) | (_, 0) => issued,
            // As many as a path can have, and one more.
            (sent, count) => (sent.iter().take(DEEPEST + 1))
                .map(|index| issued[usize::from(*index) % count].clone())
                .collect(),
        };
        Some([vec![leaf], sent].concat())
    }

    fn check(&self) {
        let Some(chain) = self.chain() else {
            return;
        };
        let name = match (self.client, self.name) {
            (true, _) => None,
            (false, None) => Some(ServerName::try_from(SERVER_NAME).expect("a name")),
            (false, Some(Asked::Address(address))) => Some(IpAddr::from(address).into()),
            (false, Some(Asked::Dns(host))) => match ServerName::try_from(host.name()) {
                Ok(name) => Some(name),
                // Nobody requests a wildcard.
                Err(_) => return,
            },
        };
        let seconds = self.time.map_or(*VALID.start() + 1, u64::from);
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let purpose = match self.client {
            true => Purpose::ClientAuth,
            false => Purpose::ServerAuth,
        };
        let validator = ChainValidator::new([PKI.root.certificate().clone()]).expect("a root");
        let strict = validator.validate(&chain, purpose, name.as_ref(), time);
        let relaxed = validator.relax_key_usage();
        let relaxed = relaxed.validate(&chain, purpose, name.as_ref(), time);
        assert!(strict.is_err() || relaxed.is_ok());

        match (&relaxed, self.ask_webpki(&chain, name.as_ref(), time)) {
            (Ok(_), Ok(())) => {}
            (Ok(path), Err(error)) => {
                assert!(
                    is_wider(path.certificates()),
                    "webpki alone refused it: {error}"
                );
            }
            (Err(error), Ok(())) => assert!(is_stricter(error), "webpki alone took it: {error:?}"),
            (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
        }
        #[cfg(feature = "openssl")]
        beside_openssl::check(
            &chain,
            name.as_ref(),
            seconds,
            self.client,
            [&strict, &relaxed],
        );
    }

    fn ask_webpki(
        &self,
        chain: &[Vec<u8>],
        name: Option<&ServerName<'_>>,
        time: UnixTime,
    ) -> Result<(), webpki::Error> {
        let chain: Vec<_> = chain
            .iter()
            .map(|der| CertificateDer::from(&**der))
            .collect();
        let root = anchor_from_trusted_cert(PKI.root.certificate().der())?;
        let leaf = EndEntityCert::try_from(&chain[0])?;
        let usage = match self.client {
            true => KeyUsage::client_auth(),
            false => KeyUsage::server_auth(),
        };
        leaf.verify_for_usage(
            verification::ALL,
            &[root],
            &chain[1..],
            time,
            usage,
            None,
            None,
        )?;
        name.map_or(Ok(()), |name| leaf.verify_is_valid_for_subject_name(name))
    }
}

/// Whether a path has something that the validator reads and webpki doesn't: dates before 1970, path lengths above
/// 255 (which the validator takes for 255), or name constraints of other kinds than DNS names and addresses.
fn is_wider(path: &[Certificate]) -> bool {
    path.iter().any(|certificate| {
        let tbs = certificate.parsed().tbs_certificate();
        let validity = tbs.validity();
        let is_old = [validity.not_before, validity.not_after]
            .iter()
            .any(|time| time.to_unix_duration().is_zero());
        let constraints = tbs.get_extension::<NameConstraints>().ok().flatten();
        let has_others = constraints.is_some_and(|(_, constraints)| {
            let permitted = constraints.permitted_subtrees.into_iter().flatten();
            let excluded = constraints.excluded_subtrees.into_iter().flatten();
            permitted.chain(excluded).any(|subtree| {
                !matches!(
                    subtree.base,
                    GeneralName::DnsName(_) | GeneralName::IpAddress(_)
                )
            })
        });
        is_old || has_others || certificate.path_len() == Some(u8::MAX)
    })
}

/// Whether the error comes from a check that only the validator makes.
fn is_stricter(error: &ValidationError) -> bool {
    use ValidationError::*;

    match error {
        Certificate(_) | Key { .. } | KeyUsage { .. } | UnsupportedCriticalExtension { .. } => true,
        // webpki only knows a root's name and key.
        Expired { subject, .. } | NotYetValid { subject, .. } => {
            *subject == Some(PKI.root.certificate().describe_subject())
        }
        _ => false,
    }
}

#[cfg(feature = "openssl")]
mod beside_openssl {
    use fuzz::pki::PKI;
    use pq_x509::certificate::Certificate;
    use pq_x509::keys::KeyError;
    use pq_x509::pki_types::ServerName;
    use pq_x509::validation::{ValidatedChain, ValidationError};
    use pq_x509::x509_cert::ext::pkix::AuthorityKeyIdentifier;

    use super::is_stricter;

    pub fn check(
        chain: &[Vec<u8>],
        name: Option<&ServerName<'_>>,
        seconds: u64,
        is_client: bool,
        [strict, relaxed]: [&Result<ValidatedChain, ValidationError>; 2],
    ) {
        let root = PKI.root.certificate().der();
        let name = name.map(ServerName::to_str);
        let time = i64::try_from(seconds).expect("32 bits");
        let theirs = fuzz::openssl::verify(root, chain, is_client, name.as_deref(), time);
        // OpenSSL checks the key usage of CA certificates only.
        match (strict, relaxed, theirs) {
            (Ok(path), _, Err(refusal)) => assert!(
                names_other_issuers(path.certificates())
                    || has_unknown_key(&path.certificates()[0])
                    || ends_at(seconds, path.certificates()),
                "OpenSSL alone refused it: {refusal:?}"
            ),
            (_, Err(error), Ok(())) => assert!(
                is_stricter(error) || is_malformed(error),
                "OpenSSL alone took it: {error:?}"
            ),
            _ => {}
        }
    }

    /// Whether a certificate's authority key identifier is not its issuer's: only OpenSSL
    /// looks for another issuer then.
    fn names_other_issuers(path: &[Certificate]) -> bool {
        path.windows(2).any(|pair| {
            let tbs = pair[0].parsed().tbs_certificate();
            match tbs.get_extension::<AuthorityKeyIdentifier>() {
                Ok(None) => false,
                Ok(Some((_, id))) => {
                    let key = id.key_identifier.as_ref().map(|id| id.as_bytes());
                    key != pair[1].subject_key_id() || id.authority_cert_serial_number.is_some()
                }
                Err(_) => true,
            }
        })
    }

    /// Whether a leaf's key has an unknown algorithm, which is left to whoever uses the key.
    fn has_unknown_key(leaf: &Certificate) -> bool {
        matches!(leaf.public_key(), Err(KeyError::UnsupportedAlgorithm(_)))
    }

    /// Whether this is the last second of a certificate, which only OpenSSL counts as expired (RFC 5280, section
    /// 4.1.2.5, includes it).
    fn ends_at(seconds: u64, path: &[Certificate]) -> bool {
        path.iter().any(|certificate| {
            let validity = certificate.parsed().tbs_certificate().validity();
            validity.not_after.to_unix_duration().as_secs() == seconds
        })
    }

    /// Whether this is malformed input that OpenSSL accepts.
    fn is_malformed(error: &ValidationError) -> bool {
        use webpki::Error::UnsupportedCertVersion;

        matches!(
            error,
            ValidationError::Malformed
                | ValidationError::IncomparableName
                | ValidationError::Other(UnsupportedCertVersion)
        )
    }
}
