//! Properties of patterns for names, of networks and of the default policy, tried with random texts.

use pq_ca::policy::{NamePattern, Network, Policy};
use proptest::prelude::*;

use crate::policy::{policy, refusals, wanted};

/// Names of few letters, so that some of them are similar.
fn names() -> impl Strategy<Value = String> {
    proptest::string::string_regex("([ab*-]{0,2}[.]){0,3}[aAbB.-]{0,2}").unwrap()
}

fn permits(dns: &str, name: &str) -> bool {
    let text = format!(
        "[names]\n{dns}\nwildcards = true\nsingle-label = true\n[keys]\nalgorithms = \
         ['ML-DSA-44']\n[usages]\nprofiles = ['server']"
    );
    refusals(&text, &wanted().dns_name(name)).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A name that `.a.b` permits ends with it, at the beginning of a label.
    #[test]
    fn what_is_below_a_name_ends_with_its_labels(name in names()) {
        let lower = name.to_ascii_lowercase();
        if permits("dns = ['.a.b']", &name) {
            prop_assert!(lower == "a.b" || lower.ends_with(".a.b"), "{name}");
        }
        if permits("dns = ['*.a.b']", &name) {
            let labels: Vec<_> = lower.split('.').collect();
            prop_assert!(matches!(labels[..], [_, "a", "b"]), "{name}");
        }
        if permits("dns = ['a.b']", &name) {
            prop_assert_eq!(lower, "a.b");
        }
    }

    /// An excluded name is also excluded for each wildcard that covers it.
    #[test]
    fn a_wildcard_is_not_permitted_with_an_excluded_name(
        label in "[a-z]{1,3}",
        rest in "[ab]([.][ab]){1,2}",
    ) {
        let excluded = format!("dns = ['.']\ndns-excluded = ['{label}.{rest}']");
        let name = format!("{label}.{rest}");
        let wildcard = format!("*.{rest}");
        prop_assert!(!permits(&excluded, &name));
        prop_assert!(!permits(&excluded, &wildcard));
        prop_assert!(permits("dns = ['.']", &wildcard));
    }

    #[test]
    fn no_text_is_read_with_a_panic(
        text in "([\\[a-z\\]\"'=.#\n0-9-]|names|dns|ip|validity|max|90d| = |ä){0,40}",
    ) {
        if let Err(error) = Policy::parse(&text, "policy.toml") {
            prop_assert!(error.line() <= text.matches('\n').count() + 1);
        }
    }

    /// What was read is written in a form that is read as the same.
    #[test]
    fn patterns_and_networks_are_read_as_they_are_written(
        name in names(),
        address: u128,
        v4: u32,
        len in 0..=128_u32,
    ) {
        if let Ok(pattern) = name.parse::<NamePattern>() {
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
        let v6 = format!("{}/{len}", core::net::Ipv6Addr::from(address));
        let v4 = format!("{}/{len}", core::net::Ipv4Addr::from(v4));
        for text in [v6, v4] {
            if let Ok(network) = text.parse::<Network>() {
                prop_assert_eq!(network.to_string().parse(), Ok(network));
            }
        }
    }

    /// No entry of the default file's lists can end the list.
    #[test]
    fn the_default_text_is_always_read(name in names(), url in "http://[ -~]{0,20}") {
        let names: Vec<_> = name.parse().into_iter().collect();
        let urls: Vec<_> = url.parse().into_iter().collect();
        let policy = policy(&Policy::default_text(&names, &[], &urls));
        prop_assert_eq!(policy.revocation_list_urls(), urls);
    }
}
