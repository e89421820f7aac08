//! What is wrong in a policy file is said with its place and with what to write instead. Also other ways to write the
//! same file.

use pq_ca::policy::Policy;

fn error(text: &str) -> String {
    Policy::parse(text, "policy.toml").unwrap_err().to_string()
}

const PATTERNS: &str = "write \"example.org\" for this name, \"*.example.org\" for names with one \
                        more label, \".example.org\" for this name and all below it, or \".\" for \
                        all names; write no final dot, and names in other scripts as \"xn--...\"";
const DURATIONS: &str = "write a whole number above zero and \"s\", \"min\", \"h\", \"d\", \"w\" \
                         or \"y\" (365 days), such as \"90d\"";

#[test]
fn errors_say_where_and_what_to_write() {
    for (text, expected) in [
        // tables and keys
        (
            "[name]\ndns = []",
            "1:2: unknown key `name`, expected one of `names`, `subject`, `keys`, `validity`, \
             `usages`, `revocation-lists`, `ocsp`, `acme`, `est`",
        ),
        (
            "[names]\n\n  dsn = []",
            "3:3: unknown key `dsn`, expected one of `dns`, `dns-excluded`, `wildcards`, \
             `single-label`, `ip`, `email`, `uri`, `max`",
        ),
        (
            "[names]\nmax = 3\n[validity]\nmaximum = '1d'",
            "4:1: unknown key `maximum`, expected `default` or `max`",
        ),
        (
            "names = 3",
            "1:9: invalid type: integer `3`, expected a table",
        ),
        ("[[names]]", "1:1: invalid type: sequence, expected a table"),
        (
            "names = [['a.org']]",
            "1:9: invalid type: sequence, expected a table",
        ),
        // lists of strings
        (
            "[names]\ndns = 'a.org'",
            "2:7: invalid type: string \"a.org\", expected a list of strings in brackets",
        ),
        (
            "[names]\ndns = [3]",
            "2:8: invalid type: integer `3`, expected a string",
        ),
        (
            "[names]\ndns = ['a.org', { a = 1 }]",
            "2:17: invalid type: map, expected a string",
        ),
        // switches
        (
            "[names]\nwildcards = 'yes'",
            "2:13: invalid type: string \"yes\", expected a boolean",
        ),
        (
            "[names]\nwildcards = yes",
            "2:13: string values must be quoted, expected literal string",
        ),
        // numbers
        (
            "[names]\nmax = 0",
            "2:7: invalid value: integer `0`, expected a whole number from 1 to 10000",
        ),
        (
            "[names]\nmax = -1",
            "2:7: invalid value: integer `-1`, expected a whole number from 1 to 10000",
        ),
        (
            "[names]\nmax = 4294967297",
            "2:7: invalid value: integer `4294967297`, expected a whole number from 1 to 10000",
        ),
        (
            "[names]\nmax = 1.5",
            "2:7: invalid type: floating point `1.5`, expected a whole number from 1 to 10000",
        ),
        (
            "[names]\nmax = '3'",
            "2:7: invalid type: string \"3\", expected a whole number from 1 to 10000",
        ),
        (
            "[keys]\nrsa-min-bits = 1024",
            "2:16: invalid value: integer `1024`, expected a whole number from 2048 to 16384",
        ),
        // strings of each kind
        (
            "[names]\ndns = [\n  'a.org',\n  'b.org.',\n]",
            &format!("4:3: \"b.org.\" is not a set of DNS names: {PATTERNS}"),
        ),
        (
            "[names]\ndns-excluded = [\n  'a.org',\n  'ä.org',\n]",
            &format!("4:3: \"ä.org\" is not a set of DNS names: {PATTERNS}"),
        ),
        (
            "[names]\nip = ['10.0.0.1/8']",
            "2:7: \"10.0.0.1/8\" has bits after its prefix; write \"10.0.0.0/8\" for the whole \
             network",
        ),
        (
            "[names]\nip = ['a.org']",
            "2:7: \"a.org\" is not a network: write \"10.0.0.0/8\", \"2001:db8::/32\" or a single \
             address; names belong in names.dns",
        ),
        (
            "[subject]\ncommon-name = ['a**']",
            "2:16: \"a**\" is not a text for a subject's name: write the exact text, or use one \"*\" \
             for any characters, such as \"printer *\", and no control characters",
        ),
        (
            "[keys]\nalgorithms = ['ML-DSA-44', 'MLDSA65']",
            "2:28: \"MLDSA65\" is not a key algorithm; write \"ML-DSA-65\"",
        ),
        (
            "[validity]\n  max = '90x'",
            &format!("2:9: \"90x\" is not a duration: {DURATIONS}"),
        ),
        (
            "[validity]\nmax = 90",
            "2:7: invalid type: integer `90`, expected a string",
        ),
        (
            "[revocation-lists]\nvalidity = ''",
            &format!("2:12: \"\" is not a duration: {DURATIONS}"),
        ),
        (
            "[usages]\nprofiles = ['sever']",
            "2:13: \"sever\" is not a profile; write \"server\", \"client\", \"server+client\", \
             \"any\" or \"ocsp-responder\"",
        ),
        (
            "[revocation-lists]\nurls = ['https://a']",
            "2:9: \"https://a\" is not the URL of a revocation list or an OCSP responder: write one such as \
             \"http://ca.example.org/issuing.crl\"; lists and answers are signed, so they need no https",
        ),
        // values that contradict each other
        (
            "[validity]\nmax = '1d'\ndefault = '2d'",
            "3:11: validity.default is 2d, but validity.max is only 1d; write a shorter default, or \
             max = \"2d\" below [validity]",
        ),
        (
            "[validity]\ndefault = '1y'",
            "2:11: validity.default is 1y, but validity.max is only 90d; write a shorter default, \
             or max = \"1y\" below [validity]",
        ),
        // invalid TOML
        ("[names]\ndns = []\ndns = []", "3:1: duplicate key"),
        ("[names]\n[names]", "2:2: duplicate key"),
        ("[names", "1:7: unclosed table, expected `]`"),
        (
            "ä = 1",
            "1:1: invalid unquoted key, expected letters, numbers, `-`, `_`",
        ),
        ("dns", "1:4: key with no value, expected `=`"),
    ] {
        assert_eq!(error(text), format!("policy.toml:{expected}"));
    }
}

#[test]
fn errors_can_be_taken_apart() {
    let error = Policy::parse("[names]\n  dns = 3", "a.toml").unwrap_err();
    assert_eq!(error.file_name(), "a.toml");
    assert_eq!((error.line(), error.column()), (2, 9));
    assert_eq!(
        error.problem(),
        "invalid type: integer `3`, expected a list of strings in brackets"
    );
}

#[test]
fn an_empty_policy_permits_nothing() {
    assert!(Policy::parse("", "policy.toml").is_ok());
}

/// Lines may end as on Windows, and settings may be dotted keys or in inline tables.
#[test]
fn the_same_may_be_written_in_other_ways() {
    for text in [
        "\u{feff}[names]\r\ndns = [\"a.org\"]\r\n",
        "names.dns = [\"a.org\"]",
        "names = { dns = ['''a.org'''] }",
    ] {
        let policy = Policy::parse(text, "policy.toml").unwrap();
        let refusals =
            crate::policy::check(&policy, &crate::policy::wanted().dns_name("b.org")).unwrap_err();
        let expected = if text.contains('\r') { 2 } else { 1 };
        assert_eq!(refusals.refusals()[0].line(), Some(expected));
        assert_eq!(refusals.refusals()[0].key(), Some("names.dns"));
    }
}
