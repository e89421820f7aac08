//! Requests for certificates in orders of ACME: what is accepted has the order's names exactly, and what has them is accepted.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::names::Name;
use fuzz::pki::FixedKey;
use libfuzzer_sys::fuzz_target;
use pq_acme::identifier::Identifier;
use pq_acme::problem::ProblemType;
use pq_acme::server::check_csr;
use pq_keys::SignatureAlgorithm;
use pq_x509::certificate::AlternativeName;
use pq_x509::request::CertificateRequest;

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    names: Vec<Name<'a>>,
    common_name: Option<Name<'a>>,
    is_ca: bool,
    /// The order's, if they are others than those of the request.
    ordered: Option<Vec<Name<'a>>>,
    /// Names of the order that the request lacks.
    without: Option<u8>,
    changes: Option<Bytes<'a>>,
}

static KEY: LazyLock<FixedKey> = LazyLock::new(|| FixedKey::new(SignatureAlgorithm::MlDsa44, 9));

/// What ACME knows of the name of a certificate.
fn identifier(name: &AlternativeName) -> Option<Identifier> {
    match name {
        AlternativeName::Dns(name) => Some(Identifier::Dns(name.to_ascii_lowercase())),
        AlternativeName::Ip(address) => Some(Identifier::Ip(*address)),
        _ => None,
    }
}

impl Input<'_> {
    fn check(&self) {
        let names: Vec<AlternativeName> = self.names.iter().map(Name::name).collect();
        let builder = names
            .iter()
            .fold(CertificateRequest::builder(), |builder, name| {
                builder.alternative_name(name.clone())
            });
        let common = self
            .common_name
            .as_ref()
            .map(|name| name.name().to_string());
        let builder = match &common {
            Some(name) => builder.common_name(name),
            None => builder,
        };
        let builder = match self.is_ca {
            true => builder.ca(None, None),
            false => builder,
        };
        let Ok(request) = builder.sign(&KEY.0) else {
            return;
        };
        let mut asked: Vec<Option<Identifier>> = names.iter().map(identifier).collect();
        // A common name is an address or a DNS name, and no order has names outside of ASCII.
        asked.extend(common.map(|name| match name.parse() {
            Ok(address) => Some(Identifier::Ip(address)),
            Err(_) if name.is_ascii() => Some(Identifier::Dns(name.to_ascii_lowercase())),
            Err(_) => None,
        }));
        let of_order = |names: &[Name<'_>]| -> BTreeSet<Identifier> {
            names
                .iter()
                .map(Name::name)
                .filter_map(|name| identifier(&name))
                .collect()
        };
        let mut ordered = match &self.ordered {
            Some(names) => of_order(names),
            None => asked.iter().flatten().cloned().collect(),
        };
        if let Some(without) = self.without
            && let Some(name) = ordered
                .iter()
                .nth(usize::from(without) % ordered.len().max(1))
                .cloned()
        {
            ordered.remove(&name);
        }
        let ordered_list: Vec<_> = ordered.iter().cloned().collect();
        let der = match &self.changes {
            Some(changes) => changes.of(request.to_der()),
            None => request.to_der().to_vec(),
        };
        let checked = check_csr(&der, &ordered_list, &[]);
        let asked: Option<BTreeSet<Identifier>> = asked.into_iter().collect();
        let is_good = der == request.to_der() && asked == Some(ordered) && !self.is_ca;
        match checked {
            Ok(_) => assert!(is_good, "{self:?}"),
            Err(problem) => {
                assert_eq!(problem.kind, ProblemType::BadCsr);
                assert!(!is_good, "{problem} {self:?}");
            }
        }
    }
}
