use pq_ca::{Profile, Wanted};
use pq_x509::Name;
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::der::asn1::{Any, BmpString, SetOfVec};
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::name::{RdnSequence, RelativeDistinguishedName};
use pq_x509::x509_cert::spki::ObjectIdentifier;

use crate::{refusals, wanted};

/// The refusals of a policy with these lines in `[subject]`, the first of which is line 2.
fn refused(subject: &str, wanted: &Wanted) -> Vec<String> {
    let text = format!(
        "[subject]\n{subject}\n[names]\ndns = ['.']\nip = ['::/0']\nsingle-label = true\nwildcards \
         = true\n[keys]\nalgorithms = ['ML-DSA-44']\n[usages]\nprofiles = ['client', 'server']\n"
    );
    refusals(&text, wanted)
}

fn named(name: &str) -> Wanted {
    wanted().subject(name.parse().unwrap())
}

#[test]
fn listed_texts_are_permitted() {
    for (subject, name) in [
        ("common-name = ['alice']", "CN=alice"),
        ("common-name = ['*']", "CN=Alice Smith"),
        ("common-name = ['user-*']", "CN=user-7"),
        ("common-name = ['alice', 'bob']", "CN=alice+CN=bob"),
        (
            "common-name = ['*']\norganization = ['Example']\nunit = ['*']\nlocality = \
             ['Lund']\nstate = ['Skåne']\ncountry = ['SE']",
            "CN=a,OU=b,O=Example,L=Lund,ST=Skåne,C=SE",
        ),
        // It looks like a host, but the policy permits it literally.
        ("common-name = ['alice.smith']", "CN=alice.smith"),
    ] {
        assert_eq!(refused(subject, &named(name)), [""; 0], "{subject} {name}");
    }
}

#[test]
fn other_texts_are_forbidden_by_their_list() {
    for (subject, name, line) in [
        (
            "common-name = ['alice']",
            "CN=Alice",
            "common-name permits \"alice\", not \"Alice\"",
        ),
        (
            "common-name = ['*']",
            "CN=a\\0ab",
            "common-name permits \"*\", not \"a\\nb\"",
        ),
        (
            "common-name = ['alice']",
            "CN=alice,CN=mallory",
            "common-name permits \"alice\", not \"mallory\"",
        ),
        (
            "organization = ['Example']",
            "O=Example Inc",
            "organization permits \"Example\", not \"Example Inc\"",
        ),
        ("unit = []", "OU=a", "unit permits nothing, so not \"a\""),
        (
            "locality = []",
            "L=a",
            "locality permits nothing, so not \"a\"",
        ),
        ("state = []", "ST=a", "state permits nothing, so not \"a\""),
        (
            "country = []",
            "C=SE",
            "country permits nothing, so not \"SE\"",
        ),
    ] {
        assert_eq!(
            refused(subject, &named(name)),
            [
                format!(
                    "policy.toml:2: subject.{line}; ask for a subject without it, or permit it \
                     there"
                ),
                format!("  2 | {subject}"),
            ]
        );
    }
    assert_eq!(
        refused("", &named("O=a")),
        [
            "policy.toml: subject.organization is not set, and by default permits nothing, so not \
             \"a\"; ask for a subject without it, or permit it by organization = [\"a\"] below \
             [subject]"
        ]
    );
}

/// Some clients take a common name for the name of a host.
#[test]
fn hosts_in_common_names_have_to_be_among_the_names() {
    for host in [
        "www.example.org",
        "WWW.EXAMPLE.ORG.",
        " www.example.org",
        "*.example.org",
        "localhost",
        "10.0.0.1",
        "::1",
    ] {
        let quoted = format!("{host:?}");
        for wanted in [
            wanted().common_name(host),
            wanted().common_name(host).dns_name("www.example.net"),
        ] {
            assert_eq!(
                refused("common-name = ['*']", &wanted),
                [
                    format!(
                        "policy.toml:2: subject.common-name permits \"*\", not {quoted}, which \
                         looks like a host's name and is not among the names asked for; ask for it \
                         as a DNS name or an address, or permit it there"
                    ),
                    "  2 | common-name = ['*']".into(),
                ]
            );
        }
        assert_eq!(
            refused("", &wanted().common_name(host)),
            [format!(
                "policy.toml: subject.common-name is not set, and by default permits nothing, so \
                 not {quoted}, which looks like a host's name and is not among the names asked \
                 for; ask for it as a DNS name or an address, or permit it by common-name = \
                 [{quoted}] below [subject]"
            )]
        );
    }
}

/// Such common names say nothing that the alternative names don't say.
#[test]
fn common_names_that_are_among_the_names_need_no_permission() {
    for wanted in [
        wanted()
            .common_name("www.example.org")
            .dns_name("WWW.example.org"),
        wanted()
            .common_name("*.example.org")
            .dns_name("*.example.org"),
        wanted().common_name("localhost").dns_name("localhost"),
        wanted()
            .common_name("::1")
            .ip_address("0::1".parse().unwrap()),
    ] {
        assert_eq!(refused("", &wanted), [""; 0]);
    }
}

#[test]
fn what_the_file_has_no_key_for_is_forbidden() {
    for (name, attribute) in [
        ("emailAddress=a@example.org", "email"),
        ("DC=example", "DC"),
        ("1.2.3.4=#04024869", "1.2.3.4"),
    ] {
        assert_eq!(
            refused("", &named(name)),
            [format!(
                "the subject has {attribute}, which no policy permits; ask for a subject without \
                 it"
            )]
        );
    }
}

#[test]
fn values_in_other_encodings_are_forbidden() {
    let bmp = BmpString::from_utf8("a").unwrap();
    for value in [
        Any::encode_from(&bmp).unwrap(),
        Any::new(pq_x509::x509_cert::der::Tag::TeletexString, b"a".as_slice()).unwrap(),
        Any::new(pq_x509::x509_cert::der::Tag::OctetString, b"a".as_slice()).unwrap(),
    ] {
        let attribute = AttributeTypeAndValue {
            oid: ObjectIdentifier::new_unwrap("2.5.4.3"),
            value,
        };
        let rdn = RelativeDistinguishedName::from(SetOfVec::try_from(vec![attribute]).unwrap());
        let name = Name::from_der(&RdnSequence::from(vec![rdn]).to_der().unwrap()).unwrap();
        assert_eq!(
            refused("common-name = ['*']", &wanted().subject(name)),
            [
                "the subject's value for subject.common-name is neither a PrintableString nor a \
                 UTF8String (RFC 5280 section 4.1.2.4); ask for it as one of these"
            ]
        );
    }
}

#[test]
fn somebody_has_to_be_named() {
    let nameless =
        "the certificate would name nobody; ask for an alternative name or a common name";
    assert_eq!(refused("", &wanted()), [nameless]);
    assert_eq!(refused("", &wanted().subject(Name::default())), [nameless]);
    for wanted in [wanted(), wanted().common_name("alice")] {
        assert_eq!(
            refused("common-name = ['*']", &wanted.profile(Profile::Server)),
            [
                "a certificate of the profile server needs a DNS name, an address or a URI, since clients \
                 don't look for servers' names in the subject; ask for one as a subject \
                 alternative name"
            ]
        );
    }
}
