//! Extensions of certificates.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5280::*;

use super::tree::{Node, oid, sequence, tlv};
use super::{Case, Document, SAMPLES, SUBJECT, ca, extension, leaf, request_case};

pub(super) fn cases() -> Vec<Case> {
    [
        lists(),
        critical_in_cas(),
        critical_in_end_entities(),
        constraints(),
        key_identifiers(),
        alternative_names(),
        policies(),
        locations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const POLICY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.23.140.1.2.1");

fn lists() -> Vec<Case> {
    vec![
        leaf(
            &[
                "rfc5280-extension-list",
                "rfc5280-authority-key-id",
                "rfc5280-end-entity-without-key-id",
            ],
            |one| one.extensions().clear(),
        ),
        leaf(&["rfc5280-extension-repeated"], |one| {
            let first = one.extensions()[0].clone();
            one.extensions().push(first);
        }),
        leaf(&["rfc5280-extension-syntax"], |one| {
            one.set(ID_CE_CERTIFICATE_POLICIES, false, &tlv(4, &[7]));
        }),
        leaf(
            &["rfc5280-extension-empty", "rfc9525-server-without-name"],
            |one| {
                one.set(ID_CE_SUBJECT_ALT_NAME, false, &sequence(&[]));
            },
        ),
        leaf(&["rfc5280-extension-empty"], |one| {
            one.set(ID_CE_EXT_KEY_USAGE, false, &sequence(&[]));
        }),
        leaf(&["rfc5280-extension-empty"], |one| {
            one.set(ID_PE_AUTHORITY_INFO_ACCESS, false, &sequence(&[]));
        }),
        leaf(&["rfc5280-critical-extension"], |one| {
            one.set(ObjectIdentifier::new_unwrap("1.2.3.4"), true, &[5, 0]);
        }),
        // An unknown extension that is not critical is allowed.
        leaf(&[], |one| {
            one.set(
                ObjectIdentifier::new_unwrap("1.2.3.4"),
                false,
                b"not even DER",
            );
        }),
    ]
}

fn critical_in_cas() -> Vec<Case> {
    let mappings = sequence(&[sequence(&[oid(POLICY), oid(POLICY)])]);
    let constraints = sequence(&[tlv(0x80, &[0])]);
    let access = |method, url: &[u8]| sequence(&[sequence(&[oid(method), tlv(0x86, url)])]);
    let issuers = access(ID_AD_CA_ISSUERS, b"http://ca.example.org/ca.crt");
    vec![
        ca(&["rfc5280-basic-constraints-critical"], |one| {
            one.critical(ID_CE_BASIC_CONSTRAINTS, false);
        }),
        ca(&["rfc5280-name-constraints-critical"], |one| {
            one.critical(ID_CE_NAME_CONSTRAINTS, false);
        }),
        ca(&["rfc5280-policy-constraints-critical"], |one| {
            one.set(ID_CE_POLICY_CONSTRAINTS, false, &constraints);
        }),
        ca(&["rfc5280-critical-extension"], |one| {
            one.set(ID_CE_POLICY_CONSTRAINTS, true, &constraints);
        }),
        ca(&["rfc5280-inhibit-any-policy-critical"], |one| {
            one.set(ID_CE_INHIBIT_ANY_POLICY, false, &tlv(2, &[0]));
        }),
        ca(&["rfc5280-policy-mappings-critical"], |one| {
            one.set(ID_CE_POLICY_MAPPINGS, false, &mappings);
        }),
        leaf(
            &[
                "rfc5280-information-access-critical",
                "rfc5280-critical-extension",
            ],
            |one| {
                one.set(ID_PE_AUTHORITY_INFO_ACCESS, true, &issuers);
            },
        ),
        ca(
            &[
                "rfc5280-information-access-critical",
                "rfc5280-critical-extension",
            ],
            |one| {
                one.set(ID_PE_SUBJECT_INFO_ACCESS, true, &issuers);
            },
        ),
    ]
}

fn critical_in_end_entities() -> Vec<Case> {
    let names = sequence(&[tlv(0x82, b"example.org")]);
    let attributes = sequence(&[sequence(&[
        oid(ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.9.4")),
        tlv(0x31, &tlv(0x13, b"SE")),
    ])]);
    let url = tlv(0x86, b"http://a.example/");
    let points = sequence(&[tlv(0x30, &tlv(0xa0, &tlv(0xa0, &url)))]);
    let any = sequence(&[oid(ANY_EXTENDED_KEY_USAGE)]);
    vec![
        leaf(&["rfc5280-key-usage-critical"], |one| {
            one.critical(ID_CE_KEY_USAGE, false)
        }),
        leaf(
            &[
                "rfc5280-authority-key-id-critical",
                "rfc5280-critical-extension",
            ],
            |one| one.critical(ID_CE_AUTHORITY_KEY_IDENTIFIER, true),
        ),
        leaf(
            &[
                "rfc5280-subject-key-id-critical",
                "rfc5280-critical-extension",
            ],
            |one| one.critical(ID_CE_SUBJECT_KEY_IDENTIFIER, true),
        ),
        leaf(&["rfc5280-alternative-names-critical"], |one| {
            one.critical(ID_CE_SUBJECT_ALT_NAME, true);
        }),
        leaf(&[], |one| {
            one.critical(ID_CE_SUBJECT_ALT_NAME, true);
            one.field(SUBJECT).nodes().clear();
        }),
        leaf(
            &[
                "rfc5280-issuer-alternative-names-critical",
                "rfc5280-critical-extension",
            ],
            |one| one.set(ID_CE_ISSUER_ALT_NAME, true, &names),
        ),
        leaf(
            &[
                "rfc5280-directory-attributes-critical",
                "rfc5280-critical-extension",
            ],
            |one| one.set(ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES, true, &attributes),
        ),
        leaf(&["rfc5280-any-purpose-critical"], |one| {
            one.set(ID_CE_EXT_KEY_USAGE, true, &any);
        }),
        leaf(&[], |one| one.set(ID_CE_EXT_KEY_USAGE, false, &any)),
        leaf(
            &[
                "rfc5280-distribution-points-critical",
                "rfc5280-critical-extension",
            ],
            |one| one.critical(ID_CE_CRL_DISTRIBUTION_POINTS, true),
        ),
        leaf(
            &[
                "rfc5280-freshest-crl-critical",
                "rfc5280-critical-extension",
            ],
            |one| {
                one.set(ID_CE_FRESHEST_CRL, true, &points);
            },
        ),
    ]
}

fn constrained(subtrees: &[Vec<u8>]) -> Vec<u8> {
    sequence(&[tlv(0xa0, &subtrees.concat())])
}

fn constraints() -> Vec<Case> {
    let name = tlv(0x82, b"example.org");
    let tree = |base: &[u8]| sequence(&[base.to_vec()]);
    let with = |rules, subtree: Vec<u8>| {
        ca(rules, |one| {
            one.set(ID_CE_NAME_CONSTRAINTS, true, &constrained(&[subtree]))
        })
    };
    vec![
        leaf(&["rfc5280-path-length"], |one| {
            one.set(ID_CE_BASIC_CONSTRAINTS, true, &sequence(&[tlv(2, &[0])]));
        }),
        ca(
            &["rfc5280-path-length", "rfc5280-ca-without-key-cert-sign"],
            |one| {
                one.set(ID_CE_KEY_USAGE, true, &[3, 2, 1, 0x02]);
            },
        ),
        leaf(&["rfc5280-name-constraints-in-end-entity"], |one| {
            one.set(ID_CE_NAME_CONSTRAINTS, true, &constrained(&[tree(&name)]));
        }),
        leaf(
            &["rfc5280-policies-of-cas", "rfc5280-critical-extension"],
            |one| {
                one.set(ID_CE_INHIBIT_ANY_POLICY, true, &tlv(2, &[0]));
            },
        ),
        ca(&["rfc5280-name-constraints-empty"], |one| {
            one.set(ID_CE_NAME_CONSTRAINTS, true, &sequence(&[]));
        }),
        ca(&["rfc5280-name-constraints-empty"], |one| {
            one.set(ID_CE_NAME_CONSTRAINTS, true, &constrained(&[]));
        }),
        with(
            &["rfc5280-name-constraints-distance"],
            sequence(&[name.clone(), tlv(0x80, &[1])]),
        ),
        with(
            &["rfc5280-name-constraints-distance"],
            sequence(&[name, tlv(0x81, &[1])]),
        ),
        with(
            &["rfc5280-name-constraints-address"],
            tree(&tlv(0x87, &[192, 0, 2, 0])),
        ),
        with(
            &["rfc5280-name-constraints-address"],
            tree(&tlv(0x87, &[192, 0, 2, 0, 255, 0, 255, 0])),
        ),
        with(&[], tree(&tlv(0x87, &[192, 0, 2, 0, 255, 255, 255, 0]))),
        with(
            &["rfc5280-name-constraints-dns"],
            tree(&tlv(0x82, b".example.org")),
        ),
        with(
            &["rfc5280-name-constraints-dns"],
            tree(&tlv(0x82, b"*.example.org")),
        ),
        with(
            &["rfc5280-name-constraints-kinds"],
            tree(&tlv(0x88, POLICY.as_bytes())),
        ),
        // A mailbox has the same tag as a maximum.
        with(&[], tree(&tlv(0x81, b"example.org"))),
        with(&[], tree(&tlv(0x81, b"root@example.org"))),
        with(&[], tree(&tlv(0x86, b".example.org"))),
        with(
            &["rfc5280-name-constraints-hosts"],
            tree(&tlv(0x81, b"@example.org")),
        ),
        with(
            &["rfc5280-name-constraints-hosts"],
            tree(&tlv(0x86, b"https://example.org")),
        ),
    ]
}

fn key_identifiers() -> Vec<Case> {
    let issuer = tlv(0xa1, &tlv(0xa4, &issuers_name()));
    vec![
        ca(&["rfc5280-ca-without-key-id"], |one| {
            one.remove(ID_CE_SUBJECT_KEY_IDENTIFIER)
        }),
        leaf(&["rfc5280-authority-key-id"], |one| {
            one.remove(ID_CE_AUTHORITY_KEY_IDENTIFIER);
        }),
        leaf(&["rfc5280-authority-key-id"], |one| {
            one.set(ID_CE_AUTHORITY_KEY_IDENTIFIER, false, &sequence(&[]));
        }),
        leaf(&["rfc5280-authority-key-id-pair"], |one| {
            let authority = sequence(&[tlv(0x80, &[7]), issuer]);
            one.set(ID_CE_AUTHORITY_KEY_IDENTIFIER, false, &authority);
        }),
    ]
}

fn alternative_names() -> Vec<Case> {
    let named = |rules, tag, name: &[u8]| {
        leaf(rules, |one| {
            // Beside a correct name.
            let names = sequence(&[tlv(0x82, b"example.org"), tlv(tag, name)]);
            one.set(ID_CE_SUBJECT_ALT_NAME, false, &names);
        })
    };
    let asked = |rules, name: &[u8]| {
        request_case(rules, |one| {
            let names = sequence(&[tlv(0x82, name)]);
            let extensions =
                Node::Inner(0x30, vec![extension(ID_CE_SUBJECT_ALT_NAME, false, &names)]);
            one.field(3).nodes()[0].nodes()[1].nodes()[0] = extensions;
        })
    };
    vec![
        named(&["rfc5280-dns-name"], 0x82, b" "),
        named(&["rfc5280-dns-name"], 0x82, b""),
        named(&["rfc5280-dns-name"], 0x82, b".example.org"),
        named(&["rfc5280-dns-name"], 0x82, b"example.org."),
        named(&["rfc5280-dns-name"], 0x82, b"192.0.2.1"),
        named(&["rfc5280-dns-name"], 0x82, b"https://example.org"),
        named(
            &[
                "asn1-syntax",
                "rfc5280-extension-syntax",
                "rfc5280-dns-name",
            ],
            0x82,
            b"\xe9",
        ),
        named(&["rfc5280-dns-name-underscore"], 0x82, b"_a.example.org"),
        named(&[], 0x82, b"*.example.org"),
        named(&["rfc9525-wildcard"], 0x82, b"a*.example.org"),
        named(&["rfc9525-wildcard"], 0x82, b"a.*.example.org"),
        named(&["rfc5280-alternative-name-repeated"], 0x82, b"EXAMPLE.org"),
        named(&["rfc5280-email-address"], 0x81, b"someone"),
        named(&[], 0x81, b"someone@example.org"),
        named(&["rfc5280-uri"], 0x86, b"/relative"),
        named(&["rfc5280-uri"], 0x86, b"https://a@b@example.org/"),
        named(&[], 0x86, b"spiffe://example.org/a"),
        named(&[], 0x86, b"spiffe://example.org"),
        named(&["spiffe-id"], 0x86, b"spiffe://example.org/a/"),
        named(&["spiffe-id"], 0x86, b"SPIFFE://example.org/a"),
        leaf(&["spiffe-id", "rfc9525-server-without-name"], |one| {
            let uris = ["spiffe://example.org/a", "https://example.org/"];
            let uris = uris.map(|uri| tlv(0x86, uri.as_bytes()));
            one.set(ID_CE_SUBJECT_ALT_NAME, false, &sequence(&uris));
        }),
        named(&["rfc5280-ip-address"], 0x87, &[192, 0, 2]),
        named(
            &["rfc5280-ip-address"],
            0x87,
            &[192, 0, 2, 0, 255, 255, 255, 0],
        ),
        asked(&["rfc5280-dns-name"], b"a b"),
        leaf(&["rfc9525-server-without-name"], |one| {
            one.remove(ID_CE_SUBJECT_ALT_NAME)
        }),
        leaf(&["rfc9525-server-without-name"], |one| {
            let names = sequence(&[tlv(0x86, b"https://example.org/")]);
            one.set(ID_CE_SUBJECT_ALT_NAME, false, &names);
        }),
    ]
}

fn policies() -> Vec<Case> {
    let noticed = |one: &mut Document, field: &[u8]| {
        let notice = sequence(&[oid(ID_QT_UNOTICE), tlv(0x30, field)]);
        let policy = sequence(&[oid(POLICY), sequence(&[notice])]);
        one.set(ID_CE_CERTIFICATE_POLICIES, false, &sequence(&[policy]));
    };
    let policy = sequence(&[oid(POLICY)]);
    let any = sequence(&[sequence(&[oid(ANY_POLICY), oid(POLICY)])]);
    vec![
        leaf(&[], |one| {
            one.set(ID_CE_CERTIFICATE_POLICIES, false, &tlv(0x30, &policy));
        }),
        // A user notice of a NULL, and one of a text.
        leaf(&["rfc5280-extension-syntax"], |one| noticed(one, &[5, 0])),
        leaf(&[], |one| noticed(one, &tlv(12, b"a"))),
        leaf(&["rfc5280-policy-repeated"], |one| {
            let twice = sequence(&[policy.clone(), policy.clone()]);
            one.set(ID_CE_CERTIFICATE_POLICIES, false, &twice);
        }),
        ca(
            &["rfc5280-policy-mappings-any", "rfc5280-critical-extension"],
            |one| {
                one.set(ID_CE_POLICY_MAPPINGS, true, &any);
            },
        ),
        ca(
            &[
                "rfc5280-policy-constraints-empty",
                "rfc5280-critical-extension",
            ],
            |one| {
                one.set(ID_CE_POLICY_CONSTRAINTS, true, &sequence(&[]));
            },
        ),
    ]
}

fn locations() -> Vec<Case> {
    let point = |rules, point: Vec<u8>| {
        leaf(rules, |one| {
            let points = sequence(&[tlv(0x30, &point)]);
            one.set(ID_CE_CRL_DISTRIBUTION_POINTS, false, &points);
        })
    };
    let url = |url: &[u8]| tlv(0xa0, &tlv(0xa0, &tlv(0x86, url)));
    let directory = tlv(0xa4, &issuers_name());
    let access = |rules, location: Vec<u8>| {
        leaf(rules, |one| {
            let access = sequence(&[sequence(&[oid(ID_AD_OCSP), location])]);
            one.set(ID_PE_AUTHORITY_INFO_ACCESS, false, &access);
        })
    };
    vec![
        point(&["rfc5280-distribution-point-empty"], tlv(0x81, &[1, 2])),
        point(&[], tlv(0xa2, &directory)),
        point(
            &["rfc5280-distribution-point-relative"],
            tlv(0xa0, &relative_name()),
        ),
        point(
            &["rfc5280-distribution-point-url"],
            tlv(0xa0, &tlv(0xa0, &directory)),
        ),
        point(
            &[],
            url(b"ldap://ca.example.org/cn=CA?certificateRevocationList"),
        ),
        point(
            &["rfc5280-distribution-point-url", "rfc5280-https-location"],
            url(b"https://ca.example.org/ca.crl"),
        ),
        access(&[], tlv(0x86, b"http://ocsp.example.org/")),
        access(&["rfc5280-access-location"], directory.clone()),
        access(
            &["rfc5280-access-location", "rfc5280-https-location"],
            tlv(0x86, b"HTTPS://ocsp.example.org/"),
        ),
    ]
}

/// A name in DER.
fn issuers_name() -> Vec<u8> {
    let mut leaf = Document(Node::read(&SAMPLES.leaf));
    leaf.field(super::ISSUER).write()
}

/// A nameRelativeToCRLIssuer.
fn relative_name() -> Vec<u8> {
    let mut name = Node::read(&issuers_name());
    let mut part = name.nodes().remove(0);
    part.set_tag(0xa1);
    part.write()
}
