//! Validation of chains: nothing that was changed validates, and what a CA signed validates only
//! where its contents allow that.
#![no_main]

use core::time::Duration;

use arbitrary::Arbitrary;
use fuzz::der::DerEdits;
use fuzz::pki::{PKI, SERVER_NAME, VALID, sign_changed};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::Certificate;
use pq_x509::keys::{KeyError, SubjectKey, VerifyingKey};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::TbsCertificate;
use pq_x509::x509_cert::der::oid::AssociatedOid;
use pq_x509::x509_cert::der::oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use pq_x509::x509_cert::der::{Decode, Error};
use pq_x509::x509_cert::ext::pkix::name::GeneralName;
use pq_x509::x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAltName};
use pq_x509::x509_cert::time::Time;

fuzz_target!(|input: Input<'_>| {
    match &input.chain {
        Chain::Sent(certificates) => check_sent(certificates, &input),
        Chain::Signed(edits) => check_signed(edits, &input),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    chain: Chain<'a>,
    name: Name<'a>,
    /// The time, unless it is one at which all certificates are valid.
    time: Option<u32>,
    client: bool,
    relax_key_usage: bool,
}

#[derive(Arbitrary, Debug)]
enum Chain<'a> {
    /// Certificates as an attacker sends them.
    Sent(Vec<(Which, DerEdits<'a>)>),
    /// A leaf that the CA signs as it is.
    Signed(DerEdits<'a>),
}

#[derive(Arbitrary, Debug)]
enum Which {
    Server,
    Client,
    Kem,
    Ca,
    Root,
    OldServer,
    OldCa,
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    Right,
    Other(&'a str),
}

impl Input<'_> {
    fn name(&self) -> &str {
        match self.name {
            Name::Right => SERVER_NAME,
            Name::Other(name) => name,
        }
    }

    /// Whether the certificates are valid for this name and time.
    fn is_right(&self) -> bool {
        VALID.contains(&self.seconds())
            && (self.client || self.name().eq_ignore_ascii_case(SERVER_NAME))
    }

    fn seconds(&self) -> u64 {
        self.time.map_or(*VALID.start() + 1, u64::from)
    }

    fn validate(&self, chain: &[Vec<u8>]) -> Option<Vec<Certificate>> {
        let mut validator = ChainValidator::new([PKI.root.certificate().clone()]).expect("a root");
        if self.relax_key_usage {
            validator = validator.relax_key_usage();
        }
        let time = UnixTime::since_unix_epoch(Duration::from_secs(self.seconds()));
        let result = match self.client {
            true => validator.validate_client(chain, time),
            false => {
                let name = ServerName::try_from(self.name()).ok()?;
                let alone = validator.validate(chain, Purpose::ServerAuth, None, time);
                let result = validator.validate_server(chain, &name, time);
                // `validate_server` additionally checks the name and the key's purpose.
                assert!(alone.is_ok() || result.is_err());
                result
            }
        };
        match result {
            Ok(validated) => Some(validated.certificates().to_vec()),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(chain.is_empty() == (error == ValidationError::EmptyChain));
                None
            }
        }
    }
}

/// Checks that a path has only certificates that were issued, whatever is sent beside them.
fn check_sent(sent: &[(Which, DerEdits<'_>)], input: &Input<'_>) {
    let (ca, root) = (PKI.ca.certificate(), PKI.root.certificate());
    let chain: Vec<Vec<u8>> = sent
        .iter()
        .map(|(which, edits)| {
            edits.of(match which {
                Which::Server => PKI.server.der(),
                Which::Client => PKI.client.der(),
                Which::Kem => PKI.kem.der(),
                Which::Ca => ca.der(),
                Which::Root => root.der(),
                Which::OldServer => PKI.old_server.der(),
                Which::OldCa => PKI.old_ca.der(),
            })
        })
        .collect();
    let validated = input.validate(&chain);
    let leaves = match input.client {
        true => &[&PKI.client][..],
        false => &[&PKI.server, &PKI.old_server],
    };
    let cas = [ca, &PKI.old_ca];
    if let Some(path) = &validated {
        assert!(input.is_right());
        let [leaf, ca, top] = &path[..] else {
            panic!("{} certificates", path.len());
        };
        assert!(leaves.contains(&leaf) && cas.contains(&ca) && top == root);
    }
    // The path has these certificates if they are sent alone.
    if let [leaf, ca] = &*chain
        && leaves.iter().any(|issued| issued.as_ref() == leaf)
        && cas.iter().any(|issued| issued.as_ref() == ca)
    {
        assert_eq!(validated.is_some(), input.is_right());
    }
}

/// Checks a leaf with any contents, signed by the CA: if it is accepted, then what x509-cert reads
/// in it allows that.
fn check_signed(edits: &DerEdits<'_>, input: &Input<'_>) {
    let original = if input.client {
        &PKI.client
    } else {
        &PKI.server
    };
    let leaf = sign_changed(original.der(), edits, PKI.ca.signer());
    let chain = [leaf, PKI.ca.certificate().der().to_vec()];
    let Some(path) = input.validate(&chain) else {
        assert!(chain[0] != original.as_ref() || !input.is_right());
        return;
    };

    assert!(input.client || !input.name().is_empty());
    assert_eq!(path.len(), 3);
    assert_eq!(path[0].as_ref(), chain[0]);
    let tbs = path[0].parsed().tbs_certificate();
    let seconds = |time: Time| time.to_unix_duration().as_secs();
    let (from, to) = (tbs.validity().not_before, tbs.validity().not_after);
    assert!((seconds(from)..=seconds(to)).contains(&input.seconds()));
    assert!(VALID.contains(&input.seconds()));
    assert_eq!(tbs.issuer(), PKI.ca.certificate().subject());
    assert!(extension::<BasicConstraints>(tbs).is_none_or(|constraints| !constraints.ca));
    let purpose = match input.client {
        true => ID_KP_CLIENT_AUTH,
        false => ID_KP_SERVER_AUTH,
    };
    assert!(
        extension::<ExtendedKeyUsage>(tbs).is_none_or(|purposes| purposes.0.contains(&purpose))
    );
    if !input.relax_key_usage {
        let usage = extension::<KeyUsage>(tbs);
        assert!(usage.is_none_or(|usage| !usage.key_encipherment() && !usage.key_agreement()));
    }
    // The CA may only issue for this name and those below it.
    if !input.client {
        let names = extension::<SubjectAltName>(tbs).expect("a name that was asked for");
        assert!(names.0.iter().any(|name| match name {
            GeneralName::DnsName(name) => name.as_str().eq_ignore_ascii_case(input.name()),
            GeneralName::IpAddress(_) => true,
            _ => false,
        }));
    }
    // A `VerifyingKey` is of a post-quantum algorithm.
    let key = VerifyingKey::from_spki_der(&path[0].spki());
    assert!(
        matches!(key, Ok(_) | Err(KeyError::UnsupportedAlgorithm(_))),
        "{key:?}"
    );
}

fn extension<'a, E: Decode<'a, Error = Error> + AssociatedOid>(
    tbs: &'a TbsCertificate,
) -> Option<E> {
    let extension = tbs
        .get_extension::<E>()
        .expect("what was accepted can be read");
    extension.map(|(_, extension)| extension)
}
