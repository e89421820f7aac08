//! The documents of a CA by their paths.

use alloc::collections::BTreeMap;
use core::time::Duration;

use pq_x509::certificate::Certificate;

use super::ca::PublishedCa;
use crate::http::{Caching, Document};

/// The path below which OCSP requests are answered.
pub(super) const OCSP: &str = "/ocsp";
/// The path of a key's list, before its name.
pub(super) const LISTS: &str = "/lists/";
/// The path of a key's certificate, before its name.
pub(super) const CERTIFICATES: &str = "/certificates/";

/// Certificates change with the CA's keys alone.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// What is where, until the CA's keys change.
pub(super) struct Paths {
    documents: BTreeMap<String, Document>,
    ocsp: Vec<String>,
    lists: BTreeMap<String, String>,
}

/// What a path leads to.
pub(super) enum Target<'a> {
    Document(&'a Document),
    /// OCSP, with what follows the door's own path.
    Ocsp(&'a str),
    /// The list of the key with this name.
    List(&'a str),
}

impl Paths {
    pub(super) fn of(ca: &PublishedCa) -> Self {
        let mut documents = BTreeMap::new();
        let mut lists = BTreeMap::new();
        for (name, certificate) in ca.certificates() {
            let at = format!("{CERTIFICATES}{name}");
            documents.insert(format!("{at}.crt"), of_der(certificate));
            documents.insert(
                format!("{at}.pem"),
                of_pem(core::slice::from_ref(certificate)),
            );
            lists.insert(format!("{LISTS}{name}.crl"), name.to_owned());
        }
        if !ca.chain.is_empty() {
            documents.insert(format!("{CERTIFICATES}chain.pem"), of_pem(&ca.chain));
        }
        for (path, key) in &ca.list_paths {
            lists.entry(path.clone()).or_insert_with(|| key.clone());
        }
        let mut ocsp = vec![OCSP.to_owned()];
        ocsp.extend(ca.ocsp_paths.iter().cloned());
        Self {
            documents,
            ocsp,
            lists,
        }
    }

    pub(super) fn target<'a>(&'a self, path: &'a str) -> Option<Target<'a>> {
        if let Some(document) = self.documents.get(path) {
            return Some(Target::Document(document));
        }
        if let Some(key) = self.lists.get(path) {
            return Some(Target::List(key));
        }
        let mut ocsp = self.ocsp.iter();
        let rest = ocsp.find_map(|ocsp| {
            let rest = path.strip_prefix(&**ocsp)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        });
        rest.map(Target::Ocsp)
    }
}

fn of_der(certificate: &Certificate) -> Document {
    let (der, from) = (certificate.der().to_vec(), certificate.not_before());
    Document::new(
        der,
        "application/pkix-cert",
        Some(from),
        Caching::For(MAX_AGE),
    )
}

fn of_pem(chain: &[Certificate]) -> Document {
    let text = Certificate::chain_to_pem(chain);
    // Another chain may be there later, of certificates that are older.
    let from = chain.first().map(Certificate::not_before);
    Document::new(
        text,
        "application/pem-certificate-chain",
        from,
        Caching::For(MAX_AGE),
    )
    .by_tag_alone()
}
