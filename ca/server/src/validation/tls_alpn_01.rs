//! `tls-alpn-01` (RFC 8737): a handshake of the protocol `acme-tls/1`, with a certificate for the name alone that has the
//! digest of the key authorization. Addresses have the names of the reverse DNS (RFC 8738, section 6).

use pq_acme::challenge::{ALPN, tls_server_name};
use pq_acme::identifier::Identifier;
use pq_acme::problem::ProblemType;
use pq_x509::certificate::Certificate;
use rustls::pki_types::ServerName;

use super::Validator;
use super::connecting::Host;
use super::outcome::{Refusal, Steps, Verdict};
use super::question::Question;

/// Names that are shown of a certificate for others.
const SHOWN: usize = 3;

impl Validator {
    pub(super) async fn tls_alpn_01(
        &self,
        question: &Question,
        steps: &mut Steps,
    ) -> Result<String, Verdict> {
        let host = match &question.identifier {
            Identifier::Dns(name) => Host::Name(name),
            Identifier::Ip(address) => Host::Address(*address),
        };
        let name = tls_server_name(&question.identifier);
        let server_name = ServerName::try_from(name.clone()).map_err(|_| {
            Refusal::new(
                ProblemType::Malformed,
                format!("{name:?} is no name that TLS can carry"),
            )
        })?;
        let (tcp, address) = self.connect(&host, self.ports.tls_alpn, steps).await?;
        let handshake = self.connectors.acme.connect(server_name, tcp).await;
        let tls = handshake.map_err(|error| {
            let detail =
                format!("{address}: no handshake for {name} with the protocol acme-tls/1: {error}");
            Refusal::new(ProblemType::Tls, detail)
        })?;
        let (_, connection) = tls.get_ref();
        if connection.alpn_protocol() != Some(ALPN) {
            let detail = format!("{address} has not negotiated the protocol acme-tls/1 for {name}");
            return Err(Refusal::new(ProblemType::Tls, detail).into());
        }
        let seen = |what: String| {
            let detail = format!("{address}, asked for {name}: {what}");
            Refusal::new(ProblemType::IncorrectResponse, detail)
        };
        let chain = connection.peer_certificates().unwrap_or_default();
        let certificate = chain.first().ok_or_else(|| seen("no certificate".into()))?;
        let certificate = Certificate::from_der(certificate)
            .map_err(|error| seen(format!("the certificate can't be read: {error}")))?;
        question
            .authorization
            .check_certificate(&question.identifier, &certificate)
            .map_err(|mismatch| {
                let names = certificate.alternative_names().take(SHOWN);
                let names: Vec<String> = names.map(|name| name.to_string()).collect();
                seen(format!("{mismatch}; it is for {:?}", names.join(", ")))
            })?;
        Ok(address.to_string())
    }
}
