//! Patterns of ssh_config(5), PATTERNS: `*` matches any text, `?` any character, and `!` in front forbids.

/// Whether a comma-separated list of patterns permits the text: one pattern matches, and no forbidding one does.
pub(super) fn list_permits(list: &str, text: &str) -> bool {
    let mut permitted = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern, text) => return false,
            Some(_) => {}
            // As in OpenSSH, an empty list permits nobody, not even an empty name.
            None if pattern.is_empty() => {}
            None => permitted |= matches(pattern, text),
        }
    }
    permitted
}

/// Takes time at most proportional to the product of both lengths: it backtracks only to the last `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
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
            assert_eq!(list_permits(list, text), permits, "{list} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!list_permits(&pattern, &"a".repeat(10_000)));
    }
}
