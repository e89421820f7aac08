//! The policy that new CAs get: what its comments say is true, its commented-out settings are the defaults, and its
//! lines are short.

use core::time::Duration;

use pq_ca::policy::{ListUrl, Policy, Profile, Reason, Wanted};

use crate::policy::{DAY, at, check, policy, rsa, wanted};

const KEPT: &str =
    "[keys]\nalgorithms = ['ML-DSA-44', 'RSA']\n[usages]\nprofiles = ['server', 'client']\n";

/// The lines that are commented out in the file, each with its table and with another value.
const COMMENTED: [(&str, &str, &str); 17] = [
    ("names", "dns-excluded = []", "dns-excluded = ['a.org']"),
    ("names", "wildcards = false", "wildcards = true"),
    ("names", "single-label = false", "single-label = true"),
    ("names", "email = []", "email = ['*@.']"),
    ("names", "uri = []", "uri = ['https://a.org/*']"),
    ("names", "max = 100", "max = 99"),
    ("subject", "organization = []", "organization = ['*']"),
    ("subject", "unit = []", "unit = ['*']"),
    ("subject", "locality = []", "locality = ['*']"),
    ("subject", "state = []", "state = ['*']"),
    ("subject", "country = []", "country = ['*']"),
    ("keys", "rsa-min-bits = 3072", "rsa-min-bits = 3073"),
    ("validity", "default = \"90d\"", "default = \"89d\""),
    ("validity", "max = \"90d\"", "max = \"91d\""),
    ("revocation-lists", "validity = \"7d\"", "validity = \"8d\""),
    ("ocsp", "validity = \"1d\"", "validity = \"2d\""),
    ("ocsp", "urls = []", "urls = ['http://a']"),
];

#[test]
fn what_is_commented_out_holds() {
    let text = Policy::default_text(&[], &[], &[]);
    let mut table = "";
    let mut commented = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']');
        } else if let Some(setting) = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '))
            && !setting.is_empty()
        {
            commented.push((table, setting));
        }
    }
    let expected = COMMENTED.map(|(table, setting, _)| (table, setting));
    assert_eq!(commented, expected);

    let without = behaviour("names", "");
    for (table, setting, other) in COMMENTED {
        assert_eq!(behaviour(table, setting), without, "{setting}");
        assert_ne!(behaviour(table, other), without, "{other}");
    }
}

/// What a policy with a further setting permits for certificates that depend on one setting each.
fn behaviour(table: &str, setting: &str) -> Behaviour {
    let names = "[names]\ndns = ['.']\nip = ['::/0']\n";
    let text = format!("{names}{KEPT}")
        .replace(&format!("[{table}]\n"), &format!("[{table}]\n{setting}\n"));
    let text = match text.contains(setting) {
        true => text,
        false => format!("{text}[{table}]\n{setting}\n"),
    };
    let policy = policy(&text);
    let server = || wanted().dns_name("a.org");
    let client = |name: &str| {
        wanted()
            .profile(Profile::Client)
            .subject(name.parse().unwrap())
    };
    let many = |number| (0..number).fold(wanted(), |wanted, _| wanted.dns_name("b.org"));
    let rsa = |bits| Wanted::new(&rsa(bits)).unwrap().dns_name("b.org");
    let for_days = |days| server().validity(Duration::from_secs(days * DAY));
    let asked = [
        server(),
        wanted().dns_name("*.example.org"),
        wanted().dns_name("localhost"),
        many(99),
        many(100),
        many(101),
        client("O=a"),
        client("OU=a"),
        client("L=a"),
        client("ST=a"),
        client("C=SE"),
        rsa(3071),
        rsa(3072),
        server().email_address("a@b.org"),
        server().uri("https://a.org/b"),
        for_days(90),
        for_days(91),
    ];
    let answers = asked.iter().map(|wanted| match check(&policy, wanted) {
        Ok(permitted) => {
            let start = permitted.not_before().as_secs();
            Ok(Duration::from_secs(permitted.not_after().as_secs() - start))
        }
        // Without the places in the file, which differ.
        Err(forbidden) => Err(forbidden
            .refusals()
            .iter()
            .map(|refusal| format!("{:?}", refusal.reason()))
            .collect()),
    });
    Behaviour {
        answers: answers.collect(),
        validities: [policy.revocation_list_validity(), policy.ocsp_validity()],
        ocsp_urls: policy.ocsp_urls().to_vec(),
    }
}

#[derive(Debug, PartialEq)]
struct Behaviour {
    answers: Vec<Result<Duration, Vec<String>>>,
    validities: [Duration; 2],
    ocsp_urls: Vec<ListUrl>,
}

#[test]
fn the_default_permits_servers_and_clients_of_the_names_given() {
    let text = Policy::default_text(
        &[
            ".example.org".parse().unwrap(),
            "*.Example.NET".parse().unwrap(),
        ],
        &["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()],
        &["http://ca.example.org/a.crl".parse().unwrap()],
    );
    assert!(
        text.contains("\ndns = [\".example.org\", \"*.example.net\"]\n"),
        "{text}"
    );
    assert!(
        text.contains("\nip = [\"10.0.0.0/8\", \"::1\"]\n"),
        "{text}"
    );
    assert!(
        text.contains("\nurls = [\"http://ca.example.org/a.crl\"]\n"),
        "{text}"
    );
    let policy = policy(&text);
    let permitted = check(
        &policy,
        &wanted()
            .dns_name("example.org")
            .dns_name("a.example.net")
            .ip_address("10.0.0.1".parse().unwrap())
            .ip_address("::1".parse().unwrap()),
    )
    .unwrap();
    assert_eq!(permitted.profile(), Profile::Server);
    assert_eq!(permitted.not_after(), at(crate::policy::NOW + 90 * DAY));
    let client = wanted().common_name("Alice Smith").profile(Profile::Client);
    assert!(check(&policy, &client).is_ok());
    let forbidden = check(&policy, &wanted().dns_name("example.com")).unwrap_err();
    assert!(matches!(
        forbidden.refusals()[0].reason(),
        Reason::DnsName { .. }
    ));
}

/// The algorithms in the comments were written by hand.
#[test]
fn the_comments_name_the_algorithms() {
    let text = Policy::default_text(&[], &[], &[]);
    for algorithm in pq_ca::policy::KeyAlgorithm::all() {
        let name = algorithm.to_string();
        let name = name
            .replace("192", "128")
            .replace("256s", "128s")
            .replace("256f", "128f");
        assert!(text.contains(&name), "{algorithm}");
    }
}

#[test]
fn lines_are_short_enough_to_read() {
    for line in Policy::default_text(&[], &[], &[]).lines() {
        assert!(line.len() <= 100, "{line}");
    }
}
