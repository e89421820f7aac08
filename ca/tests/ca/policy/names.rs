//! The table `[names]`: which alternative names each setting permits or forbids, and what the refusals say.

use pq_ca::policy::Wanted;

use crate::policy::{refusals, wanted};

/// The refusals of a policy with these lines in `[names]`, the first of which is line 2.
fn refused(names: &str, asked: &[&str]) -> Vec<String> {
    let text = format!(
        "[names]\n{names}\n[keys]\nalgorithms = [\"ML-DSA-44\"]\n[usages]\nprofiles = \
         [\"server\"]\n"
    );
    refusals(&text, &names_of(asked))
}

fn names_of(asked: &[&str]) -> Wanted {
    asked
        .iter()
        .fold(wanted(), |wanted, name| match name.parse() {
            Ok(address) => wanted.ip_address(address),
            Err(_) => wanted.dns_name(*name),
        })
}

/// The refusals for a client with names of any kind, which their form decides.
fn refused_of_any_kind(names: &str, asked: &[&str]) -> Vec<String> {
    let text = format!(
        "[names]\n{names}\n[keys]\nalgorithms = [\"ML-DSA-44\"]\n[usages]\nprofiles = \
         [\"client\"]\n"
    );
    let asked = asked.iter().fold(wanted(), |wanted, name| {
        wanted.alternative_name(name.parse().unwrap())
    });
    refusals(&text, &asked)
}

#[test]
fn email_addresses_and_uris_are_permitted_by_lists_of_their_own() {
    for (names, asked) in [
        ("email = ['a@example.org']", &["a@EXAMPLE.org"][..]),
        (
            "email = ['*@.example.org']",
            &["a@b.example.org", "c@example.org"],
        ),
        (
            "uri = ['spiffe://example.org/*']",
            &["spiffe://example.org/a/b"],
        ),
        (
            "uri = ['urn:a:b']\nemail = ['*@.']\nmax = 2",
            &["urn:a:b", "a@example.org"],
        ),
    ] {
        assert_eq!(refused_of_any_kind(names, asked), [""; 0], "{names}");
    }
    for (names, asked, line) in [
        (
            "email = ['*@example.org']",
            "a@b.example.org",
            "names.email permits \"*@example.org\", not \"a@b.example.org\"; ask for another address",
        ),
        (
            "email = ['a@example.org', 'b@example.org']",
            "A@example.org",
            "names.email permits \"a@example.org\", \"b@example.org\", not \"A@example.org\"; ask for \
             another address",
        ),
        (
            "uri = ['spiffe://example.org/a/*']",
            "spiffe://example.org/b",
            "names.uri permits \"spiffe://example.org/a/*\", not \"spiffe://example.org/b\"; ask for \
             another URI",
        ),
        (
            "uri = []",
            "https://example.org/",
            "names.uri permits no URI, so not \"https://example.org/\"; ask for another URI",
        ),
    ] {
        assert_eq!(
            refused_of_any_kind(names, &[asked]),
            [
                format!("policy.toml:2: {line}, or permit it there"),
                format!("  2 | {names}"),
            ]
        );
    }
    // A list for one kind permits nothing of another kind.
    assert_eq!(
        refused_of_any_kind("dns = ['.']", &["a@example.org", "urn:a:b"]),
        [
            "policy.toml: names.email is not set, and by default permits no e-mail address, so not \
             \"a@example.org\"; ask for another address, or permit it by email = [\"a@example.org\"] \
             below [names]",
            "policy.toml: names.uri is not set, and by default permits no URI, so not \"urn:a:b\"; ask \
             for another URI, or permit it by uri = [\"urn:a:b\"] below [names]",
        ]
    );
    for asked in ["@example.org", "a b@example.org"] {
        let refused = refused_of_any_kind("email = ['*@.']", &[asked]);
        assert!(
            refused[0].contains("is not an e-mail address"),
            "{refused:?}"
        );
    }
    for asked in ["https://", "https://a b/"] {
        let refused = refused_of_any_kind("uri = ['https://example.org/*']", &[asked]);
        assert!(refused[0].contains("is not a URI"), "{refused:?}");
    }
}

