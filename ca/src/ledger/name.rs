//! Names in a form that sorts a domain before all names below it.

use core::net::IpAddr;

/// The labels of a DNS name from last to first, each followed by a zero. An address is one label. Case,
/// a final dot, empty labels and zeros are removed. `None` if nothing is left.
pub(crate) fn reversed(name: &str) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(name.len() + 1);
    let mut push = |label: &str| {
        let bytes = label.bytes().filter(|byte| *byte != 0);
        key.extend(bytes.map(|byte| byte.to_ascii_lowercase()));
        key.push(0);
    };
    match name.parse::<IpAddr>() {
        Ok(address) => push(&address.to_string()),
        Err(_) => name
            .split('.')
            .rev()
            .filter(|label| label.bytes().any(|byte| byte != 0))
            .for_each(push),
    }
    (!key.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_in_front_of_all_below_it_and_of_nothing_else() {
        let domain = reversed("example.org").unwrap();
        assert_eq!(domain, b"org\0example\0");
        for below in [
            "example.org",
            "EXAMPLE.org.",
            "www.example.org",
            "*.example.org",
            "a.b.c.Example.Org",
        ] {
            assert!(reversed(below).unwrap().starts_with(&domain), "{below}");
        }
        for beside in ["evil-example.org", "example.org.evil", "org", "example"] {
            assert!(!reversed(beside).unwrap().starts_with(&domain), "{beside}");
        }
    }

    #[test]
    fn an_address_is_one_label_in_one_form() {
        assert_eq!(reversed("192.0.2.1").unwrap(), b"192.0.2.1\0");
        assert_eq!(reversed("2001:DB8:0::1").unwrap(), b"2001:db8::1\0");
    }

    /// The index finds the end of a name by two zeros.
    #[test]
    fn no_name_has_two_zeros() {
        for name in ["a..b", ".a", "a\0b", "a.\0.b"] {
            let key = reversed(name).unwrap();
            assert!(!key.windows(2).any(|pair| pair == [0, 0]), "{name:?}");
        }
        for nothing in ["", ".", "..", "\0", "\0.\0"] {
            assert_eq!(reversed(nothing), None);
        }
    }
}
