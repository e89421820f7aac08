//! The names of keys and versions in a store, and the scopes of grants: what is read is what the grammar in their
//! documentation says, has one spelling, and is ordered as its parts are.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use pq_keystore::storage::RowKey;
use pq_keystore::{KeyId, KeyName, Scope, Version};

fuzz_target!(|input: Input<'_>| {
    let [one, other] = [&input.one, &input.other].map(|text| text.text());
    for text in [&one, &other] {
        check(text);
    }
    if let (Ok(one), Ok(other)) = (one.parse::<KeyId>(), other.parse::<KeyId>()) {
        let parts = |id: &KeyId| {
            let name = id.name();
            let parts = [name.tenant(), name.purpose(), name.name()].map(str::to_owned);
            (parts, id.version().get())
        };
        assert_eq!(one.cmp(&other), parts(&one).cmp(&parts(&other)));
        assert_eq!(one == other, one.to_string() == other.to_string());
        // No two versions have the same row, and those of one key are in the order of their numbers.
        let rows = [&one, &other].map(RowKey::version);
        assert_eq!(rows[0] == rows[1], one == other);
        if one.name() == other.name() {
            assert_eq!(rows[0].cmp(&rows[1]), one.cmp(&other));
        }
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    one: Text<'a>,
    other: Text<'a>,
}

#[derive(Arbitrary, Debug)]
enum Text<'a> {
    Name(Bytes<'a>),
    Id(Bytes<'a>),
    Parts(&'a str, &'a str, &'a str, u32),
    Scope(Bytes<'a>),
    Any(&'a str),
}

impl Text<'_> {
    fn text(&self) -> String {
        let edited = |bytes: &Bytes<'_>, valid: &str| {
            String::from_utf8_lossy(&bytes.of(valid.as_bytes())).into_owned()
        };
        match self {
            Self::Name(bytes) => edited(bytes, "shop/tokens/session"),
            Self::Id(bytes) => edited(bytes, "shop/to-ke_ns.1/0session#4294967295"),
            Self::Parts(tenant, purpose, name, version) => {
                format!("{tenant}/{purpose}/{name}#{version}")
            }
            Self::Scope(bytes) => edited(bytes, "shop/tokens/*"),
            Self::Any(text) => (*text).into(),
        }
    }
}

/// The grammar, as the documentation has it.
fn is_part(text: &str) -> bool {
    let first = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let later = |byte: &u8| first(byte) || matches!(byte, b'-' | b'_' | b'.');
    let bytes = text.as_bytes();
    bytes.len() <= 64 && bytes.first().is_some_and(first) && bytes.iter().all(later)
}

fn is_name(text: &str) -> bool {
    let parts: Vec<_> = text.split('/').collect();
    parts.len() == 3 && parts.into_iter().all(is_part)
}

fn is_version(text: &str) -> bool {
    text.parse::<u32>()
        .is_ok_and(|number| number > 0 && number.to_string() == text)
}

fn is_scope(text: &str) -> bool {
    let parts: Vec<_> = text.split('/').collect();
    match parts.split_last() {
        Some((&"*", parts)) => parts.len() <= 2 && parts.iter().all(|part| is_part(part)),
        _ => false,
    }
}

fn check(text: &str) {
    let name = text.parse::<KeyName>();
    assert_eq!(name.is_ok(), is_name(text), "{text:?}");
    if let Ok(name) = &name {
        assert_eq!(name.to_string(), text);
        let again = KeyName::new(name.tenant(), name.purpose(), name.name());
        assert_eq!(again.as_ref(), Ok(name));
        assert!(RowKey::key(name).to_string().parse::<RowKey>().is_ok());
    }
    let version = text.parse::<Version>();
    assert_eq!(version.is_ok(), is_version(text), "{text:?}");
    let id = text.parse::<KeyId>();
    let is_id = text
        .split_once('#')
        .is_some_and(|(name, version)| is_name(name) && is_version(version));
    assert_eq!(id.is_ok(), is_id, "{text:?}");
    if let Ok(id) = &id {
        assert_eq!(id.to_string(), text);
        assert_eq!(id.name().at(id.version()), *id);
        assert!(RowKey::version(id).to_string().parse::<RowKey>().is_ok());
        for scope in ["*", &format!("{}/*", id.name().tenant())] {
            assert!(scope.parse::<Scope>().expect("a scope").contains(id.name()));
        }
    }
    let scope = text.parse::<Scope>();
    assert_eq!(scope.is_ok(), is_scope(text), "{text:?}");
    if let Ok(scope) = &scope {
        assert_eq!(scope.to_string(), text);
        let other = KeyName::new("other", "purpose", "name").expect("a name");
        let is_of_all =
            text == "*" || text.starts_with("other/*") || text.starts_with("other/purpose/");
        assert_eq!(scope.contains(&other), is_of_all, "{text:?}");
    }
}
