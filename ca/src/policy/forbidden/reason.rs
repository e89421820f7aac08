//! Each reason for which a policy or a rule of the CA forbids a certificate, and the sentences that explain it: what is
//! permitted, and what to do instead.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;

use pq_x509::certificate::{InvalidEmailAddress, InvalidUri};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;

use crate::policy::values::{
    EmailPattern, KeyAlgorithm, NamePattern, Network, Period, Profile, Suspicion, TextPattern,
    UriPattern, suspicion,
};

/// Why something is forbidden.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// `names.dns` has no pattern that includes the DNS name.
    DnsName {
        /// The name that was asked for.
        name: String,
        /// What is permitted.
        permitted: Vec<NamePattern>,
    },
    /// `names.dns-excluded` excludes the DNS name, or a name that the wildcard covers.
    DnsNameExcluded {
        /// The name that was asked for.
        name: String,
        /// The pattern.
        excluded: NamePattern,
    },
    /// `names.wildcards` permits no wildcards.
    Wildcard(String),
    /// `names.single-label` permits no names of a single label.
    SingleLabel(String),
    /// `names.ip` has no network that includes the address.
    Address {
        /// The address that was asked for.
        address: IpAddr,
        /// What is permitted.
        permitted: Vec<Network>,
    },
    /// `names.email` has no pattern that includes the e-mail address.
    EmailAddress {
        /// The address that was asked for.
        address: String,
        /// What is permitted.
        permitted: Vec<EmailPattern>,
    },
    /// `names.uri` has no pattern that includes the URI.
    Uri {
        /// The URI that was asked for.
        uri: String,
        /// What is permitted.
        permitted: Vec<UriPattern>,
    },
    /// `names.max` is lower than the number of alternative names. The names themselves were not
    /// checked.
    NumberOfNames {
        /// How many were asked for.
        number: usize,
        /// How many are permitted.
        max: usize,
    },
    /// A key of `subject` has no pattern that includes the attribute's value.
    Subject {
        /// The key, such as `subject.organization`.
        key: &'static str,
        /// The value that was asked for.
        value: String,
        /// What is permitted.
        permitted: Vec<TextPattern>,
    },
    /// Some client could take the common name for the name of a host, an address or a mailbox, but it is neither
    /// listed in `subject.common-name` nor among the alternative names.
    HostAsCommonName {
        /// The common name that was asked for.
        name: String,
        /// What is permitted.
        permitted: Vec<TextPattern>,
    },
    /// `keys.algorithms` lacks the algorithm of the key.
    KeyAlgorithm {
        /// The key's algorithm.
        algorithm: KeyAlgorithm,
        /// What is permitted.
        permitted: Vec<KeyAlgorithm>,
    },
    /// The RSA key has fewer bits than `keys.rsa-min-bits`.
    RsaBits {
        /// The length of the key's modulus.
        bits: usize,
        /// The least that is permitted.
        min: usize,
    },
    /// The requested validity is longer than `validity.max`.
    Validity {
        /// What was asked for.
        asked: Duration,
        /// What is permitted.
        max: Duration,
    },
    /// `usages.profiles` lacks the profile.
    Profile {
        /// What was asked for.
        profile: Profile,
        /// What is permitted.
        permitted: Vec<Profile>,
    },
    /// `acme.dns` has no pattern that includes the DNS name.
    AcmeName {
        /// The name that was asked for.
        name: String,
        /// What is permitted by ACME.
        permitted: Vec<NamePattern>,
    },
    /// `acme.ip` has no network that includes the address.
    AcmeAddress {
        /// The address that was asked for.
        address: IpAddr,
        /// What is permitted by ACME.
        permitted: Vec<Network>,
    },
    /// `acme.profiles` lacks the profile, or `usages.profiles` does.
    AcmeProfile {
        /// What was asked for.
        profile: Profile,
        /// What is permitted by ACME.
        permitted: Vec<Profile>,
    },
    /// The policy has no table `[acme]`.
    NoAcme,
    /// `est.dns` has no pattern that includes the DNS name.
    EstName {
        /// The name that was asked for.
        name: String,
        /// What is permitted by EST.
        permitted: Vec<NamePattern>,
    },
    /// `est.ip` has no network that includes the address.
    EstAddress {
        /// The address that was asked for.
        address: IpAddr,
        /// What is permitted by EST.
        permitted: Vec<Network>,
    },
    /// `est.profiles` lacks the profile, or `usages.profiles` does.
    EstProfile {
        /// What was asked for.
        profile: Profile,
        /// What is permitted by EST.
        permitted: Vec<Profile>,
    },
    /// The user's table in `est.users` does not permit the name.
    EstUserName {
        /// The user.
        user: String,
        /// The name that was asked for.
        name: String,
    },
    /// There is a table `[est.users]`, which has no table for the user.
    EstUser {
        /// The user.
        user: String,
    },
    /// The policy has no table `[est]`.
    NoEst,

    /// No policy permits a text that is not a DNS name.
    NotADnsName(String),
    /// No policy permits a text that is not an e-mail address.
    NotAnEmailAddress(InvalidEmailAddress),
    /// No policy permits a text that is not a URI.
    NotAUri(InvalidUri),
    /// No policy permits wildcards with a single label after the `*`, such as `*.org`: clients,
    /// webpki among them, refuse these.
    WideWildcard(String),
    /// No policy permits IPv4 addresses that are written as IPv6 addresses (RFC 4291 section 2.5.5.2).
    MappedAddress {
        /// The address that was asked for.
        address: IpAddr,
        /// The IPv4 address.
        ipv4: Ipv4Addr,
    },
    /// No policy permits a server without a DNS name, an address or a URI: clients don't look at the
    /// subject's name (RFC 9525 section 2).
    ServerWithoutName(Profile),
    /// No policy permits a certificate that names nobody.
    Nameless,
    /// No policy permits this attribute of a subject's name.
    UnknownAttribute(String),
    /// No policy permits so many attributes of a subject's name. They were not checked one by one.
    NumberOfAttributes(usize),
    /// No policy permits a common name without characters, or with more than 64 (RFC 5280, ub-common-name). This one
    /// has this many.
    CommonNameLength(usize),
    /// No policy permits an attribute of a subject's name whose value is neither a PrintableString
    /// nor a UTF8String (RFC 5280 section 4.1.2.4).
    AttributeEncoding(&'static str),
    /// No policy permits keys of this algorithm, or on this curve.
    UnknownKeyAlgorithm(ObjectIdentifier),
    /// No policy permits RSA keys of fewer than 2048 bits. This key has this many.
    WeakRsaKey(usize),
    /// No policy permits a certificate that is valid for longer than its CA's.
    EndsAfterCa {
        /// The requested validity.
        asked: Duration,
        /// How long the CA's certificate is still valid.
        left: Duration,
    },
    /// The CA's certificate has expired.
    CaEnded,
}