/// No client looks up a server by an e-mail address.
#[test]
fn servers_have_names_that_clients_look_for() {
    let lists = "email = ['*@.']\nuri = ['spiffe://example.org/*']";
    for (asked, is_refused) in [("a@example.org", true), ("spiffe://example.org/a", false)] {
        let text = format!(
            "[names]\n{lists}\n[keys]\nalgorithms = ['ML-DSA-44']\n[usages]\nprofiles = \
             ['server+client']\n"
        );
        let refused = refusals(&text, &wanted().alternative_name(asked.parse().unwrap()));
        assert_eq!(!refused.is_empty(), is_refused, "{refused:?}");
    }
}

#[test]
fn what_a_line_permits_is_permitted() {
    for (names, asked) in [
        ("dns = ['www.example.org']", &["www.example.org"][..]),
        ("dns = ['WWW.example.ORG']", &["www.EXAMPLE.org"]),
        (
            "dns = ['*.example.org']",
            &["www.example.org", "xn--bcher-kva.example.org"],
        ),
        (
            "dns = ['.example.org']",
            &["example.org", "a.b.example.org"],
        ),
        ("dns = ['.']", &["example.org", "a.b.example.net"]),
        (
            "dns = ['.']\nsingle-label = true",
            &["localhost", "example.org"],
        ),
        (
            "dns = ['*.example.org']\nwildcards = true",
            &["*.example.org", "a.example.org"],
        ),
        (
            "dns = ['.example.org']\nwildcards = true",
            &["*.example.org", "*.a.example.org"],
        ),
        (
            "dns = ['.']\ndns-excluded = ['.example.net']\nwildcards = true",
            &["*.example.org", "evil-example.net"],
        ),
        (
            "ip = ['10.0.0.0/8', '2001:db8::/32']",
            &["10.1.2.3", "2001:db8::1"],
        ),
        ("ip = ['0.0.0.0/0']", &["192.0.2.1"]),
        (
            "dns = ['.']\nip = ['::1']\nmax = 2",
            &["example.org", "::1"],
        ),
    ] {
        assert_eq!(refused(names, asked), [""; 0], "{names} {asked:?}");
    }
}

#[test]
fn what_no_line_permits_is_forbidden_by_the_list() {
    for (names, asked, line) in [
        (
            "dns = ['example.org']",
            "evil-example.org",
            "names.dns permits \"example.org\", not \"evil-example.org\"",
        ),
        (
            "dns = ['.example.org']",
            "evil-example.org",
            "names.dns permits \".example.org\", not \"evil-example.org\"",
        ),
        (
            "dns = ['*.example.org']",
            "example.org",
            "names.dns permits \"*.example.org\", not \"example.org\"",
        ),
        (
            "dns = ['*.example.org']",
            "a.b.example.org",
            "names.dns permits \"*.example.org\", not \"a.b.example.org\"",
        ),
        (
            "dns = ['a.org', '.b.org']",
            "a.org.c.org",
            "names.dns permits \"a.org\", \".b.org\", not \"a.org.c.org\"",
        ),
        (
            "dns = []",
            "a.org",
            "names.dns permits no DNS name, so not \"a.org\"",
        ),
    ] {
        assert_eq!(
            refused(names, &[asked]),
            [
                format!("policy.toml:2: {line}; ask for another name, or permit it there"),
                format!("  2 | {names}"),
            ]
        );
    }
    for (names, asked, line) in [
        (
            "ip = ['10.0.0.0/8', '192.0.2.7', '::/0']",
            "192.0.2.8",
            "names.ip permits \"10.0.0.0/8\", \"192.0.2.7\", \"::/0\", not \"192.0.2.8\"",
        ),
        (
            "ip = ['0.0.0.0/0']",
            "::1",
            "names.ip permits \"0.0.0.0/0\", not \"::1\"",
        ),
        (
            "ip = []",
            "::1",
            "names.ip permits no address, so not \"::1\"",
        ),
    ] {
        assert_eq!(
            refused(names, &[asked]),
            [
                format!("policy.toml:2: {line}; ask for another address, or permit it there"),
                format!("  2 | {names}"),
            ]
        );
    }
}

