//! The table `[est]`: what devices may get by EST, within what the other tables permit.

use pq_ca::policy::{Policy, Profile, Wanted};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};

use crate::policy::policy;

/// A policy for names below example.org and addresses of 192.0.2.0/24, with this after its other tables.
fn text(est: &str) -> String {
    format!(
        "[names]\ndns = ['.example.org']\nip = ['192.0.2.0/24']\n[usages]\nprofiles = ['server', 'client', 'any', \
         'server+client', 'ocsp-responder']\n\n{est}"
    )
}

fn wanted(names: &[&str], common_name: &str) -> Wanted {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let wanted = Wanted::new(&key).unwrap();
    let wanted = names
        .iter()
        .fold(wanted, |wanted, text| match text.parse() {
            Ok(address) => wanted.ip_address(address),
            Err(_) => wanted.dns_name(*text),
        });
    match common_name {
        "" => wanted,
        name => wanted.common_name(name),
    }
}

fn refused(policy: &Policy, wanted: &Wanted, user: Option<&str>) -> String {
    policy.check_est(wanted, user).unwrap_err().to_string()
}

#[test]
fn without_the_table_there_is_nothing() {
    let policy = policy(&text(""));
    assert!(policy.est().is_none());
    assert_eq!(
        refused(&policy, &wanted(&["a.example.org"], ""), Some("a")),
        "the CA's policy has no table [est], without which nobody gets a certificate by EST"
    );
}

#[test]
fn an_empty_table_permits_what_the_others_do() {
    let policy = policy(&text("[est]"));
    let est = policy.est().unwrap();
    // What a device can show to get the next one comes first.
    let usual = [Profile::Client, Profile::ServerAndClient, Profile::Server];
    assert_eq!(est.profiles(), usual);
    assert!(!est.channel_binding_required());
    let asked = wanted(&["a.example.org", "192.0.2.7"], "a");
    assert_eq!(policy.check_est(&asked, None), Ok(Profile::Client));
    assert_eq!(policy.check_est(&asked, Some("a")), Ok(Profile::Client));
    for profile in usual {
        let asked = asked.clone().profile(profile);
        assert_eq!(policy.check_est(&asked, None), Ok(profile));
    }
    for profile in [Profile::Any, Profile::OcspResponder] {
        let refused = refused(&policy, &asked.clone().profile(profile), None);
        assert!(refused.contains("est.profiles is not set"), "{refused}");
    }
}

#[test]
fn its_lists_permit_less() {
    let policy = policy(&text(
        "[est]\ndns = ['.iot.example.org']\nip = []\nprofiles = ['server', 'any']\nchannel-binding-required = true",
    ));
    let est = policy.est().unwrap();
    assert_eq!(est.profiles(), [Profile::Server, Profile::Any]);
    assert!(est.channel_binding_required());
    let asked = wanted(&["a.iot.example.org"], "");
    assert_eq!(policy.check_est(&asked, None), Ok(Profile::Server));
    for (name, expected) in [
        (
            "a.example.org",
            "est.dns permits \".iot.example.org\", not \"a.example.org\"",
        ),
        (
            "192.0.2.7",
            "est.ip permits no address, so not \"192.0.2.7\"",
        ),
    ] {
        let refused = refused(&policy, &wanted(&[name], ""), None);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn users_have_their_own_names() {
    let policy = policy(&text(
        "[est]\n[est.users.seven]\ndns = ['seven.example.org']\nip = ['192.0.2.7']\ncommon-name = ['device 7']\n\
         [est.users.none]",
    ));
    let user = Some("seven");
    for (names, common_name) in [
        (&["seven.example.org", "192.0.2.7"][..], "device 7"),
        (&["seven.example.org"], "seven.example.org"),
        (&[], "device 7"),
    ] {
        let asked = wanted(names, common_name);
        assert_eq!(policy.check_est(&asked, user), Ok(Profile::Client));
        // Who has the certificate has its names.
        assert_eq!(policy.check_est(&asked, None), Ok(Profile::Client));
        let of_none = refused(&policy, &asked, Some("none"));
        assert!(
            of_none.contains("permits user \"none\" other names"),
            "{of_none}"
        );
        let of_stranger = refused(&policy, &asked, Some("eight"));
        assert!(
            of_stranger.contains("no names for user \"eight\""),
            "{of_stranger}"
        );
    }
    for (names, common_name, what) in [
        (&["eight.example.org"][..], "", "eight.example.org"),
        (&["192.0.2.8"], "", "192.0.2.8"),
        (&["seven.example.org"], "device 8", "device 8"),
    ] {
        let refused = refused(&policy, &wanted(names, common_name), user);
        assert!(refused.contains(what), "{refused}");
    }
    let mail = wanted(&["seven.example.org"], "").email_address("a@example.org");
    assert!(policy.check_est(&mail, user).is_err());
}

#[test]
fn no_setting_hands_out_what_stands_for_the_ca() {
    for (est, expected) in [
        ("[est]\nprofiles = ['ocsp-responder']", "est.profiles has"),
        ("[est]\nnames = []", "unknown key"),
        ("[est.users.a]\nnames = []", "unknown key"),
        ("[est]\nusers = ['a']", "expected a map"),
    ] {
        let error = Policy::parse(&text(est), "policy.toml").unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
