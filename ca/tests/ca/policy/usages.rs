//! The table `[usages]`: the key usages that each profile gives a certificate. Also the URLs of revocation lists in
//! certificates.

use pq_ca::policy::{Profile, Wanted};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm};
use pq_x509::x509_cert::ext::pkix::ExtendedKeyUsage;

use crate::policy::{CA, check, new_key, policy, refusals, wanted};

/// A policy with these lines in `[usages]`, the first of which is line 2.
fn text(usages: &str) -> String {
    format!(
        "[usages]\n{usages}\n[names]\ndns = ['.']\n[keys]\nalgorithms = ['ML-DSA-44', \
         'ML-KEM-768']\n[revocation-lists]\nurls = ['http://ca.example.org/a.crl', \
         'http://ca.example.net/a.crl']"
    )
}

fn purposes(certificate: &Certificate) -> Vec<String> {
    let extensions = certificate.parsed().tbs_certificate();
    match extensions.get_extension::<ExtendedKeyUsage>().unwrap() {
        Some((_, purposes)) => purposes.0.iter().map(ToString::to_string).collect(),
        None => Vec::new(),
    }
}

const SERVER: &str = "1.3.6.1.5.5.7.3.1";
const CLIENT: &str = "1.3.6.1.5.5.7.3.2";

#[test]
fn profiles_are_extended_key_usages() {
    let policy = policy(&text(
        "profiles = ['server', 'client', 'server+client', 'any']",
    ));
    for (profile, expected) in [
        (Profile::Server, &[SERVER][..]),
        (Profile::Client, &[CLIENT]),
        (Profile::ServerAndClient, &[SERVER, CLIENT]),
        (Profile::Any, &[]),
    ] {
        let key = new_key();
        let wanted = Wanted::new(&key)
            .unwrap()
            .dns_name("a.org")
            .profile(profile);
        let permitted = check(&policy, &wanted).unwrap();
        assert_eq!(permitted.profile(), profile);
        let certificate = CA.issue(permitted.certificate(), &key).unwrap();
        assert_eq!(purposes(&certificate), expected, "{profile}");
        assert_eq!(
            certificate.key_usage(),
            Some(KeyUsages::DigitalSignature.into())
        );
    }
}

/// RFC 6960 section 4.2.2.2.
#[test]
fn a_responder_is_not_to_be_asked_about_itself() {
    let text = text("profiles = ['server', 'ocsp-responder']");
    let policy = policy(&format!(
        "{text}\n[ocsp]\nurls = ['http://ocsp.example.org']\n"
    ));
    for (profile, purpose, is_responder) in [
        (Profile::Server, SERVER, false),
        (Profile::OcspResponder, "1.3.6.1.5.5.7.3.9", true),
    ] {
        let key = new_key();
        let wanted = Wanted::new(&key).unwrap().dns_name("a.org");
        let permitted = check(&policy, &wanted.profile(profile)).unwrap();
        let certificate = CA.issue(permitted.certificate(), &key).unwrap();
        assert_eq!(purposes(&certificate), [purpose]);
        assert_eq!(certificate.has_ocsp_nocheck(), is_responder);
        let urls: &[&str] = if is_responder {
            &[]
        } else {
            &["http://ocsp.example.org"]
        };
        assert_eq!(certificate.ocsp_urls(), urls);
    }
}

/// RFC 9935.
#[test]
fn keys_of_ml_kem_encipher_keys_and_do_nothing_else() {
    let policy = policy(&text("profiles = ['server']"));
    let key = DecapsulationKey::generate(KemAlgorithm::MlKem768).unwrap();
    let key = key.encapsulation_key();
    let wanted = Wanted::new(&key).unwrap().dns_name("a.org");
    let permitted = check(&policy, &wanted).unwrap();
    let certificate = CA.issue(permitted.certificate(), &key).unwrap();
    assert_eq!(
        certificate.key_usage(),
        Some(KeyUsages::KeyEncipherment.into())
    );
}

#[test]
fn the_first_profile_is_the_default() {
    for (usages, default) in [
        ("profiles = ['client', 'server']", Profile::Client),
        ("profiles = ['server', 'client']", Profile::Server),
        ("profiles = ['server+client']", Profile::ServerAndClient),
    ] {
        let permitted = check(&policy(&text(usages)), &wanted().dns_name("a.org")).unwrap();
        assert_eq!(permitted.profile(), default);
    }
}

#[test]
fn other_profiles_are_forbidden() {
    let wanted = wanted().dns_name("a.org");
    assert_eq!(
        refusals(
            &text("profiles = ['server', 'client']"),
            &wanted.clone().profile(Profile::ServerAndClient)
        ),
        [
            "policy.toml:2: usages.profiles permits \"server\", \"client\", not \"server+client\"; \
             ask for another profile, or permit it there",
            "  2 | profiles = ['server', 'client']",
        ]
    );
    assert_eq!(
        refusals(
            &text("profiles = []"),
            &wanted.clone().profile(Profile::Client)
        ),
        [
            "policy.toml:2: usages.profiles permits no profile, so not \"client\"; ask for another \
             profile, or permit it there",
            "  2 | profiles = []",
        ]
    );
    assert_eq!(
        refusals(&text(""), &wanted),
        [
            "policy.toml: usages.profiles is not set, and by default permits no profile, so not \
             \"server\"; ask for another profile, or permit it by profiles = [\"server\"] below \
             [usages]"
        ]
    );
}

#[test]
fn certificates_say_where_the_list_is() {
    let policy = policy(&text("profiles = ['server']"));
    let urls: Vec<_> = policy
        .revocation_list_urls()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        urls,
        ["http://ca.example.org/a.crl", "http://ca.example.net/a.crl"]
    );
    let key = new_key();
    let wanted = Wanted::new(&key).unwrap().dns_name("a.org");
    let permitted = check(&policy, &wanted).unwrap();
    let certificate = CA.issue(permitted.certificate(), &key).unwrap();
    for url in urls {
        let der = certificate.der();
        assert!(
            der.windows(url.len()).any(|part| part == url.as_bytes()),
            "{url}"
        );
    }
}