/// The words for a reason.
pub(super) enum Words {
    /// A key of the file forbids it.
    OfKey {
        /// The key with its table.
        key: &'static str,
        /// What is permitted and what is therefore forbidden: a text that follows the key's name.
        rule: String,
        /// What to do instead.
        instead: &'static str,
        /// The setting that would permit it.
        setting: String,
    },
    /// It is forbidden whatever the file says.
    Always(String),
}

impl Reason {
    pub(super) fn words(&self) -> Words {
        match self {
            Self::DnsName { name, permitted } => of_list("names.dns", permitted, "no DNS name", quoted(name), "ask for another name"),
            Self::DnsNameExcluded { name, excluded } => Words::OfKey {
                key: "names.dns-excluded",
                rule: format!("excludes \"{excluded}\", and so {}", quoted(name)),
                instead: "ask for another name",
                setting: "dns-excluded = []".into(),
            },
            Self::Wildcard(name) => Words::OfKey {
                key: "names.wildcards",
                rule: format!("permits no wildcards, so not {}", quoted(name)),
                instead: "ask for the names that it is to stand for",
                setting: "wildcards = true".into(),
            },
            Self::SingleLabel(name) => Words::OfKey {
                key: "names.single-label",
                rule: format!("permits no name of a single label, so not {}", quoted(name)),
                instead: "ask for the full name",
                setting: "single-label = true".into(),
            },
            Self::Address { address, permitted } => of_list("names.ip", permitted, "no address", format!("\"{address}\""), "ask for another address"),
            Self::EmailAddress { address, permitted } => of_list("names.email", permitted, "no e-mail address", quoted(address), "ask for another address"),
            Self::Uri { uri, permitted } => of_list("names.uri", permitted, "no URI", quoted(uri), "ask for another URI"),
            Self::NumberOfNames { number, max } => Words::OfKey {
                key: "names.max",
                rule: format!("permits {max} names and addresses, not {number}"),
                instead: "ask for several certificates",
                setting: format!("max = {number}"),
            },
            Self::Subject {
                key,
                value,
                permitted,
            } => {
                let value = quoted(value);
                let (_, name) = key.split_once('.').unwrap_or((key, key));
                Words::OfKey {
                    key,
                    rule: permits(permitted, "nothing", &value),
                    instead: "ask for a subject without it",
                    setting: format!("{name} = [{value}]"),
                }
            }
            Self::HostAsCommonName { name, permitted } => {
                let suspicion = suspicion(name);
                let name = quoted(name);
                let (what, instead) = match suspicion {
                    Suspicion::OneWord => (
                        ", which some clients take".into(),
                        "ask for it as an alternative name, or for a common name of several words",
                    ),
                    Suspicion::SpaceAtEnd => (
                        ", which begins or ends with a space, so that some clients may take it".into(),
                        "ask for it without that space",
                    ),
                    Suspicion::FirstWord(word) => (
                        format!(", of which some clients read {word:?} alone and may take that"),
                        "ask for a common name that begins with another word",
                    ),
                    Suspicion::Character(character) => (
                        format!(", which has {character:?}, so that some clients may take it"),
                        "ask for a common name of letters, digits, spaces and .,'-()&+#_:",
                    ),
                };
                Words::OfKey {
                    key: "subject.common-name",
                    rule: permits(permitted, "nothing", &name)
                        + &what
                        + " for the name of a host or a mailbox, and which is not among the names asked for",
                    instead,
                    setting: format!("common-name = [{name}]"),
                }
            }
            Self::KeyAlgorithm { algorithm, permitted } => of_list("keys.algorithms", permitted, "no key", format!("\"{algorithm}\""), "make a key of another algorithm"),
            Self::RsaBits { bits, min } => Words::OfKey {
                key: "keys.rsa-min-bits",
                rule: format!("permits RSA keys of {min} bits or more, not of {bits}"),
                instead: "make a longer key",
                setting: format!("rsa-min-bits = {bits}"),
            },
            Self::Validity { asked, max } => {
                let asked = Period(*asked);
                Words::OfKey {
                    key: "validity.max",
                    rule: format!("permits {} at most, not {asked}", Period(*max)),
                    instead: "ask for less",
                    setting: format!("max = \"{asked}\""),
                }
            }
            Self::Profile { profile, permitted } => of_list("usages.profiles", permitted, "no profile", format!("\"{profile}\""), "ask for another profile"),
            Self::AcmeName { name, permitted } => of_list("acme.dns", permitted, "no DNS name", quoted(name), "ask for another name"),
            Self::AcmeAddress { address, permitted } => of_list("acme.ip", permitted, "no address", format!("\"{address}\""), "ask for another address"),
            Self::AcmeProfile { profile, permitted } => of_profiles("acme.profiles", permitted, format!("\"{profile}\"")),
            Self::NoAcme => Words::Always(
                "the CA's policy has no table [acme], without which nobody gets a certificate by ACME".into(),
            ),
            Self::EstName { name, permitted } => of_list("est.dns", permitted, "no DNS name", quoted(name), "ask for another name"),
            Self::EstAddress { address, permitted } => of_list("est.ip", permitted, "no address", format!("\"{address}\""), "ask for another address"),
            Self::EstProfile { profile, permitted } => of_profiles("est.profiles", permitted, format!("\"{profile}\"")),
            Self::EstUserName { user, name } => Words::OfKey {
                key: "est.users",
                rule: format!("permits user {} other names, not {}", quoted(user), quoted(name)),
                instead: "ask for the user's own names",
                setting: format!("{} among the names of {}", quoted(name), quoted(user)),
            },
            Self::EstUser { user } => Words::Always(format!(
                "the CA's policy has the table [est.users], and no names for user {} in it",
                quoted(user)
            )),
            Self::NoEst => Words::Always(
                "the CA's policy has no table [est], without which nobody gets a certificate by EST".into(),
            ),

            Self::NotADnsName(name) => Words::Always(format!(
                "{} is not a DNS name: ask for labels of letters, digits, underscores and inner \
                 hyphens, with no final dot and at most a leading \"*.\", and for names in other \
                 scripts as \"xn--...\"",
                quoted(name)
            )),
            Self::NotAnEmailAddress(error) => Words::Always(error.to_string()),
            Self::NotAUri(error) => Words::Always(error.to_string()),
            Self::WideWildcard(name) => Words::Always(format!(
                "{} has a single label after the \"*\", and clients refuse such wildcards; ask for \
                 the names that it is to stand for",
                quoted(name)
            )),
            Self::MappedAddress { address, ipv4 } => Words::Always(format!(
                "{address} is an IPv4 address written as an IPv6 address; ask for {ipv4}"
            )),
            Self::ServerWithoutName(profile) => Words::Always(format!(
                "a certificate of the profile {profile} needs a DNS name, an address or a URI, since \
                 clients don't look for servers' names in the subject; ask for one as a subject \
                 alternative name"
            )),
            Self::Nameless => Words::Always(
                "the certificate would name nobody; ask for an alternative name or a common name"
                    .into(),
            ),
            Self::UnknownAttribute(attribute) => Words::Always(format!(
                "the subject has {attribute}, which no policy permits; ask for a subject without \
                 it"
            )),
            Self::NumberOfAttributes(number) => Words::Always(format!(
                "the subject has {number} attributes, and no policy permits more than 32; ask for a subject with \
                 those that somebody needs"
            )),
            Self::CommonNameLength(0) => Words::Always(
                "the common name is empty; ask for one, or for a subject without it".into(),
            ),
            Self::CommonNameLength(length) => Words::Always(format!(
                "the common name has {length} characters, and no policy permits more than 64 (RFC 5280); ask for a \
                 shorter one"
            )),
            Self::AttributeEncoding(key) => Words::Always(format!(
                "the subject's value for {key} is neither a PrintableString nor a UTF8String (RFC \
                 5280 section 4.1.2.4); ask for it as one of these"
            )),
            Self::UnknownKeyAlgorithm(oid) => Words::Always(format!(
                "the key is of algorithm or curve {oid}, which no policy permits; make a key of \
                 ML-DSA-65 or of another algorithm that keys.algorithms may list"
            )),
            Self::WeakRsaKey(bits) => Words::Always(format!(
                "the RSA key has {bits} bits, and no policy permits fewer than 2048; make a longer \
                 key"
            )),
            Self::EndsAfterCa { asked, left } => {
                let left = Period::rounded_down(*left);
                Words::Always(format!(
                    "the CA's own certificate ends in {left}, before the {} that were asked for; \
                     ask for {left}, or have a new key issue first (\"pqtls ca rollover\")",
                    Period(*asked)
                ))
            }
            Self::CaEnded => Words::Always(
                "the CA's own certificate has expired, so nobody would accept a certificate from it; \
                 have a new key issue first (\"pqtls ca rollover\")"
                    .into(),
            ),
        }
    }
}

