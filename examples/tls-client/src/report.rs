//! The report on a connection, as text and as JSON: its certificates, bytes, times and answer.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tls_server::Summary;

use crate::chain::CertificateSummary;
use crate::counted::Bytes;
use crate::ocsp::OcspSummary;

/// All there is to say about a connection. It displays as text without the body, and
/// serializes with it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// What the text begins with.
    #[serde(skip)]
    pub(crate) introduction: Option<&'static str>,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    #[serde(flatten)]
    pub(crate) summary: Summary,
    /// What the server sent, leaf first.
    pub(crate) certificates: Vec<CertificateSummary>,
    /// The root that the chain ends at, which isn't sent.
    pub(crate) trust_anchor: Option<CertificateSummary>,
    pub(crate) trusted_from: String,
    /// What the server's OCSP response says, if it sent one.
    pub(crate) ocsp: Option<OcspSummary>,
    pub(crate) bytes: ByteCounts,
    #[serde(rename = "milliseconds")]
    pub(crate) times: Times,
    pub(crate) response: Response,
}

/// Bytes over TCP, those of the TLS records included.
#[derive(Debug, Serialize)]
pub(crate) struct ByteCounts {
    pub(crate) handshake: Bytes,
    pub(crate) total: Bytes,
}

/// How long each phase took.
#[derive(Debug, Serialize)]
pub(crate) struct Times {
    #[serde(serialize_with = "milliseconds")]
    pub(crate) resolve: Duration,
    #[serde(serialize_with = "milliseconds")]
    pub(crate) connect: Duration,
    #[serde(serialize_with = "milliseconds")]
    pub(crate) handshake: Duration,
    /// From the request to the head of the answer.
    #[serde(serialize_with = "milliseconds")]
    pub(crate) first_byte: Duration,
    #[serde(serialize_with = "milliseconds")]
    pub(crate) body: Duration,
}

/// What the server answered.
#[derive(Debug, Serialize)]
pub(crate) struct Response {
    /// Code and reason, such as `200 OK`.
    pub(crate) status: String,
    pub(crate) content_type: Option<String>,
    #[serde(serialize_with = "text")]
    pub(crate) body: Vec<u8>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(introduction) = self.introduction {
            writeln!(f, "{introduction}\n")?;
        }
        writeln!(f, "{} at {}", self.url, self.address)?;

        writeln!(f, "\nNegotiated")?;
        for (label, value) in self.summary.rows() {
            writeln!(f, "  {label:LABEL$}  {value}")?;
        }

        writeln!(f, "\nCertificates")?;
        self.write_certificates(f)?;
        if let Some(ocsp) = &self.ocsp {
            writeln!(f, "  {:LABEL$}  {ocsp}", "OCSP")?;
        }

        let ByteCounts { handshake, total } = self.bytes;
        writeln!(
            f,
            "\n{:LABEL$}    {:>10}  {:>10}",
            "Bytes", "sent", "received"
        )?;
        for (label, bytes) in [("TLS handshake", handshake), ("in all", total)] {
            let [sent, received] = [bytes.sent, bytes.received].map(grouped);
            writeln!(f, "  {label:LABEL$}  {sent:>10}  {received:>10}")?;
        }

        let Times {
            resolve,
            connect,
            handshake,
            first_byte,
            body,
        } = self.times;
        writeln!(f, "\nTime")?;
        for (label, time) in [
            ("resolve", resolve),
            ("TCP connect", connect),
            ("TLS handshake", handshake),
            ("first byte of answer", first_byte),
            ("rest of answer", body),
            ("in all", resolve + connect + handshake + first_byte + body),
        ] {
            writeln!(f, "  {label:LABEL$}  {:>10.3} ms", in_milliseconds(time))?;
        }

        let Response {
            status,
            content_type,
            body,
        } = &self.response;
        write!(
            f,
            "\nAnswer: {status}, {} bytes",
            grouped(body.len() as u64)
        )?;
        match content_type {
            Some(content_type) => writeln!(f, " of {content_type}\n"),
            None => writeln!(f, "\n"),
        }
    }
}

impl Report {
    fn write_certificates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = self.certificates.iter().map(|sent| ("sent", sent));
        let trusted = self.trust_anchor.iter().map(|root| ("trusted", root));
        for (role, certificate) in sent.chain(trusted) {
            writeln!(f, "  {role:LABEL$}  {certificate}")?;
            writeln!(
                f,
                "  {:LABEL$}  {} key, signed with {}, {} bytes",
                "",
                certificate.key_algorithm,
                certificate.signature_algorithm,
                grouped(certificate.size as u64),
            )?;
            match role {
                "trusted" => writeln!(f, "  {:LABEL$}  not sent; from {}", "", self.trusted_from)?,
                _ => writeln!(
                    f,
                    "  {:LABEL$}  issued by {}, valid until {}",
                    "", certificate.issuer, certificate.not_after,
                )?,
            }
        }
        Ok(())
    }
}

/// The width of the first column.
const LABEL: usize = 20;

/// With a comma between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn in_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(in_milliseconds(*time))
}

fn text<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
