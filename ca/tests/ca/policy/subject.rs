//! The table `[subject]`: which attributes and common names are permitted, and what the refusals say.

use pq_ca::policy::{Profile, Wanted};
use pq_x509::certificate::Name;
use pq_x509::x509_cert::attr::AttributeTypeAndValue;
use pq_x509::x509_cert::der::asn1::{Any, BmpString, SetOfVec};
use pq_x509::x509_cert::der::{Decode, Encode};
use pq_x509::x509_cert::name::{RdnSequence, RelativeDistinguishedName};
use pq_x509::x509_cert::spki::ObjectIdentifier;

use crate::policy::{refusals, wanted};

/// The refusals of a policy with these lines in `[subject]`, the first of which is line 2.
fn refused(subject: &str, wanted: &Wanted) -> Vec<String> {
    let text = format!(
        "[subject]\n{subject}\n[names]\ndns = ['.']\nip = ['::/0']\nemail = ['*@.']\nuri = \
         ['spiffe://example.org/*']\nsingle-label = true\nwildcards \
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
            "CN=a b,OU=b,O=Example,L=Lund,ST=Skåne,C=SE",
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
            "CN=Alice Smith",
            "common-name permits \"alice\", not \"Alice Smith\"",
        ),
        (
            "common-name = ['alice']",
            "CN=alice,CN=mallory m",
            "common-name permits \"alice\", not \"mallory m\"",
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

/// Some clients take a common name for the name of a host, or for a mailbox.
#[test]
fn what_a_client_could_match_has_to_be_among_the_names() {
    for name in [
        "www.example.org",
        "WWW.EXAMPLE.ORG.",
        " www.example.org",
        "*.example.org",
        "w*.evil.com",
        "localhost",
        "intranet",
        "evil.com..",
        "10.0.0.1",
        "2130706433",
        "::1",
        "ｅｖｉｌ．ｃｏｍ",
        "admin@evil.com",
        "a\nb",
    ] {
        let quoted = format!("{name:?}");
        for wanted in [
            wanted().common_name(name),
            wanted().common_name(name).dns_name("www.example.net"),
            wanted()
                .common_name(name)
                .ip_address("2001:db8::2".parse().unwrap()),
        ] {
            assert_eq!(
                refused("common-name = ['*']", &wanted),
                [
                    format!(
                        "policy.toml:2: subject.common-name permits \"*\", not {quoted}, which \
                         some clients take for the name of a host or a mailbox, and which is not \
                         among the names asked for; ask for it as an alternative name, or for a \
                         common name of several words, or permit it there"
                    ),
                    "  2 | common-name = ['*']".into(),
                ]
            );
        }
        assert_eq!(
            refused("", &wanted().common_name(name)),
            [format!(
                "policy.toml: subject.common-name is not set, and by default permits nothing, so \
                 not {quoted}, which some clients take for the name of a host or a mailbox, and \
                 which is not among the names asked for; ask for it as an alternative name, or for \
                 a common name of several words, or permit it by common-name = [{quoted}] below \
                 [subject]"
            )]
        );
    }
}

/// The reason is the real one, and following its advice leads on.
#[test]
fn refusals_of_common_names_say_what_is_wrong_with_them() {
    let long = "x".repeat(70);
    let long_words = "x ".repeat(32) + "x";
    for (name, parts) in [
        (
            "Alice; x",
            [
                "which has ';', so",
                "letters, digits, spaces and .,'-()&+#_:",
            ],
        ),
        (
            "Alice <admin@evil.com>",
            ["which has '<', so", "letters, digits"],
        ),
        (
            "Alice Example ",
            ["begins or ends with a space", "without that space"],
        ),
        (
            " Alice Example",
            ["begins or ends with a space", "without that space"],
        ),
        ("Alice", ["some clients take for", "of several words"]),
        ("", ["the common name is empty", "a subject without it"]),
        (&long, ["has 70 characters", "ask for a shorter one"]),
        (&long_words, ["has 65 characters", "ask for a shorter one"]),
    ] {
        let refused = refused("common-name = ['*']", &wanted().common_name(name)).join("\n");
        for part in parts {
            assert!(refused.contains(part), "{name:?}: {refused}");
        }
        let is_of_words = refused.contains("several words");
        assert_eq!(is_of_words, name == "Alice", "{refused}");
    }
    let longest = "x ".repeat(31) + "xx";
    let wanted = wanted().common_name(&longest);
    assert_eq!(refused("common-name = ['*']", &wanted), [""; 0]);
}

/// A list with more than a `*` names labels, but no hosts with several.
#[test]
fn a_pattern_with_text_permits_labels() {
    let refused = |list: &str, name: &str| {
        refused(
            &format!("common-name = ['{list}']"),
            &named(&format!("CN={name}")),
        )
    };
    assert_eq!(refused("user-*", "user-7"), [""; 0]);
    assert_eq!(refused("*-user", "a-user"), [""; 0]);
    for (list, name) in [
        ("user-*", "user-.evil.com"),
        ("user-*", "user-*"),
        ("*.example.org", "www.example.org"),
        ("2*", "2130706433"),
        ("*", "user-7"),
    ] {
        assert_eq!(refused(list, name).len(), 2, "{list} {name}");
    }
}

/// Refusing them one by one would fill screens.
#[test]
fn subjects_with_many_attributes_are_refused_at_once() {
    let with = |count: usize| {
        let names = vec!["CN=a b"; count].join(",");
        refused("common-name = ['*']", &named(&names))
    };
    assert_eq!(with(32), [""; 0]);
    assert_eq!(
        with(33),
        [
            "the subject has 33 attributes, and no policy permits more than 32; ask for a subject with \
          those that somebody needs"
        ]
    );
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
        wanted()
            .common_name("a@example.org")
            .email_address("a@EXAMPLE.org"),
        wanted()
            .common_name("spiffe://example.org/a")
            .uri("spiffe://example.org/a"),
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
    for wanted in [wanted(), wanted().common_name("Alice Smith")] {
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
