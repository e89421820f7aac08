//! Decides by a request's `Accept` (RFC 9110 section 12.5.1) whether the answer is text or JSON.

use hyper::HeaderMap;
use hyper::header::ACCEPT;

/// What the answer can be written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MediaType {
    Text,
    Json,
}

impl MediaType {
    /// Chooses by the request's `Accept` (RFC 9110 section 12.5.1): the higher quality,
    /// and text where it is equal or where neither is accepted.
    pub(crate) fn preferred(headers: &HeaderMap) -> Self {
        let ranges = ranges(headers);
        let quality = |media_type: Self| quality(media_type.names(), &ranges);
        match quality(Self::Json) > quality(Self::Text) {
            true => Self::Json,
            false => Self::Text,
        }
    }

    /// The value of `Content-Type`.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Json => "application/json",
        }
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("text", "plain"),
            Self::Json => ("application", "json"),
        }
    }
}

/// Whether a request's `Accept` takes answers of this type, such as `("application", "json")`. One without it takes any.
pub fn accepts(headers: &HeaderMap, (kind, subtype): (&str, &str)) -> bool {
    !headers.contains_key(ACCEPT) || quality((kind, subtype), &ranges(headers)) > 0.0
}

fn ranges(headers: &HeaderMap) -> Vec<Range<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(Range::parse)
        .collect()
}

/// One of the media ranges of an `Accept`, such as `text/*;q=0.5`.
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// From 0 to 1.
    quality: f32,
}

impl<'a> Range<'a> {
    /// `None` if malformed: such a range says nothing.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, subtype) = parts.next()?.split_once('/')?;
        let mut quality = 1.0;
        for parameter in parts {
            if let Some((name, value)) = parameter.split_once('=')
                && name.eq_ignore_ascii_case("q")
            {
                quality = value.parse().ok().filter(|q| (0.0..=1.0).contains(q))?;
            }
        }
        Some(Self {
            kind,
            subtype,
            quality,
        })
    }

    /// How closely the range describes a type, if it does at all.
    fn specificity(&self, (kind, subtype): (&str, &str)) -> Option<u8> {
        match (self.kind, self.subtype) {
            ("*", "*") => Some(0),
            (k, "*") if k.eq_ignore_ascii_case(kind) => Some(1),
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => Some(2),
            _ => None,
        }
    }
}

/// The quality that the most specific range gives; 0 if none applies.
fn quality(names: (&str, &str), ranges: &[Range<'_>]) -> f32 {
    ranges
        .iter()
        .filter_map(|range| Some((range.specificity(names)?, range.quality)))
        .max_by_key(|(specificity, _)| *specificity)
        .map_or(0.0, |(_, quality)| quality)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn json_where_it_is_preferred() {
        for accept in [
            "application/json",
            "Application/JSON",
            "application/*",
            "application/json, text/plain;q=0.9",
            "text/plain;q=0.2,application/json;q=0.3",
            "text/*;q=0.1, */*",
            "text/plain; q=0, */*; Q=0.1",
            "application/json; charset=utf-8",
        ] {
            assert_eq!(preferred(&[accept]), MediaType::Json, "{accept}");
        }
        assert_eq!(
            preferred(&["text/plain;q=0.5", "application/json"]),
            MediaType::Json
        );
    }

    #[test]
    fn what_is_accepted() {
        let accepts = |accept: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, HeaderValue::from_str(value).unwrap());
            }
            accepts(&headers, ("application", "pkcs7-mime"))
        };
        for accept in [
            "*/*",
            "application/*;q=0.1",
            "text/html, Application/pkcs7-mime",
        ] {
            assert!(accepts(&[accept]), "{accept}");
        }
        assert!(accepts(&[]));
        for accept in ["text/html", "application/pkcs7-mime;q=0, */*", ""] {
            assert!(!accepts(&[accept]), "{accept}");
        }
    }

    #[test]
    fn text_otherwise() {
        for accept in [
            "",
            "*/*",
            "text/plain",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "application/json;q=0.5, text/plain",
            "application/json;q=0.5, text/*;q=0.5",
            "application/json;q=0, */*",
            "application/json;q=2",
            "application/json;q=NaN",
            "application/json;q=",
            "json",
            "image/png",
            ";;,,/",
        ] {
            assert_eq!(preferred(&[accept]), MediaType::Text, "{accept}");
        }
        assert_eq!(preferred(&[]), MediaType::Text);
    }

    fn preferred(accept: &[&'static str]) -> MediaType {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, HeaderValue::from_static(value));
        }
        MediaType::preferred(&headers)
    }
}