/// What a list of the policy doesn't have.
fn of_list(
    key: &'static str,
    permitted: &[impl fmt::Display],
    nothing: &str,
    asked: String,
    instead: &'static str,
) -> Words {
    let (_, name) = key.rsplit_once('.').unwrap_or(("", key));
    Words::OfKey {
        key,
        rule: permits(permitted, nothing, &asked),
        instead,
        setting: format!("{name} = [{asked}]"),
    }
}

/// What a list of profiles doesn't have, which is narrower than that of all certificates.
fn of_profiles(key: &'static str, permitted: &[impl fmt::Display], asked: String) -> Words {
    let mut words = of_list(
        key,
        permitted,
        "no profile",
        asked,
        "ask for another profile",
    );
    if let Words::OfKey { setting, .. } = &mut words {
        setting.push_str(", if usages.profiles has it, too,");
    }
    words
}

/// Says what a list permits, or `nothing` if it is empty, and that it does not permit `asked`.
fn permits(permitted: &[impl fmt::Display], nothing: &str, asked: &str) -> String {
    let mut listed: Vec<_> = permitted
        .iter()
        .take(MAX_LISTED)
        .map(|item| format!("\"{item}\""))
        .collect();
    if listed.is_empty() {
        return format!("permits {nothing}, so not {asked}");
    }
    if permitted.len() > MAX_LISTED {
        listed.push(format!("{} more", permitted.len() - MAX_LISTED));
    }
    format!("permits {}, not {asked}", listed.join(", "))
}

/// How many items of a list are shown in a message.
const MAX_LISTED: usize = 8;

/// Escapes and shortens a requested text for messages: nothing in it starts a line or moves a cursor.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}...", &text[..end]),
    }
}

/// How many characters of a text are shown in a message.
const MAX_QUOTED: usize = 256;