/// A wildcard covers more than one name.
#[test]
fn wildcards_are_permitted_with_all_that_they_stand_for() {
    const WILDCARDS: &str = "\nwildcards = true";
    for (dns, asked) in [
        ("dns = ['www.example.org']", "*.example.org"),
        ("dns = ['*.example.org']", "*.www.example.org"),
        ("dns = ['.www.example.org']", "*.example.org"),
    ] {
        let refused = refused(&(dns.to_owned() + WILDCARDS), &[asked]);
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(
            refused[0].starts_with("policy.toml:2: names.dns permits "),
            "{refused:?}"
        );
    }
    assert_eq!(
        refused(
            "dns = ['.example.org']\n\n wildcards = false # none",
            &["*.example.org"]
        ),
        [
            "policy.toml:4: names.wildcards permits no wildcards, so not \"*.example.org\"; ask \
             for the names that it is to stand for, or permit it there",
            "  4 | wildcards = false # none",
        ]
    );
    assert_eq!(
        refused("dns = ['.']\nwildcards = true", &["*.org"]),
        [
            "\"*.org\" has a single label after the \"*\", and clients refuse such wildcards; ask \
             for the names that it is to stand for"
        ]
    );
}

#[test]
fn what_is_excluded_is_forbidden_by_the_line_that_excludes_it() {
    let names = "dns = ['.example.org']\nwildcards = true\ndns-excluded = [\n 'a.example.org',\n \
                 '.b.example.org',\n]";
    for (asked, line, text, excluded) in [
        ("A.example.org", 5, "'a.example.org',", "a.example.org"),
        ("*.example.org", 5, "'a.example.org',", "a.example.org"),
        ("*.example.org", 6, "'.b.example.org',", ".b.example.org"),
        ("x.b.example.org", 6, "'.b.example.org',", ".b.example.org"),
        ("*.b.example.org", 6, "'.b.example.org',", ".b.example.org"),
    ] {
        let refused = refused(names, &[asked]);
        let expected = format!(
            "policy.toml:{line}: names.dns-excluded excludes \"{excluded}\", and so {asked:?}; ask \
             for another name, or permit it there"
        );
        let at = refused.iter().position(|line| *line == expected);
        let at = at.unwrap_or_else(|| panic!("{expected}\n{refused:#?}"));
        assert_eq!(refused[at + 1], format!("  {line} | {text}"));
    }
    for asked in [
        "example.org",
        "xa.example.org",
        "x.a.example.org",
        "*.a.example.org",
    ] {
        assert_eq!(refused(names, &[asked]), [""; 0], "{asked}");
    }
}

#[test]
fn single_labels_need_a_line_of_their_own() {
    for asked in ["localhost", "LOCALHOST", "printer"] {
        assert_eq!(
            refused("dns = ['.']\nsingle-label = false", &[asked]),
            [
                format!(
                    "policy.toml:3: names.single-label permits no name of a single label, so not \
                     {asked:?}; ask for the full name, or permit it there"
                ),
                "  3 | single-label = false".into(),
            ]
        );
    }
}

#[test]
fn what_is_absent_is_said_to_be_and_what_to_write() {
    for (names, asked, line) in [
        (
            "",
            "a.org",
            "names.dns is not set, and by default permits no DNS name, so not \"a.org\"; ask for \
             another name, or permit it by dns = [\"a.org\"] below [names]",
        ),
        (
            "",
            "10.0.0.1",
            "names.ip is not set, and by default permits no address, so not \"10.0.0.1\"; ask for \
             another address, or permit it by ip = [\"10.0.0.1\"] below [names]",
        ),
        (
            "dns = ['.']",
            "*.a.org",
            "names.wildcards is not set, and by default permits no wildcards, so not \"*.a.org\"; \
             ask for the names that it is to stand for, or permit it by wildcards = true below \
             [names]",
        ),
        (
            "dns = ['.']",
            "localhost",
            "names.single-label is not set, and by default permits no name of a single label, so \
             not \"localhost\"; ask for the full name, or permit it by single-label = true below \
             [names]",
        ),
    ] {
        assert_eq!(refused(names, &[asked]), [format!("policy.toml: {line}")]);
    }
}

