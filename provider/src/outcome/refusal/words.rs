//! The texts of a refusal beside its numbers and names.

use rustls::{AlertDescription, CertRevocationListError, CertificateError, CipherSuite};

use crate::algorithms::{Group, KeyAlgorithm, name_of};
use crate::hello::Start;

/// The algorithms in an error of rustls, which itself prints identifiers as lists of numbers.
pub(super) fn unaccepted(error: &CertificateError) -> String {
    use CertificateError as Certificate;
    match error {
        Certificate::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id,
            ..
        } => format!(
            "{}, which isn't accepted here",
            name_of(signature_algorithm_id)
        ),
        // The algorithm is one that is accepted, so the key is what doesn't fit.
        Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id,
            public_key_algorithm_id,
        } => format!(
            "{}, but the key of its issuer here is for {}, and these don't go together; a root here \
             may have the issuer's name and another key: compare it with the one that issued the \
             chain",
            name_of(signature_algorithm_id),
            name_of(public_key_algorithm_id)
        ),
        error => format!("an algorithm that isn't accepted here ({error})"),
    }
}

/// What is wrong with a revocation list, for which rustls has no words.
pub(super) fn fault_with_list(error: &CertRevocationListError) -> String {
    use CertRevocationListError as List;
    match error {
        List::BadSignature => {
            "the CA that it names signed it with another key, or not at all".into()
        }
        List::IssuerInvalidForCrl => {
            "the CA that it names has a certificate that is not for signing lists".into()
        }
        error => format!("{error:?}"),
    }
}

/// What such an alert says, and what to do.
pub(super) fn fault_with_certificate(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::UnknownCA => {
            "the chain leads to no root that the peer trusts; use a chain of an issuer that it \
             trusts, with all intermediate certificates"
        }
        Alert::BadCertificate => {
            "it can't be read, or is not for the name that the peer expects; a peer written in Go also \
             sends this alert if the chain leads to no root that it trusts: use one for that name, of an \
             issuer that the peer trusts, with all intermediate certificates"
        }
        Alert::CertificateUnknown => {
            "rustls sends this alert if a CA certificate takes the place of the leaf, or if a certificate \
             breaks its key usage or another rule; the peer's log may say why"
        }
        Alert::CertificateExpired => {
            "it has expired, or is not valid yet; use a new one, unless a clock is wrong"
        }
        Alert::CertificateRevoked => "it has been revoked; get a new one, for a new key",
        Alert::BadCertificateStatusResponse => {
            "the OCSP response beside it is missing, expired or not by its issuer; staple a new one"
        }
        Alert::UnsupportedCertificate => {
            "it is for another use, or signed with an algorithm that the peer doesn't accept; \
             servers need one that is issued for servers, and clients one for clients"
        }
        Alert::DecryptError => {
            "a signature seems wrong to the peer, which may have a root with the issuer's name and another \
             key, or may not accept the algorithm; compare the roots, and the algorithms that it accepts"
        }
        _ => "its log may say why",
    }
}

/// What may be behind any other alert.
pub(super) fn hint(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::DecodeError => {
            "it can't read a message of this side; rustls also sends this alert for a certificate \
             chain of more than 65,535 bytes"
        }
        Alert::NoApplicationProtocol => {
            "the two sides have no application protocol in common; give one side a protocol of the \
             other (alpn_protocols)"
        }
        _ => "its log may say why",
    }
}

pub(super) fn list(groups: &[Group]) -> String {
    match groups.is_empty() {
        true => "none".into(),
        false => Start(groups).to_string(),
    }
}

/// rustls reports this also if both sides have a suite, but the server has no key for it.
pub(super) fn suites_remedy(client: &[CipherSuite], server: &[CipherSuite]) -> &'static str {
    match client.iter().any(|suite| server.contains(suite)) {
        true => {
            "in TLS 1.2 each suite is for one kind of key: give the server a certificate with a key \
             that the client's suites are for"
        }
        false => "give one side a suite of the other",
    }
}

pub(super) fn in_quotes(name: &Option<String>) -> String {
    match name {
        Some(name) => format!("{name:?}"),
        None => "clients that ask for no name".into(),
    }
}

/// A name without what webpki puts around it: `DnsName("example.org")`, `IpAddress(192.0.2.1)`.
pub(super) fn bare(name: &str) -> String {
    let inner = name.strip_suffix(')').and_then(|name| {
        let (_, inner) = name.split_once('(')?;
        Some(inner.trim_matches('"'))
    });
    inner.unwrap_or(name).into()
}

pub(super) fn names(names: &[String]) -> String {
    match names {
        [] => "no name at all".into(),
        names => {
            let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
            names.join(", ")
        }
    }
}

pub(super) fn keys(keys: &[KeyAlgorithm]) -> String {
    let names: Vec<_> = keys.iter().map(KeyAlgorithm::to_string).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", the server has keys for {}", names.join(", ")),
    }
}

pub(super) fn remedy_for_groups(client: &[Group], server: &[Group]) -> &'static str {
    let has_pq = |groups: &[Group]| groups.iter().any(|group| group.is_post_quantum());
    match (has_pq(client), has_pq(server)) {
        (false, true) => {
            "give the client one of the server's post-quantum groups, or the server a profile \
             with classical groups"
        }
        (true, false) => {
            "give the server one of the client's post-quantum groups, or the client a profile \
             with classical groups"
        }
        _ => "give one side a group of the other (Builder::groups)",
    }
}

pub(super) fn remedy_for_ech(retry: bool) -> &'static str {
    match retry {
        true => {
            "connect again with the configurations that it sent (rustls_pq::hpke::EchRejection), and get the \
             newest from DNS"
        }
        false => {
            "it sent no other configuration, so it may have given ECH up; get the newest configuration from DNS, \
             or connect without ECH, if the name needs not be hidden"
        }
    }
}

pub(super) fn remedy_for_issuer(asks_for_both: bool) -> &'static str {
    match asks_for_both {
        true => {
            "; if the server has post-quantum and classical chains, it sent the other one, as this client asks for both \
             kinds: Builder::roots asks for the kind of its roots first, or alone if they are post-quantum, and \
             Builder::signature_schemes for what it names alone"
        }
        false => "",
    }
}

pub(super) fn remedy_for_signer(is_transient: bool) -> &'static str {
    match is_transient {
        true => "; the next handshake may succeed",
        false => "; unless somebody mends it, the next one fails in the same way",
    }
}
