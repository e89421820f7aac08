//! Options in front of a key, in `authorized_keys` and `allowed_signers`: names and quoted values, separated by commas.

use super::error::KeyError;
use crate::encoding::word;

/// Whether the line begins with a key of any algorithm, and not with options.
pub(crate) fn begins_with_key(line: &str) -> bool {
    let name = word(line).0;
    let starts = [
        "ssh-",
        "ecdsa-sha2-",
        "sk-ssh-",
        "sk-ecdsa-",
        "webauthn-sk-",
    ];
    starts.iter().any(|start| name.starts_with(start))
}

/// The options, and the rest after the blanks that follow them. Blanks in quotation marks do not end the options.
pub(crate) fn split_options(line: &str) -> Result<(&str, &str), KeyError> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            ' ' | '\t' if !quoted => {
                let (options, rest) = line.split_at(at);
                return Ok((options, rest.trim_start_matches([' ', '\t'])));
            }
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        // A backslash after a backslash escapes as well, as in OpenSSH.
        escaped = c == '\\';
    }
    match quoted {
        true => Err(KeyError::UnclosedQuote),
        false => Ok((line, "")),
    }
}

/// Each option: its name, and the value after its `=`, with the quotation marks.
pub(crate) struct Options<'l>(pub(crate) &'l str);

impl<'l> Iterator for Options<'l> {
    type Item = (&'l str, Option<&'l str>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut quoted = false;
        let mut escaped = false;
        let end = self.0.char_indices().find(|&(_, c)| {
            let ends = c == ',' && !quoted;
            quoted ^= c == '"' && !escaped;
            escaped = c == '\\';
            ends
        });
        let (option, rest) = match end {
            Some((at, _)) => (&self.0[..at], &self.0[at + 1..]),
            None => (self.0, ""),
        };
        self.0 = rest;
        Some(match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        })
    }
}

/// The text between the quotation marks around a value; `None` if they don't enclose the whole value.
pub(crate) fn unquoted(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' => return None,
            '\\' if characters.next_if_eq(&'"').is_some() => text.push('"'),
            _ => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_hold_options_together() {
        let line = r#"a,command="say \"x, y\" z",b= rest of it"#;
        let (options, rest) = split_options(line).expect("its quotes are closed");
        assert_eq!(rest, "rest of it");
        let options: Vec<_> = Options(options).collect();
        let command = r#""say \"x, y\" z""#;
        assert_eq!(
            options,
            [("a", None), ("command", Some(command)), ("b", Some(""))]
        );
        assert_eq!(unquoted(command).as_deref(), Some(r#"say "x, y" z"#));
        assert_eq!(split_options("a=\"b c"), Err(KeyError::UnclosedQuote));
        let line = r#"a="b\\" c",d=e rest"#;
        let (options, rest) = split_options(line).expect("its quotes are closed");
        assert_eq!(rest, "rest");
        let value = r#""b\\" c""#;
        let options: Vec<_> = Options(options).collect();
        assert_eq!(options, [("a", Some(value)), ("d", Some("e"))]);
        assert_eq!(unquoted(value).as_deref(), Some(r#"b\" c"#));
        for value in ["", "\"", "a", "\"a", "\"a\"b\""] {
            assert_eq!(unquoted(value), None, "{value}");
        }
    }
}
