//! The table `[acme]`: what clients may get by ACME, within what the other tables permit.

use pq_ca::policy::{AcmeChallenge, Policy, Profile};
use pq_x509::certificate::AlternativeName;

use crate::policy::policy;

/// A policy for names below example.org and addresses of 192.0.2.0/24, with this after its other tables. Line 7 is the first
/// of it.
fn text(acme: &str) -> String {
    format!(
        "[names]\ndns = ['.example.org']\nip = ['192.0.2.0/24']\n[usages]\nprofiles = ['client', 'server', 'any', \
         'ocsp-responder']\n\n{acme}"
    )
}

fn names(all: &[&str]) -> Vec<AlternativeName> {
    let name = |text: &&str| match text.parse() {
        Ok(address) => AlternativeName::Ip(address),
        Err(_) => AlternativeName::Dns((*text).into()),
    };
    all.iter().map(name).collect()
}

fn refused(policy: &Policy, asked: &[&str], profile: Option<Profile>) -> String {
    let refused = policy.check_acme_order(&names(asked), profile);
    refused.unwrap_err().to_string()
}

#[test]
fn without_the_table_there_is_nothing() {
    let policy = policy(&text(""));
    assert!(policy.acme().is_none());
    assert_eq!(
        refused(&policy, &["www.example.org"], None),
        "the CA's policy has no table [acme], without which nobody gets a certificate by ACME"
    );
}

#[test]
fn limits_are_those_of_the_file_or_usual_ones() {
    let usual = policy(&text("[acme]")).acme().unwrap().limits();
    assert_eq!(usual.pending_orders, 100);
    assert_eq!(usual.orders_per_domain, None);
    let own = "[acme.limits]\naccounts-per-address = '3 per 15min'\norders-per-names = 'unlimited'\npending-orders = 7";
    let own = policy(&text(own)).acme().unwrap().limits();
    let accounts = own.accounts_per_address.unwrap();
    assert_eq!((accounts.most, accounts.window.as_secs()), (3, 900));
    assert_eq!((own.orders_per_names, own.pending_orders), (None, 7));
    assert_eq!(own.orders_per_address, usual.orders_per_address);
    for (wrong, told) in [
        ("orders-per-domain = '5'", "is not a rate"),
        ("orders-per-domain = 5", "a string"),
        ("pending-orders = 0", "from 1 to 10000"),
        ("orders = '5 per 1h'", "unknown key"),
    ] {
        let refused = Policy::parse(&text(&format!("[acme.limits]\n{wrong}")), "policy.toml");
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains(told) && refused.contains("policy.toml:8"),
            "{refused}"
        );
    }
}

#[test]
fn an_empty_table_permits_what_the_others_do() {
    let policy = policy(&text("[acme]"));
    let acme = policy.acme().unwrap();
    // Neither one without a purpose, nor one that stands for the CA.
    assert_eq!(acme.profiles(), [Profile::Client, Profile::Server]);
    assert_eq!(acme.challenges(), AcmeChallenge::ALL);
    assert!(!acme.external_account_required());
    assert!(acme.terms_of_service().is_none() && acme.website().is_none());
    let asked = names(&["www.example.org", "192.0.2.7"]);
    for (profile, expected) in [
        (None, Profile::Client),
        (Some(Profile::Client), Profile::Client),
        (Some(Profile::Server), Profile::Server),
    ] {
        assert_eq!(policy.check_acme_order(&asked, profile), Ok(expected));
    }
    for profile in [Profile::Any, Profile::OcspResponder] {
        assert_eq!(
            refused(&policy, &["www.example.org"], Some(profile)),
            format!(
                "policy.toml: acme.profiles is not set, and by default permits \"client\", \"server\", not \"{profile}\"; ask for \
                 another profile, or permit it by profiles = [\"{profile}\"], if usages.profiles has it, too, below [acme]"
            )
        );
    }
    assert!(
        refused(&policy, &["www.example.com"], None).starts_with(
            "policy.toml:2: names.dns permits \".example.org\", not \"www.example.com\""
        )
    );
    assert!(
        refused(&policy, &["198.51.100.1"], None).starts_with("policy.toml:3: names.ip permits")
    );
}

