//! Patterns of ssh_config(5), PATTERNS: `*` matches any text, `?` any character, and `!` in front forbids.

/// Whether a comma-separated list of patterns permits the text: one pattern matches, and no forbidding one does.
pub(super) fn list_permits(list: &[u8], text: &[u8]) -> bool {
    let mut permitted = false;
    for pattern in list.split(|byte| *byte == b',') {
        let forbidding = pattern.strip_prefix(b"!");
        let pattern = forbidding.unwrap_or(pattern);
        if pattern.len() > MAX_PATTERN {
            return false;
        }
        match forbidding {
            Some(_) if matches(pattern, text) => return false,
            Some(_) => {}
            // As in OpenSSH, an empty list permits nobody, not even an empty name.
            None if pattern.is_empty() => {}
            None => permitted |= matches(pattern, text),
        }
    }
    permitted
}

/// The longest pattern that OpenSSH reads. A list with a longer one permits nothing.
const MAX_PATTERN: usize = 1022;

/// Takes time at most proportional to the product of both lengths: it backtracks only to the last `*`.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last_star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                last_star = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match last_star {
                Some((after, from)) => {
                    last_star = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_patterns() {
        for (list, text, permits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", false),
            ("a,", "", false),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("*@example.org", "me@example.org", true),
            ("*@example.org", "me@example.org.evil", false),
            ("?a*b?c", "xa123b4c", true),
            ("a,b", "b", true),
            ("!a,*", "a", false),
            ("*,!a", "a", false),
            ("*,!a", "b", true),
            ("!a", "b", false),
            ("A", "a", false),
        ] {
            let found = list_permits(list.as_bytes(), text.as_bytes());
            assert_eq!(found, permits, "{list} {text}");
        }
        let long = |len| [&b"a,"[..], &b"b".repeat(len)].concat();
        assert!(list_permits(&long(1022), b"a"));
        assert!(!list_permits(&long(1023), b"a"));
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!matches(pattern.as_bytes(), &b"a".repeat(10_000)));
    }
}
