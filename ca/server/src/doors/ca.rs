//! A CA as its doors show it.

use alloc::sync::Arc;

use pq_ca::folder::Role;
use pq_ca::policy::Policy;
use pq_x509::certificate::Certificate;

use crate::keys::CaKey;
use crate::ocsp::Answers;

/// What a CA's doors have: its certificates, the keys that this process can use, and who answers OCSP requests.
#[non_exhaustive]
pub struct PublishedCa {
    /// The root's certificate.
    pub root: Certificate,
    /// The certificates of the key that issues and of those above it, without the root's: what servers send after their own.
    pub chain: Vec<Certificate>,
    /// The certificates of all issuing keys, by their names.
    pub issuing: Vec<(String, Certificate)>,
    /// The keys that this process has, the one that issues first.
    pub keys: Vec<Arc<dyn CaKey>>,
    /// Who answers OCSP requests before the keys do: responders in their place.
    pub responders: Vec<Arc<dyn Answers>>,
    /// The paths of the URLs in certificates of the CA: of OCSP responders.
    pub ocsp_paths: Vec<String>,
    /// The same of revocation lists, with the name of the key whose list is there.
    pub list_paths: Vec<(String, String)>,
    /// The first URL of OCSP responders in certificates.
    ocsp_url: Option<String>,
}

impl PublishedCa {
    /// A CA that issues with this key, whose root this is.
    pub fn new(root: Certificate, chain: Vec<Certificate>, key: Arc<dyn CaKey>) -> Self {
        Self {
            issuing: vec![(key.name().to_owned(), key.issuer().clone())],
            root,
            chain,
            keys: vec![key],
            responders: Vec::new(),
            ocsp_paths: Vec::new(),
            list_paths: Vec::new(),
            ocsp_url: None,
        }
    }

    /// Answers also at the paths of the URLs that the policy puts into certificates.
    #[must_use]
    pub fn at_urls_of(mut self, policy: &Policy) -> Self {
        let mut ocsp = policy.ocsp_urls().iter().map(|url| url.as_str());
        self.ocsp_paths.extend(ocsp.clone().filter_map(path_of));
        self.ocsp_url = ocsp.next().map(str::to_owned);
        let issues = self.keys.first().map(|key| key.name().to_owned());
        for url in policy.revocation_list_urls() {
            let Some(path) = path_of(url.as_str()) else {
                continue;
            };
            let file = path.rsplit('/').next().unwrap_or_default();
            let named = file.rsplit_once('.').map_or(file, |(name, _)| name);
            let named = self
                .issuing
                .iter()
                .any(|(name, _)| name == named)
                .then(|| named.to_owned());
            if let Some(key) = named.or_else(|| issues.clone()) {
                self.list_paths.push((path, key));
            }
        }
        self
    }

    /// Where certificates say that OCSP requests are answered.
    pub(super) fn ocsp_url(&self) -> Option<&str> {
        self.ocsp_url.as_deref()
    }

    /// The certificates by the names of their keys, the root's among them.
    pub(super) fn certificates(&self) -> impl Iterator<Item = (&str, &Certificate)> {
        let root = Role::Root.name();
        let has_root = self.issuing.iter().any(|(name, _)| *name == root);
        let issuing = self.issuing.iter();
        let issuing = issuing.map(|(name, certificate)| (&**name, certificate));
        (!has_root)
            .then_some(("root", &self.root))
            .into_iter()
            .chain(issuing)
    }
}

/// The path of a URL of HTTP, with its first slash. None if there is none but the root, which is the page's.
fn path_of(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let path = &rest[rest.find('/')?..];
    let path = path.split('?').next()?.trim_end_matches('/');
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_urls() {
        for (url, path) in [
            ("http://ca.example.org/a/b.crl", Some("/a/b.crl")),
            ("http://ca.example.org:81/ocsp/", Some("/ocsp")),
            ("http://ca.example.org/ocsp?a=/b", Some("/ocsp")),
            ("http://ca.example.org/", None),
            ("http://ca.example.org", None),
            ("https://ca.example.org/a", None),
        ] {
            assert_eq!(path_of(url).as_deref(), path, "{url}");
        }
    }
}