#[test]
fn its_lists_permit_less() {
    let policy = policy(&text(
        "[acme]\ndns = ['*.web.example.org']\nip = []\nprofiles = ['server', 'any']\nchallenges = ['dns-01']\n\
         external-account-required = true\nterms-of-service = 'https://ca.example.org/terms'\nwebsite = 'http://ca.example.org'",
    ));
    let acme = policy.acme().unwrap();
    assert_eq!(acme.profiles(), [Profile::Server, Profile::Any]);
    assert_eq!(acme.challenges(), [AcmeChallenge::Dns01]);
    assert!(acme.external_account_required());
    let terms = acme.terms_of_service().map(|url| url.as_str());
    assert_eq!(terms, Some("https://ca.example.org/terms"));
    let website = acme.website().map(|url| url.as_str());
    assert_eq!(website, Some("http://ca.example.org"));
    let ordered = policy.check_acme_order(&names(&["a.web.example.org"]), None);
    assert_eq!(ordered, Ok(Profile::Server));
    for (asked, expected) in [
        (
            "www.example.org",
            "policy.toml:8: acme.dns permits \"*.web.example.org\", not \"www.example.org\"; ask for another name",
        ),
        (
            "192.0.2.7",
            "policy.toml:9: acme.ip permits no address, so not \"192.0.2.7\"; ask for another address",
        ),
    ] {
        let refused = refused(&policy, &["a.web.example.org", asked], None);
        assert!(refused.starts_with(expected), "{refused}");
    }
    assert!(
        refused(&policy, &["a.web.example.org"], Some(Profile::Client)).starts_with(
            "policy.toml:10: acme.profiles permits \"server\", \"any\", not \"client\""
        )
    );
}

/// Who asks over the network can't change the policy, and is told nothing of its file.
#[test]
fn applicants_are_told_what_to_ask_for() {
    let policy = policy(&text("[acme]\ndns = ['.web.example.org']"));
    let refused = policy.check_acme_order(&names(&["a.example.com"]), None);
    assert_eq!(
        refused.unwrap_err().for_applicants(),
        "by the CA's policy, names.dns permits \".example.org\", not \"a.example.com\"; ask for another name\n\
         by the CA's policy, acme.dns permits \".web.example.org\", not \"a.example.com\"; ask for another name"
    );
}

/// What `[acme]` permits and `[usages]` doesn't, is not permitted.
#[test]
fn it_permits_no_more_than_the_others() {
    let policy = policy(&text(
        "[acme]\ndns = ['.']\nip = ['0.0.0.0/0']\nprofiles = ['server+client']",
    ));
    assert!(policy.acme().unwrap().profiles().is_empty());
    assert!(
        refused(&policy, &["www.example.org"], None).contains("acme.profiles permits no profile")
    );
    let refused = refused(&policy, &["www.example.com", "10.0.0.1"], None);
    assert!(
        refused.contains("names.dns") && refused.contains("names.ip"),
        "{refused}"
    );
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (acme, expected) in [
        (
            "[acme]\nprofiles = ['ocsp-responder']",
            "policy.toml:8:12: acme.profiles has \"ocsp-responder\"",
        ),
        (
            "[acme]\nchallenges = ['dns-02']",
            "\"dns-02\" is not a challenge of ACME",
        ),
        (
            "[acme]\nterms-of-service = 'ca.example.org'",
            "is not the URL of a page",
        ),
        (
            "[acme]\nwebsite = 'https://a\"b'",
            "is not the URL of a page",
        ),
        ("[acme]\nnames = []", "unknown key `names`"),
        ("acme = []", "a table"),
    ] {
        // Keys of no table come first.
        let text = match acme.starts_with('[') {
            true => text(acme),
            false => format!("{acme}\n{}", text("")),
        };
        let error = Policy::parse(&text, "policy.toml").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