#[test]
fn what_is_no_name_is_forbidden_whatever_the_file_says() {
    let names = "dns = ['.']\nip = ['::/0', '0.0.0.0/0']\nwildcards = true\nsingle-label = true";
    for asked in [
        "",
        ".",
        "example.org.",
        "a..b",
        "*",
        "*.*.org",
        "a.*.org",
        "bücher.example",
        "a\nb",
        "1.2.3",
    ] {
        assert_eq!(
            refused(names, &[asked]),
            [format!(
                "{asked:?} is not a DNS name: ask for labels of letters, digits, underscores and \
                 inner hyphens, with no final dot and at most a leading \"*.\", and for names in \
                 other scripts as \"xn--...\""
            )]
        );
    }
    assert_eq!(
        refused(names, &["::ffff:10.0.0.1"]),
        ["::ffff:10.0.0.1 is an IPv4 address written as an IPv6 address; ask for 10.0.0.1"]
    );
}

#[test]
fn long_names_and_lists_are_cut_off() {
    let refused = refused(
        "dns = ['a0.org', 'a1.org', 'a2.org', 'a3.org', 'a4.org', 'a5.org', 'a6.org', 'a7.org', \
         'a8.org', 'a9.org']",
        &["b.org", &"é".repeat(1000)],
    );
    assert!(
        refused[0].contains("\"a7.org\", 2 more, not \"b.org\""),
        "{refused:?}"
    );
    let cut = format!("\"{}\"... is not a DNS name", "é".repeat(256));
    assert!(refused[2].starts_with(&cut), "{refused:?}");
}

#[test]
fn the_number_of_names_is_limited() {
    let names = "dns = ['.']\nip = ['::/0']\nmax = 2";
    assert_eq!(
        refused(names, &["a.org", "b.org", "::1"]),
        [
            "policy.toml:4: names.max permits 2 names and addresses, not 3; ask for several \
             certificates, or permit it there",
            "  4 | max = 2",
        ]
    );
    // Then names are not checked, or there might be any number of lines.
    assert_eq!(refused(names, &["a..b", "localhost", "*.org"]).len(), 2);
    let many = ["a.org"; 101];
    assert_eq!(refused("dns = ['.']", &many[1..]), [""; 0]);
    assert_eq!(
        refused("dns = ['.']", &many),
        [
            "policy.toml: names.max is not set, and by default permits 100 names and addresses, \
             not 101; ask for several certificates, or permit it by max = 101 below [names]"
        ]
    );
}

#[test]
fn everything_that_is_forbidden_is_said_at_once() {
    let text = "[names]\ndns = [\n  'a.org',\n]\n\n[keys]\nalgorithms = ['RSA']\n[validity]\nmax = \
                '1h'\ndefault = '1h'\n[usages]\nprofiles = ['client']\n";
    let wanted = names_of(&["b.org", "c.org.", "10.0.0.1"])
        .common_name("b b")
        .validity(core::time::Duration::from_secs(7200))
        .profile(pq_ca::policy::Profile::Server);
    assert_eq!(
        refusals(text, &wanted),
        [
            "policy.toml:2: names.dns permits \"a.org\", not \"b.org\"; ask for another name, or \
             permit it there",
            "  2 | dns = [",
            "\"c.org.\" is not a DNS name: ask for labels of letters, digits, underscores and \
             inner hyphens, with no final dot and at most a leading \"*.\", and for names in other \
             scripts as \"xn--...\"",
            "policy.toml: names.ip is not set, and by default permits no address, so not \
             \"10.0.0.1\"; ask for another address, or permit it by ip = [\"10.0.0.1\"] below \
             [names]",
            "policy.toml: subject.common-name is not set, and by default permits nothing, so not \
             \"b b\"; ask for a subject without it, or permit it by common-name = [\"b b\"] below \
             [subject]",
            "policy.toml:7: keys.algorithms permits \"RSA\", not \"ML-DSA-44\"; make a key of \
             another algorithm, or permit it there",
            "  7 | algorithms = ['RSA']",
            "policy.toml:9: validity.max permits 1h at most, not 2h; ask for less, or permit it \
             there",
            "  9 | max = '1h'",
            "policy.toml:12: usages.profiles permits \"client\", not \"server\"; ask for another \
             profile, or permit it there",
            "  12 | profiles = ['client']",
        ]
    );
}
