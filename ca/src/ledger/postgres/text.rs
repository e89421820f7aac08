//! Texts of any characters as PostgreSQL takes them, which has no zeros in texts.

use pq_postgres::Failure;

/// The text with its zeros and line breaks escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\0' => escaped.push_str("\\0"),
            '\n' => escaped.push_str("\\n"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The text that was escaped.
pub(super) fn unescaped(text: &str) -> Result<String, Failure> {
    let wrong = || Failure::damaged("a text with a backslash that stands for nothing");
    let mut unescaped = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        unescaped.push(match character {
            '\\' => match characters.next().ok_or_else(wrong)? {
                '\\' => '\\',
                '0' => '\0',
                'n' => '\n',
                _ => return Err(wrong()),
            },
            other => other,
        });
    }
    Ok(unescaped)
}

/// Texts as one, each with a line break after it.
pub(super) fn lines(texts: &[String]) -> String {
    texts.iter().map(|text| escaped(text) + "\n").collect()
}

/// The texts that were made one.
pub(super) fn of_lines(lines: &str) -> Result<Vec<String>, Failure> {
    let Some(lines) = lines.strip_suffix('\n') else {
        return match lines {
            "" => Ok(Vec::new()),
            _ => Err(Failure::damaged("names that end without a line break")),
        };
    };
    lines.split('\n').map(unescaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for text in ["", "a", "\0", "\\", "\\0", "a\n\0\\\\n", "ü\r\n"] {
            let escaped = escaped(text);
            assert!(!escaped.contains(['\0', '\n']), "{text:?}");
            assert_eq!(unescaped(&escaped).unwrap(), text);
        }
        for wrong in ["\\", "a\\x", "\\\\\\"] {
            unescaped(wrong).unwrap_err();
        }
        for texts in [vec![], vec![""], vec!["", ""], vec!["a", "b\n", "\\n"]] {
            let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
            assert_eq!(of_lines(&lines(&texts)).unwrap(), texts);
        }
        of_lines("a").unwrap_err();
    }
}
