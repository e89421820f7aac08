//! The table `[names]` of a policy: which DNS names, addresses, e-mail addresses and URIs are permitted, which DNS
//! names are excluded, and how many names a certificate may have.

use core::net::IpAddr;

use pq_x509::certificate::{AlternativeName, EmailAddress, Uri};
use serde::Deserialize;
use toml::Spanned;

use crate::policy::file::{List, Number, Setting};
use crate::policy::forbidden::{Findings, Reason};
use crate::policy::values::{AskedName, EmailPattern, NamePattern, Network, UriPattern, as_ipv4};

/// Which alternative names may be certified.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Names {
    dns: Setting<List<NamePattern>>,
    dns_excluded: Setting<List<Spanned<NamePattern>>>,
    wildcards: Setting<bool>,
    single_label: Setting<bool>,
    ip: Setting<List<Network>>,
    email: Setting<List<EmailPattern>>,
    uri: Setting<List<UriPattern>>,
    max: Setting<Number<1, 10_000>>,
}

impl Names {
    pub(crate) fn check(&self, names: &[AlternativeName], findings: &mut Findings) {
        let number = names.len();
        if number > self.max() {
            let max = self.max();
            findings.add(self.max.offset(), Reason::NumberOfNames { number, max });
            // Checking them all could take long, and the refusals would fill screens.
            return;
        }
        for name in names {
            match name {
                AlternativeName::Dns(name) => match AskedName::read(name) {
                    Some(asked) => self.check_dns_name(name, &asked, findings),
                    None => findings.add_always(Reason::NotADnsName(name.clone())),
                },
                AlternativeName::Ip(address) => self.check_address(*address, findings),
                AlternativeName::Email(address) => match address.parse() {
                    Ok(asked) => self.check_email_address(&asked, findings),
                    Err(error) => findings.add_always(Reason::NotAnEmailAddress(error)),
                },
                AlternativeName::Uri(uri) => match uri.parse() {
                    Ok(asked) => self.check_uri(&asked, findings),
                    Err(error) => findings.add_always(Reason::NotAUri(error)),
                },
            }
        }
    }

    fn check_email_address(&self, asked: &EmailAddress, findings: &mut Findings) {
        let permitted = self.email.items();
        if !permitted.iter().any(|pattern| pattern.includes(asked)) {
            let reason = Reason::EmailAddress {
                address: asked.to_string(),
                permitted: permitted.to_vec(),
            };
            findings.add(self.email.offset(), reason);
        }
    }

    fn check_uri(&self, asked: &Uri, findings: &mut Findings) {
        let permitted = self.uri.items();
        if !permitted.iter().any(|pattern| pattern.includes(asked)) {
            let reason = Reason::Uri {
                uri: asked.to_string(),
                permitted: permitted.to_vec(),
            };
            findings.add(self.uri.offset(), reason);
        }
    }

    fn check_dns_name(&self, name: &str, asked: &AskedName, findings: &mut Findings) {
        match (asked.wildcard, asked.is_single_label()) {
            (true, true) => findings.add_always(Reason::WideWildcard(name.into())),
            (true, false) if !self.wildcards() => {
                findings.add(self.wildcards.offset(), Reason::Wildcard(name.into()));
            }
            (false, true) if !self.single_label() => {
                findings.add(self.single_label.offset(), Reason::SingleLabel(name.into()));
            }
            _ => {}
        }
        let permitted = self.dns.items();
        if !permitted.iter().any(|pattern| pattern.includes(asked)) {
            let reason = Reason::DnsName {
                name: name.into(),
                permitted: permitted.to_vec(),
            };
            findings.add(self.dns.offset(), reason);
        }
        let excluded = self.dns_excluded.items();
        for pattern in excluded
            .iter()
            .filter(|pattern| pattern.get_ref().meets(asked))
        {
            let reason = Reason::DnsNameExcluded {
                name: name.into(),
                excluded: pattern.get_ref().clone(),
            };
            findings.add(Some(pattern.span().start), reason);
        }
    }

    fn check_address(&self, address: IpAddr, findings: &mut Findings) {
        if let Some(ipv4) = as_ipv4(address) {
            findings.add_always(Reason::MappedAddress { address, ipv4 });
            return;
        }
        let permitted = self.ip.items();
        if !permitted.iter().any(|network| network.includes(address)) {
            let reason = Reason::Address {
                address,
                permitted: permitted.to_vec(),
            };
            findings.add(self.ip.offset(), reason);
        }
    }

    fn wildcards(&self) -> bool {
        self.wildcards.get().copied().unwrap_or(false)
    }

    fn single_label(&self) -> bool {
        self.single_label.get().copied().unwrap_or(false)
    }

    fn max(&self) -> usize {
        self.max.get().map_or(100, |max| max.get())
    }
}
