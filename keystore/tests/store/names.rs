//! Names of keys and versions.

use pq_keystore::{InvalidName, KeyId, KeyName, Version};
use proptest::prelude::*;

const LONGEST: &str = "a123456789-123456789_123456789.123456789-123456789_123456789.123";

proptest! {
    #[test]
    fn each_name_is_read_as_it_is_written(
        text in "[a-z0-9][a-z0-9._-]{0,63}/[a-z0-9][a-z0-9._-]{0,63}/[a-z0-9][a-z0-9._-]{0,63}#[1-9][0-9]{0,8}",
    ) {
        let id: KeyId = text.parse().unwrap();
        prop_assert_eq!(id.to_string(), text.as_str());
        let (name, version) = text.split_once('#').unwrap();
        prop_assert_eq!(id.name(), &name.parse::<KeyName>().unwrap());
        prop_assert_eq!(id.version().get().to_string(), version);
        prop_assert_eq!(id.name().at(id.version()), id);
    }

    /// Whatever is read has one spelling.
    #[test]
    fn nothing_else_is_read(text in "[ -~]{0,12}[/#a0._-]{0,12}") {
        if let Ok(id) = text.parse::<KeyId>() {
            prop_assert_eq!(id.to_string(), text.as_str());
        }
        if let Ok(name) = text.parse::<KeyName>() {
            prop_assert_eq!(name.to_string(), text);
        }
    }
}

#[test]
fn what_breaks_the_grammar_is_refused() {
    let part = |part| InvalidName::Part { part };
    for (text, error) in [
        ("", InvalidName::Parts),
        ("a/b", InvalidName::Parts),
        ("a/b/c/d", InvalidName::Parts),
        ("/b/c", part("tenant")),
        ("a//c", part("purpose")),
        ("a/b/", part("name")),
        ("a/b/.", part("name")),
        ("a/../c", part("purpose")),
        ("a/-b/c", part("purpose")),
        ("a/b/C", part("name")),
        ("a/b/é", part("name")),
        ("a/b/c ", part("name")),
        ("a/b/c#1", InvalidName::Versioned("1".into())),
        (&format!("{LONGEST}4/b/c"), part("tenant")),
    ] {
        assert_eq!(text.parse::<KeyName>(), Err(error), "{text}");
    }
    let longest = format!("{LONGEST}/{LONGEST}/{LONGEST}");
    longest.parse::<KeyName>().unwrap();
    for version in [
        "",
        "0",
        "01",
        "+1",
        "-1",
        "1 ",
        "4294967296",
        "99999999999999999999",
        "1#1",
        "١",
    ] {
        let refused = format!("a/b/c#{version}").parse::<KeyId>();
        assert_eq!(refused, Err(InvalidName::Version), "{version}");
    }
    assert_eq!("a/b/c".parse::<KeyId>(), Err(InvalidName::NoVersion));
    assert_eq!("a/b#1".parse::<KeyId>(), Err(InvalidName::Parts));
    let last: KeyId = "a/b/c#4294967295".parse().unwrap();
    assert_eq!(last.version().next(), None);
}

#[test]
fn versions_are_ordered_as_numbers() {
    let id = |text: &str| text.parse::<KeyId>().unwrap();
    let ordered = [
        "a/b/c#9",
        "a/b/c#10",
        "a/b/c#11",
        "a/b/c-d#1",
        "a/c/a#1",
        "b/a/a#1",
    ];
    for pair in ordered.windows(2) {
        assert!(id(pair[0]) < id(pair[1]), "{pair:?}");
    }
    assert_eq!(Version::FIRST.next(), Version::new(2));
    assert_eq!(Version::new(0), None);
}
