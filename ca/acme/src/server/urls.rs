//! The URLs of a server, written and read.

use crate::objects::{ChallengeKind, Directory, Meta};

/// Where the server is, as clients see it.
#[derive(Clone, Debug)]
pub(super) struct Urls {
    /// The whole URL, without a slash at its end.
    base: String,
    /// How much of it is scheme and host.
    origin: usize,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Route<'a> {
    Directory,
    NewNonce,
    NewAccount,
    NewOrder,
    RevokeCert,
    KeyChange,
    RenewalInfo(&'a str),
    Account(&'a str),
    Orders {
        account: &'a str,
        after: Option<&'a str>,
    },
    Order(&'a str),
    Finalize(&'a str),
    Authorization(&'a str),
    Challenge {
        authorization: &'a str,
        kind: &'a str,
    },
    Certificate {
        id: &'a str,
        chain: usize,
    },
}

impl Urls {
    pub(super) fn new(base: &str) -> Self {
        let base = base.trim_end_matches('/');
        let after_scheme = base.find("://").map_or(0, |at| at + 3);
        let path = base[after_scheme..].find('/');
        Self {
            origin: path.map_or(base.len(), |at| after_scheme + at),
            base: base.into(),
        }
    }

    /// The URL of a request with this target.
    pub(super) fn is_of(&self, url: &str, target: &str) -> bool {
        url.strip_prefix(&self.base[..self.origin]) == Some(target)
    }

    pub(super) fn route<'a>(&self, target: &'a str) -> Option<Route<'a>> {
        let rest = target.strip_prefix(&self.base[self.origin..])?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let mut parts = path.strip_prefix('/')?.splitn(4, '/');
        let all = [parts.next(), parts.next(), parts.next(), parts.next()];
        let [Some(first), second, third, None] = all else {
            return None;
        };
        let route = match (first, second, third) {
            ("directory", None, None) => Route::Directory,
            ("new-nonce", None, None) => Route::NewNonce,
            ("new-account", None, None) => Route::NewAccount,
            ("new-order", None, None) => Route::NewOrder,
            ("revoke-cert", None, None) => Route::RevokeCert,
            ("key-change", None, None) => Route::KeyChange,
            ("renewal-info", Some(name), None) => Route::RenewalInfo(name),
            ("account", Some(id), None) => Route::Account(id),
            ("account", Some(account), Some("orders")) => {
                let after = match query {
                    None => None,
                    Some(query) => Some(query.strip_prefix("after=")?),
                };
                return Some(Route::Orders { account, after });
            }
            ("order", Some(id), None) => Route::Order(id),
            ("order", Some(id), Some("finalize")) => Route::Finalize(id),
            ("authorization", Some(id), None) => Route::Authorization(id),
            ("challenge", Some(authorization), Some(kind)) => Route::Challenge {
                authorization,
                kind,
            },
            ("certificate", Some(id), None) => Route::Certificate { id, chain: 0 },
            ("certificate", Some(id), Some(number)) => {
                let chain: usize = number.parse().ok().filter(|chain| *chain > 0)?;
                (number == chain.to_string()).then_some(Route::Certificate { id, chain })?
            }
            _ => return None,
        };
        query.is_none().then_some(route)
    }

    pub(super) fn directory(&self, meta: Meta) -> Directory {
        let at = |name: &str| format!("{}/{name}", self.base);
        Directory {
            new_nonce: at("new-nonce"),
            new_account: at("new-account"),
            new_order: at("new-order"),
            new_authz: None,
            revoke_cert: at("revoke-cert"),
            key_change: at("key-change"),
            renewal_info: Some(at("renewal-info")),
            meta: (meta != Meta::default()).then_some(meta),
        }
    }

    pub(super) fn index(&self) -> String {
        format!("{}/directory", self.base)
    }

    pub(super) fn account(&self, id: &str) -> String {
        format!("{}/account/{id}", self.base)
    }

    /// The identifier in the URL of an account.
    pub(super) fn account_in<'a>(&self, url: &'a str) -> Option<&'a str> {
        let rest = url.strip_prefix(self.base.as_str())?;
        let id = rest.strip_prefix("/account/")?;
        (!id.is_empty() && !id.contains(['/', '?'])).then_some(id)
    }

    pub(super) fn orders(&self, account: &str) -> String {
        format!("{}/account/{account}/orders", self.base)
    }

    pub(super) fn order(&self, id: &str) -> String {
        format!("{}/order/{id}", self.base)
    }

    pub(super) fn finalize(&self, id: &str) -> String {
        format!("{}/order/{id}/finalize", self.base)
    }

    pub(super) fn authorization(&self, id: &str) -> String {
        format!("{}/authorization/{id}", self.base)
    }

    pub(super) fn challenge(&self, authorization: &str, kind: &ChallengeKind) -> String {
        format!("{}/challenge/{authorization}/{kind}", self.base)
    }

    pub(super) fn certificate(&self, id: &str, chain: usize) -> String {
        match chain {
            0 => format!("{}/certificate/{id}", self.base),
            chain => format!("{}/certificate/{id}/{chain}", self.base),
        }
    }
}

impl Route<'_> {
    /// The methods that it takes.
    pub(super) fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Directory | Self::RenewalInfo(_) => &["GET", "HEAD"],
            Self::NewNonce => &["HEAD", "GET"],
            _ => &["POST"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_what_urls_say() {
        for base in [
            "https://ca.example",
            "https://ca.example/acme/",
            "http://[::1]:80/a/b",
        ] {
            let urls = Urls::new(base);
            let base = base.trim_end_matches('/');
            let route = |url: String| {
                let target = url[urls.origin..].to_owned();
                assert!(urls.is_of(&url, &target));
                format!("{:?}", urls.route(&target))
            };
            assert_eq!(route(urls.index()), "Some(Directory)");
            assert_eq!(route(urls.account("x")), "Some(Account(\"x\"))");
            assert_eq!(urls.account_in(&urls.account("x")), Some("x"));
            assert_eq!(route(urls.finalize("x")), "Some(Finalize(\"x\"))");
            assert_eq!(
                route(urls.certificate("x", 2)),
                "Some(Certificate { id: \"x\", chain: 2 })"
            );
            assert_eq!(
                route(format!("{base}/account/x/orders?after=o")),
                "Some(Orders { account: \"x\", after: Some(\"o\") })"
            );
            for bad in [
                "",
                "/",
                "/directory/",
                "/directory?",
                "/other",
                "/order/x/y",
                "/order/x/finalize/y",
                "/certificate/x/0",
                "/certificate/x/01",
                "/account/x/orders?before=o",
            ] {
                assert_eq!(route(format!("{base}{bad}")), "None", "{bad}");
            }
        }
        assert_eq!(
            Urls::new("https://ca.example/acme").route("/other/directory"),
            None
        );
    }
}
