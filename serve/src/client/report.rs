//! The report on a connection, as text and as JSON: its certificates, bytes, times and answer.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::chain::CertificateSummary;
use super::counted::Bytes;
use super::ocsp::OcspSummary;
use crate::summary::Summary;

/// All there is to say about a connection. It displays as text without the body, and
/// serializes with it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What was fetched.
    pub url: String,
    /// Where from.
    pub address: SocketAddr,
    /// What was negotiated.
    #[serde(flatten)]
    pub summary: Summary,
    /// What the server sent, leaf first.
    pub certificates: Vec<CertificateSummary>,
    /// The root that the chain ends at, which isn't sent.
    pub trust_anchor: Option<CertificateSummary>,
    /// Where the roots are from.
    pub trusted_from: String,
    /// What the server's OCSP response says, if it sent one.
    pub ocsp: Option<OcspSummary>,
    /// How many went each way.
    pub bytes: ByteCounts,
    /// How long it took.
    #[serde(rename = "milliseconds")]
    pub times: Times,
    /// The answer.
    pub response: Response,
}

/// Bytes over TCP, those of the TLS records included.
#[derive(Debug, Serialize)]
pub struct ByteCounts {
    /// Up to the end of the handshake.
    pub handshake: Bytes,
    /// In all.
    pub total: Bytes,
}

/// How long each phase took.
#[derive(Debug, Serialize)]
pub struct Times {
    /// To find the host's addresses.
    #[serde(serialize_with = "milliseconds")]
    pub resolve: Duration,
    /// To connect.
    #[serde(serialize_with = "milliseconds")]
    pub connect: Duration,
    /// For the TLS handshake.
    #[serde(serialize_with = "milliseconds")]
    pub handshake: Duration,
    /// From the request to the head of the answer.
    #[serde(serialize_with = "milliseconds")]
    pub first_byte: Duration,
    /// From the head of the answer to its end.
    #[serde(serialize_with = "milliseconds")]
    pub body: Duration,
}

/// What the server answered.
#[derive(Debug, Serialize)]
pub struct Response {
    /// Code and reason, such as `200 OK`.
    pub status: String,
    /// What the answer says that it is.
    pub content_type: Option<String>,
    /// What was sent.
    #[serde(serialize_with = "text")]
    pub body: Vec<u8>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
